# SPDX-License-Identifier: GPL-3.0-or-later
"""A child process on any system: started without a window, listened to without waiting, asked to stop.

What it says is read where the caller is (in Blender: the main thread), from pipes, without ever waiting. No thread does it: see
read_ahead.py.
"""
import os
import socket
import subprocess
import sys
from typing import Optional

from . import priority

if sys.platform == "win32":
    import _winapi  # PeekNamedPipe: a pipe of Windows cannot be made non-blocking before Python 3.12
    import msvcrt

# Of what the child says, kept by the system until it is read: a Blender that is busy for minutes must not hold a bake up.
PIPE_BYTES = 1 << 20
# Threads that wait in a loop starve each other when Blender or another program wants a core too: measured, a bake with both cores of a
# machine under load took 52 s instead of 2.
_ENVIRONMENT = {"OMP_WAIT_POLICY": "PASSIVE"}


class Child:
    """A command of the `grain` program, under way. It was told to listen to its standard input (--stop-on-input)."""

    def __init__(self, command: list[str], is_beside_interface: bool) -> None:
        """Raises OSError, with the program in it."""
        self.output, write_output = _channel()
        self.errors, write_errors = _channel()
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=write_output, stderr=write_errors, bufsize=0,
                                             env={**_ENVIRONMENT, **os.environ}, creationflags=_flags(is_beside_interface))
        except OSError as error:
            self.close()
            raise OSError(error.errno, error.strerror, error.filename or command[0]) from error  # Windows leaves it out
        finally:
            os.close(write_output)
            os.close(write_errors)
        self.pid = self._process.pid
        if is_beside_interface:
            priority.let_all_first(self.pid)

    @property
    def exit_code(self) -> Optional[int]:
        """None while it runs."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """It then makes a checkpoint and ends."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"stop\n")
        except OSError:
            pass  # it has ended already

    def kill(self) -> None:
        self._process.kill()

    def wait(self, seconds: Optional[float] = None) -> None:
        """Until it has ended, this long at most."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass

    def close(self) -> None:
        """Nothing more is read from it. Called again it does nothing."""
        self.output.close()
        self.errors.close()
        process = getattr(self, "_process", None)
        if process is not None and process.stdin is not None:
            process.stdin.close()


def run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    """Runs a command of the program to its end. Raises OSError."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace",
                          creationflags=_flags(True))


def _flags(is_beside_interface: bool) -> int:
    """Of Windows. A program without a window of its own would get a console, in front of Blender. A Blender that runs in a console
    shares it with the child, so that Ctrl-C reaches both, as elsewhere."""
    if sys.platform != "win32" or not is_beside_interface:
        return 0
    return subprocess.CREATE_NO_WINDOW | priority.CREATION_FLAGS


class Lines:
    """What comes through the reading end of a channel, line by line."""

    def __init__(self, number: int) -> None:
        self._number, self._rest = number, b""

    def read(self) -> list[bytes]:
        """Lines that are complete, or all at the end. Never waits."""
        pieces = [self._rest]
        while True:
            came = _take(self._number) if self._number >= 0 else b""
            if not came:
                break
            pieces.append(came)
        *lines, self._rest = b"".join(pieces).split(b"\n")
        if came is not None and self._rest:  # the end: nothing more belongs to the last line
            lines.append(self._rest)
            self._rest = b""
        return lines

    def close(self) -> None:
        if self._number >= 0:
            os.close(self._number)
        self._number = -1


def _take(number: int) -> Optional[bytes]:
    """What is there: None where that is nothing, empty at the end."""
    if sys.platform == "win32":
        try:
            available = _winapi.PeekNamedPipe(msvcrt.get_osfhandle(number), 0)[0]
        except OSError:
            return b""
        return os.read(number, available) if available else None
    try:
        return os.read(number, PIPE_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _channel() -> tuple[Lines, int]:
    """What a child says comes out of the first, and goes into the second."""
    if sys.platform == "win32":
        reading, writing = (msvcrt.open_osfhandle(handle, 0) for handle in _winapi.CreatePipe(None, PIPE_BYTES))
        return Lines(reading), writing
    reading, writing = _socket_pair() if sys.platform == "darwin" else _large_pipe()
    os.set_blocking(reading, False)
    return Lines(reading), writing


def _large_pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    try:
        import fcntl
        fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    except (AttributeError, OSError):
        pass  # not on this system, or not so many: then it is what it gives
    return reading, writing


def _socket_pair() -> tuple[int, int]:
    """For macOS, where a pipe holds 64 kB at most: some twenty seconds of what a bake says."""
    reading, writing = socket.socketpair()
    for end, option in ((reading, socket.SO_RCVBUF), (writing, socket.SO_SNDBUF)):
        try:
            end.setsockopt(socket.SOL_SOCKET, option, PIPE_BYTES)
        except OSError:
            pass  # not so many
    return reading.detach(), writing.detach()
