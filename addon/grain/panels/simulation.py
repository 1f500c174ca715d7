# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulation: bake, grains, frames, cache, display. Once in the Physics tab, once in the Scene tab."""
from pathlib import Path

from bpy.types import Context, Panel, UILayout

from .. import compat, runtime, viewport
from ..engine import ffi, schema, text
from ..scene import frames, paths, simulations
from ..scene.look import grain_object
from ..scene.manage import bake_state, baking, consistency, estimate, presets
from ..scene.read import animated_settings, materials
from ..scene.show import apply
from ..scene.simulations import Simulation
from .object import PhysicsPanel
from .simulation_list import draw_list
from .stages import draw_stages, draw_statistics
from .text import draw_wrapped
from .volume import draw_volume

_ICONS = {'INFO': 'INFO', 'WARNING': 'ERROR', 'ERROR': 'CANCEL'}


# --- what is drawn --------------------------------------------------------------------------------

def draw_bake(layout: UILayout, context: Context) -> None:
    draw_list(layout, context)
    problem = ffi.problem()
    if problem is not None:
        draw_wrapped(layout, context, f"Grain cannot bake or play back. {problem}", icon='ERROR', is_alert=True)
    simulation = simulations.active(context.scene)
    if simulation is None:
        draw_wrapped(layout, context, "There is no sand yet: select a closed mesh and make it a Source in Properties > Physics", icon='INFO')
        return
    folder = paths.cache_folder(simulation)
    if runtime.is_baking(folder):
        _draw_progress(layout, context)
        _draw_messages(layout, context, folder)
        return
    state = bake_state.of_simulation(simulation)
    _draw_buttons(layout, context, simulation, state)
    _draw_messages(layout, context, folder)
    if state.kind != 'COMPLETE':
        _draw_estimate(layout, context, simulation)
        _draw_floor_hint(layout, context, simulation)


def _draw_progress(layout: UILayout, context: Context) -> None:
    bake = runtime.state.bake
    status = bake.process.status
    column = layout.column(align=True)
    compat.draw_progress(column, context.window_manager.grain, "progress", status.fraction,
                         "Pausing" if bake.process.is_stopping else status.stage)
    row = column.row()
    row.scale_y = 1.4
    row.enabled = not bake.process.is_stopping
    row.operator("grain.stop", text="Pause (ESC)", icon='PAUSE')
    if status.particles:
        draw_wrapped(layout, context, f"Frame {status.frame} of {status.frame_end}, "
                                      f"{text.plural(status.particles, 'particle')}")
        draw_wrapped(layout, context, baking.speed(status) or "Measuring the speed")


def _draw_buttons(layout: UILayout, context: Context, simulation: Simulation, state: bake_state.BakeState) -> None:
    row = layout.row(align=True)
    row.scale_y = 1.4
    if state.kind in ('OUTDATED', 'DAMAGED'):
        row.operator("grain.bake_anew", icon='FILE_REFRESH')
    else:
        row.operator("grain.bake", text="Resume" if state.kind == 'PARTIAL' else "Bake",
                     icon='PLAY' if state.kind == 'PARTIAL' else 'PHYSICS')
    row.operator("grain.free", text="", icon='TRASH')
    if runtime.is_baking():
        draw_wrapped(layout, context, f"'{runtime.state.bake.name}' is baking. Only one bake can run at a time",
                     icon='INFO')
        return
    if state.kind != 'EMPTY':
        draw_wrapped(layout, context, state.text,
                     icon={'COMPLETE': 'CHECKMARK', 'PARTIAL': 'INFO'}.get(state.kind, 'ERROR'))
        if apply.sand_object(simulation) is None:
            layout.operator("grain.show_sand", icon='HIDE_OFF')


def _draw_messages(layout: UILayout, context: Context, folder: Path) -> None:
    for message in runtime.state.messages.get(folder, []):
        draw_wrapped(layout, context, message.text, icon=_ICONS[message.level], is_alert=message.level == 'ERROR')
    shown = runtime.state.shown.get(folder)
    if shown is not None and shown.message is not None and not runtime.is_baking(folder):
        draw_wrapped(layout, context, shown.message.text, icon=_ICONS[shown.message.level],
                     is_alert=shown.message.level == 'ERROR')


