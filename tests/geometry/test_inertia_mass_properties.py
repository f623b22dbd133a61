"""Mass properties of solids and meshes, and whether a body can have them (S2-45, S3-27, S1-22)."""

import itertools

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.spatial import ConvexHull, Delaunay
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError
from cayley.geometry import inertia as ci

RNG = np.random.default_rng(45)
SIZES = st.floats(0.01, 5)


def close(found, expected, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0)))


def test_mass_properties_are_values_of_numbers():
    body = ci.MassProperties(2, [0.1, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert body.first_moment.tolist() == [0.2, 0.0, 0.0] and (body + body).mass == 4.0 and isinstance(body.mass, float)
    same, other = ci.MassProperties(2.0, np.array([0.1, 0, 0]),
                                    np.eye(3)), ci.MassProperties(2.0, [0.1, 0, 0], 2 * np.eye(3))
    assert body == same and hash(body) == hash(same) and body != other and len({body, same, other}) == 2 and body != 2
    with pytest.raises(ValueError, match="read-only"):
        body.center[0] = 1.0
    for wrong, message in (((2, [0.1, 0], np.eye(3)), r"centre of mass must have shape \(3\), not \(2,\)"),
                           ((2, [0, 0, 0], [1, 2, 3]), r"inertia tensor of a body must have shape \(3, 3\)"),
                           (([1,
                              2], [0, 0,
                                   0], np.eye(3)), "mass of a body must have shape"), (("2", [0, 0,
                                                                                        0], np.eye(3)), "real numbers"),
                           ((1j, [0, 0, 0], np.eye(3)), "real numbers"), ((1, [0, 0,
                                                                               None], np.eye(3)), "real numbers")):
        with pytest.raises(GeometryError, match=message):
            ci.MassProperties(*wrong)


def test_shapes_that_are_no_bodies():
    for wrong in (lambda: ci.mass_properties_of_cells(np.ones(
        (2, 2)), (1, 1, 1)), lambda: ci.mass_properties_of_points([1, 2], np.ones(
            (2, 2))), lambda: ci.pseudo_inertia_consistency(np.eye(3)),
                  lambda: ci.mass_properties_from_pseudo_inertia(np.eye(3)),
                  lambda: ci.nearest_physical_inertia(np.eye(2)),
                  lambda: ci.mass_properties_of_density(lambda x, y, z: 1.0, (0, 0),
                                                        (1, 1)), lambda: ci.principal_inertia(np.eye(2)),
                  lambda: ci.MassProperties(1, [0, 0, 0], np.eye(3)).inertia_about([1, 2])):
        with pytest.raises(GeometryError, match="shape"):
            wrong()
    with pytest.raises(GeometryError, match="there is no nearest"):
        ci.nearest_physical_inertia(np.full((3, 3), np.nan))


def test_a_repair_is_offered_only_where_there_is_one():
    for body in (ci.MassProperties(mass, np.zeros(3), np.eye(3)) for mass in (-1.0, np.nan, 0.0)):
        with pytest.raises(GeometryError, match="not physical") as caught:
            ci.check_mass_properties(body)
        assert "repair" not in str(caught.value)
    with pytest.raises(GeometryError, match="repair of the inertia"):
        ci.check_mass_properties(ci.MassProperties(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])))


def revolution(outer, inner, low, high):
    """Mass properties of a solid of revolution about z with density 1, by quadrature over its profile."""
    def moment(power, radial):
        return quad(lambda z: z**power * (outer(z)**radial - inner(z)**radial), low, high, epsabs=1e-13, epsrel=1e-11,
                    limit=200)[0]

    volume = np.pi * moment(0, 2)
    z = np.pi * moment(1, 2) / volume
    across, along = np.pi / 4 * moment(0, 4), np.pi * moment(2, 2) - volume * z * z
    return ci.MassProperties(volume, np.array([0, 0, z]), np.diag([across + along, across + along, 2 * across]))


def nothing(z):
    return 0.0


