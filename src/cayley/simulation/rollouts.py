"""Whole trajectories of mechanisms inside one compiled loop: rollouts of the system of a tree, with dry friction, a
controller, wrenches and inertias.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.algebras.foreign_symbols import rollout_numbers
from cayley.compiler.backends.gpu_arrays import is_on_gpu
from cayley.compiler.derivatives.jax_layers import jax_layer
from cayley.compiler.derivatives.torch_layers import torch_layer
from cayley.compiler.local_functions import call, packed
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Scalar
from cayley.errors import ConventionError, GeometryError, SignatureError
from cayley.kinematics.constraints.closed_states import check_closed_state
from cayley.model.configurations import check_configuration
from cayley.model.tree import Tree
from cayley.simulation.closed_outcome import closed_outcome
from cayley.simulation.controllers import Controller, Law
from cayley.simulation.fixed_steps import mechanism_system
from cayley.simulation.mechanism_motion import mechanism_motion
from cayley.systems import rollouts as systems
from cayley.systems.arguments import check_lists
from cayley.systems.checkpoints import Run
from cayley.systems.device_trajectory import DeviceTrajectory
from cayley.systems.layout import State
from cayley.systems.rollout_derivatives import RolloutDerivatives
from cayley.systems.rollout_layers import RolloutLayer
from cayley.systems.rollout_loss import Gradient, gradient
from cayley.systems.trajectory import Trajectory

if TYPE_CHECKING:
    from cayley.compiler.c.c_source import CSource
    from cayley.compiler.kernel import Kernel


class Rollout:
    """A mechanism with a method, a controller and its inputs, compiled for rollouts; `rollout` makes one."""

    _recipe: partial[Rollout]

    def __init__(self, tree: Tree, of_system: systems.Rollout, law: Law | None, changing: Sequence[str]) -> None:
        self.tree = tree
        self.method = of_system.method
        self.order = of_system.order
        self.evaluations = of_system.evaluations
        self._of_system = of_system
        self._law = law
        self._changing = tuple(changing)

    def __reduce__(self) -> Scalar:
        """Pickled as what it was made of; it is compiled again where it arrives, or found in the cache."""
        return call, (packed(self._recipe, f"recipe of {self!r}"),)

    def __copy__(self) -> Rollout:
        return self  # it does not change

    def __deepcopy__(self, memo: object) -> Rollout:
        return self

    def __repr__(self) -> str:
        return f"<rollout of {self.tree.name} by {self.method}, inputs {', '.join(['q', 'qd', *self.inputs])}>"

    def on(self, backend: str) -> Rollout:
        """The same rollout made by another backend: `on("cuda")` runs on a GPU, a thread a trajectory, all steps
        in one kernel.

        Called with arrays of CuPy, torch or JAX that lie there, it returns a `DeviceTrajectory` of such arrays, and
        nothing is copied, waited for or looked at; called with NumPy's, it returns what this rollout does.
        """
        made = object.__new__(Rollout)  # not by copy(), which would make it anew
        vars(made).update(vars(self))
        made._of_system = self._of_system.on(backend)
        made._recipe = partial(_on, self, backend)
        return made

    def c_source(self, name: str | None = None, *, dtype: DTypeLike = "float64") -> CSource:
        """One C99 function of one trajectory, with its header: all steps, and the table of the method's stages as
        `row`.
        """
        return self._of_system.c_source(name or f"{self.tree.name}_rollout", dtype=dtype)

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes, for one trajectory and one step, of what a call takes besides q and qd."""
        return dict(self._of_system.inputs)

    def __call__(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None, *, step: ArrayLike, steps: int,
                 every: int = 1, start: float = 0.0, threads: int = 1, progress: bool = True,
                 **inputs: ArrayLike) -> Trajectory | DeviceTrajectory:
        """Trajectories from the states `q` (..., nq), `qd` (..., nv): `steps` steps of `step` seconds, every k-th state
        kept.

        `tau` (..., nv) are the joint forces, none if left out; all other `inputs` go by names that this rollout has and
        no other: the parameters of its controller, its wrenches and inertias, as listed by the property `inputs`. Those
        that were declared `changing` have an axis of steps before their own. Everything broadcasts. Trajectories that
        leave the numbers are kept as far as they go, and `status` says so. `progress`: a bar, if it takes long.
        """
        state, given = self._arguments(q, qd, tau, inputs, step, steps, start)
        rolled = self._of_system.run(state, given, {}, step=step, steps=steps, every=every, start=start,
                                     threads=threads, progress=progress)
        example = next(filter(is_on_gpu, (q, qd)), None)
        return self._of_system.finished(rolled, example, lambda found: self._result(found, step, every))

    def gradient(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None, *, running: Kernel | None = None,
                 terminal: Kernel | None = None, by: Sequence[str] | str | None = None, step: ArrayLike, steps: int,
                 every: int = 1, start: float = 0.0, threads: int = 1, **inputs: ArrayLike) -> Gradient:
        """The loss of each trajectory, and its derivatives by reverse mode, whose cost does not grow with their number.

        `running` is a kernel of one number, summed over all kept states but the last; `terminal` is one of the last.
        Their inputs are named q, qd, as the inputs of this rollout are, `t` [s] or `work` [J]. `by`: names of q, qd
        and inputs; all of them, if left out. A derivative has the shape of what it is by; where that was broadcast over
        a batch, it is the sum. All else as in a call.

        >>> from cayley.compiler.kernel import kernel
        >>> from cayley.model.catalogue import load_robot
        >>> speed = kernel("(2)->()", inputs=["qd"])(lambda qd: qd @ qd)
        >>> roll = rollout(load_robot("planar2r"), changing=["tau"])
        >>> found = roll.gradient(np.zeros(2), np.zeros(2), np.zeros((50, 2)), terminal=speed, step=0.01, steps=50)
        >>> found, found["tau"].shape
        (<gradient by q, qd, tau>, (50, 2))
        """
        run = self._run(q, qd, tau, inputs, step, steps, every, start, threads)
        return gradient(self._of_system.derivatives, run, running, terminal, by)

    def vjp(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None, *, weights: Mapping[str, ArrayLike],
            by: Sequence[str] | str | None = None, step: ArrayLike, steps: int, every: int = 1, start: float = 0.0,
            threads: int = 1, **inputs: ArrayLike) -> dict[str, Array]:
        """The derivatives of the sum of all kept states, each number times its weight: reverse mode, as `gradient`.

        `weights`: (..., samples + 1, n) for `q` and `qd`, (..., samples + 1) for `work`.
        """
        return self._of_system.derivatives.vjp(
            self._run(q, qd, tau, inputs, step, steps, every, start, threads), weights, by)

    def jvp(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None, *, tangents: Mapping[str, ArrayLike],
            step: ArrayLike, steps: int, every: int = 1, start: float = 0.0, threads: int = 1,
            **inputs: ArrayLike) -> dict[str, Array]:
        """The changes of `q`, `qd` and `work` of all kept states when the arguments change along `tangents`, by name:
        forward mode. Tangents may have leading axes of their own, which broadcast.
        """
        return self._of_system.derivatives.jvp(
            self._run(q, qd, tau, inputs, step, steps, every, start, threads), tangents)

    def sensitivities(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None, *,
                      by: Sequence[str] | str | None = None, step: ArrayLike, steps: int, every: int = 1,
                      start: float = 0.0, threads: int = 1, **inputs: ArrayLike) -> dict[str, dict[str, Array]]:
        """The derivatives of q and qd at each kept time by each of `by`, (..., samples + 1, n, *by): forward mode, a
        column at a time; `found["q"]["tau"]` is that of q by a constant tau.
        """
        return self._of_system.derivatives.sensitivities(
            self._run(q, qd, tau, inputs, step, steps, every, start, threads), by)

    def for_torch(self, *, step: ArrayLike, steps: int, every: int = 1, start: float = 0.0,
                  threads: int = 1) -> Callable[..., Any]:
        """The rollout as a function of torch's tensors that torch differentiates, a layer of a network: of q, qd and
        the inputs, by name or in this order, to q and qd, (..., samples + 1, n) each."""
        return torch_layer(self._layer(step, steps, every, start, threads))

    def for_jax(self, *, step: ArrayLike, steps: int, every: int = 1, start: float = 0.0,
                threads: int = 1) -> Callable[..., Any]:
        """The rollout as a function of JAX's arrays, as `for_torch` of torch's: inside `jax.jit`, `jax.grad` and
        `jax.vmap`."""
        self._of_system.check_here()
        return jax_layer(self._layer(step, steps, every, start, threads))

    def _layer(self, step: ArrayLike, steps: int, every: int, start: float, threads: int) -> RolloutLayer:
        self._of_system.check(step, steps, every, start)

        def run(given: Mapping[str, Any]) -> tuple[RolloutDerivatives, Run]:
            inputs = {n: a for n, a in given.items() if n not in ("q", "qd", "tau")}
            return self._of_system.differentiated(self._run(given["q"], given["qd"], given.get("tau"), inputs, step,
                                                            steps, every, start, threads))
        required = ["q", "qd", *[n for n in self.inputs if n != "tau" or n in self._changing]]
        return RolloutLayer(self._of_system.derivatives, run, steps, every, required)

    def _run(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None, inputs: dict[str, ArrayLike], step: ArrayLike,
             steps: int, every: int, start: float, threads: int) -> Run:
        return Run(*self._arguments(q, qd, tau, inputs, step, steps, start), {}, step, steps, every, start, threads)

    def _arguments(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None, inputs: dict[str, ArrayLike],
                   step: ArrayLike, steps: int, start: float) -> tuple[dict[str, Array], dict[str, Array]]:
        """The state and the inputs of a call, as arrays that were checked."""
        self._of_system.check(step, steps, 1, start)
        given = self._inputs(tau, inputs, steps)
        state = {n: a if is_on_gpu(a) else rollout_numbers(a, n)
                 for n, a in self._of_system.viewed({"q": q, "qd": qd}).items()}
        self._check(state["q"], state["qd"], start)
        return state, given

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

    def _inputs(self, tau: ArrayLike | None, inputs: dict[str, ArrayLike], steps: int) -> dict[str, Array]:
        shapes = self.inputs
        given = dict(inputs)
        if tau is not None:
            if self._law is not None:
                raise ConventionError(
                    "this rollout has a controller: it gives the joint forces, `tau` cannot be given as well")
            given["tau"] = tau
        elif self._law is None and "tau" not in self._changing:
            given["tau"] = np.zeros(self.tree.nv, np.float32)
        missing = [n for n in shapes if n not in given]
        unknown = [n for n in given if n not in shapes]
        if missing or unknown:
            raise SignatureError(f"a rollout of {self.tree.name} takes {', '.join(shapes)}: "
                                 + (f"{missing[0]} is missing" if missing else f"there is no {unknown[0]}"))
        viewed = self._of_system.viewed(given)
        arrays = {name: viewed[name] if is_on_gpu(viewed[name]) else np.asarray(viewed[name]) for name in shapes}
        for name in self._changing:
            core = len(shapes[name])
            if arrays[name].ndim <= core or arrays[name].shape[-1 - core] != steps:
                wanted = ", ".join(map(str, ("...", f"{steps} steps", *shapes[name])))
                raise SignatureError(f"the input {name} changes: its shape is ({wanted}), not {arrays[name].shape}")
        for name, shape in shapes.items():
            if arrays[name].shape[max(arrays[name].ndim - len(shape), 0):] != shape:
                wanted = ", ".join(map(str, ("...", *shape)))
                raise SignatureError(f"{name} of {self.tree.name} has the shape ({wanted}), not {arrays[name].shape}")
        return arrays

    def _result(self, rolled: systems.Rolled, step: ArrayLike, every: int) -> Trajectory:
        points, times, given, _, _ = rolled
        q = points[..., :self.tree.nq]
        qd = points[..., self.tree.nq:-2]
        status, message = self._of_system.outcome(rolled, every)
        if self.tree.is_constrained:
            status, message = closed_outcome(self.tree, times, q, status, message)
        facts = {"method": self.method, "order": self.order, "step": np.asarray(step).tolist(), "every": every,
                 "precision": str(points.dtype), "evaluations a step": self.evaluations}
        acted = [name for name in self.inputs if name.startswith(("wrench_", "inertia_", "base_"))]
        if acted:
            facts["acted"] = ", ".join(acted)
        tau = self._forces(times, q, qd, given, every)
        inputs = {n: np.broadcast_to(a, (*qd.shape[:-1], *self.inputs[n]))
                  for n, a in self._of_system.at_samples(given, qd.shape[-2], every).items() if n in acted}
        return Trajectory(self._of_system.system, times, points[..., :-2], points[..., -2],
                          inputs if tau is None else {"tau": tau, **inputs}, status=status, message=message,
                          facts=facts, mechanism=mechanism_motion(self.tree))

    def _forces(self, times: Array, q: Array, qd: Array, given: dict[str, Array], every: int) -> Array | None:
        """The joint forces at the kept states: what holds there and then."""
        at_samples = self._of_system.at_samples(given, q.shape[-2], every)
        if self._law is None:
            return np.broadcast_to(at_samples["tau"], qd.shape)
        if not self._law.is_kernel:
            return None
        return np.broadcast_to(self._law(times, q, qd, {n: at_samples[n] for n in self._law.parameters}), qd.shape)


