"""Rotations, motions, screws, tensors and inertia: the mathematics of rigid bodies, before there is any mechanism.

>>> import cayley.geometry
>>> cayley.geometry.rotations.rotation_angle(np.eye(3))
np.float64(0.0)
"""

from importlib import import_module
from types import ModuleType

_PARTS = ("inertia", "motions", "principal_axes", "rates", "rotations", "array_shapes", "tensors", "vector_fields")


def __getattr__(name: str) -> ModuleType:
    """A part is imported when it is first asked for: most callers need one or two of them."""
    if name in _PARTS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_PARTS)}")


def __dir__() -> list[str]:
    return [*globals(), *_PARTS]
