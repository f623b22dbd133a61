"""Dry friction and stops of a system: the velocities that may stand still, and the forces that hold them.

The bounds of dry friction at rest are -friction and friction; a stop that is touched pushes with any force, in one
direction. Which velocities stand still is found by `compiler.solving.complementarity`. Source: Coulomb 1785."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.solving.complementarity import inertia_solve
from cayley.compiler.typing import Array, Scalar, Text
from cayley.errors import SignatureError
from cayley.systems.contacts import TouchingPoints

if TYPE_CHECKING:
    from cayley.systems.layout import Layout, Record, State

REST_SPEED = 1e-4  # rad/s, m/s: a joint that leaves a stop slower than this rests there
TOUCHING = 1e-12  # rad, m


@dataclass(frozen=True)
class Stop:
    """One side of one coordinate. `n` is +1 at a lower limit and -1 at an upper one: the direction of its push."""

    joint: str
    coordinate: int  # in the block of positions
    column: int  # in the block of velocities
    limit: float
    n: int

    @property
    def name(self) -> str:
        return f"{self.joint}, {'lower' if self.n > 0 else 'upper'} limit"

    @property
    def tolerance(self) -> float:
        """The gap at which it is touched."""
        return TOUCHING * max(1.0, abs(self.limit))

    def gap(self, q: Array) -> Scalar:
        """The distance of coordinates from the stop."""
        return self.n * (q[self.coordinate] - self.limit)


@dataclass(frozen=True, eq=False)
class FrictionAndStops(HoldsFunctions):
    """The dry friction `friction` (n) of the block `velocity`, and the `stops` of the block `position`.

    `balance(t, x, u, p)` gives M (n, n) and f (n) of the equations of motion without dry friction. A system whose
    velocities are `tied` by that many constraints gives, besides, their `rows(t, x, u, p)` A (tied, n), the `basis`
    (n, k) of the free motions of such an A, and `yielding(t, x, u, p, forces)`, the accelerations (n) that forces cause
    within them.
    `ends` are limits at which a simulation ends. `restitution` is the coefficient from 0 to 1 of all stops. `contacts`
    are those of the same velocities.

    >>> from cayley.systems import Block, System
    >>> slide = System("slide", state={"x": Block((), "m", velocity="v"), "v": "m/s"}, inputs={"force": "N"},
    ...                derivative=lambda t, x, u, p: u.force,
    ...                holds=[FrictionAndStops("v", "x", ("slide",), [2.0],
    ...                                        lambda t, x, u, p: (np.eye(1), np.stack([u.force])))])
    >>> pushed = slide.simulate({"x": 0.0, "v": 0.0}, until=2.0, inputs={"force": lambda t, x, v: 2.0 * t})
    >>> [(round(what.t, 9), what.name, what.action) for what in pushed.happened]
    [(1.0, 'slide', 'slip')]
    """

    velocity: str
    position: str
    names: tuple[str, ...]
    friction: Array
    balance: Text
    stops: tuple[Stop, ...] = ()
    restitution: float = 0.0
    ends: tuple[Stop, ...] = ()
    tied: int = 0
    rows: Text | None = None
    basis: Callable[[Array], Array] | None = None
    yielding: Text | None = None
    contacts: TouchingPoints | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "friction", np.asarray(self.friction, dtype=float))
        if (self.friction < 0).any():
            raise SignatureError(f"the dry friction of {self.names[int(np.argmin(self.friction))]!r} is negative: it "
                                 "would push, and nothing says where to from rest")

    def check(self, layout: Layout) -> None:
        """Raise an error if a block that is named does not exist, or has another size."""
        for name in (self.velocity, self.position):
            if name not in layout.blocks:
                raise SignatureError(f"friction and stops of {layout.whose} act on the block {name!r}, which is none "
                                     f"of {', '.join(layout.blocks)}")
        if self.contacts is not None:
            self.contacts.check(layout)
        size = layout.blocks[self.velocity].size
        if self.friction.shape != (size,) or len(self.names) != size:
            raise SignatureError(f"the dry friction of {layout.whose} has a name and a number for each of the {size} "
                                 f"velocities {self.velocity!r}, not {len(self.names)} and {self.friction.shape}")

    def within(self, arguments: Callable[..., tuple[Any, ...]]) -> FrictionAndStops:
        """The same of a part of another system; `arguments(t, x, u, p)` are those of the part, given those of the
        whole."""
        def text(of: Text) -> Text:
            return lambda t, x, u, p, *forces: of(*arguments(t, x, u, p), *forces)

        return replace(self, balance=text(self.balance), rows=self.rows and text(self.rows),
                       yielding=self.yielding and text(self.yielding),
                       contacts=self.contacts and self.contacts.within(text))

    @property
    def is_coupled(self) -> bool:
        """True if an impulse on one velocity may need others: in constraints and contacts."""
        return bool(self.tied) or self.contacts is not None

    @property
    def possible(self) -> bool:
        """True if a velocity can be held, or a limit can end a simulation, or something can touch."""
        return bool(self.stops or self.ends or self.friction.any() or self.contacts)

    def accelerations(self, t: Scalar, x: State, u: Record, p: Record, forces: Array) -> Array:
        """The accelerations (n) that forces (n) cause."""
        if self.yielding is not None:
            return self.yielding(t, x, u, p, forces)
        return inertia_solve(self.balance(t, x, u, p)[0], forces)
