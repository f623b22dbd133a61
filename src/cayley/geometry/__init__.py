"""Rotations, motions, screws, tensors and inertia: the mathematics of rigid bodies, before there is any mechanism.

>>> import cayley.geometry
>>> cayley.geometry.rotations.rotation_angle(np.eye(3))
np.float64(0.0)
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from cayley.lazy_names import GOES, lazy_names

_PARTS = ("inertia", "motions", "principal_axes", "rates", "rotations", "convex_shapes", "tensors", "vector_fields")


def __getattr__(name: str) -> ModuleType:
    """A part is imported when it is first asked for: most callers need one or two of them."""
    if name in _PARTS:
        return import_module(f"{__name__}.{name}")
    if name in ("shapes", "array_shapes"):
        warnings.warn(f"`cayley.geometry.{name}` is `cayley.geometry.convex_shapes` now", DeprecationWarning,
                      stacklevel=2)
        return import_module(f"{__name__}.convex_shapes")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_PARTS)}")


def __dir__() -> list[str]:
    return [*globals(), *_PARTS]


def part_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a part: its own names, and for one more version those of `former_names`."""
    get, names = lazy_names(package, file)

    def get_or_former(name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
        try:
            return get(name)
        except AttributeError:
            if name.startswith("_"):
                raise
            found, instead = import_module("cayley.geometry.former_names").former(name)
            if found is None:
                raise
        warnings.warn(f"`{package}.{name}` {GOES}: {instead}", DeprecationWarning, stacklevel=2)
        return found

    return get_or_former, names
