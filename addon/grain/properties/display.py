"""How the sand is shown."""
from bpy.props import FloatProperty
from bpy.types import Context, PropertyGroup

from ..scene import apply, playback, simulations


def _on_display(group: "GRAIN_PG_display", context: Context) -> None:
    simulation = simulations.owner_of(group)
    apply.update_display(simulation)
    playback.show(simulation)


class GRAIN_PG_display(PropertyGroup):
    viewport_amount: FloatProperty(
        name="Viewport Amount", subtype='PERCENTAGE', default=100.0, min=0.0, max=100.0, precision=0,
        update=_on_display,
        description="Share of the grains shown in the viewport. Renders always show all of them")
    radius_scale: FloatProperty(
        name="Grain Size", subtype='FACTOR', default=1.0, min=0.1, soft_max=1.5, max=4.0, precision=2,
        update=_on_display,
        description="Size of the grains shown against the simulated ones. "
                    "A little above 1 closes the gaps of a coarse bake")
