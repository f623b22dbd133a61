"""An episode of a system, compiled: where it begins, what an action does, what is seen and rewarded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.signature import spell
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.errors import SignatureError, UnsupportedError, did_you_mean, shown
from cayley.systems.arguments import given_inputs
from cayley.systems.layout import Record, State, mode_number
from cayley.systems.rollouts.rollout import Rollout
from cayley.systems.system import System
from cayley.systems.text_kernels import dependence, text_kernel
from cayley.systems.trajectory import Trajectory

Start = Callable[[Array], Mapping[str, ArrayLike]]


@dataclass(frozen=True, eq=False)
class Trials(HoldsFunctions):
    """Episodes of a system; `Environment` says what the parts are."""

    system: System
    start: Start
    draws: int
    action: str
    observe: Text
    reward: Text
    failed: Text | None
    step: float
    substeps: int = 1
    method: str | None = None
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
            given = self._begun(np.full(self.draws, 0.5))
        except IndexError as error:
            raise SignatureError(f"`start` takes more random numbers than its {self.draws} draws") from error
        return {name: np.asarray(value, float) for name, value in given.items()}

    def _begun(self, u: Array) -> dict[str, Any]:
        """The state that `start` gives, modes by their numbers."""
        modes = self.system.layout.modes
        return {name: float(mode_number(modes, name, value)) if name in modes and isinstance(value, str) else value
                for name, value in self.start(u).items()}

    @property
    def own(self) -> list[str]:
        """The parameters that each episode has for itself."""
        return [name for name in self.example if name in self.system.parameters]

    @cached_property
    def begin(self) -> Kernel:
        """`begin(u)`: the vector of the state, and the parameters that an episode has for itself."""
        layout = self.system.layout
        shapes = [(layout.size,), *[np.shape(self.system.parameters[name]) for name in self.own]]

        def text(u: Array) -> Any:  # noqa: ANN401 (an array, or a tuple of them)
            given = self._begun(u)
            plain = {name: np.full(block.shape, block.default) for name, block in layout.blocks.items()
                     if block.default is not None}
            modes = dict.fromkeys(layout.modes, 0.0)
            x = layout.vector(Record("start", plain | modes | given))
            return (x, *[given[name] for name in self.own]) if self.own else x

        return kernel(f"({self.draws})->{','.join(map(spell, shapes))}", name="begin", inputs=["u"])(text)

    def _made(self, one: Kernel) -> Callable[..., Any]:
        """A kernel by the backend of the episodes."""
        return one if self.backend == "llvm" else one.on(self.backend)

    def begun(self, u: Array) -> tuple[Array, dict[str, Array]]:
        """States (..., size) and own parameters of episodes with these random numbers (..., draws)."""
        found = self._made(self.begin)(u)
        x, *values = found if self.own else (found,)
        return x, dict(zip(self.own, values, strict=True))

    def advanced(self, x: Array, action: Array, parameters: Mapping[str, Array]) -> Array:
        """The states after an action has acted."""
        state = self.system.layout.state(x)
        run = self._rollout({name: state[name] for name in (*self.system.blocks, *self.system.modes)},
                            step=self.step / self.substeps, steps=self.substeps, every=self.substeps,
                            inputs={**self.inputs, self.action: action}, parameters=parameters, threads=self.threads,
                            progress=False)
        return run.vectors[..., -1, :] if isinstance(run, Trajectory) else run.points[..., -1, :-2]

    @cached_property
    def _rollout(self) -> Rollout:
        made = self.system.rollout(method=self.method, parameters=self.own)
        return made if self.backend == "llvm" else made.on(self.backend)

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

    @cached_property
    def judge(self) -> Kernel:
        """Observation, reward, and 1 where an episode has failed."""
        def text(t: Scalar, x: State, u: Record, p: Record) -> tuple[Any, ...]:
            lost = 0.0 if self.failed is None else where(self.failed(t, x, u, p), 1.0, 0.0)
            return self.observe(t, x, u, p), self.reward(t, x, u, p), lost

        return text_kernel(self.system, text, [(self.seen_size,), (), ()], "judge")

    def judged(self, x: Array, action: Array, parameters: Mapping[str, Array]) -> tuple[Array, Array, Array]:
        """Observations (..., m), rewards (...), and which have failed (...)."""
        inputs = [action if name == self.action else np.asarray(self.inputs.get(name, port.default), float)
                  for name, port in self.system.ports.items()]
        values = [parameters.get(name, value) for name, value in self.system.parameters.items()]
        seen, reward, failed = self._made(self.judge)(0.0, x, *inputs, *values)
        return seen, reward, failed == 1.0


def is_whole(number: object, least: int) -> bool:
    """True if a value is a whole number that is not less than another."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool) and bool(number >= least)


def _all(names: Mapping[str, object] | list[str]) -> str:
    return ", ".join(names) or "none"
