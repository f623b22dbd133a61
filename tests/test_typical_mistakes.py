"""The eight mistakes that newcomers make, on several functions each: the error says what is wrong and what to do.

What a type checker can find it finds before: `tests/typing/user_code.py`. Options that a Python function does not have
are Python's own error, which names them."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import CayleyError

Q = np.zeros(7)
T = np.eye(4)
W = np.zeros(6)
DEGREES = np.array([0.0, -45.0, 0.0, -135.0, 0.0, 90.0, 45.0])

MISTAKES = {
    "wrong frame name": [
        (lambda arm: arm.pose(Q, "tol"), "did you mean 'tool'"),
        (lambda arm: arm.jacobian(Q, "panda_lnk5", axes="world"), "did you mean 'panda_link5'"),
        (lambda arm: arm.twist(Q, Q, "tool", axes="panda_lnk5"), "did you mean 'panda_link5'"),
        (lambda arm: arm.twist(Q, Q, "tool", axes="wrld"), r"no frame or body 'wrld'; it has"),
        (lambda arm: arm.inverse_kinematics(T, "tol"), "did you mean 'tool'"),
        (lambda arm: arm.with_payload("tol", 1.0), "did you mean 'tool'"),
        (lambda arm: arm.workspace("tol"), "did you mean 'tool'"),
        (lambda arm: arm.inverse_dynamics.with_inputs(wrenches=["tol"]), "did you mean 'tool'"),
        (lambda arm: arm.with_friction("panda_jont3", viscous=1.0), "did you mean 'panda_joint3'")],
    "missing axes": [
        (lambda arm: arm.jacobian(Q, "tool"), 'say in which axes the jacobian is to be: axes="world"'),
        (lambda arm: arm.jacobian.of("tool"), 'axes="world"'),
        (lambda arm: arm.twist(Q, Q, "tool"), 'say in which axes the twist is to be: axes="world"'),
        (lambda arm: arm.frame_bias(Q, Q, "tool"), 'axes="world"'),
        (lambda arm: arm.manipulability(Q, "tool", task="position"), 'axes="world"'),
        (lambda arm: arm.joint_forces_that_exert(Q, W, "tool"), 'axes="world"')],
    "swapped order": [
        (lambda arm: arm.pose("tool", Q), r"such as 'tool'.*arrays come before the frame, as in pose\(q, frame\)"),
        (lambda arm: arm.jacobian("tool", Q, axes="world"), "arrays come before the frame"),
        (lambda arm: arm.twist(Q, "tool", Q, axes="world"), "arrays come before the frame"),
        (lambda arm: arm.inverse_kinematics("tool", T), "arrays come before the frame"),
        (lambda arm: arm.with_payload(1.0, "tool"), "1.0: a frame is named by a text, such as 'tool'"),
        (lambda arm: arm.with_frame(T, "camera", "tool"), r"must be numbers of shape \(4, 4\), not 'tool'"),
        (lambda arm: arm.joint_forces_that_exert(W, Q, "tool", axes="world"), r"'q' has shape \(6,\)")],
    "wrong shape": [
        (lambda arm: arm.inverse_dynamics(Q, Q, W), r"'qdd' has shape \(6,\), which does not fit \(7\)"),
        (lambda arm: arm.pose(W, "tool"), r"'q' has shape \(6,\), which does not fit \(7\)"),
        (lambda arm: arm.forward_dynamics(np.zeros((3, 7)), np.zeros((4, 7)), Q), r"do not broadcast: q \(3,\), qd"),
        (lambda arm: arm.inverse_kinematics(np.eye(3), "tool"), r"a pose has shape \(..., 4, 4\), not \(3, 3\)"),
        (lambda arm: arm.simulate(W, Q, until=0.1), r"has the shape \(..., 7\), not \(6,\)"),
        (lambda arm: arm.with_gravity([0.0, -9.81]), r"of shape \(3,\)"),
        (lambda arm: arm.gravity_forces(0.0), "needs at least 1 axes")],
    "degrees": [
        (lambda arm: arm.check_configuration(DEGREES), r"angles are in radians: np.deg2rad\(-45\) is -0.785398"),
        (lambda arm: arm.check_configuration(np.stack([np.deg2rad(DEGREES), DEGREES])), "angles are in radians"),
        (lambda arm: arm.simulate(DEGREES, Q, until=0.1, limits="end"), "angles are in radians"),
        (lambda arm: arm.locked("panda_joint4", DEGREES), "angles are in radians|beyond its limits")],
    "unknown option": [
        (lambda arm: arm.pose(Q, "tool", relativ_to="world"), "has no option 'relativ_to'; it has frame, relative_to"),
        (lambda arm: arm.inverse_dynamics(Q, Q, Q, dtpye=float), "no argument or option 'dtpye'.* options out, dtype"),
        (lambda arm: arm.inverse_dynamics.using("newton-eler"), "did you mean 'newton-euler'"),
        (lambda arm: arm.rollout(method="rk45"), "did you mean 'rk4'"),
        (lambda arm: arm.including("rotor"), "dynamics can include 'armature'"),
        (lambda arm: arm.coordinates(Q, "tool", orientation="rpy"), "zyx moving"),
        (lambda arm: arm.manipulability(Q, "tool", task="positon", axes="world"), 'a task is "pose", "position"')],
    "a list of lists": [
        (lambda arm: arm.pose([[0.0, 0.0], list(Q)], "tool"), "rows of different lengths"),
        (lambda arm: arm.inverse_dynamics([list(Q), [0.0]], Q, Q), "'q' of inverse_dynamics is not an array"),
        (lambda arm: arm.with_gravity([[0.0, 0.0, -9.81]]), r"of shape \(3,\)"),
        (lambda arm: arm.simulate([list(Q)], Q, until=0.1), "starts from one state.*`rollout` is for batches"),
        (lambda arm: arm.inverse_kinematics([[1, 0, 0], [0, 1, 0]], "tool"), r"\(..., 4, 4\), not \(2, 3\)"),
        (lambda arm: arm.check_configuration([list(Q), [0.0]]), "the coordinates of panda are real numbers")],
    "a string": [
        (lambda arm: arm.gravity_forces("home"), "argument 'q' of gravity_forces is text: kernels take real numbers"),
        (lambda arm: arm.inverse_dynamics(Q, Q, ["a"] * 7), "'qdd' of inverse_dynamics is text"),
        (lambda arm: arm.simulate("home", Q, until=0.1), "the coordinates of panda are real numbers, not 'home'"),
        (lambda arm: arm.simulate(Q, Q, until="1 s"), "seconds are real numbers, not '1 s'"),
        (lambda arm: arm.inverse_kinematics("identity", "tool"), "the poses are real numbers, not 'identity'"),
        (lambda arm: arm.check_configuration("home"), "real numbers, not 'home'"),
        (lambda arm: arm.with_gravity("down"), r"numbers of shape \(3,\), not 'down'"),
        (lambda arm: arm.with_payload("tool", "2 kg"), "the mass '2 kg': a mass is a finite number")]}


@pytest.fixture(scope="module")
def arm():
    return cy.load("panda")


@pytest.mark.parametrize(("call", "said"), [pytest.param(*one, id=f"{mistake} {k}") for mistake, all_of_it in
                                            MISTAKES.items() for k, one in enumerate(all_of_it)])
def test_the_error_names_the_cure(arm, call, said):
    with pytest.raises(CayleyError, match=f"(?s){said}"):
        call(arm)


def test_a_batch_given_as_a_list_of_lists_is_a_batch(arm):
    assert arm.pose([list(Q), list(Q)], "tool").shape == (2, 4, 4)


def test_angles_that_would_be_outside_in_degrees_too_are_not_taken_for_degrees(arm):
    with pytest.raises(CayleyError, match=r"limits, from -2.8973 to 2.8973$"):
        arm.check_configuration(np.full(7, 4.0))
    with pytest.raises(CayleyError, match=r"limits, from -2.8973 to 2.8973$"):
        arm.check_configuration(np.full(7, 400.0))
