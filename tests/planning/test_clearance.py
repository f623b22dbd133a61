"""Clearance and collisions among obstacles: against coal, against differences, and against each other."""

import pickle

import coal
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import CayleyError
from cayley.model.joint_kinds import Floating
from cayley.model.parts import Body, Joint
from cayley.planning.collision.sphere_model import CollisionModel, LinkSpheres
from planning.obstacles import in_coal, random_scene, turned

BALL = CollisionModel("free ball", [LinkSpheres("ball", [[0.0, 0.0, 0.0, 0.05]])])
KINDS = ("boxes", "cylinders", "spheres", "capsules", "half_spaces")


def free_ball():
    bodies = [Body("world", 0.0), Body("ball", 1.0, (0, 0, 0), np.eye(3))]
    return cy.Mechanism.of("free ball", bodies, [Joint("free", "world", "ball", Floating())]).collision.using(BALL)


def arm_with_spheres(rng, per_link=3):
    """A Panda with random spheres on all links, of which the first and the last three may meet."""
    arm = cy.load("panda")
    links = [LinkSpheres(body.name, np.column_stack([rng.uniform(-0.08, 0.08, (per_link, 3)),
                                                     rng.uniform(0.02, 0.06, per_link)])) for body in arm.bodies]
    names = [body.name for body in arm.bodies]
    return arm, CollisionModel("panda", links, [(a, b) for a in names[:3] for b in names[-3:]])


@pytest.mark.parametrize("kind", KINDS)
def test_distances_of_a_ball_are_those_of_coal(kind):
    """Outside and inside, where coal gives how deep the ball is."""
    rng = np.random.default_rng(KINDS.index(kind))
    normal = turned(rng)[1:]
    scene = (cy.Scene(half_spaces=[([0.1, 0.2, 0.3], normal / np.linalg.norm(normal))]) if kind == "half_spaces" else
             random_scene(rng, 1, kinds=(kind,)))
    (shape, place), = in_coal(scene)
    points = getattr(scene, kind)[0, :3] + rng.uniform(-0.4, 0.4, (500, 3)) * rng.uniform(0.02, 1.0, (500, 1))
    found = free_ball().clearance(np.column_stack([points, np.tile([1.0, 0, 0, 0], (500, 1))]), scene)
    ball = coal.Sphere(0.05)
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    expected = []
    for point in points:
        result.clear()
        expected.append(coal.distance(shape, place, ball, coal.Transform3s(np.eye(3), point), request, result))
    assert np.min(found.distance) < -0.05 and np.max(found.distance) > 0.1
    if kind == "cylinders":  # coal's depth of a center within one is not always that of the nearest side
        (row,) = scene.cylinders
        local = Rotation.from_quat(np.roll(row[-4:], -1)).inv().apply(points - row[:3])
        depth = np.minimum(row[3] - np.linalg.norm(local[:, :2], axis=1), row[4] / 2 - np.abs(local[:, 2]))
        expected = np.where(depth > 0, -depth - 0.05, expected)
    np.testing.assert_allclose(found.distance, expected, rtol=0, atol=1e-9)
    assert np.abs(np.linalg.norm(found.gradient[:, :3], axis=1) - 1.0).max() < 1e-12
    assert set(found.other.tolist()) == {scene.names[0]} and set(found.link.tolist()) == {"ball"}


def test_gradients_are_differences():
    rng = np.random.default_rng(5)
    arm, model = arm_with_spheres(rng)
    among = arm.collision.using(model)
    scene = cy.Scene(half_spaces=[([0, 0, -0.5], [0, 0, 1])],
                     **{kind: getattr(random_scene(rng, 3), kind) for kind in KINDS[:4]})
    q = arm.random_configuration(400, seed=1)
    found = among.clearance(q, scene)
    for k in range(7):
        step = 1e-6 * np.eye(7)[k]
        ends = [among.clearance(q + sign * step, scene) for sign in (1, -1)]
        same = np.all([(end.other == found.other) & (end.link == found.link) for end in ends], axis=0)
        slope = (ends[0].distance - ends[1].distance) / 2e-6
        close = np.abs(slope - found.gradient[:, k]) < 1e-6
        assert close.mean() > 0.99 and same.mean() > 0.9  # at an edge there are two gradients
    assert len(set(found.other.tolist())) > 8  # obstacles of every kind, and links


def test_a_collision_is_a_distance_that_is_not_positive():
    rng = np.random.default_rng(6)
    arm, model = arm_with_spheres(rng)
    among = arm.collision.using(model)
    scene = random_scene(rng, 5, apart=0.5)
    q = arm.random_configuration((40, 100), seed=2)
    apart = among.clearance(q, scene).distance
    for margin in (0.0, 0.03):
        touch = among.collides(q, scene, margin=margin)
        assert touch.shape == (40, 100) and touch.dtype == bool
        assert touch[apart <= margin].all() and not touch[apart > margin + 1e-4].any()
        assert 0.02 < touch.mean() < 0.98
    assert among.collides(q[3, 4], scene) == among.collides(q, scene)[3, 4]


def test_wide_batches_are_those_of_single_configurations():
    """Turns that are left where all states of a block are clear change nothing."""
    rng = np.random.default_rng(8)
    arm, model = arm_with_spheres(rng, per_link=6)
    among = arm.collision.using(model)
    scene = random_scene(rng, 6, apart=0.5)
    q = arm.random_configuration(257, seed=3)
    assert among.collides(q, scene).tolist() == [bool(among.collides(each, scene)) for each in q]


def test_a_robot_alone_and_a_scene_it_cannot_leave():
    rng = np.random.default_rng(7)
    arm, model = arm_with_spheres(rng)
    empty = cy.Scene()
    alone = arm.collision.using(CollisionModel("panda", model.links))
    assert alone.clearance(arm.neutral, empty).distance == np.inf and not alone.collides(arm.neutral, empty)
    assert str(alone.clearance(arm.neutral, empty).other) == ""
    base = cy.Scene(boxes=[([0, 0, 0], [0.1, 0.1, 0.1])])
    assert alone.collides(arm.random_configuration(5, seed=0), base).all()
    assert str(alone.clearance(arm.neutral, base).link) == "panda_link0"
    near = arm.collision.using(model).clearance(arm.random_configuration(200, seed=0), empty)
    assert set(near.link.tolist()) | set(near.other.tolist()) <= {body.name for body in arm.bodies}


def test_what_is_not_a_number_is_in_collision_and_shapes_are_checked():
    ball = free_ball()
    scene = cy.Scene(spheres=[([5, 5, 5], 0.1)], boxes=[([5, 0, 5], [1, 1, 1])])
    q = np.array([[0.0, 0, 0, 1, 0, 0, 0], [np.nan, 0, 0, 1, 0, 0, 0]])
    assert ball.collides(q, scene).tolist() == [False, True]
    assert np.isnan(ball.clearance(q, scene).distance).tolist() == [False, True]
    for wrong in (np.zeros(6), 3.0):
        with pytest.raises(CayleyError, match=r"configurations of free ball are \(..., 7\)"):
            ball.collides(wrong, scene)
    with pytest.raises(CayleyError, match="margin"):
        ball.collides(q, scene, margin=-0.1)
    with pytest.raises(CayleyError, match="planar2r has no body 'ball'"):
        cy.load("planar2r").collision.using(BALL)
    again = pickle.loads(pickle.dumps(ball))
    assert again.collides(q, scene).tolist() == [False, True]