def _draw_estimate(layout: UILayout, context: Context, simulation: Simulation) -> None:
    expected = estimate.of_simulation(simulation, context.view_layer.depsgraph)
    if expected.particles < 1.0:
        draw_wrapped(layout, context, "There is no sand yet: select a closed mesh and make it a Source in Properties > Physics",
                     icon='INFO')
        return
    free = f", {text.size(expected.free_bytes)} free" if expected.free_bytes is not None else ""
    draw_wrapped(layout, context, f"About {text.about(expected.particles)} particles, "
                                  f"{text.size(expected.memory)} of memory, {text.size(expected.byte_count)} on disk{free}")
    if expected.free_bytes is not None and expected.byte_count > expected.free_bytes:
        draw_wrapped(layout, context, "Not enough disk space: use a larger particle radius or fewer frames",
                     icon='ERROR', is_alert=True)


def _draw_floor_hint(layout: UILayout, context: Context, simulation: Simulation) -> None:
    if simulations.objects(simulation, 'COLLIDER') or not simulations.objects(simulation, 'SOURCE', 'EMITTER', 'BODY'):
        return
    draw_wrapped(layout, context, "Nothing stops the sand: make the object it should land on a Collider, or add a floor", icon='INFO')
    layout.operator("grain.floor_add", icon='MESH_PLANE')


def draw_grains(layout: UILayout, context: Context) -> None:
    settings = simulations.active(context.scene)
    layout.use_property_decorate = True  # dots where keys count
    row = layout.row(align=True)
    split = row.split(factor=0.4)
    row.label(icon='BLANK1')  # as wide as the dots below
    label = split.row()
    label.alignment = 'RIGHT'
    label.label(text="Preset")
    chosen = presets.matching(settings)
    split.menu("GRAIN_MT_presets", text=presets.PRESETS[chosen].label if chosen is not None else "Custom")
    row = layout.row(align=True)
    row.prop(settings, "particle_radius")
    row.operator("grain.radius_fit", text="", icon='FULLSCREEN_EXIT')
    column = layout.column()
    column.prop(settings, "solver")
    is_bulk = schema.SOLVERS[settings.solver.lower()]["continuum"]
    if schema.uses(settings.solver, "solver.law"):
        column.prop(settings, "law")
    if schema.uses(settings.solver, "solver.model"):
        column.prop(settings, "model")
        column.prop(settings, "moisture_diffusion", text="Spread m²/s")
    if schema.uses(settings.solver, "solver.viscosity"):
        _draw_consistency(column, context, settings)
    if schema.uses(settings.solver, "solver.grain_shape"):
        column.prop(settings, "grain_shape")
        if settings.grain_shape == 'MESH':
            column.prop(settings, "grain_object")
            column.prop(settings, "grain_balls")
    column.prop(settings, "size_spread")
    if schema.uses(settings.solver, "solver.friction") and not materials.is_of_snow(settings.solver, settings.law):
        column.prop(settings, "friction_angle")
    if not is_bulk:
        column.prop(settings, "rolling_friction")
    column.prop(settings, "density", text="Density kg/m³")
    if not is_bulk:
        column.prop(settings, "restitution")
        column.prop(settings, "softness")
    column.prop(settings, "seed")
    column.prop(settings, "motion_samples")


def _draw_consistency(column: UILayout, context: Context, settings: Simulation) -> None:
    """Two sliders over the map of materials, what lies there, and the numbers behind it."""
    column.prop(settings, "firmness", slider=True)
    column.prop(settings, "reach_ratio", slider=True)
    firm = consistency.from_slider(settings.firmness) if settings.elasticity > 0.0 else 0.0
    draw_wrapped(column, context, consistency.zone(firm, settings.reach_ratio, settings.viscosity), icon='OUTLINER_OB_POINTCLOUD')
    column.prop(settings, "viscosity", text="Viscosity Pa s")
    column.prop(settings, "elasticity", text="Elasticity Pa")
    column.prop(settings, "elastic_reach")
    column.prop(settings, "ambient_viscosity", text="Ambient 1/s")


