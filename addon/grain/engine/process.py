# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: the child processes that do it, one after the other, and what they said.

`poll()` runs where the caller is (in Blender: the main thread) and never waits.
"""
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from . import bake_log, ending, files, reading, text
from .cache_lock import Busy, CacheLock
from .child import Child

# Seconds between asking the child to stop and ending it. It needs a substep and a checkpoint for that, a fraction of
# a second as a rule; past this point at most the frame it works on is lost, and the artist asked to stop.
STOP_GRACE = 1.6
_MOST_SECONDS = 1e9  # that are left, or that a frame took

EXIT_DONE, EXIT_STOPPED, EXIT_OTHER_JOB, EXIT_NOT_STARTED = 0, 5, 8, 127  # the last as shells have it
STOPPED = "Paused. Resume continues from here"
_REMEDIES = {
    1: "This is a bug in Grain: please report it and attach the cache's 'job' folder",
    4: "Check the cache folder, then press the button again",
    10: "Free some disk space, then press Resume to continue from the last frame",
    11: "Press the button again: damaged frames are baked again",
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
    return [str(files.plain(job)), "--cache", str(files.plain(cache)), "--stop-on-input",
            *(["--threads", str(threads)] if threads > 0 else [])]


def _nothing() -> None:
    """Is done before a bake that needs nothing done."""
    return None


class BakeProcess:
    """Commands of the `grain` program, one after the other unless one fails or is stopped, each as a child."""

    def __init__(self, stages: list[Stage], log: Optional[Path] = None, is_beside_interface: bool = False, waits: bool = False,
                 before: Callable[[], Optional[CacheLock]] = _nothing) -> None:
        """is_beside_interface: somebody works in this Blender meanwhile, and goes first. waits: until go(). before: what must be done
        right before the first one starts, and not at all where none does; a lock that it returns is held until the last one has
        ended. Raises OSError."""
        self._next, self._before = list(stages), before
        self._log, self._is_beside_interface = log, is_beside_interface
        self.status = Status()
        self._errors: deque[str] = deque(maxlen=20)
        self._stop_time: Optional[float] = None
        self._was_killed = False
        self._child: Optional[Child] = None
        self._lock: Optional[CacheLock] = None
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
        except Busy as error:
            self._not_started = str(error)
        except OSError as error:
            safe = ". Every finished frame is safe" if self._child is not None else ""
            self._not_started = f"{error.filename or 'The bake'} cannot be used: {error.strerror}{safe}"

    def _start_first(self) -> None:
        self._lock = self._before()
        self._before = _nothing  # with what it holds: the job's geometry
        try:
            self._start(*self._next.pop(0))
        except OSError:
            self._let_go()
            raise

    def _let_go(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _start(self, working: str, command: list[str]) -> None:
        self._working, self._command = working, command
        self._frames_before = self.status.frames_written
        self._has_spoken = self._has_told_end = False
        self._child = Child(command, self._is_beside_interface)

    @property
    def pid(self) -> Optional[int]:
        """None: not started yet."""
        return self._child.pid if self._child is not None else None

    @property
    def is_stopping(self) -> bool:
        return self._stop_time is not None

    def stop(self) -> None:
        """Asks the child for a checkpoint and an end; poll() ends it for good when it takes too long."""
        if self._stop_time is not None or (self._child is not None and self._child.exit_code is not None):
            return
        self._stop_time = time.monotonic()
        if self._child is not None:
            self._child.ask_to_stop()

    def poll(self) -> Optional[Outcome]:
        """Takes in what the child has said; the outcome once it has ended."""
        if self._child is None or self._not_started:
            self._let_go()
            return self._outcome_without_child()
        if self._lock is not None:
            self._lock.beat()  # if another took it over meanwhile, the child's own lock still keeps the cache
        code = self._child.exit_code  # before what it said is read: then nothing comes after it
        for line in self._child.output.read():
            self._take(line)
        self._errors.extend(text.clean(line.decode("utf-8", "replace").strip()) for line in self._child.errors.read())
        if code is not None:
            self._child.close()
            if self._goes_on_after_crash(code):
                return None
            if self._next and code == EXIT_DONE and self._stop_time is None:
                self.status.fraction, self.status.seconds_per_frame, self.status.bytes_written = 0.0, 0.0, 0
                self._try(self._start, *self._next.pop(0))
                return None
            self._let_go()
            return self._outcome(code)
        if self._stop_time is not None and time.monotonic() - self._stop_time > STOP_GRACE and not self._was_killed:
            self._was_killed = True
            self._child.kill()
        return None

    def _goes_on_after_crash(self, code: int) -> bool:
        """A stage that crashed is started again and resumes after its last frame, as long as each start brings new ones: a long
        bake is not lost for one bad moment of the machine. Not where the system or somebody ended it on purpose."""
        crash = ending.crash(code)
        if crash is None or self._stop_time is not None or self.status.frames_written == self._frames_before:
            return False
        self.status.warnings.append(f"The bake crashed ({crash}) after frame {self.status.frame} and was restarted from there. "
                                    "Please report it and attach the cache's 'job' folder")
        self._try(self._start, self._working, _resuming(self._command))
        return True

    def wait(self, seconds: float) -> None:
        """Sleeps until the child has ended, this long at most."""
        if self._child is not None:
            self._child.wait(seconds)

    def shut_down(self) -> None:
        """Stops the child and waits for its end: Blender quits, opens another file or disables the add-on."""
        self._next.clear()
        self.stop()
        if self._child is not None:
            self.wait(STOP_GRACE)
            if self._child.exit_code is None:
                self._child.kill()
                self._child.wait()
            self._child.close()
        self._let_go()

    def _take(self, line: bytes) -> None:
        """A line that is no event, or one with values that cannot be, says nothing."""
        try:
            self._take_event(reading.parse(line))
        except reading.Unfit:
            pass

    def _take_event(self, event: reading.Block) -> None:
        kind = event.text("event", "")
        status, self._has_spoken = self.status, True
        self._has_told_end = kind in ("done", "stopped", "error")
        if self._log is not None and kind not in ("preparing", "progress"):
            bake_log.append(self._log, {"stage": self._working, **event.values})
        if kind == "preparing":
            stage = text.clean(event.text("stage", ""), 100)
            is_settling = stage == "settling"
            status.stage = "Settling" if is_settling else f"Preparing {stage}".strip()
            status.fraction = _fraction(event) if is_settling else 0.0
        elif kind == "started":
            status.stage, status.fraction = self._working, 0.0
            status.frame_start, status.frame_end = event.integer("frame_start"), event.integer("frame_end")
            status.particles = event.integer("particles", 0)
            status.frame = max(event.integer("resumed_from", default=0), status.frame_start)
        elif kind in ("progress", "frame"):
            self._take_progress(event, kind == "frame")
        elif kind == "warning":
            status.warnings.append(_message(event))
        elif kind in ("error", "stopped"):
            status.error = _message(event)
        elif kind == "done":
            status.fraction = 1.0

    def _take_progress(self, event: reading.Block, is_written: bool) -> None:
        status = self.status
        status.frame, status.fraction = event.integer("frame"), _fraction(event)
        status.particles = event.integer("particles", 0)
        status.seconds_left = event.number("seconds_left", -_MOST_SECONDS, _MOST_SECONDS, -1.0)
        if is_written:
            status.frames_written += 1
            status.seconds_per_frame = event.number("seconds_per_frame", 0.0, _MOST_SECONDS, 0.0)
            status.bytes_written = event.integer("bytes_written", 0, default=0)

    def _outcome_without_child(self) -> Optional[Outcome]:
        if self._not_started:
            return Outcome("failed", self._not_started, EXIT_NOT_STARTED)
        return Outcome("stopped", STOPPED, EXIT_STOPPED) if self.is_stopping else None

    def _outcome(self, code: int) -> Outcome:
        said = self.status.error or " ".join(self._errors)
        if code == EXIT_DONE:
            return Outcome("done", "", code)
        if code == EXIT_STOPPED or self._was_killed:
            return Outcome("stopped", STOPPED, code)
        if code == EXIT_OTHER_JOB:
            return Outcome("other_job", said, code)
        death = ending.death(code, self._command[0], self._has_spoken, self._has_told_end)
        if death is not None:
            return Outcome("died", f"{death}{_quoted(said)}. Every finished frame is safe; Resume continues from the last one", code)
        remedy = _REMEDIES.get(code, "")
        words = (said or f"The bake failed with exit code {code}").rstrip(". ")
        return Outcome("failed", f"{words}. {remedy}" if remedy else words, code)


def _fraction(event: reading.Block) -> float:
    return min(max(event.number("fraction", -1e9, 1e9, 0.0), 0.0), 1.0)


def _message(event: reading.Block) -> str:
    return text.clean(event.text("message", ""))


def _resuming(command: list[str]) -> list[str]:
    """The same command, keeping what is there."""
    if "--from" in command:
        at = command.index("--from")
        command = command[:at] + command[at + 2:]
    return [word for word in command if word != "--restart"]


def _quoted(words: str) -> str:
    return f" (last output: {words})" if words else ""
