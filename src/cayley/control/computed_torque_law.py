"""Computed torque, or inverse-dynamics control, as a system: it makes an arm with rigid drives a set of double
integrators.

    tau = (M + rotors) v + h,   v = target'' + kd (target' - qd) + kp (target - q)        then  qdd = v
What the model does not know is not cancelled: with wrong masses the error obeys e'' + kd e' + kp e = M^-1 times the
forces that were forgotten, which leaves an offset of about that divided by kp. Source: Mladenova 7.4.2 (290)-(293),
spec R-53.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.symbols import symbols
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import HasTree, check_rigid_drives, gains_of, tree_of
from cayley.control.global_linearisation import computed_torque_kernel
from cayley.dynamics.elastic_joints.elastic_arm import ElasticArm, elastic_arm
from cayley.model.tree import Tree
from cayley.systems.ports import Port
from cayley.systems.record import Record
from cayley.systems.system import System


def computed_torque(arm: Tree | HasTree, kp: ArrayLike, kd: ArrayLike, *, rigid_limit: bool = False,
                    name: str = "computed torque") -> System:
    """The law of an arm: inputs `q`, `qd`, `target` (nq), and its `target_qd` and `target_qdd` (nv),
    zero if nothing drives them; output `tau` (nv). The gains (nv), or one for all, are parameters of the system.

    With `rigid_limit`, the law of an arm with elastic drives that takes its springs for rigid, (M + gear^2 Jm) v + h:
    it measures elastic joints by their motors, and targets and gains are of the joints (n) alone.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> law = computed_torque(arm, kp=100.0, kd=20.0)
    >>> loop = cy.connect(arm, law)
    >>> start = {"q": [0.0, 0.0], "qd": [0.0, 0.0]}
    >>> loop.simulate(start, until=3.0, inputs={"target": [0.5, -0.3]}).end["q"].round(6)
    array([ 0.5, -0.3])
    """
    tree = tree_of(arm)
    if rigid_limit:
        return _rigid_limit(elastic_arm(tree, "the rigid limit of computed torque", inverted=False), kp, kd, name)
    check_rigid_drives(tree, "computed torque")
    n = tree.nv
    law = computed_torque_kernel(tree)
    return System(
        name, inputs={"q": tree.nq, "qd": n, "target": tree.nq, "target_qd": Port((n,), default=0.0),
                      "target_qdd": Port((n,), default=0.0)},
        outputs={"tau": n}, parameters={"kp": gains_of(kp, n, "kp"), "kd": gains_of(kd, n, "kd")},
        output=lambda t, x, u, p: law(u.q, u.qd, u.target, u.target_qd, u.target_qdd, p.kp, p.kd))


def _rigid_limit(arm: ElasticArm, kp: ArrayLike, kd: ArrayLike, name: str) -> System:
    n = arm.n
    size = arm.tree.nv

    def measured(joints: Array, motors: Array, ahead: Array) -> Array:
        found = symbols(joints).copy()
        found[arm.elastic] = motors / arm.gears + ahead
        return found

    def tau(u: Record, p: Record) -> Array:
        q = measured(u.q[:n], u.q[n:], arm.rest_angles)
        qd = measured(u.qd[:n], u.qd[n:], np.zeros(arm.m))
        v = u.target_qdd + p.kd * (u.target_qd - qd) + p.kp * (u.target - q)
        forces = arm.forces(q, qd, v)
        motors = arm.motor_forces(arm.gears * qd[arm.elastic], arm.gears * v[arm.elastic], forces[arm.elastic])
        return np.concatenate([[forces[k] if k in arm.rigid else 0.0 for k in range(n)], motors])

    return System(
        name, inputs={"q": size, "qd": size, "target": n, "target_qd": Port((n,), default=0.0),
                      "target_qdd": Port((n,), default=0.0)},
        outputs={"tau": size}, parameters={"kp": gains_of(kp, n, "kp"), "kd": gains_of(kd, n, "kd")},
        output=lambda t, x, u, p: tau(u, p))
