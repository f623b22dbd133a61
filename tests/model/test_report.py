"""The report: its tables against the parts, each warning on a mechanism made to deserve it, and the check for missing
masses.
"""

import io
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from rich.console import Console

import cayley as cy
from cayley.errors import ModelError
from cayley.model.catalogue import catalogue_names, load_robot
from cayley.model.formats.urdf import load_urdf
from cayley.model.joint_kinds import Floating, Planar, Prismatic, Revolute, Spherical
from cayley.model.masses import check_has_masses, rigid_groups
from cayley.model.parts import Body, Frame, Friction, Joint, Limits, Loop, Mimic, Rotor
from cayley.model.report import ModelWarning, report
from cayley.model.tree import Tree
from cayley.model.winding import Winding

BOUNDED = Limits((-1.0,), (2.0,), (3.0,), (4.0,))
SOLID = np.diag([1e-2, 1e-2, 1e-2])


def sound(name, mass=1.0, inertia=SOLID):
    return Body(name, mass, np.array([0.1, 0.0, 0.0]), inertia)


def chain(*bodies, **named):
    """Bodies in a row on revolute joints j1, j2, ..."""
    joints = [
        Joint(f"j{k}", a.name, b.name, Revolute(), limits=BOUNDED) for k, (a, b) in enumerate(pairwise(bodies), 1)]
    return Tree.of("arm", bodies, joints, **named)


def with_joint(**named):
    return Tree.of("arm", [Body("a"), sound("b")],
                   [Joint("j", "a", "b", **{"motion": Revolute(), "limits": BOUNDED, **named})])


def test_sound_mechanism_has_no_warnings():
    found = report(chain(Body("base"), sound("a"), sound("b")))
    assert found.warnings == ()
    assert "Warnings\n  none" in str(found)


def test_tables_say_what_there_is():
    tree = Tree.of(
        "walker",
        [Body("world", 0.0), sound("trunk", 12.5),
         sound("leg"), sound("foot"),
         sound("ski")], [
             Joint("free", "world", "trunk", Floating()),
             Joint("hip", "trunk", "leg", Spherical(), friction=Friction(0.5, 0.25)),
             Joint("ankle", "leg", "foot", Revolute((0.0, 1.0, 0.0)), limits=BOUNDED, rotor=Rotor(1e-4, 100.0)),
             Joint("slope", "foot", "ski", Planar(), mimic=None)],
        frames=[Frame("sole", "foot", np.diag([1.0, -1.0, -1.0,
                                               1.0]))], loops=[Loop("binding", "sole", "ski",
                                                                    Spherical())], source="w.urdf")
    found = report(tree)
    assert (found.heading == "walker (w.urdf): 5 bodies, 4 joints, nq = 15, nv = 13, total mass 15.5 kg, gravity 0 0 "
            "-9.81 m/s^2")
    assert found.bodies.rows[1] == ("1", "trunk", "12.5", "0.1 0 0", "0.01 0.01 0.01")
    assert [row[:6] for row in found.joints.rows] == [("0", "free", "floating", "world -> trunk", "", "0..6"),
                                                      ("1", "hip", "spherical", "trunk -> leg", "", "7..10"),
                                                      ("2", "ankle", "revolute", "leg -> foot", "0 1 0", "11"),
                                                      ("3", "slope", "planar", "foot -> ski", "0 0 1", "12..14")]
    assert found.joints.rows[2][6:] == ("-1", "2", "3", "4", "0", "0", "1", "")
    assert found.joints.rows[1][10:12] == ("0.5", "0.25")
    assert found.frames.rows == (("sole", "foot", "0 0 0"),)
    assert found.loops.rows == (("binding", "spherical", "sole, ski"),)
    assert len(found.tables) == 4
    assert [finding.about for finding in found.warnings] == ["loops"]


def test_rich_shows_the_same_words():
    shown = io.StringIO()
    found = report(chain(Body("base[bold]"), Body("a[/]"), sound("b")))
    Console(file=shown, width=400, color_system=None).print(found)
    for word in ("base[bold]", "a[/]", "j1", "revolute", "principal moments", "! the mass of 'a[/]' is missing"):
        assert word in shown.getvalue()
    Console(file=shown, width=400, color_system=None).print(report(chain(sound("a"))))
    assert "no warnings" in shown.getvalue()


@pytest.mark.parametrize(("body", "words"), [
    (sound("b", inertia=np.diag([
        1.0, 1.0, 3.0])), "body 'b': the triangle inequality fails: I3 = 3 exceeds I1 + I2 = 2 by 1 kg m^2"),
    (sound("b", inertia=np.diag([-1.0, 2.0, 2.0])), "body 'b': the principal moment I1 is negative: -1 kg m^2"),
    (sound("b", mass=0.0), "body 'b': there is no mass, but an inertia"), ])
def test_inertia_that_is_not_physical(body, words):
    found = report(chain(Body("base"), body, sound("c")))
    assert words in [str(finding) for finding in found.warnings]
    assert set(found.about("inertia not physical")) == {"b"}


