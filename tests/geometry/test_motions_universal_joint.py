"""The universal joint, single and double, against the geometry of its cross."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError, SingularityError
from cayley.geometry import motions as cm

BENDS = st.floats(-1.5, 1.5)
ANGLES = st.one_of(st.sampled_from([0.0, np.pi / 2, np.pi, -np.pi / 2, 2 * np.pi, 7.5 * np.pi]), st.floats(-20, 20))


@pytest.mark.spec("S2-15")
def test_worked_table():
    """Spec WE-04, 30 degrees."""
    table = np.array([[0, 0, 0.8660254038], [15, 17.1921237340, 0.8853629711], [30, 33.6900675260, 0.9381941874],
                      [45, 49.1066053509, 1.0103629711], [60, 63.4349488229, 1.0825317547],
                      [75, 76.9356865705, 1.1353629711], [90, 90, 1.1547005384], [135, 130.8933946491, 1.0103629711],
                      [180, 180, 0.8660254038]])
    theta1 = np.radians(table[:, 0])
    np.testing.assert_allclose(np.degrees(cm.universal_joint_angle(np.pi / 6, theta1)), table[:, 1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(cm.universal_joint_rate_ratio(np.pi / 6, theta1), table[:, 2], rtol=0, atol=1e-9)
    lead = cm.universal_joint_largest_lead(np.pi / 6)
    np.testing.assert_allclose(np.degrees([lead.lead, lead.input_angle]), [4.1171942702, 42.9414028649], rtol=0,
                               atol=1e-9)
    mean = quad(lambda t: 1 / cm.universal_joint_rate_ratio(np.pi / 6, t), 0, np.pi, epsabs=1e-12)[0] / np.pi
    assert abs(mean - 1) < 1e-12


@pytest.mark.spec("S2-15")
@given(BENDS, ANGLES)
def test_the_arms_of_the_cross_stay_perpendicular(bend, theta1):
    """Spec 3.2: y_m1 = (0, c1, s1) and z_m2 = (sa s2, -ca s2, c2), for every angle, quarter turns and many turns
    included.
    """
    theta2 = cm.universal_joint_angle(bend, theta1)
    first = np.array([0.0, np.cos(theta1), np.sin(theta1)])
    second = np.array([np.sin(bend) * np.sin(theta2), -np.cos(bend) * np.sin(theta2), np.cos(theta2)])
    assert abs(first @ second) < 1e-14 * (1 + abs(theta1))
    assert abs(theta2 - theta1) < np.pi / 2
    assert cm.universal_joint_angle(bend, theta1 + 2 * np.pi) - theta2 == pytest.approx(
        2 * np.pi, abs=1e-13 * (1 + abs(theta1)))


@pytest.mark.spec("S2-15")
@given(st.floats(-1.3, 1.3), st.floats(-7, 7), st.floats(-3, 3), st.floats(-3, 3))
def test_rates_and_accelerations(bend, theta, rate, acceleration):
    """Differences along theta1(t) = theta + rate t + acceleration t^2 / 2."""
    def at(t):
        return cm.universal_joint_angle(bend, theta + rate * t + acceleration * t * t / 2)
    h = 1e-4
    found = cm.universal_joint_motion(bend, theta, rate, acceleration)
    np.testing.assert_allclose(found.angle, at(0.0), rtol=1e-15, atol=1e-15)
    velocity = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    np.testing.assert_allclose(found.rate, velocity, rtol=1e-6, atol=1e-7)
    second = (-at(2 * h) + 16 * at(h) - 30 * at(0.0) + 16 * at(-h) - at(-2 * h)) / (12 * h * h)
    np.testing.assert_allclose(found.acceleration, second, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(found.rate * cm.universal_joint_rate_ratio(bend, theta), rate, rtol=0, atol=1e-13)


@pytest.mark.spec("S2-15")
@given(BENDS)
def test_extremes_of_the_rate_ratio(bend):
    extremes = cm.universal_joint_ratio_range(bend)
    np.testing.assert_allclose([extremes.lowest, extremes.highest], [np.cos(bend), 1 / np.cos(bend)], rtol=1e-15)
    np.testing.assert_allclose(cm.universal_joint_rate_ratio(bend, [0.0, np.pi]), extremes.lowest, rtol=1e-13)
    np.testing.assert_allclose(cm.universal_joint_rate_ratio(bend, [np.pi / 2, -np.pi / 2]), extremes.highest,
                               rtol=1e-13)
    ratios = cm.universal_joint_rate_ratio(bend, np.linspace(0, 2 * np.pi, 73))
    assert np.all(ratios >= extremes.lowest * (1 - 1e-14)) and np.all(ratios <= extremes.highest * (1 + 1e-14))


@pytest.mark.spec("S2-15")
def test_the_largest_lead_is_the_largest():
    for bend in (0.2, 0.9, 1.4):
        found = cm.universal_joint_largest_lead(bend)
        best = minimize_scalar(lambda t, b=bend: t - cm.universal_joint_angle(b, t), bounds=(0, np.pi / 2),
                               options={"xatol": 1e-10})
        np.testing.assert_allclose(found.lead, -best.fun, atol=1e-12)
        np.testing.assert_allclose(found.input_angle, best.x, atol=1e-6)


@pytest.mark.spec("S2-15", "S2-16")
@pytest.mark.parametrize(("bend", "error", "reason"), [(np.pi / 2, SingularityError, "locked"),
                                                       (-np.pi / 2, SingularityError, "locked"),
                                                       (2.0, SingularityError, "locked"),
                                                       (np.nan, GeometryError, "not a number")])
def test_a_locked_joint(bend, error, reason):
    for call in (lambda: cm.universal_joint_angle([0.1, bend], 0.3), lambda: cm.universal_joint_rate_ratio(bend, 0.3),
                 lambda: cm.universal_joint_motion(bend, 0.1, 1.0, 0.0), lambda: cm.universal_joint_ratio_range(bend),
                 lambda: cm.universal_joint_largest_lead(bend),
                 lambda: cm.double_universal_joint_angle(0.3, bend, 0.0, 0.1),
                 lambda: cm.double_universal_joint_rate_ratio(bend, 0.3, 0.0, 0.1),
                 lambda: cm.double_universal_joint_ratio_range(0.3, bend, 0.0),
                 lambda: cm.constant_velocity_defect(bend, 0.3, 0.0)):
        with pytest.raises(error, match=reason):
            call()


# Two joints


@pytest.mark.spec("S2-16")
def test_double_joint_worked_example():
    """Spec WE-05."""
    a, b = np.radians(30), np.radians(20)
    turn = np.linspace(0, 2 * np.pi, 721)
    np.testing.assert_allclose(cm.double_universal_joint_rate_ratio(a, a, 0.0, turn), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(cm.double_universal_joint_angle(a, a, 0.0, turn), turn, rtol=0, atol=1e-14)
    np.testing.assert_allclose(cm.double_universal_joint_ratio_range(a, a, 0.0), [1, 1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(cm.double_universal_joint_ratio_range(a, a, np.pi / 2), [0.75, 4 / 3], rtol=0,
                               atol=1e-12)
    np.testing.assert_allclose(cm.double_universal_joint_ratio_range(a, b, 0.0), [0.9216049851, 1.0850635751], rtol=0,
                               atol=1e-9)
    tangent = np.tan(cm.double_universal_joint_angle(a, b, 0.0, 0.7))
    np.testing.assert_allclose(tangent, np.cos(b) / np.cos(a) * np.tan(0.7), rtol=1e-14)


@pytest.mark.spec("S2-16")
@given(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2), st.floats(-3, 3))
def test_range_of_the_double_joint(a, b, phase):
    """The closed form of the extremes against a fine scan, for any two bends and any phase of the forks."""
    ratios = cm.double_universal_joint_rate_ratio(a, b, phase, np.linspace(0, np.pi, 4001))
    found = cm.double_universal_joint_ratio_range(a, b, phase)
    np.testing.assert_allclose([found.lowest, found.highest], [ratios.min(), ratios.max()], rtol=2e-3)
    assert found.lowest <= ratios.min() * (1 + 1e-12) and found.highest >= ratios.max() * (1 - 1e-12)
    defect = cm.constant_velocity_defect(a, b, phase)
    np.testing.assert_allclose(defect, np.log(found.highest), rtol=0, atol=1e-13)
    np.testing.assert_allclose(cm.constant_velocity_defect(a, a, 0.0), 0.0, atol=1e-15)
    if abs(abs(a) - abs(b)) > 0.1 and max(abs(a), abs(b)) > 0.3:
        assert defect > 1e-3
    if abs(np.sin(phase)) > 0.1 and max(abs(a), abs(b)) > 0.3:
        assert defect > 1e-3


@pytest.mark.spec("S2-16")
@given(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2), st.floats(-3, 3), st.floats(-7, 7))
def test_double_joint_in_space(a, b, phase, theta1):
    """Three shafts and four forks in space: the arms of both crosses stay perpendicular; the speeds are the slopes of
    the angle.
    """
    theta2 = cm.universal_joint_angle(a, theta1)
    theta3 = cm.double_universal_joint_angle(a, b, phase, theta1)
    middle = theta2 + phase                                  # the second fork of the middle shaft
    # the second joint is the first run backwards: its driving fork is z_m2, its driven one y_m1 of spec 3.2
    frame = Rotation.from_euler("z", b).as_matrix()          # the last shaft is bent by b
    driven = frame @ np.array([0.0, np.cos(theta3 + phase), np.sin(theta3 + phase)])
    driving = np.array([0.0, -np.sin(middle), np.cos(middle)])
    assert abs(driven @ driving) < 1e-13
    h = 1e-6
    slope = (cm.double_universal_joint_angle(a, b, phase, theta1 + h)
             - cm.double_universal_joint_angle(a, b, phase, theta1 - h)) / (2 * h)
    np.testing.assert_allclose(1 / slope, cm.double_universal_joint_rate_ratio(a, b, phase, theta1), rtol=1e-6)
