"""The tree as data: joints that follow others, copies that stay immutable, and parts that cannot be."""

import copy
import pickle

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, SignatureError
from cayley.model.joint_kinds import Floating, Helical, Motion, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Joint, Limits, Mimic
from cayley.model.tree import Tree


def row(*joints):
    """Joints (motion, mimic) one after the other, j0, j1, ..."""
    made = [Joint(f"j{k}", f"b{k}", f"b{k + 1}", motion, mimic=mimic) for k, (motion, mimic) in enumerate(joints)]
    return cy.Mechanism.of("row", [Body(f"b{k}") for k in range(len(joints) + 1)], made)


def test_joints_follow_along_chains_in_any_order():
    tree = row((Revolute(), Mimic("j1", 2.0, 0.5)), (Revolute(), Mimic("j3", -1.0)), (Floating(), None), (Revolute(), None),
               (Prismatic(), Mimic("j0", 0.1, 1.0)))
    assert tree.random_configuration(np.int64(4), seed=0).shape == (4, 11)
    q = tree.random_configuration((2, 3), seed=0)
    lead = q[..., 9]
    np.testing.assert_allclose(q[..., 1], -lead, rtol=1e-15)
    np.testing.assert_allclose(q[..., 0], 0.5 - 2 * lead, rtol=1e-15)
    np.testing.assert_allclose(q[..., 10], 1 + 0.1 * (0.5 - 2 * lead), rtol=1e-15)
    apart = q + np.eye(11)[0]
    np.testing.assert_array_equal(tree.with_followers(apart), q)
    with pytest.raises(SignatureError, match="shape"):
        tree.with_followers(np.zeros(3))


@pytest.mark.parametrize(("joints", "said"), [
    ([(Revolute(), Mimic("j0"))], "'j0' of row follow each other in a ring"),
    ([(Revolute(), Mimic("j1")), (Revolute(), Mimic("j2")), (Revolute(), Mimic("j1"))], "follow each other in a ring"),
    ([(Spherical(), None), (Revolute(), Mimic("j0"))], "'j0' is spherical"),
    ([(Spherical(), Mimic("j1")), (Revolute(), None)], "'j0' is spherical"),
    ([(Motion(), None), (Revolute(), Mimic("j0"))], "'j0' is fixed"),
    ([(Revolute(), Mimic("j7"))], "no joint 'j7'"),
])
def test_what_cannot_be_followed_is_refused(joints, said):
    with pytest.raises(ModelError, match=said):
        row(*joints)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_copies_are_as_immutable_as_the_original(copied):
    tree = copied(cy.load("puma560"))
    arrays = [tree.gravity, *[x for b in tree.bodies for x in (b.center, b.inertia)], *[j.placement for j in tree.joints],
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
