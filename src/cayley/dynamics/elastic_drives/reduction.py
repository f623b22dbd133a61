"""The errors of the reduced model of elastic drives, and this model in vector-parameters alone.

    full      a rotor moves as a body: on its carrier, with its spin
    reduced   its energy is that of its own spin, and of its mass riding on the carrier as if it did not turn
Dropped are the ties of a motor to the joints that turn its carrier, the gyroscopic moments of the spinning rotor, and,
of a rotor that is not balanced or not round, how its turning changes all that. Source: spec S0-51, R-51.

    c      tan(q/2) of joints that turn, q of those that slide, tan(theta/2) of motors, with theta = qm / gear: the gear
           divides the angle, not its vector-parameter
    q'     = 2 c'/(1 + c^2)           q'' = 2 c''/(1 + c^2) - c q'^2
    P      of the spring at the angles themselves, 2 atan(c): K(c1 - c2) is half of it at best, for small angles
No vector-parameter belongs to a half-turn. So c may be that of q - pi k, k the number of `half_turns` by which the
angle is ahead: with k the nearest whole number to q/pi, |c| is at most 1. Source: Mladenova (284)-(289), corrected as
in spec E-49, R-52."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import passive_forces, rotor_inertias
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.planar_rotations import RationalAngle
from cayley.dynamics.state_kernels import bias_forces_kernel, gravity_forces_kernel
from cayley.errors import UnsupportedError
from cayley.model.constraints import check_independent
from cayley.model.motors import ELASTIC, REDUCED
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class ReductionError:
    """Forces (..., nv) of joints, then motors, that the full model needs and the reduced one does not: by accelerations
    (`inertial`), by velocities (`gyroscopic`), and by the `weight` of rotors that are not balanced; beside the `forces`
    (..., nv) of the full model."""

    names: tuple[str, ...]
    inertial: Array
    gyroscopic: Array
    weight: Array
    forces: Array

    @property
    def dropped(self) -> Array:
        """The forces that are dropped (..., nv)."""
        return self.inertial + self.gyroscopic + self.weight

    @property
    def share(self) -> Array:
        """The largest force of each coordinate (nv) that is dropped, beside the largest that it needs."""
        largest = _largest(self.forces)
        return np.divide(_largest(self.dropped), largest, out=np.zeros_like(largest), where=largest > 0)

    def __repr__(self) -> str:
        width = max(map(len, self.names), default=0)
        lines = [f"{'':{width}}  {'inertial':>12}  {'gyroscopic':>12}  {'weight':>12}  {'of all that it needs':>20}"]
        rows = zip(self.names, *map(_largest, (self.inertial, self.gyroscopic, self.weight)), self.share, strict=True)
        lines += [f"{name:{width}}  {a:12.4g}  {b:12.4g}  {c:12.4g}  {share:19.3%}" for name, a, b, c, share in rows]
        return "\n".join(["what the reduced model drops, at most [N m, N]:", *lines])


def reduction_error(tree: Tree, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> ReductionError:
    """The forces that the reduced model of a mechanism with elastic drives drops at states (..., nq), (..., nv) of
    joints and motors, with accelerations (..., nv).

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_drive("joint2", stiffness=1e3, gear=50.0, mass=0.4,
    ...                                      tensor=np.diag([1e-4, 1e-4, 2e-4]))
    >>> reduction_error(arm.tree, [0.1, 0.2, 10.0], [1.0, 0.5, 25.0], [2.0, 1.0, 50.0])
    what the reduced model drops, at most [N m, N]:
                      inertial    gyroscopic        weight  of all that it needs
    joint1                0.01             0             0               0.052%
    joint2                   0             0             0               0.000%
    joint2 motor        0.0004             0             0               3.846%
    """
    full = _model(tree, ELASTIC)
    reduced = _model(tree, REDUCED)
    forces = inverse_dynamics_kernel(full)(q, qd, qdd)
    weight = gravity_forces_kernel(full)(q) - gravity_forces_kernel(reduced)(q)
    gyroscopic = bias_forces_kernel(full)(q, qd) - bias_forces_kernel(reduced)(q, qd) - weight
    coupling = inertia_matrix_kernel(full)(q) - inertia_matrix_kernel(reduced)(q)
    inertial = np.einsum("...ij,...j->...i", coupling, np.asarray(qdd, dtype=float))
    return ReductionError(full.joint_names, inertial, gyroscopic, weight, forces)


def _model(tree: Tree, model: str) -> Tree:
    terms = (tree.included - {ELASTIC, REDUCED}) | {model}
    return tree if model in tree.included else kept(tree, model, lambda: tree.including(*terms))


def _largest(forces: Array) -> Array:
    return np.abs(forces).reshape(-1, forces.shape[-1]).max(axis=0, initial=0.0)


class VectorParameterState(NamedTuple):
    """Vector-parameters, their rates, and how many half-turns their angles are ahead, each (..., nv)."""

    c: Array
    cd: Array
    half_turns: Array


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
        turned = _turned(turns, motors, c, half_turns, q)
        M, bias = inertia_matrix(links, turned), inverse_dynamics(links, turned, qd, np.zeros(links.nv))
        qdd = solve(M + np.diag(rotor_inertias(tree)), tau - bias - passive_forces(tree, q, qd))
        return (qdd / gears + np.where(turns, c * rates * rates, 0.0)) / slope

    n = tree.nv
    return kernel(f"({n}),({n}),({n}),({n})->({n})", outputs=("cdd",))(vector_parameter_dynamics)


def _turned(turns: Array, motors: list[int], c: Array, half_turns: Array, q: Array) -> Array:
    """The coordinates, with angles by their vector-parameters; motors of the reduced model turn nothing."""
    found = np.empty(len(turns), dtype=object)
    for k in range(len(turns)):
        if not turns[k] or k in motors:
            found[k] = q[k]
            continue
        side = 1 - 2 * (half_turns[k] - 2 * np.floor(half_turns[k] / 2))
        turn = RationalAngle.of_tangent(c[k])
        found[k] = RationalAngle(side * turn.cosine, side * turn.sine)
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
    """The coordinates (nv) that are angles, of a joint or of the output of a gear, and the gear (nv) before each, 1 for
    joints."""
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
