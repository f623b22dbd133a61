"""The regressor Y of generalised forces, linear in the mass properties, tau = Y(q, qd, qdd) pi, and of energies.

A link moves as the Newton-Euler recursion says, whatever its mass; its force and moment are linear in its ten moments,

    f = m a + W u         n = u x a + dual(W J)
so the recursion inwards runs on (6, 10) matrices. Columns of joints may follow: the inertia of a rotor (vd), a constant
offset (1), viscous friction (v), Coulomb friction (sign v), and the linear numbers of included springs. Of a mechanism
with constraints tau are the forces of its actuated joints, zero in the others: R^T times what the joints of its tree
need, with qd = R qd_a. Source: Balafoutis & Patel (5.3.46); Khalil & Dombre, chapters 11 and 12.

    K = Y_K(q, qd) pi = m u.u / 2 + n.(u x w) + (tr(J) w.w - w.J w) / 2         P = Y_P(q) pi = -m g.s - n.R^T g
of a link with velocity u of its origin and angular velocity w in its axes, rotation R and origin s in the root's frame.
A rotor has v^2 / 2 by its inertia, a spring what it stores by its stiffness. Source: Khalil & Dombre, section 12.4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.newton_euler import Movement, movements, own_load
from cayley.dynamics.rigid_links.drives import DriveSpring, stored_by, tied_column, ties
from cayley.dynamics.rigid_links.energies import link_poses, link_twists
from cayley.dynamics.rigid_links.links import ROOT, Link, Links, links_of
from cayley.dynamics.rigid_links.moments import MOMENT_NAMES, moments_from_vector, vector_from_moments
from cayley.errors import ModelError, SignatureError, UnsupportedError
from cayley.geometry.pose import Pose
from cayley.geometry.tensors.cross import skew
from cayley.model.parts import Body, Friction, Joint, Rotor
from cayley.model.tree import Tree
from cayley.showing import brief

JOINT_TERMS = ("rotor", "offset", "viscous", "coulomb")
"""What a joint may add to the parameters, in this order."""


def carriers(links: Links) -> tuple[int, ...]:
    """The numbers of the links that carry bodies: all but those in the middle of universal and planar joints."""
    return tuple(sorted({number for number, _ in links.bodies.values()} - {ROOT}))


def regressor(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Y (nv, 10 k) for the moments of the k links that carry bodies, `carriers(links)`, about their origins and in
    their axes.

    >>> from cayley.model.catalogue import load_robot
    >>> links = links_of(load_robot("planar2r"))
    >>> # torques for 1 kg at the second joint
    >>> regressor(links, np.zeros(2), np.zeros(2), np.array([1.0, 0.0]))[:, 10].round(6)
    array([5.155, 0.   ])
    """
    moved = movements(links, q, qd, qdd)
    blocks = [_block(links, number, moved[number], q) for number in carriers(links)]
    return np.concatenate([np.zeros((links.nv, 0)), *blocks], axis=1)


def load_matrix(link: Link, movement: Movement) -> tuple[Any, Any]:
    """Force and moment (3, 10), by each of its ten moments, that a link by itself needs to move as it does."""
    loads = [own_load(replace(link, moments=moments_from_vector(unit)), movement) for unit in np.eye(10)]
    return np.stack([load.f for load in loads], axis=1), np.stack([load.n for load in loads], axis=1)


def _block(links: Links, number: int, movement: Movement, q: Array) -> Array:
    """The ten columns (nv, 10) of a link: its load, taken inwards and felt by every joint on the way."""
    rows = [np.zeros((1, 10))] * links.nv
    f, n = load_matrix(links.links[number], movement)
    while number != ROOT:
        link = links.links[number]
        felt = link.subspace(q).T @ np.concatenate([f, n])
        for row, force in zip(range(links.nv)[link.columns], felt, strict=True):
            rows[row] = force[None]
        f = link.inwards(f, q)
        n = link.inwards(n, q)
        n = n + skew(link.offset(q)) @ f
        number = link.parent
    return np.concatenate(rows)


