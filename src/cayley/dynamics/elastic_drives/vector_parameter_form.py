"""The reduced model of elastic drives in vector-parameters alone: no sines and cosines.

    c      tan(q/2) of joints that turn, q of those that slide, tan(theta/2) of motors, with theta = qm / gear: the gear
           divides the angle, not its vector-parameter
    q'     = 2 c'/(1 + c^2)           q'' = 2 c''/(1 + c^2) - c q'^2
    cos q  = (1 - c^2)/(1 + c^2)      sin q = 2 c/(1 + c^2)
    P      of the spring at the angles themselves, 2 atan(c): K(c1 - c2) is half of it at best, for small angles
No vector-parameter belongs to a half-turn. So c may be that of q - pi k, k the number of `half_turns` by which the
angle is ahead: with k the nearest whole number to q/pi, |c| is at most 1 and nothing is singular anywhere.
Source: Mladenova (284)-(289), corrected as in spec E-49, R-52.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import passive_forces, rotor_inertias
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import UnsupportedError
from cayley.model.constraints import check_independent
from cayley.model.motors import REDUCED
from cayley.model.tree import Tree


class VectorParameterState(NamedTuple):
    """Vector-parameters, their rates, and how many half-turns their angles are ahead, each (..., nv)."""

    c: Array
    cd: Array
    half_turns: Array


@dataclass(frozen=True)
class _Angle:
    """An angle of which cosine and sine are known: what rotations of links ask for."""

    cosine: Scalar
    sine: Scalar

    def cos(self) -> Scalar:
        return self.cosine

    def sin(self) -> Scalar:
        return self.sine

    def __add__(self, constant: float) -> _Angle:
        c = np.cos(constant)
        s = np.sin(constant)
        return _Angle(self.cosine * c - self.sine * s, self.sine * c + self.cosine * s)


def vector_parameter_dynamics_kernel(tree: Tree) -> Kernel:
    """`vector_parameter_dynamics(c, cd, half_turns, tau)`: c'' (..., nv) of joints and motors of a mechanism that
    includes "reduced elastic drives", under the forces `tau` (..., nv) of joints and motors.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_drive("joint1", stiffness=100.0, inertia=1e-3, gear=-20.0)
    >>> soft = arm.including("reduced elastic drives")
    >>> c, cd, k = vector_parameters_of_angles(soft.tree, [3.0, 0.4, -59.0], [1.0, 0.5, -18.0])
    >>> cdd = vector_parameter_dynamics_kernel(soft.tree)(c, cd, k, [0.0, 1.0, 0.2])
    >>> slope = 2 / (1 + c * c)
    >>> (slope * cdd - c * (slope * cd) ** 2)[:2].round(6) + 0.0
    array([ 1.355309, 38.640536])
    >>> soft.forward_dynamics([3.0, 0.4, -59.0], [1.0, 0.5, -18.0], [0.0, 1.0, 0.2])[:2].round(6)
    array([ 1.355309, 38.640536])
    """
    check_independent(tree, "the model in vector-parameters")
    turns, gears = _turning(tree)
    links = minimal_links(tree)
    motors = [tree.v_slices[motor].start for motor in tree.motors.values()]

    def vector_parameter_dynamics(c: Array, cd: Array, half_turns: Array, tau: Array) -> Array:
        slope = np.where(turns, 2 / (1 + c * c), 1.0)
        angles = np.where(turns, 2 * np.arctan(c) + np.pi * half_turns, c)
        rates = slope * cd
        q = gears * angles
        qd = gears * rates
        M, bias = _equations(links, _turned(turns, motors, c, half_turns, q), qd)
        qdd = solve(M + np.diag(rotor_inertias(tree)), tau - bias - passive_forces(tree, q, qd))
        return (qdd / gears + np.where(turns, c * rates * rates, 0.0)) / slope

    n = tree.nv
    return kernel(f"({n}),({n}),({n}),({n})->({n})", outputs=("cdd",))(vector_parameter_dynamics)


def _equations(links: Links, q: Array, qd: Array) -> tuple[Array, Array]:
    return inertia_matrix(links, q), inverse_dynamics(links, q, qd, np.zeros(links.nv))


def _turned(turns: Array, motors: list[int], c: Array, half_turns: Array, q: Array) -> Array:
    """The coordinates, with angles by their vector-parameters; motors of the reduced model turn nothing."""
    found = np.empty(len(turns), dtype=object)
    for k in range(len(turns)):
        if not turns[k] or k in motors:
            found[k] = q[k]
            continue
        side = 1 - 2 * (half_turns[k] - 2 * np.floor(half_turns[k] / 2))
        square = 1 + c[k] * c[k]
        found[k] = _Angle(side * (1 - c[k] * c[k]) / square, side * 2 * c[k] / square)
    return found


def vector_parameters_of_angles(tree: Tree, q: ArrayLike, qd: ArrayLike) -> VectorParameterState:
    """The vector-parameters of a state (..., nq), (..., nv) of joints and motors, each |c| of a turning one at most 1.

    >>> import cayley as cy
    >>> soft = cy.load("planar2r").with_drive("joint1", stiffness=100.0, gear=5.0).including("reduced elastic drives")
    >>> vector_parameters_of_angles(soft.tree, [0.0, np.pi, 0.6], np.zeros(3)).c.round(9)
    array([0.       , 0.       , 0.0600721])
    """
    turns, gears = _turning(tree)
    angles = np.asarray(q, dtype=float) / gears
    half_turns = np.where(turns, np.round(angles / np.pi), 0.0)
    c = np.where(turns, np.tan((angles - np.pi * half_turns) / 2), angles)
    return VectorParameterState(c, np.where(turns, (1 + c * c) / 2, 1.0) * np.asarray(qd, dtype=float) / gears,
                                half_turns)


def angles_of_vector_parameters(tree: Tree, state: VectorParameterState) -> tuple[Array, Array]:
    """The state (..., nq), (..., nv) of joints and motors, of vector-parameters."""
    turns, gears = _turning(tree)
    c, cd, half_turns = map(np.asarray, state)
    angles = np.where(turns, 2 * np.arctan(c) + np.pi * half_turns, c)
    return gears * angles, gears * np.where(turns, 2 / (1 + c * c), 1.0) * cd


def _turning(tree: Tree) -> tuple[Array, Array]:
    """Which coordinates (nv) are angles, of a joint or of the output of a gear; and the gear (nv) before each, 1 for
    joints.
    """
    if REDUCED not in tree.included:
        raise UnsupportedError(f"{tree.name} does not include {REDUCED!r}: the model in vector-parameters is of these")
    turns = np.zeros(tree.nv, dtype=bool)
    gears = np.ones(tree.nv)
    for joint, place in zip(tree.joints, tree.v_slices, strict=True):
        screw = joint.motion.screw
        if joint.motion.nv and (screw is None or (screw.turn and screw.slide)):
            raise UnsupportedError(f"joint {joint.name!r} of {tree.name} is {joint.motion.word}: vector-parameters are "
                                   "those of revolute joints, beside prismatic ones")
        turns[place] = screw is not None and bool(screw.turn)
    for driven, motor in tree.motors.items():
        place = tree.v_slices[motor].start
        gears[place] = tree.joints[driven].rotor.gear
        turns[place] = turns[tree.v_slices[driven].start]
    return turns, gears
