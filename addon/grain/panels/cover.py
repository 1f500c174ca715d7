# SPDX-License-Identifier: GPL-3.0-or-later
"""A cover's settings and how even it is, in the Physics tab of the covered object and of the cover itself."""
from typing import Optional

from bpy.types import Context, Object, Panel, PropertyGroup, UILayout

from ..engine import text
from ..scene.manage import cover
from .text import draw_wrapped


def _cover_of(item: Optional[Object]) -> Optional[Object]:
    if item is None or cover.is_cover(item):
        return item
    return cover.find(item)


class GRAIN_PT_cover(Panel):
    bl_label = "Grain Cover"
    bl_space_type = 'PROPERTIES'
    bl_region_type = 'WINDOW'
    bl_context = "physics"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return _cover_of(context.object) is not None

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = _cover_of(context.object).grain.cover
        column = layout.column()
        for name in cover.SETTINGS:
            column.prop(settings, name)
        if settings.problem:
            draw_wrapped(layout, context, settings.problem, icon='ERROR', is_alert=True)
        _draw_figures(layout, context, settings)
        for line in settings.report.splitlines():
            draw_wrapped(layout, context, line, icon='INFO')


def _draw_figures(layout: UILayout, context: Context, settings: PropertyGroup) -> None:
    draw_wrapped(layout, context, f"{text.plural(settings.count, 'particle')}, "
                                  f"{text.count(settings.count_wanted)} requested")
    if settings.count < 2:
        return
    draw_wrapped(layout, context, f"Neighbours at {settings.nearest:.2f} of the perfect distance, "
                                  f"\N{PLUS-MINUS SIGN} {settings.deviation:.1%}")
    draw_wrapped(layout, context, f"Largest gap {settings.gap:.2f} (perfect: 0.58), closest pair "
                                  f"{settings.smallest:.2f}")
    draw_wrapped(layout, context, f"At most {settings.off_surface:.2%} of a radius away from the surface")
