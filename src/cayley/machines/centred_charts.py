"""Attitudes, poses and orthogonal tensors with a given velocity, followed in charts that are centred again and again.

    attitude            reference and c     c' = (1 + c c^T - hat(c)) w / 2
    pose                reference and c^    the same of dual numbers, with the twist
    orthogonal tensor   reference and X     X' = (1 - X) Phi (1 + X) / 2,     Q = (1 - X)^-1 (1 + X) reference
for velocities in the axes of the world. In those of the body the reference comes first and the products have the other
sign. The equations are polynomial. After a quarter turn the reference moves to the present place, and c starts at zero
again: translations of one chart, the same equation all the way. Half-turns are ordinary points, Q is orthogonal
whatever the error of the integrator is, and reflections stay reflections. Each is a system with one transition.

The homogeneous form of an attitude, h' = (0; w) h / 2, needs one chart; its norm drifts with the error of the
integrator. Sources: Mladenova (81), (101)-(102), (157); Balafoutis & Patel (4.2.1)-(4.2.7), Theorems 4.1 and 4.2; spec
R-20, S0-73."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, TypeVar

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, GeometryError
from cayley.geometry.motions.dual_quaternion import (
    dual_quaternion_from_pose,
    dual_quaternion_product,
    normalize_dual_quaternion,
    pose_from_dual_quaternion,
)
from cayley.geometry.motions.dual_vector_parameter import (
    dual_vector_parameter_rate_from_body_velocity,
    dual_vector_parameter_rate_from_world_velocity,
)
from cayley.geometry.rates.charts import chart as rotation_chart
from cayley.geometry.rotations.homogeneous import (
    compose_homogeneous,
    homogeneous_from_matrix,
    matrix_from_homogeneous,
    normalize_homogeneous,
)
from cayley.geometry.tensors.checks import check_orthogonal, check_skew
from cayley.machines.single_body import half_turns_of
from cayley.ordinary_equations import IntegrationError, instants_of
from cayley.showing import brief
from cayley.systems import Block, Record, State, System, Transition
from cayley.systems.ports import PortLike
from cayley.systems.trajectory import Trajectory

Frame = Literal["world", "body"]
Shape = tuple[int, ...]
Product = Callable[[Array, Array], Array]
Velocity = Callable[[float], Array]
Path = TypeVar("Path", bound="ChartPath")


def _centred(name: str, c: Shape, reference: Shape, velocity: PortLike, rate: Product, seen: Product,
             turned: Callable[[Array], Scalar]) -> System:
    """A chart about a reference, with the place that is `seen` as c from a reference, a text for any leading axes, and
    the square of the tangent of half the angle by which c has `turned`."""
    def moved(t: float, x: Record, u: Record, p: Record) -> dict[str, Array]:
        return {"reference": seen(x.reference, x.c), "c": np.zeros(c)}

    return System(
        name, state={"c": Block(c, default=0.0), "reference": Block(reference)}, inputs={"velocity": velocity},
        outputs={"place": reference}, output=lambda t, x, u, p: {"place": seen(x.reference, x.c)},
        derivative=lambda t, x, u, p: {"c": rate(x.c, u.velocity), "reference": np.zeros(reference)},
        transitions=[Transition("recentring", lambda t, x, u, p: turned(x.c) - 1.0, "rising", jump=moved,
                                counted=False)])


def attitude_chart(frame: Frame) -> System:
    """An attitude with the `velocity` (3) [rad/s] in the axes of the `frame`: the vector-parameter `c` (3) about the
    `reference` (4), unit [w : v]. The output `place` is the attitude as such a form."""
    def seen(reference: Array, c: Array) -> Array:
        one = np.concatenate([np.ones((*c.shape[:-1], 1)), c], axis=-1)
        return normalize_homogeneous.unchecked(_ordered(compose_homogeneous.unchecked, frame)(reference, one))

    return _centred("attitude", (3,), (4,), (3, "rad/s"), _rate("vector_parameter", frame), seen, lambda c: c @ c)


def pose_chart(axes: Frame) -> System:
    """A pose with the `velocity` (6), its twist (v; w) [m/s; rad/s] in these axes: the dual vector-parameter `c` (2, 3)
    about the `reference` (2, 4), a unit dual quaternion, as the output `place` is."""
    rate = (dual_vector_parameter_rate_from_world_velocity if axes == "world"
            else dual_vector_parameter_rate_from_body_velocity).unchecked

    def seen(reference: Array, c: Array) -> Array:
        one = np.concatenate([np.broadcast_to([[1.0], [0.0]], (*c.shape[:-1], 1)), c], axis=-1)
        return normalize_dual_quaternion.unchecked(_ordered(dual_quaternion_product, axes)(reference, one))

    return _centred("pose", (2, 3), (2, 4), 6, lambda c, twist: rate(c, np.stack([twist[3:], twist[:3]])), seen,
                    lambda c: c[0] @ c[0])


def orthogonal_chart(n: int, frame: Frame) -> System:
    """An orthogonal tensor (n, n) with the `velocity` Phi (n, n) [rad/s], skew, in the axes of the `frame`: `c`, the
    entries of X above its diagonal, about the `reference` (n, n). The output `place` is Q."""
    one = np.eye(n)

    def rate(c: Array, Phi: Array) -> Array:
        X = skew_from(c, n) if frame == "body" else -skew_from(c, n)
        return ((one + X) @ Phi @ (one - X))[np.triu_indices(n, 1)] / 2

    return _centred("orthogonal tensor", (n * (n - 1) // 2,), (n, n), (n, n), rate, partial(orthogonal_place, frame),
                    lambda c: c @ c)


def orthogonal_place(frame: Frame, reference: Array, c: Array) -> Array:
    """Q (..., n, n) of a reference (n, n) and the entries of X above its diagonal, in the axes of the frame; a text."""
    one = np.eye(reference.shape[-1])
    X = skew_from(c, len(one))
    Q = _ordered(np.matmul, frame)(reference, np.linalg.solve(one - X, one + X))
    return Q @ (1.5 * one - 0.5 * np.swapaxes(Q, -1, -2) @ Q)  # without the rounding of the products that made it


@dataclass(frozen=True)
class ChartSpan(HoldsFunctions):
    """One stretch of time, `start` to `end`, in one chart: the attitude or pose is c or c^ seen from `reference`."""

    start: float
    end: float
    reference: Array
    form: Callable[[Array], Array] = field(repr=False)
    steps: Array = field(repr=False)


@dataclass(frozen=True, eq=False)
class ChartPath(HoldsFunctions):
    """The places of `what` at `times` (n) that increase or decrease: `run` goes forwards in sense * t, with charts on
    the way, and an angular velocity that is `turning(t)`."""

    times: Array
    run: Trajectory
    sense: float
    what: str
    turning: Velocity | None = None

    __repr__ = brief

    @classmethod
    def of(cls: type[Path], system: System, start: Mapping[str, ArrayLike], times: ArrayLike, what: str,
           inputs: Mapping[str, Callable[..., ArrayLike]] | Velocity, *, rtol: float, atol: float,
           method: str = "DOP853", turning: Velocity | None = None, sampled: bool = False) -> Path:
        """The run from the first of the times to the last with its inputs, functions of sense * t and of the blocks,
        or with a velocity, a function of t; samples are at the steps, or at the times if it is `sampled`.
        `IntegrationError` when the integrator gives up."""
        instants = instants_of(times)
        sense = float(np.sign(instants[-1] - instants[0]))
        acting = {"velocity": lambda s, *_: sense * inputs(sense * s)} if callable(inputs) else inputs
        # The error of a step is a mean over blocks that stand still, too, and charts are left between two steps, where
        # the solver interpolates with a larger error: a twentieth of the tolerance.
        run = system.simulate(start, start=sense * instants[0], until=None if sampled else sense * instants[-1],
                              times=sense * instants if sampled else None, inputs=acting, atol=0.05 * atol,
                              rtol=max(0.05 * rtol, 1e-13), method=method, progress=False)
        if not run.finished:
            raise IntegrationError(f"{what} could not be integrated beyond t = {sense * run.t[-1]:.6g}: {run.message}")
        return cls(instants, run, sense, what, turning)

    def places(self, time: ArrayLike) -> Array:
        """The places (..., *shape) at times of the interval."""
        asked = np.asarray(time, dtype=float)
        if np.any((asked - self.times[0]) * (asked - self.times[-1]) > 0):
            raise GeometryError(f"{self.what} was integrated from {self.times[0]} to {self.times[-1]}; it is not known "
                                "outside")
        x, output = self._at(asked), self.run.system.output
        return x["place"] if output is None else output(0.0, x, None, None)["place"]

    @property
    def evaluations(self) -> int:
        """The number of evaluations of the equation."""
        return int(self.run.facts["evaluations"])

    @property
    def recentrings(self) -> Array:
        """The times at which the chart was moved."""
        return self.sense * np.array([moved.t for moved in self.run.happened if moved.t < self.run.t[-1]])

    @property
    def spans(self) -> tuple[ChartSpan, ...]:
        """The charts on the way."""
        bounds = np.array([self.times[0], *self.recentrings, self.times[-1]])
        start = self._at(bounds[:-1])
        steps = self.sense * self.run.t
        return tuple(ChartSpan(a, b, reference, self.places, steps[(steps - a) * (steps - b) <= 0]) for a, b, reference
                     in zip(bounds[:-1], bounds[1:], start["reference" if "reference" in start else "place"],
                            strict=True))

    @cached_property
    def half_turns(self) -> Array:
        """The times at which a half-turn is crossed or only touched (to 1e-9, and the error of the integration): zeros
        of the scalar part, looked for between the steps of the integrator and four points within each. Those that are
        touched are zeros of its rate."""
        def turned(t: Array) -> Array:
            return self.places(t).reshape(len(t), -1)[:, :4]

        def rate(t: float) -> float:
            return -float(turned(np.array([t]))[0, 1:] @ self.turning(t)) / 2  # type: ignore[misc]

        steps = np.clip(self.sense * self.run.t, *sorted((self.times[0], self.times[-1])))
        grid = np.append((steps[:-1, None] + np.diff(steps)[:, None] * np.arange(0, 1, 0.2)).ravel(), steps[-1])
        return half_turns_of(lambda t: turned(t)[:, 0], grid, nearest=1e-9 + 2000 * self.run.facts["rtol"], rate=rate)

    def _at(self, times: Array) -> State:
        """The blocks at times; the run ends at the last of its own but for rounding."""
        return self.run.at(np.clip(self.sense * times, self.run.t[0], self.run.t[-1]))


class AttitudePath(ChartPath):
    """The attitudes at `times` (n), and at any other time of the interval through `at`."""

    @cached_property
    def homogeneous(self) -> Array:
        """(n, 4), unit [w : v] whose sign is continuous in time, so that c = v / w passes through infinity where w is
        zero, at the times `half_turns`."""
        return self.at(self.times)

    @property
    def matrices(self) -> Array:
        """Rotation matrices (n, 3, 3)."""
        return matrix_from_homogeneous(self.homogeneous)

    @property
    def norm_drift(self) -> float:
        """The largest distance of the norm of the integrated form from one: zero in the vector-parameter chart, which
        has no norm to lose."""
        places = self.run["place"]
        return 0.0 if "c" in self.run.system.state else float(np.abs(np.linalg.norm(places, axis=-1) - 1).max())

    def at(self, time: ArrayLike) -> Array:
        """The homogeneous vector-parameter (..., 4), unit and continuous, at times of the interval."""
        return normalize_homogeneous(self.places(time))


class IntegratedPoses(ChartPath):
    """The poses at `times` (n), and at any other time of the interval through `at`."""

    @cached_property
    def dual_quaternions(self) -> Array:
        """(n, 2, 4), unit [w^ : v^] whose sign is continuous in time; c^ = v^ / w^ passes through infinity at the times
        `half_turns`."""
        return self.places(self.times)

    @property
    def poses(self) -> Array:
        """(n, 4, 4)."""
        return pose_from_dual_quaternion(self.dual_quaternions)

    def at(self, time: ArrayLike) -> Array:
        """The pose (..., 4, 4) at times of the interval."""
        return pose_from_dual_quaternion(self.places(time))


@dataclass(frozen=True)
class OrthogonalPath:
    """The tensors (k, n, n) at `times` (k), their angular velocity tensors Phi = Q' Q^T (k, n, n) in fixed axes, and
    how often the reference was moved."""

    times: Array
    tensors: Array
    angular_velocity: Array
    recentrings: int


def integrate_attitude(angular_velocity: Callable[..., ArrayLike], start: ArrayLike, times: Sequence[float] | Array, *,
                       frame: Frame, chart: Literal["vector-parameter", "homogeneous"] = "vector-parameter",
                       rtol: float = 1e-11, atol: float = 1e-13, method: str = "DOP853") -> AttitudePath:
    """The attitude at `times` [s], in either direction, of a body with `angular_velocity(t)` [rad/s] in the `frame`.

    `start` is the attitude at times[0]: a rotation matrix (3, 3), or a homogeneous vector-parameter [w : v] of any
    norm. Half-turns are ordinary points of the way in both charts. `IntegrationError` when the integrator gives up.

    >>> path = integrate_attitude(lambda t: [0.0, 0.0, 1.0], np.eye(3), [0.0, np.pi, 6.0], frame="world")   # spec WE-04
    >>> path.half_turns.round(9), path.homogeneous[1].round(9) + 0.0
    (array([3.14159265]), array([0., 0., 0., 1.]))
    """
    _check_axes("frame", frame, "the angular velocity")
    if chart not in ("vector-parameter", "homogeneous"):
        raise ConventionError(f"chart={chart!r}: 'vector-parameter' or 'homogeneous'")
    begin = np.asarray(start, dtype=np.float64)
    if begin.shape not in ((3, 3), (4,)):
        raise GeometryError("the start is a rotation matrix (3, 3) or a homogeneous vector-parameter (4), not of shape "
                            f"{begin.shape}")
    h = homogeneous_from_matrix(begin) if begin.ndim == 2 else normalize_homogeneous(begin)
    velocity = _finite(angular_velocity, 3, "the angular velocity at t = {:.6g} is {}: three finite numbers are needed")
    system, name = (attitude_chart(frame), "reference") if chart == "vector-parameter" else (System(
        "attitude", state={"place": 4}, inputs={"velocity": (3, "rad/s")},
        derivative=lambda t, x, u, p: _rate("homogeneous", frame)(x.place, u.velocity)), "place")
    return AttitudePath.of(system, {name: h}, times, "the attitude", velocity, rtol=rtol, atol=atol,
                           method=method, turning=velocity)


def integrate_pose(twist: Callable[[float], ArrayLike], start: ArrayLike, times: Sequence[float] | Array, *,
                   axes: Frame, rtol: float = 1e-11, atol: float = 1e-13, method: str = "DOP853") -> IntegratedPoses:
    """The pose at increasing or decreasing `times` [s] of a body with `twist(t)` (6), (v; w) [m/s; rad/s], from the
    pose `start` (4, 4) at times[0] on.

    `axes="world"`: v is the velocity of the point of the body at the origin of the world. `axes="body"`: v is that of
    the body's own origin, in the body's axes. Half-turns are ordinary points of the way. `IntegrationError` when the
    integrator gives up.

    >>> turning = [0.0, 0.0, 0.5, 0.0, 0.0, 1.0]   # about z, and up
    >>> path = integrate_pose(lambda t: turning, np.eye(4), [0.0, np.pi, 6.0], axes="world")
    >>> path.half_turns.round(9), path.poses[2, :3, 3].round(9) + 0.0
    (array([3.14159265]), array([0., 0., 3.]))
    """
    _check_axes("axes", axes, "the twist")
    velocity = _finite(twist, 6, "the twist at t = {:.6g} is {}: six finite numbers, (v; w), are needed")
    return IntegratedPoses.of(pose_chart(axes), {"reference": dual_quaternion_from_pose(start)}, times, "the pose",
                              velocity, rtol=rtol, atol=atol, method=method,
                              turning=lambda t: velocity(t)[3:])


def integrate_orthogonal(angular_velocity: Callable[[float], ArrayLike], start: ArrayLike, times: ArrayLike, *,
                         frame: Frame, rtol: float = 1e-11, atol: float = 1e-13) -> OrthogonalPath:
    """The orthogonal tensor (n, n) that begins as `start` at times[0] and has the angular velocity tensor
    `angular_velocity(t)` (n, n) [rad/s], skew: Phi = Q' Q^T in the fixed axes ("world"), or Q^T Q' in those that turn
    with it ("body").

    >>> spin = np.zeros((4, 4))
    >>> spin[0, 1], spin[1, 0], spin[2, 3], spin[3, 2] = -1.0, 1.0, -2.0, 2.0  # a double rotation
    >>> path = integrate_orthogonal(lambda t: spin, np.eye(4), [0.0, np.pi], frame="world")
    >>> path.tensors[-1].round(9) + 0.0
    array([[-1.,  0.,  0.,  0.],
           [ 0., -1.,  0.,  0.],
           [ 0.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  1.]])
    """
    _check_axes("frame", frame, "the angular velocity")
    Q0 = np.asarray(start, dtype=float)
    check_orthogonal(Q0)
    n = len(Q0)

    def velocity(t: float) -> Array:
        return skew_tensor(angular_velocity(t), n, f"the angular velocity at t = {t:.6g}")

    path = ChartPath.of(orthogonal_chart(n, frame), {"reference": Q0}, times, "the orthogonal tensor",
                        velocity, rtol=rtol, atol=atol)
    Q, given = path.places(path.times), np.stack([velocity(t) for t in path.times])
    return OrthogonalPath(path.times, Q, given if frame == "world" else Q @ given @ np.swapaxes(Q, -1, -2),
                          len(path.recentrings))


def _finite(given: Callable[..., ArrayLike], size: int, complaint: str) -> Velocity:
    """The given velocity, with an error where it is not (size) finite numbers."""
    def velocity(t: float) -> Array:
        found = np.asarray(given(t), dtype=np.float64)
        if found.shape != (size,) or not np.all(np.isfinite(found)):
            raise GeometryError(complaint.format(t, found))
        return found

    return velocity


def _check_axes(word: str, given: str, what: str) -> None:
    if given not in ("world", "body"):
        raise ConventionError(f"{word}={given!r}: say whether {what} is given in the 'world' or in the 'body' frame")


def _ordered(product: Product, frame: Frame) -> Product:
    """The product of a reference and what is seen from it, which comes after it in the axes of the world."""
    return (lambda reference, c: product(c, reference)) if frame == "world" else product


def _rate(name: str, frame: Frame) -> Product:
    form = rotation_chart(name)
    return (form.rates_from_world if frame == "world" else form.rates_from_body).unchecked


def skew_tensor(given: ArrayLike, n: int, what: str) -> Array:
    """A skew tensor (n, n), or in space the one of a vector (3)."""
    T = np.asarray(given, dtype=float)
    if n == 3 and T.shape == (3,):
        T = skew_from(np.array([-T[2], T[1], -T[0]]), 3)
    if T.shape != (n, n):
        raise GeometryError(f"{what} has the shape {T.shape}: a skew tensor ({n}, {n}) is needed"
                            f"{', or a vector (3)' if n == 3 else ''}")
    check_skew(T)
    return T


def skew_from(x: Array, n: int) -> Array:
    """The skew tensors (..., n, n) with these entries above their diagonals, row by row; a text."""
    above = np.triu_indices(n, 1)
    units = np.zeros((len(above[0]), n, n))
    units[(range(len(units)), *above)] = 1.0
    return (x @ (units - np.swapaxes(units, -1, -2)).reshape(len(units), n * n)).reshape(*x.shape[:-1], n, n)
