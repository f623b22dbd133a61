"""The transforms of links as matrices, and their derivatives by the joint coordinates and by time.

    A_i   pose of link i in link i-1
    W_i   the same in the root's frame
    J_i   pseudo-inertia (4, 4) of link i
Because z of a link is the axis of its joint, dA/dq = A Q with a constant Q, and a product of transforms is
differentiated by inserting Q behind the A that depends on the coordinate. The same formulas hold for the homogeneous
matrices (4, 4) and for the rotations (3, 3). Sources: Balafoutis & Patel section 2.3, (5.2.3b), (5.2.10); Yamamoto
(3.15), (3.20)-(3.24), (3.30), corrected as in spec E3-15."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.dynamics.rigid_links.moments import LinkMoments

_TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


def transform(link: Link, q: Array) -> Array:
    """A (4, 4)."""
    top = np.concatenate([link.rotation(q), np.stack([link.offset(q)], axis=1)], axis=1)
    return np.concatenate([top, np.array([[0.0, 0.0, 0.0, 1.0]])])


def insertion(link: Link) -> Array:
    """Q (4, 4) of a revolute or a prismatic joint: dA/dq = A Q, d2A/dq2 = A Q Q."""
    Q = np.zeros((4, 4))
    if link.is_revolute:
        Q[:3, :3] = _TURN
    else:
        Q[2, 3] = 1.0
    return Q


def pseudo_inertia(moments: LinkMoments) -> Array:
    """J (4, 4): Euler tensor, first moment and mass about the link's origin; its last column is m (r; 1)."""
    first = moments.first[:, None]
    return np.block([[moments.second, first], [first.T, np.array([[moments.mass]])]])  # (5.2.3b), (3.15)


class Derivatives(NamedTuple):
    """The derivatives of each link's transform W (4, 4) by the coordinates: `first[i][j]` (4, 4), `second[i][j, l]` (4,
    4); zero for j or l > i."""

    first: list[Any]
    second: list[Any]


def transform_derivatives(links: Links, q: Array) -> Derivatives:
    """The first and second derivatives of the transforms of all links of a chain by its coordinates.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> found = transform_derivatives(serial_chain(load_robot("planar2r")), np.zeros(2))
    >>> found.first[1][0][:3, 3].tolist(), bool(found.second[0][1, 1].any())
    ([0.0, 0.5, 0.0], False)
    """
    n = len(links.links)
    W = np.eye(4)
    first = [[np.zeros((4, 4))] * n]
    second = [[[np.zeros((4, 4))] * n] * n]
    for i, link in enumerate(links.links):
        A = transform(link, q)
        Q = insertion(link)
        W = W @ A                                                                       # (5.2.10a)
        moved = [dW @ A for dW in first[-1]]                                            # (3.30)
        turned = [[ddW @ A for ddW in row] for row in second[-1]]                       # (3.24)
        for j in range(i):
            turned[i][j] = turned[j][i] = moved[j] @ Q                                  # (3.24)
        moved[i] = W @ Q  # (3.30)
        turned[i][i] = W @ Q @ Q  # (3.30)
        first.append(moved)
        second.append(turned)
    return Derivatives([np.stack(row) for row in first[1:]],
                       [np.stack([np.stack(row) for row in rows]) for rows in second[1:]])


class MovingMatrix(NamedTuple):
    """A matrix, homogeneous or of rotation, and its first and second derivatives by time."""

    W: Array
    dW: Array
    ddW: Array

    def carried(self, A: Array, Q: Array, qd: Scalar, qdd: Scalar) -> MovingMatrix:
        """The next link's, which moves by A in this one, with dA/dq = A Q."""
        AQ = A @ Q                                                                      # (5.2.10b)
        W = self.W @ A                                                                  # (5.2.10a)
        dW = self.dW @ A + self.W @ AQ * qd                                             # (5.2.10b)
        ddW = self.ddW @ A + 2 * self.dW @ AQ * qd + self.W @ (AQ @ Q) * (qd * qd) + self.W @ AQ * qdd    # (5.2.10c)
        return MovingMatrix(W, dW, ddW)


def at_rest(size: int) -> MovingMatrix:
    return MovingMatrix(np.eye(size), np.zeros((size, size)), np.zeros((size, size)))


def moving_transforms(links: Links, q: Array, qd: Array, qdd: Array) -> list[MovingMatrix]:
    """W, W' and W'' (4, 4) of each link of a chain."""
    found = [at_rest(4)]
    for i, link in enumerate(links.links):
        found.append(found[-1].carried(transform(link, q), insertion(link), qd[i], qdd[i]))
    return found[1:]
