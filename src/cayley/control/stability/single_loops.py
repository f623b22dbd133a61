"""Pictures of a linear model of one input and one output: its frequency response, with the margins of the loop u = -y
that is closed around it, and its root locus, where its poles go when u = -k y.

    G(i w), of a discrete model G(exp(i w dt)) below pi / dt        poles of A - k B (1 + k D)^-1 C
The loop has a phase margin, 180 degrees and the phase where |G| is one, and a gain margin, 1 / |G| where the phase is
-180 degrees: how much delay, and what factor, it may have more before it is unstable, if it is stable. The branches of
the locus start at the poles and end at the zeros or leave for infinity. Poles that the input does not reach, or the
output does not see, stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigvals
from scipy.optimize import brentq, linear_sum_assignment

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, SingularityError, shown
from cayley.extras import optional_imports
from cayley.showing import Pictured, brief, shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.control.stability.linear_model import LinearModel

_GREY = "#8793a1"
_FREQUENCIES = 800
_SAME = 1e-7
_NEAR = 1e-3  # the boundary: zeros of rounded numbers are beside it
_INFINITE = 1e12
_GAINS = 400
_ON_BOUNDARY = 1e-11  # of the greatest pole


@dataclass(frozen=True, eq=False)
class Bode(Pictured):
    """The response (k) at frequencies w (k) [rad/s]; made by `LinearModel.bode`."""

    model: LinearModel
    frequency: Array
    response: Array

    __repr__ = brief

    @property
    def decibels(self) -> Array:
        """The amplitude, 20 log10 |G|."""
        return np.asarray(20 * np.log10(np.abs(self.response)))

    @property
    def phase(self) -> Array:
        """The phase in degrees, without jumps of a turn."""
        return np.degrees(np.unwrap(np.angle(self.response)))

    @property
    def peak(self) -> float:
        """The greatest amplitude among these frequencies."""
        return np.abs(self.response).max()

    @property
    def phase_margins(self) -> Array:
        """Degrees, and the frequencies [rad/s] at which |G| is one: (j, 2), the least first; empty if it never is."""
        crossed = self._crossings(lambda w: float(np.log(abs(self._at(w)))))
        found = [(np.degrees(np.angle(-self._at(w))), w) for w in crossed]
        return np.array(sorted(found)).reshape(-1, 2)

    @property
    def gain_margins(self) -> Array:
        """Factors, and the frequencies [rad/s] at which G is real and negative: (j, 2), the nearest to one first. Zero
        is one of them, if G is negative there, and of a discrete model the highest frequency, pi / dt."""
        places = [*self._crossings(self._imaginary), *filter(self._is_real, real_frequencies(self.model))]
        found: list[tuple[float, float]] = []
        for w in sorted(places):
            here = response_at(self.model, w)
            if np.isfinite(here) and here.real < 0 and (not found or w - found[-1][1] > _SAME * w):
                found.append((1 / abs(here), w))
        return np.array(sorted(found, key=lambda pair: abs(np.log(pair[0])))).reshape(-1, 2)

    def _imaginary(self, w: float) -> float:
        return float((self._at(w) / abs(self._at(w))).imag)

    def _is_real(self, w: float) -> bool:
        here = response_at(self.model, w)
        return abs(here.imag) <= _SAME * abs(here)

    def _at(self, w: float) -> complex:
        return complex(self.model.transfer(_on_boundary(w, self.model.dt))[0, 0])

    def _crossings(self, value: Callable[[float], float]) -> list[float]:
        values = np.array([value(w) for w in self.frequency])
        places = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
        return [float(brentq(value, self.frequency[k], self.frequency[k + 1], xtol=1e-13)) for k in places]

    def plot(self) -> Figure:
        """Amplitude and phase, with the margins marked."""
        with optional_imports():
            import matplotlib.pyplot as plt
            from matplotlib.ticker import MultipleLocator
        figure, (amplitude, phase) = plt.subplots(2, 1, sharex=True, layout="constrained", figsize=(7.0, 5.0))
        amplitude.semilogx(self.frequency, self.decibels, color="C0")
        phase.semilogx(self.frequency, self.phase, color="C0")
        amplitude.axhline(0.0, color=_GREY, linewidth=0.8)
        for half_turn in range(int(self.phase.min() // 360), int(self.phase.max() // 360) + 1):
            if self.phase.min() < half_turn * 360 + 180 < self.phase.max():
                phase.axhline(half_turn * 360 + 180, color=_GREY, linewidth=0.8)
        for degrees, w in self.phase_margins[:1]:
            here = np.interp(w, self.frequency, self.phase)
            phase.plot([w, w], [here - degrees, here], color="C3", linewidth=1.6)
            phase.annotate(f"{degrees:.1f}° at {w:.3g} rad/s", (w, here), textcoords="offset points", xytext=(6, 4),
                           color="C3", fontsize=9)
        for factor, w in self.gain_margins[:1]:
            level = -20 * np.log10(factor)
            amplitude.plot([w, w], [level, 0.0], color="C3", linewidth=1.6)
            amplitude.annotate(f"x {factor:.4g} at {w:.3g} rad/s", (w, level), textcoords="offset points",
                               xytext=(6, 4), color="C3", fontsize=9)
        amplitude.set(ylabel="amplitude [dB]", title=f"{self.model.name}: {self.model.inputs[0]} to "
                      f"{self.model.outputs[0]}")
        phase.set(ylabel="phase [°]", xlabel="frequency [rad/s]")
        phase.yaxis.set_major_locator(MultipleLocator(45 if np.ptp(self.phase) < 400 else 90))
        for ax in (amplitude, phase):
            ax.grid(which="both", color="#e3e7ec", linewidth=0.6)
            ax.margins(x=0.0, y=0.12)
        return shown_once(figure)


def bode(model: LinearModel, frequencies: ArrayLike | None = None) -> Bode:
    """The response of a model of one input and one output."""
    w = _default_frequencies(model) if frequencies is None else np.atleast_1d(np.asarray(frequencies, dtype=float))
    if not _rise(w) or w[0] <= 0:
        raise SignatureError(f"frequencies must be positive and rise [rad/s], not {shown(frequencies)}")
    if model.dt is not None and w[-1] > np.pi / model.dt * (1 + 1e-12):
        raise SignatureError(f"a model with steps of {model.dt} s has frequencies up to {np.pi / model.dt:.6g} rad/s")
    with np.errstate(all="ignore"):
        return Bode(model, w, model.transfer(_on_boundary(w, model.dt))[..., 0, 0])


def response_at(model: LinearModel, w: float) -> complex:
    """G at one frequency, which may be zero; infinite at a pole."""
    with np.errstate(all="ignore"):
        try:
            found = complex(model.transfer(_on_boundary(w, model.dt))[0, 0])
        except np.linalg.LinAlgError:
            return complex(np.inf)
    return found if np.isfinite(found) and abs(found) < _INFINITE else complex(np.inf)


def real_frequencies(model: LinearModel) -> list[float]:
    """The frequencies [rad/s] from zero on, of a discrete model up to pi / dt, at which G may be real: its ends, and
    the zeros of G(s) - G(-s), or G(z) - G(1/z), that lie on the boundary; of these some may be none.

        s x1 = A x1 + B u,  -s x2 = A x2 + B u,  C x1 = C x2        z x1 = A x1 + B u,  x2 = z (A x2 + B u),  ..."""
    A, B, C, dt = model.A, model.B, model.C, model.dt
    n = len(A)
    one, none, aside = np.eye(n), np.zeros((n, n)), np.zeros((n, 1))
    mirrored = [none, A, B] if dt is None else [none, one, aside]
    moved = [none, -one, aside] if dt is None else [none, A, B]
    left = np.block([[A, none, B], mirrored, [C, -C, np.zeros((1, 1))]])
    right = np.block([[one, none, aside], moved, [np.zeros((1, 2 * n + 1))]])
    zeros = eigvals(left, right)
    zeros = zeros[np.isfinite(zeros)]
    if dt is None:
        found = np.abs(zeros.imag)[np.abs(zeros.real) <= _NEAR * np.abs(zeros)]
    else:
        found = np.abs(np.angle(zeros))[np.abs(np.abs(zeros) - 1.0) <= _NEAR] / dt
    ends = [0.0] if dt is None else [0.0, np.pi / dt]
    inner = [_refined(model, w) for w in found]
    return sorted({*ends, *[w for w in inner if w > 0.0 and (dt is None or w < np.pi / dt * (1.0 - _SAME))]})


def _refined(model: LinearModel, w: float) -> float:
    """A frequency near this one at which the phase is that of a real number, if there is one: by the secant."""
    def imaginary(at: float) -> float:
        here = response_at(model, at)
        return here.imag / abs(here) if here and np.isfinite(here) else np.nan

    before, now = w * (1.0 + 1e-6), w
    for _ in range(8):
        values = imaginary(before), imaginary(now)
        step = values[1] * (now - before) / (values[1] - values[0]) if values[1] != values[0] else 0.0
        if not np.isfinite(step) or abs(step) > _NEAR * w or step == 0.0:
            return now if np.isfinite(step) and step == 0.0 else w
        before, now = now, now - step
    return now


def _on_boundary(w: ArrayLike, dt: float | None) -> Array:
    return 1j * np.asarray(w) if dt is None else np.exp(1j * np.asarray(w) * dt)


def _amplitude(model: LinearModel, w: float) -> float:
    return float(np.abs(model.transfer(_on_boundary(w, model.dt))[0, 0]))


def _default_frequencies(model: LinearModel) -> Array:
    """From well below to well above where something happens."""
    marks = np.concatenate([model.poles, model.zeros]).astype(complex)
    if model.dt is not None:
        marks = np.log(marks[np.abs(marks) > 1e-6]) / model.dt
    sizes = np.abs(marks)[np.abs(marks) > 1e-9 * np.abs(marks).max(initial=0.0)]
    low, high = (sizes.min() / 30, sizes.max() * 30) if len(sizes) else (0.01, 100.0)
    top = high if model.dt is None else np.pi / model.dt
    low = min(low, top / 100)
    if len(sizes) < len(marks):  # at the origin: as slow as it takes to see where the amplitude is one
        low = next((w for w in low * 10.0 ** -np.arange(9.0) if _amplitude(model, w) > 1), low)
    even = np.geomspace(low, top, _FREQUENCIES)
    resonances = np.abs(marks.imag)[(marks.imag > even[0]) & (marks.imag < top)]
    # where little damping makes peaks that even steps would miss
    near = np.concatenate([w + np.outer([-1, 1], np.geomspace(1e-4, 0.3, 25)).ravel() * w for w in resonances] or [[]])
    return np.unique(np.concatenate([even, resonances * (1 + 1e-9), near[(near > even[0]) & (near < top)]]))


def _rise(values: Array) -> bool:
    return values.ndim == 1 and len(values) > 0 and bool(np.isfinite(values).all() and (np.diff(values) > 0).all())


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
        with optional_imports():
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
    k = _default_gains(model) if gains is None else np.atleast_1d(np.asarray(gains, dtype=float))
    if not _rise(k):
        raise SignatureError(f"gains must be finite numbers that rise, not {shown(gains)}")
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
    """True for a stable loop; with poles on the boundary to rounding it is not."""
    size = 1.0 if model.dt is not None else float(np.abs(_poles(model, gain)).max(initial=1e-300))
    return _worst(model, gain) < -_ON_BOUNDARY * size


def _between(low: float, high: float) -> float:
    """A gain between two."""
    if high == np.inf:
        return 2.0 * low if low > 0.0 else low + 1.0
    return float(np.sqrt(low * high)) if low > 0.0 else (low + high) / 2.0


def _default_gains(model: LinearModel) -> Array:
    """From gains that move nothing to such that the poles are near the zeros or far away."""
    poles = np.linalg.eigvals(model.A)
    size = max(float(np.abs(poles).max(initial=0.0)), 1e-3)
    at = np.abs(model.transfer(size * np.exp(1j * np.linspace(0.1, 3.0, 7)))[..., 0, 0])
    typical = 1 / float(np.median(at[at > 0])) if (at > 0).any() else 1.0
    return np.concatenate([[0.0], np.geomspace(1e-4 * typical, 1e3 * typical, _GAINS)])
