"""What is left out or assumed is said, with the cure: friction of files, angles in degrees, masses without centres,
idle gravity, a base that stands still."""

import warnings

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelWarning
from cayley.model.joint_kinds import Floating, Prismatic, Revolute
from cayley.model.parts import Body, Joint
from cli.processes import call, data

ZERO = np.zeros(2)
FORMATS = ("arm.urdf", "arm.xml", "arm.sdf", "arm.toml")
SDF = """<sdf version="1.9"><model name="planar2r"><link name="base"/>
  <link name="link1"><inertial><mass>1</mass></inertial></link>
  <link name="link2"><pose>0.5 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link>
  <joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>
  <joint name="joint1" type="revolute"><parent>base</parent><child>link1</child>
    <axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
  <joint name="joint2" type="revolute"><parent>link1</parent><child>link2</child>
    <axis><xyz>0 0 1</xyz><dynamics><damping>0.3</damping></dynamics></axis></joint></model></sdf>"""


def rubbing(tmp_path, name):
    """An arm from a file, with a damping of 0.3 in its second joint."""
    path = tmp_path / name
    if name.endswith(".sdf"):
        path.write_text(SDF)
    else:
        cy.load("planar2r").with_friction("joint2", viscous=0.3).save(path, leave_out=True)
    return path


