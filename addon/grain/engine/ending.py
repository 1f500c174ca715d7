# SPDX-License-Identifier: GPL-3.0-or-later
"""How a child process ended, by its exit code: below 0 a signal, on Windows a status of the system."""
import signal
import sys
from typing import Optional

# By exit code. Windows' own are the exceptions nobody handled.
_CRASHES: dict[int, str] = {
    0xC0000005: "access violation", 0xC0000006: "in-page error", 0xC000001D: "illegal instruction", 0xC0000094: "division by zero",
    0xC00000FD: "stack overflow", 0xC0000374: "heap corruption", 0xC0000409: "fail fast",
    0x40000015: "aborted",
}
if sys.platform != "win32":
    _CRASHES = {-int(number): number.name
                for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGBUS)}
_TERMINATED = 1  # on Windows, where somebody ends a task; also grain's own code for an internal error, but then it says so
_NOT_LOADED = (0xC0000135, 0xC0000139, 0xC0000142, 0xC000007B)  # on Windows: the program or something it needs did not load


def crash(code: int) -> Optional[str]:
    """What kind of crash it was, or None if it was none."""
    return _CRASHES.get(code)


def death(code: int, program: str, has_spoken: bool, has_told_end: bool) -> Optional[str]:
    """What became of a child that was ended from outside or crashed, in words; None where it ended by itself. program: its path.
    has_spoken, has_told_end: it has said anything, and how it ends."""
    kind = crash(code)
    if kind is not None:
        return f"The bake crashed ({kind}). Please report it and attach the cache's 'job' folder"
    if sys.platform == "win32":
        if code in _NOT_LOADED:
            return f"Windows could not start {program} (status 0x{code:X}). Install Grain again"
        return "The bake was ended from outside" if code == _TERMINATED and not has_told_end else None
    if code >= 0:
        return None
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    if name != "SIGKILL":
        return f"The bake was ended from outside ({name})"
    if sys.platform == "darwin" and not has_spoken:
        return f"macOS did not let {program} run (SIGKILL). {macos_remedy(program)}"
    return "The bake was killed (SIGKILL), probably because memory ran out. Use a larger particle radius"


def macos_remedy(path: str) -> str:
    """For a program or library that macOS keeps in quarantine."""
    return ("Allow it in System Settings > Privacy & Security, or run this in a terminal: "
            f"xattr -dr com.apple.quarantine '{path.rpartition('/')[0]}'")
