"""The mode of the contacts of a system: each is open, sticks or slips. In a mode all forces are smooth.

    (S A) G^T G A^T (E f) = -S (A a + drift)      f the forces of a mode: S its rows, E the forces that they stand for
Contacts that are closed keep their normal acceleration at zero, those that stick the tangential ones too, and those
that slip have the friction mu f_n against their velocity. The normal force of a compliant contact is that of its
spring, -gap / C: it adds to `a`, and only tangential rows of it stick. Where contacts depend on each other (a box on
four corners) accelerations are unique and forces are not: these are the smallest ones. Source: Moreau 1988 (the
principle)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.typing import Array
from cayley.systems.adaptive.contact_rows import ContactState, contact_state, least
from cayley.systems.adaptive.standstill import Matrices, Standstill
from cayley.systems.system import System

OVERLAP = 1e-6  # m: what overlaps more is no error of the integration
_BLUNT = 1e-4  # m/s: slower than this, friction keeps the direction that it had
_BACK = 5.0  # 1/s: how fast errors of gaps and of velocities at rest die out


class ContactMode(Standstill):
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
        self._compliance = np.concatenate([each.compliance for each in contacts])
        self.soft = self._compliance > 0.0
        self.shown = np.concatenate([np.arange(places[each.forces].start, places[each.forces].stop)
                                     for each in contacts])
        c = len(self.contact_names)
        self.n = self.count
        self.count += 3 * c
        self.closed, self.slips, self.ways = np.zeros(c, bool), np.zeros(c, bool), np.zeros((c, 2))
        self._allowed, self._begun = np.zeros(c), np.zeros(c)  # of gaps and speeds: what may be negative
        self.scale = 1.0
        self.shifted = np.zeros(self.count)  # how forces differed from the smallest ones when these were no solution
        self._ahead: tuple[float, Array] | None = None

    def at(self, t: float, x: Array) -> ContactState:
        """The contacts at a state: gaps, rows, drifts and friction."""
        return contact_state(self._measured(t, x), self._roots(t, x))

    @property
    def acts(self) -> bool:
        return bool(self.held.any() or self.closed.any())

    def rows(self, here: ContactState, v: Array, sticks: Array, slips: Array, held: Array) -> tuple[Array, Array]:
        """The rows S (p, n + 3 c) and forces E (n + 3 c, p) of contacts that stick, three each, or two of compliant
        ones, of the normals of rigid ones that slip, and of joints that are held."""
        unit = np.eye(self.count)
        rigid = slips & ~self.soft
        stuck = np.stack([sticks, sticks, sticks & ~self.soft], axis=1).ravel()
        S = np.concatenate([unit[self.n:][stuck], unit[self.n + 2::3][rigid], unit[:self.n][held]])
        E = S.T.copy()
        speeds = here.contacts(here.A @ v)[:, :2]
        for column, k in enumerate(np.flatnonzero(rigid).tolist(), start=int(stuck.sum())):
            E[self.n + 3 * k:self.n + 3 * k + 2, column] = -here.friction[k] * _against(speeds[k], self.ways[k])
        return S, E

    def springs(self, here: ContactState, v: Array, pressed: Array, slips: Array) -> Array:
        """The forces (n + 3 c) of compliant contacts that are pressed, with the friction of those that slip."""
        r = np.zeros(self.count)
        if not self.soft.any():
            return r
        forces = here.contacts(r)  # a view
        forces[:, 2] = np.where(pressed & self.soft, -here.gaps / np.where(self.soft, self._compliance, 1.0), 0.0)
        speeds = here.contacts(here.A @ v)[:, :2]
        for k in np.flatnonzero(slips & self.soft).tolist():
            forces[k, :2] = -here.friction[k] * forces[k, 2] * _against(speeds[k], self.ways[k])
        return r

    def resolved(self, t: float, x: Array, slope: Array) -> tuple[Array, Array]:
        """The slope of coordinates and work with the forces (n + 3 c) of the mode."""
        here = self.at(t, x)
        slope, v = slope.copy(), x[self.columns]
        S, E = self.rows(here, v, self.closed & ~self.slips, self.slips, self.held)
        springs = self.springs(here, v, self.closed, self.slips)
        speeds = here.A @ v
        wanted = here.A @ (slope[self.columns] + here.pushed(springs)) + here.drift + 2.0 * _BACK * speeds
        wanted[self.n + 2::3] += _BACK**2 * np.where(self.closed, here.gaps, 0.0)
        reaction = springs - E @ least(here.answers(S, E), S @ wanted)
        slope[self.columns] += here.pushed(reaction)
        slope[self.columns[self.held]] = 0.0
        slope[-1] += speeds[self.n:] @ reaction[self.n:]
        return slope, reaction

    def central(self, t: float, x: Array, reaction: Array) -> Array:
        return reaction

    def are_same(self, here: ContactState) -> bool:
        """True if the contacts that were closed are so, but for errors of the integration."""
        gaps = here.gaps[self.closed]
        return bool((np.where(self.soft[self.closed], gaps, np.abs(gaps)) <= OVERLAP).all())

    def moved(self, x: Array, way: Array) -> Array:
        """The state after displacements (n) of the blocks that the velocities move."""
        state, x = self._layout.state(x), x.copy()
        for name, place in self._moves:
            block = self._layout.blocks[name]
            x[self._layout.places[name]] = np.ravel(block.manifold.step(state[name], way[place].reshape(block.tangent)))
        return x

    def without(self, here: ContactState, x: Array, sticks: Array, slips: Array) -> Array:
        """The state without the velocities that contacts do not let be, by the smallest change."""
        S, _ = self.rows(here, x[self.columns], sticks, slips, self.held)
        x[self.columns] -= here.G.T @ least(S @ here.A @ here.G.T, S @ here.A @ x[self.columns])
        x[self.columns[self.held]] = 0.0
        return x

    def cleaned(self, t: float, x: Array) -> Array:
        """The state with closed gaps at zero, and what is at rest to the last digit."""
        x = super().cleaned(t, x)
        if not self.closed.any():
            return x
        here = self.at(t, x)
        if not self.are_same(here):
            return x
        rigid = self.closed & ~self.soft
        if np.abs(here.gaps[rigid]).max(initial=0.0) > 1e-14:
            normals = here.A[self.n + 2::3][rigid]
            x = self.moved(x, here.G.T @ least(normals @ here.G.T, -here.gaps[rigid]))
            moved_here = self.at(t, x)
            here = moved_here if self.are_same(moved_here) else here
        return self.without(here, x, self.closed & ~self.slips, self.slips)


def _against(speed: Array, way: Array) -> Array:
    """The direction of a velocity (2), of one that is about zero `way`: without that the start of a slip is stiff at
    any step, as what is across dies out at the rate mu g / |v|. What has gone back, beyond the end of a mode, is
    reflected, so that friction is smooth across it."""
    along = speed @ way
    d = speed + (abs(along) - along + _BLUNT * np.exp(-(speed @ speed) / _BLUNT**2)) * way
    return d / max(np.hypot(*d), 1e-300)
