"""An episode of a system, compiled: where it begins, what an action does, what is seen and rewarded.

All that happens in an action is one kernel: its steps, the observation, the reward, the end of an episode, and the
beginning of the next one with its random numbers. A beginning is a loop of one turn, so that emitted code passes it by
where no lane of a block begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np

from cayley.compiler.array_parts import as_vector
from cayley.compiler.derivatives.iterated_steps import named_kernel
from cayley.compiler.kernel import Kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.solving.loops import repeat
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.errors import SignatureError, UnsupportedError, did_you_mean, shown
from cayley.learning.draws import EPISODES, draws
from cayley.systems.arguments import given_inputs
from cayley.systems.layout import Record, mode_number
from cayley.systems.rollouts.rollout import Rollout
from cayley.systems.rollouts.stages import stepped
from cayley.systems.system import System
from cayley.systems.text_kernels import dependence
from cayley.systems.trajectory import Trajectory

Start = Callable[[Array], Mapping[str, ArrayLike]]
NEXT_STEP, SAME_STEP = "next step", "same step"
_BEYOND = 1e30  # what is larger counts as not finite
_AT_LEAST_A_LOOP = 3  # turns: fewer are written out


@dataclass(frozen=True, eq=False)
class Trials(HoldsFunctions):
    """Episodes of a system; `Environment` says what the parts are."""

    system: System
    start: Start
    draws: int
    action: str
    low: Array
    high: Array
    observe: Text
    reward: Text
    failed: Text | None
    step: float
    horizon: int
    autoreset: str = NEXT_STEP
    substeps: int = 1
    method: str | None = None
    iterations: int | None = None
    threads: int = 1
    inputs: Mapping[str, ArrayLike] = field(default_factory=dict)
    backend: str = "llvm"

    def __post_init__(self) -> None:
        system = self.system
        if not isinstance(system, System):
            raise SignatureError(f"an environment is made of a System, not of {shown(system)}; `arm.system()` is that "
                                 "of a mechanism")
        if self.action not in system.ports:
            raise SignatureError(f"{system.name} has no input {self.action!r} for the actions"
                                 + did_you_mean(self.action, system.ports, otherwise=f"; it has {_all(system.ports)}"))
        if system.is_timed:
            raise UnsupportedError(f"{system.name} depends on the time itself, and each lane has a time of its own: "
                                   "make the time a state of the system, with the derivative 1")
        if not is_whole(self.substeps, 1):
            raise SignatureError(f"an action acts in one step or more, not in {self.substeps!r}")
        if not isinstance(self.step, (int, float, np.floating)) or not 0 < self.step < np.inf:
            raise SignatureError(f"an action acts for more than 0 s, not for {self.step!r}")
        if not is_whole(self.draws, 0):
            raise SignatureError(f"the number of draws must be a whole number, 0 or more, not {self.draws!r}")
        if self.action in self.inputs:
            raise SignatureError(f"{self.action!r} is what the actions drive: it cannot be among the `inputs` as well")
        given_inputs(system, self.inputs, [name for name in system.ports if name != self.action])
        self._check_judges()
        others = [name for name in self.example if name not in (*system.blocks, *system.modes, *system.parameters)]
        if others:
            known = [*system.blocks, *system.modes, *system.parameters]
            raise SignatureError(f"`start` gives {others[0]!r}, which is not a state or parameter of {system.name}"
                                 + did_you_mean(others[0], known, otherwise=f"; it has {_all(known)}"))
        system.layout.given({n: value for n, value in self.example.items() if n not in system.parameters})
        self._rollout  # noqa: B018 (a method that is not known is told now)

    def _check_judges(self) -> None:
        """Raise an error if a text asks for the time, which each lane has for itself."""
        def judged(*given: Any) -> dict[str, Array]:  # noqa: ANN401 (t, x, u, p)
            lost = {} if self.failed is None else {"failed": where(self.failed(*given), 1.0, 0.0)}
            return {"observe": self.observe(*given), "reward": self.reward(*given), **lost}

        timed = [word for word, on in dependence(self.system, judged).items() if "t" in on]
        if timed:
            raise UnsupportedError(f"`{timed[0]}` depends on the time itself, and each lane has a time of its own: "
                                   "make the time a state of the system, with the derivative 1")

    @cached_property
    def example(self) -> dict[str, Array]:
        """The state that `start` gives for random numbers that are all a half."""
        try:
            given = self._given(np.full(self.draws, 0.5))
        except IndexError as error:
            raise SignatureError(f"`start` takes more random numbers than its {self.draws} draws") from error
        return {name: np.asarray(value, float) for name, value in given.items()}

    def _given(self, u: Array) -> dict[str, Any]:
        """The state that `start` gives, modes by their numbers."""
        modes = self.system.layout.modes
        return {name: float(mode_number(modes, name, value)) if name in modes and isinstance(value, str) else value
                for name, value in self.start(u).items()}

    @cached_property
    def seen_size(self) -> int:
        """The size of an observation."""
        shapes = []

        def seen(*given: Any) -> dict[str, Array]:  # noqa: ANN401 (t, x, u, p)
            value = self.observe(*given)
            shapes.append(np.shape(value))
            return {"observe": value}

        dependence(self.system, seen)
        shape = shapes[0]
        if len(shape) != 1:
            raise SignatureError(f"`observe` returned the shape {shape}: an observation is a vector (m), as np.stack "
                                 "makes of numbers")
        return shape[0]

    @property
    def own(self) -> list[str]:
        """The parameters that each episode has for itself."""
        return [name for name in self.example if name in self.system.parameters]

    @property
    def lane(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the arrays of a lane: state and own parameters of its episode, the last observation, the number
        of the next episode, the count of actions, whether the episode is over, and the key of its random numbers."""
        own = {f"p.{n}": np.shape(self.system.parameters[n]) for n in self.own}
        return {"x": (self.system.layout.size,), **own, "seen": (self.seen_size,), "episode": (), "age": (), "over": (),
                "key": (2,)}

    # Kernels

    @cached_property
    def begin(self) -> Kernel:
        """Lanes that are masked begin anew: of the arrays of `lane` and a mask to those of `lane`."""
        def text(given: dict[str, Array]) -> tuple[Array, ...]:
            return tuple(self._begun(given, given, given["mask"]).values())

        return named_kernel(text, {**self.lane, "mask": (), **self._input_shapes}, [*self.lane.values()], "begin")

    @cached_property
    def act(self) -> Kernel:
        """An action: of the arrays of `lane`, then of the action, to those of `lane`, `verdicts`, and the observation
        at the end of episodes that begin anew in the same step."""
        lane = self.lane
        outside = {"after": lane["x"]} if self.system.transitions else {}
        last = {"last": lane["seen"]} if self.autoreset == SAME_STEP else {}
        results = {**lane, "reward": (), "failed": (), "late": (), "broken": (), **last}

        def text(given: dict[str, Array]) -> tuple[Array, ...]:
            found = self._acted(given)
            return tuple(found[name] for name in results)

        port = self.system.ports[self.action]
        shapes = {**lane, "action": port.shape, **outside, **self._input_shapes}
        return named_kernel(text, shapes, [*results.values()], "act")

    @property
    def _input_shapes(self) -> dict[str, tuple[int, ...]]:
        return {f"u.{n}": self.system.ports[n].shape for n in self.inputs}

    def _acted(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The lane after an action, and its verdicts by name."""
        action = np.minimum(np.maximum(given["action"], self.low), self.high)
        after = given["after"] if self.system.transitions else self._moved(given, action)
        seen, reward, failed = self._judged(after, action, given)
        fine = reduce(np.logical_and, [abs(x) < _BEYOND for x in (*as_vector(after), *as_vector(seen), reward)])
        acts = given["over"] <= 0.5
        age = given["age"] + 1.0
        broken, failed = acts & np.logical_not(fine), acts & (np.logical_not(fine) | failed)
        late = acts & np.logical_not(failed) & (age >= float(self.horizon))
        over = where(np.logical_not(acts) | failed | late, 1.0, 0.0)
        now = {**{n: given[n] for n in self.lane}, "x": where(fine, after, given["x"]),
               "seen": where(fine, seen, given["seen"]), "age": age, "over": over}
        begins = {NEXT_STEP: given["over"], SAME_STEP: over}
        lane = self._begun(given, now, begins[self.autoreset]) if self.autoreset in begins else now
        return {**lane, "reward": where(fine & acts, reward, 0.0), "failed": where(failed, 1.0, 0.0),
                "late": where(late, 1.0, 0.0), "broken": where(broken, 1.0, 0.0), "last": now["seen"]}

    def _moved(self, given: Mapping[str, Any], action: Array) -> Array:
        own = {n: given[f"p.{n}"] for n in self.own}
        inputs = self._inputs(given, action)
        return repeat(lambda x: stepped(self._rollout, x, self.step / self.substeps, inputs, own), given["x"],
                      self.substeps)

    def _judged(self, x: Array, action: Array, given: Mapping[str, Any]) -> tuple[Array, Scalar, Scalar]:
        """Observation, reward, and whether an episode has failed."""
        system = self.system
        texts = (0.0, system.layout.state(x), system.input_record(self._inputs(given, action)),
                 system.parameter_record({n: given[f"p.{n}"] for n in self.own}))
        failed = False if self.failed is None else self.failed(*texts)
        return self.observe(*texts), self.reward(*texts), failed

    def _inputs(self, given: Mapping[str, Any], action: Array) -> dict[str, Any]:
        return {n: action if n == self.action else given[f"u.{n}"] if n in self.inputs
                else np.full(port.shape, port.default) for n, port in self.system.ports.items()}

    def _begun(self, given: Mapping[str, Any], now: Mapping[str, Any], mask: Scalar) -> dict[str, Any]:
        """The arrays of a lane in which an episode begins where a number is not 0."""
        layout = self.system.layout
        changed = [n for n in self.lane if n != "key"]
        still = np.zeros(self.system.ports[self.action].shape)

        def turn(*before: Scalar) -> tuple[Any, ...]:
            key, number = given["key"], before[1 + changed.index("episode")]  # of the turn, so that all stays in it
            u = np.array(draws(key[0], key[1], number, self.draws) if self.draws else [], dtype=object)
            found = self._given(u)
            plain = {n: np.full(block.shape, block.default) for n, block in layout.blocks.items()
                     if block.default is not None}
            x = layout.vector(Record("start", plain | dict.fromkeys(layout.modes, 0.0) | found))
            own = {f"p.{n}": found[n] for n in self.own}
            seen, *_ = self._judged(x, still, {**given, **own})
            number = number + 1.0
            made = {"x": x, **own, "seen": seen, "episode": where(number < EPISODES, number, 0.0), "age": 0.0,
                    "over": 0.0}
            return 0.0, *[np.reshape(made[n], self.lane[n]) if self.lane[n] else made[n] for n in changed]

        _, *values = repeat(lambda x: turn(*x), (mask, *[now[n] for n in changed]), _AT_LEAST_A_LOOP,
                            until=lambda x: x[0] == 0.0)
        return {**dict(zip(changed, values, strict=True)), "key": given["key"]}

    # Calls

    def made(self, one: Kernel) -> Callable[..., Any]:
        """A kernel by the backend and the threads of the episodes."""
        if self.backend != "llvm":
            return one.on(self.backend)
        return one if self.threads == 1 else one.parallel(self.threads)

    def advanced(self, x: Array, action: Array, parameters: Mapping[str, Array]) -> Array:
        """The states after an action, of a system whose transitions are located in time."""
        state = self.system.layout.state(x)
        run = self._rollout({name: state[name] for name in (*self.system.blocks, *self.system.modes)},
                            step=self.step / self.substeps, steps=self.substeps, every=self.substeps,
                            inputs={**self.inputs, self.action: action}, parameters=parameters, threads=self.threads,
                            progress=False)
        return run.vectors[..., -1, :] if isinstance(run, Trajectory) else run.points[..., -1, :-2]

    @cached_property
    def _rollout(self) -> Rollout:
        made = self.system.rollout(method=self.method, parameters=self.own, iterations=self.iterations)
        return made if self.backend == "llvm" else made.on(self.backend)


def is_whole(number: object, least: int) -> bool:
    """True if a value is a whole number that is not less than another."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool) and bool(number >= least)


def _all(names: Mapping[str, object] | list[str]) -> str:
    return ", ".join(names) or "none"
