"""Which joints are actuated: in Python, in TOML and MJCF files, in reports, and what follows of it for a mechanism."""

import pickle
import warnings

import mujoco
import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, UnsupportedError
from cayley.model.constraint_kinds import Coupling
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.formats.mjcf_text import dump_mjcf
from cayley.model.formats.toml_format import load_toml
from cayley.model.formats.toml_text import dump_toml
from cayley.model.joint_kinds import Floating, JointKind, Revolute, Spherical, Universal
from cayley.model.parts import Body, Joint

X = (1.0, 0.0, 0.0)


def chain(*motions, actuated=None, name="chain"):
    """One body after the other, a metre apart."""
    place = np.eye(4)
    place[0, 3] = 1.0
    bodies = [Body("world"), *[Body(f"b{k}", 1.0, [0.5, 0, 0], np.eye(3)) for k, _ in enumerate(motions)]]
    joints = [Joint(f"j{k}", bodies[k].name, f"b{k}", motion, place if k else None)
              for k, motion in enumerate(motions)]
    return cy.Mechanism.of(name, bodies, joints, actuated=actuated)


def test_where_nothing_is_said_all_that_move_are_but_mimic_and_floating_joints():
    assert chain(Revolute(), JointKind(), Revolute()).actuated_joints == ("j0", "j2")
    assert chain(Floating(), Revolute()).actuated_joints == ("j1",)
    assert "panda_finger_joint2" not in cy.load("panda_hand").actuated_joints
    assert cy.load("panda_hand").loops.actuation.kind == "fully actuated"
    assert chain(Floating(), Revolute()).loops.actuation.kind == "under-actuated"


def test_a_choice_is_kept_by_all_that_changes_a_mechanism():
    arm = chain(Revolute(), Revolute(), actuated=["j1"])
    assert arm.actuated_joints == ("j1",)
    assert arm.tree.actuated_velocities == (1,)
    for changed in (arm.with_gravity([0, 0, 0]), arm.with_payload("b1", 2.0), arm.with_frame("end", "b1"),
                    arm.with_friction("j0", viscous=1.0), arm.including("friction"), arm.variants.spanning_tree(),
                    pickle.loads(pickle.dumps(arm))):
        assert changed.actuated_joints == ("j1",)
    assert arm.variants.with_actuated().actuated_joints == ()
    assert chain(Universal(), Revolute(), actuated=["j0"]).tree.actuated_velocities == (0, 1)


@pytest.mark.parametrize(("names", "words"), [
    (["j3"], "chain has no joint 'j3'"), (["j1"], "joint 'j1' of chain is fixed: it cannot be actuated"),
    (["j0", "j0"], "joint 'j0' of chain is named twice as actuated"), ([3], "chain has no joint 3")])
def test_wrong_names_are_refused(names, words):
    with pytest.raises(ModelError, match=words):
        chain(Revolute(), JointKind(), actuated=names)
    with pytest.raises(ModelError, match=words):
        chain(Revolute(), JointKind()).variants.with_actuated(*names)


def test_a_text_is_taken_for_one_name():
    assert chain(Revolute(), Revolute(), actuated="j1").actuated_joints == ("j1",)


# Files


@pytest.mark.parametrize("names", [None, (), ("j1",), ("j1", "j0")])
def test_toml_keeps_it(names):
    tree = chain(Revolute(), Revolute(), actuated=names).tree
    assert load_toml(dump_toml(tree)).actuated == tree.actuated


@pytest.mark.parametrize(("line", "words"), [
    ('actuated = ["crnk"]', r"line 2, actuated: arm has no joint 'crnk', did you mean 'crank'"),
    ('actuated = "crank"', "line 2, actuated: actuated must be a list of texts"),
    ('actuated = ["crank", "crank"]', "line 2, actuated: joint 'crank' of arm is named twice")])