REVOLVED = {
    "sphere": (lambda: ci.sphere(0.7, density=1.0),
               lambda: revolution(lambda z: np.sqrt(max(0.49 - z * z, 0)), nothing, -0.7, 0.7)),
    "cylinder": (lambda: ci.cylinder(0.4, 1.3, density=1.0), lambda: revolution(lambda z: 0.4, nothing, -0.65, 0.65)),
    "tube": (lambda: ci.tube(0.3, 0.4, 1.3, density=1.0),
             lambda: revolution(lambda z: 0.4, lambda z: 0.3, -0.65, 0.65)),
    "cone": (lambda: ci.cone(0.5, 1.2, density=1.0), lambda: revolution(lambda z: 0.5 *
                                                                        (1 - z / 1.2), nothing, 0, 1.2)),
    "hemisphere": (lambda: ci.hemisphere(0.6, density=1.0),
                   lambda: revolution(lambda z: np.sqrt(max(0.36 - z * z, 0)), nothing, 0, 0.6)),
    "torus": (lambda: ci.torus(0.9, 0.2, density=1.0), lambda: revolution(lambda z: 0.9 + np.sqrt(max(
        0.04 - z * z, 0)), lambda z: 0.9 - np.sqrt(max(0.04 - z * z, 0)), -0.2, 0.2)),
    "capsule": (lambda: ci.capsule(0.3, 0.8, density=1.0),
                lambda: revolution(lambda z: np.sqrt(max(0.09 - max(abs(z) - 0.4, 0)**2, 0)), nothing, -0.7, 0.7)), }


@pytest.mark.spec("S2-45")
@pytest.mark.parametrize("name", REVOLVED)
def test_solids_of_revolution_against_quadrature(name):
    found, expected = (make() for make in REVOLVED[name])
    close(found.mass, expected.mass, 1e-9)
    close(found.center, expected.center, 1e-9)
    close(found.inertia, expected.inertia, 1e-9)


@pytest.mark.spec("S2-45")
@given(SIZES, SIZES, SIZES, SIZES)
def test_solids_beside_pinocchio(mass, a, b, c):
    def same(found, expected):
        close(found.inertia, expected.inertia, 1e-13 * mass)
        close(found.center, expected.lever)

    same(ci.box((a, b, c), mass=mass), pin.Inertia.FromBox(mass, a, b, c))
    same(ci.ellipsoid((a, b, c), mass=mass), pin.Inertia.FromEllipsoid(mass, a, b, c))
    same(ci.sphere(a, mass=mass), pin.Inertia.FromSphere(mass, a))
    same(ci.cylinder(a, b, mass=mass), pin.Inertia.FromCylinder(mass, a, b))
    same(ci.capsule(a, b, mass=mass), pin.Inertia.FromCapsule(mass, a, b))


@pytest.mark.spec("S2-45")
def test_thin_bodies_are_limits_and_sums():
    thin = 1e-9
    close(ci.rod(1.4, mass=2.0).inertia, ci.cylinder(thin, 1.4, mass=2.0).inertia)
    close(ci.plate((0.3, 0.8), mass=2.0).inertia, ci.box((0.3, 0.8, thin), mass=2.0).inertia)
    close(ci.disc(0.7, mass=2.0).inertia, ci.cylinder(0.7, thin, mass=2.0).inertia)
    close(ci.ring(0.7, mass=2.0).inertia, ci.torus(0.7, thin, mass=2.0).inertia)
    hollow = ci.sphere(0.7, density=1e9) - ci.sphere(0.7 - 1e-5, density=1e9)
    close(ci.spherical_shell(0.7, mass=1.0).inertia, hollow.inertia / hollow.mass, 3e-5)
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)  # equal masses on a ring have its moments
    points = 0.7 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    close(ci.mass_properties_of_points(np.full(8, 0.25), points).inertia, ci.ring(0.7, mass=2.0).inertia)
    assert ci.capsule(0.0, 1.4, mass=2.0).inertia[0, 0] == pytest.approx(2 * 1.4**2 / 12)


