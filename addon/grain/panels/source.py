# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a source."""
from bpy.types import Context, Panel

from .. import runtime
from ..engine import schema, text
from ..scene import simulations
from ..scene.manage import estimate
from ..scene.read import materials
from .object import PhysicsPanel
from .text import draw_wrapped


class GRAIN_PT_source(PhysicsPanel, Panel):
    bl_label = "Source"
    bl_parent_id = "GRAIN_PT_object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.grain.type == 'SOURCE'

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        item = context.object
        simulation = simulations.of_object(item, context.scene)
        column = layout.column()
        column.enabled = not runtime.is_baking()
        source = item.grain.source
        column.prop(source, "use_settle")
        row = column.row()
        row.active = source.use_settle
        row.prop(source, "settle_seconds")
        row = column.row()
        row.active = not source.use_settle  # what has settled is at rest
        row.prop(source, "velocity")
        if simulation is not None and schema.uses(simulation.solver, "source.moisture"):
            column.prop(item.grain.source, "moisture")
            row = column.row()
            row.active = item.grain.source.moisture > 0.0
            row.prop_search(item.grain.source, "moisture_paint", item, "vertex_groups", icon='GROUP_VERTEX')
        column.prop(item.grain.source, "use_attributes")
        body = estimate.source_body(item, context.view_layer.depsgraph)
        if body.volume <= 0.0:
            draw_wrapped(layout, context, f"'{item.name}' encloses no space: sand needs a closed surface. Close the holes, or add a Solidify modifier",
                         icon='ERROR')
            return
        if simulation is None:
            return
        count = estimate.particles_in(body, simulation.particle_radius, simulation.size_spread)
        draw_wrapped(layout, context, f"About {text.about(count)} particles at the current radius")


class GRAIN_PT_source_material(PhysicsPanel, Panel):
    bl_label = "Own Material"
    bl_parent_id = "GRAIN_PT_object"
    bl_options = {'DEFAULT_CLOSED'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.grain.type in ('SOURCE', 'EMITTER')

    def draw_header(self, context: Context) -> None:
        row = self.layout.row()
        row.enabled = not runtime.is_baking()
        row.prop(context.object.grain.source, "use_material", text="")

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = True
        settings = context.object.grain.source
        simulation = simulations.of_object(context.object, context.scene)
        solver = simulation.solver if simulation is not None else schema.find("solver.type").start
        names = materials.settings_of(solver, settings.law)
        if not names:
            draw_wrapped(layout, context, "Viscous simulations have a single material", icon='INFO')
        column = layout.column()
        column.enabled = settings.use_material and not runtime.is_baking()
        for name in names:
            column.prop(settings, name, **({"text": "Density kg/m³"} if name == "density" else {}))
