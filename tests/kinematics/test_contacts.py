"""Contact points: against closed forms and brute force on planes, and against MuJoCo and coal between shapes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.geometry.contact_shapes import ConvexHull, Cylinder, HeightField
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.kinematics import contact_layout, contact_points, contact_points_kernel
from cayley.kinematics.contacts.spot import axes_about
from cayley.model.joint_kinds import Floating
from cayley.model.parts import Body, Joint


def pose(rng, spread=0.3):
    made = np.eye(4)
    made[:3, :3] = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
    made[:3, 3] = spread * rng.normal(size=3)
    return made


def q_of(*poses):
    return np.concatenate([[*p[:3, 3], *np.roll(Rotation.from_matrix(p[:3, :3]).as_quat(), 1)] for p in poses])


def free(count):
    bodies = [Body("world", 0.0), *[Body(f"b{k}", 1.0, (0, 0, 0), np.eye(3)) for k in range(count)]]
    return cy.Mechanism.of("free bodies", bodies, [Joint(f"j{k}", "world", f"b{k}", Floating()) for k in range(count)])


def cloud(rng, n=20):
    return rng.uniform(-1, 1, size=(n, 3)) * [0.2, 0.15, 0.1]


SHAPES = {
    "sphere": lambda rng: Sphere(0.1, [0.05, 0, 0.02]),
    "capsule": lambda rng: Capsule(0.05, [-0.2, 0.1, 0], [0.2, 0, 0.1]),
    "box": lambda rng: Box(rng.uniform(0.05, 0.4, 3), pose(rng, 0.1)),
    "cylinder": lambda rng: Cylinder(0.1, [0, 0.1, -0.2], [0.1, 0, 0.15]),
    "hull": lambda rng: ConvexHull(cloud(rng)),
}


def surface(shape, n=400):
    """Points (m, 3) of a shape on which its lowest point is."""
    if isinstance(shape, ConvexHull):
        return shape.points
    if isinstance(shape, Box):
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).T.reshape(-1, 3)
        return shape.center + signs @ shape.generators.T
    raise AssertionError


def least_height(shape, p, up, origin):
    """The signed height of the lowest point, in closed form."""
    R, o = p[:3, :3], p[:3, 3]
    if isinstance(shape, Sphere):
        return up @ (R @ shape.center + o - origin) - shape.radius
    if isinstance(shape, Capsule | Cylinder):
        low = min(up @ (R @ end + o - origin) for end in (shape.start, shape.end))
        a = R @ (shape.end - shape.start)
        reach = 1.0 if isinstance(shape, Capsule) else np.sqrt(1 - (up @ a) ** 2 / (a @ a))
        return low - shape.radius * reach
    return (surface(shape) @ R.T @ up + up @ (o - origin)).min()


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("sloping", [False, True])
def test_shapes_on_planes_against_closed_forms(kind, sloping):
    rng = np.random.default_rng(3)
    slope = pose(rng) if sloping else np.eye(4)
    up, origin = slope[:3, 2], slope[:3, 3]
    for _ in range(6):
        shape = SHAPES[kind](rng)
        arm = free(1).with_contacts(slope if sloping else "plane", shapes={"b0": shape})
        kernel = contact_points_kernel(arm.tree)
        poses = [pose(rng) for _ in range(10)]
        found = kernel(np.stack([q_of(p) for p in poses]))
        for k, p in enumerate(poses):
            least = least_height(shape, p, up, origin)
            assert found.gap[k].min() == pytest.approx(least, abs=1e-4 if kind == "hull" else 1e-9)
            assert found.gap[k].min() >= least - 1e-12
            heights = (found.position[k] - origin) @ up
            np.testing.assert_allclose(heights, 0.5 * found.gap[k], atol=1e-13)
            np.testing.assert_allclose(found.axes[k], np.broadcast_to(slope[:3, :3].T, found.axes[k].shape), atol=1e-15)
            # all are points of the shape
            on_shape = (found.position[k] + 0.5 * found.gap[k][:, None] * up - p[:3, 3]) @ p[:3, :3]
            if isinstance(shape, Box | ConvexHull):
                near = np.linalg.norm(on_shape[:, None] - surface(shape), axis=2).min(axis=1)
                assert near.max() < 1e-12
        reference = contact_points(arm.tree, q_of(poses[0]))
        for one, other in zip(reference, found, strict=True):
            np.testing.assert_allclose(np.asarray(one, float), other[0], atol=1e-14)


def test_axes_on_level_ground_are_constants_and_names_are_told():
    arm = free(1).with_contacts(shapes={"b0": Box([0.2, 0.3, 0.4])})
    assert [spot.name for spot in contact_layout(arm.tree)] == [f"b0 on ground {k}" for k in range(1, 5)]
    seen = []

    @cy.kernel("(7)->()")
    def gaps(q):
        found = contact_points(arm.tree, q)
        seen.append(np.asarray(found.axes))
        return sum(found.gap)

    gaps(q_of(np.eye(4)))
    assert seen[0].dtype == float
    np.testing.assert_array_equal(seen[0], np.broadcast_to(np.eye(3), (4, 3, 3)))


def test_a_box_that_lies_flat_has_its_four_corners_in_places_that_rounding_does_not_change():
    arm = free(1).with_contacts(shapes={"b0": Box([0.2, 0.3, 0.1])})
    rng = np.random.default_rng(0)
    p = np.eye(4)
    p[2, 3] = 0.05
    at_rest = contact_points(arm.tree, q_of(p)).position
    assert {tuple(np.sign(x[:2])) for x in at_rest} == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
    for _ in range(20):
        p[:3, :3] = Rotation.from_rotvec(1e-6 * rng.normal(size=3)).as_matrix()
        np.testing.assert_allclose(contact_points(arm.tree, q_of(p)).position, at_rest, atol=1e-6)


def test_tangents_are_right_handed_and_change_nowhere_a_wall_floor_or_ceiling_is():
    rng = np.random.default_rng(0)
    normals = np.concatenate([rng.normal(size=(200, 3)), np.eye(3), -np.eye(3)])
    for n in normals / np.linalg.norm(normals, axis=1)[:, None]:
        R = axes_about(n)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(R) == pytest.approx(1.0)
    for n in [*np.eye(3), *-np.eye(3)]:
        near = n + 1e-9 * rng.normal(size=3)
        np.testing.assert_allclose(axes_about(near / np.linalg.norm(near)), axes_about(n), atol=1e-8)
    np.testing.assert_array_equal(axes_about(np.array([0.0, 0.0, 1.0])), np.eye(3))


def touching(one, other, poses):
    """The contact points of two shapes on free bodies at poses [(a, b), ...]."""
    arm = free(2).with_contacts(None, shapes={"b0": one, "b1": other})
    q = np.stack([np.concatenate([q_of(a), q_of(b)]) for a, b in poses])
    return contact_points_kernel(arm.tree)(q)


def geom(shape, name):
    """A body of MJCF with one shape."""
    def numbers(values):
        return " ".join(f"{x:.17g}" for x in np.ravel(values))

    mesh = ""
    if isinstance(shape, Sphere):
        text = f'type="sphere" size="{shape.radius}" pos="{numbers(shape.center)}"'
    elif isinstance(shape, Box):
        quat = np.roll(Rotation.from_matrix(shape.pose[:3, :3]).as_quat(), 1)
        text = f'type="box" size="{numbers(shape.size / 2)}" pos="{numbers(shape.center)}" quat="{numbers(quat)}"'
    elif isinstance(shape, ConvexHull):
        mesh = f'<mesh name="{name}" vertex="{numbers(shape.points)}"/>'
        text = f'type="mesh" mesh="{name}"'
    else:
        kind = type(shape).__name__.lower()
        text = f'type="{kind}" size="{shape.radius}" fromto="{numbers([shape.start, shape.end])}"'
    return mesh, f'<body><freejoint/><geom name="{name}" {text}/></body>'


def mujoco_distances(one, other, poses):
    """The signed distance by `mj_geomDistance` for each of the poses."""
    mujoco = pytest.importorskip("mujoco")
    parts = [geom(one, "a"), geom(other, "b")]
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option ccd_tolerance="1e-12" ccd_iterations="400"/><asset>{parts[0][0]}{parts[1][0]}</asset>'
        f'<worldbody>{parts[0][1]}{parts[1][1]}</worldbody></mujoco>')
    data = mujoco.MjData(model)
    found = []
    for a, b in poses:
        data.qpos[:] = np.concatenate([q_of(a), q_of(b)])
        mujoco.mj_kinematics(model, data)
        found.append(mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None))
    return np.array(found)


def coal_shape(shape):
    """A shape of coal, and its pose."""
    import coal
    place = np.eye(4)
    if isinstance(shape, Sphere):
        place[:3, 3] = shape.center
        return coal.Sphere(shape.radius), place
    if isinstance(shape, Box):
        return coal.Box(*shape.size), shape.pose
    if isinstance(shape, ConvexHull):
        from scipy.spatial import ConvexHull as Hull
        points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        points.extend(list(shape.points))
        triangles.extend([coal.Triangle(*map(int, each)) for each in Hull(shape.points).simplices])
        return coal.Convex(points, triangles), place
    way = shape.end - shape.start
    place[:3, :3] = axes_about(way / np.linalg.norm(way)).T
    place[:3, 3] = (shape.start + shape.end) / 2
    return getattr(coal, type(shape).__name__)(shape.radius, np.linalg.norm(way)), place


def coal_distances(one, other, poses):
    """The signed distance by GJK and EPA of coal for each of the poses."""
    coal = pytest.importorskip("coal")
    (a, at_a), (b, at_b) = coal_shape(one), coal_shape(other)
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 500
    places = [[coal.Transform3s(np.array(each[:3, :3]), np.array(each[:3, 3])) for each in (p @ at_a, q @ at_b)]
              for p, q in poses]
    return np.array([coal.distance(a, p, b, q, request, coal.DistanceResult()) for p, q in places])


def check_geometry(found, poses, one, other):
    """Axes are rotations, and the middle of both surfaces is at half the gap from each."""
    R = found.axes
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-12)
    assert (np.linalg.det(R) > 0).all()


@pytest.mark.parametrize("kinds", [("sphere", "sphere"), ("sphere", "capsule"), ("capsule", "capsule")])
@pytest.mark.parametrize("near", [0.0, 0.3])
def test_round_shapes_against_mujoco(kinds, near):
    rng = np.random.default_rng(7)
    for _ in range(3):
        one, other = (SHAPES[kind](rng) for kind in kinds)
        poses = [(pose(rng), pose(rng, 0.05 + near)) for _ in range(40)]
        found = touching(one, other, poses)
        expected = mujoco_distances(one, other, poses)
        np.testing.assert_allclose(found.gap.min(axis=1), expected, atol=1e-9)
        check_geometry(found, poses, one, other)


def test_capsules_that_are_parallel_cross_or_are_one():
    rod = Capsule(0.1, [-1, 0, 0], [1, 0, 0])
    there = np.eye(4)
    there[:3, 3] = [0.5, 0.0, 0.3]
    found = touching(rod, rod, [(np.eye(4), there)])
    np.testing.assert_allclose(found.gap[0], [0.1, 0.1], atol=1e-12)
    np.testing.assert_allclose(found.position[0], [[-0.5, 0, 0.15], [1.0, 0, 0.15]], atol=1e-12)  # side by side
    np.testing.assert_allclose(found.axes[0, :, 2], [[0, 0, 1]] * 2, atol=1e-12)
    for turn, atol in (([0, 0.02, 0], 1e-12), ([0, 0, 1e-3], 2e-6), ([0, 0, 0.02], 2e-6)):  # tilted, and crossing
        turned = there.copy()
        turned[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
        found = touching(rod, rod, [(np.eye(4), turned)])
        assert found.gap.min() == pytest.approx(coal_distances(rod, rod, [(np.eye(4), turned)])[0], abs=atol)
    turned = np.eye(4)
    turned[:3, :3] = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    for b in (turned, np.eye(4)):  # crossing, and the same
        found = touching(rod, rod, [(np.eye(4), b)])
        assert found.gap[0, 0] == pytest.approx(-0.2, abs=1e-9) and np.isfinite(found.axes).all()
        assert abs(found.axes[0, 0, 2, 2]) == pytest.approx(1.0)


@pytest.mark.parametrize("kinds", [("box", "sphere"), ("box", "capsule"), ("sphere", "box")])
@pytest.mark.parametrize("near", [0.0, 0.3])
def test_balls_and_boxes_against_coal(kinds, near):
    rng = np.random.default_rng(8)
    for _ in range(3):
        one, other = (SHAPES[kind](rng) for kind in kinds)
        poses = [(pose(rng), pose(rng, 0.05 + near)) for _ in range(60)]
        found = touching(one, other, poses)
        expected = coal_distances(one, other, poses)
        gaps = found.gap.min(axis=1)
        near_rim = gaps > -0.05 if "capsule" in kinds else np.isfinite(gaps)  # the axis is not in the box
        np.testing.assert_allclose(gaps[near_rim], expected[near_rim], atol=1e-8)
        assert near_rim.sum() > 10 and (gaps >= expected - 1e-8).all()
        check_geometry(found, poses, one, other)


def test_a_capsule_on_a_box_lies_where_the_face_ends():
    there = np.eye(4)
    there[:3, 3] = [0.3, 0.0, 0.15]
    lying = Capsule(0.05, [-0.5, 0, 0], [0.5, 0, 0])
    found = touching(Box([1.0, 0.4, 0.2]), lying, [(np.eye(4), there)])
    np.testing.assert_allclose(found.gap[0], np.zeros(3), atol=1e-12)
    np.testing.assert_allclose(np.sort(found.position[0, :2, 0]), [-0.2, 0.5], atol=1e-12)
    there[0, 3] = 0.0
    longer = touching(Box([0.6, 0.4, 0.2]), lying, [(np.eye(4), there)])
    np.testing.assert_allclose(np.sort(longer.position[0, :2, 0]), [-0.3, 0.3], atol=1e-12)


def nudged(poses, directions, size):
    """The same poses, the second ones moved along directions (n, 3)."""
    moved = [(a, b.copy()) for a, b in poses]
    for (_, b), d in zip(moved, directions, strict=True):
        b[:3, 3] += size * d
    return moved


@pytest.mark.parametrize("kinds", [("box", "sphere"), ("box", "capsule"), ("box", "box"), ("capsule", "capsule")])
def test_gaps_grow_along_the_normal(kinds):
    rng = np.random.default_rng(9)
    one, other = (SHAPES[kind](rng) for kind in kinds)
    poses = [(pose(rng), pose(rng, 0.25)) for _ in range(100)]
    found = touching(one, other, poses)
    least = found.gap.argmin(axis=1)
    rows = np.arange(len(poses))
    normals = found.axes[rows, least, 2]
    after = touching(one, other, nudged(poses, normals, 1e-6)).gap.min(axis=1)
    grown = (after - found.gap.min(axis=1)) / 1e-6
    assert np.median(abs(grown - 1)) < 1e-3 and (abs(grown - 1) < 1e-2).mean() > 0.9


def test_boxes_against_coal():
    rng = np.random.default_rng(10)
    worst = 0.0
    for _ in range(4):
        one, other = SHAPES["box"](rng), SHAPES["box"](rng)
        poses = [(pose(rng, 0.1), pose(rng, 0.1)) for _ in range(80)]
        found = touching(one, other, poses)
        expected = coal_distances(one, other, poses)
        gaps = found.gap.min(axis=1)
        inside = expected < 0
        assert inside.sum() > 5
        apart = (gaps / expected)[~inside]  # past a corner a gap is one along an axis, and no distance
        assert (apart > 0).all() and (apart < 2).all() and (abs(apart - 1) < 1e-6).mean() > 0.25
        worst = max(worst, abs(gaps - expected)[inside].max())
        check_geometry(found, poses, one, other)
    assert worst < 2e-5  # by so much faces are preferred


def test_boxes_on_boxes_rest_on_four_corners_that_rounding_does_not_change():
    rng = np.random.default_rng(0)
    one, other = Box([0.4, 0.4, 0.2]), Box([0.2, 0.3, 0.2])
    there = np.eye(4)
    there[2, 3] = 0.2
    for below, above in ((one, other), (other, one), (one, one)):
        found = touching(below, above, [(np.eye(4), there)])
        half = np.minimum(below.size, above.size) / 2
        corners = np.array([[x * half[0], y * half[1], 0.1] for x in (-1, 1) for y in (-1, 1)])
        np.testing.assert_allclose(np.sort(found.position[0], axis=0), np.sort(corners, axis=0), atol=1e-9)
        assert len({tuple(x) for x in found.position[0].round(6)}) == 4
        np.testing.assert_allclose(found.gap, 0.0, atol=1e-12)
        np.testing.assert_allclose(found.axes[0, :, 2], [[0, 0, 1]] * 4, atol=1e-12)
        poses = []
        for _ in range(20):
            b = there.copy()
            b[:3, :3] = Rotation.from_rotvec(1e-7 * rng.normal(size=3)).as_matrix()
            b[:3, 3] += 1e-7 * rng.normal(size=3)
            poses.append((np.eye(4), b))
        again = touching(below, above, poses)
        np.testing.assert_allclose(again.position, np.broadcast_to(found.position, again.position.shape), atol=1e-5)


def test_edges_that_cross_touch_in_one_point():
    turned = np.eye(4)
    turned[:3, :3] = Rotation.from_euler("x", 45, degrees=True).as_matrix()
    other = np.eye(4)
    other[:3, :3] = Rotation.from_euler("y", 45, degrees=True).as_matrix()
    other[:3, 3] = [0.1, 0.05, 0.2 * np.sqrt(2) - 0.01]
    found = touching(Box([1.0, 0.2, 0.2]), Box([0.2, 1.0, 0.2]), [(turned, other)])
    assert found.gap[0, 0] == pytest.approx(-0.01, abs=1e-12) and (found.gap[0, 1:] > 100).all()
    np.testing.assert_allclose(found.position[0, 0], [0.1, 0.0, 0.1 * np.sqrt(2) - 0.005], atol=1e-12)
    np.testing.assert_allclose(found.axes[0, 0, 2], [0, 0, 1], atol=1e-12)


def on_field(field, shape, poses):
    arm = free(1).with_contacts(field, shapes={"b0": shape})
    return contact_points_kernel(arm.tree)(np.stack([q_of(p) for p in poses]))


@pytest.mark.parametrize("kind", SHAPES)
def test_a_height_field_that_is_a_slope_is_a_half_space(kind):
    rng = np.random.default_rng(12)
    x, y = np.meshgrid(np.linspace(-5, 5, 11), np.linspace(-4, 4, 9), indexing="ij")
    place = pose(rng)
    tilted = HeightField(0.3 * x - 0.2 * y + 0.1, (10.0, 8.0), place)
    n = np.array([-0.3, 0.2, 1.0]) / np.linalg.norm([-0.3, 0.2, 1.0])
    slope = np.eye(4)
    slope[:3, :3] = axes_about(n).T
    slope[2, 3] = 0.1
    shape = SHAPES[kind](rng)
    poses = [pose(rng) for _ in range(20)]
    found, expected = on_field(tilted, shape, poses), on_field(place @ slope, shape, poses)
    if kind in ("sphere", "capsule"):
        np.testing.assert_allclose(found.gap, expected.gap, atol=1e-12)
        np.testing.assert_allclose(found.position, expected.position, atol=1e-12)
    else:  # corners that are lowest along the normal of the field, not of the slope
        assert (found.gap.min(axis=1) >= expected.gap.min(axis=1) - 1e-4).all()
    normals = np.broadcast_to(place[:3, :3] @ n, found.position.shape)
    np.testing.assert_allclose(found.axes[..., 2, :], normals, atol=1e-9)


def test_balls_on_a_curved_field_against_a_search_of_the_nearest_point():
    rng = np.random.default_rng(13)
    grid = np.linspace(-1, 1, 81)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    field = HeightField(0.2 * np.sin(2 * x) * np.cos(3 * y), (2.0, 2.0))
    fine = np.linspace(-1, 1, 1601)
    X, Y = np.meshgrid(fine, fine, indexing="ij")
    from scipy.interpolate import RegularGridInterpolator
    Z = RegularGridInterpolator((grid, grid), field.heights)(np.stack([X, Y], axis=-1))
    centers = np.stack([rng.uniform(-0.6, 0.6, 10), rng.uniform(-0.6, 0.6, 10), rng.uniform(0.3, 0.35, 10)], axis=1)
    for center in centers:
        p = np.eye(4)
        p[:3, 3] = center
        found = on_field(field, Sphere(0.1), [p])
        nearest = np.sqrt((X - center[0])**2 + (Y - center[1])**2 + (Z - center[2])**2).min() - 0.1
        assert found.gap[0, 0] == pytest.approx(nearest, abs=2e-4)
    far = np.eye(4)
    far[:3, 3] = [9.0, 0.0, 1.0]  # beyond the rim it goes on level
    edge = 0.2 * np.sin(2.0) * 1.0
    assert on_field(field, Sphere(0.1), [far]).gap[0, 0] == pytest.approx(0.9 - edge, abs=1e-12)


def test_corners_on_a_field_are_above_the_bilinear_surface():
    heights = np.array([[0.0, 0.1, 0.0], [0.2, 0.0, -0.1]])
    field = HeightField(heights, (1.0, 2.0))
    p = np.eye(4)
    p[:3, 3] = [0.2, 0.5, 0.3]
    found = on_field(field, Box([0.2, 0.2, 0.2]), [p])
    for gap, position, axes in zip(found.gap[0], found.position[0], found.axes[0], strict=True):
        corner = position + 0.5 * gap * axes[2]
        s, t = corner[0] + 0.5, corner[1]  # in the cell between y = 0 and 1
        surface = (1 - s) * ((1 - t) * 0.1 + t * 0.0) + s * ((1 - t) * 0.0 - t * 0.1)
        assert gap == pytest.approx((corner[2] - surface) * axes[2, 2], abs=1e-12)


@pytest.mark.parametrize("rounded", ["cylinder", "hull"])
@pytest.mark.parametrize("kind", SHAPES)
def test_any_convex_shapes_against_coal(kind, rounded):
    rng = np.random.default_rng(14)
    one, other = SHAPES[kind](rng), SHAPES[rounded](rng)
    poses = [(pose(rng, 0.1), pose(rng, 0.2)) for _ in range(150)]
    found = touching(one, other, poses)
    expected = coal_distances(one, other, poses)
    gaps = found.gap.min(axis=1)
    outside, deep = expected > 1e-3, expected < -2e-3
    assert outside.sum() > 30 and deep.sum() > 10 and np.isfinite(found.position).all()
    assert (gaps >= expected - 1e-8)[outside].all()
    # edges are rounded by a margin of 1 mm where neither is round: a sharp one recedes by more
    np.testing.assert_allclose(gaps[outside], expected[outside], atol=1e-8 if kind in ("sphere", "capsule") else 5e-3)
    assert (gaps[deep] < -1e-3).all()
    check_geometry(found, poses, one, other)


def test_flat_faces_of_any_shapes_touch_where_they_are():
    there = np.eye(4)
    there[:3, 3] = [0.02, 0.01, 0.15 - 1e-6]
    can, block, brick = Cylinder(0.05, [0, 0, -0.05], [0, 0, 0.05]), Box([0.3, 0.3, 0.2]), Box([0.1, 0.1, 0.1])
    hull = ConvexHull(surface(brick))
    on_block = touching(block, can, [(np.eye(4), there)])
    assert (abs(on_block.gap[0] + 1e-6) < 1e-9).sum() == 3  # three points of the rim
    on_block = touching(block, hull, [(np.eye(4), there)])
    assert (abs(on_block.gap[0] + 1e-6) < 1e-9).sum() == 5
    assert len(set(map(tuple, on_block.position[0, :5].round(6)))) == 4
    there[2, 3] = 0.1 - 1e-6
    for one, other in ((can, can), (can, hull), (hull, hull)):
        found = touching(one, other, [(np.eye(4), there)])
        assert found.gap[0, 0] == pytest.approx(-1e-6, abs=1e-9)
        np.testing.assert_allclose(found.axes[0, 0, 2], [0, 0, 1], atol=1e-6)
        assert found.position[0, 0, 2] == pytest.approx(0.05 - 5e-7, abs=1e-9)


@pytest.mark.parametrize("other", SHAPES)
@pytest.mark.parametrize("kind", SHAPES)
def test_no_pose_gives_nan_neither_in_values_nor_in_derivatives(kind, other):
    rng = np.random.default_rng(15)
    centered = {"sphere": Sphere(0.1), "capsule": Capsule(0.1, [0, 0, -0.1], [0, 0, 0.1]), "box": Box([0.2, 0.2, 0.2]),
                "cylinder": Cylinder(0.1, [0, 0, -0.1], [0, 0, 0.1]), "hull": ConvexHull(surface(Box([0.2, 0.2, 0.2])))}
    arm = free(2).with_contacts(shapes={"b0": centered[kind], "b1": centered[other]})
    turns = [np.eye(3), *[Rotation.from_euler(axis, angle, degrees=True).as_matrix()
                          for axis, angle in (("z", 90), ("y", 90), ("x", 45))]]
    offsets = [np.zeros(3), *0.1 * np.eye(3), *0.2 * np.eye(3), np.full(3, 0.1), np.full(3, 0.2),
               1e-9 * rng.normal(size=3)]
    poses = []
    for turn in turns:
        for offset in offsets:
            p = np.eye(4)
            p[:3, :3], p[:3, 3] = turn, offset
            poses.append(np.concatenate([q_of(np.eye(4)), q_of(p)]))
    found = contact_points_kernel(arm.tree)(np.stack(poses))
    assert all(np.isfinite(each).all() for each in found)
    R = found.axes
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-9)

    @cy.kernel("(14)->()")
    def near(q):
        points = contact_points(arm.tree, q)
        return sum(np.minimum(gap, 1.0) for gap in points.gap) + sum(points.position.ravel())

    assert np.isfinite(near.jacobian("q")(np.stack(poses))).all()
