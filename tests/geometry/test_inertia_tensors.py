"""Inertia, Euler and pseudo-inertia tensors, parallel axes, principal axes (S1-22, S1-23, S2-45, S2-46, S3-25 to
S3-27).
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError, SingularityError
from cayley.geometry import inertia as ci
from cayley.geometry.tensors import hat, tensor_in_frame
from geometry import formulas_of_inertia as fi

RNG = np.random.default_rng(22)
CLOUDS = st.integers(0, 2**32 - 1).map(lambda seed: cloud(np.random.default_rng(seed)))
WE_16 = [1, 2, 3, 0.5], [(0.2, 0.1, 0.3), (1, -0.4, 0.2), (0.3, 0.9, -0.5), (-0.6, 0.2, 0.8)]


def cloud(rng, kind=None):
    """Point masses: scattered, in a plane, on a line, one point, or nothing."""
    kind = kind or rng.choice(["scattered", "planar", "line", "point", "nothing"])
    points = rng.normal(size=(6, 3))
    if kind == "planar":
        points[:, 2] = 0
    if kind == "line":
        points = np.outer(points[:, 0], points[0]) + points[1]
    if kind == "point":
        points[:] = points[0]
    return rng.uniform(0.1, 2, size=6) * (kind != "nothing"), points


def close(found, expected, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0)))


def inertia_sum(masses, points):
    return sum(m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points, strict=True))


def euler_sum(masses, points):
    return sum(m * np.outer(r, r) for m, r in zip(masses, points, strict=True))


@pytest.mark.spec("S1-22", "S2-45", "S3-25", "S3-27")
@given(CLOUDS)
def test_tensors_of_point_masses_against_their_sums(bodies):
    masses, points = bodies
    body = ci.mass_properties_of_points(masses, points)
    I, J = inertia_sum(masses, points), euler_sum(masses, points)
    close(body.mass, masses.sum())
    close(body.first_moment, masses @ points)
    close(body.inertia_about((0, 0, 0)), I)
    close(ci.euler_tensor_from_inertia(I), J)
    close(ci.inertia_from_euler_tensor(J), I)
    close(np.trace(I), 2 * np.trace(J))
    homogeneous = np.concatenate([points, np.ones((6, 1))], axis=1)
    H = sum(m * np.outer(p, p) for m, p in zip(masses, homogeneous, strict=True))
    close(body.pseudo_inertia, H)
    again = ci.mass_properties_from_pseudo_inertia(H)
    close(again.mass, body.mass)
    close(again.center, body.center)
    close(again.inertia, body.inertia, 1e-12)
    point = RNG.normal(size=3)
    close(body.inertia_about(point), inertia_sum(masses, points - point), 1e-12)
    close(-sum(m * hat(r) @ hat(r) for m, r in zip(masses, points, strict=True)), I)  # (4.3.5)


@pytest.mark.spec("S1-22", "S3-25")
def test_components_and_the_sign_of_products():
    I = np.array([[5.0, -0.3, 0.2], [-0.3, 4.0, -0.1], [0.2, -0.1, 3.0]])
    J = ci.euler_tensor_from_inertia(I)
    close(J, [[(-5 + 4 + 3) / 2, 0.3, -0.2], [0.3, (5 - 4 + 3) / 2, 0.1], [-0.2, 0.1, (5 + 4 - 3) / 2]])
    body = ci.mass_properties_of_points([2.0], [(1.0, 3.0, 0.0)])
    assert body.inertia_about((0, 0, 0))[0, 1] == -6.0  # minus the integral of x y
    assert body.pseudo_inertia[0, 1] == 6.0


@pytest.mark.spec("S1-22", "S2-45", "S2-46")
def test_worked_example_16():
    body = ci.mass_properties_of_points(*WE_16)
    close(body.center, [0.4307692308, 0.3230769231, -0.0615384615], 1e-9)
    close(body.inertia_about((0, 0, 0)), [[4.02, 0.03, 0.23], [0.03, 3.73, 1.4], [0.23, 1.4, 5.27]], 1e-12)
    close(body.inertia[0, 1], 0.9346153846, 1e-9)
    close(ci.principal_inertia(body.inertia).moments, [1.3150204212, 3.2858103392, 4.6007077012], 1e-9)


@pytest.mark.spec("S2-45")
def test_zero_mass_is_a_body():
    nothing = ci.mass_properties_of_points([0.0, 0.0], [(1, 2, 3), (4, 5, 6)])
    assert nothing.mass == 0 and not nothing.center.any() and not nothing.inertia.any()
    body = ci.mass_properties_of_points(*WE_16)
    for total in (body + nothing, nothing + body, body - nothing):
        close(total.center, body.center)
        close(total.inertia, body.inertia)
    gone = body - body
    assert gone.mass == 0 and not gone.center.any()
    close(gone.inertia, np.zeros((3, 3)))
    close(ci.moments_from_pseudo_inertia(np.zeros((4, 4))).center, np.zeros(3))
    impossible = np.diag([1.0, 1.0, 1.0, 0.0])
    impossible[1, 3] = impossible[3, 1] = 0.5
    with pytest.raises(GeometryError, match="no mass, but the first moment"):
        ci.mass_properties_from_pseudo_inertia(impossible)
    with pytest.raises(GeometryError, match="masses cancel, but their first moment"):
        body - ci.MassProperties(body.mass, np.zeros(3), np.zeros((3, 3)))


@pytest.mark.spec("S2-45")
def test_bad_point_masses():
    with pytest.raises(GeometryError, match=r"point mass 1 is -2.0 kg.*cut holes out"):
        ci.mass_properties_of_points([1.0, -2.0], np.eye(3)[:2])
    with pytest.raises(GeometryError, match="point mass 0 is nan kg"):
        ci.mass_properties_of_points([np.nan], [(0, 0, 0)])
    with pytest.raises(GeometryError, match="3 masses and 2 points"):
        ci.mass_properties_of_points([1, 1, 1], np.eye(3)[:2])


@pytest.mark.spec("S2-45", "S3-25")
def test_density_field_and_sampled_density():
    # rho = x y^2 (1 + z) on [0, 1] x [0, 2] x [0, 3]: all moments are products of one-dimensional integrals
    body = ci.mass_properties_of_density(lambda x, y, z: x * y**2 * (1 + z), (0, 0, 0), (1, 2, 3))
    X, Y, Z = [1 / 2, 1 / 3, 1 / 4], [8 / 3, 4, 32 / 5], [3 + 9 / 2, 9 / 2 + 9, 9 + 81 / 4]
    mass = X[0] * Y[0] * Z[0]
    close(body.mass, mass)
    close(body.center, [X[1] / X[0], Y[1] / Y[0], Z[1] / Z[0]])
    J = np.array([[X[2] * Y[0] * Z[0], X[1] * Y[1] * Z[0], X[1] * Y[0] * Z[1]],
                  [0, X[0] * Y[2] * Z[0], X[0] * Y[1] * Z[1]], [0, 0, X[0] * Y[0] * Z[2]]])
    J = J + np.triu(J, 1).T
    close(ci.euler_tensor_from_inertia(body.inertia_about((0, 0, 0))), J)
    cells = ci.mass_properties_of_cells(np.arange(24.0).reshape(2, 3, 4), (0.5, 0.2, 0.1), corner=(1, 0, -1))
    boxes = [
        ci.box((0.5, 0.2, 0.1),
               density=4.0 * 3 * i + 4 * j + k).in_frame(np.eye(3), (1.25 + 0.5 * i, 0.1 + 0.2 * j, -0.95 + 0.1 * k))
        for i in range(2) for j in range(3) for k in range(4)]
    total = sum(boxes[1:], boxes[0])
    close(cells.mass, total.mass)
    close(cells.center, total.center)
    close(cells.inertia, total.inertia)
    with pytest.raises(GeometryError, match="inside out"):
        ci.mass_properties_of_density(lambda x, y, z: x, (0, 0, 1), (1, 1, 0))


@pytest.mark.spec("S1-22", "S3-25", "S2-46")
@given(CLOUDS, st.integers(0, 2**32 - 1))
def test_change_of_axes_is_that_of_the_points(bodies, seed):
    masses, points = bodies
    R, p = Rotation.random(rng=np.random.default_rng(seed)).as_matrix(), np.random.default_rng(seed).normal(size=3)
    body = ci.mass_properties_of_points(masses, points)
    there = body.in_frame(R, p)
    if body.mass:
        moved = ci.mass_properties_of_points(masses, points @ R.T + p)
        close(there.center, moved.center)
        close(there.inertia, moved.inertia)
    close(tensor_in_frame(R, body.euler_tensor), there.euler_tensor)
    T = np.block([[R, p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
    close(there.pseudo_inertia, T @ body.pseudo_inertia @ T.T, 1e-12)


@pytest.mark.spec("S1-22", "S2-46", "S3-26")
def test_parallel_axes_of_worked_example_w3_16():
    expected = np.array([[0.68, 0.12, -0.3], [0.12, 0.88, 0.2], [-0.3, 0.2, 0.51]])
    I, m, s = np.diag([0.1, 0.2, 0.25]), 2.0, np.array([0.3, -0.2, 0.5])
    close(ci.inertia_about_point(m, s, I), expected)
    # E3-41, seed 2 E-01
    close(fi.moments_about_point(m, s, [0.1, 0.2, 0.25, 0, 0, 0]), [0.68, 0.88, 0.51, 0.12, -0.3, 0.2])
    close(ci.inertia_about_center(m, s, expected), I)


@pytest.mark.spec("S1-22", "S2-46", "S3-26")
@given(CLOUDS, arrays(float, (2, 3), elements=st.floats(-5, 5)))
def test_parallel_axes_of_point_masses(bodies, ends):
    masses, points = bodies
    body = ci.mass_properties_of_points(masses, points)
    a, b = ends
    size = 1e-12 * (1 + np.abs(ends).max()) ** 2
    r = body.center - a
    I_a, J_a = inertia_sum(masses, points - a), euler_sum(masses, points - a)
    close(ci.inertia_about_point(body.mass, r, body.inertia), I_a, size)
    close(ci.inertia_about_point(body.mass, -r, body.inertia), I_a, size)
    close(ci.inertia_about_center(body.mass, r, I_a), body.inertia, size)
    close(fi.inertia_moved(body.mass, r, body.center - b, I_a), inertia_sum(masses, points - b), size)
    close(fi.euler_tensor_about_point(body.mass, r, body.euler_tensor), J_a, size)
    close(ci.euler_tensor_about_center(body.mass, r, J_a), body.euler_tensor, size)
    # (4.3.9)
    close(ci.inertia_about_point(body.mass, r, body.inertia), body.inertia - body.mass * hat(r) @ hat(r), size)
    six = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    close(fi.moments_about_point(body.mass, r, [body.inertia[k] for k in six]), [I_a[k] for k in six], size)


@pytest.mark.spec("S3-26")
def test_parallel_axes_need_the_centre_of_mass():
    masses, points = WE_16
    body = ci.mass_properties_of_points(masses, points)
    a, b = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    # from one point to another, neither of them the centre
    naive = ci.inertia_about_point(body.mass, a - b, body.inertia_about(a))
    assert np.abs(naive - body.inertia_about(b)).max() > 1
    close(fi.inertia_moved(body.mass, body.center - a, body.center - b, body.inertia_about(a)), body.inertia_about(b))


@pytest.mark.spec("S3-27")
def test_pseudo_inertia_beside_pinocchio():
    for _ in range(5):
        body = ci.mass_properties_of_points(*cloud(RNG, "scattered"))
        theirs = pin.Inertia(body.mass, body.center, body.inertia)
        close(body.pseudo_inertia, theirs.toPseudoInertia().toMatrix(), 1e-12)
        back = ci.mass_properties_from_pseudo_inertia(theirs.toPseudoInertia().toMatrix())
        close(back.inertia, theirs.inertia, 1e-12)


@pytest.mark.spec("S1-23")
@given(CLOUDS, arrays(float, 3, elements=st.floats(-3, 3)))
def test_rates_of_inertia_and_euler_tensor(bodies, w):
    masses, points = bodies
    rates = [np.cross(w, r) for r in points]
    Jd = sum(m * (np.outer(v, r) + np.outer(r, v)) for m, r, v in zip(masses, points, rates, strict=True))
    I, J = inertia_sum(masses, points), euler_sum(masses, points)
    close(ci.inertia_rate(w, J), Jd)
    close(ci.inertia_rate(w, I), -Jd)
    close(ci.inertia_rate(w, I), hat(w) @ I - I @ hat(w))


@pytest.mark.spec("S1-23")
def test_rate_of_inertia_by_differences():
    w, I, step = RNG.normal(size=3), ci.mass_properties_of_points(*WE_16).inertia, 1e-6
    ahead, behind = (Rotation.from_rotvec(h * w).as_matrix() for h in (step, -step))
    close((tensor_in_frame(ahead, I) - tensor_in_frame(behind, I)) / (2 * step), ci.inertia_rate(w, I), 1e-8)


@pytest.mark.spec("S2-46")
@given(st.integers(0, 2**32 - 1),
       st.sampled_from([(1, 2, 2.5), (1, 1, 1.5), (0, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1 + 1e-13, 1.2), (1, 1, 2)]))
def test_principal_axes_with_repeated_moments(seed, moments):
    R = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    I = tensor_in_frame(R, np.diag(np.array(moments, float)))
    found = ci.principal_inertia((I + I.T) / 2)
    close(found.moments, sorted(moments))
    close(found.axes @ np.diag(found.moments) @ found.axes.T, I)
    close(found.axes.T @ found.axes, np.eye(3))
    assert np.linalg.det(found.axes) > 0
    symmetry = ci.inertia_symmetry((I + I.T) / 2)
    distinct = len(set(np.round(moments, 9)))
    assert symmetry.kind == {1: "spherical", 2: "axisymmetric", 3: "triaxial"}[distinct]
    if distinct == 2:
        single = next(k for k in range(3) if np.sum(np.abs(np.array(moments) - moments[k]) < 1e-9) == 1)
        close(abs(symmetry.axis @ R[:, single]), 1)
        close(symmetry.axial, moments[single])
        close(symmetry.transverse, moments[(single + 1) % 3])


def test_inverse_inertia():
    I = ci.mass_properties_of_points(*WE_16).inertia
    close(ci.inverse_inertia(I) @ I, np.eye(3))
    with pytest.raises(SingularityError, match="thin rod"):
        ci.inverse_inertia(ci.rod(1.0, mass=2.0).inertia)
    with pytest.raises(SingularityError):
        ci.inverse_inertia(np.zeros((3, 3)))
    with pytest.raises(GeometryError, match="not symmetric"):
        ci.inverse_inertia(I + hat([1.0, 0, 0]))
