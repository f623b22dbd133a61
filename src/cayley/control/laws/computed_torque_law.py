"""Computed torque, or inverse-dynamics control, as a system: it makes an arm with rigid drives a set of double
integrators.

    tau = (M + rotors) v + h,   v = target'' + kd (target' - qd) + kp (target - q) + ki z        then  qdd = v
z is the integral of the error, if there is a ki. What the model does not know is not cancelled: with a model M^, h^
that is not the arm's the error obeys e'' + kd e' + kp e = M^^-1 ((M - M^) qdd + h - h^), which leaves an offset of
about that divided by kp; integral action takes it away, while kd kp > ki (Routh). Sources: Mladenova 7.4.2
(290)-(293), spec R-53; Yamamoto (6.40)-(6.46), spec S3-45, S3-51."""

from __future__ import annotations

from cayley.compiler.typing import ArrayLike
from cayley.control.arms import ArmLike, finite_or, gains_of, integral_action, law_ports, tree_for, tree_of
from cayley.control.compensators.compensation import Compensator, compensated
from cayley.control.linearisation.global_linearisation import computed_torque_kernel
from cayley.control.signals import through_springs
from cayley.dynamics.elastic_drives.motor_motion import elastic_arm
from cayley.errors import UnsupportedError
from cayley.model.configuration_space import configuration_difference
from cayley.model.motors import ELASTIC, REDUCED
from cayley.systems import System


def computed_torque(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                    wind_up: ArrayLike | None = None, rigid_limit: bool = False,
                    compensator: Compensator | None = None, name: str = "computed torque") -> System:
    """Computed-torque control: inverse dynamics in the loop, with the arm as the model.

    Inputs: `q`, `qd`, `target` (nq), and its `target_qd` and `target_qdd` (nv), zero if nothing drives them. Output:
    `tau` (nv). The gains (nv), or one for all, are parameters of the system. With `ki` it has the state `integral`, of
    which no more than the acceleration `wind_up` acts.

    The arm is the model of the law; the one that it drives may differ. A force is zero where it depends on a
    measurement or a target that is not finite. A `compensator` adds to the forces; see `compensated`.

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
        if ki is not None or wind_up is not None or compensator is not None:
            raise UnsupportedError("the rigid limit of computed torque has no integral action and no compensator")
        elastic_arm(tree, "the rigid limit of computed torque", inverted=False)
        rigid = tree.including(*(tree.included - {ELASTIC, REDUCED} | {"armature"}))
        return through_springs(tree, computed_torque(rigid, kp, kd), name=name)
    tree_for(tree, "computed torque")
    n = tree.nv
    law = computed_torque_kernel(tree)
    memory = integral_action(ki, wind_up, n, lambda u, p: configuration_difference(tree, u.q, u.target))
    made = System(
        name, inputs=law_ports(tree, "q qd target target_qd target_qdd"), outputs={"tau": n}, state=memory.state,
        parameters={"kp": gains_of(kp, n, "kp"), "kd": gains_of(kd, n, "kd"), **memory.gains},
        derivative=memory.derivative, output=lambda t, x, u, p: finite_or(law(
            u.q, u.qd, u.target, u.target_qd, memory.added(u.target_qdd, x, p), p.kp, p.kd), 0.0))
    return made if compensator is None else compensated(made, compensator)