@pytest.mark.spec("S2-45")
def test_bodies_put_together_and_drilled():
    half = ci.hemisphere(0.6, density=3.0)
    turned = half.in_frame(np.diag([1.0, -1.0, -1.0]))
    whole = half + turned
    close(whole.mass, ci.sphere(0.6, density=3.0).mass)
    close(whole.inertia, ci.sphere(0.6, density=3.0).inertia)
    capsule = (ci.cylinder(0.3, 0.8, density=2.0) + ci.hemisphere(0.3, density=2.0).in_frame(np.eye(3), (0, 0, 0.4))
               + ci.hemisphere(0.3, density=2.0).in_frame(np.diag([1.0, -1.0, -1.0]), (0, 0, -0.4)))
    close(capsule.inertia, ci.capsule(0.3, 0.8, density=2.0).inertia)
    drilled = ci.cylinder(0.4, 1.3, density=2.0) - ci.cylinder(0.3, 1.3, density=2.0)
    close(drilled.inertia, ci.tube(0.3, 0.4, 1.3, density=2.0).inertia)


@pytest.mark.spec("S2-45")
def test_solids_refuse_nonsense_and_allow_nothing():
    assert ci.box((1, 2, 0), density=5.0).mass == 0
    assert not ci.sphere(1.0, mass=0.0).inertia.any()
    for call, message in [(lambda: ci.box((1, 2), mass=1.0), "3 numbers"),
                          (lambda: ci.sphere(-1.0, mass=1.0), "radius is -1.0 m"),
                          (lambda: ci.sphere(1.0), "either the mass"),
                          (lambda: ci.sphere(1.0, mass=1.0, density=1.0), "either the mass"),
                          (lambda: ci.sphere(1.0, mass=-1.0), "mass of a solid is -1.0 kg"),
                          (lambda: ci.rod(np.nan, mass=1.0), "length is nan"),
                          (lambda: ci.tube(2.0, 1.0, 1.0, mass=1.0), "inner radius 2.0 m"),
                          (lambda: ci.torus(0.1, 0.2, mass=1.0), "cuts itself"),
                          (lambda: ci.ellipsoid((1, 1, np.inf), mass=1.0), "semi_axes is inf")]:
        with pytest.raises(GeometryError, match=message):
            call()


# Meshes

CUBE = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
CUBE_FACES = np.array([(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
                       (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)])


def of_tetrahedra(points, tetrahedra, density):
    """The four-point rule of degree two is exact for the moments of a tetrahedron."""
    a, b = (5 + 3 * np.sqrt(5)) / 20, (5 - np.sqrt(5)) / 20
    rule = np.full((4, 4), b) + (a - b) * np.eye(4)
    corners = points[tetrahedra]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    nodes = np.einsum("qk,nki->nqi", rule, corners).reshape(-1, 3)
    return ci.mass_properties_of_points(np.repeat(density * volumes / 4, 4), nodes)


def hull(points):
    """The convex hull as an oriented mesh."""
    found = ConvexHull(points)
    faces = found.simplices.copy()
    middle = points.mean(axis=0)
    for face in faces:
        a, b, c = points[face]
        if np.cross(b - a, c - a) @ (a - middle) < 0:
            face[1:] = face[:0:-1]
    return faces


@pytest.mark.spec("S2-45")
@pytest.mark.parametrize("seed", range(6))
def test_mesh_of_a_convex_body_against_its_tetrahedra(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 3)) * rng.uniform(0.1, 3, size=3) + rng.normal(size=3)
    found = ci.mass_properties_of_mesh(points, hull(points), density=2.5)
    expected = of_tetrahedra(points, Delaunay(points).simplices, 2.5)
    close(found.mass, expected.mass, 1e-12)
    close(found.center, expected.center, 1e-12)
    close(found.inertia, expected.inertia, 1e-12)
    assert ci.mesh_volume(points, hull(points)) == pytest.approx(ConvexHull(points).volume, rel=1e-12)


