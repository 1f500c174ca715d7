# SPDX-License-Identifier: GPL-3.0-or-later
"""The child process that bakes: started, listened to, stopped.

`poll()` runs where the caller is (in Blender: the main thread), reads what is in the child's pipes and never waits. No thread does
it: see read_ahead.py.
"""
import json
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Optional

from . import bake_log, priority

# Seconds between asking the child to stop and ending it. It needs a substep and a checkpoint for that, a fraction of
# a second as a rule; past this point at most the frame it works on is lost, and the artist asked to stop.
STOP_GRACE = 1.6
# Of what the child says, kept by the system until poll(): a Blender that is busy for minutes must not hold a bake up.
PIPE_BYTES = 1 << 20

EXIT_DONE, EXIT_STOPPED, EXIT_OTHER_JOB, EXIT_NOT_STARTED = 0, 5, 8, 127  # the last as shells have it
STOPPED = "Stopped. Resume goes on from here"
_REMEDIES = {
    1: "This is a fault in Grain: please report it, with the cache's 'job' folder",
    4: "Check the cache folder, then press the button again",
    10: "Free some space; Resume goes on from the last frame",
    11: "Press the button again: damaged frames are baked anew",
}


@dataclass
class Status:
    """What the child said last."""
    stage: str = "Starting"
    frame: int = 0
    frame_start: int = 0
    frame_end: int = 0
    fraction: float = 0.0
    particles: int = 0
    seconds_left: float = -1.0
    seconds_per_frame: float = 0.0
    frames_written: int = 0  # by this bake
    bytes_written: int = 0  # by the stage under way
    warnings: list[str] = field(default_factory=list)
    error: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a bake ended."""
    kind: str  # done, stopped, failed, died, other_job
    text: str  # for the artist
    exit_code: int


Stage = tuple[str, list[str]]  # what the progress bar says meanwhile, and the command


def simulate_stage(program: Path, job: Path, cache: Path, threads: int, restart: bool = False,
                   keep_frame: Optional[int] = None) -> Stage:
    """keep_frame: bakes anew what comes after it, with the job as it is now."""
    more = ["--restart"] if restart else [] if keep_frame is None else ["--from", str(keep_frame)]
    return "Simulating", [str(program), "bake", *_where(job, cache, threads), *more]


def grains_stage(program: Path, job: Path, cache: Path, threads: int) -> Stage:
    return "Making grains", [str(program), "upsample", *_where(job, cache, threads)]


def volume_stage(program: Path, job: Path, cache: Path, threads: int) -> Stage:
    return "Making the volume", [str(program), "volume", *_where(job, cache, threads)]


def _where(job: Path, cache: Path, threads: int) -> list[str]:
    return [str(job), "--cache", str(cache)] + (["--threads", str(threads)] if threads > 0 else [])


class BakeProcess:
    """Commands of the `grain` program, one after the other unless one fails or is stopped, each as a child."""

    def __init__(self, stages: list[Stage], log: Optional[Path] = None, is_beside_interface: bool = False, waits: bool = False,
                 before: Callable[[], None] = lambda: None) -> None:
        """is_beside_interface: somebody works in this Blender meanwhile, and goes first. waits: until go(). before: what must be done
        right before the first one starts, and not at all where none does. Raises OSError."""
        self._next, self._before = list(stages), before
        self._log, self._is_beside_interface = log, is_beside_interface
        self.status = Status()
        self._errors: "deque[str]" = deque(maxlen=20)
        self._stop_time: Optional[float] = None
        self._was_killed = False
        self._child: Optional["subprocess.Popen[bytes]"] = None
        self._not_started = ""  # why
        if not waits:
            self._start_first()

    def go(self) -> None:
        """Starts what waits for it; whatever prevents that is poll()'s to tell. Called again it does nothing."""
        if self._child is not None or self.is_stopping or self._not_started:
            return
        self._try(self._start_first)

    def _try(self, start: Callable[..., None], *what: Any) -> None:
        try:
            start(*what)
        except OSError as error:
            safe = ". Every finished frame is safe" if self._child is not None else ""
            self._not_started = f"{error.filename or 'The bake'} cannot be used: {error.strerror}{safe}"

    def _start_first(self) -> None:
        self._before()
        self._start(*self._next.pop(0))

    def _start(self, working: str, command: list[str]) -> None:
        self._working, self._command = working, command
        self._frames_before = self.status.frames_written
        # Threads that wait in a loop starve each other when Blender or another program wants a core too: measured, a
        # bake with both cores of a machine under load took 52 s instead of 2.
        environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ}
        self._child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, env=environment)
        if self._is_beside_interface:
            priority.let_all_first(self._child.pid)
        self._said, self._complained = _Lines(self._child.stdout), _Lines(self._child.stderr)

    @property
    def pid(self) -> Optional[int]:
        """None: not started yet."""
        return self._child.pid if self._child is not None else None

    @property
    def is_stopping(self) -> bool:
        return self._stop_time is not None

    def stop(self) -> None:
        """Asks the child for a checkpoint and an end; poll() ends it for good when it takes too long."""
        if self._stop_time is not None or (self._child is not None and self._child.poll() is not None):
            return
        self._stop_time = time.monotonic()
        if self._child is not None:
            self._child.terminate()

    def poll(self) -> Optional[Outcome]:
        """Takes in what the child has said; the outcome once it has ended."""
        if self._child is None or self._not_started:
            return self._outcome_without_child()
        ended = self._child.poll() is not None  # before the pipes are read: then nothing comes after it
        for line in self._said.read():
            self._take(line)
        self._errors.extend(line.decode("utf-8", "replace").strip() for line in self._complained.read())
        if ended:
            self._close()
            if self._goes_on_after_crash():
                return None
            if self._next and self._child.returncode == EXIT_DONE and self._stop_time is None:
                self.status.fraction, self.status.seconds_per_frame, self.status.bytes_written = 0.0, 0.0, 0
                self._try(self._start, *self._next.pop(0))
                return None
            return self._outcome()
        if self._stop_time is not None and time.monotonic() - self._stop_time > STOP_GRACE and not self._was_killed:
            self._was_killed = True
            self._child.kill()
        return None

    def _goes_on_after_crash(self) -> bool:
        """A stage that crashed is started again, and goes on from its last frame, as long as each start brings new ones: a long
        bake is not lost for one bad moment of the machine. Not where the system or somebody ended it on purpose."""
        number = -self._child.returncode
        if number not in _CRASHES or self._stop_time is not None or self.status.frames_written == self._frames_before:
            return False
        self.status.warnings.append(f"The bake crashed ({_CRASHES[number]}) after frame {self.status.frame} and went on from there. "
                                    "Please report it, with the cache's 'job' folder")
        self._try(self._start, self._working, _resuming(self._command))
        return True

    def wait(self, seconds: float) -> None:
        """Sleeps until the child has ended, this long at most."""
        if self._child is None:
            return
        try:
            self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            pass

    def shut_down(self) -> None:
        """Stops the child and waits for its end: Blender quits, opens another file or disables the add-on."""
        self._next.clear()
        self.stop()
        if self._child is None:
            return
        self.wait(STOP_GRACE)
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()
        self._close()

    def _close(self) -> None:
        for pipe in (self._child.stdout, self._child.stderr):
            if pipe is not None:
                pipe.close()

    def _take(self, line: bytes) -> None:
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:
            return
        kind = event.get("event", "")
        status = self.status
        if self._log is not None and kind not in ("preparing", "progress"):
            bake_log.append(self._log, {"stage": self._working, **event})
        if kind == "preparing":
            is_settling = event.get("stage") == "settling"
            status.stage = "Settling" if is_settling else f"Preparing {event.get('stage', '')}".strip()
            status.fraction = event.get("fraction", 0.0) if is_settling else 0.0
        elif kind == "started":
            status.stage, status.fraction = self._working, 0.0
            status.frame_start, status.frame_end = event["frame_start"], event["frame_end"]
            status.particles = event["particles"]
            status.frame = max(event.get("resumed_from", 0), event["frame_start"])
        elif kind in ("progress", "frame"):
            status.frame, status.fraction = event["frame"], event["fraction"]
            status.particles = event["particles"]
            status.seconds_left = event.get("seconds_left", -1.0)
            if kind == "frame":
                status.frames_written += 1
                status.seconds_per_frame = event.get("seconds_per_frame", 0.0)
                status.bytes_written = event.get("bytes_written", 0)
        elif kind == "warning":
            status.warnings.append(event.get("message", ""))
        elif kind in ("error", "stopped"):
            status.error = event.get("message", "")
        elif kind == "done":
            status.fraction = 1.0

    def _outcome_without_child(self) -> Optional[Outcome]:
        if self._not_started:
            return Outcome("failed", self._not_started, EXIT_NOT_STARTED)
        return Outcome("stopped", STOPPED, EXIT_STOPPED) if self.is_stopping else None

    def _outcome(self) -> Outcome:
        code = self._child.returncode
        said = self.status.error or " ".join(self._errors)
        if code == EXIT_DONE:
            return Outcome("done", "", code)
        if code == EXIT_STOPPED or self._was_killed:
            return Outcome("stopped", STOPPED, code)
        if code == EXIT_OTHER_JOB:
            return Outcome("other_job", said, code)
        if code < 0:
            return Outcome("died", f"{_death(-code)}{_quoted(said)}. Every finished frame is safe; Resume goes on from "
                                   "the last one", code)
        remedy = _REMEDIES.get(code, "")
        text = (said or f"The bake failed with exit code {code}").rstrip(". ")
        return Outcome("failed", f"{text}. {remedy}" if remedy else text, code)


