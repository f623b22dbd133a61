"""Whole trajectories inside one compiled loop: fixed steps, for batches of states, forces, parameters, wrenches and
inertias.

A method of `fixed_steps` is compiled as the text of one stage, and `cayley.compiler.iterate` puts the loops over
stages, steps and samples around it. The controller, a kernel, is part of that text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from cayley.compiler.iterate import iterate
from cayley.compiler.kernel import kernel
from cayley.compiler.signature import spell
from cayley.compiler.symbols import where
from cayley.dynamics.forward.singular_inertia import why_singular
from cayley.dynamics.rigid_links.drives import coulomb_frictions, without_dry_friction
from cayley.errors import ConventionError, GeometryError, SignatureError
from cayley.model.configurations import check_configuration
from cayley.model.tree import Tree
from cayley.simulation.controllers import Controller, Law
from cayley.simulation.fixed_step_protocol import FIRST, TIME, FixedStep, Stage, State
from cayley.simulation.fixed_steps import fixed_step
from cayley.simulation.friction_steps import with_dry_friction
from cayley.simulation.progress import PatientBar
from cayley.simulation.rest import checked_coulomb
from cayley.simulation.state_equation import StateEquation
from cayley.simulation.trajectory import Trajectory

_TURN = 0.25  # seconds of work between two looks at the clock, and at Ctrl-C
_LITTLE = 2_000_000  # joint accelerations: a small piece of work
_CONVERGED = 1e-8  # of the speeds: what the last correction of an iterated step may be


class Rollout:
    """A mechanism with a method, a controller and its inputs, compiled for rollouts; `rollout` makes one."""

    _recipe: partial[Rollout]

    def __init__(self, tree: Tree, method: FixedStep, name: str, equation: StateEquation, law: Law | None,
                 sampled: bool, changing: Sequence[str]):
        self.tree = tree
        self.method = name
        self.order = method.order
        self.evaluations = method.evaluations
        self._method = method
        self._equation = equation
        self._law = law
        self._sampled = sampled
        self._shapes = {**(law.parameters if law else {"tau": (tree.nv,)}), **equation.more}
        unknown = [name for name in changing if name not in self._shapes]
        if unknown:
            raise SignatureError(
                f"this rollout has no input {unknown[0]!r} that could change: it has {', '.join(self._shapes)}")
        self._changing = tuple(changing)
        self._timed = law is not None and "t" in law.inputs
        self._holds = law is not None and sampled and method.evaluations > 1
        self._iterated = self._compiled()

    def __reduce__(self) -> tuple[partial[Rollout], tuple[()]]:
        """Pickled as what it was made of; it is compiled again where it arrives, or found in the cache."""
        return self._recipe, ()

    def __repr__(self) -> str:
        return f"<rollout of {self.tree.name} by {self.method}, inputs {', '.join(['q', 'qd', *self._shapes])}>"

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes, for one trajectory and one step, of what a call takes besides q and qd."""
        return dict(self._shapes)

    def __call__(self, q: Any, qd: Any, tau: Any = None, *, step: Any, steps: int, every: int = 1, start: float = 0.0,
                 threads: int = 1, progress: bool = True, **inputs: Any) -> Trajectory:
        """Trajectories from the states `q` (..., nq), `qd` (..., nv): `steps` steps of `step` seconds, every k-th state
        kept.

        `tau` (..., nv) are the joint forces, none if left out; all other `inputs` go by their names. Those that were
        declared `changing` have an axis of steps before their own. Everything broadcasts. Trajectories that leave the
        numbers are kept as far as they go, and `status` says so. `progress`: a bar, if it takes long.
        """
        given = self._inputs(tau, inputs, steps)
        q = np.asarray(q)
        qd = np.asarray(qd)
        self._check(q, qd, step, steps, every)
        precision = np.float32 if all(np.asarray(a).dtype == np.float32
                                      for a in (q, qd, *given.values())) else np.float64
        cores = {name: len(shape) + (name in self._changing) for name, shape in self._shapes.items()}
        batches = {"q": q.shape[:-1], "qd": qd.shape[:-1], "step": np.shape(step),
                   **{name: np.shape(a)[:np.ndim(a) - cores[name]] for name, a in given.items()}}
        batch = _together(batches)
        nq = self.tree.nq
        nv = self.tree.nv
        samples = steps // every
        kept = np.empty((*batch, samples + 1, nq + nv + 2), precision)
        kept[..., 0, :nq] = q
        kept[..., 0, nq:-2] = qd
        kept[..., 0, -2:] = 0.0
        times = start + np.asarray(step, dtype=float)[..., None] * np.arange(steps + 1)
        work = max(1, every * int(np.prod(batch)) * self.evaluations * nv)
        with PatientBar(f"{self.tree.name}, {self.method}", samples, shown=progress) as bar:
            for first, last in _pieces(samples, work, bar):
                self._advance(kept, first, last, every, given, step, times, precision, threads)
        return self._result(kept, times[..., ::every], given, step, every, precision)

    def _check(self, q: np.ndarray, qd: np.ndarray, step: Any, steps: int, every: int) -> None:
        check_configuration(self.tree, q, limits=False, tolerance=1e-5 if q.dtype == np.float32 else 1e-9)
        if qd.shape[-1:] != (self.tree.nv,) or not np.isfinite(qd).all():
            raise GeometryError(
                f"velocities of {self.tree.name} must be finite, of the shape (..., {self.tree.nv}); these have "
                f"{qd.shape}"
            )
        if not (np.isfinite(step) & (np.asarray(step) != 0)).all():
            raise ConventionError(f"the step must be a number of seconds that is not zero, not {step}")
        if (np.asarray(step) < 0).any() and coulomb_frictions(self.tree).any():
            raise ConventionError(
                "a step is negative: dry friction cannot be run backwards, as a joint at rest does not say "
                "how it came there")
        if steps < 0 or every < 1 or steps % every:
            raise ConventionError(f"{steps} steps with every {every}th kept: `steps` must be a multiple of `every`")

    def _inputs(self, tau: Any, inputs: dict[str, Any], steps: int) -> dict[str, np.ndarray]:
        given = dict(inputs)
        if tau is not None:
            if self._law is not None:
                raise ConventionError(
                    "this rollout has a controller: it gives the joint forces, `tau` cannot be given as well")
            given["tau"] = tau
        elif self._law is None and "tau" not in self._changing:
            given["tau"] = np.zeros(self.tree.nv, np.float32)
        missing = [n for n in self._shapes if n not in given]
        unknown = [n for n in given if n not in self._shapes]
        if missing or unknown:
            raise SignatureError(f"a rollout of {self.tree.name} takes {', '.join(self._shapes)}: "
                                 + (f"{missing[0]} is missing" if missing else f"there is no {unknown[0]}"))
        arrays = {name: np.asarray(given[name]) for name in self._shapes}
        for name in self._changing:
            core = len(self._shapes[name])
            if arrays[name].ndim <= core or arrays[name].shape[-1 - core] != steps:
                wanted = ", ".join(map(str, ("...", f"{steps} steps", *self._shapes[name])))
                raise SignatureError(f"the input {name} changes: its shape is ({wanted}), not {arrays[name].shape}")
        return arrays

    def _advance(self, kept: np.ndarray, first: int, last: int, every: int, given: dict[str, np.ndarray], step: Any,
                 times: np.ndarray, precision: Any, threads: int) -> None:
        """From sample `first` to sample `last`."""
        x = kept[..., first, :]
        now = slice(first * every, last * every)
        arguments = {
            "x": x, "carried": self._method.carried(x, self.tree.nq), "held": np.zeros(self.tree.nv, precision),
            "h": np.asarray(step, precision), "row": self._method.table.astype(precision),
            "t": times[..., now].astype(precision)}
        for name, shape in self._shapes.items():
            arguments[name] = _from_to(given[name], now, len(shape)) if name in self._changing else given[name]
        self._iterated(*[arguments[name] for name in self._iterated.kernel.inputs], steps=(last - first) * every,
                       every=every, out=[kept[..., first + 1:last + 1, :]], dtype=precision, threads=threads)

    def _result(self, kept: np.ndarray, times: np.ndarray, given: dict[str, np.ndarray], step: Any, every: int,
                precision: Any) -> Trajectory:
        nq = self.tree.nq
        q = kept[..., :nq]
        qd = kept[..., nq:-2]
        work = kept[..., -2]
        t = times if times.ndim == 1 else times.reshape(-1, times.shape[-1])[0]
        tau = self._forces(times, q, qd, given, every)
        status, message = self._outcome(kept, np.asarray(times), given)
        facts = {"method": self.method, "order": self.order, "step": np.asarray(step).tolist(), "every": every,
                 "precision": str(np.dtype(precision)), "evaluations a step": self.evaluations}
        if np.ndim(step):
            facts["times"] = "steps differ in the batch: t is that of the first trajectory, until one is taken out"
            facts["start"] = float(t[0])
        return Trajectory.of(self.tree, t, q, qd, tau, work, status=status, message=message, facts=facts)

    def _outcome(self, kept: np.ndarray, times: np.ndarray, given: dict[str, np.ndarray]) -> tuple[str, str]:
        end = kept[..., -1, :]
        if not np.isfinite(end).all():  # what is no number stays none: the last state tells
            fine = np.isfinite(kept).all(-1)
            bad = np.argwhere(~fine.all(-1))
            place = tuple(bad[0])
            sample = int(np.argmin(fine[place]))
            t = np.broadcast_to(times, fine.shape)[place][max(sample - 1, 0)]
            wrong = [name for name, a in given.items() if not np.isfinite(a).all()]
            reason = (f"the input {wrong[0]} is not finite" if wrong else
                      why_singular(self.tree, kept[(*place, max(sample - 1, 0))][:self.tree.nq]) or
                      "the step is too large, or leads to a singular inertia matrix")
            return "not finite", (
                f"{len(bad)} of {fine[..., 0].size} trajectories left the numbers, the first{_called(place)} after "
                f"t = {t:.6g}: {reason}")
        defect = end[..., -1]
        speed = np.abs(end[..., self.tree.nq:-2]).max(initial=1.0)
        if defect.size and defect.max() > max(_CONVERGED, 100 * np.finfo(kept.dtype).eps) * speed:
            return "not converged", (
                f"the last correction of a step was {defect.max():.2g}: the step is too large for {self.evaluations} "
                "iterations; make it smaller, or allow more iterations")
        return "finished", "all steps were made"

    def _forces(self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, given: dict[str, np.ndarray],
                every: int) -> np.ndarray | None:
        """The joint forces at the kept states: what holds there and then."""
        at_samples = {}
        for name, shape in self._shapes.items():
            a = given[name]
            core = len(shape)
            if name in self._changing:
                steps = np.minimum(np.arange(q.shape[-2]) * every, a.shape[a.ndim - core - 1] - 1)
                at_samples[name] = np.take(a, steps, axis=a.ndim - core - 1)
            else:
                at_samples[name] = np.expand_dims(a, a.ndim - core)
        if self._law is None:
            return np.broadcast_to(at_samples["tau"], qd.shape)
        if not self._law.is_kernel:
            return None
        return np.broadcast_to(self._law(times, q, qd, {n: at_samples[n] for n in self._law.parameters}), qd.shape)

    # The kernel of a stage

    def _compiled(self) -> Any:
        tree = self.tree
        nx = self.tree.nq + self.tree.nv + 2
        carried = self._method.carried(np.zeros(nx), tree.nq).shape
        shapes: dict[str, tuple[int, ...]] = {"x": (nx,), "carried": carried, "held": (tree.nv,), "h": (),
                                              "row": self._method.table.shape[1:], "t": (), **self._shapes}
        unused = {
            name
            for name, used in (("carried", carried != (0,)), ("held", self._holds), ("t", self._timed)) if not used}
        names = [name for name in shapes if name not in unused]
        fed = [name for name in ("x", "carried", "held") if name in names]
        signature = f"{','.join(spell(shapes[n]) for n in names)}->{','.join(spell(shapes[n]) for n in fed)}"
        stage = kernel(signature, name="stage", inputs=names,
                       outputs=[f"{n}_after" for n in fed])(self._text(names, fed))
        changing = [*self._changing, *(["t"] if self._timed else [])]
        return iterate(stage, {n: f"{n}_after" for n in fed}, changing=changing, cycling=["row"], keeping=["x_after"])

    def _text(self, names: Sequence[str], fed: Sequence[str]) -> Callable[..., Any]:
        def stage(*arguments: Any) -> Any:
            given = dict(zip(names, arguments, strict=True))
            state = State.of(given["x"], self.tree.nq)
            more = [given[name] for name in self._equation.more]
            force, held = self._force(given, state, more)
            after, carried = self._method.text(Stage(self._equation, force, given["h"], given["row"]), state,
                                               given.get("carried"))
            results = {"x": after.x, "carried": carried, "held": held}
            return tuple(results[name] for name in fed) if len(fed) > 1 else results[fed[0]]
        return stage

    def _force(self, given: dict[str, Any], state: State,
               more: list[Any]) -> tuple[Callable[[Any, Any], tuple[Any, ...]], Any]:
        """What gives (tau, *more) at a point of a stage, and the forces that are held for the next stage."""
        law = self._law
        row = given["row"]
        if law is None:
            return (lambda q, v: (given["tau"], *more)), None
        parameters = {name: given[name] for name in law.parameters}
        t = given.get("t", 0.0)
        if self._sampled:
            tau = self._commanded(t, state.q, state.v, parameters)
            if self._holds:
                tau = where(row[FIRST] > 0.5, tau, given["held"])
            return (lambda q, v: (tau, *more)), tau
        return (lambda q, v:
                (self._commanded(t + row[TIME] * given["h"], self._equation.projected(q), v, parameters), *more)), None

    def _commanded(self, t: Any, q: Any, v: Any, parameters: dict[str, Any]) -> Any:
        tau = np.asarray(self._law(t, q, v, parameters))  # type: ignore[misc]
        if tau.shape != (self.tree.nv,):
            raise SignatureError(
                f"the controller returned forces of the shape {tau.shape}; {self.tree.name} needs ({self.tree.nv},)")
        return tau