def test_toml_says_the_line_of_what_is_wrong(line, words):
    text = f'name = "arm"\n{line}\n[[bodies]]\nname = "base"\n[[bodies]]\nname = "rod"\n[[joints]]\nname = "crank"\n' \
           'kind = "revolute"\nparent = "base"\nchild = "rod"\n'
    with pytest.raises(ModelError, match=words.replace(", did", ".*did")):
        load_toml(text)


def test_parts_that_are_wrong_are_told_beside_actuated_joints(tmp_path):
    from cayley.model.formats.toml_format import errors_of_parts
    path = tmp_path / "arm.toml"
    path.write_text('name = "arm"\nactuated = ["crank"]\n[[bodies]]\nname = "base"\nmass = -1\n'
                    '[[bodies]]\nname = "rod"\n[[joints]]\nname = "crank"\nkind = "revolute"\nparent = "base"\n'
                    'child = "rod"\n')
    found = [error for errors in errors_of_parts(path) for error in errors]
    assert len(found) == 1
    assert "line 3" in found[0] and "mass" in found[0]


def test_mjcf_reads_and_writes_motors():
    tree = chain(Revolute(), Revolute(), Spherical(), actuated=["j0", "j2"]).tree
    text = dump_mjcf(tree)
    assert mujoco.MjModel.from_xml_string(text).nu == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_mjcf(text).actuated == ("j0", "j2")
        assert load_mjcf(dump_mjcf(chain(Revolute()).tree)).actuated is None
    universal = load_mjcf(dump_mjcf(chain(Universal(), Revolute(), actuated=["j0"]).tree))
    assert universal.actuated_joints == ("j0/1", "j0/2")
    with pytest.raises(UnsupportedError, match="that no joint is actuated"):
        dump_mjcf(chain(Revolute(), actuated=[]).tree)


def test_urdf_refuses_what_it_cannot_say(tmp_path):
    arm = chain(Revolute(), Revolute(), actuated=["j0"])
    with pytest.raises(UnsupportedError, match="that the actuated joints are 'j0'"):
        arm.save(tmp_path / "arm.urdf")
    arm.variants.with_actuated("j0", "j1").save(tmp_path / "arm.urdf")


# What the drives are worth


def test_a_four_bar_by_one_two_and_no_drives():
    bar = cy.load("four_bar")
    full = bar.variants.with_actuated("crank").loops.actuation
    assert (full.kind, full.rank, full.surplus, full.undriven) == ("fully actuated", 1, 0, ())
    both = bar.variants.with_actuated("crank", "rocker").loops.actuation
    assert (both.kind, both.surplus) == ("redundantly actuated", 1)
    none = bar.variants.with_actuated().loops.actuation
    assert (none.kind, none.undriven) == ("under-actuated", ("crank", "coupler", "rocker"))
    assert str(none) == "under-actuated by no joint, not driven: crank, coupler, rocker"


def test_drives_that_work_against_each_other_leave_the_rest_free():
    """Two drives for two freedoms, but of one motion: by their number they would be enough."""
    gears = chain(Revolute(X), Revolute(X), Revolute(X))
    tied = cy.Mechanism.of("gears", gears.bodies, gears.joints, actuated=["j0", "j1"],
                           constraints=[Coupling("teeth", ("j0", "j1"), (3.0, 1.0))])
    found = tied.loops.actuation
    assert (found.kind, found.actuators, found.mobility, found.rank) == ("under-actuated", 2, 2, 1)
    assert found.undriven == ("j2",)
    assert found.surplus == 1


def test_reports_say_it():
    assert "mobility 1, fully actuated by crank" in cy.load("four_bar").summary().heading
    assert "actuated" not in chain(Revolute(), Revolute()).summary().heading
    assert "actuated: j0" in chain(Revolute(), Revolute(), actuated=["j0"]).summary().heading
    assert "actuated: no joint" in chain(Revolute(), actuated=[]).summary().heading