_CRASHES = {int(number): number.name for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGFPE,
                                                   *([signal.SIGBUS] if hasattr(signal, "SIGBUS") else []))}


def _resuming(command: list[str]) -> list[str]:
    """The same command, keeping what is there."""
    if "--from" in command:
        at = command.index("--from")
        command = command[:at] + command[at + 2:]
    return [word for word in command if word != "--restart"]


def _quoted(text: str) -> str:
    return f" (its last words: {text})" if text else ""


def _death(number: int) -> str:
    """What became of a child that said no more."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if name == "SIGKILL":
        return "The bake was killed (SIGKILL), as the system does when memory runs out"
    if number in _CRASHES:
        return f"The bake crashed ({name}). Please report it, with the cache's 'job' folder"
    return f"The bake was ended from outside ({name})"


class _Lines:
    """What comes through a pipe, line by line."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._number, self._rest = pipe.fileno(), b""
        os.set_blocking(self._number, False)
        try:
            import fcntl
            fcntl.fcntl(self._number, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except (ImportError, AttributeError, OSError):
            pass  # not on this system, or not so many: then it is what it gives

    def read(self) -> list[bytes]:
        """Lines that are complete, or all at the end of the pipe. Never waits."""
        while True:
            try:
                came = os.read(self._number, PIPE_BYTES)
            except BlockingIOError:
                break
            if not came:  # the end: nothing more belongs to the last line
                lines, self._rest = self._rest.splitlines(), b""
                return lines
            self._rest += came
        *lines, self._rest = self._rest.split(b"\n")
        return lines