def said(act, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        act(*arguments)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("name", FORMATS)
def test_friction_that_a_file_gives_and_that_is_left_out_is_said(tmp_path, name):
    path = rubbing(tmp_path, name)
    arm = cy.load(path)
    assert arm.summary().about("friction left out") == ("joint2", )
    for command in ("info", "check"):
        done = call(command, path, columns=300)
        assert "friction and damping of joint 'joint2' are not included" in done.stdout
        assert 'arm.including("friction")' in done.stdout
    assert [note["about"] for note in data(call("info", path, "--json"))["notes"]].count("friction left out") == 1
    for act in (lambda arm: arm.simulate(ZERO, ZERO, until=0.01), lambda arm: arm.rollout(), lambda arm: arm.system(),
                lambda arm: cy.connect(arm, arm.control.computed_torque(1.0, 1.0))):
        fresh = cy.load(path)
        message, = said(act, fresh)
        assert "without the friction and damping of joint 'joint2'" in message and 'including("friction")' in message
        assert not said(act, fresh)  # once
        for told in (arm.including("friction"), arm.including("armature"), arm.with_friction(arm.joint_names)):
            assert not said(act, told)
    assert not arm.including("friction").summary().about("friction left out")
    noted = call("simulate", path, "--time", 0.01)
    assert "--include friction" in " ".join(noted.stderr.split())
    assert "friction" not in call("simulate", path, "--time", 0.01, "--include", "friction").stderr


def test_what_is_said_of_friction_is_said_where_it_was_asked_for():
    with pytest.warns(ModelWarning) as caught:
        cy.load("planar2r").with_friction("joint1", coulomb=1.0).simulate(ZERO, ZERO, until=0.01)
    assert caught[0].filename == __file__


def test_dry_friction_in_a_connected_system_is_what_its_smooth_stand_in_comes_near_to():
    """A viscous arm behind a smooth dry friction comes to rest where it creeps least."""
    arm = cy.load("planar2r").with_gravity([0.0, 0.0, 0.0])
    rough = arm.with_friction(arm.joint_names, viscous=0.4, coulomb=0.2).including("friction")
    smooth = cy.connect(arm.with_friction(arm.joint_names, viscous=0.4).including("friction"),
                        cy.control.dry_friction("tau", [0.2, 0.2], creep=1e-3))
    start = np.array([0.7, -0.4])
    run = smooth.rollout()({"q": ZERO, "qd": start}, step=1e-4, steps=4000, inputs={"wanted_tau": ZERO})
    exact = rough.simulate(ZERO, start, until=0.4)
    np.testing.assert_allclose(run.end["q"], exact.q[-1], atol=1e-3)
    loop = cy.connect(rough, arm.control.pd(0.0, 0.0))
    held = loop.rollout()({"q": ZERO, "qd": start}, step=1e-3, steps=400, inputs={"target": ZERO})
    np.testing.assert_allclose(held.end["q"], exact.q[-1], atol=1e-5)


@pytest.mark.parametrize("row, what", [(("q1", 0.4, 0, -90), "alpha of row 1 is -90 rad"), ((180, 0.4, 0, 0), "theta"),
                                       (("q1", 0.4, 0, 7.0), "alpha of row 1 is 7 rad")])
def test_angles_of_more_than_a_turn_are_asked_about(row, what, tmp_path):
    with pytest.warns(ModelWarning, match=f"{what}.*if this is degrees, write \"-?[0-9]+ deg\""):
        arm = cy.Mechanism.from_dh([row, ("q2", 0, 0.3, 0)], convention="standard")
    assert arm.summary().about("angle in degrees") == ("joint1", )
    assert any(what in str(finding) for finding in arm.summary().warnings)


def test_angles_in_degrees_in_a_file_are_asked_about(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text('name = "arm"\n[dh]\nconvention = "standard"\n'
                    'rows = [{ d = 0.4, alpha = 90 }, { a = 0.2, alpha = "90 deg" }]\n')
    assert "alpha of row 1 is 90 rad" in call("check", path, columns=200).stdout
    path.write_text(path.read_text().replace("alpha = 90 }", "alpha = 1.5708 }"))
    assert "is 90 rad" not in call("check", path, columns=200).stdout


@pytest.mark.parametrize("rows", [[("q1", 0, 0.5, "360 deg")], [("q1 - 270 deg", 0, 0.5, -6.2832)]])
def test_a_turn_is_not_too_much(rows):
    assert not said(lambda: cy.Mechanism.from_dh(rows, convention="modified"))


@pytest.mark.parametrize("convention, where, middle", [("standard", "far ends", -0.5), ("modified", "axes", 0.5)])
def test_masses_without_centres_are_said_to_be_at_the_origins(convention, where, middle):
    """The rod whose middle the warning gives turns about its end as a rod does: tau = m g l / 2."""
    rows = [("q1", 0, 0, 0), ("q2", 0, 0.8, 0)] if convention == "modified" else [("q1", 0, 0.8, 0), ("q2", 0, 0, 0)]
    make = {"convention": convention, "masses": [2.0, 0.0], "gravity": (0, -9.81, 0)}
    message, = said(lambda: cy.Mechanism.from_dh(rows, **make))
    assert where in message and f"({'-' if middle < 0 else ''}a/2, 0, 0)" in message and "np.zeros((2, 3))" in message
    centers = np.zeros((2, 3))
    assert not said(lambda: cy.Mechanism.from_dh(rows, centers=centers, **make))
    assert not said(lambda: cy.Mechanism.from_dh(rows, **{**make, "masses": None}))
    centers[0, 0] = middle * 0.8
    rod = cy.Mechanism.from_dh(rows, centers=centers, **make)
    assert rod.gravity_forces(ZERO)[0] == pytest.approx(2.0 * 9.81 * 0.4)


@pytest.mark.parametrize("rows, idle", [
    ([("q1", 0, 0.5, 0), ("q2", 0, 0.4, 0)], True),
    ([("q1", 0.2, 0.5, "180 deg"), ("q2", 0, 0.4, 0), ("q3", 0, 0.1, 0)], True),
    ([("q1", 0, 0.5, 0), (0, "q2", 0, 0)], False),
    ([("q1", 0.3, 0.5, "90 deg"), ("0 deg", "q2", 0.4, 0)], True),  # it slides across gravity
    ([("q1", 0, 0.5, 0), ("q2", 0, 0.4, "1 deg"), ("q3", 0, 0.1, 0)], False)])
def test_gravity_that_acts_on_no_joint_is_said_unless_it_was_given(rows, idle):
    n = len(rows)
    make = {"convention": "standard", "masses": np.ones(n), "centers": np.full((n, 3), 0.1)}
    messages = said(lambda: cy.Mechanism.from_dh(rows, **make))
    arm = cy.Mechanism.from_dh(rows, gravity=(0.0, 0.0, -9.81), **make)
    forces = arm.gravity_forces(np.random.default_rng(0).uniform(-2, 2, (20, n)))
    assert bool(np.abs(forces).max() < 1e-12) == idle == bool(messages)
    assert all("gravity=(0, -9.81, 0)" in message for message in messages)
    assert len(arm.summary().about("gravity idle")) == 0
    assert any(fact.about == "gravity idle" for fact in arm.summary().facts) == idle
    assert not said(lambda: cy.Mechanism.from_dh(rows, gravity=(0.0, 0.0, -9.81), **make))


def _limbs(count, *, mass=3.0, motion=None):
    bodies = [Body("trunk", mass), *[Body(f"leg{k}", 1.0, (0.1, 0, 0)) for k in range(count)]]
    joints = [Joint(f"hip{k}", "trunk", f"leg{k}", motion or Revolute((0.0, 1.0, 0.0))) for k in range(count)]
    return cy.Mechanism.of("walker", bodies, joints)


@pytest.mark.parametrize("walker, noted", [(_limbs(2), True), (_limbs(4), True), (_limbs(1), False),
                                           (_limbs(3, mass=None), False), (_limbs(2, motion=Floating()), False),
                                           (_limbs(2, motion=Prismatic()), True)])
def test_a_heavy_root_with_limbs_that_stands_still_is_noted(walker, noted):
    assert walker.summary().about("fixed base") == (("trunk", ) if noted else ())


@pytest.mark.parametrize("name, noted", [("anymal_b", True), ("anymal_c", True), ("panda", False),
                                         ("panda_hand", False), ("gripper", False), ("stewart", False)])
def test_robots_that_walk_are_noted_and_those_that_stand_are_not(name, noted):
    arm = cy.load(name)
    assert bool(arm.summary().about("fixed base")) == noted
    if noted:
        assert not cy.load(name, floating_base=True).summary().about("fixed base")
        assert "floating_base=True" in str(arm.summary())
