"""Numbers of every size, and NaN: what they give is right to all digits, or says so, and is never a plausible guess."""

import numpy as np
import pytest

import cayley as cy
import cayley.geometry.motions as motions
import cayley.geometry.rates as rates
import cayley.geometry.rotations as rot
from cayley.errors import GeometryError, SignatureError, SingularityError
from cayley.geometry import principal_axes
from cayley.geometry.rotations import costs
from cayley.geometry.tensors import tensor_norm, vee
from cayley.kinematics.inverse.tracking import newton_iteration
from geometry import formulas_of_motions as fm
from geometry import rotation_operation_table as rt
from geometry.exact_rotations import MP

SIZES = [1e-310, 1e-300, 1e-200, 1e-155, 1e-150, 1e-100, 1.0, 1e100, 1e150, 1e155, 1e200, 1e300]


def exact_matrix(c):
    x, y, z = c
    square = 1 + x * x + y * y + z * z
    doubled = [[-y * y - z * z, x * y - z, x * z + y], [x * y + z, -x * x - z * z, y * z - x],
               [x * z - y, y * z + x, -x * x - y * y]]
    return [2 * entry / square for row in doubled for entry in row]


def exact_derivatives(function, c):
    """Of a function of three numbers, by central differences in 500 digits: entries, then variables."""
    with MP.workdps(500):
        place = [MP.mpf(float(x)) for x in c]
        step = MP.mpf(10)**-100 * max(1, *map(abs, place))
        columns = []
        for k in range(3):
            ahead, behind = ([x + sign * step * (j == k) for j, x in enumerate(place)] for sign in (1, -1))
            columns.append([(a - b) / (2 * step) for a, b in zip(function(ahead), function(behind), strict=True)])
        return np.array(columns).T


@pytest.mark.spec("S0-11")
@pytest.mark.parametrize("size", [0.0, 1e-100, 1.0, 1e8, 1e50, 1e76, 1e100, 1e149])
def test_derivatives_by_vector_parameters_of_every_length(size):
    c = size * np.array([0.6, -1.7, 0.9])
    x = np.array([0.3, -0.2, 0.7])

    def turned(c):
        O = exact_matrix(c)
        return [x[i] + sum(O[3 * i + j] * x[j] for j in range(3)) for i in range(3)]

    def velocity(c):
        square = 1 + sum(a * a for a in c)
        across = [c[1] * x[2] - c[2] * x[1], c[2] * x[0] - c[0] * x[2], c[0] * x[1] - c[1] * x[0]]
        return [2 * (a + b) / square for a, b in zip(x, across, strict=True)]

    for exact, kernel, arguments in (
            (exact_matrix, rot.matrix_from_vector_parameter.jacobian("c"), ()),
            (turned, rot.rotate_by_vector_parameter.jacobian("c"), (x,)),
            (velocity, rates.chart("vector_parameter").velocity.jacobian("c", "world"), (x,))):
        right = exact_derivatives(exact, c)
        unit = max(abs(right.ravel())) or MP.mpf(1)
        found = kernel(c, *arguments).reshape(right.shape)
        assert max(abs(MP.mpf(float(a)) - b) / unit for a, b in zip(found.flat, right.flat, strict=True)) < 2e-15
    second = rot.matrix_from_vector_parameter.jacobian("c").jacobian("c")(c)
    np.testing.assert_allclose(second, np.swapaxes(second, -2, -1), rtol=1e-14, atol=1e-15 * np.abs(second).max())
    if size == 1.0:
        step = 1e-6
        first = rot.matrix_from_vector_parameter.jacobian("c")
        for k, e in enumerate(step * np.eye(3)):
            np.testing.assert_allclose(second[..., k], (first(c + e) - first(c - e)) / (2 * step), atol=1e-9)


@pytest.mark.spec("S0-04", "S1-11")
@pytest.mark.parametrize("size", SIZES)
def test_norms_and_skew_parts_of_every_size(size):
    q = size * np.array([0.1, -0.7, 0.4, 0.2])
    right = float(MP.sqrt(sum(MP.mpf(float(x))**2 for x in q)))
    np.testing.assert_allclose(rot.quaternion_norm(q), right, rtol=4e-16, atol=5e-324)
    np.testing.assert_allclose(tensor_norm(q.reshape(2, 2)), right, rtol=4e-16, atol=5e-324)
    T = size * np.array([[0.0, -3.0, 2.0], [3.0, 0.0, -1.0], [-2.0, 1.0, 0.0]])
    np.testing.assert_allclose(vee(T), size * np.array([1.0, 2.0, 3.0]), rtol=4e-16, atol=5e-324)
    for dtype, tiny in ((np.float32, 1e-42), (np.float32, 1e37)):
        v = np.full(4, tiny, dtype)
        np.testing.assert_allclose(rot.quaternion_norm(v), 2 * float(v[0]), rtol=1e-6)


