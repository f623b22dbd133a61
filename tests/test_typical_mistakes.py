"""The eight mistakes that newcomers make, on several functions each: the error says what is wrong and what to do.

What a type checker can find it finds before: `tests/typing/user_code.py`."""

import inspect

import numpy as np
import pytest

import cayley as cy
from cayley.errors import CayleyError, SignatureError

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
        (lambda arm: arm.pictures.workspace("tol"), "did you mean 'tool'"),
        (lambda arm: arm.inverse_dynamics.with_inputs(wrenches=["tol"]), "did you mean 'tool'"),
        (lambda arm: arm.with_friction("panda_jont3", viscous=1.0), "did you mean 'panda_joint3'")],
    "missing axes": [
        (lambda arm: arm.jacobian(Q, "tool"), 'say in which axes the jacobian is to be: axes="world"'),
        (lambda arm: arm.jacobian.of("tool"), 'axes="world"'),
        (lambda arm: arm.twist(Q, Q, "tool"), 'say in which axes the twist is to be: axes="world"'),
        (lambda arm: arm.frame_bias(Q, Q, "tool"), 'axes="world"'),
        (lambda arm: arm.dexterity.manipulability(Q, "tool", task="position"), 'axes="world"'),
        (lambda arm: arm.dexterity.joint_forces_that_exert(Q, W, "tool"), 'axes="world"')],
    "swapped order": [
        (lambda arm: arm.pose("tool", Q), r"such as 'tool'.*arrays come before the frame, as in pose\(q, frame\)"),
        (lambda arm: arm.jacobian("tool", Q, axes="world"), "arrays come before the frame"),
        (lambda arm: arm.twist(Q, "tool", Q, axes="world"), "arrays come before the frame"),
        (lambda arm: arm.inverse_kinematics("tool", T), "arrays come before the frame"),
        (lambda arm: arm.with_payload(1.0, "tool"), "1.0: a frame is named by a text, such as 'tool'"),
        (lambda arm: arm.with_frame(T, "camera", "tool"), r"must be numbers of shape \(4, 4\), not 'tool'"),
        (lambda arm: arm.dexterity.joint_forces_that_exert(W, Q, "tool", axes="world"), r"'q' has shape \(6,\)")],
    "wrong shape": [
        (lambda arm: arm.inverse_dynamics(Q, Q, W), r"'qdd' has shape \(6,\), which does not fit \(7\)"),
        (lambda arm: arm.pose(W, "tool"), r"'q' has shape \(6,\), which does not fit \(7\)"),
        (lambda arm: arm.forward_dynamics(np.zeros((3, 7)), np.zeros((4, 7)), Q), r"do not broadcast: q \(3,\), qd"),
        (lambda arm: arm.inverse_kinematics(np.eye(3), "tool"), r"a pose must have shape \(..., 4, 4\), not \(3, 3\)"),
        (lambda arm: arm.simulate(W, Q, until=0.1), r"must have the shape \(..., 7\), not \(6,\)"),
        (lambda arm: arm.with_gravity([0.0, -9.81]), r"of shape \(3,\)"),
        (lambda arm: arm.gravity_forces(0.0), "needs at least 1 axes")],
    "degrees": [
        (lambda arm: arm.configurations.check(DEGREES), r"angles are in radians: np.deg2rad\(-45\) is -0.785398"),
        (lambda arm: arm.configurations.check(np.stack([np.deg2rad(DEGREES), DEGREES])), "angles are in radians"),
        (lambda arm: arm.simulate(DEGREES, Q, until=0.1, limits="end"), "angles are in radians"),
        (lambda arm: arm.locked("panda_joint4", DEGREES), "angles are in radians|beyond its limits")],
    "unknown option": [
        (lambda arm: arm.pose(Q, "tool", relativ_to="world"), "has no option 'relativ_to'; it has frame, relative_to"),
        (lambda arm: arm.inverse_dynamics(Q, Q, Q, dtpye=float), "no argument or option 'dtpye'.* options out, dtype"),
        (lambda arm: arm.inverse_dynamics.using("newton-eler"), "did you mean 'newton-euler'"),
        (lambda arm: arm.rollout(method="rk45"), "did you mean 'rk4'"),
        (lambda arm: arm.including("rotor"), "dynamics can include 'armature'"),
        (lambda arm: arm.coordinates(Q, "tool", orientation="rpy"), "zyx moving"),
        (lambda arm: arm.dexterity.manipulability(Q, "tool", task="positon", axes="world"),
         'a task is "pose", "position"')],
    "a list of lists": [
        (lambda arm: arm.pose([[0.0, 0.0], list(Q)], "tool"), "rows of different lengths"),
        (lambda arm: arm.inverse_dynamics([list(Q), [0.0]], Q, Q), "'q' of inverse_dynamics is not an array"),
        (lambda arm: arm.with_gravity([[0.0, 0.0, -9.81]]), r"of shape \(3,\)"),
        (lambda arm: arm.simulate([list(Q)], Q, until=0.1), "starts from one state.*`rollout` is for batches"),
        (lambda arm: arm.inverse_kinematics([[1, 0, 0], [0, 1, 0]], "tool"), r"\(..., 4, 4\), not \(2, 3\)"),
        (lambda arm: arm.configurations.check([list(Q), [0.0]]), "the coordinates of panda must be real numbers")],
    "a string": [
        (lambda arm: arm.gravity_forces("home"), "argument 'q' of gravity_forces is text: kernels take real numbers"),
        (lambda arm: arm.inverse_dynamics(Q, Q, ["a"] * 7), "'qdd' of inverse_dynamics is text"),
        (lambda arm: arm.simulate("home", Q, until=0.1), "the coordinates of panda must be real numbers, not 'home'"),
        (lambda arm: arm.simulate(Q, Q, until="1 s"), "seconds must be real numbers, not '1 s'"),
        (lambda arm: arm.inverse_kinematics("identity", "tool"), "the poses must be real numbers, not 'identity'"),
        (lambda arm: arm.configurations.check("home"), "real numbers, not 'home'"),
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
        arm.configurations.check(np.full(7, 4.0))
    with pytest.raises(CayleyError, match=r"limits, from -2.8973 to 2.8973$"):
        arm.configurations.check(np.full(7, 400.0))


EVERY = sorted(name for name in dir(cy.Mechanism) if not name.startswith("_")
               and (inspect.isfunction(found := inspect.getattr_static(cy.Mechanism, name))
                    or isinstance(found, staticmethod)))


@pytest.mark.parametrize("name", EVERY)
def test_every_method_says_how_it_is_called(arm, name):
    """Of an argument that it does not have, and of one that it needs; no name of a class within is told."""
    method = getattr(arm, name)
    with pytest.raises(SignatureError) as told:
        method(saturation_of_what=3.0)
    assert str(told.value).startswith(f"{name} has no argument 'saturation_of_what'") and isinstance(
        told.value, TypeError)
    needed = [each for each in inspect.signature(method).parameters.values()
              if each.default is each.empty and each.kind is not each.VAR_POSITIONAL]
    if needed:
        with pytest.raises(SignatureError, match=f"^{name} needs .*`{needed[-1].name}`. It is called {name}\\("):
            method()
    if not any(each.kind is each.VAR_POSITIONAL for each in inspect.signature(method).parameters.values()):
        with pytest.raises(SignatureError, match=rf"takes \d+ positional arguments, not 40.*It is called {name}\("):
            method(*range(40))


CORNER = np.eye(4) + np.pad([[0.1]], ((0, 3), (3, 0)))


@pytest.mark.parametrize("call, said", [
    (lambda arm: arm.inverse_kinematics([0.5, 0.4], "tool"), r'a pose must have shape.*say task="xy"'),
    (lambda arm: arm.inverse_kinematics(np.ones((6, 3)), "tool"), r'a pose must have shape.*say task="position"'),
    (lambda arm: arm.simulate(Q, Q, controller=arm.control.pd_with_gravity(1.0, 1.0), until=0.1),
     r"pd with gravity takes the input 'target'.*parameters=\{'target'"),
    (lambda arm: arm.rollout(parameters=["mass"]), r'arm.system\(parameters=\["mass"\]\).rollout'),
    (lambda arm: arm.dexterity.manipulability(Q, "tool", task="pose", axes="world"), "characteristic_length="),
    (lambda arm: cy.planning.circular_arc(T, CORNER, T), r"`through` is three finite numbers, as T\[:3, 3\]"),
    (lambda arm: cy.Mechanism.from_dh([("q1", 0, "l1", 0)], convention="standard"),
     r"a is 'l1', which is not a number.*parameters=\"symbols\""),
    (lambda arm: cy.planning.effort_profile(cy.load("three_rrr"), cy.planning.point_to_point([0] * 3, [1] * 3,
                                                                                             duration=1.0)),
     r"the motion has 3 coordinates, three_rrr has \d+: .*`driven_motion\(machine, motion, start\)`"),
    (lambda arm: arm.inverse_kinematics(T), r"inverse_kinematics needs `frame`. It is called inverse_kinematics\("),
    (lambda arm: arm.simulate(Q, Q, untl=1.0), r"no argument 'untl': did you mean 'until'"),
    (lambda arm: arm.simulate(Q, Q, q=Q, until=0.1), "simulate is given 'q' twice"),
    (lambda arm: arm.inverse_dynamics(Q, Q, Q, fext=W), r"no argument or option 'fext'.*with_inputs\(wrenches="),
    (lambda arm: arm.jacobian(Q, "tool", axes="LOCAL_WORLD_ALIGNED"), 'of Pinocchio is axes="world" here'),
    (lambda arm: arm.twist(Q, Q, "tool", axes="LOCAL"), 'of Pinocchio is axes="body" here')])
def test_calls_that_do_not_fit_are_told_how(arm, call, said):
    with pytest.raises(CayleyError, match=f"(?s){said}"):
        call(arm)


def test_a_type_error_within_a_method_stays_what_it_is(arm):
    def law(t, q, qd):
        return None + 1

    with pytest.raises(TypeError, match="NoneType") as told:
        arm.simulate(Q, Q, controller=law, until=0.1)
    assert not isinstance(told.value, SignatureError)


def test_pictures_are_found_by_their_former_name(arm):
    with pytest.warns(DeprecationWarning, match=r"is `plot\(\)`; `draw` is its former name"):
        cy.load("planar2r").pictures.workspace("tool", samples=200).draw()
    assert "parameters 'parameters'" in repr(arm.system(parameters=["mass"]))
