# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives a Blender window as an artist does: moves the mouse, clicks, types, looks.

A scenario is a generator; what it yields is how many seconds to wait. Runs inside Blender, from a timer, so the
interface lives on between two steps.
"""
import argparse
import os
import sys
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Optional

import bpy

Scenario = Generator[float, None, None]

_ticks: list[float] = []
_found: dict[str, tuple[int, int]] = {}  # places of buttons, by command


class Failed(Exception):
    pass


class Skipped(Exception):
    """What was to be measured could not be; the text says why."""


def options() -> argparse.Namespace:
    """What a file of tests is given: `out`, where its screenshots go, and `keyword`, which of its scenarios are wanted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("-k", dest="keyword", default="")
    return parser.parse_args(sys.argv[sys.argv.index("--") + 1:])


def ensure(condition: bool, what: str) -> None:
    if not condition:
        raise Failed(what)


# --- the window -----------------------------------------------------------------------------------

def window() -> Any:
    return bpy.context.window_manager.windows[0]


def area(kind: str) -> Any:
    return next(item for item in window().screen.areas if item.type == kind)


def region(kind: str) -> Any:
    return next(item for item in area(kind).regions if item.type == 'WINDOW')


def _drag_edge(x: int, y: int, delta: int) -> Scenario:
    """Where the mouse rests over a region, which depends on when its last event was handled, edges cannot be dragged: it goes to
    the edge first."""
    for _ in range(50):
        with bpy.context.temp_override(window=window()):
            if bpy.ops.screen.area_move.poll():
                bpy.ops.screen.area_move(x=x, y=y, delta=delta)
                return
        move_mouse(x, y)
        yield 0.1
    raise Failed("the edge of an editor cannot be dragged")


