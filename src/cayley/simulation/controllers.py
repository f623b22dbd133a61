"""Control laws inside a simulation: kernels or functions of (t, q, qd), and what else they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError
from cayley.model.tree import Tree
from cayley.systems import System
from cayley.wording import shown

STATE = ("t", "q", "qd")
Function = Kernel | Callable[[Any, Any, Any], Any]  # of (t, q, qd)
Controller = System | Function


class Law:
    """A control law: `law(t, q, qd, parameters) -> tau (nv)`. A kernel's inputs named t, q and qd are the state; its
    others are parameters, which the simulation then takes by name. Any other function is called with (t, q, qd)."""

    def __init__(self, controller: Function, tree: Tree) -> None:
        if not callable(controller):
            raise SignatureError(f"a controller is a system, a kernel, or a function of (t, q, qd), not "
                                 f"{shown(controller)}")
        self._controller = controller
        self.parameters: dict[str, tuple[int, ...]] = {}
        if isinstance(controller, Kernel):
            self.parameters = _parameters(controller, tree)

    @property
    def is_kernel(self) -> bool:
        return isinstance(self._controller, Kernel)

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._controller.inputs if isinstance(self._controller, Kernel) else STATE

    def __call__(self, t: Scalar, q: Array, qd: Array, parameters: dict[str, Any]) -> Array:
        given = {"t": t, "q": q, "qd": qd, **parameters}
        return self._controller(*[given[name] for name in self.inputs])


def _parameters(controller: Kernel, tree: Tree) -> dict[str, tuple[int, ...]]:
    """Names and shapes of what a kernel takes besides the state."""
    cores = dict(zip(controller.inputs, controller.signature.inputs, strict=True))
    known = {"t": (), "q": (tree.nq,), "qd": (tree.nv,)}
    bound: dict[str, int] = {}
    for name, shape in known.items():
        for dimension, size in zip(cores.get(name, ()), shape, strict=False):
            expected = bound.setdefault(dimension, size) if isinstance(dimension, str) else dimension
            if expected != size or len(cores[name]) != len(shape):
                raise SignatureError(
                    f"the controller {controller.__name__} takes {name} of the shape {cores[name]}; that of "
                    f"{tree.name} is {shape}")
    free = [d for core in cores.values() for d in core if isinstance(d, str) and d not in bound]
    if free:
        raise SignatureError(
            f"the controller {controller.__name__} {controller.signature} leaves the dimension {free[0]!r} open: write "
            "the number")
    return {
        name: tuple(bound[d] if isinstance(d, str) else d for d in core)
        for name, core in cores.items() if name not in STATE}


def checked_forces(tau: ArrayLike, tree: Tree, what: str = "what the controller returned") -> Array:
    """Given joint forces as an array, checked to be (nv)."""
    forces = np.asarray(tau, dtype=float)
    if forces.shape != (tree.nv,):
        raise SignatureError(f"{what} has the shape {forces.shape}; joint forces of {tree.name} have ({tree.nv},)")
    return forces
