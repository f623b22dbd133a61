"""Where the poles go when the output of a linear model is fed back with a growing gain: u = -k y.

    poles of A - k B (1 + k D)^-1 C
The branches start at the poles and end at the zeros or leave for infinity. Poles that the input does not reach, or the
output does not see, stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq, linear_sum_assignment

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.stability.bode import real_frequencies, response_at
from cayley.errors import SignatureError, SingularityError
from cayley.showing import Pictured, brief, shown_once
from cayley.wording import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.control.stability.linear_model import LinearModel

_GREY = "#8793a1"
_POINTS = 400
_ON_BOUNDARY = 1e-11  # of the greatest pole


@dataclass(frozen=True, eq=False)
class RootLocus(Pictured):
    """Poles (k, n) at gains (k), each column a branch; made by `LinearModel.root_locus`."""

    model: LinearModel
    gains: Array
    poles: Array

    __repr__ = brief

    @property
    def stable_gains(self) -> list[tuple[float, float]]:
        """The intervals of gains, from the first of these on, with which the loop is stable; their ends are where poles
        cross, infinity where all greater gains are stable."""
        marks = self._marks()
        within = [_between(low, high) for low, high in pairwise([*marks, np.inf])]
        are_stable = [_is_stable(self.model, k) for k in within]
        found: list[tuple[float, float]] = []
        for place, is_stable in enumerate(are_stable):
            if not is_stable:
                continue
            low, high = ((marks[k] if k < len(marks) else np.inf) for k in (place, place + 1))
            if place and not are_stable[place - 1]:
                low = self._crossing(low, within[place - 1], within[place])
            if place + 1 < len(within) and not are_stable[place + 1]:
                high = self._crossing(high, within[place], within[place + 1])
            goes_on = bool(found) and are_stable[place - 1] and self._is_stable_at(low)
            found = [*found[:-1], (found[-1][0], high)] if goes_on else [*found, (low, high)]
        return found

    def _marks(self) -> list[float]:
        """The first gain, and those above it at which poles may cross, or leave through infinity."""
        responses = np.array([response_at(self.model, w) for w in real_frequencies(self.model)])
        responses = responses[np.isfinite(responses) & (responses.real != 0.0)]
        through = self.model.D[0, 0]
        marks = [*(-1.0 / responses.real), *([-1.0 / through] if through else [])]
        first = float(self.gains[0])
        return [first, *sorted({float(k) for k in marks if k > first})]

    def _crossing(self, mark: float, low: float, high: float) -> float:
        """The gain near a mark at which poles cross, between two of which one is stable."""
        through = self.model.D[0, 0]
        if through and abs(1.0 + mark * through) < 1e-9:
            return mark
        worst = partial(_worst, self.model)
        if np.sign(worst(low)) * np.sign(worst(high)) >= 0.0:
            return mark
        return float(brentq(worst, low, high, xtol=1e-14 * abs(mark) + 1e-300, rtol=1e-14))

    def _is_stable_at(self, gain: float) -> bool:
        return 1.0 + gain * self.model.D[0, 0] != 0.0 and _is_stable(self.model, gain)

    def plot(self) -> Figure:
        """The branches, poles as crosses, zeros as circles, and what is stable in white."""
        import matplotlib.pyplot as plt
        figure, ax = plt.subplots(layout="constrained", figsize=(6.4, 5.2))
        starts = _poles(self.model, 0.0)
        zeros = self.model.zeros
        marked = np.concatenate([starts, zeros, [0.0 if self.model.dt is None else 1.0 + 0j]])
        reach = 2.2 * max(float(np.abs(marked - marked.mean()).max()), 1e-9)
        for branch in self.poles.T:
            ax.plot(branch.real, branch.imag, linewidth=1.5)
        ax.plot(starts.real, starts.imag, "x", color="#333333", markersize=8, label="poles")
        if len(zeros):
            ax.plot(zeros.real, zeros.imag, "o", color="#333333", fillstyle="none", markersize=8, label="zeros")
        centre = float(marked.real.mean())
        ax.set(xlim=(centre - reach, centre + reach), ylim=(-reach, reach), xlabel="real part", ylabel="imaginary part")
        if self.model.dt is None:
            ax.axvspan(0.0, max(centre + reach, 1e-9), color="#f6dcdc", zorder=0)
        else:
            turn = np.linspace(0, 2 * np.pi, 200)
            ax.set_facecolor("#f6dcdc")
            ax.fill(np.cos(turn), np.sin(turn), color="white", zorder=0)
            ax.set_aspect("equal", adjustable="datalim")
        ends = ", ".join(f"{low:.4g} to {high:.4g}" for low, high in self.stable_gains) or "none"
        ax.set_title(f"{self.model.name}: stable gains {ends}", fontsize=10, loc="left")
        ax.axhline(0.0, color=_GREY, linewidth=0.6)
        ax.legend(frameon=False, fontsize=9)
        return shown_once(figure)


def root_locus(model: LinearModel, gains: ArrayLike | None = None) -> RootLocus:
    """The branches of a model of one input and one output."""
    k = _default(model) if gains is None else np.atleast_1d(np.asarray(gains, dtype=float))
    if k.ndim != 1 or not len(k) or not np.isfinite(k).all() or not (np.diff(k) > 0).all():
        raise SignatureError(f"gains are finite numbers that rise, not {shown(gains)}")
    rows = [_poles(model, k[0])]
    for gain in k[1:]:
        found = _poles(model, gain)
        _, order = linear_sum_assignment(np.abs(rows[-1][:, None] - found[None]))
        rows.append(found[order])
    return RootLocus(model, k, np.array(rows))


def _poles(model: LinearModel, gain: float) -> Array:
    through = 1 + gain * model.D[0, 0]
    if through == 0:
        raise SingularityError(f"with the gain {gain:.6g} the loop is algebraic: 1 + k D is zero")
    return np.linalg.eigvals(model.A - gain / through * model.B @ model.C)


def _worst(model: LinearModel, gain: float) -> float:
    poles = _poles(model, gain)
    return float(poles.real.max(initial=-np.inf) if model.dt is None else np.abs(poles).max(initial=0.0) - 1)


def _is_stable(model: LinearModel, gain: float) -> bool:
    """With poles on the boundary to rounding it is not."""
    size = 1.0 if model.dt is not None else float(np.abs(_poles(model, gain)).max(initial=1e-300))
    return _worst(model, gain) < -_ON_BOUNDARY * size


def _between(low: float, high: float) -> float:
    """A gain between two."""
    if high == np.inf:
        return 2.0 * low if low > 0.0 else low + 1.0
    return float(np.sqrt(low * high)) if low > 0.0 else (low + high) / 2.0


def _default(model: LinearModel) -> Array:
    """From gains that move nothing to such that the poles are near the zeros or far away."""
    poles = np.linalg.eigvals(model.A)
    size = max(float(np.abs(poles).max(initial=0.0)), 1e-3)
    at = np.abs(model.transfer(size * np.exp(1j * np.linspace(0.1, 3.0, 7)))[..., 0, 0])
    typical = 1 / float(np.median(at[at > 0])) if (at > 0).any() else 1.0
    return np.concatenate([[0.0], np.geomspace(1e-4 * typical, 1e3 * typical, _POINTS)])
