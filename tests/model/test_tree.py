"""The tree as data: joints that follow others, copies that stay immutable, and parts that cannot be."""

import copy
import pickle

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, SignatureError
from cayley.model.joint_kinds import Floating, Helical, JointKind, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Friction, Joint, Limits, Loop, Mimic, Rotor
from cayley.model.tree import Tree


def row(*joints):
    """Joints (motion, mimic) one after the other, j0, j1, ..."""
    made = [Joint(f"j{k}", f"b{k}", f"b{k + 1}", motion, mimic=mimic) for k, (motion, mimic) in enumerate(joints)]
    return cy.Mechanism.of("row", [Body(f"b{k}") for k in range(len(joints) + 1)], made)


def test_joints_follow_along_chains_in_any_order():
    tree = row((Revolute(), Mimic("j1", 2.0, 0.5)), (Revolute(), Mimic("j3", -1.0)), (Floating(), None),
               (Revolute(), None), (Prismatic(), Mimic("j0", 0.1, 1.0)))
    assert tree.random_configuration(np.int64(4), seed=0).shape == (4, 11)
    q = tree.random_configuration((2, 3), seed=0)
    lead = q[..., 9]
    np.testing.assert_allclose(q[..., 1], -lead, rtol=1e-15)
    np.testing.assert_allclose(q[..., 0], 0.5 - 2 * lead, rtol=1e-15)
    np.testing.assert_allclose(q[..., 10], 1 + 0.1 * (0.5 - 2 * lead), rtol=1e-15)
    apart = q + np.eye(11)[0]
    np.testing.assert_array_equal(tree.configurations.with_mimic_joints(apart), q)
    with pytest.raises(SignatureError, match="shape"):
        tree.configurations.with_mimic_joints(np.zeros(3))


@pytest.mark.parametrize(("joints", "said"), [
    ([(Revolute(), Mimic("j0"))], "'j0' of row follow each other in a ring"),
    ([(Revolute(), Mimic("j1")), (Revolute(), Mimic("j2")), (Revolute(), Mimic("j1"))], "follow each other in a ring"),
    ([(Spherical(), None), (Revolute(), Mimic("j0"))], "'j0' is spherical"),
    ([(Spherical(), Mimic("j1")), (Revolute(), None)], "'j0' is spherical"),
    ([(JointKind(), None), (Revolute(), Mimic("j0"))], "'j0' is fixed"),
    ([(Revolute(), Mimic("j7"))], "follows 'j7', which does not exist"),
])
def test_what_cannot_be_followed_is_refused(joints, said):
    with pytest.raises(ModelError, match=said):
        row(*joints)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_copies_are_as_immutable_as_the_original(copied):
    tree = copied(cy.load("puma560"))
    arrays = [
        tree.gravity, *[x for b in tree.bodies for x in (b.center, b.inertia)], *[j.placement for j in tree.joints],
        *[f.pose for f in tree.frames]]
    assert not any(array.flags.writeable for array in arrays)
    np.testing.assert_array_equal(tree.pose(np.ones(6), "tool"), cy.load("puma560").pose(np.ones(6), "tool"))


@pytest.mark.parametrize("make", [
    lambda: Body("a", "heavy"), lambda: Body("a", np.nan), lambda: Helical(pitch=np.nan), lambda: Helical(pitch=np.inf),
    lambda: Joint("j", "a", "b", Revolute(), limits=Limits(velocity=(np.nan,))),
    lambda: Joint("j", "a", "b", Revolute(), limits=Limits(lower=(np.nan,))),
    lambda: Tree.of("t", [Body("a")], [], gravity=(0.0, np.nan, 0.0)),
])
def test_parts_that_cannot_be_are_refused(make):
    with pytest.raises(ModelError):
        make()


@pytest.mark.parametrize("motion", ["prismatic", Prismatic, None])
def test_the_motion_of_a_joint_is_one_of_the_kinds(motion):
    for part in (Joint, Loop):
        with pytest.raises(ModelError, match=r"give one of `cayley.model.joint_kinds`, as (Prismatic|Revolute)\(\)"):
            part("j", "a", "b", motion)


@pytest.mark.parametrize("name", ["", "a\nb", "a\x1b[31m", "\u202e", "\ud800", None, 3])
def test_names_are_texts_that_can_be_shown(name):
    for parts in (lambda: ("m", [Body(name)], []), lambda: (name, [Body("a")], []),
                  lambda: ("m", [Body("a"), Body("b")], [Joint(name, "a", "b")])):
        with pytest.raises(ModelError, match="a name is a text without control characters, and not empty"):
            Tree.of(*parts())
    assert Tree.of("a b [c] é 🤖", [Body("עברית")], []).name == "a b [c] é 🤖"


@pytest.mark.parametrize("make", [
    lambda: Body("b", 10**400),
    lambda: Body("b", 1e31),
    lambda: Body("b", 1.0, [0, 0, 10**400]),
    lambda: Body("b", 1.0, [0, 0, 1e31]),
    lambda: Rotor(1e31),
    lambda: Friction(10**400),
    lambda: Mimic("j", 1e31), ])
def test_numbers_that_no_robot_has_are_refused(make):
    with pytest.raises(ModelError):
        make()


def test_names_of_joints_and_frames():
    panda = cy.load("panda_hand")
    assert len(panda.joint_names) == panda.nq == 9 < len(panda.joints) and panda.joint_names[0] == "panda_joint1"
    for name in panda.frame_names:
        assert panda.tree.frame(name).name == name
    for name in (None, 3, ["tool"]):
        with pytest.raises(ModelError, match="has no frame or body"):
            panda.tree.frame(name)
