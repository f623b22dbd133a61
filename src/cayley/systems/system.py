"""A system: a state, inputs, parameters and outputs with names, and the texts that say how it moves.

    dx/dt = derivative(t, x, u, p)        y = output(t, x, u, p)
All texts are functions of (t, x, u, p), pure, scalar-agnostic and for one state; x, u and p are records: `x.current`,
`u.voltage`. They return a dictionary by names, or the value itself where there is just one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.errors import SignatureError, UnsupportedError, check_known, did_you_mean, shown
from cayley.explained_calls import with_explained_calls
from cayley.systems.layout import Layout, Record, State, StateLike
from cayley.systems.ports import Block, BlockLike, Port, PortLike, as_blocks, as_ports
from cayley.systems.transitions import Transition

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from cayley.compiler.c.c_source import CSource
    from cayley.compiler.kernel import Kernel
    from cayley.systems.adaptive.driving import InputLike
    from cayley.systems.adaptive.events import Event
    from cayley.systems.fixed_steps.protocol import FixedStep
    from cayley.systems.friction_and_stops import FrictionAndStops
    from cayley.systems.linearization import StateMatrices
    from cayley.systems.rollouts.rollout import Rollout
    from cayley.systems.trajectory import Trajectory


@with_explained_calls
@dataclass(frozen=True, eq=False)
class System(HoldsFunctions):
    """A dynamic system: states, inputs, parameters, a derivative, outputs, modes and transitions.

    `state`, `inputs`, `outputs`: by name a unit ("A", of a number), a size (3), both (3, "N m"), or a `Block` or `Port`
    that says more, as on which manifold it is or which block is its velocity. Without `output` the outputs are the
    state. `parameters`: by name their values, which may be replaced. `power` [W] is what is put in from outside and
    `energy` [J] what is stored, for the balance. `constraints`: by name what must be zero; drift away from them is
    projected out after each step, by `project` if that says, by their names, which blocks then are where. `modes`: by
    name the words for their values, the first of which they start with, and `transitions` what changes them. `holds` is
    its dry friction and its stops. `explain(x)` says in words why there is no derivative at a state; `methods` are
    integrators of its own. Whether anything depends on the time itself is found in the texts, unless `timed` says it.
    `about` is a description for the exported C. What `acts`, as a law does, is there to drive another: `connect` warns
    if nothing takes its outputs.

    >>> motor = System("motor", state={"current": "A"}, inputs={"voltage": "V"}, parameters={"R": 2.0, "L": 0.1},
    ...                derivative=lambda t, x, u, p: (u.voltage - p.R * x.current) / p.L)
    >>> motor.simulate({"current": 0.0}, until=1.0, inputs={"voltage": 12.0}).end["current"].round(6)
    np.float64(6.0)
    """

    name: str
    state: Mapping[str, BlockLike] = field(default_factory=dict)
    inputs: Mapping[str, PortLike] = field(default_factory=dict)
    outputs: Mapping[str, PortLike] = field(default_factory=dict)
    parameters: Mapping[str, ArrayLike] = field(default_factory=dict)
    derivative: Text | None = None
    output: Text | None = None
    power: Text | None = None
    energy: Text | None = None
    constraints: Mapping[str, Text] = field(default_factory=dict)
    project: Text | None = None
    modes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    transitions: Sequence[Transition] = ()
    holds: Sequence[FrictionAndStops] = ()
    explain: Callable[[State], str | None] | None = None
    methods: Mapping[str, Callable[..., FixedStep]] = field(default_factory=dict)
    timed: bool | None = None
    about: str = ""
    acts: bool = False

    def __post_init__(self) -> None:
        for word in ("state", "inputs", "outputs", "parameters", "constraints", "modes", "methods"):
            if not isinstance(getattr(self, word), Mapping):
                raise SignatureError(f"the {word} of {self.name} are a dictionary by names, not "
                                     f"{shown(getattr(self, word))}")
        blocks = as_blocks(self.state, self.name)
        modes = {name: tuple(words) for name, words in self.modes.items()}
        layout = Layout(self.name, blocks, modes)
        outputs = as_ports(self.outputs)
        if self.output is None and not outputs:
            outputs = {name: Port(block.shape, block.unit) for name, block in blocks.items()}
        fixed: dict[str, Any] = {
            "state": blocks, "inputs": as_ports(self.inputs), "outputs": outputs, "modes": modes,
            "parameters": {name: np.asarray(value, dtype=float) for name, value in self.parameters.items()},
            "transitions": tuple(self.transitions), "holds": tuple(self.holds), "layout": layout}
        for name, value in fixed.items():
            object.__setattr__(self, name, value)
        if self.output is None and outputs.keys() - blocks.keys():
            raise SignatureError(f"the outputs {', '.join(outputs)} of {self.name} need an `output` that gives them")
        if self.output is not None and not outputs:
            raise SignatureError(f"{self.name} has an `output`, but names no outputs")
        written = [name for name, block in blocks.items() if block.velocity is None]
        if written and self.derivative is None:
            raise SignatureError(f"{self.name} has the state {', '.join(written)}: it needs a `derivative`")
        for transition in self.transitions:
            transition.check(layout)
        for part in self.holds:
            part.check(layout)

    # What `__post_init__` has made of what was given
    layout: Layout = field(init=False, repr=False)

    def __repr__(self) -> str:
        parts = {"state": [*self.state, *self.modes], "inputs": self.inputs, "outputs": self.outputs,
                 "parameters": self.parameters}
        listed = "; ".join(f"{word} {', '.join(repr(name) if name == word else name for name in names)}"
                           for word, names in parts.items() if names)
        return f"<system {self.name}: {listed}>"

    @property
    def blocks(self) -> dict[str, Block]:
        return self.state  # type: ignore[return-value]

    @property
    def ports(self) -> dict[str, Port]:
        """The inputs."""
        return self.inputs  # type: ignore[return-value]

    @property
    def output_ports(self) -> dict[str, Port]:
        return self.outputs  # type: ignore[return-value]

    # The texts, with their results by name and checked

    def tangents(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        """The derivative of each block, in the tangents of its manifold; of positions, their velocity."""
        written = {name: block.tangent for name, block in self.blocks.items() if block.velocity is None}
        found = self._named(self.derivative(t, x, u, p), written, "derivative") if self.derivative and written else {}
        return {name: found[name] if block.velocity is None else x[block.velocity]
                for name, block in self.blocks.items()}

    def written(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        """The derivative of the blocks that have no velocity."""
        return {name: d for name, d in self.tangents(t, x, u, p).items() if self.blocks[name].velocity is None}

    def values(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        """The outputs."""
        if self.output is None:
            return {name: x[name] for name in self.outputs}
        shapes = {name: port.shape for name, port in self.output_ports.items()}
        return self._named(self.output(t, x, u, p), shapes, "output")

    def jumped(self, transition: Transition, t: Scalar, x: State, u: Record, p: Record) -> State:
        """The state after a transition."""
        found = {}
        if transition.jump is not None:
            given = transition.jump(t, x, u, p)
            names = given if isinstance(given, (Mapping, Record)) else self.blocks
            unknown = [name for name in names if name not in self.blocks]
            if unknown:
                raise SignatureError(f"the jump of {transition.name!r} of {self.name} gives {unknown[0]!r}, which is "
                                     f"no block of its state{did_you_mean(unknown[0], self.blocks)}")
            shapes = {name: self.blocks[name].shape for name in names}
            found = self._named(given, shapes, f"jump of {transition.name!r}")
        numbers = {mode: float(self.layout.modes[mode].index(word)) for mode, word in transition.to.items()}
        return x.replaced(found | numbers)

    def blocks_after(self, transition: Transition, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        """The blocks after a transition, by name."""
        after = self.jumped(transition, t, x, u, p)
        return {name: after[name] for name in self.state}

    def _named(self, found: Any, shapes: Mapping[str, tuple[int, ...]], what: str) -> dict[str, Array]:  # noqa: ANN401 (it is told what is wrong)
        if not isinstance(found, (Mapping, Record)):
            if len(shapes) != 1:
                raise SignatureError(f"the {what} of {self.name} must return a dictionary with {', '.join(shapes)}, "
                                     f"not {type(found).__name__}")
            found = {next(iter(shapes)): found}
        wrong = [f"has no {name!r}" for name in shapes if name not in found]
        wrong += [f"has {name!r}, which is none of {', '.join(shapes)}" for name in found if name not in shapes]
        wrong += [f"has {name!r} of the shape {np.shape(found[name])}, not {shape}"
                  for name, shape in shapes.items() if name in found and np.shape(found[name]) != shape]
        if wrong:
            raise SignatureError(f"what the {what} of {self.name} returned {wrong[0]}")
        return {name: found[name] for name in shapes}

    # Arguments of the texts

    def input_record(self, values: Mapping[str, Any]) -> Record:
        """The inputs, in their order."""
        return Record(f"inputs of {self.name}", {name: values[name] for name in self.inputs})

    def parameter_record(self, values: Mapping[str, Any]) -> Record:
        """The parameters, with those given in place of their own values."""
        own = {name: value[()] for name, value in self.parameters.items()}  # type: ignore[index]
        return Record(f"parameters of {self.name}", own | dict(values))

    # What follows from them

    @cached_property
    def feedthrough(self) -> dict[str, tuple[str, ...]]:
        """For each output the inputs on which it depends directly, found in its text.

        >>> gain = System("gain", inputs={"e": "rad"}, outputs={"u": "N m"}, output=lambda t, x, u, p: 5.0 * u.e)
        >>> gain.feedthrough
        {'u': ('e',)}
        """
        from cayley.systems.text_kernels import feedthrough
        return feedthrough(self)

    @cached_property
    def is_timed(self) -> bool:
        """True if any text of the system depends on the time itself."""
        from cayley.systems.text_kernels import depends_on_time
        return depends_on_time(self) if self.timed is None else self.timed

    def with_parameters(self, values: Mapping[str, ArrayLike]) -> System:
        """The same with other values of some parameters; a number is for all entries.

        >>> lag = System("lag", state={"y": ""}, parameters={"T": 1.0}, derivative=lambda t, x, u, p: -x.y / p.T)
        >>> lag.with_parameters({"T": 0.5}).parameters
        {'T': array(0.5)}
        """
        check_known(values, self.parameters, f"{self.name} has no parameter")
        for name, value in values.items():
            if np.shape(value) not in ((), np.shape(self.parameters[name])):
                raise SignatureError(f"the parameter {name!r} of {self.name} has the shape "
                                     f"{np.shape(self.parameters[name])}, or is one number for all, not "
                                     f"{np.shape(value)}")
        made = {name: np.full(np.shape(self.parameters[name]), value, dtype=float) for name, value in values.items()}
        return replace(self, parameters={**self.parameters, **made})

    def renamed(self, names: Mapping[str, str], name: str | None = None) -> System:
        """The same with other names for some blocks, modes, ports and parameters, and perhaps for itself.

        >>> lag = System("lag", state={"y": "V"}, inputs={"u": "V"}, derivative=lambda t, x, u, p: u.u - x.y)
        >>> lag.renamed({"y": "filtered", "u": "measured"}, "filter")
        <system filter: state filtered; inputs measured; outputs filtered>
        """
        from cayley.systems.joining.renaming import renamed
        return renamed(self, names, name)

    @property
    def step(self) -> Kernel:
        """The system as a controller runs it, once a period: `step([t,] [x,] *inputs[, h])` gives the outputs and the
        next state `x`, a vector; `step.c_source(name)` is that in C.

        >>> lag = System("lag", state={"y": ""}, inputs={"u": ""}, derivative=lambda t, x, u, p: u.u - x.y)
        >>> lag.step([0.0], 1.0, 0.1).x
        array([0.1])
        """
        from cayley.systems.digital_step import digital_step
        self._check_free("a step of a controller")
        return digital_step(self)

    def c_source(self, name: str, *, dtype: DTypeLike = "float64") -> CSource:
        """`step` as one C99 function, with its header: no state but what is passed to it, no memory that it takes. A
        system with a state has, besides, its struct `<name>_state`, `<name>_init` and `<name>_step`, which keep it.

        >>> gain = System("gain", inputs={"e": "rad"}, outputs={"u": "N m"}, output=lambda t, x, u, p: 5.0 * u.e)
        >>> print(gain.c_source("gain").source.partition("<math.h>")[2].strip())
        void gain(double e, double *u)
        {
            *u = 5.0*e;
        }
        """
        from cayley.systems.digital_step import controller_source
        return controller_source(self, name, dtype)

    def linearize(self, x: StateLike, inputs: Mapping[str, ArrayLike] | None = None, *, t: float = 0.0,
                  parameters: Mapping[str, ArrayLike] | None = None) -> StateMatrices:
        """A, B, C, D of dx/dt = f(x, u), y = h(x, u) at a state, or a batch of states, by derivatives of the texts.

        Rows and columns are tangents of the blocks, and entries of the inputs and outputs, in their order. Of a system
        with constraints they are those of all blocks: besides its own modes A has those that would open the
        constraints, with poles at zero. `LinearisedMechanism` has a model of a mechanism without them.

        >>> swing = System("pendulum", state={"angle": Block((), "rad", velocity="speed"), "speed": "rad/s"},
        ...                inputs={"torque": "N m"}, derivative=lambda t, x, u, p: u.torque - 9.81 * np.sin(x.angle))
        >>> swing.linearize({"angle": 0.0, "speed": 0.0}, {"torque": 0.0}).A
        array([[ 0.  ,  1.  ],
               [-9.81,  0.  ]])
        """
        from cayley.systems.linearization import linearize
        self._check_free("a linear model")
        return linearize(self, x, inputs or {}, t, parameters or {})

    def _check_free(self, what: str) -> None:
        """Raise an error if velocities may be held, which only motions in time know."""
        held = [part for part in self.holds if part.possible]
        if held:
            raise UnsupportedError(f"{what} of {self.name} leaves out the dry friction and the stops of "
                                   f"{', '.join(held[0].names)}: take the system without them")

    def rollout(self, *, method: str | None = None, changing: Sequence[str] = (), parameters: Sequence[str] = (),
                iterations: int | None = None, events_in_a_step: int = 8, remembered: int = 16) -> Rollout:
        """Compiled steps of fixed length, for batches of states, made once for each choice; call the result on states.

        `method`: "rk4" (the default), "semi-implicit-euler" (the default where joints with dry friction or stops are
        tied together by constraints), "lie-midpoint", for stiff springs "implicit-midpoint", "gauss" and
        "gauss-energy", or one of its own. `changing`: inputs that have a value for each step. `parameters`: those that
        each call gives, each trajectory its own if you like; all others are constants of the compiled code.
        `iterations`: of an implicit method. Transitions are located within a step, at most `events_in_a_step` of them;
        the times of the first `remembered` ones are kept.

        >>> decay = System("decay", state={"x": ""}, parameters={"k": 1.0}, derivative=lambda t, x, u, p: -p.k * x.x)
        >>> roll = decay.rollout(parameters=["k"])
        >>> roll({"x": 1.0}, step=0.01, steps=100, parameters={"k": [0.5, 1.0]}).end["x"].round(6)
        array([0.606531, 0.367879])
        """
        from cayley.systems.rollouts.rollout import rollout
        key = ("rollout", method, tuple(changing), tuple(parameters), iterations, events_in_a_step, remembered)
        return kept(self, key, lambda: rollout(
            self, method=method, changing=changing, parameters=parameters, iterations=iterations,
            events_in_a_step=events_in_a_step, remembered=remembered))

    def simulate(self, x: StateLike, *, until: float | None = None, times: ArrayLike | None = None, start: float = 0.0,
                 inputs: Mapping[str, InputLike] | None = None, parameters: Mapping[str, ArrayLike] | None = None,
                 events: Event | Sequence[Event] = (), method: str | type = "DOP853", rtol: float = 1e-9,
                 atol: float = 1e-10, max_step: float = np.inf, max_events: int = 1000,
                 max_evaluations: int | None = None, progress: bool = True) -> Trajectory:
        """The motion from a state `until` a time [s], or at the given `times`, by one of SciPy's integrators.

        `inputs`: numbers, or functions of the time and of the blocks, `f(t, *blocks)`. Its transitions happen to the
        last digit of the time, and `events` are watched for. The forces of contacts, a block of the state, are those of
        the samples; functions of the blocks see them as they were after the last instant at which a contact changed.
        The result says in `status` how it ended."""
        from cayley.systems.adaptive.driving import Driving
        from cayley.systems.adaptive.simulate import first_state, run_of
        driving = Driving(self, inputs or {}, parameters or {})
        run = run_of(driving, until=until, times=times, start=start, events=events, method=method, rtol=rtol,
                     atol=atol, max_step=max_step, max_events=max_events, max_evaluations=max_evaluations)
        return run.go(first_state(driving, x, run.t), progress)
