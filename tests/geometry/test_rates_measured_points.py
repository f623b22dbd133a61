"""Angular velocity and acceleration from measured points: both forms, degenerate sets, and whether the data can be
rigid.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import least_squares

from cayley.errors import CayleyError, GeometryError, SingularityError
from cayley.geometry import rates as cr
from geometry.strategies import rotation_matrices, vectors

POINTS = np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3]])
OMEGA, OMEGADOT, V0, A0 = np.array([1.0, -2, 3]), np.array([0.5, 0.25, -1]), np.array([0.1, 0.2,
                                                                                       0.3]), np.array([-1.0, 0, 2])


def rigid(points, w=OMEGA, dw=OMEGADOT, v0=V0, a0=A0):
    velocities = v0 + np.cross(w, points)
    return velocities, a0 + np.cross(dw, points) + np.cross(w, np.cross(w, points))


def triangle(u, v):
    """Three points with the centroid at the origin: columns u, v, -u-v of P, spec WE-08."""
    return np.array([u, v, -np.array(u) - np.array(v)], dtype=float)


@pytest.mark.spec("S2-25", "S2-26", "S2-27", "S2-28")
def test_worked_example():
    """Spec WE-08."""
    v, a = rigid(POINTS)
    np.testing.assert_allclose(v, [[.1, 3.2, 2.3], [-5.9, .2, 2.3], [-5.9, -2.8, .3]], atol=1e-12)
    np.testing.assert_allclose(a, [[-14, -3, 4.75], [-3, -20, -9], [8.75, -19.5, -13]], atol=1e-12)
    np.testing.assert_allclose(cr.angular_velocity_from_points_by_trace(POINTS, v), OMEGA, atol=1e-12)
    np.testing.assert_allclose(cr.angular_velocity_from_points(POINTS, v), OMEGA, atol=1e-12)
    np.testing.assert_allclose(cr.angular_acceleration_from_points_by_trace(POINTS, OMEGA, a), OMEGADOT, atol=1e-12)
    np.testing.assert_allclose(cr.angular_acceleration_from_points(POINTS, OMEGA, a), OMEGADOT, atol=1e-12)
    np.testing.assert_allclose(cr.velocity_compatibility(POINTS, v).matrix, 0, atol=1e-13)
    np.testing.assert_allclose(cr.acceleration_compatibility(POINTS, v, a).matrix, 0, atol=1e-12)
    found = cr.rigid_rates_from_points(POINTS, v, a)
    np.testing.assert_allclose(found.angular_acceleration, OMEGADOT, atol=1e-12)
    np.testing.assert_allclose(found.velocity_residual, 0, atol=1e-13)
    np.testing.assert_allclose(found.acceleration_residual, 0, atol=1e-12)
    centre = POINTS.mean(axis=0)
    np.testing.assert_allclose(found.centroid_velocity, V0 + np.cross(OMEGA, centre), atol=1e-13)


@pytest.mark.spec("S2-25", "S2-26", "S2-27")
@pytest.mark.parametrize("u, v, reason", [((1, 0, 0), (0, 1, 2), r"tr\(P\) = 0 vanishes"),
                                          ((1, 0, 0), (0, 1, 1), r"c2\(P\) = 0 \(tr\(P\) = 1\)")])
def test_where_only_the_robust_form_works(u, v, reason):
    """Spec E-27: two sets of points that are not on a line and yet singular in the trace form."""
    points = triangle(u, v)
    velocities, accelerations = rigid(points)
    with pytest.raises(SingularityError, match=reason):
        cr.angular_velocity_from_points_by_trace(points, velocities)
    with pytest.raises(SingularityError, match="robust form"):
        cr.angular_acceleration_from_points_by_trace(points, OMEGA, accelerations)
    np.testing.assert_allclose(cr.angular_velocity_from_points(points, velocities), OMEGA, atol=1e-13)
    np.testing.assert_allclose(cr.angular_acceleration_from_points(points, OMEGA, accelerations), OMEGADOT, atol=1e-13)


@pytest.mark.spec("S2-25", "S2-26", "S2-27")
@pytest.mark.parametrize("points, reason", [
    ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], "3 points lie on a line along .*0.57735"),
    ([[1, 2, 3], [4, 4, 4], [1, 2, 3]], "lie on a line .*points 0 and 2 coincide"),
    ([[1, 2, 3]] * 3, "3 points all coincide at"),
    ([[0, 0, 0], [1, 0, 0], [2, 1e-9, 0]], "lie on a line along .*1"),
])
def test_degenerate_sets_are_named(points, reason):
    for function, extra in ((cr.angular_velocity_from_points, 1), (cr.angular_velocity_from_points_by_trace, 1)):
        with pytest.raises(SingularityError, match=reason):
            function(points, *[np.zeros((3, 3))] * extra)
    for function in (cr.angular_acceleration_from_points, cr.angular_acceleration_from_points_by_trace):
        with pytest.raises(SingularityError, match=reason):
            function(points, np.ones(3), np.zeros((3, 3)))
    with pytest.raises(SingularityError, match="points 1 of the batch"):
        cr.angular_velocity_from_points([POINTS, points], np.zeros((3, 3)))


def test_too_few_or_broken_points():
    with pytest.raises(GeometryError, match="2 points do not determine"):
        cr.angular_velocity_from_points([[1, 0, 0], [0, 1, 0]], np.zeros((2, 3)))
    with pytest.raises(GeometryError, match="NaN"):
        cr.angular_velocity_from_points([[1, 0, 0], [0, 1, 0], [np.nan, 0, 0]], np.zeros((3, 3)))


@pytest.mark.spec("S2-25", "S2-26", "S2-27")
@given(st.tuples(vectors(), vectors(), vectors()).map(np.array), vectors(), vectors(), vectors(), vectors())
def test_both_forms_agree(points, w, dw, v0, a0):
    arms = points - points.mean(axis=0)
    extents = np.linalg.svd(arms, compute_uv=False)
    assume(extents[1] > 1e-5 * extents[0] and extents[0] > 0.1)
    velocities, accelerations = rigid(points, w, dw, v0, a0)
    # what rounding of points and velocities leaves: in proportion to the condition of the equations, not to its square
    size = (1 + np.max(np.abs(velocities)) + np.max(np.abs(accelerations)) +
            (1 + w @ w) * np.max(np.abs(points))) / extents[1]
    np.testing.assert_allclose(cr.angular_velocity_from_points(points, velocities), w, rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(cr.angular_acceleration_from_points(points, w, accelerations), dw, rtol=0,
                               atol=1e-13 * size)
    P = arms.T
    D = (np.trace(P) * np.eye(3) - P) / 2
    condition = np.linalg.cond(D)
    if condition < 1e4:
        size = condition * (1 + np.max(np.abs(velocities)) + np.max(np.abs(accelerations))) / np.linalg.norm(D)
        np.testing.assert_allclose(cr.angular_velocity_from_points_by_trace(points, velocities), w, rtol=0,
                                   atol=1e-13 * size)
        np.testing.assert_allclose(cr.angular_acceleration_from_points_by_trace(points, w, accelerations), dw, rtol=0,
                                   atol=1e-13 * size)


@pytest.mark.spec("S2-26", "S2-27")
@pytest.mark.parametrize("thin", [1e-2, 1e-4, 1e-5, 1e-6, 2e-7, 3e-8])
@pytest.mark.parametrize("n", [3, 5])
def test_thin_sets_lose_digits_once_not_twice(thin, n):
    """As a least-squares solver for the equations themselves, w x p = v, does; the error is rounding / thinness."""
    random = np.random.default_rng(8)
    arms = np.array([[0, 0, 0], [1, 0, 0], [0.4, thin, 0], [0.7, -thin / 2, thin / 3], [-0.5, 0, -thin]])[:n]
    axes = np.linalg.qr(random.normal(size=(3, 3)))[0]
    points = arms @ axes.T
    velocities, accelerations = rigid(points, v0=np.zeros(3), a0=np.zeros(3))
    allowed = 2e-16 * 40 / thin
    np.testing.assert_allclose(cr.angular_velocity_from_points(points, velocities), OMEGA, rtol=0, atol=allowed)
    np.testing.assert_allclose(cr.angular_acceleration_from_points(points, OMEGA, accelerations), OMEGADOT, rtol=0,
                               atol=4 * allowed)
    found = cr.rigid_rates_from_points(points, velocities, accelerations)
    np.testing.assert_allclose(found.angular_velocity, OMEGA, rtol=0, atol=allowed)
    noisy = velocities + 1e-3 * random.normal(size=velocities.shape)
    centred = points - points.mean(axis=0)
    equations = np.concatenate([np.stack([np.cross(e, p) for e in np.eye(3)], axis=1) for p in centred])
    best = np.linalg.lstsq(equations, (noisy - noisy.mean(axis=0)).ravel(), rcond=None)[0]
    np.testing.assert_allclose(cr.angular_velocity_from_points(points, noisy), best, rtol=0, atol=1e-3 *
                               (1e-10 + 1e-15 / thin) / thin)


def test_shapes_that_are_no_points():
    for points in ([1.0, 2.0, 3.0], np.zeros((3, 2))):
        with pytest.raises(GeometryError, match=r"shape \(\.\.\., n, 3\)"):
            cr.check_spread(points)
        with pytest.raises(CayleyError):
            cr.rigid_rates_from_points(points, points)
    with pytest.raises(CayleyError, match="3"):
        cr.angular_velocity_from_points_by_trace(np.eye(4)[:, :3], np.eye(4)[:, :3])
    with pytest.raises(GeometryError, match="velocities belong to points of shape"):
        cr.rigid_rates_from_points(POINTS, np.zeros((4, 3)))


@pytest.mark.spec("S2-26")
def test_more_points_are_least_squares():
    """Seven noisy points: the answer of a general optimiser."""
    random = np.random.default_rng(3)
    points = random.normal(size=(7, 3))
    velocities = rigid(points)[0] + 0.1 * random.normal(size=(7, 3))

    def misfit(x):
        return (velocities - x[3:] - np.cross(x[:3], points)).ravel()

    best = least_squares(misfit, np.zeros(6), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    found = cr.rigid_rates_from_points(points, velocities)
    np.testing.assert_allclose(found.angular_velocity, best.x[:3], atol=1e-9)
    np.testing.assert_allclose(np.sum(found.velocity_residual**2), 2 * best.cost, rtol=1e-12)
    assert found.angular_acceleration is None and found.acceleration_residual is None
    assert found.compatibility_of_velocities.matrix.shape == (7, 7)


@pytest.mark.spec("S2-28")
@given(
    st.tuples(vectors(), vectors(), vectors()).map(np.array),
    st.tuples(vectors(), vectors(), vectors()).map(np.array))
def test_compatibility_of_any_data(points, velocities):
    """The residuals are the definitions; and the matrix says what the three distances say, no more and no less."""
    found = cr.velocity_compatibility(points, velocities)
    P, dP = (points - points.mean(axis=0)).T, (velocities - velocities.mean(axis=0)).T
    size = 1 + np.max(np.abs(points)) * np.max(np.abs(velocities)) + np.max(np.abs(velocities)) ** 2
    np.testing.assert_allclose(found.matrix, dP.T @ P + P.T @ dP, rtol=0, atol=1e-13 * size)
    for i in range(3):
        for j in range(3):
            distance = (points[i] - points[j]) @ (velocities[i] - velocities[j])
            np.testing.assert_allclose(found.pairs[i, j], distance, rtol=0, atol=1e-13 * size)
            # 2 (p_i - p_j).(v_i - v_j) = M_ii + M_jj - M_ij - M_ji
            combined = found.matrix[i, i] + found.matrix[j, j] - found.matrix[i, j] - found.matrix[j, i]
            np.testing.assert_allclose(combined, 2 * distance, rtol=0, atol=1e-12 * size)
    found = cr.acceleration_compatibility(points, velocities, points[::-1])
    ddP = (points[::-1] - points.mean(axis=0)).T
    size += np.max(np.abs(points)) ** 2
    np.testing.assert_allclose(found.matrix, ddP.T @ P + 2 * dP.T @ dP + P.T @ ddP, rtol=0, atol=1e-13 * size)


@pytest.mark.spec("S2-28")
def test_three_conditions_are_independent():
    """Spec E-28: the six elements of the matrix, as functions of nine velocities, have rank three, and so have the
    three distances.
    """
    random = np.random.default_rng(5)
    points = random.normal(size=(3, 3))
    columns = [cr.velocity_compatibility(points, e.reshape(3, 3)) for e in np.eye(9)]
    upper = np.triu_indices(3)
    six = np.array([c.matrix[upper] for c in columns])
    three = np.array([c.pairs[np.triu_indices(3, 1)] for c in columns])
    assert np.linalg.matrix_rank(six) == 3 and np.linalg.matrix_rank(three) == 3
    assert np.linalg.matrix_rank(np.hstack([six, three])) == 3


@pytest.mark.spec("S2-28")
def test_incompatible_data_are_seen():
    """One point drifts away from the others: the two distances to it change, the third does not."""
    v, a = rigid(POINTS)
    v[1] += 0.5 * (POINTS[1] - POINTS[0])
    a[1] += 0.25 * (POINTS[1] - POINTS[2])
    found = cr.rigid_rates_from_points(POINTS, v, a)
    pairs = found.compatibility_of_velocities.pairs
    np.testing.assert_allclose(pairs[0, 1], 0.5 * 5, atol=1e-12)
    np.testing.assert_allclose(pairs[1, 2], 0.5 * 4, atol=1e-12)
    assert abs(pairs[0, 2]) < 1e-12
    assert np.max(np.abs(found.velocity_residual)) > 0.1 and np.max(np.abs(found.acceleration_residual)) > 0.1
    assert abs(found.compatibility_of_accelerations.pairs[1, 2]) > 0.1


@given(rotation_matrices(), vectors())
def test_the_robust_form_does_not_depend_on_the_frame(R, shift):
    points = triangle((1, 0, 0), (0, 1, 1)) + shift
    velocities = rigid(points)[0]
    found = cr.angular_velocity_from_points(points @ R.T, velocities @ R.T)
    np.testing.assert_allclose(found, R @ OMEGA, rtol=0, atol=1e-12)
