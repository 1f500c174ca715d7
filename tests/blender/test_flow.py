# SPDX-License-Identifier: GPL-3.0-or-later
"""Emitters and kill zones: from their settings and keyframes to the sand in the viewport."""
from math import radians
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import support
from baked import entry, made


def tap(**settings: object) -> bpy.types.Object:
    item = support.box("Tap", (-0.04, -0.04, 0.3), (0.04, 0.04, 0.34))
    bpy.context.view_layer.update()
    item.grain.type = 'EMITTER'
    item.grain.emitter.rate = 480.0
    item.grain.source.velocity = (0.0, 0.0, -1.0)
    for name, value in settings.items():
        setattr(item.grain.emitter, name, value)
    bpy.context.scene.grain.active.particle_radius = 0.005
    return item


def key(item: bpy.types.Object, path: str, values: dict[int, object], group: str = "grain.emitter") -> None:
    holder = item.path_resolve(group)
    for frame, value in values.items():
        setattr(holder, path, value)
        item.keyframe_insert(f"{group}.{path}", frame=frame)
    for curve in support.keyed(item):
        for point in curve.keyframe_points:
            point.interpolation = 'LINEAR'


class Layout:
    """Notes which properties a panel draws."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def column(self, **_: object) -> "Layout":
        return self

    def prop(self, _: object, name: str, **__: object) -> None:
        self.names.append(name)

    def label(self, **_: object) -> None:
        pass


def test_wet_sand_comes_out_of_emitters_with_every_solver_that_knows_it(_: Path) -> None:
    """The panel offers moisture, and the job has it; with the others neither."""
    from grain.engine.job import describe
    from grain.panels.emitter import GRAIN_PT_emitter
    item = tap()
    item.grain.source.moisture = 0.5
    simulation = bpy.context.scene.grain.active
    context = SimpleNamespace(object=item, scene=bpy.context.scene, region=SimpleNamespace(width=400),
                              preferences=bpy.context.preferences)
    for solver, is_wet in (('DEM', False), ('MPM', True), ('SPH', True), ('MESO', False)):
        simulation.solver = solver
        layout = Layout()
        GRAIN_PT_emitter.draw(SimpleNamespace(layout=layout), context)
        assert ("moisture" in layout.names) == is_wet, solver
        assert ("moisture" in describe(made()[0]).document["objects"][0]) == is_wet, solver


def test_settings_and_keyframes_reach_the_job(_: Path) -> None:
    item = tap(place='SURFACE', jitter=0.25, normal_speed=1.5, inherit_velocity=0.5)
    job, warnings = made(9)
    found = entry(job, "Tap")
    assert found.role == "emitter" and not warnings and not found.animation and found.velocity == (0.0, 0.0, -1.0)
    assert found.emitter == {"from": "surface", "rate": 480.0, "rate_unit": "particles", "normal_speed": 1.5, "jitter": 0.25,
                             "inherit_velocity": 0.5}
    key(item, "rate", {1: 0.0, 5: 400.0, 9: 400.0})
    key(item, "active", {1: True, 4: False, 6: True})
    item.rotation_euler = (0.0, 0.0, 0.0)
    item.keyframe_insert("rotation_euler", frame=1)
    item.rotation_euler = (0.0, radians(90.0), 0.0)
    item.keyframe_insert("rotation_euler", frame=9)
    found = entry(made(9)[0], "Tap")
    assert np.allclose(found.animation["rate"].ravel(), [0, 100, 200, 300, 400, 400, 400, 400, 400])
    assert found.animation["active"].ravel().tolist() == [1, 1, 1, 0, 0, 1, 1, 1, 1]
    # The velocity turns with the object: down, then along -x.
    assert np.allclose(found.animation["velocity"][[0, 8]], [(0, 0, -1), (-1, 0, 0)], atol=1e-5)
    assert found.poses is not None and "moisture" not in found.animation
    item.grain.emitter.space, item.grain.emitter.rate_unit = 'WORLD', 'LITRES'
    found = entry(made(9)[0], "Tap")
    assert "velocity" not in found.animation and found.emitter["rate_unit"] == "litres" and found.emitter["rate"] == 0.5


def test_switched_off_and_open(_: Path) -> None:
    item = tap(active=False)
    assert entry(made()[0], "Tap").emitter["active"] is False
    item.grain.emitter.active = True
    item.data.clear_geometry()
    item.data.from_pydata([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)], [], [(0, 1, 2)])
    warning = made()[1][0]
    assert "'Tap'" in warning and "Surface" in warning, warning
    item.grain.emitter.place = 'SURFACE'
    assert not made()[1]


def test_the_estimate_knows_what_is_emitted(_: Path) -> None:
    from grain.scene.manage import estimate
    item = tap()
    simulation = bpy.context.scene.grain.active
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 25
    assert abs(estimate.emitted(item, simulation) - 480.0) < 1e-6
    key(item, "active", {1: True, 13: False})
    assert abs(estimate.emitted(item, simulation) - 240.0) < 1e-6
    whole = estimate.of_simulation(simulation, bpy.context.view_layer.depsgraph)
    assert abs(whole.particles - 240.0) < 1e-6 and whole.byte_count > 240 * 28 * 12
    item.grain.emitter.rate_unit = 'LITRES'
    assert abs(estimate.emitted(item, simulation) * estimate.room_of_particle(simulation) - 0.25e-3) < 1e-9


def test_litres_bake_to_what_was_estimated(folder: Path) -> None:
    from grain.scene import paths
    from grain.scene.manage import estimate
    item = tap(rate_unit='LITRES', litres=0.5)
    scene = bpy.context.scene
    simulation = scene.grain.active
    scene.frame_start, scene.frame_end = 1, 5
    for kind in simulation.bl_rna.properties["solver"].enum_items:
        simulation.solver = kind.identifier
        support.save(folder)
        assert bpy.ops.grain.bake() == {'FINISHED'}
        born = len(support.read_frame(paths.cache_folder(simulation) / "coarse_000005.grain")["radius"])
        assert born > 50 and abs(born - estimate.emitted(item, simulation)) <= 1, (kind.identifier, born)
        assert bpy.ops.grain.free() == {'FINISHED'}


def test_what_an_emitter_has_no_room_for_is_shown(folder: Path) -> None:
    from grain import runtime
    from grain.scene import paths
    item = tap(rate=60000.0)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 3
    support.save(folder)
    cache = paths.cache_folder(scene.grain.active)
    for rate, found in ((60000.0, 1), (480.0, 0)):
        item.grain.emitter.rate = rate
        assert bpy.ops.grain.bake() == {'FINISHED'}
        said = [message for message in runtime.state.messages.get(cache, []) if "'Tap' had no room" in message.text]
        assert len(said) == found and all(message.level == 'WARNING' for message in said), (rate, said)
        born = len(support.read_frame(cache / "coarse_000003.grain")["radius"])
        assert all(f"emitted {born} of 5000 from frame 1 to 3." in message.text for message in said), (born, said)
        assert bpy.ops.grain.free() == {'FINISHED'}


def test_baked_and_shown(folder: Path) -> None:
    """Sand grows in number, vanishes in the zone, and points keep their numbers."""
    item = tap()
    key(item, "active", {1: True, 9: False})
    sink = support.box("Sink", (-0.2, -0.2, 0.0), (0.2, 0.2, 0.1))
    sink.grain.type = 'KILL'
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 14
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    from grain.scene import paths
    from grain.scene.show import apply
    simulation = scene.grain.active
    sand, cache = apply.sand_object(simulation), paths.cache_folder(simulation)
    seen = []
    for frame in (1, 3, 6, 9, 14, 6):
        scene.frame_set(frame)
        columns = support.read_frame(cache / f"coarse_{frame:06d}.grain")
        alive = np.flatnonzero(columns["radius"])
        ids = np.empty(len(sand.data.vertices), np.int32)
        if len(ids):
            sand.data.attributes["id"].data.foreach_get("value", ids)
            places = np.empty(3 * len(ids), np.float32)
            sand.data.vertices.foreach_get("co", places)
            assert np.array_equal(places.reshape(-1, 3), columns["position"][alive]), frame
        assert np.array_equal(ids, alive), (frame, ids, alive)
        assert support.points_in_depsgraph() == len(alive)
        seen.append((len(columns["radius"]), len(alive)))
    assert seen[0] == (0, 0) and seen[1] == (40, 40) and seen[3][0] == seen[4][0] == 160, seen
    assert 0 < seen[3][1] < 160 and seen[4][1] < 20, seen


def test_looks_and_undo(_: Path) -> None:
    """An emitter and a zone are drawn as wire and not rendered; as what they were before, they look as before."""
    item = support.box("Thing", (0, 0, 0), (0.1, 0.1, 0.1))
    bpy.context.view_layer.objects.active = item
    item.select_set(True)
    for role in ('EMITTER', 'KILL'):
        assert bpy.ops.grain.role_add(type=role) == {'FINISHED'}
        assert item.grain.type == role and item.display_type == 'WIRE' and item.hide_render
    assert bpy.ops.grain.role_remove() == {'FINISHED'}
    assert item.display_type == 'TEXTURED' and not item.hide_render


def test_render_grains_of_an_emitter(folder: Path) -> None:
    tap()
    scene = bpy.context.scene
    simulation = scene.grain.active
    simulation.use_upsample, simulation.grains_per_particle = True, 10
    scene.frame_start, scene.frame_end = 1, 5
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    from grain.scene import paths
    grains = support.read_frame(paths.cache_folder(simulation) / "grains/grains_000005.grain")
    assert len(grains["radius"]) == 10 * 80 and (grains["radius"] > 0).all()


def field(kind: str, name: str, **settings: object) -> bpy.types.Object:
    item = support.link(bpy.data.objects.new(name, None))
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.forcefield_toggle()
    item.field.type = kind
    for key_name, value in settings.items():
        setattr(item.field, key_name, value)
    return item


def test_force_fields_and_gravity_reach_the_job(folder: Path) -> None:
    """Each kind with its settings; what moves or is keyed as samples; and the program takes the job as it is written."""
    support.small_scene(9)
    scene = bpy.context.scene
    wind = field('WIND', "Wind", strength=3.0, flow=0.5, noise=1.0, seed=4)
    wind.rotation_euler = (0.0, radians(90.0), 0.0)
    field('VORTEX', "Vortex", strength=2.0, use_max_distance=True, distance_max=0.8, falloff_power=1.5)
    field('TURBULENCE', "Turbulence", strength=5.0, size=0.2)
    field('DRAG', "Drag", linear_drag=0.3, quadratic_drag=0.7)
    field('HARMONIC', "Spring", strength=10.0, harmonic_damping=0.1, rest_length=0.2)
    for name in ('FORCE', 'CHARGE'):
        field(name, name.title(), strength=-1.0, falloff_type='CONE', radial_max=1.0, use_radial_max=True)
    field('BOID', "Fear")
    for frame, strength in ((1, 3.0), (9, 11.0)):
        wind.field.strength = strength
        wind.field.keyframe_insert("strength", frame=frame)
        wind.location.x = strength
        wind.keyframe_insert("location", frame=frame)
        scene.gravity[0] = strength - 3.0
        scene.keyframe_insert("gravity", frame=frame)
    job, warnings = made(9)
    assert any("'Fear'" in warning and "Vortex" in warning for warning in warnings), warnings
    found = {entry.name: entry for entry in job.fields}
    assert set(found) == {"Wind", "Vortex", "Turbulence", "Drag", "Spring", "Force", "Charge"}
    assert found["Wind"].keys["flow"] == 0.5 and found["Wind"].keys["noise"] == 1.0 and found["Wind"].keys["seed"] == 4
    samples = found["Wind"].animation
    assert samples["strength"].shape == (9, 1) and abs(samples["strength"][8, 0] - 11.0) < 1e-5
    assert samples["poses"].shape == (9, 7) and abs(samples["poses"][8, 0] - 11.0) < 1e-5
    assert "poses" not in found["Vortex"].animation and found["Vortex"].keys["max_distance"] == 0.8
    assert found["Drag"].keys["strength"] == 0.7 and found["Drag"].keys["linear_drag"] == 0.3
    assert abs(found["Force"].keys["radial_max"] - 57.29578) < 1e-3
    assert job.gravity == (0.0, 0.0, -9.81) and abs(job.animation["gravity"][8, 0] - 8.0) < 1e-5
    for item in ("Fear", "Spring", "Charge"):
        bpy.data.objects.remove(bpy.data.objects[item])
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    from grain.scene import paths
    cache = paths.cache_folder(scene.grain.active)
    first, last = (support.read_frame(cache / f"coarse_{frame:06d}.grain")["position"].mean(axis=0) for frame in (1, 9))
    assert last[0] - first[0] > 0.1, (first, last)
