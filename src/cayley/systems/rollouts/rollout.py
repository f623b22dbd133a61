"""Whole trajectories inside one compiled loop: fixed steps, for batches of states, inputs and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.backends import backend_named
from cayley.compiler.backends.gpu_arrays import is_on_gpu
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.derivatives.iterated_steps import named_kernel
from cayley.compiler.derivatives.jax_layers import jax_layer
from cayley.compiler.derivatives.torch_layers import torch_layer
from cayley.compiler.kernel import Kernel
from cayley.compiler.local_functions import call, packed
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Scalar
from cayley.errors import SignatureError, UnsupportedError, check_known, shown
from cayley.explained_calls import with_explained_calls
from cayley.progress import PatientBar, pieces
from cayley.systems.adaptive.driving import DrivingLaw
from cayley.systems.arguments import check_lists
from cayley.systems.fixed_steps.methods import EXPLICIT, fixed_step
from cayley.systems.fixed_steps.protocol import FixedStep
from cayley.systems.fixed_steps.standstill import with_standstill
from cayley.systems.layout import Record, StateLike
from cayley.systems.rollouts.calls import SystemCalls
from cayley.systems.rollouts.derivatives import RolloutDerivatives, RolloutLayer
from cayley.systems.rollouts.device_trajectory import DeviceTrajectory
from cayley.systems.rollouts.located_transitions import Watching
from cayley.systems.rollouts.loss import Gradient, gradient
from cayley.systems.rollouts.outcomes import trajectory_of
from cayley.systems.rollouts.runs import Run, check_steps, first_inputs
from cayley.systems.rollouts.stages import compiled_steps
from cayley.systems.rollouts.transition_derivatives import TransitionDerivatives
from cayley.systems.system import System
from cayley.systems.trajectory import Trajectory

if TYPE_CHECKING:
    from cayley.compiler.c.c_source import CSource


@with_explained_calls
class Rollout:
    """A system with a method, compiled for rollouts; `System.rollout` and `Mechanism.rollout` make one.

    A rollout of a system is called with its state, the blocks by name, and `inputs`; a rollout of a mechanism with q,
    qd, tau and, by their names, all other inputs."""

    _recipe: partial[Rollout]

    def __init__(self, system: System, method: FixedStep, name: str, changing: Sequence[str] = (),
                 parameters: Sequence[str] = (), law: DrivingLaw | None = None, watching: Watching | None = None,
                 calls: SystemCalls | None = None) -> None:
        self.system = system
        self.calls = calls or SystemCalls()
        self.method = name
        self.order = method.order
        self.evaluations = method.evaluations
        self.fixed_step = method
        self.law = law
        self.watching = watching
        self.inputs: dict[str, tuple[int, ...]] = {**(law.parameters if law else {}), **{
            n: port.shape for n, port in system.ports.items() if law is None or n != law.drives}}
        check_known(parameters, system.parameters, f"{system.name} takes no parameter", "it takes")
        check_known(changing, self.inputs, f"{system.name} takes no input", "it takes")
        self.parameters = {n: np.shape(system.parameters[n]) for n in parameters}
        self.changing = tuple(changing)
        self.timed = system.is_timed or watching is not None or (law is not None and law.timed)
        self.holds = law is not None and law.sampled and method.evaluations > 1
        self.held = system.ports[law.drives].size if law else 0
        self.size = system.layout.size + 2
        self._iterated = compiled_steps(self)

    def __reduce__(self) -> Scalar:
        """Pickled as what it was made of; it is compiled again where it arrives, or found in the cache."""
        return call, (packed(self._recipe, f"recipe of {self!r}"),)

    def __copy__(self) -> Rollout:
        return self  # it does not change

    def __deepcopy__(self, memo: object) -> Rollout:
        return self

    def __repr__(self) -> str:
        inputs = ", ".join([*self.calls.leading, *self.inputs]) or "none"
        return f"<rollout of {self.system.name} by {self.method}, inputs {inputs}>"

    @property
    def tree(self) -> Any:  # noqa: ANN401 (that of a mechanism, which systems know nothing of)
        """The tree of the mechanism, of a rollout that a mechanism has made."""
        return self.calls.tree

    def on(self, backend: str) -> Rollout:
        """The same rollout made by another backend: `on("cuda")` runs on a GPU, a thread a trajectory, all steps
        in one kernel.

        Called with arrays of CuPy, torch or JAX that lie there, it returns a `DeviceTrajectory` of such arrays, and
        nothing is copied, waited for or looked at; called with NumPy's, it returns what this rollout does."""
        made = object.__new__(Rollout)  # not by copy(), which would make it anew
        vars(made).update(vars(self))
        made._iterated = self._iterated.on(backend)
        for name in ("_across", "derivatives", "backend", "is_here"):
            vars(made).pop(name, None)
        made._recipe = partial(Rollout.on, self, backend)
        return made

    def c_source(self, name: str | None = None, *, dtype: DTypeLike = "float64") -> CSource:
        """One C99 function of one trajectory, with its header: all steps, and the table of the method's stages as
        `row`."""
        return self._iterated.c_source(name or f"{self.system.name}_rollout", dtype=dtype)

    def __call__(self, *state: StateLike | None, step: ArrayLike, steps: int, every: int = 1, start: float = 0.0,
                 inputs: Mapping[str, ArrayLike] | None = None, parameters: Mapping[str, ArrayLike] | None = None,
                 threads: int = 1, progress: bool = True, **named: StateLike) -> Trajectory | DeviceTrajectory:
        """Trajectories from states: `steps` steps of `step` seconds, every k-th state kept.

        `state`: of a system the blocks by name, each (..., *shape), and modes that are not the first; of a mechanism
        q (..., nq), qd (..., nv) and, if they are not zero, the joint forces tau (..., nv). `inputs` (..., *shape) by
        name; blocks and inputs may be `named` in the call as well, as the parameters of a controller, wrenches and
        inertias of a mechanism are. Inputs that were declared `changing` have an axis of steps before their shape.
        Everything broadcasts. Trajectories that leave the numbers are kept as far as they go, and `status` says so.
        `progress`: a bar, if it takes long."""
        run = self._run(state, named, inputs, parameters, step, steps, every, start, threads)
        points, watched = self._rolled(run, progress)
        columns = self.system.layout.columns
        first = [*state[:2], *[named[n] for n in ("x", *columns) if n in named]]
        parts = [part for each in first for part in (each.values() if isinstance(each, Mapping) else [each])]
        example = next(filter(is_on_gpu, parts), None)
        if example is None:
            return self._here(run, points, watched)
        return DeviceTrajectory(self.system.layout, run.times[..., ::every], points,
                                partial(self.backend.as_given, example=example),
                                partial(self._here, run, points, watched))

    def _run(self, state: Sequence[StateLike | None], named: Mapping[str, StateLike],
             inputs: Mapping[str, ArrayLike] | None, parameters: Mapping[str, ArrayLike] | None, step: ArrayLike,
             steps: int, every: int, start: float, threads: int) -> Run:
        """The state, the inputs and the parameters of a call, as arrays that were checked."""
        check_steps(self, step, steps, every, start)
        arguments = self.calls.arguments(self, state, named, inputs or {}, parameters or {}, steps, start)
        return Run(self, *arguments, step, steps, every, start, threads)

    def gradient(self, *state: StateLike | None, running: Kernel | None = None, terminal: Kernel | None = None,
                 by: Sequence[str] | str | None = None, step: ArrayLike, steps: int, every: int = 1,
                 start: float = 0.0, inputs: Mapping[str, ArrayLike] | None = None,
                 parameters: Mapping[str, ArrayLike] | None = None, threads: int = 1, **named: StateLike) -> Gradient:
        """The loss of each trajectory, and its derivatives by reverse mode, whose cost does not grow with their number.

        `running` is a kernel of one number, summed over all kept states but the last; `terminal` is one of the last.
        Their inputs are named as the blocks of the state, the inputs and the parameters are, `t`, or `work`. `by`:
        names of blocks of the first state, inputs and parameters; all of them, if left out. Each derivative has
        the shape of its variable, and is summed over a batch to which the variable was broadcast. All else is as in a
        call.

        >>> from cayley.systems import System
        >>> decay = System("decay", state={"x": ""}, parameters={"k": 2.0}, derivative=lambda t, x, u, p: -p.k * x.x)
        >>> square = cy.kernel("()->()")(lambda x: x**2)
        >>> found = decay.rollout(parameters=["k"]).gradient(1.0, terminal=square, step=0.01, steps=100)
        >>> bool(abs(found["k"] + 2 * np.exp(-4.0)) < 1e-7)
        True
        """
        run = self._run(state, named, inputs, parameters, step, steps, every, start, threads)
        return gradient(*self.differentiated(run), running, terminal, by)

    def vjp(self, *state: StateLike | None, weights: Mapping[str, ArrayLike] | None = None,
            by: Sequence[str] | str | None = None, step: ArrayLike, steps: int, every: int = 1, start: float = 0.0,
            inputs: Mapping[str, ArrayLike] | None = None, parameters: Mapping[str, ArrayLike] | None = None,
            threads: int = 1, **named: StateLike) -> dict[str, Array]:
        """The derivatives of the sum of all kept states, each number times its weight: reverse mode, as `gradient`.

        `weights`: (..., samples + 1, *shape) for blocks, by name, and (..., samples + 1) for `work`. Each derivative
        has the shape of its variable, and is summed over a batch to which the variable was broadcast."""
        state, weights = _with_last(state, weights, "weights")
        derivatives, run = self.differentiated(
            self._run(state, named, inputs, parameters, step, steps, every, start, threads))
        return derivatives.vjp(run, weights, by)

    def jvp(self, *state: StateLike | None, tangents: Mapping[str, ArrayLike] | None = None, step: ArrayLike,
            steps: int, every: int = 1, start: float = 0.0, inputs: Mapping[str, ArrayLike] | None = None,
            parameters: Mapping[str, ArrayLike] | None = None, threads: int = 1,
            **named: StateLike) -> dict[str, Array]:
        """The changes of the blocks of all kept states when the arguments change along `tangents`, by name: forward
        mode.

        Tangents have the shapes of their arguments, and may have leading axes of their own, which broadcast."""
        state, tangents = _with_last(state, tangents, "tangents")
        derivatives, run = self.differentiated(
            self._run(state, named, inputs, parameters, step, steps, every, start, threads))
        return derivatives.jvp(run, tangents)

    def sensitivities(self, *state: StateLike | None, by: Sequence[str] | str | None = None, step: ArrayLike,
                      steps: int, every: int = 1, start: float = 0.0, inputs: Mapping[str, ArrayLike] | None = None,
                      parameters: Mapping[str, ArrayLike] | None = None, threads: int = 1,
                      **named: StateLike) -> dict[str, dict[str, Array]]:
        """The derivative of each block at each kept time by each of `by`, (..., samples + 1, *block, *by): forward
        mode, a column at a time; `found["angle"]["k"]` is that of `angle` by `k`."""
        derivatives, run = self.differentiated(
            self._run(state, named, inputs, parameters, step, steps, every, start, threads))
        return derivatives.sensitivities(run, by)

    def for_torch(self, *, step: ArrayLike, steps: int, every: int = 1, start: float = 0.0,
                  threads: int = 1) -> Callable[..., Any]:
        """The rollout as a function of torch's tensors that torch differentiates: of first blocks, inputs and
        parameters by name, to the blocks (..., samples + 1, *shape) in their order; one tensor, or a tuple."""
        return torch_layer(self._layer(step, steps, every, start, threads))

    def for_jax(self, *, step: ArrayLike, steps: int, every: int = 1, start: float = 0.0,
                threads: int = 1) -> Callable[..., Any]:
        """The rollout as a function of JAX's arrays, as `for_torch` of torch's: inside `jax.jit`, `jax.grad` and
        `jax.vmap`."""
        self.check_here()
        return jax_layer(self._layer(step, steps, every, start, threads))

    def check_here(self) -> None:
        """Raise an error unless the rollout runs on this processor, where XLA calls it back."""
        if not self.is_here:
            raise UnsupportedError("XLA calls back what is compiled for this processor: take the layer of the rollout "
                                   f"itself, not of the one on {self._iterated.backend}; for_torch(...) stays there")

    def _layer(self, step: ArrayLike, steps: int, every: int, start: float, threads: int) -> RolloutLayer:
        check_steps(self, step, steps, every, start)

        def run(given: Mapping[str, Any]) -> tuple[RolloutDerivatives, Run]:
            return self.differentiated(self._run((), given, None, None, step, steps, every, start, threads))
        return RolloutLayer(self.derivatives, run, steps, every, self.calls.required(self))

    @cached_property
    def derivatives(self) -> RolloutDerivatives:
        """The derivatives of this rollout; where there are transitions, as long as none happens."""
        return self._across.smooth if self._across else RolloutDerivatives(self)

    def differentiated(self, run: Run) -> tuple[RolloutDerivatives, Run]:
        """The derivatives of a run, and the run as they take it."""
        return self._across(run) if self._across else (self.derivatives, run)

    @cached_property
    def _across(self) -> TransitionDerivatives | None:
        return TransitionDerivatives(self, self.watching) if self.watching else None

    def remade(self, system: System, method: FixedStep, changing: Sequence[str],
               watching: Watching | None = None) -> Rollout:
        """A rollout of a system that differs in what happens in a step, by the same backend."""
        made = Rollout(system, method, self.method, changing, [*self.parameters], self.law, watching)
        return made.on(self._iterated.backend)

    def viewed(self, values: Mapping[str, Scalar] | Record) -> dict[str, Any]:
        """Values that lie on the device of this rollout as arrays of its backend; the others as they are."""
        return {n: self.backend.array(values[n], n) if is_on_gpu(values[n]) else values[n] for n in values}

    @cached_property
    def backend(self) -> Backend:
        return backend_named(self._iterated.backend)

    @cached_property
    def is_here(self) -> bool:
        """True if the rollout runs on this processor, on arrays of NumPy."""
        return self._iterated.backend == "llvm"

    @cached_property
    def one_way(self) -> str:
        """Why no step can be made backwards; nothing if steps can."""
        if self.watching is not None:
            return "jumps and modes cannot be run backwards"
        if any(part.possible for part in self.system.holds):
            return "dry friction and stops cannot be run backwards, as a joint at rest does not say how it came there"
        return ""

    def _rolled(self, run: Run, progress: bool) -> tuple[Array, Array | None]:
        """Make the steps: the points (..., samples + 1, size), and the last state of what is watched, or None."""
        points = run.empty(run.samples + 1, self.size)
        self.begin(points[..., 0, :], run.x)
        watched = self.watched_at_start(run, points)
        if not self.is_here:  # a GPU cannot be looked into while it runs
            return points, _last(self.advance(run, points, 0, run.every, watched))
        work = max(1, run.every * int(np.prod(run.batch)) * self.evaluations * self.system.layout.freedoms)
        with PatientBar(f"{self.system.name}, {self.method}", run.samples, shown=progress) as bar:
            for first, last in pieces(run.samples, work, bar):
                watched = _last(self.advance(run, points[..., first:last + 1, :], first * run.every, run.every,
                                             watched))
        return points, watched

    def _here(self, run: Run, points: Array, watched: Array | None) -> Trajectory:
        """The trajectory of a run, with arrays of NumPy."""
        if not self.is_here:
            here = self.backend.here
            given, parameters = ({n: here(a) for n, a in each.items()} for each in (run.given, run.parameters))
            run = replace(run, given=given, parameters=parameters)
            points, watched = here(points), None if watched is None else here(watched)
        return trajectory_of(run, points, watched)

    def watched_at_start(self, run: Run, points: Array) -> Array | None:
        """The search for transitions at the first of the points; None if there are none."""
        if self.watching is None:
            return None
        here = self.backend.here
        inputs = [here(a) for a in first_inputs(self, run.given).values()]
        return self.watching.start(here(points[..., 0, :-2]), run.times[..., 0], inputs,
                                   {n: here(a) for n, a in run.parameters.items()}, run.step)

    def begin(self, points: Array, x: Mapping[str, Array]) -> None:
        """Write states into points (..., size + 2), where no work is done yet."""
        layout = self.system.layout
        lead = layout.batch(x)
        for name, place in layout.columns.items():
            points[..., place] = self.backend.array(x[name], name).reshape((*lead[name], place.stop - place.start))
        points[..., -2:] = 0.0

    def _carried(self, points: Array) -> Array:
        """The numbers that the method carries at the start, made where the points are."""
        if isinstance(points, np.ndarray) and not is_on_gpu(points):
            return self.fixed_step.carried(points, self.system.layout)
        carries = "carried" in self._iterated.kernel.inputs
        return self._start.on(self._iterated.backend)(points) if carries else points[..., :0]

    @cached_property
    def _start(self) -> Kernel:
        """The numbers that are carried at the start, as a kernel."""
        def text(given: Mapping[str, Array]) -> tuple[Array]:
            return (self.fixed_step.carried(given["points"], self.system.layout),)

        shape = self.fixed_step.carried(np.zeros(self.size), self.system.layout).shape
        return named_kernel(text, {"points": (self.size,)}, {"carried": shape}, "start")

    def advance(self, run: Run, points: Array, first: int, every: int, watched: Array | None = None) -> Array | None:
        """From the first of points (..., samples + 1, size) to the others, which are `every` steps apart, from the step
        `first` of a run on; what is watched at each of them but the first."""
        x = points[..., 0, :]
        precision = points.dtype
        samples = points.shape[-2] - 1
        now = slice(first, first + samples * every)
        arguments = run.during(now.start, now.stop) | {
            "x": x, "carried": self._carried(x), "held": np.zeros(self.held, precision),
            "row": self.fixed_step.table.numbers.astype(precision)}
        out = [points[..., 1:, :]]
        if watched is not None and self.watching is not None:
            arguments |= self.watching.arguments(watched, now, precision)
            out.append(self.backend.empty(points.shape[:-2], (samples, self.watching.size), str(precision)))
        self._iterated(*[arguments[name] for name in self._iterated.kernel.inputs], steps=samples * every,
                       every=every, out=out, dtype=precision, threads=run.threads)
        return None if watched is None else out[1]


