# SPDX-License-Identifier: GPL-3.0-or-later
"""Text that fits: Blender cuts labels off at the panel's edge, so messages are broken into lines here."""
from bpy.types import Context, UILayout

from .. import compat

_MARGIN = 54  # pixels at scale 1 which a panel's body is narrower than its region, scroll bar included
_ICON = 20


def wrap(text: str, width: float) -> list[str]:
    """Lines no wider than this many pixels. A path longer than a line is broken after its slashes."""
    words: list[str] = []
    for word in text.split(" "):  # not at a no-break space: numbers stay with their unit
        if compat.text_width(word) > width:
            words += _pieces(word, width)
        else:
            words.append(word)
    lines: list[str] = []
    for word in words:
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and compat.text_width(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _pieces(word: str, width: float) -> list[str]:
    pieces, current = [], ""
    for character in word:
        if current and compat.text_width(current + character) > width:
            cut = max(current.rfind("/"), current.rfind("\\")) + 1 or len(current)
            pieces.append(current[:cut])
            current = current[cut:]
        current += character
    return pieces + [current]


def draw_wrapped(layout: UILayout, context: Context, text: str, icon: str = 'NONE', width: float = 0.0,
                 is_alert: bool = False) -> None:
    """A message over as many lines as it needs. width is that of a dialog; 0 takes the region's."""
    scale = compat.ui_scale(context)
    available = width * scale if width else context.region.width - _MARGIN * scale
    if icon != 'NONE':
        available -= _ICON * scale
    column = layout.column(align=True)
    column.scale_y = 0.8
    column.alert = is_alert
    for number, line in enumerate(wrap(text, max(available, 80 * scale))):
        if icon == 'NONE':
            column.label(text=line)
        else:
            column.label(text=line, icon=icon if number == 0 else 'BLANK1')
