"""`Motion`: where something is at any time of an interval, and how fast it moves. A kind of motion is a frozen
dataclass with one text: `_text(t)` gives the position and its first three derivatives at one time, scalar-agnostic, so
that it is compiled, and becomes part of other kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import PlanningError, SignatureError, shown
from cayley.geometry.batch import numbers
from cayley.showing import Pictured, shown_briefly, shown_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cayley.systems.system import System
from importlib import import_module

from cayley.errors import CayleyError, UnsupportedError
from cayley.extras import optional_imports
from cayley.model.formats.array_file import read_arrays, write_arrays

Derivatives = tuple[Array, Array, Array, Array]
"""Position (..., nq), velocity, acceleration and jerk (..., nv)."""

ROUNDING = 1e-12  # of durations and positions
_REST = 1e-9  # of the greatest velocity
_POSITIONS = 1e-9  # of motions that go on from one another


def its(path: str) -> Any:  # noqa: ANN401 (a property of the type that the class of motions says)
    """A property that a motion has from one of its parts."""
    return property(attrgetter(path))


def held(t: Scalar, start: float, end: float) -> Scalar:
    """A time, or the end of the interval that it is beyond. At the ends themselves it moves, also when it is
    differentiated, as an extremum would not."""
    return where(t < start, start, where(t > end, end, t))


@shown_briefly
class MotionState(NamedTuple):
    """Configuration (..., nq), velocity (..., nv) and acceleration (..., nv): `arm.inverse_dynamics(*move(t))`."""

    q: Array
    qd: Array
    qdd: Array


class Motion(Pictured, ABC):
    """A motion from `start` to `end` [s] of nq coordinates with nv velocities. `move(t)` is the `MotionState` at a time
    or at an array of times, `move.jerk(t)` the third derivative. A time may be a symbol of a traced function: the
    motion becomes part of its kernel. Coordinates of an orientation are a unit quaternion, whose velocity is the
    angular velocity in body axes; `attitudes` says where in q they begin. Outside the interval a motion that begins or
    ends at rest stays where it is; for any other it is an error to ask, and NaN in a kernel. A time within rounding of
    an end is that end."""

    if TYPE_CHECKING:  # fields of some kinds, properties of others

        @property
        def start(self) -> float:
            """The time at which the motion begins [s]."""

        @property
        def end(self) -> float:
            """The time at which the motion ends [s]."""

        @property
        def breaks(self) -> Array:
            """The times (k) between which it is smooth, the ends among them."""

        @property
        def nq(self) -> int:
            """The number of coordinates."""

    @property
    def nv(self) -> int:
        """The number of velocities."""
        return self.nq - len(self.attitudes)

    @property
    def attitudes(self) -> tuple[int, ...]:
        """The places in q where unit quaternions begin."""
        return ()

    @abstractmethod
    def _text(self, t: Scalar) -> Derivatives:
        """The derivatives at one time of the interval, for all kinds of numbers."""

    def _values(self, t: Array) -> Derivatives:
        return self._kernel(t)

    def _positions(self, t: Array) -> Array:
        return self._values(t)[0]

    def _at(self, t: float) -> Derivatives:
        """The derivatives at one time of the interval, for those who ask again and again."""
        return self._values(np.asarray(t))

    @cached_property
    def _kernel(self) -> Kernel[Derivatives]:
        return kernel(f"()->({self.nq}),({self.nv}),({self.nv}),({self.nv})", name="motion", inputs=["t"],
                      outputs=["q", "qd", "qdd", "qddd"])(self._text)

    def __repr__(self) -> str:
        pieces = len(self.breaks) - 1
        return (f"<motion of {self.nq} coordinates from {self.start:g} to {self.end:g} s: {type(self).__name__}"
                f"{f' in {pieces} pieces' if pieces > 1 else ''}>")

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickling: the fields alone; kernels are made anew where it is loaded."""
        return {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]

    # At times

    @property
    def duration(self) -> float:
        return self.end - self.start

    def __call__(self, t: ArrayLike) -> MotionState:
        return MotionState(*self.derivatives(t)[:3])

    def position(self, t: ArrayLike, *_: object) -> Array:
        """The configuration (..., nq). As an input of a system, `inputs={"target": move.position}`, this and the others
        are called with the state as well, and do not look at it."""
        is_batch = isinstance(t, np.ndarray) and t.dtype == float and t.size > 1
        if is_batch and self.start <= t.min() and t.max() <= self.end:  # type: ignore[union-attr]
            return self._positions(t)  # type: ignore[arg-type]
        return self.derivatives(t)[0]

    def velocity(self, t: ArrayLike, *_: object) -> Array:
        """The velocity (..., nv)."""
        return self.derivatives(t)[1]

    def acceleration(self, t: ArrayLike, *_: object) -> Array:
        """The acceleration (..., nv)."""
        return self.derivatives(t)[2]

    def jerk(self, t: ArrayLike, *_: object) -> Array:
        """The third derivative (..., nv). Where it jumps, the value after the jump."""
        return self.derivatives(t)[3]

    def derivatives(self, t: ArrayLike) -> Derivatives:
        """Position, velocity, acceleration and jerk at a time, an array of times, or a symbol."""
        if isinstance(t, Node):
            return self._traced(t)
        if isinstance(t, np.ndarray) and t.dtype == object:
            parts = [self._traced(one) for one in t.flat]
            return tuple(np.stack(part).reshape(*t.shape, -1) for part in zip(*parts, strict=True))  # type: ignore[return-value]
        if type(t) is float and self.start <= t <= self.end:
            return self._at(t)
        times = numbers(t, "times")
        inside = np.clip(times, self.start, self.end)
        found = self._values(inside)
        if (inside == times).all():
            return found
        return self._with_rest(found, times, inside)

    def _with_rest(self, found: Derivatives, times: Array, inside: Array) -> Derivatives:
        """At rest before the start and after the end, or an error that says which time is not of this motion."""
        outside = np.abs(times - inside) > self._slack
        for is_at_rest, asked in zip(self.rests, (outside & (times < inside), outside & (times > inside)), strict=True):
            if not is_at_rest and asked.any():
                raise PlanningError(f"t = {times[asked][0]:g} is not of this motion, which is in [{self.start:g}, "
                                    f"{self.end:g}] and is not at rest at that end: use other times, or let it come "
                                    f"to rest")
        q, *rates = found
        return (q, *[np.where(outside[..., None], 0.0, rate) for rate in rates])  # type: ignore[return-value]

    def _traced(self, t: Scalar) -> Derivatives:
        before = t < self.start - self._slack
        after = t > self.end + self._slack
        q, *rates = self._text(held(t, self.start, self.end))
        beyond = [0.0 if at_rest else np.nan for at_rest in self.rests]
        kept = [where(before, beyond[0], where(after, beyond[1], rate)) for rate in rates]
        return (q + where(before, beyond[0], where(after, beyond[1], 0.0)), *kept)

    @cached_property
    def rests(self) -> tuple[bool, bool]:
        """True, or not, for the start and for the end: the motion is at rest there."""
        breaks = self.breaks[::1 + len(self.breaks) // 1000]
        inner = np.unique(np.clip([*np.linspace(self.start, self.end, 33), *(breaks[1:] + breaks[:-1]) / 2], self.start,
                                  self.end))
        q, qd, *_ = self._values(inner)
        speeds = np.abs(qd).max(axis=-1, initial=0.0)
        most = max(_REST * speeds.max(), ROUNDING * (1.0 + np.abs(q).max(initial=0.0)) / self.duration)
        return bool(speeds[0] <= most), bool(speeds[-1] <= most)

    @property
    def _slack(self) -> float:
        """The largest distance of a time outside that is still at the end itself [s]: what sums of many steps are wrong
        by."""
        return ROUNDING * self.duration + 4.0 * np.finfo(float).eps * max(abs(self.start), abs(self.end))

    @property
    def continuity(self) -> int:
        """The order of the highest continuous derivative, at most 3: 0 for positions, 1 for velocities, 2 for
        accelerations, and -1 if the positions jump."""
        inner = self.breaks[1:-1]
        if not len(inner):
            return 3
        left, right = self.beside(inner)
        goes_on = [np.abs(a - b).max() <= 1e-7 * (1.0 + np.abs(b).max()) for a, b in zip(left, right, strict=True)]
        goes_on[0] |= bool(self.attitudes)  # a quaternion and its negative are one rotation
        return [*goes_on, False].index(False) - 1

    def beside(self, times: Array) -> tuple[Derivatives, Derivatives]:
        """The derivatives just before and just after times (k) of the interval."""
        before, after = np.clip([times - self.aside, times + self.aside], self.start, self.end)
        return self._values(before), self._values(after)

    @property
    def aside(self) -> float:
        """The distance from a break at which a time is surely on one side of it [s]: a little more than rounding."""
        return 8.0 * float(np.finfo(float).eps) * max(abs(self.start), abs(self.end))

    # Other motions

    def shifted(self, start: float) -> Motion:
        """The same motion, beginning at another time."""
        return self._retimed(1.0, float(start))

    def scaled(self, *, duration: float) -> Motion:
        """The same path in another time, from the same start: velocities are as much smaller as it takes longer."""
        return self._retimed(self.duration / positive_seconds(duration), self.start)

    def reversed(self) -> Motion:
        """The same path from its end to its start, in the same interval."""
        return self._retimed(-1.0, self.start)

    def during(self, start: float, end: float) -> Motion:
        """The part of it between two times."""
        if not self.start <= start < end <= self.end:
            raise PlanningError(f"[{start:g}, {end:g}] is not within the motion, which is in [{self.start:g}, "
                                f"{self.end:g}]")
        from cayley.planning.sequence import Composed
        from cayley.planning.splines.polynomials import line
        return Composed(self, line(start, end, start, end))

    def then(self, *others: Motion) -> Motion:
        """The sequence of this motion and others; each must begin where the one before it ends."""
        from cayley.planning.sequence import in_sequence
        return in_sequence([self, *others])

    def blended(self, other: Motion, duration: float) -> Motion:
        """The sequence of this motion and another, with a rounded corner: for half of the duration before and after it
        they are replaced by polynomials of degree five that meet position, velocity and acceleration of both."""
        from cayley.planning.sequence import blended
        return blended(self, other, duration)

    def _retimed(self, rate: float, start: float) -> Motion:
        from cayley.planning.sequence import Composed
        from cayley.planning.splines.polynomials import line
        ends = (self.start, self.end) if rate > 0 else (self.end, self.start)
        return Composed(self, line(start, start + self.duration / abs(rate), *ends))

    def check_follows(self, other: Motion, place: int = 1) -> None:
        """Raise unless the other motion begins where this one ends."""
        if (self.nq, self.attitudes) != (other.nq, other.attitudes):
            raise SignatureError(f"motion {place} has {other.nq} coordinates, the one before it {self.nq}: motions in "
                                 "sequence are of the same joints")
        here = self._values(np.asarray(self.end))[0]
        there = other._values(np.asarray(other.start))[0]
        for first in self.attitudes:  # a quaternion and its negative are one rotation
            place_of = slice(first, first + 4)
            if here[place_of] @ there[place_of] < 0:
                there = there.copy()
                there[place_of] *= -1.0
        gap = np.abs(there - here)
        if gap.max(initial=0.0) > _POSITIONS * (1.0 + np.abs(here).max(initial=0.0)):
            worst = int(gap.argmax())
            raise PlanningError(f"motion {place} begins at {there[worst]:g} in coordinate {worst}, where the one "
                                f"before it ends at {here[worst]:g}: let it begin there, or put a motion between them")

    # For people and programs

    def sampled(self, step: float) -> tuple[Array, MotionState]:
        """The times (k), evenly spaced from start to end, at most `step` [s] apart, and the states there."""
        if not step > 0:
            raise PlanningError(f"samples must be a time > 0 apart, not {step:g}")
        t = np.linspace(self.start, self.end, int(np.ceil(self.duration / step * (1.0 - ROUNDING))) + 1)
        return t, self(t)

    def system(self, name: str = "target") -> System:
        """A system without state whose outputs are the motion in time: `target`, `target_qd`, `target_qdd`, to be
        connected with a law. Another name renames them all."""
        from cayley.systems.system import System
        names = (name, f"{name}_qd", f"{name}_qdd")
        shapes = ((self.nq,), (self.nv,), (self.nv,))
        return System(name, outputs=dict(zip(names, shapes, strict=True)), timed=True,
                      output=lambda t, x, u, p: dict(zip(names, self(t), strict=True)))

    def plot(self, names: Sequence[str] | None = None) -> Figure:
        """Position, velocity, acceleration and jerk in time, one line a coordinate; `names` are of the coordinates."""
        with optional_imports():
            import matplotlib.pyplot as plt
        figure = plt.figure(figsize=(8.0, 8.0), layout="constrained")
        draw(figure, self, names)
        return shown_once(figure)

    def save(self, path: str | Path) -> Path:
        """Write it to a .npz file, from which `load_motion` makes it again, to the last bit."""
        return save(self, path)


def positive_seconds(value: float) -> float:
    """A duration in seconds, which must be positive."""
    found = numbers(value, "seconds")
    if found.ndim or not 0.0 < found < np.inf:
        raise PlanningError(f"a motion must take a time > 0 [s], not {shown(value)}")
    return float(found)


_SAMPLES = 600
_GREY = "#c3cad3"
_MOST_BREAKS = 40  # more make no clearer picture


def draw(figure: Figure, motion: Motion, names: Sequence[str] | None) -> None:
    """Draw a motion on an empty figure; dotted lines are its breaks."""
    labels = [f"q{k}" for k in range(motion.nq)] if names is None else list(names)
    if len(labels) != motion.nq:
        raise SignatureError(f"the motion has {motion.nq} coordinates; {len(labels)} names were given")
    t = np.unique([*np.linspace(motion.start, motion.end, _SAMPLES), *motion.breaks,
                   *np.nextafter(motion.breaks[1:], motion.start)])  # so that jumps are upright
    titles = ("position", "velocity", "acceleration", "jerk")
    axes = figure.subplots(4, 1, sharex=True)
    for ax, title, values in zip(axes, titles, motion.derivatives(t), strict=True):
        own = labels if values.shape[-1] == motion.nq else [f"v{k}" for k in range(motion.nv)]
        for k, name in enumerate(own):
            ax.plot(t, values[:, k], color=f"C{k % 10}", linewidth=1.4, label=name)
        if len(motion.breaks) <= _MOST_BREAKS:
            for instant in motion.breaks:
                ax.axvline(instant, color=_GREY, linewidth=0.8, linestyle=":")
        panel(ax, title, len(own) > 1 and (title == "position" or (title == "velocity" and bool(motion.attitudes))))
    axes[-1].set_xlabel("t [s]")


def panel(ax: Axes, title: str, legend: bool) -> None:
    """The dress of one of the diagrams that stand above each other."""
    ax.set_title(title, fontsize="small", loc="left")
    ax.grid(color="#e3e7ec", linewidth=0.6)
    ax.margins(x=0.01)
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False)


