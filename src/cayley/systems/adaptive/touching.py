"""Contacts in an adaptive simulation, together with velocities at rest: each contact is open, sticks or slips, until a
gap closes, a sliding point comes to rest, or the forces that hold the mode leave their cones.

The next mode is the solution of the contact problem for accelerations, an impact that for velocities. When a mode ends
the next is looked for a little later, where the forces that are missing are more than rounding. Where contacts depend
on each other and slide in different directions (a box that turns as it slides) accelerations are not unique: those of
the smallest normal forces are taken. A compliant contact is pressed from where its gap closes to where it opens, both
without an impulse."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import SingularityError
from cayley.systems.adaptive.contact_forces import ROUNDING, ContactForces
from cayley.systems.adaptive.contact_impacts import after_impact, pushes
from cayley.systems.friction_and_stops import Stop

if TYPE_CHECKING:
    from cayley.systems.adaptive.moving_system import Look

_TOUCHING = 1e-9  # m: what is not farther apart touches
_STILL = 1e-10  # of velocities: what is slower does not move
_STOPS = 1e-7  # m/s: how slow a point is that comes to rest and not just turns, or that does not part by itself
_MISSING = 1e-7  # of the forces: what is missing when the next mode is looked for
_STARTS = 1e-8  # m/s: what a slip that has just begun may go back
_PRESSED = 1e-12  # m: a compliant contact that is deeper has a force
_AFTER = 5e-13  # m: what a bounce may leave of a gap


class ContactEnd(NamedTuple):
    """A reason why a mode of contacts ends: a "gap" closes, a sliding point comes to rest or has made a "turn", no
    forces "hold", friction is about to "jam" a sliding point, or shapes "change" the points where they touch, as a box
    that tips over to its next face."""

    kind: str
    contact: int


class Touching(ContactForces):
    """The contacts of a system between their modes."""

    @property
    def watched(self) -> list[Stop | int | ContactEnd]:  # type: ignore[override]
        stops = [what for what in super().watched if isinstance(what, Stop)]
        slipping = np.flatnonzero(self.slips & self.ways.any(1)).tolist()
        return [*stops, *[ContactEnd("gap", k) for k in np.flatnonzero(~self.closed | self.soft).tolist()],
                *[ContactEnd("turn", k) for k in slipping],
                *[ContactEnd("jam", k) for k in slipping if not self.soft[k]],
                *([ContactEnd("change", -1)] if self.closed.any() else []),
                *([ContactEnd("hold", -1)] if self.acts else [])]

    def value(self, what: Stop | int | ContactEnd, look: Look) -> float:
        if not isinstance(what, ContactEnd):
            return super().value(what, look)
        k, here = what.contact, look.touching
        if what.kind == "change" or not self.are_same(here):
            return -1.0 if what.kind == "change" and not self.are_same(here) else 1.0
        if what.kind == "gap":
            return float((-here.gaps[k] if self.closed[k] else here.gaps[k]) + self._allowed[k])
        if what.kind == "hold":
            return self.margin(look)
        if what.kind == "turn":
            return float(here.contacts(here.A @ look.x[self.columns])[k, :2] @ self.ways[k] + self._begun[k])
        return self.freedom(here, k, look.x[self.columns])

    def reached(self, what: ContactEnd, look: Look) -> Array:
        """The coordinates after the end of a mode, where points that came to rest are at rest."""
        if not self.acts:  # it has just changed
            return look.x
        if what.kind == "jam":
            raise SingularityError(self._jams(what.contact))
        if what.kind == "hold":
            self._ahead = self._later(look)
        if what.kind == "change":
            return self._changed(look)
        if what.kind != "turn":
            return look.x
        here, x = look.touching, look.x.copy()
        speeds = here.contacts(here.A @ x[self.columns])
        rests = self.slips & (np.hypot(speeds[:, 0], speeds[:, 1]) <= _STOPS)
        return self.without(here, x, (self.closed & ~self.slips) | rests, self.slips & ~rests)

    def _changed(self, look: Look) -> Array:
        """The coordinates as soon as other points touch; of these none was closed before."""
        slope = look.moving.slope(look.t, look.y)
        x = look.x
        for h in 1e-13 * 4.0 ** np.arange(12):
            if not self.are_same(self.at(look.t, x)):
                break
            x = look.moving.coordinates(look.t, look.y + h * slope)
        self.closed, self.slips = np.zeros_like(self.closed), np.zeros_like(self.slips)
        return x

    def _later(self, look: Look) -> tuple[float, Array]:
        """The time and the state a little later, where the forces that are missing are more than rounding."""
        slope, ahead = look.moving.slope(look.t, look.y), (look.t, look.x)
        for h in 1e-9 * 4.0 ** np.arange(12):
            later = type(look)(look.moving, look.t + h, look.y + h * slope)
            if not self.are_same(later.touching):
                break
            ahead = later.t, later.x
            if self.margin(later) < -_MISSING:
                break
        return ahead

    def _going(self, t: float, x: Array, slope: Callable[[float, Array], Array]) -> Array:
        """The directions of the velocities (n), as of any that can be held, and the mode of contacts."""
        here, v = self.at(t, x), x[self.columns]
        gaps = here.gaps
        still = _STILL * (1.0 + np.abs(v).max())
        speeds = here.contacts(here.A @ v)
        sliding = np.hypot(speeds[:, 0], speeds[:, 1])
        near = np.where(self.soft, _PRESSED, _TOUCHING)
        pressed = self.soft & (gaps < -_PRESSED)
        touches = pressed | ((gaps <= near) & (speeds[:, 2] <= np.maximum(still, _STOPS)))
        rests = touches & (sliding <= still) & (here.friction > 0.0)
        slips = touches & ~rests
        rubs = (slips & (here.friction > 0.0))[:, None]
        ways = np.where(rubs, speeds[:, :2] / np.maximum(sliding, still)[:, None], 0.0)
        self.ways = ways
        for k in np.flatnonzero(slips).tolist():
            if not self.soft[k] and self.freedom(here, k, v) < 0.0:
                raise SingularityError(self._jams(k))
        (t, x), self._ahead = self._ahead or (t, x), None
        here, v, a = self.at(t, x), x[self.columns], slope(t, x)[self.columns]
        can, going = self._lower < self._upper, np.ones(self.n)
        if not np.isfinite(a).all():  # which is told by whoever asks for the slope
            return going
        r, after = self.solved(here, v, a, rests, slips, can, np.zeros(self.count))
        if np.isnan(after).any():
            names = ", ".join(self.contact_names[k] for k in np.flatnonzero(touches))
            raise SingularityError(f"no forces of the contacts {names} are found that keep the law of friction: take "
                                   "other friction there, or a rollout, which says what is left of the law")
        tolerance = ROUNDING * (1.0 + np.abs(here.A @ a + here.drift).max())
        rates = here.contacts(after)
        pulled = np.hypot(rates[:, 0], rates[:, 1])
        starts = rests & (pulled > tolerance)
        self.ways = np.where(starts[:, None], rates[:, :2] / np.maximum(pulled, tolerance)[:, None], ways)
        self.closed = np.where(self.soft, pressed | (touches & ((speeds[:, 2] < -still) | (rates[:, 2] < -tolerance))),
                               touches & (rates[:, 2] <= tolerance))
        self.slips = (slips | starts) & self.closed
        self._begun = np.where(sliding <= _STOPS, _STARTS, 0.0)
        self._allowed = np.where(touches & ~pressed, near, np.where(gaps < -_AFTER, -2.0 * gaps, 0.0))
        self.scale, self.shifted = 1.0 + np.abs(r).max(), np.zeros(self.count)
        joints = after[:self.n]
        going[can] = np.where(np.abs(joints) <= tolerance, 0.0, np.sign(joints))[can]
        return going

    def settle(self, t: float, x: Array, slope: Callable[[float, Array], Array],
               released: object) -> list[tuple[str, str]]:
        closed, slid = self.closed, self.slips
        found = super().settle(t, x, slope, {})
        words = {"lift-off": closed & ~self.closed, "slip": closed & ~slid & self.slips,
                 "stick": closed & slid & self.closed & ~self.slips}
        return found + [(self.contact_names[k], word) for word, flags in words.items()
                        for k in np.flatnonzero(flags).tolist()]

    def _jams(self, k: int) -> str:
        return (f"the contact {self.contact_names[k]} slides with so much friction that no normal force keeps it from "
                "going deeper (Painleve's paradox): a rigid contact has no motion there; take less friction, or a "
                "rollout, whose steps let it bounce off")

    def impacts(self, t: float, x: Array) -> tuple[Array, list[tuple[str, str]]]:
        """The state after impacts of contacts and stops, and what was struck, by name and word."""
        v = x[self.columns]
        still = _STILL * (1.0 + np.abs(v).max())
        v[np.abs(v) <= 0.1 * still] = 0.0
        x[self.columns] = v
        here = self.at(t, x)
        touched = [stop for stop in self.stops if stop.gap(x) <= stop.tolerance]
        ways = pushes(here, (here.gaps <= _TOUCHING) & ~self.soft, touched)
        struck = ways * (here.A @ v) < -np.where(np.arange(self.count) < self.n, 0.0, still)
        meets = (self.soft & ~self.closed & (np.abs(here.gaps) <= _PRESSED)
                 & (here.contacts(here.A @ v)[:, 2] < -still))
        self.closed = self.closed | meets
        met = [(self.contact_names[k], "touch-down") for k in np.flatnonzero(meets).tolist()]
        if not struck.any():
            return x, met
        bounces = np.concatenate([self._restitution, np.repeat(self._bounces, 3)])
        x[self.columns] = after_impact(here, v, ways, struck, bounces)
        met += [(self.contact_names[k], "touch-down") for k in np.flatnonzero(struck[self.n + 2::3]).tolist()]
        return x, [*met, *[(stop.name, "impact") for stop in self.stops
                           if struck[stop.column] and ways[stop.column] == stop.n]]
