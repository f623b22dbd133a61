"""The region of attraction in a slice of the state space, by simulation of every state of a grid.

    converged    the state comes as near to the equilibrium as is asked for, and nearer after that
    left         it goes beyond what the slice is measured by, and what the linear model makes of it, or is no number
    elsewhere    neither in the time it was given: another equilibrium, a cycle, or not there yet
A picture of simulations is no proof; beside it stands what a Lyapunov function says: the greatest set V < c of the
slice in which V falls, and the greatest in which everything has converged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.linalg import expm

from cayley.compiler.typing import Array, is_finite_number
from cayley.control.stability.error_dynamics import Dynamics, ErrorDynamics, Values, error_dynamics
from cayley.control.stability.invariant_sets import CandidateLike, LyapunovCandidate, candidate
from cayley.control.stability.linear_stability import lyapunov_matrix, of_error_dynamics
from cayley.errors import SignatureError, UnsupportedError, did_you_mean, shown
from cayley.extras import optional_imports
from cayley.progress import PatientBar
from cayley.showing import Pictured, brief, shown_once
from cayley.systems import StateLike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONVERGED, ELSEWHERE, LEFT = 1, 0, -1
_PIECE = 50_000  # states at once
_TURNS = 20  # pieces of time, after each of which what is decided is left alone
_RAYS = 1440
_ALONG = 250
_SETTLED = 12.0  # time constants of the slowest pole
_LOOKS = 4000  # along the linear model
_FINE = 0.25  # of the fastest pole, a step
_COLOURS = {-1: "#e8a598", 0: "#f2e3b8", 1: "#9fc9a8"}
_WORDS = {1: "converged", 0: "elsewhere", -1: "left"}


class Levels(NamedTuple):
    """The levels of V: below `falling` V' is negative, below `converging` everything has converged; both within the
    slice."""

    falling: float
    converging: float


@dataclass(frozen=True, eq=False)
class RegionOfAttraction(Pictured):
    """The outcome of each state of a grid; made by `region_of_attraction`."""

    about: ErrorDynamics
    labels: tuple[str, str]
    """Of the axes, horizontal and vertical."""
    horizontal: Array
    vertical: Array
    """Displacements (w) and (h)."""
    outcome: Array
    """(h, w): 1 converged, 0 elsewhere, -1 left."""
    candidate: LyapunovCandidate

    __repr__ = brief

    @property
    def converged(self) -> Array:
        return np.asarray(self.outcome == CONVERGED)

    @property
    def share(self) -> float:
        """The part of the states that converged."""
        return float(self.converged.mean())

    @cached_property
    def displacements(self) -> Array:
        """All states of the grid (h, w, n)."""
        return _grid(self.about, self.labels, self.horizontal, self.vertical)

    @cached_property
    def levels(self) -> Levels:
        """The levels of the candidate V in the slice."""
        V = self.candidate.value(self.displacements)
        border = np.ones(V.shape, dtype=bool)
        border[1:-1, 1:-1] = False
        inside = float(V[border].min())
        d = np.concatenate([self.displacements.reshape(-1, self.about.size), self._along_rays()])
        rises = self.candidate.rate(d) > 1e-12 * self.candidate.size_of_rate(d)
        return Levels(float(self.candidate.value(d[rises]).min(initial=inside)),
                      float(V[~self.converged].min(initial=inside)))

    def _along_rays(self) -> Array:
        """States of the slice nearer and nearer to the equilibrium, where the grid is too wide."""
        angle = np.linspace(0, 2 * np.pi, _RAYS, endpoint=False)
        ends = np.array([np.abs(self.horizontal).max(), np.abs(self.vertical).max()])
        rays = np.geomspace(1e-3, 1.0, _ALONG)[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1) * ends
        d = np.zeros((_ALONG * _RAYS, self.about.size))
        d[:, [self.about.labels.index(label) for label in self.labels]] = rays.reshape(-1, 2)
        return d

    def plot(self) -> Figure:
        """The states coloured by their outcome, and the level sets of V in which it falls and in which all converge."""
        with optional_imports():
            import matplotlib.pyplot as plt
            from matplotlib.colors import ListedColormap
            from matplotlib.lines import Line2D
            from matplotlib.patches import Patch
        figure, ax = plt.subplots(layout="constrained", figsize=(6.8, 5.4))
        ax.pcolormesh(self.horizontal, self.vertical, self.outcome, cmap=ListedColormap(list(_COLOURS.values())),
                      vmin=-1, vmax=1, shading="nearest", rasterized=True)
        V = self.candidate.value(self.displacements)
        handles: list[Patch | Line2D] = [Patch(color=_COLOURS[k], label=_WORDS[k]) for k in _COLOURS
                                         if (self.outcome == k).any()]
        styles: tuple[tuple[float, Literal["-", "--"], str], ...] = (
            (self.levels.falling, "-", "V falls"), (self.levels.converging, "--", "all converges"))
        for level, style, words in styles:
            if np.isfinite(level) and V.min() < level < V.max():
                ax.contour(self.horizontal, self.vertical, V, levels=[level], colors="#333333", linewidths=1.4,
                           linestyles=style)
                handles.append(Line2D([], [], color="#333333", linestyle=style, label=f"V < {level:.3g}: {words}"))
        ax.plot(0.0, 0.0, "+", color="#333333", markersize=9)
        ax.set(xlabel=f"{self.labels[0]} from the equilibrium", ylabel=f"{self.labels[1]} from the equilibrium")
        ax.set_title(f"{self.about.name}: {self.outcome.size} states, {100 * self.share:.1f} % converge", fontsize=10,
                     loc="left")
        figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
        return shown_once(figure)


def region_of_attraction(dynamics: Dynamics, at: StateLike | None = None, *,
                         slice: Mapping[str, tuple[float, float]], inputs: Values = None, parameters: Values = None,
                         discrete: bool = False, V: CandidateLike | None = None, shape: tuple[int, int] = (400, 400),
                         until: float | None = None, step: float | None = None, near: float = 0.02, far: float = 10.0,
                         angles: Sequence[str] = (), threads: int = 1, progress: bool = True) -> RegionOfAttraction:
    """The outcomes of the states of a grid (h, w) about an equilibrium that attracts; `shape=(1000, 1000)` is a
    million.

    `slice`: two labels with the displacements (low, high) they run through, horizontal first; all other entries are at
    the equilibrium. `until` and `step` [s; of steps, their number], if not given, follow from the slowest and the
    fastest pole. A state converges if it comes as near as `near` times the slice and is there again a twentieth of the
    time later, with a smaller V. It leaves if it goes as far as `far` times the slice, or `far` times as far as the
    linear model predicts. `angles`: labels that are counted modulo a turn. `V`: a candidate for the level sets, by
    default d^T P d of the linear model.

    >>> import sympy as sp
    >>> x, v = sp.symbols("x v")
    >>> backwards = {x: -v, v: x + (x**2 - 1) * v}  # Van der Pol: what is inside its cycle converges
    >>> region = region_of_attraction(backwards, slice={"x": (-3.0, 3.0), "v": (-3.0, 3.0)}, shape=(60, 60))
    >>> round(region.share, 2), region.levels.falling < region.levels.converging
    (0.37, True)
    """
    about = error_dynamics(dynamics, at, inputs=inputs, parameters=parameters, discrete=discrete)
    if about.curved:
        raise UnsupportedError(f"regions of attraction are for states that are vectors; {', '.join(about.curved)} of "
                               f"{about.name} is on a curved manifold")
    verdict = of_error_dynamics(about)
    if verdict.nature == "unstable":
        raise SignatureError(f"nothing is attracted: {verdict.sentence}")
    if V is None and verdict.nature != "asymptotically stable":
        raise SignatureError(f"the linear model of {about.name} has no Lyapunov function (it is {verdict.nature}): "
                             "give a candidate V, and `until`")
    tried = candidate(about, lyapunov_matrix(about.A, discrete=discrete) if V is None else V)
    labels, axes = _axes(about, slice, shape)
    duration, h = _times(about, verdict.poles, until, step)
    grid = _grid(about, labels, *axes)
    reach = np.array([max(map(abs, slice[label])) for label in labels])
    places = [about.labels.index(label) for label in labels]
    scale = np.full(about.size, reach.max())
    scale[places] = reach
    if not is_finite_number(near) or not is_finite_number(far) or not 0 < near < far:
        raise SignatureError(f"near must be less than far, shares of the slice, not {shown(near)} and {shown(far)}")
    for label in angles:
        if label not in about.labels:
            raise SignatureError(f"{about.name} has no entry {label!r}{did_you_mean(label, about.labels)}")
    turned = np.array([label in angles for label in about.labels])
    reached = np.zeros(about.size)
    reached[places] = reach
    beyond = far * np.maximum(scale, _overshoot(about, reached, duration, h))
    followed = _Followed(about, tried, duration, h, near * scale, beyond, turned, threads)
    return RegionOfAttraction(about, labels, *axes, followed.outcomes(grid.reshape(-1, about.size), progress).reshape(
        grid.shape[:-1]), tried)


class _Followed:
    """States, followed until it is decided what becomes of them."""

    def __init__(self, about: ErrorDynamics, V: LyapunovCandidate, duration: float, h: float, near: Array, far: Array,
                 turned: Array, threads: int) -> None:
        self.about = about
        self.V = V
        self.near = near
        self.far = far
        self.turned = turned
        self.moved = about.stepper(h, max(1, int(np.ceil(duration / h / _TURNS))), threads)

    def outcomes(self, d: Array, progress: bool) -> Array:
        found = np.full(len(d), ELSEWHERE, dtype=np.int8)
        with PatientBar(f"{self.about.name}: {len(d)} states", len(d), shown=progress) as bar:
            for first in range(0, len(d), _PIECE):
                found[first:first + _PIECE] = self._piece(d[first:first + _PIECE])
                bar.reached(min(first + _PIECE, len(d)))
        return found

    def _piece(self, d: Array) -> Array:
        found = np.full(len(d), ELSEWHERE, dtype=np.int8)
        moving = np.arange(len(d))
        before = np.full(len(d), np.inf)  # V at the look before, of those that were near
        for turn in range(_TURNS):
            if not len(moving):
                break
            with np.errstate(all="ignore"):
                d = self.moved(d)
                apart = np.where(self.turned, d - 2 * np.pi * np.round(d / (2 * np.pi)), d)
                close = (np.abs(apart) <= self.near).all(axis=-1)
                height = np.where(close, self.V.value(apart), np.inf)
                arrived = close & ((height <= before) & np.isfinite(before) | (turn == _TURNS - 1))
                gone = ~(np.abs(apart) <= self.far).all(axis=-1)
            found[moving[arrived]] = CONVERGED
            found[moving[gone]] = LEFT
            still = ~(arrived | gone)
            moving = moving[still]
            d = d[still]
            before = height[still]
        return found


def _axes(about: ErrorDynamics, slice: Mapping[str, tuple[float, float]],
          shape: tuple[int, int]) -> tuple[tuple[str, str], tuple[Array, Array]]:
    if not isinstance(slice, Mapping):
        raise SignatureError(f"a slice runs through two of {', '.join(about.labels)}, each from low to high, not "
                             f"{shown(slice)}")
    if len(slice) != 2 or any(label not in about.labels for label in slice):
        raise SignatureError(f"a slice runs through two of {', '.join(about.labels)}, not {', '.join(slice)}")
    if not isinstance(shape, (tuple, list)) or len(shape) != 2 or not all(
            isinstance(size, (int, np.integer)) and size >= 3 for size in shape):
        raise SignatureError(f"a grid must have at least 3 states along each axis, (h, w), not {shown(shape)}")
    for label, ends in slice.items():
        if len(ends) != 2 or not -np.inf < ends[0] < ends[1] < np.inf:
            raise SignatureError(f"the slice goes through {label!r} from low to high, not {shown(ends)}")
    first, second = slice
    return (first, second), (np.linspace(*slice[first], shape[1]), np.linspace(*slice[second], shape[0]))


def _overshoot(about: ErrorDynamics, reach: Array, duration: float, h: float) -> Array:
    """The largest displacements (n) of the linear model that begins within `reach` (n)."""
    step = max(h, duration / _LOOKS)
    move = np.linalg.matrix_power(about.A, max(int(step), 1)) if about.discrete else expm(step * about.A)
    here = np.eye(about.size)
    most = np.array(reach)
    with np.errstate(all="ignore"):
        for _ in range(int(duration / step)):
            here = move @ here
            most = np.fmax(most, np.abs(here) @ reach)
    return np.where(np.isfinite(most), most, reach)


def _grid(about: ErrorDynamics, labels: tuple[str, str], horizontal: Array, vertical: Array) -> Array:
    d = np.zeros((len(vertical), len(horizontal), about.size))
    d[..., about.labels.index(labels[0])] = horizontal
    d[..., about.labels.index(labels[1])] = vertical[:, None]
    return d


def _times(about: ErrorDynamics, poles: Array | None, until: float | None, step: float | None) -> tuple[float, float]:
    """The duration and the steps."""
    assert poles is not None
    wrong = f"a time to follow states, and its steps, are positive, not {shown(until)} and {shown(step)}"
    if any(time is not None and not is_finite_number(time) for time in (until, step)):
        raise SignatureError(wrong)
    slow = -np.log(np.abs(poles).max()) if about.discrete else -poles.real.max()
    if until is None and not slow > 0:
        raise SignatureError(f"the linear model of {about.name} does not settle: give the time `until` which to "
                             f"follow its states")
    duration = float(_SETTLED / slow) if until is None else until
    h = 1.0 if about.discrete else step or min(_FINE / max(float(np.abs(poles).max()), 1e-12), duration / _TURNS)
    if not 0 < duration < np.inf or not 0 < h <= duration:
        raise SignatureError(wrong)
    return duration, float(h)


