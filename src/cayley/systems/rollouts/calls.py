"""The arguments with which rollouts are called, and what they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cayley.compiler.backends.gpu_arrays import is_on_gpu
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.systems.arguments import given_inputs, given_parameters
from cayley.systems.layout import Record, StateLike
from cayley.systems.overlaps import tell_overlaps
from cayley.systems.projection import check_constraints
from cayley.systems.rollouts.runs import first_inputs
from cayley.systems.trajectory_parts import JointNames

if TYPE_CHECKING:
    from cayley.systems.rollouts.rollout import Rollout

Arguments = tuple[dict[str, Array], dict[str, Array], dict[str, Array]]


class SystemCalls:
    """A rollout of a system is called with a state, inputs and parameters by name."""

    leading: tuple[str, ...] = ()  # of a mechanism: the blocks that are given in order
    mechanism: JointNames | None = None

    @property
    def tree(self) -> Any:  # noqa: ANN401 (that of a mechanism, which systems know nothing of)
        raise AttributeError("a rollout of a system has no tree of a mechanism")

    def arguments(self, rollout: Rollout, state: Sequence[StateLike | None], named: Mapping[str, Any],
                  inputs: Mapping[str, ArrayLike], parameters: Mapping[str, ArrayLike], steps: int,
                  start: float) -> Arguments:
        """The blocks, the inputs and the parameters of a call, as arrays that were checked."""
        system = rollout.system
        if len(state) > 1 or (state and state[0] is None):
            raise SignatureError(f"a rollout of {system.name} takes one state, the blocks by name, not {len(state)} "
                                 "arguments in order")
        columns = system.layout.columns
        whole = "x" in named and ("x" not in columns or isinstance(named["x"], Mapping))
        x: Any = state[0] if state else named["x"] if whole else {n: a for n, a in named.items() if n in columns}
        taken = () if state else ("x", *columns)
        inputs = {n: a for n, a in named.items() if n not in (*taken, *rollout.parameters)} | dict(inputs)
        own = {n: a for n, a in named.items() if n not in taken and n in rollout.parameters} | dict(parameters)
        given = given_inputs(system, rollout.viewed(inputs), rollout.inputs, rollout.changing, steps)
        chosen = given_parameters(system, rollout.viewed(own), rollout.parameters)
        blocks = system.layout.given(rollout.viewed(x) if isinstance(x, (Mapping, Record)) else
                                     rollout.viewed({"x": x})["x"])
        if not any(map(is_on_gpu, [*blocks.values(), *given.values(), *chosen.values()])):
            first, now = system.layout.vectors(blocks), first_inputs(rollout, given)
            check_constraints(system, start, first, now.values(), chosen)
            tell_overlaps(system, start, first, now, chosen)
        return blocks, given, chosen

    def required(self, rollout: Rollout) -> list[str]:
        """The blocks and inputs that have no value of their own."""
        ports = rollout.system.ports
        return [*[n for n, block in rollout.system.layout.blocks.items() if block.default is None],
                *[n for n in rollout.inputs if n not in ports or ports[n].default is None]]

    def shown(self, rollout: Rollout, t: Array, x: Array, inputs: dict[str, Array]) -> dict[str, Array]:
        """The inputs of a trajectory with the states x (..., samples, size) at the times t."""
        return inputs