@dataclass(frozen=True, eq=False)
class RegressorModel:
    """tau = Y(q, qd, qdd) pi of a mechanism: its columns, their names, and the way back from values to a mechanism.
    Made by `linear_model`. Parameters are ordered by links, each with its ten moments and then the terms of its
    joint."""

    tree: Tree
    links: Links
    joint_terms: tuple[str, ...]

    __repr__ = brief

    @cached_property
    def driven(self) -> Tree | None:
        """The tree of a mechanism with constraints whose actuated joints are those with measured forces: its own, or
        all, if some motions are not driven."""
        if not self.tree.is_constrained:
            return None
        from cayley.kinematics.constraints.space import actuation  # which few mechanisms need
        driven = actuation(self.tree).kind != "under-actuated"
        return self.tree if driven else self.tree.with_actuated(*self.tree.joint_names)

    @cached_property
    def measured(self) -> Array:
        """At which velocities (nv) there are forces to measure."""
        places = range(self.links.nv) if self.driven is None else self.driven.actuated_velocities
        return np.isin(np.arange(self.links.nv), list(places))

    @cached_property
    def freedoms(self) -> int:
        """The number of independent forces at each state."""
        if self.driven is None:
            return self.links.nv
        from cayley.kinematics.constraints.structure import mobility
        return mobility(self.tree)

    @cached_property
    def felt(self) -> Callable[[ArrayLike, ArrayLike], Array]:
        """`felt(q, tau)`: of forces (..., nv), what does something to the motion; all of them, if there are no
        constraints. Drives that are redundant can work against each other."""
        if self.driven is None:
            return lambda q, tau: np.asarray(tau, dtype=float)
        return kernel(f"({self.links.nq}),({self.links.nv})->({self.links.nv})",
                      name="felt_forces")(lambda q, tau: self._share(q, tau[:, None])[:, 0])

    def _share(self, q: Array, needed: Array) -> Array:
        """The part of forces (nv, k) at the joints of the tree that the measured ones give (nv, k)."""
        if self.driven is None:
            return needed
        from cayley.kinematics.constraints.actuated_motion import passive_motion
        found = dict(zip(self.driven.actuated_velocities, passive_motion(self.driven, q).T @ needed, strict=True))
        return np.stack([found.get(k, np.zeros(needed.shape[1])) for k in range(self.links.nv)])

    @cached_property
    def columns(self) -> tuple[tuple[int, str], ...]:
        """For each parameter its link and its name there: "m" .. "Jzz", "rotor", "offset", "viscous", "coulomb",
        "stiffness", "damping", "cubic"."""
        return tuple((number, word) for number in self.movers for word in self.words(number))

    @cached_property
    def movers(self) -> tuple[int, ...]:
        """The links that have parameters."""
        return carriers(self.links)

    def words(self, number: int) -> tuple[str, ...]:
        """The names of the parameters of one link. Joints with several velocities have no terms of their own; those
        with springs have their numbers, and motors whose rotors only spin their inertia."""
        joint = self._joint(number)
        if joint.motion.nv != 1:
            return MOMENT_NAMES
        tie = self._ties.get(self.links.links[number].columns.start)
        terms = [word for word in JOINT_TERMS if word in self.joint_terms or (word == "rotor" and self._spins(joint))]
        if tie is not None:
            terms = [word for word in terms if word != "rotor"] + list(tie.spring.linear_numbers)
        return (*MOMENT_NAMES, *terms)

    @cached_property
    def _ties(self) -> dict[int, DriveSpring]:
        """The springs that take part, by the places of their joints among the velocities."""
        return {tie.qd: tie for tie in ties(self.tree)}

    def _spins(self, joint: Joint) -> bool:
        return self.tree.joint_number(joint.name) in self.tree.motors.values() and joint.rotor.inertia > 0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """One name for each parameter: "Jxx(link2)", "viscous(joint2)"."""
        return tuple(f"{word}({self._owner(number, word)})" for number, word in self.columns)

    @property
    def size(self) -> int:
        return len(self.columns)

    def text(self, q: Array, qd: Array, qdd: Array, *, sign: Callable[[Any], Any] = np.sign) -> Array:
        """Y (nv, size) at one state; `sign` is that of Coulomb friction."""
        moments = regressor(self.links, q, qd, qdd)
        parts = [np.zeros((self.links.nv, 0))]
        for place, number in enumerate(self.movers):
            parts.append(moments[:, 10 * place:10 * place + 10])
            own = self.links.links[number].columns
            felt = {"rotor": qdd, "offset": np.ones(self.links.nv), "viscous": qd, "coulomb": sign(qd)}
            parts += [_alone(felt[word], own, self.links.nv) if word in felt else
                      tied_column(self._ties[own.start], word, q, qd) for word in self.words(number)[10:]]
        return self._share(q, np.concatenate(parts, axis=1))

    @cached_property
    def regressor(self) -> Kernel:
        """`regressor(q, qd, qdd)`: Y (..., nv, size), compiled, broadcasts over leading axes.

        >>> from cayley.model.catalogue import load_robot
        >>> linear_model(load_robot("puma560")).regressor(np.zeros((5, 6)), np.zeros(6), np.zeros(6)).shape
        (5, 6, 60)
        """
        nq = self.links.nq
        nv = self.links.nv
        return kernel(f"({nq}),({nv}),({nv})->({nv},{self.size})",
                      name="regressor")(lambda q, qd, qdd: self.text(q, qd, qdd))

    @cached_property
    def kinetic_energy_regressor(self) -> Kernel:
        """`kinetic_energy_regressor(q, qd)`: the kinetic energy by each parameter (..., size); times `values` it is the
        kinetic energy, with that of rotors if these are among the `joint_terms`."""
        def text(q: Array, qd: Array) -> Array:
            return self._by_terms(kinetic_energy_columns(self.links, q, qd),
                                  lambda place, word: qd[place] ** 2 / 2 if word == "rotor" else 0.0)

        return kernel(f"({self.links.nq}),({self.links.nv})->({self.size})", name="kinetic_energy_regressor",
                      units={"q": "rad, m", "qd": "rad/s, m/s"})(text)

    @cached_property
    def potential_energy_regressor(self) -> Kernel:
        """`potential_energy_regressor(q)`: the potential energy by each parameter (..., size), of gravity, and of
        springs if they are included; times `values` it is the potential energy."""
        def text(q: Array) -> Array:
            still = np.zeros(self.links.nv)
            return self._by_terms(
                potential_energy_columns(self.links, q),
                lambda place, word: 0.0 if word in JOINT_TERMS else stored_by(self._ties[place], word, q, still))

        return kernel(f"({self.links.nq})->({self.size})", name="potential_energy_regressor",
                      units={"q": "rad, m"})(text)

    def _by_terms(self, links: Sequence[Array], of_term: Callable[[int, str], Any]) -> Array:
        """A row (size) from those of the links' moments (10) and what the terms of their joints have, by the places of
        the joints among the velocities."""
        parts = [np.zeros(0)]
        for number in self.movers:
            place = self.links.links[number].columns.start
            parts += [links[number], *[np.array([of_term(place, word)]) for word in self.words(number)[10:]]]
        return np.concatenate(parts)

    @cached_property
    def values(self) -> Array:
        """The parameters (size) that the mechanism itself has; an unknown mass counts as none."""
        return np.array([self._value(number, word) for number, word in self.columns])

    def tree_with(self, values: ArrayLike) -> Tree:
        """The mechanism with other parameters (size). What is fixed to the body that a joint moves counts as part of
        that body, and has no mass of its own. Its dynamics include rotors and friction if the parameters do. Constant
        offsets have no place in it.

        A mass that is not positive is an error that names the body, unless all ten numbers are zero."""
        values = np.asarray(values, dtype=float)
        if values.shape != (self.size,):
            raise SignatureError(f"{self.tree.name} has {self.size} parameters, not the shape {values.shape}")
        found = {column: value for column, value in zip(self.columns, values.tolist(), strict=True)}
        bodies = {self._owner(n, "m"): self._body(n, [found[n, word] for word in MOMENT_NAMES]) for n in self.movers}
        joints = {self._joint(n).name: self._with_terms(n, found) for n in self.movers}
        moving = {name for name, (number, _) in self.links.bodies.items() if number != ROOT}
        drives = {"rotor": "armature", "viscous": "friction", "coulomb": "friction"}
        included = self.tree.included | {drives[term] for term in self.joint_terms if term in drives}
        return replace(
            self.tree, included=included,
            bodies=tuple(bodies.get(b.name,
                                    Body(b.name) if b.name in moving else b)
                         for b in self.tree.bodies), joints=tuple(joints.get(j.name, j) for j in self.tree.joints))

    def _joint(self, number: int) -> Joint:
        return self.tree.joints[self.tree.joint_number(self.links.links[number].name)]

    def _owner(self, number: int, word: str) -> str:
        joint = self._joint(number)
        return joint.child if word in MOMENT_NAMES else joint.name

    def _value(self, number: int, word: str) -> float:
        joint = self._joint(number)
        if word in MOMENT_NAMES:
            return float(vector_from_moments(self.links.links[number].moments)[MOMENT_NAMES.index(word)])
        return {
            "rotor": joint.rotor.reflected, "offset": 0.0, "viscous": joint.friction.viscous,
            "coulomb": joint.friction.coulomb}[word] if word in JOINT_TERMS else float(getattr(joint.spring, word))

    def _body(self, number: int, ten: list[float]) -> Body:
        name = self._owner(number, "m")
        if not any(ten):
            return Body(name, 0.0)
        if not ten[0] > 0:
            raise ModelError(
                f"the mass of {name!r} would be {ten[0]:.6g} kg, which no body has: take a physically consistent "
                "estimate"
            )
        back = Pose.of(self.links.bodies[name][1]).inverse
        seen = moments_from_vector(np.array(ten)).seen_from(*back)
        return Body(name, ten[0], seen.center, (seen.inertia_about_center + seen.inertia_about_center.T) / 2)

    def _with_terms(self, number: int, found: dict[tuple[int, str], float]) -> Joint:
        joint = self._joint(number)
        friction = Friction(found.get((number, "viscous"), joint.friction.viscous),
                            found.get((number, "coulomb"), joint.friction.coulomb))
        reflected = found.get((number, "rotor"))
        rotor = joint.rotor if reflected is None else _rotor(reflected, joint.rotor.gear)
        numbers = {word: value for (owner, word), value in found.items() if owner == number
                   and word not in (*MOMENT_NAMES, *JOINT_TERMS)}
        spring = replace(joint.spring, **numbers) if joint.spring is not None and numbers else joint.spring
        return replace(joint, friction=friction, rotor=rotor, spring=spring)


