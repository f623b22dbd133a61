"""The joints of a chain as vector-parameters, and the way back from the model in vector-parameters to joint
coordinates.

    c        vector-parameter tan(angle/2) e of a revolute joint; the translation t of a prismatic one          (n, 3)
    tau      tan(q/2), the one informative component of the c of a revolute joint
    N(c)     2 (1 + c~)/(1 + c.c): the angular velocity by the rate of c
A joint's c is taken in its own axes, after the fixed rotation C of its placement, and is then affine in tau. The source
takes the whole relative rotation <c0, e tau> instead, which is affine only if c0 is perpendicular to e, and infinite if
it is a half-turn. Both are here (`whole`), with first and second derivatives, so that one reduction serves both.
Half-turns: the chart of a joint is moved by a half-turn wherever cos q < 0, so |tau| <= 1 always. Source: Mladenova
3.1, 3.2 (113), spec R-26, R-29.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.errors import GeometryError, SingularityError
from cayley.geometry.rotations.vector_parameter import vector_parameter_from_matrix
from cayley.geometry.tensors.cross import skew

_Z = np.array([0.0, 0.0, 1.0])


class Coordinates(NamedTuple):
    """The coordinates c (n, 3) of a state, their derivatives by the joint coordinates, and the fixed rotations that
    stand before them."""

    c: Array
    first: Array
    second: Array
    fixed: Sequence[Any]


def rotation(c: Array) -> Array:
    """O(c) = 1 + 2 (c~ + c~ c~)/(1 + c.c), (3, 3). Mladenova (64)."""
    C = skew(c)
    return np.eye(3) + 2 / (1 + c @ c) * (C + C @ C)


def rate_map(c: Array) -> Array:
    """N(c) (3, 3), the factor 2 restored as in spec E-26. Mladenova (117)."""
    return 2 / (1 + c @ c) * (np.eye(3) + skew(c))


def joint_coordinates(links: Links, q: Array, *, whole: bool = False) -> Coordinates:
    """The vector-parameters of a chain of revolute and prismatic joints at `q`.

    `whole`: c of the whole rotation between two links, as in the source; its fixed part must not be a half-turn, and no
    chart is moved.
    """
    kinds = [_whole_joint if whole and link.is_revolute else _own_joint for link in links.links]
    rows = [kind(link, q[link.coordinates][0]) for kind, link in zip(kinds, links.links, strict=True)]
    c, first, second = (np.stack([row[k] for row in rows]) for k in range(3))
    return Coordinates(c, first, second, [row[3] for row in rows])


def reduced(S: Coordinates, H: Array, h: Array, qd: Array) -> tuple[Any, Any]:
    """H(q) (n, n) and h(q, qd) (n) of H qdd = tau + h, from H_V (3n, 3n) and h_V (3n) of the model in
    vector-parameters.

    h_V loses what the second derivative of c(q) costs, the term that a rational c(q) adds to an affine one.
    """
    n = len(S.c)
    E = S.first
    blocks = np.stack([[E[i] @ H[3 * i:3 * i + 3, 3 * j:3 * j + 3] @ E[j] for j in range(n)] for i in range(n)])
    bent = h - H @ np.concatenate([S.second[i] * qd[i] * qd[i] for i in range(n)])
    return blocks, np.stack([E[i] @ bent[3 * i:3 * i + 3] for i in range(n)])


def joint_values(links: Links, c: ArrayLike) -> Array:
    """The joint coordinates (n) of vector-parameters c (n, 3) in the joints' own axes, angles in (-pi, pi).

    `GeometryError` names the joint whose c is not along its axis: the model in vector-parameters allows that (its
    joints are spherical), the mechanism does not. `SingularityError`: a c that is not finite.

    >>> import cayley as cy
    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> joint_values(serial_chain(cy.load("s1_f2").tree), np.array([[0, 0, 1.0], [0, 0, -1.0]])).tolist() == [np.pi / 2,
    ...                                                                                                       -np.pi
    ...                                                                                                       / 2]
    True
    """
    c = np.asarray(c, dtype=float)
    check_finite([link.name for link in links.links], c, [link.is_prismatic for link in links.links])
    for link, row in zip(links.links, c, strict=True):
        if np.abs(row[:2]).max() > 1e-12 * max(1.0, abs(row[2])):
            raise GeometryError(
                f"the vector-parameter {row} of joint {link.name!r} is not along the joint's axis (0, 0, 1): it is a "
                "configuration of a spherical joint, not of this one")
    return np.array([
        2 * np.arctan(row[2]) if link.is_revolute else row[2] for link, row in zip(links.links, c, strict=True)])


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