def rollout(system: System, *, method: str | None = None, changing: Sequence[str] = (), parameters: Sequence[str] = (),
            iterations: int | None = None, events_in_a_step: int = 8, remembered: int = 16) -> Rollout:
    """Compile rollouts of a system; see `System.rollout`."""
    check_lists(changing=changing, parameters=parameters)
    method = method or default_method(system)
    watching = Watching(system, tuple(parameters), events_in_a_step, remembered) if system.transitions else None
    made = Rollout(system, system_step(system, method, iterations), method, changing, parameters, watching=watching)
    made._recipe = partial(rollout, system, method=method, changing=tuple(changing), parameters=tuple(parameters),
                           iterations=iterations, events_in_a_step=events_in_a_step, remembered=remembered)
    return made


def default_method(system: System) -> str:
    """The fixed-step method of a rollout that names none: the one that can settle which of tied joints stand still."""
    return "semi-implicit-euler" if any(part.possible and part.is_coupled for part in system.holds) else "rk4"


def system_step(system: System, method: str, iterations: int | None) -> FixedStep:
    """A method by its name, for a system with or without dry friction and stops."""
    held = any(part.possible for part in system.holds)
    swept = method in EXPLICIT and any(part.is_coupled for part in system.holds)
    steps = fixed_step(method, None if swept else iterations, system.methods)
    return with_standstill(steps, method, system, iterations) if held else steps


def _with_last(state: tuple[StateLike | None, ...], given: Mapping[str, ArrayLike] | None,
               word: str) -> tuple[tuple[StateLike | None, ...], Mapping[str, ArrayLike]]:
    """The state, and weights or tangents by name, or as the last argument in order."""
    if given is None:
        *state_, given = state or (None,)  # type: ignore[assignment]
        state = tuple(state_)
    if not isinstance(given, Mapping):
        raise SignatureError(f"`{word}` are arrays by name, not {shown(given)}")
    return state, given


def _last(watched: Array | None) -> Array | None:
    return None if watched is None else watched[..., -1, :]
