"""The motion of one rigid body under forces and moments, in tensor form and in any number of dimensions.

    Q         orientation, Q' = Phi Q                Phi    angular velocity tensor; in space hat(w)
    J         Euler tensor about the centre of mass, or about the point that is held, in body axes
    r         from that point to the centre of mass  M      moment tensor; of a force F at r, F r^T - r F^T
Newton's law for the centre of mass, and Euler's equation as tensors, which has the same form in any number of
dimensions, in fixed axes and in those of the body,

    M = Psi J - (Psi J)^T,   Psi = Phi' + Phi Phi        so        Phi' J + J Phi' = M - (Phi Phi J - J Phi Phi)
In principal axes of J each component of Phi' is one of the right side, divided by the sum of two moments: in space a
moment of inertia. A body that is held at a point, the pivot, turns about it. Source: Balafoutis & Patel (4.2.5),
(4.2.7), (4.3.1), (4.3.30), (4.3.42), (4.3.36)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.tensors.checks import check_orthogonal, check_symmetric
from cayley.machines.centred_charts import ChartPath, orthogonal_chart, orthogonal_place, skew_from, skew_tensor
from cayley.ordinary_equations import instants_of
from cayley.showing import brief
from cayley.systems import Block, Port, Record, System, connect


class TensorState(NamedTuple):
    """The state of a body: place and velocity (n) of its centre of mass, orientation Q (n, n), and angular velocity
    tensor (n, n), all in fixed axes."""

    position: Array
    velocity: Array
    orientation: Array
    angular_velocity: Array


Given = Callable[[float, TensorState], ArrayLike]


@dataclass(frozen=True)
class TensorTrajectory:
    """The motion at `times` (k), in fixed axes."""

    mass: float
    euler_tensor: Array
    """About the centre of mass, in body axes (n, n) [kg m^2]."""
    times: Array
    position: Array
    """Of the centre of mass (k, n) [m]."""
    velocity: Array
    """(k, n) [m/s]."""
    acceleration: Array
    """(k, n) [m/s^2]."""
    orientation: Array
    """Q (k, n, n), orthogonal to the last digit."""
    angular_velocity: Array
    """Phi = Q' Q^T (k, n, n) [rad/s], skew."""
    angular_acceleration: Array
    """Psi = Q'' Q^T (k, n, n) [rad/s^2]."""
    reaction: Array
    """The force (k, n) [N] with which a pivot holds the body; zero of a free one."""

    __repr__ = brief

    @property
    def energy(self) -> Array:
        """Kinetic energy (k) [J]: m v.v / 2 + tr(Phi J Phi^T) / 2."""
        turning = np.einsum("kab,kbc,kac->k", self.angular_velocity, self._turned, self.angular_velocity)
        return (self.mass * np.sum(self.velocity**2, axis=1) + turning) / 2

    @property
    def momentum(self) -> Array:
        """(k, n) [kg m/s]."""
        return self.mass * self.velocity

    @property
    def angular_momentum(self) -> Array:
        """The tensor J Phi + Phi J (k, n, n) [kg m^2/s] about the centre of mass, in fixed axes, (4.3.30)."""
        J = self._turned
        return J @ self.angular_velocity + self.angular_velocity @ J

    @property
    def _turned(self) -> Array:
        return self.orientation @ self.euler_tensor @ np.swapaxes(self.orientation, -1, -2)


def simulate_by_tensors(mass: float, euler_tensor: ArrayLike, times: ArrayLike, *, orientation: ArrayLike,
                        angular_velocity: ArrayLike, position: ArrayLike | None = None,
                        velocity: ArrayLike | None = None, pivot: ArrayLike | None = None, force: Given | None = None,
                        moment: Given | None = None, rtol: float = 1e-11, atol: float = 1e-13) -> TensorTrajectory:
    """The motion from times[0] on of a body of `mass` [kg] with the `euler_tensor` (n, n) about its centre of mass, in
    body axes, in n dimensions.

    It begins with the `orientation` Q (n, n) and the `angular_velocity` tensor Phi (n, n) in fixed axes, at `position`
    and with `velocity` (n) of its centre of mass, zero if they are left out. With a `pivot` (n), a point of the body,
    from its centre and in its axes, it is held there, and `position` is that of the pivot. `force(t, state)` (n) acts
    at the centre of mass, `moment(t, state)` (n, n) besides it, in fixed axes; in space angular velocity and moment may
    be vectors (3). A body that cannot exist, or has no inertia against a turn, is refused.

    >>> J = np.diag([0.5, 0.3, 0.1])  # I = tr(J) 1 - J
    >>> run = simulate_by_tensors(2.0, J, [0.0, 0.5, 1.0], orientation=np.eye(3), angular_velocity=[0.1, 2.0, 0.3])
    >>> np.ptp(run.energy) < 1e-9, np.ptp(run.angular_momentum, axis=0).max() < 1e-9
    (np.True_, np.True_)
    """
    J = _checked_tensor(euler_tensor)
    n = len(J)
    Q0 = np.asarray(orientation, dtype=float)
    if Q0.shape != (n, n):
        raise GeometryError(f"the orientation has the shape {Q0.shape}, and the Euler tensor ({n}, {n})")
    check_orthogonal(Q0)
    if pivot is not None and velocity is not None:
        raise GeometryError("a body that is held at a pivot has the velocity of its turning: leave the velocity out")
    turn = Q0.T @ skew_tensor(angular_velocity, n, "the angular velocity") @ Q0
    instants = instants_of(times)
    sense = float(np.sign(instants[-1] - instants[0]))
    start = {"reference": Q0, "turn": sense * turn[np.triu_indices(n, 1)],
             "point": _vector(np.zeros(n) if position is None else position, n, "position"),
             "point_velocity": sense * _vector(np.zeros(n) if velocity is None else velocity, n, "velocity")}
    arm = None if pivot is None else -_vector(pivot, n, "pivot")  # from the pivot to the centre of mass

    def acting(given: Given, checked: Callable[[ArrayLike, int, str], Array], word: str) -> Callable[..., Array]:
        def value(s: float, c: Array, reference: Array, point: Array, velocity: Array, turn: Array) -> Array:
            state = _state(arm, orthogonal_place("body", reference, c), point, sense * velocity, sense * turn)
            return checked(given(sense * s, state), n, f"{word} at t = {sense * s:.6g}")

        return value

    inputs = {**({} if force is None else {"force": acting(force, _vector, "force")}),
              **({} if moment is None else {"moment": acting(moment, skew_tensor, "the moment")})}
    path = ChartPath.of(_tensor_body(mass, J, arm), start, instants, "the motion", inputs, rtol=rtol, atol=atol,
                        sampled=True)
    found = {name: sense * value if name in ("velocity", "angular_velocity") else value
             for name, value in path.run.outputs.items() if name != "turning"}
    return TensorTrajectory(mass, J, path.times, **found)


