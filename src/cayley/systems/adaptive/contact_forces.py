"""Forces of contacts within their cones, in a mode or to find one.

A mode lasts as long as any forces in the cones hold it. Shown are the smallest ones, or, where these leave their cones,
those that the contact problem for accelerations (`compiler.solving.contact_impulses`) finds from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.solving.contact_law import ContactRows
from cayley.compiler.typing import Array
from cayley.systems.adaptive.contact_impacts import ANY, with_springs
from cayley.systems.adaptive.contact_mode import ContactMode
from cayley.systems.adaptive.contact_rows import ContactState, rank

if TYPE_CHECKING:
    from cayley.systems.adaptive.moving_system import Look

ROUNDING = 1e-9  # of the largest acceleration: none
_AMPLE = 1e-2  # what is more is enough, of forces and of what they do: no turn of it is looked for


class ContactForces(ContactMode):
    """The forces of the contacts of a system."""

    def freedom(self, here: ContactState, k: int, v: Array) -> float:
        """The share of a normal force that frees a sliding point of its contact, with the friction that it has; one
        without friction, negative if friction pushes the point deeper."""
        only = np.arange(len(self.closed)) == k
        S, E = self.rows(here, v, ~only & only, only, np.zeros(self.n, bool))
        return min(float(here.answers(S, E)[0, 0] / here.answers(S, S.T)[0, 0]), _AMPLE) - ROUNDING

    def margin(self, look: Look) -> float:
        """The distance of the forces of the mode from their bounds; negative if no forces hold it."""
        least = self._slackest(look.touching, look.reaction)
        if least >= 0.0:
            return min(least, _AMPLE)
        here = look.touching
        S, E = self.rows(here, look.x[self.columns], self.closed & ~self.slips, self.slips, self.held)
        if rank(here.G @ here.A.T @ E) == len(S):
            return least
        r, after = self._redistributed(look)
        if np.isnan(after).any():
            return least
        missing = np.abs(S @ after).max() / (1.0 + np.abs(here.A @ here.pushed(r)).max())
        return ROUNDING / 10 - float(missing) if missing > ROUNDING / 10 else ROUNDING

    def _slackest(self, here: ContactState, r: Array) -> float:
        forces = here.contacts(r)
        sticks = self.closed & ~self.slips
        within = here.friction * forces[:, 2] - np.hypot(forces[:, 0], forces[:, 1])
        joints = r[:self.n][self.held]
        return float(np.concatenate([forces[self.closed & ~self.soft, 2], within[sticks],
                                     joints - self._lower[self.held], self._upper[self.held] - joints]).min(
                                         initial=_AMPLE * self.scale) / self.scale)

    def _redistributed(self, look: Look) -> tuple[Array, Array]:
        """The forces (n + 3 c) within their bounds that are found from those of the mode, and the accelerations of all
        rows with them."""
        free = look.moving.free(look.t, look.y)[self.columns]
        r, after = self.solved(look.touching, look.x[self.columns], free, self.closed & ~self.slips, self.slips,
                                self.held, look.reaction + self.shifted)
        self.shifted = np.where(np.isnan(after).any(), 0.0, r - look.reaction)
        return r, after

    def solved(self, here: ContactState, v: Array, a: Array, sticks: Array, slips: Array, held: Array,
                start: Array) -> tuple[Array, Array]:
        """The forces (n + 3 c) of the contact problem for accelerations, those without forces being `a` (n), and the
        accelerations of all rows with them, NaN if none are found."""
        springs = self.springs(here, v, sticks | slips, slips)
        S, E = self.rows(here, v, sticks, slips, held)
        free = here.A @ (a + here.pushed(springs)) + here.drift
        bounds = [np.concatenate([np.full(int((slips & ~self.soft).sum()), low), bound[held]])
                  for low, bound in ((0.0, self._lower), (ANY, self._upper))]
        given = ContactRows(here.answers(S, E), S @ free, here.friction[sticks], *np.clip(bounds, -ANY, ANY))
        found, forces = with_springs(given, S @ start, springs[self.n + 2::3][sticks], self.soft[sticks])
        r = springs + E @ forces
        is_law = found.residual <= 1e3 * max(found.tolerance, 1e-12)
        return r, np.where(is_law, free + here.A @ here.pushed(E @ forces), np.nan)

    def forces_shown(self, look: Look) -> Array:
        """The forces (3 c) of contacts, within their cones."""
        r = look.reaction
        if self.closed.any() and self._slackest(look.touching, r) < -ROUNDING:
            found, after = self._redistributed(look)
            r = r if np.isnan(after).any() else found
        return r[self.n:]