def widen_properties(pixels: int) -> Scenario:
    """Moves the edge between the viewport and the Properties editor, as one does on the first day."""
    edge = area('PROPERTIES')
    yield from _drag_edge(edge.x - 1, edge.y + edge.height // 2, -pixels)


def grow_properties(pixels: int) -> Scenario:
    """Makes the Properties editor taller at the Outliner's cost."""
    edge = area('PROPERTIES')
    yield from _drag_edge(edge.x + edge.width // 2, edge.y + edge.height, pixels)


def show_tab(tab: str) -> None:
    area('PROPERTIES').spaces[0].context = tab


def open_all_panels(*names: str) -> None:
    """Sub-panels that start closed cannot be opened from Python, but registered open: all, or those whose name holds one of the
    words."""
    from grain import panels
    for cls in reversed(panels.CLASSES):
        bpy.utils.unregister_class(cls)
    for cls in panels.CLASSES:
        if hasattr(cls, "bl_options"):
            is_open = not names or any(name in cls.__name__ for name in names)
            cls.bl_options = set() if is_open else {'DEFAULT_CLOSED'}
        bpy.utils.register_class(cls)


def screenshot(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with bpy.context.temp_override(window=window()):
        bpy.ops.screen.screenshot(filepath=str(path))


# --- events ---------------------------------------------------------------------------------------

def move_mouse(x: int, y: int) -> None:
    window().event_simulate(type='MOUSEMOVE', value='NOTHING', x=x, y=y)


def press(key: str, x: int, y: int, **modifiers: bool) -> None:
    window().event_simulate(type=key, value='PRESS', x=x, y=y, **modifiers)
    window().event_simulate(type=key, value='RELEASE', x=x, y=y, **modifiers)


_KEYS = {" ": 'SPACE', "-": 'MINUS', ".": 'PERIOD', **dict(zip("0123456789", (
    'ZERO', 'ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX', 'SEVEN', 'EIGHT', 'NINE')))}


def type_text(text: str, x: int, y: int) -> Generator[float, None, None]:
    for character in text:
        key = _KEYS.get(character, character.upper())
        window().event_simulate(type=key, value='PRESS', unicode=character, x=x, y=y)
        window().event_simulate(type=key, value='RELEASE', x=x, y=y)
        yield 0.05


def middle(kind: str) -> tuple[int, int]:
    where = region(kind)
    return where.x + where.width // 2, where.y + where.height // 2


def search(command: str, kind: str = 'VIEW_3D') -> Generator[float, None, None]:
    """F3, the command's name, Enter: as everybody finds what they do not know the place of."""
    place = middle(kind)
    move_mouse(*place)
    yield 0.2
    press('F3', *place)
    yield 0.6
    yield from type_text(command, *place)
    yield 0.6
    press('RET', *place)
    yield 0.4


def save_small(path: Path, target: Path, width: int = 1100) -> None:
    """A screenshot for the manual."""
    image = bpy.data.images.load(str(path))
    image.scale(width, round(image.size[1] * width / image.size[0]))
    target.parent.mkdir(parents=True, exist_ok=True)
    image.filepath_raw, image.file_format = str(target), 'JPEG'
    image.save()
    bpy.data.images.remove(image)


def find_button(command: str, kind: str = 'PROPERTIES') -> Generator[float, None, tuple[int, int]]:
    """The place of an operator's button in the editor: hovers down the editor and asks for the Python command of what
    is under the mouse (Ctrl+C on a button copies it)."""
    where = region(kind)
    # Where buttons were found before, then from above; left and right of the middle, as rows hold more than one.
    columns = [where.x + int(where.width * share) for share in (0.35, 0.93)]
    rows = [y for _, y in {**{command: _found.get(command, (0, 0))}, **_found}.values() if y]
    places = [(x, y) for y in rows for x in columns]
    places += [(x, y) for x in columns for y in range(where.y + where.height - 10, where.y + 10, -14)]
    for place in places:
        bpy.context.window_manager.clipboard = ""
        move_mouse(*place)
        press('C', *place, ctrl=True)
        yield 0.02 * min(patience(), 8.0)
        if command in bpy.context.window_manager.clipboard:
            _found[command] = place
            return place
    raise Failed(f"no button for {command} in the {kind.title()} editor")


def click(place: tuple[int, int]) -> Generator[float, None, None]:
    move_mouse(*place)
    yield 0.1
    press('LEFTMOUSE', *place)
    yield 0.1


def click_button(command: str) -> Generator[float, None, tuple[int, int]]:
    place = yield from find_button(command)
    yield from click(place)
    return place


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> Generator[float, None, None]:
    """The seconds are those of a quiet machine."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() > began + seconds * patience():
            raise Failed(f"{what} did not happen within {time.monotonic() - began:.0f} s")
        yield 0.05


# --- responsiveness -------------------------------------------------------------------------------

def _tick() -> float:
    _ticks.append(time.monotonic())
    return 0.005


def start_watching() -> None:
    """A timer that wants to run every 5 ms, as often as Blender looks for events: how late it comes is how long the interface stood still."""
    _ticks.clear()
    if not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, persistent=True)


def patience() -> float:
    """How much longer things may take here: processes that want a core, for each core there is."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


QUIET = 0.1  # cores that others may use while a time is measured that must not be exceeded


class Others:
    """What the rest of the machine does from now on: all but this session, to which tests/run.py gives Blender, its display and its
    children."""

    def __init__(self) -> None:
        self._began, self._busy = time.monotonic(), self._seconds()

    @staticmethod
    def _seconds() -> float:
        """Of all cores, that others have worked so far, or the host of a virtual machine has taken."""
        user, nice, system, _, _, hard, soft, stolen = map(int, Path("/proc/stat").read_text().split()[1:9])
        own, session = 0, os.getsid(0)
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue  # ended meanwhile
            if int(fields[3]) == session:
                own += sum(map(int, fields[11:15]))  # with children that have ended
        return (user + nice + system + hard + soft + stolen - own) / os.sysconf("SC_CLK_TCK")

    def cores(self) -> float:
        return max(0.0, self._seconds() - self._busy) / max(1e-3, time.monotonic() - self._began)


def judge(measure: Callable[[], Generator[float, None, tuple[float, str]]], attempts: int = 5) -> Generator[float, None, None]:
    """Of a speed or a time: how often what was allowed it took (above 1 it is missed), and what it was. A miss says little while
    others work, so it is measured again when they are done. Where they never are, the last word is what they can be blamed for."""
    for attempt in range(attempts):
        others = Others()
        ratio, what = yield from measure()
        cores = others.cores()
        if ratio <= 1.0:
            return
        ensure(cores > QUIET and ratio <= slowed_down(cores), f"{what}, while others used {cores:.2f} cores")
        print(f"# {what}, while others used {cores:.2f} cores", flush=True)
        if attempt + 1 < attempts:
            yield from wait_for_quiet(60.0)
    raise Skipped(f"{what}, while others used {cores:.2f} cores; more than {QUIET} and it is no measurement ({attempts} made)")


def slowed_down(cores: float) -> float:
    """How many times longer work takes at most where others use so many cores: it has the rest of them, and half as much again for
    the memory and the caches that are shared."""
    every = os.cpu_count() or 1
    return 1.5 * every / max(every - cores, 0.1 * every)


def wait_for_quiet(seconds: float) -> Generator[float, None, None]:
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        others = Others()
        yield 2.0
        if others.cores() < QUIET:
            return


def longest_gap() -> float:
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    return max((b - a for a, b in zip(_ticks, _ticks[1:])), default=0.0)


_calls: list[Callable[[], None]] = []


class GRAIN_OT_test_in_viewport(bpy.types.Operator):
    bl_idname = "grain.test_in_viewport"
    bl_label = "Run in the Viewport"

    def invoke(self, context: Any, event: Any) -> set[str]:
        self._timer = context.window_manager.event_timer_add(0.01, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {'RUNNING_MODAL'}

    def modal(self, context: Any, event: Any) -> set[str]:
        if event.type != 'TIMER':
            return {'PASS_THROUGH'}
        context.window_manager.event_timer_remove(self._timer)
        _calls.pop()()
        return {'FINISHED'}


def in_viewport(function: Callable[[], Any]) -> Generator[float, None, Any]:
    """What the function returns, called where the 3D viewport is the context. An operator of its own, because Blender must not draw
    while the context is overridden: it then changes Python's dictionary of overrides without Python's lock whenever another thread
    has that (CTX_wm_area_set), and crashes."""
    if not hasattr(bpy.types, "GRAIN_OT_test_in_viewport"):
        bpy.utils.register_class(GRAIN_OT_test_in_viewport)
    results: list[Any] = []
    _calls.append(lambda: results.append(function()))
    with bpy.context.temp_override(window=window(), area=area('VIEW_3D'), region=region('VIEW_3D')):
        bpy.ops.grain.test_in_viewport('INVOKE_DEFAULT')
    yield from wait_until(lambda: bool(results), 60.0, "what was to be done in the viewport")
    return results[0]


def draw_viewport() -> float:
    """Draws the 3D viewport now, and waits until it is drawn; only in in_viewport(). Seconds it took."""
    began = time.monotonic()
    bpy.ops.wm.redraw_timer(type='DRAW', iterations=1)
    return time.monotonic() - began


def scrub(last_frame: int, count: int) -> Generator[float, None, tuple[float, float]]:
    """Goes through the frames and back, each drawn: frames a second, and the longest time for one."""
    there = list(range(1, last_frame + 1))
    order = (there + there[-2:0:-1]) * count

    def go() -> list[float]:
        seconds = []
        for frame in order[:count]:
            began = time.monotonic()
            # As from the timeline: an operator that changes frames in an editor makes a picture of it.
            with bpy.context.temp_override(area=None, region=None):
                bpy.context.scene.frame_set(frame)
            draw_viewport()
            seconds.append(time.monotonic() - began)
        return seconds

    seconds = yield from in_viewport(go)
    return count / sum(seconds), max(seconds)


# --- running --------------------------------------------------------------------------------------

def _quit() -> None:
    """After a render Blender 3.4 at times refuses operators from timers for good (grain/write_guard.py); then it is simply left."""
    try:
        with bpy.context.temp_override(window=window()):
            bpy.ops.wm.quit_blender()
    except RuntimeError as error:
        if "drawing/rendering" not in str(error):
            raise
        print("# Blender's mark for drawing stayed set", flush=True)
        os._exit(0)


def run(file: str, scenarios: dict[str, Callable[[], Scenario]], wanted: str = "",
        clean_up: Optional[Callable[[], Scenario]] = None) -> None:
    """Runs the scenarios one after another, prints a line for each, then quits Blender."""
    def all_of_them() -> Scenario:
        for name, scenario in scenarios.items():
            title = f"ui/{file}:{name}"
            if not any(word in title for word in wanted.split("|")) and name != "lay_out":
                continue
            began = time.monotonic()
            try:
                yield from scenario()
                if name == "lay_out":
                    continue
                print(f"# {name} took {time.monotonic() - began:.1f} s", flush=True)
                print(f"ok {title}", flush=True)
            except Skipped as reason:
                print(f"skip {title}: {reason}", flush=True)
            except Exception as error:  # a test's failure, of whatever kind, is a line, not the end
                print(f"not ok {title}: {type(error).__name__}: {error}", flush=True)
                # Not as "Traceback": run.py takes that for an error of the add-on's.
                print("".join(traceback.format_tb(error.__traceback__)), file=sys.stderr)
        if clean_up is not None:
            yield from clean_up()

    steps = all_of_them()

    def step() -> Optional[float]:
        try:
            return next(steps)
        except StopIteration:
            sys.stdout.flush()
            _quit()
            return None

    bpy.app.timers.register(step, first_interval=0.5, persistent=True)  # scenarios open files
