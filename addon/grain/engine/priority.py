# SPDX-License-Identifier: GPL-3.0-or-later
"""Who goes first where all cores are busy: Blender's interface, then what it will want next (view/prefetch.c), then a bake."""
import os
import subprocess
import sys
from pathlib import Path

NICENESS = 15
# For a child on Windows. There a thread of lower priority leaves its core at once when another one wants it, so the next class below
# is enough; the lowest one would have to wait where others compute on all cores.
if sys.platform == "win32":
    CREATION_FLAGS = subprocess.BELOW_NORMAL_PRIORITY_CLASS
else:
    CREATION_FLAGS = 0


def let_all_first(pid: int) -> None:
    """Of a process that was just started. Where a core is free it only gets time that nobody else wants: an ordinary thread,
    however nice, keeps its core for some milliseconds after Blender wants it, dozens of times in a drawing. Measured, with a bake on
    both cores: a viewport that takes 0.09 s by itself took 0.14 s (0.20 s at most) beside a niceness of 15, so 0.11 s (0.13 s).
    Where others compute on all cores already a bake would never come to its turn like that: there it is only nice."""
    if sys.platform == "win32":
        return  # CREATION_FLAGS did it
    try:
        os.setpriority(os.PRIO_PROCESS, pid, NICENESS)
        if hasattr(os, "SCHED_IDLE") and _has_free_core():
            os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
    except OSError:
        pass  # not allowed here: it then competes with Blender, no more


def _has_free_core() -> bool:
    """Besides the one this runs on, or where that one is the only one."""
    for line in Path("/proc/stat").read_text("ascii").splitlines():
        if line.startswith("procs_running "):
            return int(line.split()[1]) <= (os.cpu_count() or 1)
    return False