def draw_contact(layout: UILayout, context: Context) -> None:
    settings = simulations.active(context.scene)
    if not schema.uses(settings.solver, "solver.cohesion"):
        draw_wrapped(layout, context, "Set how particles interact with Firmness and Creaminess in the Grains panel. Colliders have their own friction")
        return
    layout.use_property_decorate = True
    row = layout.row()
    row.active = "cohesion" in animated_settings.keys_of(settings.solver, settings.law)
    row.prop(settings, "cohesion")
    layout.prop(settings, "sleep")
    if not schema.uses(settings.solver, "solver.normal_law"):
        return
    layout.prop(settings, "normal_law")
    if settings.normal_law != 'LINEAR':
        layout.prop(settings, "young_modulus", text="Stiffness Pa")
        layout.prop(settings, "poisson_ratio")
    layout.prop(settings, "shear_law")
    layout.prop(settings, "integrator")
    if settings.integrator == 'RKF45':
        layout.prop(settings, "tolerance")


def draw_upsample(layout: UILayout, context: Context) -> None:
    settings = simulations.active(context.scene)
    column = layout.column()
    column.active = settings.use_upsample
    column.prop(settings, "upsample_mode")
    if settings.upsample_mode == 'TOTAL':
        column.prop(settings, "grain_millions", text="Millions")
    else:
        column.prop(settings, "grains_per_particle", text="Per Particle")
    column.prop(settings, "grain_size_spread", text="Size Spread")
    column.prop(settings, "grain_seed", text="Seed")
    if settings.use_upsample:
        expected = estimate.of_simulation(settings, context.view_layer.depsgraph)
        if expected.particles >= 1.0 and settings.upsample_mode == 'PER_PARTICLE':
            draw_wrapped(column, context, f"About {text.about(expected.particles * settings.grains_per_particle)} grains")


def draw_cache(layout: UILayout, context: Context) -> None:
    settings = simulations.active(context.scene)
    row = layout.row(align=True)
    row.prop(settings, "cache_folder", text="Folder")
    row.operator("grain.open_folder", text="", icon='DISK_DRIVE')
    if not settings.cache_folder:
        draw_wrapped(layout, context, f"Default folder: {paths.folder_setting(settings)}")
    if paths.is_temporary(settings):
        draw_wrapped(layout, context, "The file is not saved yet: frames go to a temporary folder until you save it",
                     icon='INFO')
    layout.prop(settings, "use_frame_range")
    column = layout.column(align=True)
    if settings.use_frame_range:
        column.prop(settings, "frame_start")
        column.prop(settings, "frame_end")
    else:
        first, last = frames.bake_range(settings)
        draw_wrapped(layout, context, f"Scene frame range: {first} to {last}")
    layout.prop(settings, "checkpoint_every")
    layout.prop(settings, "thread_count")
    layout.operator("grain.export", icon='EXPORT')
    layout.operator("grain.job_export", icon='NETWORK_DRIVE')


def draw_display(layout: UILayout, context: Context) -> None:
    simulation = simulations.active(context.scene)
    display = simulation.display
    layout.prop(display, "viewport_display")
    layout.prop(display, "render_display")
    by = "amount" if display.amount_mode == 'PERCENT' else "count"
    layout.prop(display, "amount_mode")
    _draw_shown(layout, context, simulation)
    for where in ("viewport", "render") if display.amount_mode != 'AUTO' else ():
        row = layout.row()
        row.active = getattr(display, f"{where}_display") != 'HIDDEN'
        row.prop(display, f"{where}_{by}", text=f"In {where.title()}", slider=by == "amount")
    layout.prop(display, "radius_scale")
    column = layout.column()
    column.active = grain_object.is_wanted(simulation)
    column.prop(display, "shape")
    if display.shape == 'OBJECT':
        column.prop(display, "shape_source")
    layout.prop(display, "use_rest")
    layout.prop(display, "look")
    item = apply.sand_object(simulation)
    if item is not None and item.material_slots:
        layout.prop(item.material_slots[0], "material", text="Material")
    layout.operator("grain.asset_library_add", icon='ASSET_MANAGER')


