"""Inverse-dynamics control in vector-parameters: c'' = v, with c = tan(q/2) of joints that turn and c = q of those that
slide.

    u_V = H_V(c) v - h_V(c, c')        tau = (1 + c^2)/2 u_V
u_V are the forces along c; the torques are those that give q'' = 2 v/(1 + c^2) - 4 c c'^2/(1 + c^2)^2, so that it is
the same motion that computed torque makes of the same wishes. c grows without bound at a half-turn: joints stay between
-pi and pi. Source: Mladenova (290), spec S0-75, R-52, R-53."""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, gains_of, law_ports, tree_for, tree_of
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import SingularityError
from cayley.kinematics.frame_kernels import sized
from cayley.model.tree import Tree
from cayley.systems import System


def vector_parameter_control_kernel(arm: ArmLike) -> Kernel:
    """`vector_parameter_control(c, cd, v)`: the forces u_V (..., nv) along c under which c'' = v.

    `SingularityError` where c is not finite: a joint at a half-turn has no vector-parameter.

    >>> from cayley.model.catalogue import load_robot
    >>> law = vector_parameter_control_kernel(load_robot("s1_f2"))
    >>> law([0.1, -0.3], [0.5, -0.2], [1.0, 0.0]).round(6)
    array([32.4448 , 5.609047])
    """
    tree = tree_for(arm, "control in vector-parameters", independent=True, single=True, driven=False)
    turns = _turning(tree)
    links = minimal_links(tree)

    def vector_parameter_control(c: Array, cd: Array, v: Array) -> Array:
        slope = np.where(turns, 2 / (1 + c * c), 1.0)  # dq/dc
        q = np.where(turns, 2 * np.arctan(c), c)
        qd = slope * cd
        qdd = slope * v - np.where(turns, c * qd * qd, 0.0)
        return slope * (inverse_dynamics(links, q, qd, qdd) + drive_forces(tree, q, qd, qdd))

    return kernel(sized(tree, "(v),(v),(v)->(v)"), outputs=("u",), check=_check_finite)(vector_parameter_control)


def vector_parameter_control(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, *,
                             name: str = "vector-parameter control") -> System:
    """The law as a system: inputs `q` and `qd` of the arm, and the `target` (nv), a vector-parameter, with its
    `target_qd` and `target_qdd`. Output: `tau`. The errors of c obey e'' + kd e' + kp e = 0.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> loop = cy.connect(arm, vector_parameter_control(arm, kp=100.0, kd=20.0))
    >>> start = {"q": [0.0, 0.0], "qd": [0.0, 0.0]}
    >>> run = loop.simulate(start, until=3.0, inputs={"target": np.tan([0.25, -0.15])})
    >>> run.end["q"].round(6)
    array([ 0.5, -0.3])
    """
    tree = tree_of(arm)
    n = tree.nv
    law = vector_parameter_control_kernel(tree).unchecked
    turns = _turning(tree)

    def output(q: Array, qd: Array, target: Array, rate: Array, acceleration: Array, kp: Array, kd: Array) -> Array:
        c = np.where(turns, np.tan(q / 2), q)
        steepness = np.where(turns, (1 + c * c) / 2, 1.0)  # dc/dq
        cd = steepness * qd
        return steepness * law(c, cd, acceleration + kd * (rate - cd) + kp * (target - c))

    return System(
        name, inputs=law_ports(tree, "q qd target target_qd target_qdd"),
        outputs={"tau": n}, parameters={"kp": gains_of(kp, n, "kp"), "kd": gains_of(kd, n, "kd")},
        output=lambda t, x, u, p: output(u.q, u.qd, u.target, u.target_qd, u.target_qdd, p.kp, p.kd))


def _turning(tree: Tree) -> Array:
    """Truth values (nv) of the coordinates that are angles."""
    return np.array([joint.motion.velocity_units[0] == "rad" for joint in tree.joints if joint.motion.nv], dtype=bool)


def _check_finite(c: Array, *_: Array) -> None:
    if not np.isfinite(c).all():
        raise SingularityError("a vector-parameter is not finite: a joint at a half-turn has none; use computed torque "
                               "in angles there")
