"""Whole trajectories of mechanisms inside one compiled loop: rollouts of the system of a tree, with dry friction, a
controller, wrenches and inertias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from cayley.compiler.algebras.foreign_symbols import rollout_numbers
from cayley.compiler.backends.gpu_arrays import is_on_gpu
from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, GeometryError, SignatureError
from cayley.explained_calls import explained
from cayley.kinematics.constraints.closure_checks import check_closed_state
from cayley.model.configurations import check_configuration
from cayley.model.tree import Tree
from cayley.simulation.controllers import Controller, law_of
from cayley.simulation.fixed_steps import mechanism_system
from cayley.simulation.mechanism_motion import mechanism_motion
from cayley.systems.adaptive.driving import DrivingLaw
from cayley.systems.arguments import check_lists, given_inputs
from cayley.systems.joining.connect import connect
from cayley.systems.layout import StateLike
from cayley.systems.overlaps import tell_overlaps
from cayley.systems.rollouts.calls import Arguments, SystemCalls
from cayley.systems.rollouts.located_transitions import Watching
from cayley.systems.rollouts.rollout import Rollout, default_method, system_step
from cayley.systems.system import System


class MechanismCalls(SystemCalls):
    """A rollout of a mechanism, perhaps connected with a controller, is called with q, qd and tau, and the other inputs
    and the states of the controller by name. Joint forces by a law whose numbers are `known` are shown."""

    leading = ("q", "qd")

    def __init__(self, tree: Tree, known: DrivingLaw | None) -> None:
        self._tree = tree
        self._known = known
        self.mechanism = mechanism_motion(tree)

    @property
    def tree(self) -> Tree:
        return self._tree

    def arguments(self, rollout: Rollout, state: Sequence[StateLike | None], named: Mapping[str, Any],
                  inputs: Mapping[str, ArrayLike], parameters: Mapping[str, ArrayLike], steps: int,
                  start: float) -> Arguments:
        in_order = dict(zip((*self.leading, "tau"), state, strict=False))
        twice = [name for name in in_order if name in named]
        missing = [name for name in self.leading if name not in (*in_order, *named)]
        fixed = [name for name in parameters if name in rollout.system.parameters and name not in rollout.inputs]
        wrong = [*[f"{name} is missing" for name in missing], *[f"{name} is given twice" for name in twice],
                 *[f"{len(state)} are given"] * (len(state) > 3), *[
                     f"the parameter {name} is fixed in it; `cy.connect(arm.system(), controller).rollout(parameters="
                     f"[{name!r}])` takes it" for name in fixed]]
        if wrong:
            raise SignatureError(f"a rollout of {self.tree.name} takes q, qd and tau in this order, and all else by "
                                 f"name: {wrong[0]}")
        given = {n: a for n, a in {**in_order, **inputs, **parameters, **named}.items() if n != "tau" or a is not None}
        layout = rollout.system.layout
        first = rollout.viewed({n: given.pop(n) for n in layout.columns if n in given})
        if "tau" in given and "tau" not in rollout.inputs:
            raise ConventionError(
                "this rollout has a controller: it gives the joint forces, `tau` cannot be given as well")
        found = given_inputs(rollout.system, rollout.viewed(given), rollout.inputs, rollout.changing, steps,
                             rollout.inputs)
        blocks = {n: first[n] if is_on_gpu(first[n]) else rollout_numbers(first[n], n) for n in self.leading}
        self._check(blocks["q"], blocks["qd"], start)
        if self.tree.contacts and not any(map(is_on_gpu, blocks.values())):
            tell_overlaps(rollout.system, start, layout.vectors(layout.given(first)), {}, {})
        return (layout.given(first) | blocks if len(layout.columns) > 2 else blocks), found, {}

    def shown(self, rollout: Rollout, t: Array, x: Array, inputs: dict[str, Array]) -> dict[str, Array]:
        found = {n: a for n, a in inputs.items() if n in rollout.system.ports}
        if self._known is not None:
            found["tau"] = self._known.text(t, rollout.system.layout.state(x), {
                n: inputs[n] for n in self._known.parameters})
        return found

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
            raise GeometryError(f"velocities of {self.tree.name} must be finite, of the shape (..., {self.tree.nv}); "
                                f"these have {qd.shape}")
        check_closed_state(self.tree, q, qd, start)


@explained
def rollout(tree: Tree, *, method: str | None = None, controller: Controller | None = None, control: str = "sampled",
            wrenches: Sequence[str] = (), axes: str = "body", inertias: Sequence[str] = (),
            base_motion: bool = False, changing: Sequence[str] = (), iterations: int | None = None,
            limits: str | float = "ignore") -> Rollout:
    """Compile rollouts of a mechanism; call the result on states.

    `method`: "rk4" (the default), "semi-implicit-euler" (the default for dry friction and stops in loops),
    "lie-midpoint", "implicit-midpoint", "gauss", "gauss-energy" or "variational"; see `fixed_steps`. `controller`: a
    kernel whose inputs t, q and qd are the state and whose others are parameters of the rollout, a scalar-agnostic
    function of (t, q, qd), or a system, as the laws of `arm.control` are, whose inputs the rollout then takes by name;
    it is compiled into the loop, and a system is connected as it is: `digital(law, period)` samples. `control` of
    kernels and functions: "sampled", evaluated at the start of each step and held, as a digital controller does, or
    "continuous", evaluated wherever the method looks. `wrenches`: frames at which wrenches `wrench_<frame>` (6) act, in
    the axes of the frame ("body") or of the root ("world"). `inertias`: bodies whose inertia is an input
    `inertia_<body>` (10), as `inertia_parameters` gives it. `base_motion`: the root is moved, by the inputs
    `base_turning` (3) and `base_acceleration` (6), which `base_inputs` makes of its pose and twist. `changing`: inputs
    that have a value for each step. `iterations`: of an implicit method. `limits`: of joints, as in `simulate`:
    "ignore", "inelastic", "elastic", or the coefficient of restitution of stops.

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
    method = method or default_method(system)
    law = None if controller is None or isinstance(controller, System) else law_of(
        controller, tree, sampled=control == "sampled")
    known = law if isinstance(controller, Kernel) else None  # any other function is compiled into the steps
    made = Rollout(system, system_step(system, method, iterations), method, changing, law=law, watching=watching,
                   calls=MechanismCalls(tree, known))
    made._recipe = partial(rollout, tree, method=method, controller=controller, control=control,
                           wrenches=tuple(wrenches), axes=axes, inertias=tuple(inertias), base_motion=base_motion,
                           changing=tuple(changing), iterations=iterations, limits=limits)
    return made

