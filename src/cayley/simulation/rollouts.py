"""Whole trajectories of mechanisms inside one compiled loop: rollouts of the system of a tree, with dry friction, a
controller, wrenches and inertias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from cayley.compiler.algebras.foreign_symbols import rollout_numbers
from cayley.compiler.backends.gpu_arrays import is_on_gpu
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, GeometryError, SignatureError
from cayley.kinematics.constraints.closed_states import check_closed_state
from cayley.model.configurations import check_configuration
from cayley.model.tree import Tree
from cayley.simulation.closed_outcome import closed_outcome
from cayley.simulation.controllers import Controller, Law
from cayley.simulation.fixed_steps import mechanism_system
from cayley.simulation.mechanism_motion import mechanism_motion
from cayley.systems.arguments import check_lists
from cayley.systems.compiled_transitions import Watching
from cayley.systems.connect import connect
from cayley.systems.layout import State, StateLike
from cayley.systems.rollout_calls import Arguments, SystemCalls
from cayley.systems.rollouts import Feed, Rollout, system_step
from cayley.systems.system import System
from cayley.systems.trajectory import Trajectory


@dataclass(frozen=True)
class MechanismCalls(SystemCalls):
    """A rollout of a mechanism, perhaps connected with a controller, is called with q, qd and tau, and the other inputs
    and the states of the controller by name."""

    mechanism: Tree
    law: Law | None
    leading = ("q", "qd")

    @property
    def tree(self) -> Tree:
        return self.mechanism

    def arguments(self, rollout: Rollout, state: Sequence[StateLike | None], named: Mapping[str, Any],
                  inputs: Mapping[str, ArrayLike], parameters: Mapping[str, ArrayLike], steps: int,
                  start: float) -> Arguments:
        in_order = dict(zip((*self.leading, "tau"), state, strict=False))
        twice = [name for name in in_order if name in named]
        missing = [name for name in self.leading if name not in (*in_order, *named)]
        wrong = [*[f"{name} is missing" for name in missing], *[f"{name} is given twice" for name in twice],
                 *[f"{len(state)} are given"] * (len(state) > 3),
                 *[f"there is no parameter {name}; `arm.system(parameters=...)` has some" for name in parameters]]
        if wrong:
            raise SignatureError(f"a rollout of {self.tree.name} takes q, qd and tau in this order, and all else by "
                                 f"name: {wrong[0]}")
        given = {n: a for n, a in {**in_order, **inputs, **named}.items() if n != "tau" or a is not None}
        layout = rollout.system.layout
        first = rollout.viewed({n: given.pop(n) for n in layout.columns if n in given})
        found = self._inputs(rollout, given, steps)
        blocks = {n: first[n] if is_on_gpu(first[n]) else rollout_numbers(first[n], n) for n in self.leading}
        self._check(blocks["q"], blocks["qd"], start)
        return (layout.given(first) | blocks if len(layout.columns) > 2 else blocks), found, {}

    def required(self, rollout: Rollout) -> list[str]:
        ports = rollout.system.ports
        return [*self.leading, *[n for n in rollout.inputs
                                 if n in rollout.changing or n not in ports or ports[n].default is None]]

    def result(self, rollout: Rollout, found: Trajectory) -> Trajectory:
        """The trajectory of a mechanism: with joint forces where they are known, and a check of its constraints."""
        status, message = found.status, found.message
        if self.tree.is_constrained:
            status, message = closed_outcome(self.tree, found.t, found.q, status, message)
        acted = [name for name in rollout.inputs if name.startswith(("wrench_", "inertia_", "base_"))]
        known = {n: found.inputs[n] for n in rollout.inputs if n in rollout.system.ports}
        if self.law is not None and self.law.is_kernel:  # any other function was compiled into the steps
            known["tau"] = self.law(found.t, found.q, found.qd, {n: found.inputs[n] for n in self.law.parameters})
        return replace(found, status=status, message=message, mechanism=mechanism_motion(self.tree), inputs=known,
                       facts={**found.facts, "acted": ", ".join(acted)} if acted else found.facts)

    def _check(self, q: Array, qd: Array, start: float) -> None:
        if is_on_gpu(q) or is_on_gpu(qd):  # where nothing is looked at but shapes
            for name, array, size in (("q", q, self.tree.nq), ("qd", qd, self.tree.nv)):
                if array.shape[-1:] != (size,):
                    raise GeometryError(f"{name} of {self.tree.name} has the shape (..., {size}), not {array.shape}")
            return
        for name, array in (("q", q), ("qd", qd)):
            if array.dtype.kind not in "fiub":
                raise SignatureError(f"{name} of {self.tree.name} must be real numbers, not {array.dtype}")
        check_configuration(self.tree, q, limits=False, tolerance=1e-5 if q.dtype == np.float32 else 1e-9)
        if qd.shape[-1:] != (self.tree.nv,) or not np.isfinite(qd).all():
            raise GeometryError(
                f"velocities of {self.tree.name} must be finite, of the shape (..., {self.tree.nv}); these have "
                f"{qd.shape}"
            )
        check_closed_state(self.tree, q, qd, start)

    def _inputs(self, rollout: Rollout, given: dict[str, Any], steps: int) -> dict[str, Array]:
        shapes = rollout.inputs
        if "tau" in given and "tau" not in shapes:
            raise ConventionError(
                "this rollout has a controller: it gives the joint forces, `tau` cannot be given as well")
        own = {n: np.full(port.shape, port.default, np.float32) for n, port in rollout.system.ports.items()
               if n in shapes and n not in rollout.changing and port.default is not None}
        given = own | given
        missing = [n for n in shapes if n not in given]
        unknown = [n for n in given if n not in shapes]
        if missing or unknown:
            raise SignatureError(f"a rollout of {self.tree.name} takes {', '.join(shapes)}: "
                                 + (f"{missing[0]} is missing" if missing else f"there is no {unknown[0]}"))
        viewed = rollout.viewed(given)
        arrays = {name: viewed[name] if is_on_gpu(viewed[name]) else np.asarray(viewed[name]) for name in shapes}
        for name in rollout.changing:
            core = len(shapes[name])
            if arrays[name].ndim <= core or arrays[name].shape[-1 - core] != steps:
                wanted = ", ".join(map(str, ("...", f"{steps} steps", *shapes[name])))
                raise SignatureError(f"the input {name} changes: its shape is ({wanted}), not {arrays[name].shape}")
        for name, shape in shapes.items():
            if arrays[name].shape[max(arrays[name].ndim - len(shape), 0):] != shape:
                wanted = ", ".join(map(str, ("...", *shape)))
                raise SignatureError(f"{name} of {self.tree.name} has the shape ({wanted}), not {arrays[name].shape}")
        return arrays


def rollout(tree: Tree, *, method: str = "rk4", controller: Controller | None = None, control: str = "sampled",
            wrenches: Sequence[str] = (), axes: str = "body", inertias: Sequence[str] = (),
            base_motion: bool = False, changing: Sequence[str] = (), iterations: int | None = None,
            limits: str | float = "ignore") -> Rollout:
    """Compile rollouts of a mechanism; call the result on states.

    `method`: "rk4", "semi-implicit-euler", "lie-midpoint", "implicit-midpoint", "gauss", "gauss-energy" or
    "variational"; see `fixed_steps`. `controller`: a kernel whose inputs t, q and qd are the state and whose others are
    parameters of the rollout, a scalar-agnostic function of (t, q, qd), or a system, as the laws of `arm.control` are,
    whose inputs the rollout then takes by name; it is compiled into the loop, and a system is connected as it is:
    `digital(law, period)` samples. `control` of kernels and functions: "sampled", evaluated at the start of each step
    and held, as a digital controller does, or "continuous", evaluated wherever the method looks. `wrenches`: frames at
    which wrenches `wrench_<frame>` (6) act, in the axes of the frame ("body") or of the root ("world"). `inertias`:
    bodies whose inertia is an input `inertia_<body>` (10), as `inertia_parameters` gives it. `base_motion`: the root is
    moved, by the inputs `base_turning` (3) and `base_acceleration` (6), which `base_inputs` makes of its pose and
    twist. `changing`: inputs that have a value for each step. `iterations`: of an implicit method. `limits`: of joints,
    as in `simulate`: "ignore", "inelastic", "elastic", or the coefficient of restitution of stops.

    >>> from cayley.model.catalogue import load_robot
    >>> roll = rollout(load_robot("planar2r"), method="rk4")
    >>> fallen = roll([[0.0, 0.0], [0.5, 0.2]], np.zeros(2), step=1e-3, steps=500, every=100)
    >>> fallen, bool(np.abs(fallen.energy_drift).max() < 1e-8)
    (<trajectory: 2 of planar2r, 6 samples, t = 0 to 0.5, finished>, True)
    """
    check_lists(wrenches=wrenches, inertias=inertias, changing=changing)
    if control not in ("sampled", "continuous"):
        raise ConventionError(f'control is "sampled" or "continuous", not {control!r}')
    system = mechanism_system(tree, wrenches, axes, inertias, base_motion, limits)
    watching = None
    if isinstance(controller, System):
        system = connect(system, controller)
        watching = Watching(system, (), 8, 16) if system.transitions else None
    law = None if controller is None or isinstance(controller, System) else Law(controller, tree)
    steps = system_step(system, method, iterations)
    feed = None if law is None else _feed(law, tree, control == "sampled")
    made = Rollout(system, steps, method, changing, feed=feed, watching=watching,
                   calls=MechanismCalls(tree, law))
    made._recipe = partial(rollout, tree, method=method, controller=controller, control=control,
                           wrenches=tuple(wrenches), axes=axes, inertias=tuple(inertias), base_motion=base_motion,
                           changing=tuple(changing), iterations=iterations, limits=limits)
    return made


def _feed(law: Law, tree: Tree, sampled: bool) -> Feed:
    """A control law as what drives the joint forces."""
    def text(t: Scalar, x: State, parameters: dict[str, Array]) -> dict[str, Array]:
        tau = np.asarray(law(t, x.q, x.qd, parameters))
        if tau.shape != (tree.nv,):
            raise SignatureError(
                f"the controller returned forces of the shape {tau.shape}; {tree.name} needs ({tree.nv},)")
        return {"tau": tau}

    return Feed(("tau",), law.parameters, text, sampled, "t" in law.inputs)
