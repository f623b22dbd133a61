"""Controllers of a mechanism: systems, kernels, or functions of (t, q, qd); and what else drives a simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.inverse.external_loads import base_inputs
from cayley.errors import SignatureError, shown
from cayley.model.tree import Tree
from cayley.systems import System
from cayley.systems.adaptive.driving import DrivingLaw

STATE = ("t", "q", "qd")
Function: TypeAlias = Kernel | Callable[[Any, Any, Any], Any]  # of (t, q, qd)
Controller: TypeAlias = System | Function
Wrench: TypeAlias = ArrayLike | Callable[[float, np.ndarray, np.ndarray], ArrayLike]  # (6), or a function of (t, q, qd)
BaseMotion: TypeAlias = Callable[[float], Sequence[ArrayLike]]  # of the root at a time: pose (7), twist (6), its rate


def law_of(controller: Function, tree: Tree, *, sampled: bool = False) -> DrivingLaw:
    """The joint forces by a controller. A kernel's inputs named t, q and qd are the state, and its others parameters,
    which the simulation then takes by name; any other function is called with (t, q, qd)."""
    if not callable(controller):
        raise SignatureError("a controller is a system, a kernel, or a function of (t, q, qd), not "
                             f"{shown(controller)}")
    inputs = controller.inputs if isinstance(controller, Kernel) else STATE

    def text(t: Scalar, x: Mapping[str, Array], parameters: Mapping[str, Array]) -> Array:
        given = {"t": t, "q": x["q"], "qd": x["qd"], **parameters}
        tau = np.asarray(controller(*[given[name] for name in inputs]))
        if tau.shape != np.shape(x["qd"]):
            raise SignatureError(
                f"the controller returned forces of the shape {tau.shape}; {tree.name} needs ({tree.nv},)")
        return tau

    parameters = _parameters(controller, tree) if isinstance(controller, Kernel) else {}
    return DrivingLaw("tau", parameters, text, sampled, timed="t" in inputs)


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


def acting_inputs(tree: Tree, wrenches: Mapping[str, Wrench], base: BaseMotion | None) -> dict[str, Wrench]:
    """The inputs of a mechanism besides its joint forces: wrenches, and a root that is moved."""
    def of_the_root(t: float) -> tuple[Array, Array]:
        given = base(t) if base is not None else ()
        if len(given) != 3 or not all(np.isfinite(np.asarray(x, dtype=float)).all() for x in given):
            raise SignatureError(f"the base of {tree.name} moves by three arrays of finite numbers at t = {t:g}, its "
                                 f"pose (7), its twist (6) and the derivative of that, not by {given}")
        return base_inputs(tree, *given)

    acting: dict[str, Wrench] = {f"wrench_{frame}": wrench for frame, wrench in wrenches.items()}
    return acting if base is None else {**acting, "base_turning": lambda t, q, qd: of_the_root(t)[0],
                                        "base_acceleration": lambda t, q, qd: of_the_root(t)[1]}
