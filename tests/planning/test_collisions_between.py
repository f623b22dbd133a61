"""Collisions on straight ways between configurations: against fine samples of them, and the bound on what moves."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import CayleyError, UnsupportedError
from cayley.kinematics.frame_kernels import body_pose_kernel
from cayley.planning.collision.motions import farthest
from cayley.planning.collision.sphere_model import CollisionModel, LinkSpheres
from planning.obstacles import random_scene
from planning.test_clearance import BALL, arm_with_spheres, free_ball


def centers(arm, model, q):
    poses = body_pose_kernel(arm.tree)(q)
    return np.concatenate([link.spheres[:, :3] @ np.swapaxes(pose[..., :3, :3], -1, -2) + pose[..., None, :3, 3]
                           for link in model.links for pose in [poses[..., arm.tree.body_number(link.body), :, :]]],
                          axis=-2)


@pytest.mark.parametrize("name", ["panda", "scara", "puma560"])
def test_no_sphere_moves_farther_than_the_bound(name):
    rng = np.random.default_rng(2)
    arm = cy.load(name)
    model = CollisionModel(name, [LinkSpheres(body.name, [[*rng.uniform(-0.3, 0.3, 3), 0.1]]) for body in arm.bodies])
    a, b = arm.random_configuration(300, seed=0), arm.random_configuration(300, seed=1)
    b = a + rng.uniform(0.01, 1.0, (300, 1)) * (b - a)
    moved = np.linalg.norm(centers(arm, model, b) - centers(arm, model, a), axis=-1).max(axis=-1)
    bound = farthest(arm.tree, model, a, b)
    assert (moved <= bound).all() and (moved > 0.1 * bound).any()


def test_no_collision_between_is_missed():
    rng = np.random.default_rng(9)
    arm, model = arm_with_spheres(rng)
    among = arm.collision.using(model)
    scene = random_scene(rng, 4, apart=0.5)
    a, b = arm.random_configuration(200, seed=2), arm.random_configuration(200, seed=3)
    b = a + rng.uniform(0.02, 0.5, (200, 1)) * (b - a)
    ways = a[:, None] + np.linspace(0, 1, 301)[:, None] * (b - a)[:, None]
    least = among.clearance(ways, scene).distance.min(axis=1)
    for step in (0.02, 0.005):
        found = among.collides_between(a, b, scene, step=step)
        assert found.shape == (200,) and found[least <= 0].all() and not found[least > 3 * step].any()
    assert 0.1 < found.mean() < 0.9
    assert [bool(among.collides_between(a[k], b[k], scene, step=0.005)) for k in range(20)] == found[:20].tolist()
    assert among.collides_between(a[0], b.reshape(4, 50, 7), scene).shape == (4, 50)


def test_a_motion_through_a_wall_between_free_ends():
    arm = cy.load("planar2r")
    among = arm.collision.using(CollisionModel("planar2r", [LinkSpheres("link2", [[0.4, 0, 0, 0.02]])]))
    wall = cy.Scene(boxes=[([0.9, 0.0, 0.0], [0.2, 0.001, 0.2])])
    a, b = np.array([-0.5, 0.0]), np.array([0.5, 0.0])
    assert not among.collides([a, b], wall).any() and among.collides_between(a, b, wall, step=0.1)
    assert not among.collides_between(b, b + 0.2, wall)


def test_what_stands_close_to_the_base_does_not_hinder_motions():
    arm = cy.load("planar2r")
    model = CollisionModel("planar2r", [LinkSpheres("base", [[0, 0, 0, 0.1]]),
                                        LinkSpheres("link2", [[0.4, 0, 0, 0.02]])])
    table = cy.Scene(half_spaces=[([0, 0, -0.101], [0, 0, 1])])
    assert not arm.collision.using(model).collides_between([0, 0], [1, 1], table, step=0.05)


def test_what_cannot_be_checked_is_said():
    q = np.array([0.0, 0, 0, 1, 0, 0, 0])
    with pytest.raises(UnsupportedError, match="free ball"):
        free_ball().collides_between(q, q, cy.Scene())
    assert BALL.count == 1
    among = cy.load("planar2r").collision.using(CollisionModel("p", [LinkSpheres("link1", [[0, 0, 0, 1]])]))
    for call in (lambda: among.collides_between([0, 0], [1, 1], cy.Scene(), step=0.0),
                 lambda: among.collides_between([0, np.nan], [1, 1], cy.Scene())):
        with pytest.raises(CayleyError, match=r"step is a positive|finite"):
            call()
