"""Contacts in an adaptive simulation, together with velocities at rest: each contact is open, sticks or slips, until a
gap closes, a sliding point comes to rest, or the forces that hold the mode leave their cones.

In a mode all forces are smooth: contacts that are closed keep their normal acceleration at zero, those that stick the
tangential ones too, and those that slip have the friction mu f_n against their velocity. The next mode is the solution
of the contact problem for accelerations, an impact that for velocities (`compiler.solving.contact_impulses`).

    (S A) G^T G A^T (E f) = -S (A a + drift)      f the forces of a mode: S its rows, E the forces that they stand for
Where contacts depend on each other (a box on four corners) accelerations are unique and forces are not. Shown are the
smallest ones, or, where these leave their cones, those that the contact problem finds from them. A mode lasts as long
as any forces in the cones hold it. When it ends, the next is looked for a little later, where the forces that are
missing are more than rounding. Where contacts depend on each other and slide in different directions (a box that turns
as it slides) accelerations are not unique either: those of the smallest normal forces are taken. Source: Moreau 1988
(the principle)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.solving.contact_impulses import ContactRows
from cayley.compiler.typing import Array
from cayley.errors import GeometryError, SingularityError
from cayley.systems.adaptive.contact_impacts import ANY, after_impact, impulses, pushes
from cayley.systems.adaptive.contact_rows import ContactState, contact_state, least, rank
from cayley.systems.adaptive.standstill import Matrices, Standstill
from cayley.systems.friction_and_stops import Stop
from cayley.systems.system import System

if TYPE_CHECKING:
    from cayley.systems.adaptive.moving_system import Look

_TOUCHING = 1e-9  # m: what is not farther apart touches
_OVERLAP = 1e-6  # m: what overlaps more at the start is refused
_STILL = 1e-10  # of velocities: what is slower does not move
_STOPS = 1e-7  # m/s: how slow a point is that comes to rest, and not just turns
_BLUNT = 1e-4  # m/s: slower than this, friction keeps the direction that it had
_ROUNDING = 1e-9  # of the largest acceleration: none
_MISSING = 1e-7  # of the forces: what is missing when the next mode is looked for
_BACK = 5.0  # 1/s: how fast errors of gaps and of velocities at rest die out
_STARTS = 1e-8  # m/s: what a slip that has just begun may go back
_AFTER = 5e-13  # m: what a bounce may leave of a gap
_AMPLE = 1e-2  # what is more is enough, of forces and of what they do: no turn of it is looked for


class ContactEnd(NamedTuple):
    """A reason why a mode of contacts ends: a "gap" closes, a sliding point comes to rest or has made a "turn", no
    forces "hold", friction is about to "jam" a sliding point, or shapes "change" the points where they touch, as a box
    that tips over to its next face."""

    kind: str
    contact: int


class Touching(Standstill):
    """The contacts of a system, with the velocities that can be held, and the mode they are in. `measured(t, x)` gives
    gaps, rows, drifts and friction."""

    def __init__(self, system: System, matrices: Matrices, measured: Callable[[float, Array], list[Array]]) -> None:
        super().__init__(system, matrices)
        contacts = [part.contacts for part in system.holds if part.contacts is not None]
        places = system.layout.places
        self._measured = measured
        self._layout = system.layout
        self._moves = [(part.position, slice(a, b)) for part, a, b in
                       zip(system.holds, self._offsets[:-1], self._offsets[1:], strict=True)]
        self.contact_names = [name for each in contacts for name in each.names]
        self._bounces = np.concatenate([each.restitution for each in contacts])
        self.shown = np.concatenate([np.arange(places[each.forces].start, places[each.forces].stop)
                                     for each in contacts])
        c = len(self.contact_names)
        self._n = self.count
        self.count += 3 * c
        self.closed, self._slips, self._ways = np.zeros(c, bool), np.zeros(c, bool), np.zeros((c, 2))
        self._allowed, self._begun = np.zeros(c), np.zeros(c)  # of gaps and speeds: what may be negative
        self._scale = 1.0
        self._shifted = np.zeros(self.count)  # how forces differed from the smallest ones when these were no solution
        self._ahead: tuple[float, Array] | None = None

    def at(self, t: float, x: Array) -> ContactState:
        """The contacts at a state: gaps, rows, drifts and friction."""
        return contact_state(self._measured(t, x), self._roots(t, x))

    # A mode

    @property
    def acts(self) -> bool:
        return bool(self.held.any() or self.closed.any())

    @property
    def watched(self) -> list[Stop | int | ContactEnd]:  # type: ignore[override]
        stops = [what for what in super().watched if isinstance(what, Stop)]
        slipping = np.flatnonzero(self._slips & self._ways.any(1)).tolist()
        return [*stops, *[ContactEnd("gap", k) for k in np.flatnonzero(~self.closed).tolist()],
                *[ContactEnd(kind, k) for k in slipping for kind in ("turn", "jam")],
                *([ContactEnd("change", -1)] if self.closed.any() else []),
                *([ContactEnd("hold", -1)] if self.acts else [])]

    def value(self, what: Stop | int | ContactEnd, look: Look) -> float:
        if not isinstance(what, ContactEnd):
            return super().value(what, look)
        k, here = what.contact, look.touching
        if what.kind == "change" or not self._are_same(here):
            return -1.0 if what.kind == "change" and not self._are_same(here) else 1.0
        if what.kind == "gap":
            return float(here.gaps[k] + self._allowed[k])
        if what.kind == "hold":
            return self._margin(look)
        if what.kind == "turn":
            return float(here.contacts(here.A @ look.x[self.columns])[k, :2] @ self._ways[k] + self._begun[k])
        return self._freedom(here, k, look.x[self.columns])

    def resolved(self, t: float, x: Array, slope: Array) -> tuple[Array, Array]:
        """The slope of coordinates and work with the forces (n + 3 c) of the mode."""
        here = self.at(t, x)
        slope, v = slope.copy(), x[self.columns]
        S, E = self._rows(here, v, self.closed & ~self._slips, self._slips, self.held)
        speeds = here.A @ v
        wanted = here.A @ slope[self.columns] + here.drift + 2.0 * _BACK * speeds
        wanted[self._n + 2::3] += _BACK**2 * np.where(self.closed, here.gaps, 0.0)
        reaction = -E @ least(here.answers(S, E), S @ wanted)
        slope[self.columns] += here.pushed(reaction)
        slope[self.columns[self.held]] = 0.0
        slope[-1] += speeds[self._n:] @ reaction[self._n:]
        return slope, reaction

    def central(self, t: float, x: Array, reaction: Array) -> Array:
        return reaction

    def _rows(self, here: ContactState, v: Array, sticks: Array, slips: Array, held: Array) -> tuple[Array, Array]:
        """The rows S (p, n + 3 c) and forces E (n + 3 c, p) of contacts that stick, three each, of the normals of those
        that slip, and of joints that are held."""
        unit = np.eye(self.count)
        normals = self._n + 2 + 3 * np.flatnonzero(slips)
        S = np.concatenate([unit[self._n:][np.repeat(sticks, 3)], unit[normals], unit[:self._n][held]])
        E = S.T.copy()
        speeds = here.contacts(here.A @ v)[:, :2]
        for column, k in enumerate(np.flatnonzero(slips).tolist(), start=3 * int(sticks.sum())):
            E[self._n + 3 * k:self._n + 3 * k + 2, column] = -here.friction[k] * _against(speeds[k], self._ways[k])
        return S, E

    def _freedom(self, here: ContactState, k: int, v: Array) -> float:
        """The share of a normal force that frees a sliding point of its contact, with the friction that it has; one
        without friction, negative if friction pushes the point deeper."""
        only = np.arange(len(self.closed)) == k
        S, E = self._rows(here, v, ~only & only, only, np.zeros(self._n, bool))
        return min(float(here.answers(S, E)[0, 0] / here.answers(S, S.T)[0, 0]), _AMPLE) - _ROUNDING

    # Forces within their cones

    def _margin(self, look: Look) -> float:
        """The distance of the forces of the mode from their bounds; negative if no forces hold it."""
        least = self._slackest(look.touching, look.reaction)
        if least >= 0.0:
            return min(least, _AMPLE)
        here = look.touching
        S, E = self._rows(here, look.x[self.columns], self.closed & ~self._slips, self._slips, self.held)
        if rank(here.G @ here.A.T @ E) == len(S):
            return least
        r, after = self._redistributed(look)
        if np.isnan(after).any():
            return least
        missing = np.abs(S @ after).max() / (1.0 + np.abs(here.A @ here.pushed(r)).max())
        return _ROUNDING / 10 - float(missing) if missing > _ROUNDING / 10 else _ROUNDING

    def _slackest(self, here: ContactState, r: Array) -> float:
        forces = here.contacts(r)
        sticks = self.closed & ~self._slips
        within = here.friction * forces[:, 2] - np.hypot(forces[:, 0], forces[:, 1])
        joints = r[:self._n][self.held]
        return float(np.concatenate([forces[self.closed, 2], within[sticks], joints - self._lower[self.held],
                                     self._upper[self.held] - joints]).min() / self._scale)

    def _redistributed(self, look: Look) -> tuple[Array, Array]:
        """The forces (n + 3 c) within their bounds that are found from those of the mode, and the accelerations of all
        rows with them."""
        free = look.moving.free(look.t, look.y)[self.columns]
        r, after = self._solved(look.touching, look.x[self.columns], free, self.closed & ~self._slips, self._slips,
                                self.held, look.reaction + self._shifted)
        self._shifted = np.where(np.isnan(after).any(), 0.0, r - look.reaction)
        return r, after

    def _solved(self, here: ContactState, v: Array, a: Array, sticks: Array, slips: Array, held: Array,
                start: Array) -> tuple[Array, Array]:
        """The forces (n + 3 c) of the contact problem for accelerations, those without forces being `a` (n), and the
        accelerations of all rows with them, NaN if none are found."""
        S, E = self._rows(here, v, sticks, slips, held)
        free = here.A @ a + here.drift
        bounds = [np.concatenate([np.full(int(slips.sum()), low), bound[held]])
                  for low, bound in ((0.0, self._lower), (ANY, self._upper))]
        problem = ContactRows(here.answers(S, E), S @ free, here.friction[sticks], *np.clip(bounds, -ANY, ANY))
        found = impulses(problem, S @ start)
        r = E @ found.r
        is_law = found.residual <= 1e3 * max(found.tolerance, 1e-12)
        return r, np.where(is_law, free + here.A @ here.pushed(r), np.nan)

    def forces_shown(self, look: Look) -> Array:
        """The forces (3 c) of contacts, within their cones."""
        r = look.reaction
        if self.closed.any() and self._slackest(look.touching, r) < -_ROUNDING:
            found, after = self._redistributed(look)
            r = r if np.isnan(after).any() else found
        return r[self._n:]

    # Between modes

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
        rests = self._slips & (np.hypot(speeds[:, 0], speeds[:, 1]) <= _STOPS)
        return self._without(here, x, (self.closed & ~self._slips) | rests, self._slips & ~rests)

    def _are_same(self, here: ContactState) -> bool:
        """True if the contacts that were closed are so, but for errors of the integration."""
        return bool((np.abs(here.gaps[self.closed]) <= _OVERLAP).all())

    def _changed(self, look: Look) -> Array:
        """The coordinates as soon as other points touch; of these none was closed before."""
        slope = look.moving.slope(look.t, look.y)
        x = look.x
        for h in 1e-13 * 4.0 ** np.arange(12):
            if not self._are_same(self.at(look.t, x)):
                break
            x = look.moving.coordinates(look.t, look.y + h * slope)
        self.closed, self._slips = np.zeros_like(self.closed), np.zeros_like(self._slips)
        return x

    def _later(self, look: Look) -> tuple[float, Array]:
        """The time and the state a little later, where the forces that are missing are more than rounding."""
        slope, ahead = look.moving.slope(look.t, look.y), (look.t, look.x)
        for h in 1e-9 * 4.0 ** np.arange(12):
            later = type(look)(look.moving, look.t + h, look.y + h * slope)
            if not self._are_same(later.touching):
                break
            ahead = later.t, later.x
            if self._margin(later) < -_MISSING:
                break
        return ahead

    def _going(self, t: float, x: Array, slope: Callable[[float, Array], Array]) -> Array:
        """The directions of the velocities (n), as of any that can be held, and the mode of contacts."""
        here, v = self.at(t, x), x[self.columns]
        gaps = here.gaps
        still = _STILL * (1.0 + np.abs(v).max())
        speeds = here.contacts(here.A @ v)
        sliding = np.hypot(speeds[:, 0], speeds[:, 1])
        touches = (here.gaps <= _TOUCHING) & (speeds[:, 2] <= still)
        rests = touches & (sliding <= still) & (here.friction > 0.0)
        slips = touches & ~rests
        rubs = (slips & (here.friction > 0.0))[:, None]
        ways = np.where(rubs, speeds[:, :2] / np.maximum(sliding, still)[:, None], 0.0)
        self._ways = ways
        for k in np.flatnonzero(slips).tolist():
            if self._freedom(here, k, v) < 0.0:
                raise SingularityError(self._jams(k))
        (t, x), self._ahead = self._ahead or (t, x), None
        here, v, a = self.at(t, x), x[self.columns], slope(t, x)[self.columns]
        can, going = self._lower < self._upper, np.ones(self._n)
        if not np.isfinite(a).all():  # which is told by whoever asks for the slope
            return going
        r, after = self._solved(here, v, a, rests, slips, can, np.zeros(self.count))
        if np.isnan(after).any():
            names = ", ".join(self.contact_names[k] for k in np.flatnonzero(touches))
            raise SingularityError(f"no forces of the contacts {names} are found that keep the law of friction: take "
                                   "other friction there, or a rollout, which says what is left of the law")
        tolerance = _ROUNDING * (1.0 + np.abs(here.A @ a + here.drift).max())
        rates = here.contacts(after)
        pulled = np.hypot(rates[:, 0], rates[:, 1])
        starts = rests & (pulled > tolerance)
        self._ways = np.where(starts[:, None], rates[:, :2] / np.maximum(pulled, tolerance)[:, None], ways)
        self.closed = touches & (rates[:, 2] <= tolerance)
        self._slips = (slips | starts) & self.closed
        self._begun = np.where(sliding <= _STOPS, _STARTS, 0.0)
        self._allowed = np.where(touches, _TOUCHING, np.where(gaps < -_AFTER, -2.0 * gaps, 0.0))
        self._scale, self._shifted = 1.0 + np.abs(r).max(), np.zeros(self.count)
        joints = after[:self._n]
        going[can] = np.where(np.abs(joints) <= tolerance, 0.0, np.sign(joints))[can]
        return going

    def settle(self, t: float, x: Array, slope: Callable[[float, Array], Array],
               released: object) -> list[tuple[str, str]]:
        closed, slid = self.closed, self._slips
        found = super().settle(t, x, slope, {})
        words = {"lift-off": closed & ~self.closed, "slip": closed & ~slid & self._slips,
                 "stick": closed & slid & self.closed & ~self._slips}
        return found + [(self.contact_names[k], word) for word, flags in words.items()
                        for k in np.flatnonzero(flags).tolist()]

    def _jams(self, k: int) -> str:
        return (f"the contact {self.contact_names[k]} slides with so much friction that no normal force keeps it from "
                "going deeper (Painleve's paradox): a rigid contact has no motion there; take less friction, or a "
                "rollout, whose steps let it bounce off")

    # States

    def check_apart(self, t: float, x: Array) -> None:
        """Raise an error that names a contact whose shapes overlap."""
        gaps = self._measured(t, x)[0]
        k = int(np.argmin(gaps))
        if gaps[k] < -_OVERLAP:
            raise GeometryError(f"at the start the contact {self.contact_names[k]} overlaps by {-gaps[k]:.3g} m: "
                                "start where shapes touch or are apart")

    def cleaned(self, t: float, x: Array) -> Array:
        """The state with closed gaps at zero, and what is at rest to the last digit."""
        x = super().cleaned(t, x)
        if not self.closed.any():
            return x
        here = self.at(t, x)
        if not self._are_same(here):
            return x
        gaps = np.where(self.closed, here.gaps, 0.0)
        if np.abs(gaps).max() > 1e-14:
            normals = here.A[self._n + 2::3][self.closed]
            d = here.G.T @ least(normals @ here.G.T, -gaps[self.closed])
            state = self._layout.state(x)
            for name, place in self._moves:
                block = self._layout.blocks[name]
                moved = block.manifold.step(state[name], d[place].reshape(block.tangent))
                x[self._layout.places[name]] = np.ravel(moved)
            moved_here = self.at(t, x)
            here = moved_here if self._are_same(moved_here) else here
        return self._without(here, x, self.closed & ~self._slips, self._slips)

    def _without(self, here: ContactState, x: Array, sticks: Array, slips: Array) -> Array:
        """The state without the velocities that contacts do not let be, by the smallest change."""
        S, _ = self._rows(here, x[self.columns], sticks, slips, self.held)
        x[self.columns] -= here.G.T @ least(S @ here.A @ here.G.T, S @ here.A @ x[self.columns])
        x[self.columns[self.held]] = 0.0
        return x

    def impacts(self, t: float, x: Array) -> tuple[Array, list[tuple[str, str]]]:
        """The state after impacts of contacts and stops, and what was struck, by name and word."""
        v = x[self.columns]
        still = _STILL * (1.0 + np.abs(v).max())
        v[np.abs(v) <= 0.1 * still] = 0.0
        x[self.columns] = v
        here = self.at(t, x)
        ways = pushes(here, here.gaps <= _TOUCHING, [stop for stop in self.stops if stop.gap(x) <= stop.tolerance])
        struck = ways * (here.A @ v) < -np.where(np.arange(self.count) < self._n, 0.0, still)
        if not struck.any():
            return x, []
        bounces = np.concatenate([self._restitution, np.repeat(self._bounces, 3)])
        x[self.columns] = after_impact(here, v, ways, struck, bounces)
        return x, [*[(self.contact_names[k], "touch-down") for k in np.flatnonzero(struck[self._n + 2::3]).tolist()],
                   *[(stop.name, "impact") for stop in self.stops
                     if struck[stop.column] and ways[stop.column] == stop.n]]


def _against(speed: Array, way: Array) -> Array:
    """The direction of a velocity (2), of one that is about zero `way`: without that the start of a slip is stiff at
    any step, as what is across dies out at the rate mu g / |v|. What has gone back, beyond the end of a mode, is
    reflected, so that friction is smooth across it."""
    along = speed @ way
    d = speed + (abs(along) - along + _BLUNT * np.exp(-(speed @ speed) / _BLUNT**2)) * way
    return d / max(np.hypot(*d), 1e-300)