def _on(rollout: Rollout, backend: str) -> Rollout:
    return rollout.on(backend)


def rollout(tree: Tree, *, method: str = "rk4", controller: Controller | None = None, control: str = "sampled",
            wrenches: Sequence[str] = (), axes: str = "body", inertias: Sequence[str] = (),
            base_motion: bool = False, changing: Sequence[str] = (), iterations: int | None = None,
            limits: str | float = "ignore") -> Rollout:
    """Compile rollouts of a mechanism; call the result on states.

    `method`: "rk4", "semi-implicit-euler", "lie-midpoint", "implicit-midpoint", "gauss", "gauss-energy" or
    "variational"; see `fixed_steps`. `controller`: a kernel whose inputs t, q and qd are the state and whose others
    are parameters of the rollout, or a scalar-agnostic function of (t, q, qd); it is compiled into the loop.
    `control`: "sampled", evaluated at the start of each step and held, as a digital controller does, or
    "continuous", evaluated wherever the method looks. `wrenches`: frames at which wrenches `wrench_<frame>` (6)
    act, in the axes of the frame ("body") or of the root ("world"). `inertias`: bodies whose inertia is an input
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
    law = None if controller is None else Law(controller, tree)
    steps = systems.system_step(system, method, iterations)
    feed = None if law is None else _feed(law, tree, control == "sampled")
    made = Rollout(tree, systems.Rollout(system, steps, method, changing, feed=feed), law, changing)
    made._recipe = partial(rollout, tree, method=method, controller=controller, control=control,
                           wrenches=tuple(wrenches), axes=axes, inertias=tuple(inertias), base_motion=base_motion,
                           changing=tuple(changing), iterations=iterations, limits=limits)
    return made


def _feed(law: Law, tree: Tree, sampled: bool) -> systems.Feed:
    """A control law as what drives the joint forces."""
    def text(t: Scalar, x: State, parameters: dict[str, Array]) -> dict[str, Array]:
        tau = np.asarray(law(t, x.q, x.qd, parameters))
        if tau.shape != (tree.nv,):
            raise SignatureError(
                f"the controller returned forces of the shape {tau.shape}; {tree.name} needs ({tree.nv},)")
        return {"tau": tau}

    return systems.Feed(("tau",), law.parameters, text, sampled, "t" in law.inputs)
