"""Pictures of mechanisms with Matplotlib: stick figures, moving pictures, workspaces, manipulability maps, ellipsoids.

Matplotlib is loaded when the first of these names is used, not before.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cayley.drawing.animations import animate
    from cayley.drawing.ellipsoids import draw_ellipsoids
    from cayley.drawing.manipulability_maps import ManipulabilityMap, manipulability_map
    from cayley.drawing.payload_maps import PayloadMap, payload_map
    from cayley.drawing.singular_pictures import draw_singular_locus
    from cayley.drawing.stick_figures import stick_figure
    from cayley.drawing.workspaces import Workspace, workspace

__all__ = [
    "ManipulabilityMap", "PayloadMap", "Workspace", "animate", "draw_ellipsoids", "draw_singular_locus",
    "manipulability_map", "payload_map", "stick_figure", "workspace"]

_MODULES = {
    "stick_figure": "stick_figures", "animate": "animations", "workspace": "workspaces", "Workspace": "workspaces",
    "manipulability_map": "manipulability_maps", "ManipulabilityMap": "manipulability_maps",
    "payload_map": "payload_maps", "PayloadMap": "payload_maps", "draw_ellipsoids": "ellipsoids",
    "draw_singular_locus": "singular_pictures"}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
    if name in _MODULES:
        return getattr(import_module(f"cayley.drawing.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'cayley.drawing' has no attribute {name!r}")
