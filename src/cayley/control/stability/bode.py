"""The frequency response of a linear model, and the margins of the loop that is closed around it.

    G(i w), of a discrete model G(exp(i w dt)) below pi / dt
With u = -y the loop has a phase margin, 180 degrees and the phase where |G| is one, and a gain margin, 1 / |G| where
the phase is -180 degrees: how much delay, and what factor, it may have more before it is unstable, if it is stable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigvals
from scipy.optimize import brentq

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.showing import Pictured, brief, shown_once
from cayley.wording import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.control.stability.linear_model import LinearModel

_POINTS = 800
_SAME = 1e-7
_NEAR = 1e-3  # the boundary: zeros of rounded numbers are beside it
_INFINITE = 1e12


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
        """In degrees, without jumps of a turn."""
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

    def _crossings(self, value: object) -> list[float]:
        assert callable(value)
        values = np.array([value(w) for w in self.frequency])
        places = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
        return [float(brentq(value, self.frequency[k], self.frequency[k + 1], xtol=1e-13)) for k in places]

    def plot(self) -> Figure:
        """Amplitude and phase, with the margins marked."""
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


_GREY = "#8793a1"


def bode(model: LinearModel, frequencies: ArrayLike | None = None) -> Bode:
    """The response of a model of one input and one output."""
    w = _default(model) if frequencies is None else np.atleast_1d(np.asarray(frequencies, dtype=float))
    if w.ndim != 1 or not len(w) or not (np.isfinite(w) & (w > 0)).all() or not (np.diff(w) > 0).all():
        raise SignatureError(f"frequencies are positive and rise [rad/s], not {shown(frequencies)}")
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

        s x1 = A x1 + B u,  -s x2 = A x2 + B u,  C x1 = C x2        z x1 = A x1 + B u,  x2 = z (A x2 + B u),  ...
    """
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


def _default(model: LinearModel) -> Array:
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
    even = np.geomspace(low, top, _POINTS)
    resonances = np.abs(marks.imag)[(marks.imag > even[0]) & (marks.imag < top)]
    # where little damping makes peaks that even steps would miss
    near = np.concatenate([w + np.outer([-1, 1], np.geomspace(1e-4, 0.3, 25)).ravel() * w for w in resonances] or [[]])
    return np.unique(np.concatenate([even, resonances * (1 + 1e-9), near[(near > even[0]) & (near < top)]]))