@pytest.mark.spec("S2-45")
def test_mesh_far_from_the_origin_and_with_a_cavity():
    R, p = Rotation.random(rng=RNG).as_matrix(), np.array([1e4, -2e4, 3e4])
    box = ci.mass_properties_of_mesh(CUBE * [1, 2, 3] @ R.T + p, CUBE_FACES, mass=12.0)
    expected = ci.box((1, 2, 3), mass=12.0).in_frame(R, R @ [0.5, 1, 1.5] + p)
    close(box.center, expected.center)
    close(box.inertia, expected.inertia, 1e-9)
    hole = CUBE_FACES[:, [0, 2, 1]] + 8
    hollow = ci.mass_properties_of_mesh(np.concatenate([4 * CUBE, CUBE + 1]), np.concatenate([CUBE_FACES, hole]),
                                        density=1.0)
    big, small = (ci.box((a, a, a), density=1.0).in_frame(np.eye(3), (b, b, b)) for a, b in ((4, 2), (1, 1.5)))
    solid = big - small
    close(hollow.mass, solid.mass)
    close(hollow.center, solid.center)
    close(hollow.inertia, solid.inertia, 1e-12)


@pytest.mark.spec("S2-45")
def test_a_fine_mesh_of_a_sphere_tends_to_the_sphere():
    errors = []
    for n in (10, 20):
        theta, phi = np.linspace(0, np.pi, n + 1)[1:-1], np.linspace(0, 2 * np.pi, 2 * n, endpoint=False)
        ring = [(np.sin(t) * np.cos(f), np.sin(t) * np.sin(f), np.cos(t)) for t in theta for f in phi]
        points = np.array([*ring, (0, 0, 1), (0, 0, -1)])
        body = ci.mass_properties_of_mesh(points, hull(points), mass=1.0)
        errors.append(np.abs(body.inertia - ci.sphere(1.0, mass=1.0).inertia).max())
    assert errors[1] < errors[0] / 3.5 < 0.01  # second order


@pytest.mark.spec("S2-45")
def test_meshes_that_are_open_or_badly_turned():
    with pytest.raises(GeometryError, match="not watertight: 3 edges bound only one triangle, the first from vertex"):
        ci.mass_properties_of_mesh(CUBE, CUBE_FACES[1:], mass=1.0)
    flipped = CUBE_FACES.copy()
    flipped[3] = flipped[3][::-1]
    with pytest.raises(GeometryError, match="turned against each other along"):
        ci.mass_properties_of_mesh(CUBE, flipped, mass=1.0)
    with pytest.raises(GeometryError, match=r"encloses -1 m\^3: it is inside out; swap two columns"):
        ci.mass_properties_of_mesh(CUBE, CUBE_FACES[:, ::-1], mass=1.0)
    with pytest.raises(GeometryError, match="it is flat"):
        ci.mass_properties_of_mesh(CUBE * [1, 1, 0], CUBE_FACES, mass=1.0)
    with pytest.raises(GeometryError, match="numbers from 0 to 6"):
        ci.mass_properties_of_mesh(CUBE[:-1], CUBE_FACES, mass=1.0)
    with pytest.raises(GeometryError, match="has a vertex twice"):
        ci.mass_properties_of_mesh(CUBE, [*CUBE_FACES.tolist(), (0, 0, 1)], mass=1.0)
    with pytest.raises(GeometryError, match="vertex 2 is not finite"):
        ci.mass_properties_of_mesh(np.where(np.arange(8)[:, None] == 2, np.nan, CUBE), CUBE_FACES, mass=1.0)
    with pytest.raises(GeometryError, match=r"not \(8, 3\) and \(0,\)"):
        ci.mass_properties_of_mesh(CUBE, [], mass=1.0)


# Consistency


@pytest.mark.spec("S3-27", "S1-22")
@given(st.integers(0, 2**32 - 1))
def test_every_real_body_is_consistent(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(1, 6), 3)) * rng.choice([1e-3, 1, 10])
    body = ci.mass_properties_of_points(rng.uniform(0, 2, size=len(points)), points)
    assert ci.physical_consistency(body), ci.physical_consistency(body)
    assert ci.pseudo_inertia_consistency(body.pseudo_inertia)
    assert ci.physical_consistency(body).triangle_slack >= -1e-12 * body.inertia.max()
    close(ci.nearest_physical_inertia(body.inertia), body.inertia)