def test_missing_masses():
    tree = chain(Body("base"), Body("a"), sound("b"), Body("c"))
    assert report(tree).about("mass missing") == ("a", "c")
    with pytest.raises(ModelError,
                       match=r"arm need the mass of 'a' \(moved by 'j1'\), 'c' \(moved by 'j3'\), which is unknown"):
        check_has_masses(tree)


def test_missing_masses_of_a_root_that_floats_are_filled_too(tmp_path):
    path = tmp_path / "arm.toml"
    cy.Mechanism(chain(Body("base"), sound("a"))).save(path)
    for mass in (0.0, 2.0):
        arm = cy.load(path, floating_base=True, missing_mass=mass, gravity=[0.0, 0.0, -1.0])
        assert {body.name: body.mass for body in arm.bodies}["base"] == mass and arm.gravity[2] == -1.0


def test_frames_and_massless_bodies_do_not_miss_a_mass():
    bodies = [Body("base"), Body("plate"), sound("a"), Body("tool"), Body("zero", 0.0), sound("b"), Body("tip")]
    joints = [
        Joint("p", "base", "plate"),
        Joint("j", "plate", "a", Revolute(), limits=BOUNDED),
        Joint("t", "a", "tool"),
        Joint("k", "tool", "zero", Prismatic(), limits=BOUNDED),
        Joint("l", "zero", "b", Revolute(), limits=BOUNDED),
        Joint("f", "b", "tip")]
    tree = Tree.of("arm", bodies, joints)
    check_has_masses(tree)
    found = report(tree)
    assert found.about("mass missing") == ()
    assert found.about("only a frame") == ("tool", "tip")
    assert rigid_groups(tree) == ((0, 1), (2, 3), (4,), (5, 6))


def test_mass_on_a_fixed_child_counts():
    tree = Tree.of("arm", [Body("base"), Body("pin"), sound("rod")],
                   [Joint("j", "base", "pin", Revolute(), limits=BOUNDED),
                    Joint("f", "pin", "rod")])
    check_has_masses(tree)
    assert report(tree).about("mass missing") == ()


def test_massless_tip():
    tree = chain(Body("base"), Body("a", 0.0), Body("b", 0.0))
    check_has_masses(tree)
    assert report(tree).about("massless tip") == ("b",)


def test_doubtful_masses():
    found = report(
        chain(Body("base"), sound("a", 1e-6, 1e-9 * SOLID), sound("b", 2e4), sound("c", 1.0, 1e4 * np.eye(3))))
    assert [str(finding) for finding in found.warnings] == [
        "body 'a': the mass is very small: 1e-06 kg", "body 'b': the mass is very large: 2e+04 kg",
        "body 'c': the radius of gyration is 100 m; moments of inertia are in kg m^2"]


@pytest.mark.parametrize(("named", "about", "words"), [
    ({"limits": Limits()}, "limits missing", "joint 'j' has no limits"),
    ({"limits": Limits((-1.0,), (np.inf,))}, "limits missing", "joint 'j' has no limits"),
    ({"limits": Limits((1.0,), (1.0,))}, "cannot move", "joint 'j' cannot move: its limits are equal"),
    ({"limits": Limits((-1.0,), (1.0,),
                       (0.0,))}, "limits doubtful", "joint 'j' has a velocity or effort limit that is not positive"),
    ({"friction": Friction(-0.1)}, "friction negative", "joint 'j' has a negative friction"), ])
def test_joints(named, about, words):
    found = report(with_joint(**named))
    assert [str(finding) for finding in found.warnings] == [words]
    assert found.about(about) == ("j",)


@pytest.mark.parametrize("motion", [Revolute(continuous=True), Floating(), Spherical()])
def test_joints_that_need_no_limits(motion):
    assert report(with_joint(motion=motion, limits=Limits())).warnings == ()


def test_chain_of_followers():
    joints = [Joint("i", "a", "b", Revolute(), limits=BOUNDED),
              Joint("j", "b", "c", Revolute(), limits=BOUNDED, mimic=Mimic("i", 2.0, -1.0)),
              Joint("k", "c", "d", Revolute(), limits=BOUNDED, mimic=Mimic("j"))]
    found = report(Tree.of("arm", [Body("a"), sound("b"), sound("c"), sound("d")], joints))
    assert found.about("mimic") == ("j", "k")
    assert found.about("mimic chain") == ("k",)
    assert [row[-1] for row in found.joints.rows] == ["", "2 i -1", "1 j +0"]


def test_frames():
    shifted = np.eye(4)
    shifted[0, 3] = 1.0
    frames = [Frame("tool", "a", shifted), Frame("same", "a"), Frame("held", "a"), Frame("base", "a", shifted),
              Frame("floor", "base")]
    found = report(chain(Body("base"), sound("a"), frames=frames, loops=[Loop("l", "held", "floor")]))
    assert found.about("frame unused") == ("same",)
    assert found.about("frame hides body") == ("base",)


