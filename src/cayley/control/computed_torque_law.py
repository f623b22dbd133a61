"""Computed torque, or inverse-dynamics control, as a system: it makes an arm with rigid drives a set of double
integrators.

    tau = (M + rotors) v + h,   v = target'' + kd (target' - qd) + kp (target - q)        then  qdd = v
What the model does not know is not cancelled: with wrong masses the error obeys e'' + kd e' + kp e = M^-1 times the
forces that were forgotten, which leaves an offset of about that divided by kp. Source: Mladenova 7.4.2 (290)-(293),
spec R-53.
"""

from __future__ import annotations

from cayley.compiler.typing import ArrayLike
from cayley.control.arms import HasTree, check_rigid_drives, gains_of, tree_of
from cayley.control.global_linearisation import computed_torque_kernel
from cayley.model.tree import Tree
from cayley.systems.ports import Port
from cayley.systems.system import System


def computed_torque(arm: Tree | HasTree, kp: ArrayLike, kd: ArrayLike, *, name: str = "computed torque") -> System:
    """The law of an arm: inputs `q`, `qd`, `target` (nq), and its `target_velocity` and `target_acceleration` (nv),
    zero if nothing drives them; output `tau` (nv). The gains (nv), or one for all, are parameters of the system.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> law = computed_torque(arm, kp=100.0, kd=20.0)
    >>> loop = cy.connect(arm, law)
    >>> start = {"q": [0.0, 0.0], "qd": [0.0, 0.0]}
    >>> loop.simulate(start, until=3.0, inputs={"target": [0.5, -0.3]}).end["q"].round(6)
    array([ 0.5, -0.3])
    """
    tree = tree_of(arm)
    check_rigid_drives(tree, "computed torque")
    n = tree.nv
    law = computed_torque_kernel(tree)
    return System(
        name, inputs={"q": tree.nq, "qd": n, "target": tree.nq, "target_velocity": Port((n,), default=0.0),
                      "target_acceleration": Port((n,), default=0.0)},
        outputs={"tau": n}, parameters={"kp": gains_of(kp, n, "kp"), "kd": gains_of(kd, n, "kd")},
        output=lambda t, x, u, p: law(u.q, u.qd, u.target, u.target_velocity, u.target_acceleration, p.kp, p.kd))