FORMAT = "cayley motion 1"
_KINDS = {
    "Polynomials": "cayley.planning.splines.polynomials", "Composed": "cayley.planning.sequence",
    "Sequence": "cayley.planning.sequence", "Together": "cayley.planning.sequence",
    "Cycloid": "cayley.planning.profiles.two_points", "RotationCurve": "cayley.planning.poses.rotation_splines",
    "PoseCurve": "cayley.planning.poses.rotation_splines", "Screws": "cayley.planning.poses.rotation_splines",
    "Standing": "cayley.planning.sequence"}


def save(motion: Motion, path: str | Path) -> Path:
    """Write the file, whole or not at all; the suffix .npz is added if it is missing."""
    arrays: dict[str, Array] = {}
    described = {"format": FORMAT, "motion": _described(motion, arrays)}
    return write_arrays(path, described, arrays)


def load_motion(path: str | Path) -> Motion:
    """The motion that `Motion.save` has written."""
    try:
        about, arrays = read_arrays(path)
        if about["format"] != FORMAT:
            raise PlanningError(f"{path} is of the format {about['format']!r}; this reads {FORMAT!r}")
        made = _made(about["motion"], arrays)
    except CayleyError:
        raise
    except Exception as error:  # whatever NumPy, zipfile and its decompressors raise for a damaged file
        said = f"{type(error).__name__}, {error}" if str(error) else type(error).__name__
        raise PlanningError(f"{path} is not a motion file, or is damaged: {said}") from error
    if not isinstance(made, Motion):
        raise PlanningError(f"{path} is not a motion file")
    return made


def _described(value: Any, arrays: dict[str, Array]) -> Any:  # noqa: ANN401 (a field of a motion, as JSON)
    if isinstance(value, Motion):
        kind = type(value).__name__
        if kind not in _KINDS:
            raise UnsupportedError(f"a {kind} is not data, and cannot be saved: save a spline through samples of it")
        return {"kind": kind, **{part.name: _described(getattr(value, part.name), arrays) for part in fields(value)}}  # type: ignore[arg-type]
    if isinstance(value, tuple):
        return [_described(part, arrays) for part in value]
    if isinstance(value, np.ndarray):
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    return value


def _made(value: Any, arrays: dict[str, Array]) -> Any:  # noqa: ANN401 (of JSON, the field of a motion)
    if isinstance(value, list):
        return tuple(_made(part, arrays) for part in value)
    if isinstance(value, dict) and "array" in value:
        return arrays[value["array"]]
    if isinstance(value, dict):
        kind = getattr(import_module(_KINDS[value["kind"]]), value["kind"])
        return kind(**{name: _made(part, arrays) for name, part in value.items() if name != "kind"})
    return value