def test_what_was_odd_in_the_file_is_in_the_report():
    text = ('<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
            '<parent link="a"/><child link="b"/></joint></robot>')
    with pytest.warns(ModelWarning, match="axis"):
        tree = load_urdf(text)
    assert any(finding.about == "reading" and "axis" in finding.text for finding in report(tree).warnings)


def test_bodies_with_the_names_of_axes_are_told():
    assert report(chain(sound("base"), sound("world"), sound("body"))).about("name of axes") == ("world", "body")
    assert report(chain(sound("world"), sound("link"))).about("name of axes") == ()


@pytest.mark.parametrize(("lower", "upper", "told"), [
    (-90, 90, True),
    (-180, 180, True),
    (0, 360, True),
    (0, 45.5, True),
    (-57.3, 0, True),
    (-10, 10, True),
    (7, np.inf, True),
    (-np.pi, np.pi, False),
    (-6.2832, 6.2832, False),
    (-6.29, 6.29, False),
    (-6.98, 6.98, False),
    (-12.57, 12.57, False),
    (-3, 3, False), ])
def test_degrees_where_radians_belong(lower, upper, told):
    limits = Limits((float(lower),), (float(upper),))
    for motion, expected in ((Revolute(), told), (Prismatic(), False)):
        found = report(Tree.of("arm", [Body("a"), sound("b")], [Joint("j", "a", "b", motion, limits=limits)]))
        assert found.about("limits in degrees") == (("j",) if expected else ())
        assert not expected or f"from {lower:g} to {upper:g} rad: if these are degrees, write radians" in str(found)


def test_robots_of_the_catalogue_are_in_radians():
    assert not any(report(load_robot(name)).about("limits in degrees") for name in catalogue_names())


def test_where_a_mechanism_comes_from_does_not_command_the_terminal():
    tree = Tree.of("arm", [Body("a")], [], source="\x1b]0;title\x07")
    assert r"(\x1b]0;title\x07)" in str(report(tree)) and "\x1b" not in str(report(tree))


def test_windings_of_motors_are_listed_and_doubted():
    """Time constants by their formulas; constants that are not equal in SI units are doubted."""
    winding = Winding(resistance=2.0, torque_constant=0.05, inductance=1e-3)
    motor = Rotor(1e-5, gear=100.0, winding=winding)
    found = report(with_joint(rotor=motor))
    assert found.motors in found.tables and found.motors.title in str(found)
    assert found.motors.rows == (("j", "100", "1e-05", "2", "0.05", "0.05", "0.001", "0.0005", "0.008"),)
    assert not found.about("motor constants doubtful")
    odd = Winding(resistance=2.0, torque_constant=0.05, back_emf=5.2)  # V/krpm
    assert report(with_joint(rotor=Rotor(1e-5, winding=odd))).about("motor constants doubtful") == ("j",)
    free = report(with_joint(rotor=Rotor(1e-5, winding=Winding(2.0, 0.05, back_emf=0.0))))
    assert free.motors.rows[0][-1] == "inf" and not free.about("motor constants doubtful")
    assert not report(with_joint()).motors.rows
    soft = load_robot("planar2r").with_drive("joint1", stiffness=100.0, inertia=1e-5, gear=100.0, winding=winding)
    for arm in (soft, soft.including("elastic drives")):
        assert len(report(arm).motors.rows) == 1


def in_grams(tree, factor=1e3):
    return tree.with_parts([replace(body, mass=body.mass and factor * body.mass) for body in tree.bodies], tree.joints)


@pytest.mark.parametrize("name", ["panda", "ur5", "iiwa14", "planar3r", "puma560", "stewart", "two_wheel_robot"])
def test_masses_in_grams_are_seen_and_sound_ones_are_not(name):
    tree = load_robot(name)
    assert not report(tree).about("masses in grams") and not report(tree).about("denser than lead")
    found, = (finding for finding in report(in_grams(tree)).warnings if finding.about == "masses in grams")
    assert "if masses are in grams, write kg" in str(found)


def test_a_body_denser_than_lead_is_named():
    """A ball of lead of 1 kg has the moment 2/5 r^2 = 3.05e-4 kg m^2, r = 27.6 mm."""
    found = report(chain(Body("base"), sound("a"), sound("b"), Body("dense", 1.0, inertia=3e-5 * np.eye(3))))
    assert found.about("denser than lead") == ("dense",)
    assert not report(chain(Body("base"), Body("lead", 1.0, inertia=3.1e-4 * np.eye(3)))).about("denser than lead")


@pytest.mark.parametrize(("velocity", "seen"), [(180.0, True), (90.0, True), (3.14, False), (25.0, False),
                                                (62.8, False), (1000.0, False)])
def test_velocities_in_degrees_are_seen(velocity, seen):
    joint = Joint("a", "base", "b", Revolute(), limits=Limits((-1.0,), (1.0,), (velocity,)))
    found = report(Tree.of("arm", [Body("base"), sound("b")], [joint]))
    assert found.about("velocity in degrees") == (("a",) if seen else ())
