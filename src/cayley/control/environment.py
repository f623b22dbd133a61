"""Surfaces that an arm pushes against as systems: a wall, a ball, or any other, with stiffness, damping and friction.

    gap(p) > 0 where the point p is free        n = grad gap / |grad gap|        depth = -gap / |grad gap|
    normal     f = max(0, stiffness depth + damping depth')    where depth > 0, else 0: it pushes and never pulls
    friction   -mu f v / sqrt(v^2 + creep^2)    of the velocity v along the surface
Friction is Coulomb's made smooth: faster than `creep` [m/s] it is mu f, and a point that dry friction would hold under
a force F < mu f creeps with creep F / sqrt((mu f)^2 - F^2). Only the origin of the frame touches, without moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar, is_finite_number
from cayley.control.arms import ArmLike, numbers_of, tree_of
from cayley.dynamics.inverse.external_loads import check_axes, wrench_unit
from cayley.errors import GeometryError, SignatureError, shown
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.velocity import twist
from cayley.systems import Record, System

Gap = Callable[[Array], Scalar]


class _Shape(NamedTuple):
    distance: Scalar
    slope: Array


def plane_gap(point: ArrayLike, normal: ArrayLike) -> Gap:
    """The gap function of a plane through a point (3) with the outward normal (3)."""
    through = _vector(point, "the point of a wall")
    out = _vector(normal, "the normal of a wall")
    length = float(np.linalg.norm(out))
    if length < 1e-12:
        raise GeometryError(f"the normal of a wall must have a direction, not {shown(normal)}")
    return lambda p: (p - through) @ (out / length)


def sphere_gap(center: ArrayLike, radius: float) -> Gap:
    """The gap function of a sphere, or, with a negative radius, of the inside of a hollow one."""
    middle = _vector(center, "the centre of a ball")
    if not np.isfinite(radius) or radius == 0:
        raise GeometryError(f"the radius of a ball must be a length, negative if it is hollow, not {shown(radius)}")
    return lambda p: np.sign(radius) * (np.sqrt((p - middle) @ (p - middle)) - abs(radius))


def surface(arm: ArmLike, frame: str, gap: Gap, stiffness: float, *, damping: float = 0.0,
            friction: float = 0.0, creep: float = 1e-3, axes: str = "body", name: str = "surface") -> System:
    """A surface that the origin of a frame may touch: inputs `q` and `qd`; outputs `wrench_<frame>` (6), the force and
    moment ON the arm at the frame, in its own `axes` or in those of the root, "world", as `arm.system(wrenches=[frame],
    axes=...)` takes it, and `depth` [m], negative where it does not touch.

    `gap` is a function of a point (3) in the root's axes that grows away from the surface, written in NumPy: its
    gradient is found. `stiffness` [N/m], `damping` [N s/m] and `friction` are parameters, by the
    name of the system: `surface_stiffness`. Where two surfaces meet, the gap is the least of theirs, `np.minimum`.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> hill = surface(arm, "tool", lambda p: p[1] - 0.1 * np.cos(3 * p[0]), 1e4)
    >>> hill
    <system surface: inputs q, qd; outputs wrench_tool, depth; parameters surface_stiffness, ...>
    """
    tree = tree_of(arm)
    check_axes(axes)
    tree.frame(frame)
    numbers = {"stiffness": stiffness, "damping": damping, "friction": friction}
    for word, value in numbers.items():
        if not is_finite_number(value) or value < 0:
            raise SignatureError(f"the {word} of a surface must be a finite number that is not negative, not "
                                 f"{shown(value)}")
    if not is_finite_number(creep) or creep <= 0:
        raise SignatureError(f"the creep of friction must be a positive velocity [m/s], not {shown(creep)}")
    if not callable(gap) or np.shape(gap(np.zeros(3))) != ():
        raise SignatureError(f"the gap of a surface must be a function of a point (3) to one number, not {shown(gap)}")
    shape = _gap_kernel(gap)

    def output(u: Record, p: Record) -> dict[str, Array]:
        here = frame_pose(tree, u.q, frame)
        velocity = twist(tree, u.q, u.qd, frame, axes="world")[:3]
        distance, slope = shape(here.p)
        steepness = np.sqrt(slope @ slope)
        n = slope / steepness
        depth = -distance / steepness
        approach = -(n @ velocity)
        push = where(depth > 0, np.maximum(p[f"{name}_stiffness"] * depth + p[f"{name}_damping"] * approach, 0.0), 0.0)
        along = velocity + approach * n
        force = push * (n - p[f"{name}_friction"] * along / np.sqrt(along @ along + creep**2))
        there = here.R.T @ force if axes == "body" else force
        return {f"wrench_{frame}": np.concatenate([there, np.zeros(3)]), "depth": depth}

    return System(name, inputs={"q": tree.nq, "qd": tree.nv},
                  parameters={f"{name}_{word}": float(value) for word, value in numbers.items()},
                  outputs={f"wrench_{frame}": (6, wrench_unit(axes)), "depth": "m"}, acts=True,
                  output=lambda t, x, u, p: output(u, p))


def wall(arm: ArmLike, frame: str, point: ArrayLike, normal: ArrayLike, stiffness: float, *,
         damping: float = 0.0, friction: float = 0.0, creep: float = 1e-3, axes: str = "body",
         name: str = "wall") -> System:
    """A flat wall through a point, whose normal leads out of it; see `surface`.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> floor = wall(arm, "tool", [0.0, -0.2, 0.0], [0.0, 1.0, 0.0], 1e4, friction=0.3)
    >>> cy.connect(arm.system(wrenches=["tool"]), floor)
    <system planar2r + wall: state q, qd; inputs tau; outputs q, qd, wrench_tool, depth; parameters wall_stiffness, ...>
    """
    return surface(arm, frame, plane_gap(point, normal), stiffness, damping=damping, friction=friction, creep=creep,
                   axes=axes, name=name)


def _gap_kernel(gap: Gap) -> Kernel[_Shape]:
    """`(p)`: the gap, and its gradient."""
    def shape(p: Array) -> _Shape:
        at = independent(p)
        distance = gap(at)
        return _Shape(distance, jacobian(distance, at))

    return kernel("(3)->(),(3)", outputs=_Shape._fields)(shape)


def _vector(values: ArrayLike, what: str) -> Array:
    given = numbers_of(values, what)
    if given.shape != (3,) or not np.isfinite(given).all():
        raise GeometryError(f"{what} must have three finite coordinates, not {shown(values)}")
    return given
