"""Configurations as arrays: of any shape, with quaternions in them."""

import math

import numpy as np
import pytest

from cayley.errors import GeometryError
from cayley.model.configurations import normalized
from cayley.model.joint_kinds import Floating, Prismatic, Spherical
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree

DRONE = Tree.of("drone", [Body("world"), Body("hull"), Body("arm"), Body("eye")],
                [Joint("flight", "world", "hull", Floating()), Joint("slide", "hull", "arm", Prismatic()),
                 Joint("look", "arm", "eye", Spherical())])
QUATERNIONS = (slice(3, 7), slice(8, 12))


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 4), (2, 1, 3)])
def test_quaternions_of_any_batch_are_brought_to_length_one_and_nothing_else_is(shape):
    q = np.random.default_rng(3).normal(size=(*shape, DRONE.nq))
    found = normalized(DRONE, q)
    expected = q.reshape(-1, DRONE.nq).copy()
    for one in expected:
        for turn in QUATERNIONS:
            one[turn] = [x / math.hypot(*one[turn]) for x in one[turn]]
    np.testing.assert_allclose(found, expected.reshape(q.shape), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(found[..., [0, 1, 2, 7]], q[..., [0, 1, 2, 7]])


@pytest.mark.parametrize("size", [2.0**-1070, 1e-200, 1e200, 4e307])
def test_quaternions_of_all_sizes_have_a_direction(size):
    q = np.zeros(DRONE.nq)
    for turn in QUATERNIONS:
        q[turn] = size * np.array([1.0, -2.0, 2.0, 4.0])
    for turn in QUATERNIONS:
        np.testing.assert_allclose(normalized(DRONE, q)[turn], [0.2, -0.4, 0.4, 0.8], rtol=3e-16)


def test_quaternions_along_an_axis_are_brought_to_length_one():
    q = np.zeros((4, DRONE.nq))
    for turn in QUATERNIONS:
        q[:, turn] = np.diag([2.0, -0.5, 3.0, -1e-9])
    for turn in QUATERNIONS:
        np.testing.assert_array_equal(normalized(DRONE, q)[:, turn], np.diag([1.0, -1.0, 1.0, -1.0]))


@pytest.mark.parametrize("bad", [[0.0] * 4, [np.nan, 0.0, 0.0, 1.0], [0.0, -np.inf, 0.0, 1.0]], ids=str)
def test_a_quaternion_without_a_direction_is_refused_wherever_it_is(bad):
    for joint, turn in zip(("flight", "look"), QUATERNIONS, strict=True):
        q = np.random.default_rng(4).normal(size=(3, 2, DRONE.nq))
        q[1, 0, turn] = bad
        with pytest.raises(GeometryError, match=f"a quaternion of joint '{joint}' of drone is zero or not finite"):
            normalized(DRONE, q)
