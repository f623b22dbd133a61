"""One rigid body as a system: free, turned by thrusters, a gyroscope on its point, or a frame with a given twist.

    rigid_body      m v' = force (world axes),   I w' + w x I w = torque (body axes)
    rotating_body   the same without the translation; with thrusters the torque is B u
    gyroscope       precession, nutation and spin under moments about nodal or fixed axes
    moving_frame    the pose of a frame with a given twist

The orientation is a unit quaternion, which has no singularity: half-turns are states like any other, and `half_turns`
finds when they were passed. Forces may be functions of the time and of the blocks, as inputs of every system may.
Sources: Ruggiu 3.2.1-3.2.2, (3.30)-(3.33); Mladenova (81), (89)-(104), (157); spec R-20, R-23, S2-49, S2-100."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, GeometryError
from cayley.geometry.inertia.body_dynamics import angular_acceleration_from_torque
from cayley.geometry.inertia.consistency import check_mass_properties
from cayley.geometry.inertia.gyroscope import check_moments, gyroscope_accelerations, nodal_from_fixed
from cayley.geometry.inertia.mass_properties import MassProperties
from cayley.geometry.inertia.tensors import check_invertible_inertia
from cayley.geometry.inertia.thrusters import check_thrusters
from cayley.geometry.manifolds import UNIT_QUATERNION
from cayley.geometry.rotations.quaternion import rotate_by_quaternion
from cayley.systems.layout import Record, State
from cayley.systems.ports import Block
from cayley.systems.system import System

if TYPE_CHECKING:
    from cayley.systems.trajectory import Trajectory

_TURNING = {"orientation": Block((4,), manifold=UNIT_QUATERNION, velocity="angular_velocity"),
            "angular_velocity": Block((3,), "rad/s", default=0.0)}
_UPRIGHT = 1e-6  # sin(theta): nearer, precession and spin can no longer be told apart


def rigid_body(body: MassProperties, *, name: str = "body") -> System:
    """A free rigid body: `position` and `velocity` of its centre of mass in the world, `orientation` (unit quaternion,
    from body to world axes) and `angular_velocity` in body axes. Inputs are the `force` [N] on the centre of mass in
    world axes and the `torque` [N m] about it in body axes. Outputs are `momentum` and `angular_momentum`, in world
    axes.

    The inertia of `body` is about its centre of mass in body axes. A body that cannot exist, or has no mass, raises
    `GeometryError`.

    >>> ball = rigid_body(MassProperties(2.0, np.zeros(3), np.eye(3)))
    >>> start = {"position": [0.0, 0.0, 0.0], "velocity": [1.0, 0.0, 0.0], "orientation": [1.0, 0.0, 0.0, 0.0],
    ...          "angular_velocity": [0.0, 0.0, 1.0]}
    >>> run = ball.simulate(start, until=1.0, inputs={"force": [0.0, 0.0, -2 * 9.81], "torque": [0.0, 0.0, 0.0]})
    >>> run.end["position"].round(6)
    array([ 1.   ,  0.   , -4.905])
    """
    check_mass_properties(body)
    check_invertible_inertia(body.inertia)
    if body.mass == 0:
        raise GeometryError("a body without mass has no acceleration: give it mass, or take `rotating_body`")
    mass, J = body.mass, body.inertia

    def derivative(t: object, x: Record, u: Record, p: Record) -> dict[str, Array]:
        return {"velocity": u.force / mass, "angular_velocity": _accelerated(J, x.angular_velocity, u.torque)}

    return System(
        name, state={"position": Block((3,), "m", velocity="velocity", default=0.0),
                     "velocity": Block((3,), "m/s", default=0.0), **_TURNING},
        inputs={"force": (3, "N"), "torque": (3, "N m")},
        outputs={"momentum": (3, "kg m/s"), "angular_momentum": (3, "kg m^2/s")}, derivative=derivative,
        output=lambda t, x, u, p: {"momentum": mass * x.velocity, "angular_momentum": _momentum(J, x)},
        power=lambda t, x, u, p: u.force @ x.velocity + u.torque @ x.angular_velocity,
        energy=lambda t, x, u, p: (mass * (x.velocity @ x.velocity)
                                   + x.angular_velocity @ (J @ x.angular_velocity)) / 2)


def rotating_body(inertia: ArrayLike, *, thrusters: ArrayLike | None = None, name: str = "body") -> System:
    """A body that turns about its centre of mass or a point at rest: `orientation` (unit quaternion) and
    `angular_velocity` in body axes, under the `torque` [N m] in body axes, or the torques `u` (m) of thrusters whose
    axes are the columns of `thrusters` (3, m). The output is the `angular_momentum` in world axes.

    >>> tumbling = rotating_body(np.diag([1.0, 2.0, 3.0]))
    >>> start = {"orientation": [1.0, 0.0, 0.0, 0.0], "angular_velocity": [0.4, 1.0, -0.3]}   # WE-05
    >>> run = tumbling.simulate(start, until=3.0, inputs={"torque": [0.0, 0.0, 0.0]}, rtol=1e-12, atol=1e-13)
    >>> half_turns(run).round(6)
    array([2.903475])
    """
    J = np.asarray(inertia, dtype=float)
    check_invertible_inertia(J)
    if thrusters is not None:
        check_thrusters(thrusters)
    B = np.eye(3) if thrusters is None else np.asarray(thrusters, dtype=float)
    port = "torque" if thrusters is None else "u"

    def torque(u: Record) -> Array:
        return getattr(u, port) if thrusters is None else B @ getattr(u, port)

    return System(
        name, state=dict(_TURNING), inputs={port: (B.shape[1], "N m")},
        outputs={"angular_momentum": (3, "kg m^2/s")},
        derivative=lambda t, x, u, p: {"angular_velocity": _accelerated(J, x.angular_velocity, torque(u))},
        output=lambda t, x, u, p: {"angular_momentum": _momentum(J, x)},
        power=lambda t, x, u, p: torque(u) @ x.angular_velocity,
        energy=lambda t, x, u, p: x.angular_velocity @ (J @ x.angular_velocity) / 2)


def gyroscope(I0: float, I: float, *, axes: Literal["nodal", "fixed"], name: str = "gyroscope") -> System:
    """A gyroscope in precession, nutation and spin: `angles` (psi, theta, phi) and their `rates`, under `moments` [N m]
    about the "nodal" axes (u, v, w) or the "fixed" ones (x, y, z); I0 is its moment across the axis, I about it.

    Its outputs keep still for a top: `axial_momentum`, and `vertical_momentum` about the fixed z. An upright axis
    (sin theta = 0) has no derivative: precession and spin turn about the same axis, and `rotating_body` goes through.

    >>> top = gyroscope(0.02, 0.01, axes="nodal")
    >>> start = {"angles": [0.0, np.pi / 6, 0.0], "rates": [0.1226901809, 0.0, 200.0]}
    >>> weight = lambda t, angles, rates: [0.24525 * np.sin(angles[1]), 0.0, 0.0]
    >>> top.simulate(start, until=1.0, inputs={"moments": weight}).end["angles"][:2].round(5)   # steady, WE-18
    array([0.12269, 0.5236 ])
    """
    if axes not in ("nodal", "fixed"):
        raise ConventionError(f'the moments of a gyroscope must be about "nodal" or "fixed" axes, not {axes!r}')
    check_moments(I0, I)

    def derivative(t: object, x: Record, u: Record, p: Record) -> dict[str, Array]:
        nodal = u.moments if axes == "nodal" else nodal_from_fixed(x.angles, u.moments)
        return {"rates": gyroscope_accelerations.unchecked(I0, I, x.angles[1], x.rates, nodal)}

    def output(t: object, x: Record, u: Record, p: Record) -> dict[str, Array]:
        axial = I * (x.rates[0] * np.cos(x.angles[1]) + x.rates[2])
        across = I0 * x.rates[0] * np.sin(x.angles[1]) ** 2
        return {"axial_momentum": axial, "vertical_momentum": across + axial * np.cos(x.angles[1])}

    def energy(t: object, x: Record, u: Record, p: Record) -> Array:
        across = x.rates[1] ** 2 + (x.rates[0] * np.sin(x.angles[1])) ** 2
        return (I0 * across + I * (x.rates[0] * np.cos(x.angles[1]) + x.rates[2]) ** 2) / 2

    return System(name, state={"angles": Block((3,), "rad", velocity="rates"), "rates": (3, "rad/s")},
                  inputs={"moments": (3, "N m")},
                  outputs={"axial_momentum": "kg m^2/s", "vertical_momentum": "kg m^2/s"},
                  derivative=derivative, output=output, energy=energy, explain=_upright)


def moving_frame(*, axes: Literal["world", "body"], name: str = "frame") -> System:
    """A frame that moves with a given twist: `position` and `orientation` (unit quaternion) under the inputs `velocity`
    [m/s] of its origin and `angular_velocity` [rad/s], both in the axes of the "world" or of the "body".

    >>> turning = moving_frame(axes="world")
    >>> given = {"velocity": [0.0, 0.0, 0.5], "angular_velocity": [0.0, 0.0, 1.0]}
    >>> run = turning.simulate({"position": np.zeros(3), "orientation": [1.0, 0.0, 0.0, 0.0]}, until=6.0, inputs=given)
    >>> run.end["position"].round(6), half_turns(run).round(6)
    (array([0., 0., 3.]), array([3.141593]))
    """
    if axes not in ("world", "body"):
        raise ConventionError(f"axes={axes!r}: say whether the twist is given in the axes of the 'world' or the 'body'")

    def derivative(t: object, x: Record, u: Record, p: Record) -> dict[str, Array]:
        turn = rotate_by_quaternion.unchecked
        back = x.orientation * np.array([1.0, -1.0, -1.0, -1.0])
        if axes == "world":
            return {"position": u.velocity, "orientation": turn(back, u.angular_velocity)}
        return {"position": turn(x.orientation, u.velocity), "orientation": u.angular_velocity}

    return System(name, state={"position": Block((3,), "m", default=0.0),
                               "orientation": Block((4,), manifold=UNIT_QUATERNION)},
                  inputs={"velocity": (3, "m/s"), "angular_velocity": (3, "rad/s")}, derivative=derivative)


def half_turns(run: Trajectory, block: str = "orientation", *, nearest: float = 1e-8) -> Array:
    """The times at which the orientation of a simulated motion is half a turn away from the axes of the world: crossed,
    or touched to `nearest`. The vector-parameter is infinite there, and the orientation is not.

    The scalar part of the quaternion is looked at eight times between two samples, and in steps of a tenth of a radian.
    """
    times, q = np.asarray(run.t), np.asarray(run[block])
    turned = float(np.sum(2 * np.arccos(np.clip(np.abs(np.sum(q[1:] * q[:-1], axis=-1)), 0.0, 1.0))))
    speeds = np.asarray(run["angular_velocity"]) if "angular_velocity" in run.system.state else np.zeros((1, 3))
    fastest = float(np.linalg.norm(speeds, axis=-1).max())
    span = float(times[-1] - times[0])
    count = int(max(8 * len(times), 10 * turned, 10 * fastest * span, 200))
    grid = np.union1d(times, np.linspace(times[0], times[-1], count))
    return half_turns_of(lambda t: np.asarray(run.at(t)[block])[..., 0], grid, nearest=nearest)


def half_turns_of(w: Callable[[Array], Array], grid: Array, *, nearest: float,
                  rate: Callable[[float], float] | None = None) -> Array:
    """The zeros of the scalar part `w` of a unit homogeneous form, in the order of the grid, which is fine enough that
    w has at most one between two neighbours. Where w changes its sign a half-turn is crossed; where |w| goes down to
    zero and up again it is touched. An integrated w is known to some 1e-10 only, so that a touch may look like a near
    miss, or like two crossings: where |w| stays below `nearest` they are one half-turn, where the `rate` of w, if that
    is known to any factor that keeps its sign, is zero, or else in the middle."""
    from scipy.optimize import brentq, minimize_scalar  # only those who integrate should wait for it
    values = w(grid)
    size = np.abs(values)

    def at(t: float) -> float:
        return float(w(np.array([t]))[0])

    def zero(of: Callable[[float], float], low: float, high: float) -> float:
        return float(brentq(of, low, high, xtol=1e-14, rtol=8.9e-16))

    def turning(low: float, high: float, otherwise: float) -> float:
        return otherwise if rate is None or not rate(low) * rate(high) < 0 else zero(rate, low, high)

    found = [zero(at, grid[k], grid[k + 1]) for k in np.flatnonzero(values[:-1] * values[1:] < 0)]
    found += [float(t) for t in (grid[0], grid[-1]) if abs(at(t)) <= nearest]
    nearer = [(size[1:-1] <= size[beside]) & (values[1:-1] * values[beside] >= 0)
              for beside in (slice(None, -2), slice(2, None))]
    for k in np.flatnonzero(nearer[0] & nearer[1]) + 1:
        low, high = sorted((float(grid[k - 1]), float(grid[k + 1])))
        best = minimize_scalar(lambda t: abs(at(t)), bounds=(low, high), method="bounded", options={"xatol": 1e-12})
        place = min((float(best.x), float(grid[k])), key=lambda t: abs(at(t)))
        found += [turning(low, high, place)] if abs(at(place)) <= nearest else []
    kept: list[tuple[float, float]] = []
    for t in sorted(found, key=lambda t: abs(t - grid[0])):
        if kept and np.abs(w(np.linspace(kept[-1][1], t, 9))).max() <= nearest:
            kept[-1] = kept[-1][0], t
        else:
            kept.append((t, t))
    return np.array([turning(first, last, first + (last - first) / 2) for first, last in kept])


def _accelerated(J: Array, w: Array, torque: Array) -> Array:
    return angular_acceleration_from_torque.unchecked(J, w, torque)


def _momentum(J: Array, x: Record) -> Array:
    return rotate_by_quaternion.unchecked(x.orientation, J @ x.angular_velocity)


def _upright(x: State) -> str | None:
    if abs(np.sin(np.asarray(x["angles"])[1])) > _UPRIGHT:
        return None
    return ("the axis of the gyroscope is upright (sin theta = 0): precession and spin turn about the same axis and "
            "cannot be told apart; rotating_body needs no angles")