def _state(arm: Array | None, Q: Array, point: Array, velocity: Array, turn: Array) -> TensorState:
    """The state of a free body, or of one with an `arm` (n) from a point that is held to its centre of mass; a text.
    `turn` has the entries above the diagonal of its angular velocity tensor in body axes."""
    Phi = Q @ skew_from(turn, len(Q)) @ Q.T
    return TensorState(point, velocity, Q, Phi) if arm is None else TensorState(point + Q @ arm, Phi @ Q @ arm, Q, Phi)


def _tensor_body(mass: float, J: Array, arm: Array | None) -> System:
    """The body as a system: the chart of its orientation, connected with its `point`, the centre of mass or the one
    that is held, the velocity of that and `turn`, under the `force` (n) at its centre of mass and the `moment` (n, n).
    """
    if not (np.isfinite(mass) and mass > 0):
        raise GeometryError(f"the mass of the body is {mass}: it must be positive")
    n = len(J)
    r = np.zeros(n) if arm is None else arm
    about_point = J + mass * np.outer(r, r)  # (4.3.12)
    moments, axes = np.linalg.eigh(about_point)
    sums = moments[:, None] + moments + np.diag(np.full(n, np.inf))  # the diagonal of Phi' is zero
    if n > 1 and sums.min() <= 2e-14 * moments.max():
        raise GeometryError(f"the body has no inertia against a turn in one of its planes: two of the principal "
                            f"moments {moments} of its Euler tensor are zero")
    vector, tensor = (n,), (n, n)
    shapes = {"position": vector, "velocity": vector, "acceleration": vector, "angular_velocity": tensor,
              "angular_acceleration": tensor, "reaction": vector, "turning": tensor}

    def motion(x: Record, u: Record) -> tuple[dict[str, Array], tuple[Array, ...]]:
        """The rates of the blocks, and the outputs."""
        Q, F, turn = u.orientation, u.force, skew_from(x.turn, n)
        now, squared = _state(arm, Q, x.point, x.point_velocity, x.turn), turn @ turn
        about = Q.T @ (u.moment + np.outer(F, Q @ r) - np.outer(Q @ r, F)) @ Q  # (4.3.36)
        left = axes.T @ (about - (squared @ about_point - about_point @ squared)) @ axes
        change = axes @ (left / sums) @ axes.T
        Psi = Q @ (change + squared) @ Q.T  # (4.2.8)
        a = F / mass if arm is None else Psi @ Q @ r
        moved = (now.velocity, a) if arm is None else (np.zeros(n), np.zeros(n))
        return (dict(zip(("point", "point_velocity", "turn"), (*moved, change[np.triu_indices(n, 1)]), strict=True)),
                (now.position, now.velocity, a, now.angular_velocity, Psi, mass * a - F, turn))

    body = System(
        "body", state={"point": vector, "point_velocity": vector, "turn": Block((n * (n - 1) // 2,))},
        inputs={"orientation": tensor, "force": Port(vector, default=0.0), "moment": Port(tensor, default=0.0)},
        outputs=shapes, derivative=lambda t, x, u, p: motion(x, u)[0],
        output=lambda t, x, u, p: dict(zip(shapes, motion(x, u)[1], strict=True)))
    return connect(orthogonal_chart(n, "body").renamed({"place": "orientation", "velocity": "turning"}), body)


def _checked_tensor(euler_tensor: ArrayLike) -> Array:
    J = np.asarray(euler_tensor, dtype=float)
    check_symmetric(J)
    moments = np.linalg.eigvalsh(J)
    if moments[0] < -1e-12 * np.abs(moments).max(initial=0.0):
        raise GeometryError(f"no body has this Euler tensor: its principal moments are {moments}, and none is negative "
                            "that is a sum of squares")
    return J


def _vector(given: ArrayLike, n: int, what: str) -> Array:
    v = np.asarray(given, dtype=float)
    if v.shape != (n,) or not np.isfinite(v).all():
        raise GeometryError(f"the {what} is {v}: {n} finite numbers are needed")
    return v
