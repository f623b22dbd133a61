"""Dynamics of a chain in the vector-parameters of its joints, and the reduction to joint coordinates.

    c          (n, 3), for each joint its vector-parameter tan(angle/2) e, or its translation if it slides
    N(c)       2 (1 + c~)/(1 + c.c): angular velocity by the rate of c, in the axes before the joint; N^T in the link's
    H_V ddc = P_V + h_V         3n equations, gravity in h_V; all is rational in c
The model is that of ball joints and free slides, and exact for them: the default texts, with N^T between velocities of
a joint and rates of its c. Revolute joints keep one component of each c, tau = tan(q/2). It is taken in the joint's own
axes, where c is affine in tau, or as the source does, for the `whole` relative rotation <c0, e tau>, which is affine
only if c0 is perpendicular to e, and infinite if it is a half-turn. In own axes the chart of a joint is moved by a
half-turn wherever cos q < 0, so |tau| <= 1 always. Source: Mladenova (113), (126)-(140), corrected as in spec E-26 to
E-30 (R-26, R-28, R-29)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.inverse import newton_euler
from cayley.dynamics.rigid_links.links import JointPlacement, Link, Links
from cayley.dynamics.rigid_links.planar_rotations import NO_TURN, GeneralTurn
from cayley.errors import GeometryError, SingularityError
from cayley.geometry.rotations.vector_parameter import vector_parameter_from_matrix
from cayley.geometry.tensors.cross import skew
from cayley.model.joint_kinds import JointKind

_Z = np.array([0.0, 0.0, 1.0])
_ONE = np.eye(3)
Fixed = Sequence[Any] | None  # the rotations before the joints, if other than those of their placements


@dataclass(frozen=True)
class FreeJoint(JointKind):
    """A ball joint by its vector-parameter, with the angular velocity in the child's axes, or a free slide."""

    nq = 3
    nv = 3
    ball: bool = True

    def pose(self, q: Array) -> tuple[Any, Any]:
        return (rotation(q), np.zeros(3)) if self.ball else (_ONE, q)

    def subspace(self, q: Array) -> Array:
        return np.concatenate([np.zeros((3, 3)), _ONE] if self.ball else [_ONE, np.zeros((3, 3))])


def free_links(links: Links, fixed: Fixed = None) -> Links:
    """The same links on ball joints and free slides."""
    before = [link.placement[:3, :3] for link in links.links] if fixed is None else fixed
    made = [replace(link, motion=FreeJoint(not link.is_prismatic), coordinates=slice(3 * k, 3 * k + 3),
                    columns=slice(3 * k, 3 * k + 3),
                    place=JointPlacement((GeneralTurn(before[k]), NO_TURN, NO_TURN), link.placement[:3, 3]))
            for k, link in enumerate(links.links)]
    return replace(links, links=tuple(made), nq=3 * len(made), nv=3 * len(made))


def rotation(c: Array) -> Array:
    """O(c) = 1 + 2 (c~ + c~ c~)/(1 + c.c), (3, 3). Mladenova (64)."""
    C = skew(c)
    return _ONE + 2 / (1 + c @ c) * (C + C @ C)


def rate_map(c: Array) -> Array:
    """N(c) (3, 3). Mladenova (117)."""
    return 2 / (1 + c @ c) * (_ONE + skew(c))


def body_velocities(links: Links, c: Array, rates: Array) -> Array:
    """The velocities (3n) of ball joints and free slides at rates (n, 3) of c."""
    return np.concatenate([N.T @ rate for N, rate in zip(rate_maps(links, c), rates, strict=True)])


def vector_parameter_bias(links: Links, c: Array, dc: Array) -> Array:
    """h_V (3n). Mladenova (138), (139)."""
    return -np.concatenate(list(vector_parameter_inverse(links, c, dc, 0 * dc)))


def vector_parameter_inverse(links: Links, c: Array, dc: Array, ddc: Array, *, fixed: Fixed = None) -> Array:
    """P_V (n, 3): the generalised forces for c that give the accelerations ddc. Mladenova (140)."""
    gained = ddc - np.stack([steady_rates(*each) for each in zip(links.links, c, dc, strict=True)])
    tau = newton_euler.inverse_dynamics(free_links(links, fixed), np.concatenate(list(c)),
                                        body_velocities(links, c, dc), body_velocities(links, c, gained))
    return np.stack([N @ own for N, own in zip(rate_maps(links, c), tau.reshape(-1, 3), strict=True)])


def rate_maps(links: Links, c: Array) -> Iterator[Array]:
    """N(c) of ball joints, 1 of free slides."""
    return (_ONE if link.is_prismatic else rate_map(x) for link, x in zip(links.links, c, strict=True))


def steady_rates(link: Link, c: Array, dc: Array) -> Array:
    """ddc (3) at which the angular velocity N^T dc stays as it is."""
    return 0 * dc if link.is_prismatic else 2 / (1 + c @ c) * (c @ dc) * dc