@pytest.mark.spec("S0-08", "S1-03")
@pytest.mark.parametrize("size", SIZES)
def test_ratios_and_homogeneous_points_of_every_size(size):
    z = np.array([[0.25, -0.5], [0.75, 1.0]])
    np.testing.assert_allclose(rot.point_from_ratio(size * z), rot.point_from_ratio(z), atol=1e-12 if size < 1e-305
                               else 1e-15)
    x = size * np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(fm.point_from_homogeneous(x), x[:3] / x[3], rtol=4e-16)
    with np.errstate(over="ignore", under="ignore"):
        x = np.array([1.0, 1e-160, 1e160, size])
        np.testing.assert_allclose(fm.point_from_homogeneous(x), x[:3] / x[3], rtol=4e-16, atol=1e-320)


@pytest.mark.spec("S2-25", "S2-26", "S2-27")
@pytest.mark.parametrize("size", [s for s in SIZES if s > 1e-305])
def test_angular_rates_from_points_of_every_size(size):
    """Points of any extent give the same angular velocity and acceleration, by both forms."""
    p = np.array([[1.0, 0.2, -0.3], [0.1, 2.0, 0.4], [-0.2, 0.3, 3.0]])
    w, dw = np.array([0.3, -0.7, 1.1]), np.array([-0.4, 0.2, 0.9])
    v = np.cross(w, p)
    a = np.cross(dw, p) + np.cross(w, v)
    for velocity, acceleration in (
            (rates.angular_velocity_from_points, rates.angular_acceleration_from_points),
            (rates.angular_velocity_from_points_by_trace, rates.angular_acceleration_from_points_by_trace)):
        np.testing.assert_allclose(velocity(size * p, size * v), w, atol=1e-13)
        np.testing.assert_allclose(acceleration(size * p, w, size * a), dw, atol=1e-13)
    with pytest.raises(SingularityError, match="line"):
        rates.angular_velocity_from_points(size * np.outer([1.0, 2.0, 4.0], [1.0, 1.0, 1.0]), size * v)
    flat = np.array([[1.0, 0, 0], [0, 1, 1], [-1, -1, -1]])
    with pytest.raises(SingularityError, match=r"c2\(P\)"):
        rates.angular_velocity_from_points_by_trace(size * flat, size * flat)


@pytest.mark.spec("S0-31", "S2-22")
def test_nan_is_no_screw():
    """Every field of a screw of NaN is NaN, wherever the NaN stands."""
    good = np.array([0.3, 0.4, -0.2]), np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.0, -0.5])
    for kernel, count in ((fm.screw_from_vector_parameter, 2), (rates.instantaneous_screw, 3)):
        for place in range(count - (count == 3)):
            for entry in range(3):
                arguments = [x.copy() for x in good[:count]]
                arguments[place][entry] = np.nan
                found = kernel(*arguments)
                assert np.isnan(found.direction).all() or place > 0
                assert np.isnan(found.point).any() and np.isnan(found.moment).any()
    with pytest.raises(GeometryError):
        motions.screw_from_displacement([np.nan, 0, 0, 0], good[1])
    with pytest.raises(SingularityError, match="NaN is no rotation"):
        rot.matrix_from_vector_parameter([[1.0, 0, 0], [np.nan, 0, 0]])


@pytest.mark.spec("S3-16")
def test_newton_refuses_what_is_not_finite():
    square = cy.kernel("(1)->(1)")(lambda q: q * q)
    for target, start in (([2.0], [np.nan]), ([np.inf], [1.0])):
        with pytest.raises(SignatureError, match="has to be finite"):
            newton_iteration(square, target, start)
    root = cy.kernel("(1)->(1)")(np.sqrt)
    assert newton_iteration(root, [2.0], [-1.0]).reason == "diverged"


@pytest.mark.spec("S0-68")
@pytest.mark.parametrize("count", [0, -1, 2.5, np.nan, "6", True])
def test_counts_of_links_are_whole_and_positive(count):
    for table in (rt.rotation_operation_table, costs.jacobian_claims, costs.dynamics_claims):
        with pytest.raises(GeometryError, match="whole number, 1 or more"):
            table(count)


def test_no_point_mass_is_negative():
    with pytest.raises(GeometryError, match="-1 kg at element 1"):
        principal_axes.point_mass_rotations([1.0, -1.0], [1.0, 2.0, 3.0])
