"""Partial derivatives of the tensors of dynamics of an open chain by the coordinate, velocity and acceleration of one
joint.

Of every quantity of link i the derivative is taken of its components in the axes of link i, and given in them. `j` is
the joint; joints after link i count too where they are felt. With a prismatic joint j every rotation stands still; s, U
and n change by its direction z_j.
    A, W     axes of link i in those of link i-1, and in the root's; with their first and second rates
    w~, W^   skew tensor of the angular velocity, and acceleration tensor         mu    torque of the augmented link
    s_i,i+1  from the origin of link i to that of the next                        s_0i  place of the origin
    U        first moment of links i to n                                         eta   their moment about the origin
    f        force that links i to n need, m s_0i'' + U''
Source: Balafoutis & Patel, Appendix C, Lemmas C-1 to C-12, as in spec R10; mu and s_i,i+1 also before a prismatic
joint, and f as in spec S1-111."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.linearised.nominal import MovingLink, Nominal, nominal
from cayley.dynamics.rigid_links.links import Links, serial_chain
from cayley.errors import SignatureError
from cayley.geometry.tensors.cross import skew
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.showing import brief

Result = TypeVar("Result")
_ZERO = np.zeros(3)
_NO_TENSOR = np.zeros((3, 3))


class Partial(NamedTuple):
    """The derivatives of a vector (3) or tensor (3, 3) by q_j, qd_j and qdd_j."""

    by_q: Array
    by_qd: Array
    by_qdd: Array


NO_CHANGE = Partial(_ZERO, _ZERO, _ZERO)
NO_TENSOR_CHANGE = Partial(_NO_TENSOR, _NO_TENSOR, _NO_TENSOR)


def _of_known_links(method: Callable[[Any, int, int], Result]) -> Callable[[Any, int, int], Result]:
    """Links and joints that there are not, those counted from the end among them, are refused."""
    @wraps(method)
    def checked(self: PartialDerivatives, i: int, j: int) -> Result:
        n = len(self.motion.links)
        if i not in range(n) or j not in range(n):
            raise SignatureError(f"link {i} and joint {j}: they are numbered from 0 to {n - 1}")
        return method(self, i, j)

    return checked


@dataclass(frozen=True, eq=False)
class PartialDerivatives:
    """The library for one nominal motion; made by `partial_derivatives`. Links and joints are numbered from 0."""

    motion: Nominal
    turns: tuple[tuple[Any, Any, Any], ...]  # A and its rates, of each link

    __repr__ = brief

    @_of_known_links
    def link_rotation(self, i: int, j: int) -> tuple[Partial, Partial, Partial]:
        """The derivatives of A_i, A_i' and A_i''."""
        if i != j or self.motion.links[j].link.is_prismatic:
            return NO_TENSOR_CHANGE, NO_TENSOR_CHANGE, NO_TENSOR_CHANGE
        A, dA, ddA = (x @ skew(np.array([0.0, 0.0, 1.0])) for x in self.turns[i])
        return Partial(A, _NO_TENSOR, _NO_TENSOR), Partial(dA, A, _NO_TENSOR), Partial(ddA, 2 * dA, A)

    @_of_known_links
    def rotation(self, i: int, j: int) -> tuple[Partial, Partial, Partial]:
        """The derivatives of W_i, W_i' and W_i'' (rows in the root's axes)."""
        if not self._turned(i, j):
            return NO_TENSOR_CHANGE, NO_TENSOR_CHANGE, NO_TENSOR_CHANGE
        here = self.motion.links[i]
        z, dz, ddz = (skew(x) for x in self._axis(j))
        R = here.R
        w = skew(here.w)
        W = here.W
        # Lemmas C-1 to C-3
        first = z @ R
        rate = (dz + z @ w) @ R
        second = (ddz + 2 * dz @ w + z @ W) @ R
        return Partial(first, _NO_TENSOR, _NO_TENSOR), Partial(rate, first,
                                                               _NO_TENSOR), Partial(second, 2 * rate, first)

    @_of_known_links
    def angular_velocity(self, i: int, j: int) -> Partial:
        """The derivatives of w_i~."""
        if not self._turned(i, j):
            return NO_TENSOR_CHANGE
        z, dz, _ = self._axis(j)
        return self._tensors(i, skew(dz), skew(z), _NO_TENSOR)  # Lemma C-4

    @_of_known_links
    def acceleration_tensor(self, i: int, j: int) -> Partial:
        """The derivatives of W^_i = w_i'~ + w_i~ w_i~."""
        if not self._turned(i, j):
            return NO_TENSOR_CHANGE
        z, dz, ddz = (skew(x) for x in self._axis(j))
        w = skew(self.motion.links[i].w)
        return self._tensors(i, ddz + 2 * dz @ w, 2 * (dz + z @ w), z)  # Lemma C-5

    @_of_known_links
    def angular_acceleration(self, i: int, j: int) -> Partial:
        """The derivatives of w_i'."""
        if not self._turned(i, j):
            return NO_CHANGE
        z, dz, ddz = self._axis(j)
        w = self.motion.links[i].w
        return self._vectors(i, ddz + np.cross(dz, w), 2 * dz + np.cross(z, w), z)  # Lemma C-6

    @_of_known_links
    def augmented_torque(self, i: int, j: int) -> Partial:
        """The derivatives of mu_i."""
        here = self.motion.links[i]
        if self._turned(i, j):
            z, dz, ddz = self._axis(j)
            K = here.augmented.inertia
            L = skew(here.w) @ here.augmented.second
            return self._vectors(i, K @ ddz - 2 * L @ dz, 2 * (K @ dz - L @ z), K @ z)  # Lemma C-7
        if j == i + 1 and self.motion.links[j].link.is_prismatic:  # the augmented link is as long as joint j makes it
            s = self.motion.between(i, j)[0]
            z = self.motion.links[j].z
            changed = here.W @ (self.motion.carried[j].m * (np.outer(s, z) + np.outer(z, s)))
            return self._vectors(i, _vee(changed - changed.T), _ZERO, _ZERO)
        return NO_CHANGE

    @_of_known_links
    def way_to_next(self, i: int, j: int) -> Partial:
        """The derivatives of s_i,i+1''. The last link has no next one."""
        if j > i + 1 or i + 1 == len(self.motion.links):
            return NO_CHANGE
        if self._turned(i, j):
            return self._vectors(i, *_turning(self._axis(j), *self.motion.between(i, i + 1)))  # Lemma C-8
        return self._vectors(i, *_sliding(self._axis(j))) if j == i + 1 and self._slides(j) else NO_CHANGE

    @_of_known_links
    def origin(self, i: int, j: int) -> Partial:
        """The derivatives of s_0i''."""
        if j > i:
            return NO_CHANGE
        if self._slides(j):
            return self._vectors(i, *_sliding(self._axis(j)))
        by_q, by_qd, by_qdd = _turning(self._axis(j), *self.motion.between(j, i))
        # Lemma C-9, C-10
        return self._vectors(i, by_q - np.cross(self.motion.links[j].z, self.motion.links[j].dds), by_qd, by_qdd)

    @_of_known_links
    def first_moment(self, i: int, j: int) -> Partial:
        """The derivatives of U_i''."""
        later = self.motion.carried[max(i, j)]
        if self._slides(j):
            return self._vectors(i, *[later.m * x for x in _sliding(self._axis(j))]) if j > i else NO_CHANGE
        by_q, by_qd, by_qdd = _turning(self._axis(j), later.U, later.dU)
        if j > i:
            by_q = by_q + np.cross(self.motion.links[j].z, later.ddU)
        return self._vectors(i, by_q, by_qd, by_qdd)  # Lemma C-11

    @_of_known_links
    def force(self, i: int, j: int) -> Partial:
        """The derivatives of f_i = m_i s_0i'' + U_i'', with the mass m_i of links i to n; along z_i of a prismatic
        joint i it is a row of the sensitivity matrices."""
        mass = self.motion.carried[i].m
        parts = zip(self.origin(i, j), self.first_moment(i, j), strict=True)
        return Partial(*[mass * moved + changed for moved, changed in parts])

    @_of_known_links
    def moment(self, i: int, j: int) -> Partial:
        """The derivatives of eta_i; along z_i it is a column of the sensitivity matrices (7.3.2)-(7.3.4)."""
        z, dz, ddz = self._axis(j)
        later = self.motion.carried[max(i, j)]
        s, ds = self.motion.between(min(i, j), max(i, j))
        if self._slides(j):
            arm = skew(later.U) + (later.m * skew(s) if j > i else 0.0)
            by_q, by_qd, by_qdd = (arm @ x for x in _sliding((z, dz, ddz)))
            return self._vectors(i, by_q + (np.cross(z, later.F) if j > i else 0.0), by_qd, by_qdd)
        U = skew(later.U)
        if j > i:
            E = later.E - skew(s) @ U
            L = later.L + skew(s) @ skew(later.dU)
            own = (U @ skew(self.motion.links[j].dds) - skew(s) @ skew(later.ddU) - skew(later.n)) @ z
        else:
            E = later.E - U @ skew(s)
            L = later.L + U @ skew(ds)
            own = U @ np.cross(self.motion.links[j].dds, z)
        return self._vectors(i, E @ ddz - 2 * L @ dz + own, 2 * (E @ dz - L @ z), E @ z)  # Lemma C-12

    def _axis(self, j: int) -> tuple[Any, Any, Any]:
        joint = self.motion.links[j]
        return joint.z, joint.dz, joint.ddz

    def _slides(self, j: int) -> bool:
        return self.motion.links[j].link.is_prismatic

    def _turned(self, i: int, j: int) -> bool:
        return j <= i and not self._slides(j)

    def _vectors(self, i: int, *changes: Array) -> Partial:
        return Partial(*[self.motion.links[i].R.T @ x for x in changes])

    def _tensors(self, i: int, *changes: Array) -> Partial:
        R = self.motion.links[i].R
        return Partial(*[R.T @ x @ R for x in changes])


