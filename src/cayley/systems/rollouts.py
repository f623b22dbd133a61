"""Whole trajectories inside one compiled loop: fixed steps, for batches of states, inputs and parameters.

A method of `fixed_steps` is compiled as the text of one stage, and `cayley.compiler.iterate` puts the loops over
stages, steps and samples around it. What drives inputs, a control law, is part of that text; so are transitions.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cayley.compiler.backends import backend_named
from cayley.compiler.backends.gpu_arrays import is_on_gpu
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.derivatives.jax_layers import jax_layer
from cayley.compiler.derivatives.torch_layers import torch_layer
from cayley.compiler.iterate import Iterated, iterate
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import call, packed
from cayley.compiler.precision import computed_in
from cayley.compiler.signature import spell
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Scalar
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.progress import PatientBar
from cayley.systems.arguments import check_lists
from cayley.systems.checkpoints import Run
from cayley.systems.compiled_transitions import Watching
from cayley.systems.device_trajectory import DeviceTrajectory
from cayley.systems.driving import Law
from cayley.systems.fixed_steps.methods import fixed_step
from cayley.systems.fixed_steps.protocol import FixedStep, Flow, Point, Stage
from cayley.systems.fixed_steps.standstill import with_standstill
from cayley.systems.layout import State, StateLike
from cayley.systems.record import Record
from cayley.systems.rollout_calls import SystemCalls
from cayley.systems.rollout_derivatives import RolloutDerivatives, RolloutLayer
from cayley.systems.rollout_loss import Gradient, gradient
from cayley.systems.running_kernels import RunningKernels
from cayley.systems.system import System
from cayley.systems.trajectory import Trajectory
from cayley.systems.transition_derivatives import KnownInstants
from cayley.wording import did_you_mean, shown

if TYPE_CHECKING:
    from cayley.compiler.c.c_source import CSource

_TURN = 0.25  # seconds of work between two looks at the clock, and at Ctrl-C
_LITTLE = 2_000_000  # derivatives of single numbers: a small piece of work
MOST_STEPS = 2**31 - 1  # of one rollout
CONVERGED = 1e-8  # of the state: what the last correction of an iterated step may be


class Rolled(NamedTuple):
    """The results of a run: points (..., samples + 1, size + 2), times (..., samples + 1), what acted, and the last
    state of what was watched, if anything is."""

    points: Array
    times: Array
    given: dict[str, Array]
    parameters: dict[str, Array]
    watched: Array | None


class Rollout:
    """A system with a method, compiled for rollouts; `System.rollout` and `Mechanism.rollout` make one.

    A rollout of a system is called with its state, the blocks by name, and `inputs`; a rollout of a mechanism with q,
    qd, tau and, by their names, all other inputs.
    """

    _recipe: partial[Rollout]

    def __init__(self, system: System, method: FixedStep, name: str, changing: Sequence[str] = (),
                 parameters: Sequence[str] = (), law: Law | None = None, watching: Watching | None = None,
                 calls: SystemCalls | None = None) -> None:
        self.system = system
        self.calls = calls or SystemCalls()
        self.method = name
        self.order = method.order
        self.evaluations = method.evaluations
        self._method = method
        self.law = law
        self._watching = watching
        self.inputs: dict[str, tuple[int, ...]] = {**(law.parameters if law else {}), **{
            n: port.shape for n, port in system.ports.items() if law is None or n != law.drives}}
        self.parameters = {n: np.shape(self._known(n)) for n in parameters}
        unknown = [name for name in changing if name not in self.inputs]
        if unknown:
            raise SignatureError(
                f"this rollout has no input {unknown[0]!r} that could change: it has "
                f"{', '.join(self.inputs) or 'none'}")
        self.changing = tuple(changing)
        self.timed = system.is_timed or watching is not None or (law is not None and law.timed)
        self._holds = law is not None and law.sampled and method.evaluations > 1
        self._iterated = self._compiled()
        self._derivatives: RolloutDerivatives | None = None

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
        nothing is copied, waited for or looked at; called with NumPy's, it returns what this rollout does.
        """
        made = object.__new__(Rollout)  # not by copy(), which would make it anew
        vars(made).update(vars(self))
        made._iterated = self._iterated.on(backend)
        made._derivatives = None
        vars(made).pop("_across", None)
        made._recipe = partial(_on, self, backend)
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
        `progress`: a bar, if it takes long.
        """
        run = self._run(state, named, inputs, parameters, step, steps, every, start, threads)
        rolled = self.run(run.x, dict(run.given), dict(run.parameters), step=step, steps=steps, every=every,
                          start=start, threads=threads, progress=progress)
        columns = self.system.layout.columns
        first = [*state[:2], *[named[n] for n in ("x", *columns) if n in named]]
        parts = [part for each in first for part in (each.values() if isinstance(each, Mapping) else [each])]
        example = next(filter(is_on_gpu, parts), None)
        return self.finished(rolled, example, lambda found: self._result(found, step, every))

    def _run(self, state: Sequence[StateLike | None], named: Mapping[str, StateLike],
             inputs: Mapping[str, ArrayLike] | None, parameters: Mapping[str, ArrayLike] | None, step: ArrayLike,
             steps: int, every: int, start: float, threads: int) -> Run:
        """The state, the inputs and the parameters of a call, as arrays that were checked."""
        self.check(step, steps, every, start)
        arguments = self.calls.arguments(self, state, named, inputs or {}, parameters or {}, steps, start)
        return Run(*arguments, step, steps, every, start, threads)

    def gradient(self, *state: StateLike | None, running: Kernel | None = None, terminal: Kernel | None = None,
                 by: Sequence[str] | str | None = None, step: ArrayLike, steps: int, every: int = 1,
                 start: float = 0.0, inputs: Mapping[str, ArrayLike] | None = None,
                 parameters: Mapping[str, ArrayLike] | None = None, threads: int = 1, **named: StateLike) -> Gradient:
        """The loss of each trajectory, and its derivatives by reverse mode, whose cost does not grow with their number.

        `running` is a kernel of one number, summed over all kept states but the last; `terminal` is one of the last.
        Their inputs are named as the blocks of the state, the inputs and the parameters are, `t`, or `work`. `by`:
        names of blocks of the first state, inputs and parameters; all of them, if left out. A derivative has the shape
        of what it is by; where that was broadcast over a batch, it is the sum. All else as in a call.

        >>> from cayley.systems import System
        >>> decay = System("decay", state={"x": ""}, parameters={"k": 2.0}, derivative=lambda t, x, u, p: -p.k * x.x)
        >>> square = kernel("()->()")(lambda x: x**2)
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
        has the shape of what it is by; where that was broadcast, it is the sum.
        """
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

        Tangents have the shapes of their arguments, and may have leading axes of their own, which broadcast.
        """
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
        if self._iterated.backend != "llvm":
            raise UnsupportedError("XLA calls back what is compiled for this processor: take the layer of the rollout "
                                   f"itself, not of the one on {self._iterated.backend}; for_torch(...) stays there")

    def _layer(self, step: ArrayLike, steps: int, every: int, start: float, threads: int) -> RolloutLayer:
        self.check(step, steps, every, start)

        def run(given: Mapping[str, Any]) -> tuple[RolloutDerivatives, Run]:
            return self.differentiated(self._run((), given, None, None, step, steps, every, start, threads))
        required = self.calls.required(self)
        return RolloutLayer(self.derivatives, run, steps, every, required)

    @property
    def derivatives(self) -> RolloutDerivatives:
        """The derivatives of this rollout; where there are transitions, as long as none happens."""
        if self._derivatives is None:
            self._derivatives = self._across.smooth if self._across else RolloutDerivatives(self)
        return self._derivatives

    def differentiated(self, run: Run) -> tuple[RolloutDerivatives, Run]:
        """The derivatives of a run, and the run as they take it."""
        return self._across(run) if self._across else (self.derivatives, run)

    @cached_property
    def _across(self) -> KnownInstants | None:
        return KnownInstants(self, self._watching) if self._watching else None

    def remade(self, system: System, method: FixedStep, changing: Sequence[str],
               watching: Watching | None = None) -> Rollout:
        """A rollout of a system that differs in what happens in a step, by the same backend."""
        made = Rollout(system, method, self.method, changing, [*self.parameters], self.law, watching)
        return made.on(self._iterated.backend)

    def viewed(self, values: Mapping[str, Scalar] | Record) -> dict[str, Any]:
        """Values that lie on the device of this rollout as arrays of its backend; the others as they are."""
        return {n: self.backend.array(values[n], n) if is_on_gpu(values[n]) else values[n] for n in values}

    def finished(self, rolled: Rolled, example: object, result: Callable[[Rolled], Any]) -> Scalar:
        """The `result` of a run, here; or, with an example of arrays that lie elsewhere, such arrays."""
        here = self.backend.here

        def brought() -> Scalar:
            points, times, given, parameters, watched = rolled
            return result(Rolled(here(points), times, {n: here(a) for n, a in given.items()},
                                 {n: here(a) for n, a in parameters.items()},
                                 None if watched is None else here(watched)))
        if example is None:
            return brought()
        return DeviceTrajectory(self.system.layout, rolled.times, rolled.points,
                                partial(self.backend.as_given, example=example), brought)

    @property
    def backend(self) -> Backend:
        return backend_named(self._iterated.backend)

    def run(self, x: Mapping[str, Array], given: dict[str, Array], parameters: dict[str, Array], *, step: ArrayLike,
            steps: int, every: int, start: float, threads: int, progress: bool) -> Rolled:
        """Make the steps; everything is an array of the right shape already."""
        self.check(step, steps, every, start)
        arrays = {**x, **given, **parameters}
        precision = computed_in(self.system.name, [*arrays], [*arrays.values()], [*arrays.values()])
        batch = self.batch(x, given, parameters, step)
        samples = steps // every
        points = self.backend.empty(batch, (samples + 1, self.size), precision)
        self.begin(points[..., 0, :], x)
        times = start + np.asarray(step, dtype=float)[..., None] * np.arange(steps + 1)
        watched = self.watched_at_start(points, times, given, parameters, step)
        if self._iterated.backend != "llvm":  # which cannot be looked into while it runs
            watched = _last(self.advance(points, 0, samples, every, given | parameters, watched, step, times, threads))
            return Rolled(points, times[..., ::every], given, parameters, watched)
        work = max(1, every * int(np.prod(batch)) * self.evaluations * self.system.layout.freedoms)
        with PatientBar(f"{self.system.name}, {self.method}", samples, shown=progress) as bar:
            for first, last in _pieces(samples, work, bar):
                watched = _last(self.advance(points, first, last, every, given | parameters, watched, step, times,
                                             threads))
        return Rolled(points, times[..., ::every], given, parameters, watched)

    def watched_at_start(self, points: Array, times: Array, given: Mapping[str, Array], parameters: Mapping[str, Array],
                         step: ArrayLike) -> Array | None:
        """The search for transitions at the first of the points; None if there are none."""
        if self._watching is None:
            return None
        here = self.backend.here
        return self._watching.start(here(points[..., 0, :-2]), times[..., :1], {n: here(a) for n, a in given.items()},
                                    self.changing, {n: here(a) for n, a in parameters.items()}, step)

    def begin(self, points: Array, x: Mapping[str, Array]) -> None:
        """Write states into points (..., size + 2), where no work is done yet."""
        if self._iterated.backend == "llvm":
            points[..., :-2] = self.system.layout.vectors(x, points.shape[:-1])
        else:
            for name, place in self.system.layout.columns.items():
                array = self.backend.array(x[name], name)
                lead = array.ndim - len(self.system.layout.blocks[name].shape) if name in self.system.layout.blocks \
                    else array.ndim
                points[..., place] = array.reshape((*array.shape[:lead], place.stop - place.start))
        points[..., -2:] = 0.0

    def _carried(self, points: Array) -> Array:
        """The numbers that the method carries at the start, made where the points are."""
        if isinstance(points, np.ndarray) and not is_on_gpu(points):
            return self._method.carried(points, self.system.layout)
        return self._start.on(self._iterated.backend)(points) if self._carries else points[..., :0]

    @property
    def _carries(self) -> int:
        """How many numbers the method carries from stage to stage."""
        return len(self._method.carried(np.zeros(self.size), self.system.layout))

    @cached_property
    def _start(self) -> Kernel:
        """The numbers that are carried at the start, as a kernel."""
        return kernel(f"({self.size})->({self._carries})", name="start", inputs=["points"], outputs=["carried"])(
            lambda x: self._method.carried(x, self.system.layout))

    @property
    def size(self) -> int:
        return self.system.layout.size + 2

    def _known(self, name: str) -> ArrayLike:
        if name not in self.system.parameters:
            others = f"; it has {', '.join(self.system.parameters) or 'none'}"
            advice = did_you_mean(name, self.system.parameters, otherwise=others)
            raise SignatureError(f"{self.system.name} has no parameter {name!r}{advice}")
        return self.system.parameters[name]

    def check(self, step: ArrayLike, steps: int, every: int, start: float) -> None:
        """Raise an error unless these are times and numbers of steps."""
        for word, number in (("steps", steps), ("every", every)):
            if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
                raise ConventionError(f"`{word}` is a whole number, not {shown(number)}")
            if number > MOST_STEPS:
                raise ConventionError(f"`{word}` is at most {MOST_STEPS}, not {number}: go on from where a rollout "
                                      "ended")
        seconds = np.asarray(step)
        if seconds.dtype.kind not in "fiu" or not (np.isfinite(seconds) & (seconds != 0)).all():
            raise ConventionError(f"the step must be a number of seconds that is not zero, not {seconds}")
        first = np.asarray(start)
        if first.dtype.kind not in "fiu" or first.shape != () or not np.isfinite(first):
            raise ConventionError(f"the start is one time in seconds, not {shown(start)}")
        if self._watching is not None and (np.asarray(step) < 0).any():
            raise ConventionError("a step is negative: jumps and modes cannot be run backwards")
        if any(part.possible for part in self.system.holds) and (np.asarray(step) < 0).any():
            raise ConventionError("a step is negative: dry friction and stops cannot be run backwards, as a joint at "
                                  "rest does not say how it came there")
        if steps < 0 or every < 1 or steps % every:
            raise ConventionError(f"{steps} steps with every {every}th kept: `steps` must be a multiple of `every`")

    def batch(self, x: Mapping[str, Array], given: Mapping[str, Array], parameters: Mapping[str, Array],
               step: ArrayLike) -> tuple[int, ...]:
        cores = {n: len(shape) + (n in self.changing) for n, shape in self.inputs.items()}
        batches = {**self.system.layout.batch(x), "step": np.shape(step),
                   **{n: a.shape[:a.ndim - cores[n]] for n, a in given.items()},
                   **{n: a.shape[:a.ndim - len(self.parameters[n])] for n, a in parameters.items()}}
        try:
            return np.broadcast_shapes(*batches.values())
        except ValueError:
            listed = ", ".join(f"{name} {shape}" for name, shape in batches.items())
            raise SignatureError(f"the batches of states and inputs do not go together: {listed}") from None

    def advance(self, points: Array, first: int, last: int, every: int, given: Mapping[str, Array],
                 watched: Array | None, step: ArrayLike, times: Array, threads: int) -> Array | None:
        """From sample `first` to sample `last`; what is watched at each of them but the first."""
        x = points[..., first, :]
        precision = points.dtype
        now = slice(first * every, last * every)
        arguments: dict[str, Any] = {
            "x": x, "carried": self._carried(x), "h": np.asarray(step, precision),
            "held": np.zeros(self._held, precision), "row": self._method.table.numbers.astype(precision),
            "t": times[..., now].astype(precision)}
        for name in self.inputs:
            core = len(self.inputs[name])
            arguments[f"u.{name}"] = _from_to(given[name], now, core) if name in self.changing else given[name]
        arguments |= {f"p.{name}": given[name] for name in self.parameters}
        out = [points[..., first + 1:last + 1, :]]
        if watched is not None and self._watching is not None:
            arguments |= self._watching.arguments(watched, now, precision)
            out.append(self.backend.empty(points.shape[:-2], (last - first, self._watching.size), str(precision)))
        self._iterated(*[arguments[name] for name in self._iterated.kernel.inputs], steps=(last - first) * every,
                       every=every, out=out, dtype=precision, threads=threads)
        return None if watched is None else out[1]

    def _result(self, rolled: Rolled, step: ArrayLike, every: int) -> Trajectory:
        points, times, given, parameters, watched = rolled
        status, message = self.outcome(rolled, every)
        log = None
        if watched is not None and self._watching is not None:
            log = self._watching.log(watched)
            status, message = self._watching.outcome(watched, points, status, message)
        facts = {"method": self.method, "order": self.order, "step": np.asarray(step).tolist(), "every": every,
                 "precision": str(points.dtype), "evaluations a step": self.evaluations}
        shown = {n: np.broadcast_to(a, (*a.shape[:a.ndim - 1 - len(self.inputs[n])], points.shape[-2], *self.inputs[n]))
                 for n, a in self.at_samples(given, points.shape[-2], every).items()}
        mechanism = self.calls.mechanism
        if mechanism is not None:
            status, message = mechanism.outcome(times, points[..., self.system.layout.places["q"]], status, message)
            acted = [name for name in self.inputs if name.startswith(("wrench_", "inertia_", "base_"))]
            facts |= {"acted": ", ".join(acted)} if acted else {}
        return Trajectory(self.system, times, points[..., :-2], points[..., -2],
                          self.calls.shown(self, times, points[..., :-2], shown), parameters, status, message, log=log,
                          facts=facts, mechanism=mechanism)

    def at_samples(self, given: Mapping[str, Array], samples: int, every: int) -> dict[str, Array]:
        """The inputs with an axis for the samples: what holds there and then."""
        found = {}
        for name, shape in self.inputs.items():
            a = given[name]
            axis = a.ndim - len(shape) - 1
            if name in self.changing:
                found[name] = np.take(a, np.minimum(np.arange(samples) * every, a.shape[axis] - 1), axis=axis)
            else:
                found[name] = np.expand_dims(a, axis + 1)
        return found

    def outcome(self, rolled: Rolled, every: int) -> tuple[str, str]:
        """How it ended: a word, and a sentence. Who does not ask is warned where there are no numbers."""
        points = rolled.points
        end = points[..., -1, :]
        if not np.isfinite(end).all():  # what is no number stays none: the last state tells
            fine = np.asarray(np.isfinite(points).all(-1))
            bad = np.argwhere(~fine.all(-1))
            place = tuple(bad[0])
            before = max(int(np.argmin(fine[place])) - 1, 0)
            t = np.broadcast_to(rolled.times, fine.shape)[place][before]
            wrong = [n for n, a in (rolled.given | rolled.parameters).items() if not np.isfinite(a).all()]
            step = before * every
            said = (f"{len(bad)} of {fine[..., 0].size} trajectories left the numbers, the first{_called(place)} after "
                    f"t = {t:.6g}, step {step}: {self._reason(wrong, rolled, place, before)}")
            warnings.warn(f"rollout of {self.system.name}: {said}; the status of the run says so, too", RuntimeWarning,
                          stacklevel=7)  # where the rollout was called
            return "not finite", said
        defect = end[..., -1]
        size = np.abs(end[..., self._others]).max(initial=1.0)
        if defect.size and defect.max() > max(CONVERGED, 100 * np.finfo(points.dtype).eps) * size:
            return "not converged", (
                f"the last correction of a step was {defect.max():.2g}: the step is too large for {self.evaluations} "
                "iterations; make it smaller, or allow more iterations")
        return "finished", "all steps were made"

    def _reason(self, wrong: list[str], rolled: Rolled, place: tuple[int, ...], sample: int) -> str:
        """Why there are no numbers after a sample: by its state in the modes that it then came to."""
        if wrong:
            return f"the input {wrong[0]} is not finite"
        before, after = rolled.points[place][sample:sample + 2]
        explain = self.system.explain
        smooth = self.system.layout.smooth
        point = np.concatenate([before[:smooth], after[smooth:-2]])
        why = explain(self.system.layout.state(point)) if explain is not None else None
        return why or self._undefined(rolled, place, sample) or (
            'the step is too large (stiff springs take the method "gauss"), or leads to where the derivative is '
            "singular")

    def _undefined(self, rolled: Rolled, place: tuple[int, ...], sample: int) -> str:
        """The outputs that are no numbers at a sample, or about the next one, in words."""
        if self.law is not None:
            return ""
        batch, samples = rolled.points.shape[:-2], rolled.points.shape[-2]

        def own(values: Array, shape: tuple[int, ...]) -> Array:
            return np.asarray(np.broadcast_to(values, (*batch, *shape))[place], dtype=float)

        inputs = {}
        for name, shape in self.inputs.items():
            values = rolled.given[name]
            if name in self.changing:
                axis = values.ndim - len(shape) - 1
                steps = values.shape[axis]
                values = np.take(values, min(sample * steps // (samples - 1), steps - 1), axis=axis)
            inputs[name] = own(values, shape)
        kernels = RunningKernels(self.system, {n: own(a, self.parameters[n]) for n, a in rolled.parameters.items()})
        layout = self.system.layout
        x = np.asarray(rolled.points[place][sample][:-2], dtype=float)
        t, later = np.broadcast_to(rolled.times, (*batch, samples))[place][[sample, min(sample + 1, samples - 1)]]
        slope = kernels.slope(t, x, inputs)[:-1]
        ahead = np.concatenate([x[:layout.smooth] + (later - t) * slope, x[layout.smooth:]])
        whys = (kernels.without_value(instant, state, inputs) for instant, state in ((t, x), (later, ahead)))
        return next(filter(None, whys), "")

    @property
    def _others(self) -> list[int]:
        """Where the blocks are that are no positions."""
        layout = self.system.layout
        return [k for name, place in layout.places.items() if name not in layout.moved_by
                for k in range(place.start, place.stop)]

    # The kernel of a stage

    @property
    def _held(self) -> int:
        return self.system.ports[self.law.drives].size if self.law else 0

    def _compiled(self) -> Iterated:
        layout = self.system.layout
        carried = self._method.carried(np.zeros(self.size), layout).shape
        watching = self._watching
        shapes: dict[str, tuple[int, ...]] = {
            "x": (self.size,), "carried": carried, "held": (self._held,), **(watching.shapes if watching else {}),
            "h": (), "row": (len(self._method.table.columns),), "t": (),
            **{f"u.{n}": s for n, s in self.inputs.items()},
            **{f"p.{n}": s for n, s in self.parameters.items()}}
        unused = {name for name, used in (("carried", carried != (0,)), ("held", self._holds), ("t", self.timed))
                  if not used}
        names = [name for name in shapes if name not in unused]
        fed = [name for name in ("x", "carried", "held", "watched") if name in names]
        results = [*[spell(shapes[n]) for n in fed], *(["()"] if watching else [])]
        signature = f"{','.join(spell(shapes[n]) for n in names)}->{','.join(results)}"
        outputs = [f"{n}_after" for n in fed] + (["again"] if watching else [])
        name = f"{self.system.name} {self.method}"
        stage = kernel(signature, name=name, inputs=names, outputs=outputs, shared=True)(self._text(names, fed))
        changing = [*[f"u.{n}" for n in self.changing], *(["t"] if self.timed else []),
                    *(["turn"] if watching else [])]
        return iterate(stage, {n: f"{n}_after" for n in fed}, changing=changing, cycling=["row"],
                       keeping=["x_after", *(["watched_after"] if watching else [])],
                       repeating=("again", watching.most_trials) if watching else None)

    def _text(self, names: Sequence[str], fed: Sequence[str]) -> Callable[..., Any]:
        layout = self.system.layout
        watching = self._watching

        def stage(*arguments: Scalar) -> Scalar:
            given = dict(zip(names, arguments, strict=True))
            point = Point.of(given["x"], layout)
            row = self._method.table.row(given["row"])
            p = self.system.parameter_record({n: given[f"p.{n}"] for n in self.parameters})
            since, length = watching.trial(given) if watching else (0.0, given["h"])
            inputs, held = self._driven(given, point, row, length)
            t = given["t"] + since + row.time * length if self.timed else 0.0
            flow = Flow(self.system, t, p, inputs)
            before = given.get("carried", np.zeros(0))
            after, carried = self._method.text(Stage(flow, length, row), point, before)
            results = {"x": after.vector(layout), "carried": carried, "held": held}
            if watching:
                ended = Flow(self.system, given["t"] + since + length, p, inputs)
                results |= watching.settled(ended, given, row, point, after, carried, self._method)
            found = [results[name] for name in (*fed, *(["again"] if watching else []))]
            return tuple(found) if len(found) > 1 else found[0]
        return stage

    def _driven(self, given: dict[str, Any], point: Point, row: Record,
                length: Scalar) -> tuple[Callable[[Scalar, State], Record], Array | None]:
        """A function of the inputs at a time and a state, and the inputs that are held for the next stage."""
        fixed = {n: given[f"u.{n}"] for n in self.inputs if n in self.system.inputs}
        law = self.law
        if law is None:
            return (lambda t, x: self.system.input_record(fixed)), None
        parameters = {n: given[f"u.{n}"] for n in law.parameters}
        if not law.sampled:
            return (lambda t, x: self.system.input_record({**fixed, law.drives: law.text(t, x, parameters)})), None
        held = law.text(given.get("t", 0.0), point.x, parameters)
        if self._holds:
            held = where(row.first, held, given["held"])
        return (lambda t, x: self.system.input_record({**fixed, law.drives: held})), held


def _on(rollout: Rollout, backend: str) -> Rollout:
    return rollout.on(backend)


def rollout(system: System, *, method: str = "rk4", changing: Sequence[str] = (), parameters: Sequence[str] = (),
            iterations: int | None = None, events_in_a_step: int = 8, remembered: int = 16) -> Rollout:
    """Compile rollouts of a system; see `System.rollout`."""
    check_lists(changing=changing, parameters=parameters)
    watching = Watching(system, tuple(parameters), events_in_a_step, remembered) if system.transitions else None
    made = Rollout(system, system_step(system, method, iterations), method, changing, parameters, watching=watching)
    made._recipe = partial(rollout, system, method=method, changing=tuple(changing), parameters=tuple(parameters),
                           iterations=iterations, events_in_a_step=events_in_a_step, remembered=remembered)
    return made


def system_step(system: System, method: str, iterations: int | None) -> FixedStep:
    """A method by its name, for a system with or without dry friction and stops."""
    steps = fixed_step(method, iterations, system.methods)
    return with_standstill(steps, method, system) if any(part.possible for part in system.holds) else steps


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


def _from_to(array: Array, steps: slice, core: int) -> Array:
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
