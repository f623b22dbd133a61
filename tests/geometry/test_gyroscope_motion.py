"""The gyroscope forward: accelerations from moments about nodal and fixed axes, and its motion in time (S2-100)."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cayley.errors import ConventionError, GeometryError, SingularityError
from cayley.geometry import inertia as ci
from geometry import formulas_of_inertia as fi
from geometry import simulated_bodies as fs

I0, I, TILTING = 0.02, 0.01, 0.24525  # WE-18


def weight(t, angles, rates):
    return [TILTING * np.sin(angles[1]), 0.0, 0.0]


def axis_of(angles):
    return Rotation.from_euler("ZXZ", angles).as_matrix()[..., 2]


@pytest.mark.spec("S2-100")
def test_worked_example_18_back():
    angles, rates, accelerations = np.array([0.9, 0.6, 0.0]), [1.1, 0.4, 5.0], [-0.7, 0.3, 0.2]
    printed = np.array([0.0314164996, -0.0170105645, -0.0062617762])
    found = ci.gyroscope_accelerations(I0, I, 0.6, rates, printed)
    np.testing.assert_allclose(found, accelerations, rtol=0, atol=2e-8)  # ten printed digits over I0 sin(theta)
    nodal = ci.gyroscope_moments(I0, I, 0.6, rates, accelerations)
    turn = Rotation.from_euler("ZX", angles[:2]).as_matrix()
    fixed = fi.fixed_from_nodal(angles, nodal)
    np.testing.assert_allclose(fixed, turn @ nodal, rtol=0, atol=1e-17)
    again = ci.gyroscope_accelerations(I0, I, 0.6, rates, ci.nodal_from_fixed(angles, fixed))
    np.testing.assert_allclose(again, accelerations, rtol=1e-13)
    several = ci.nodal_from_fixed(np.stack([angles, 2 * angles]), fixed)
    np.testing.assert_allclose(several[1], Rotation.from_euler("ZX", 2 * angles[:2]).inv().apply(fixed), atol=1e-17)


@pytest.mark.spec("S2-100")
@pytest.mark.parametrize("axes", ["nodal", "fixed"])
def test_a_heavy_top_keeps_its_integrals_and_its_limits(axes):
    """A nutating top: momentum about its axis and the vertical, energy; the nutation turns round at the roots of the
    cubic; and the axis moves as that of Euler's equations of the attitude."""
    def about_fixed(t, angles, rates):  # the weight at the centre: m g l (axis x down), without the angles' nodes
        return TILTING * np.cross([0.0, 0.0, 1.0], axis_of(angles))

    start, rates, times = np.array([0.2, 0.5, -0.3]), np.array([0.4, 0.3, 60.0]), np.linspace(0, 1.0, 201)
    moments = about_fixed if axes == "fixed" else weight
    top = fs.simulate_gyroscope(I0, I, start, rates, times, moments=moments, axes=axes)
    energy = top.kinetic_energy + TILTING * np.cos(top.angles[:, 1])
    for integral in (top.axial_momentum, top.vertical_momentum, energy):
        assert np.ptp(integral) < 1e-9 * np.abs(integral[0])
    np.testing.assert_allclose(top.moments[:, 0], TILTING * np.sin(top.angles[:, 1]), rtol=1e-9)
    assert np.abs(top.moments[:, 1:]).max() < 1e-12
    w = np.polynomial.Polynomial([0, 1])  # cos(theta)
    p, v = top.axial_momentum[0], top.vertical_momentum[0]
    cubic = 2 * I0 * (1 - w**2) * (energy[0] - p**2 / (2 * I) - TILTING * w) - (v - p * w) ** 2
    lower, upper = sorted(root.real for root in cubic.roots() if abs(root) <= 1)
    seen = np.cos(top.angles[:, 1])
    assert lower - 1e-9 < seen.min() < lower + 1e-4 and upper - 1e-4 < seen.max() < upper + 1e-9

    begin = Rotation.from_euler("ZXZ", start).as_matrix()
    spin = begin.T @ ci.gyroscope_angular_velocity(start, rates)

    def torque(t, w, h):
        up = Rotation.from_quat(h, scalar_first=True).as_matrix()[2]
        return TILTING * np.cross(up, [0.0, 0.0, 1.0])

    run = fs.simulate_attitude(np.diag([I0, I0, I]), spin, times[::40], start=begin, torque=torque)
    np.testing.assert_allclose(Rotation.from_euler("ZXZ", top.angles[::40]).as_matrix(), run.matrices, atol=1e-8)