def partial_derivatives(links: Links, q: Array, qd: Array, qdd: Array) -> PartialDerivatives:
    """The library at a state and an acceleration of an open chain (`serial_chain`).

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> library = partial_derivatives(serial_chain(load_robot("s1_g1")),
    ...                               *np.array([[0.3, -0.7], [0.5, 1.2], [-0.4, 0.8]]))
    >>> library.moment(0, 1).by_q[2].round(10)
    np.float64(1.0806063382)
    """
    motion = nominal(links, q, qd, qdd)
    return PartialDerivatives(motion, tuple(_link_turn(link, q, qd, qdd) for link in motion.links))


def derivative_library(tree: Tree, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> PartialDerivatives:
    """The same of a mechanism, an open chain of revolute and prismatic joints, at one state and acceleration (nv)."""
    check_independent(tree, "the library of partial derivatives")
    state = [np.asarray(x, dtype=float) for x in (q, qd, qdd)]
    if any(x.shape != (tree.nv,) for x in state):
        raise SignatureError(
            f"partial derivatives of {tree.name} are those at one state and acceleration, q, qd and qdd ({tree.nv}), "
            f"not {', '.join(str(x.shape) for x in state)}")
    return partial_derivatives(serial_chain(tree), *state)


def _link_turn(moving: MovingLink, q: Array, qd: Array, qdd: Array) -> tuple[Any, Any, Any]:
    link = moving.link
    A = link.rotation(q)
    z = skew(np.array([0.0, 0.0, 1.0 if link.is_revolute else 0.0]))
    rate = qd[link.columns][0]
    second = qdd[link.columns][0]
    return A, A @ z * rate, A @ z @ z * (rate * rate) + A @ z * second


def _turning(axis: tuple[Any, Any, Any], x: Array, dx: Array) -> tuple[Any, Any, Any]:
    """The derivatives of x'', for a vector x between two points that the joint turns."""
    z, dz, ddz = axis
    return np.cross(ddz, x) + 2 * np.cross(dz, dx), 2 * (np.cross(dz, x) + np.cross(z, dx)), np.cross(z, x)


def _sliding(axis: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    z, dz, ddz = axis
    return ddz, 2 * dz, z


def _vee(T: Array) -> Array:
    return np.array([T[2, 1], T[0, 2], T[1, 0]])