def rollout(tree: Tree, *, method: str = "rk4", controller: Controller | None = None, control: str = "sampled",
            wrenches: Sequence[str] = (), axes: str = "body", inertias: Sequence[str] = (),
            changing: Sequence[str] = (), iterations: int | None = None) -> Rollout:
    """Compile rollouts of a mechanism; call the result on states.

    `method`: "rk4", "semi-implicit-euler", "lie-midpoint" or "variational"; see `fixed_steps`. `controller`: a kernel
    whose inputs t, q and qd are the state and whose others are parameters of the rollout, or a scalar-agnostic function
    of (t, q, qd); it is compiled into the loop. `control`: "sampled", evaluated at the start of each step and held, as
    a digital controller does, or "continuous", evaluated wherever the method looks. `wrenches`: frames at which
    wrenches `wrench_<frame>` (6) act, in the axes of the frame ("body") or of the root ("world"). `inertias`: bodies
    whose inertia is an input `inertia_<body>` (10), as `inertia_parameters` gives it. `changing`: inputs that have a
    value for each step. `iterations`: of an implicit method.

    >>> from cayley.model.catalogue import load_robot
    >>> roll = rollout(load_robot("planar2r"), method="rk4")
    >>> fallen = roll([[0.0, 0.0], [0.5, 0.2]], np.zeros(2), step=1e-3, steps=500, every=100)
    >>> fallen, bool(np.abs(fallen.energy_drift).max() < 1e-8)
    (<trajectory: 2 of planar2r, 6 samples, t = 0 to 0.5, finished>, True)
    """
    if control not in ("sampled", "continuous"):
        raise ConventionError(f'control is "sampled" or "continuous", not {control!r}')
    equation = StateEquation(without_dry_friction(tree), tuple(wrenches), axes, tuple(inertias))
    law = None if controller is None else Law(controller, tree)
    steps = fixed_step(method, iterations)
    coulomb = checked_coulomb(tree)
    steps = with_dry_friction(steps, coulomb) if coulomb.any() else steps
    made = Rollout(tree, steps, method, equation, law, control == "sampled", changing)
    made._recipe = partial(rollout, tree, method=method, controller=controller, control=control,
                           wrenches=tuple(wrenches), axes=axes, inertias=tuple(inertias), changing=tuple(changing),
                           iterations=iterations)
    return made


def _together(batches: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in batches.items())
        raise SignatureError(f"the batches of states and inputs do not go together: {listed}") from None


def _from_to(array: np.ndarray, steps: slice, core: int) -> np.ndarray:
    """Some steps of an input that changes; `core` axes follow that of the steps."""
    index: tuple[Any, ...] = (..., steps, *[slice(None)] * core)
    return array[index]


def _called(place: tuple[int, ...]) -> str:
    return f" {place[0] if len(place) == 1 else tuple(map(int, place))}" if place else ""


def _pieces(samples: int, largest: int, bar: PatientBar) -> Iterator[tuple[int, int]]:
    """Samples in pieces of a fraction of a second, so that Python may look up in between.

    The first is small, to see how long it takes.
    """
    first = 0
    size = max(1, _LITTLE // largest)
    while first < samples:
        last = min(samples, first + size)
        before = time.monotonic()
        yield first, last
        first = last
        bar.reached(last)
        if time.monotonic() - before < _TURN / 2:
            size *= 2