# Joint coordinates


class Coordinates(NamedTuple):
    """The coordinates c (n, 3) of a state, their derivatives by the joint coordinates, and the fixed rotations that
    stand before them."""

    c: Array
    first: Array
    second: Array
    fixed: Sequence[Any]


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array, *, whole: bool = False) -> Array:
    """Joint forces (n) of a chain of revolute and prismatic joints: of P_V what is along the coordinates."""
    if not links.links:
        return np.zeros(0)
    c, first, second, fixed = joint_coordinates(links, q, whole=whole)
    ddc = first * qdd[:, None] + second * (qd * qd)[:, None]
    P = vector_parameter_inverse(links, c, first * qd[:, None], ddc, fixed=fixed)  # (140)
    return np.stack([slope @ own for slope, own in zip(first, P, strict=True)])


def joint_coordinates(links: Links, q: Array, *, whole: bool = False) -> Coordinates:
    """The vector-parameters of a chain of revolute and prismatic joints at `q`.

    `whole`: c of the whole rotation between two links, as in the source; its fixed part must not be a half-turn, and no
    chart is moved."""
    kinds = [_whole_joint if whole and link.is_revolute else _own_joint for link in links.links]
    rows = [kind(link, q[link.coordinates][0]) for kind, link in zip(kinds, links.links, strict=True)]
    c, first, second = (np.stack([row[k] for row in rows]) for k in range(3))
    return Coordinates(c, first, second, [row[3] for row in rows])


def joint_values(links: Links, c: ArrayLike) -> Array:
    """The joint coordinates (n) of vector-parameters c (n, 3) in the joints' own axes, angles in (-pi, pi).

    `GeometryError` names the joint whose c is not along its axis: the model in vector-parameters allows that (its
    joints are spherical), the mechanism does not. `SingularityError`: a c that is not finite."""
    c = np.asarray(c, dtype=float)
    check_finite([link.name for link in links.links], c, [link.is_prismatic for link in links.links])
    for link, row in zip(links.links, c, strict=True):
        if np.abs(row[:2]).max() > 1e-12 * max(1.0, abs(row[2])):
            raise GeometryError(
                f"the vector-parameter {row} of joint {link.name!r} is not along the joint's axis (0, 0, 1): it is a "
                "configuration of a spherical joint, not of this one")
    return np.where([link.is_revolute for link in links.links], 2 * np.arctan(c[:, 2]), c[:, 2])


def check_finite(joints: Sequence[str], c: ArrayLike, slides: Sequence[bool]) -> None:
    """Raise `SingularityError` that names the first joint at a half-turn, where its vector-parameter (..., n, 3) is
    infinite, or too long to be squared; `GeometryError` for NaN, and for a joint that `slides` infinitely far."""
    size = np.abs(np.asarray(c, dtype=float)).max(axis=-1).reshape(-1, len(joints)).max(axis=0, initial=0.0)
    longest = 1e18 if np.asarray(c).dtype == np.float32 else 1e150
    for joint, reach, sliding in zip(joints, size, slides, strict=True):
        what = "translation" if sliding else "vector-parameter"
        if np.isnan(reach) or (sliding and not reach < np.inf):
            raise GeometryError(f"the {what} of joint {joint!r} is {reach}, and has to be finite")
        if not sliding and reach > longest:
            raise SingularityError(
                f"the vector-parameter of joint {joint!r} is infinite, or beyond {longest:g}: the joint is at a "
                "half-turn. Count its turn from another position, as `joint_coordinates` does")


def _own_joint(link: Link, q: Scalar) -> tuple[Any, Any, Any, Any]:
    C = link.placement[:3, :3]
    if link.is_prismatic:
        return _Z * q, _Z, 0 * _Z, C
    behind = where(np.cos(q) < 0, -1.0, 1.0)
    tau = behind * np.sin(q) / (1 + behind * np.cos(q))
    slope = (1 + tau * tau) / 2
    return _Z * tau, _Z * slope, _Z * (tau * slope), C * np.stack([behind, behind, behind * behind])


def _whole_joint(link: Link, q: Array) -> tuple[Any, Any, Any, Any]:
    """c = (c0 + (e + c0 x e) tau)/(1 - (c0.e) tau), spec R-29."""
    c0 = vector_parameter_from_matrix(link.placement[:3, :3])
    tau = np.tan(q / 2)
    slope = (1 + tau * tau) / 2
    turned = _Z + np.cross(c0, _Z)
    k = c0[2]
    c = (c0 + turned * tau) / (1 - k * tau)
    by_tau = (turned + k * c) / (1 - k * tau)
    return c, by_tau * slope, 2 * k * by_tau / (1 - k * tau) * (slope * slope) + by_tau * (tau * slope), np.eye(3)