def linear_model(tree: Tree, *, joint_terms: Sequence[str] = ()) -> RegressorModel:
    """The model of a mechanism that is linear in its parameters; `joint_terms` out of "rotor", "offset", "viscous",
    "coulomb". Masses need not be known: they are what is asked for.

    >>> from cayley.model.catalogue import load_robot
    >>> model = linear_model(load_robot("planar2r"), joint_terms=["viscous"])
    >>> model.size, model.names[10:13]
    (22, ('viscous(joint1)', 'm(link2)', 'ux(link2)'))
    """
    unknown = [word for word in joint_terms if word not in JOINT_TERMS]
    if unknown:
        raise ModelError(f"joints have no term {unknown[0]!r}; they have {', '.join(JOINT_TERMS)}")
    for tie in ties(tree):
        if not tie.spring.linear_numbers:
            raise UnsupportedError(f"{tree.name} includes a {tie.spring.word} spring, whose torque is not linear in "
                                   "numbers that could be identified")
    free = tree.spanning_tree()
    known = replace(free, bodies=tuple(replace(body, mass=body.mass or 0.0) for body in free.bodies))
    return RegressorModel(tree, links_of(known), tuple(word for word in JOINT_TERMS if word in joint_terms))


def _alone(values: Array, columns: slice, size: int) -> Array:
    places = range(size)[columns]
    return np.stack([values[k] if k in places else values[k] * 0.0 for k in range(size)])[:, None]


def _rotor(reflected: float, gear: float) -> Rotor:
    return Rotor(reflected / gear**2, gear) if gear else Rotor(reflected)


def kinetic_energy_columns(links: Links, q: Array, qd: Array) -> list[Array]:
    """The kinetic energy of each link by its ten moments (10).

    >>> from cayley.dynamics.rigid_links.links import links_of
    >>> from cayley.model.catalogue import load_robot
    >>> kinetic_energy_columns(links_of(load_robot("planar2r")), np.zeros(2), np.array([2.0, 0.0]))[1] + 0.0
    array([0.5, 2. , 0. , 0. , 2. , 0. , 0. , 2. , 0. , 0. ])
    """
    found = []
    for u, w in link_twists(links, q, qd):
        x, y, z = w * w / 2
        found.append(np.array([u @ u / 2, *np.cross(u, w), y + z, -w[0] * w[1], -w[0] * w[2], x + z, -w[1] * w[2],
                               x + y]))
    return found


def potential_energy_columns(links: Links, q: Array) -> list[Array]:
    """The potential energy of each link by its ten moments (10)."""
    return [np.concatenate([np.array([-(links.gravity @ s)]), -(R.T @ links.gravity), np.zeros(6)])
            for R, s in link_poses(links, q)]