def _draw_shown(layout: UILayout, context: Context, simulation: Simulation) -> None:
    """How many grains are to be seen, and why not all."""
    shown = runtime.state.shown.get(paths.cache_folder(simulation))
    if shown is None or shown.frame is None or simulation.display.viewport_display == 'HIDDEN':
        return
    drawn_as = " as dots" if shown.dots is not None else ""
    if shown.count >= shown.all_count:
        draw_wrapped(layout, context, f"All {shown.all_count:,} grains are shown{drawn_as}")
    else:
        why = ", as many as this computer can draw smoothly" if simulation.display.amount_mode == 'AUTO' else ""
        draw_wrapped(layout, context, f"{shown.count:,} of {shown.all_count:,} grains are shown{drawn_as}{why}")
    system = context.preferences.system
    if shown.dots is not None and viewport.is_software() and (system.viewport_aa != 'OFF' or system.use_overlay_smooth_wire):
        draw_wrapped(layout, context, "This window is drawn without a graphics card: switching off anti-aliasing makes it several times faster", icon='INFO')
        layout.operator("grain.plain_drawing")


def draw_retime(layout: UILayout, context: Context) -> None:
    simulation = simulations.active(context.scene)
    settings = simulation.retime
    layout.use_property_decorate = True  # its keys are the point of it
    layout.row().prop(settings, "mode", expand=True)
    if settings.mode == 'SPEED':
        layout.prop(settings, "speed")
        layout.prop(settings, "offset")
    elif settings.mode == 'FRAME':
        layout.prop(settings, "frame")


# --- where it is drawn ----------------------------------------------------------------------------

class _Body:
    """A panel that draws one of the functions above; settings are grey while a bake runs."""
    content = staticmethod(draw_bake)
    is_settings = True

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column()
        column.enabled = not (self.is_settings and runtime.is_baking())
        self.content(column, context)


def _draw_upsample_switch(panel: Panel, context: Context) -> None:
    panel.layout.enabled = not runtime.is_baking()
    panel.layout.prop(simulations.active(context.scene), "use_upsample", text="")


_HEADERS = {"upsample": {"draw_header": _draw_upsample_switch}}  # what switches a whole section stands beside its name


class ScenePanel:
    bl_space_type = 'PROPERTIES'
    bl_region_type = 'WINDOW'
    bl_context = "scene"


def _has_simulation(where: type) -> classmethod:
    def poll(cls: type, context: Context) -> bool:
        return (simulations.active(context.scene) is not None
                and (where is ScenePanel or PhysicsPanel.poll.__func__(cls, context)))
    return classmethod(poll)


def _panels(where: type, suffix: str) -> tuple[type, ...]:
    """The root panel and its sub-panels for one tab."""
    root = f"GRAIN_PT_simulation_{suffix}"
    made = [type(root, (_Body, where, Panel), {
        "bl_label": "Grain Simulation", "is_settings": False, "content": staticmethod(draw_bake),
        "bl_options": {'DEFAULT_CLOSED'} if suffix == "scene" else set()})]
    for name, label, content, options in (
            ("grains", "Grains", draw_grains, set()),
            ("stages", "Stages", draw_stages, {'DEFAULT_CLOSED'}),
            ("contact", "Contacts", draw_contact, {'DEFAULT_CLOSED'}),
            ("upsample", "Render Grains", draw_upsample, {'DEFAULT_CLOSED'}),
            ("volume", "Volume", draw_volume, {'DEFAULT_CLOSED'}),
            ("cache", "Cache", draw_cache, {'DEFAULT_CLOSED'}),
            ("display", "Display", draw_display, {'DEFAULT_CLOSED'}),
            ("retime", "Retime", draw_retime, {'DEFAULT_CLOSED'}),
            ("statistics", "Statistics", draw_statistics, {'DEFAULT_CLOSED'})):
        made.append(type(f"GRAIN_PT_{name}_{suffix}", (_Body, where, Panel), {
            "bl_label": label, "bl_parent_id": root, "content": staticmethod(content), "bl_options": options,
            "is_settings": name not in ("display", "retime", "statistics"), "poll": _has_simulation(where),
            **_HEADERS.get(name, {})}))
    return tuple(made)


CLASSES: tuple[type, ...] = (*_panels(PhysicsPanel, "physics"), *_panels(ScenePanel, "scene"))