@pytest.mark.spec("S3-27")
@given(st.integers(0, 2**32 - 1), st.floats(-1, 1))
def test_the_verdict_is_that_of_the_pseudo_inertia(seed, shift):
    rng = np.random.default_rng(seed)
    body = ci.mass_properties_of_points(rng.uniform(0.5, 2, size=5), rng.normal(size=(5, 3)))
    bent = ci.MassProperties(body.mass, body.center, body.inertia + shift * np.diag(rng.normal(size=3)))
    smallest = np.linalg.eigvalsh(bent.pseudo_inertia)[0]
    if abs(smallest) > 1e-6:
        assert bool(ci.physical_consistency(bent)) == bool(ci.pseudo_inertia_consistency(
            bent.pseudo_inertia)) == (smallest > 0)
    repaired = ci.MassProperties(bent.mass, bent.center, ci.nearest_physical_inertia(bent.inertia))
    assert ci.physical_consistency(repaired)


@pytest.mark.spec("S3-27")
def test_the_message_says_which_inequality_fails_and_by_how_much():
    def verdict(mass, inertia, center=(0, 0, 0)):
        return ci.physical_consistency(ci.MassProperties(mass, np.array(center, float), np.array(inertia, float)))

    assert verdict(0.0, np.zeros((3, 3))).violations == ()
    assert verdict(1.0, np.zeros((3, 3))).violations == ()
    assert verdict(0.0, np.diag([1, 1, 1])).violations == ("there is no mass, but an inertia",)  # as in mechanisms
    assert verdict(-2.0, np.eye(3)).violations == ("the mass is negative: -2 kg",)
    thick = verdict(1.0, np.diag([0.2, 1.0, 0.5]))
    assert thick.violations == ("the triangle inequality fails: I3 = 1 exceeds I1 + I2 = 0.7 by 0.3 kg m^2",)
    assert thick.triangle_slack == pytest.approx(-0.3)
    R = Rotation.random(rng=RNG).as_matrix()
    assert "by 0.3 kg m^2" in verdict(1.0, R @ np.diag([0.2, 1.0, 0.5]) @ R.T).violations[0]
    negative = verdict(1.0, np.diag([-0.1, 1, 1]))
    assert "principal moment I1 is negative: -0.1 kg m^2" in negative.violations[
        0] and "by 0.1 kg m^2" in negative.violations[1]
    assert "not symmetric: I - I^T reaches 0.5" in verdict(1.0, [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]).violations[0]
    assert "not finite" in verdict(np.nan, np.eye(3)).violations[0]
    with pytest.raises(GeometryError,
                       match=r"link 3 is not physical: the mass is negative.*; the triangle inequality fails.*repair"):
        ci.check_mass_properties(ci.MassProperties(-1.0, np.zeros(3), np.diag([1.0, 1, 3])), name="link 3")
    ci.check_mass_properties(ci.sphere(1.0, mass=1.0))


@pytest.mark.spec("S3-27")
def test_pseudo_inertia_that_belongs_to_no_body():
    H = ci.sphere(0.1, mass=2.0).in_frame(np.eye(3), (1, 0, 0)).pseudo_inertia
    assert ci.pseudo_inertia_consistency(H)
    H[0, 0] -= 0.1  # the centre is farther out than the spread of the mass allows
    bad = ci.pseudo_inertia_consistency(H)
    assert "not positive semidefinite" in bad.violations[0] and "triangle inequality fails by" in bad.violations[0]
    assert ci.pseudo_inertia_consistency(np.zeros((4, 4)))
    massless = np.diag([1.0, 1, 1, 0])
    assert ci.pseudo_inertia_consistency(massless).violations == ("there is no mass, but an inertia",)
    massless[0, 3] = massless[3, 0] = 0.1
    assert "there is no mass, but a first moment of 0.1 kg m" in ci.pseudo_inertia_consistency(massless).violations[0]
    assert "mass is negative: -1 kg" in ci.pseudo_inertia_consistency(np.diag([1.0, 1, 1, -1])).violations[0]
    assert "not finite" in ci.pseudo_inertia_consistency(np.full((4, 4), np.nan)).violations[0]
    assert "not symmetric" in ci.pseudo_inertia_consistency(np.diag([1.0, 1, 1, 1]) + np.eye(4, k=1)).violations[0]