@pytest.mark.spec("S2-100")
def test_constant_moments_and_time_backwards():
    """A moment about the axis alone speeds up the spin of a level, still axis; a run back ends at the start."""
    spun = fs.simulate_gyroscope(I0, I, [0.3, np.pi / 2, 0.0], [0.0, 0.0, 1.0], [0.0, 2.0], moments=[0.0, 0.0, 0.03],
                                 axes="nodal")
    np.testing.assert_allclose(spun.angles[-1], [0.3, np.pi / 2, 2.0 + 0.5 * 3.0 * 4.0], atol=1e-9)
    out = fs.simulate_gyroscope(I0, I, [0.1, 1.0, 0.2], [0.5, -0.2, 20.0], [0.0, 0.4], moments=[0.01, -0.02, 0.03],
                                axes="fixed")
    back = fs.simulate_gyroscope(I0, I, out.angles[-1], out.rates[-1], [0.4, 0.0], moments=[0.01, -0.02, 0.03],
                                 axes="fixed")
    np.testing.assert_allclose(back.angles[-1], [0.1, 1.0, 0.2], atol=1e-9)
    np.testing.assert_allclose(back.rates[-1], [0.5, -0.2, 20.0], atol=1e-8)


@pytest.mark.spec("S2-100")
def test_an_upright_axis_is_refused_at_the_start_and_on_the_way():
    for theta in (0.0, np.pi, -np.pi):
        with pytest.raises(SingularityError, match="upright"):
            ci.gyroscope_accelerations(I0, I, theta, [1.0, 0, 5.0], np.zeros(3))
        with pytest.raises(SingularityError, match="upright"):
            fs.simulate_gyroscope(I0, I, [0, theta, 0], [1.0, 0, 5.0], [0, 1], moments=weight, axes="nodal")
    with pytest.raises(SingularityError, match=r"becomes upright at t = 0\.499999 "):  # one radian a second
        fs.simulate_gyroscope(I0, I, [0, 0.5, 0], [0, -1.0, 0], [0, 2], moments=np.zeros(3), axes="nodal")
    p = 0.5  # equal momenta about the axis and the vertical: the top rises through the vertical, spinning
    psd = p * (1 - np.cos(0.4)) / (I0 * np.sin(0.4) ** 2)
    with pytest.raises(SingularityError, match="becomes upright"):
        fs.simulate_gyroscope(I0, I, [0, 0.4, 0], [psd, -6.0, p / I - psd * np.cos(0.4)], [0, 2], moments=weight,
                              axes="nodal")
    with pytest.raises(ConventionError, match="'body'"):
        fs.simulate_gyroscope(I0, I, [0, 1, 0], [0, 0, 1], [0, 1], moments=np.zeros(3), axes="body")
    with pytest.raises(GeometryError, match="moments at t = 0 "):
        fs.simulate_gyroscope(I0, I, [0, 1, 0], [0, 0, 1], [0, 1], moments=lambda t, a, r: [np.nan, 0, 0], axes="nodal")
    with pytest.raises(GeometryError, match="rates"):
        fs.simulate_gyroscope(I0, I, [0, 1, 0], [0, 1], [0, 1], moments=np.zeros(3), axes="nodal")
    with pytest.raises(GeometryError, match="no body has the moments"):
        fs.simulate_gyroscope(I0, 0.05, [0, 1, 0], [0, 0, 1], [0, 1], moments=np.zeros(3), axes="nodal")
