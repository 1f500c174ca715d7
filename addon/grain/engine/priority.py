"""Who goes first where all cores are busy: Blender's interface, then what it will want next (libgrain/src/ahead), then a bake."""
import os
import sys


def let_all_first(pid: int) -> None:
    """Of a process that was just started. Not as low as the system has it: one thread of a bake that never gets its core, because
    somebody else computes there, holds up all others."""
    if sys.platform != "win32":
        _lower(pid, 15)


def _lower(number: int, niceness: int) -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, number, niceness)
    except OSError:
        pass  # not allowed here: it then competes with Blender, no more
