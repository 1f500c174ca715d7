# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an emitter."""
from bpy.types import Context, Panel

from .. import runtime
from ..engine import schema, text
from ..scene import simulations
from ..scene.manage import estimate
from .object import PhysicsPanel
from .text import draw_wrapped


class GRAIN_PT_emitter(PhysicsPanel, Panel):
    bl_label = "Emitter"
    bl_parent_id = "GRAIN_PT_object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.grain.type == 'EMITTER'

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        item = context.object
        settings, source = item.grain.emitter, item.grain.source
        simulation = simulations.of_object(item, context.scene)
        column = layout.column()
        column.enabled = not runtime.is_baking()
        column.prop(settings, "active")
        column.prop(settings, "place")
        column.prop(settings, "rate_unit")
        if settings.rate_unit == 'PARTICLES':
            column.prop(settings, "rate", text="Rate 1/s")
        else:
            column.prop(settings, "litres", text="Rate l/s")
        column = layout.column()
        column.enabled = not runtime.is_baking()
        column.prop(source, "velocity")
        column.prop(settings, "space")
        column.prop(settings, "normal_speed")
        column.prop(settings, "jitter")
        column.prop(settings, "inherit_velocity")
        if simulation is None:
            return
        if schema.uses(simulation.solver, "emitter.moisture"):
            column.prop(source, "moisture")
        count = estimate.emitted(item, simulation)
        draw_wrapped(layout, context, f"Up to {text.about(count)} particles by the last frame")
