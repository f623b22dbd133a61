"""Whether the actuators of a machine are as many as its degrees of freedom. Source: Ruggiu 4.1."""

from __future__ import annotations

from typing import Literal, NamedTuple

from cayley.errors import ModelError


class Actuation(NamedTuple):
    """What `actuators` make of `freedoms`: with more of them forces are a choice, with fewer some motion is left."""

    kind: Literal["fully actuated", "redundantly actuated", "under-actuated"]
    actuators: int
    freedoms: int

    @property
    def surplus(self) -> int:
        """How many forces are free to choose; negative: how many motions no actuator controls."""
        return self.actuators - self.freedoms


def actuation(*, actuators: int, freedoms: int) -> Actuation:
    """The class of a machine by its numbers of actuators and of degrees of freedom.

    >>> actuation(actuators=4, freedoms=3)
    Actuation(kind='redundantly actuated', actuators=4, freedoms=3)
    """
    if actuators < 0 or freedoms < 0:
        raise ModelError(f"a machine cannot have {actuators} actuators and {freedoms} degrees of freedom")
    if actuators == freedoms:
        return Actuation("fully actuated", actuators, freedoms)
    return Actuation("redundantly actuated" if actuators > freedoms else "under-actuated", actuators, freedoms)
