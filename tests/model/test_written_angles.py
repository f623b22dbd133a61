"""Angles that a file writes in decimals and means as fractions of pi."""

from importlib.metadata import files

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cayley as cy
from cayley.cli.check import examine
from cayley.model.formats.urdf import load_urdf
from cayley.model.formats.written_angles import fraction_of_pi

XARM = next(str(file.locate()) for file in files("example-robot-data") if file.name == "xarm7.urdf")
ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="pivot" type="continuous"><parent link="base"/><child link="rod"/>
<origin rpy="{}"/><axis xyz="0 0 1"/></joint></robot>"""


def operations(arm):
    found = arm.inverse_dynamics.operations()
    return found.multiplications, found.additions


def test_the_xarm_loses_the_operations_that_only_its_digits_cost():
    assert operations(cy.load(XARM, exact_angles=False)) == (416, 344)
    assert operations(cy.load(XARM)) == (284, 259)


def test_poses_differ_by_no_more_than_the_digits_do():
    exact, written = cy.load(XARM), cy.load(XARM, exact_angles=False)
    model = pin.buildModelFromUrdf(XARM)
    data = model.createData()
    q = exact.random_configuration(20, seed=0)
    for each in q:
        pin.framesForwardKinematics(model, data, each)
        theirs = data.oMf[model.getFrameId("link_eef")].homogeneous
        np.testing.assert_allclose(written.pose(each, "link_eef"), theirs, atol=1e-13)
        np.testing.assert_allclose(exact.pose(each, "link_eef"), theirs, atol=8 * 3.7e-6)
    assert np.abs(exact.pose(q, "link_eef") - written.pose(q, "link_eef")).max() > 1e-7


@given(st.integers(-48, 48), st.integers(4, 15), st.booleans())
def test_a_multiple_is_known_rounded_or_cut_off_and_its_neighbours_are_not(count, digits, cut):
    exact = count * np.pi / 12
    unit = 10.0**-digits
    if count == 0 or abs(exact) > 8 * np.pi:
        return
    kept = np.trunc(exact / unit) if cut else np.round(exact / unit)
    text = f"{kept * unit:.{digits}f}"
    if digits < 13:
        assert float(fraction_of_pi(text)) == pytest.approx(count / 12, abs=1e-15)
        for off in (2, -2):
            near = f"{(kept + off) * unit:.{digits}f}"
            assert fraction_of_pi(near) is None or near.endswith("0")


@pytest.mark.parametrize("text", ["0", "0.0", "-0.0", "0.5", "1.6", "3", "0.26", "2.09", "1.5709", "1e-5", "100",
                                  "1.5708e9", "1e-400", "0.3926991"])
def test_what_is_no_fraction_of_pi_stays(text):
    assert fraction_of_pi(text) is None


@pytest.mark.parametrize(("rpy", "meant"), [
    ("1.5708 0 0", (np.pi / 2, 0, 0)), ("0 -1.57079 0", (0, -np.pi / 2, 0)), ("0 0 3.1416", (0, 0, np.pi)),
    ("0.785398 0 3.14159", (np.pi / 4, 0, np.pi)), ("1.570800 +2.0944 0.1", (np.pi / 2, 2 * np.pi / 3, 0.1)),
    ("15708e-4 0 0", (np.pi / 2, 0, 0))])
def test_a_file_is_read_with_the_angles_it_means(rpy, meant, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(rpy))
    R = cy.load(path).joints[0].placement[:3, :3]
    np.testing.assert_allclose(R, pin.rpy.rpyToMatrix(*map(float, meant)), atol=1e-15)
    written = cy.load(path, exact_angles=False)
    theirs = pin.rpy.rpyToMatrix(*map(float, rpy.split()))
    np.testing.assert_allclose(written.joints[0].placement[:3, :3], theirs, atol=1e-15)
    np.testing.assert_array_equal(written.joints[0].placement, load_urdf(path).joints[0].placement)
    assert not written.summary().about("exact angles") and examine(path).facts


def test_check_says_which_and_how_to_avoid_it(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format("1.5708 0 3.14159"))
    said, = examine(path).facts
    assert "1.5708 as pi/2 (line 4), 3.14159 as pi (line 4)" in said and "exact_angles=False" in said
    assert cy.load(path).summary().about("exact angles") == ("1.5708", "3.14159")
    path.write_text(ARM.format("1.5707963267948966 0 0.5"))
    assert not examine(path).facts


def test_angles_in_degrees_are_seen(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format("90 0 -180"))
    report = cy.load(path).summary()
    assert report.about("angles in degrees") == ("90", "-180")
    assert "angles are more than a turn: 90 (line 4), -180 (line 4); if these are degrees" in str(report)
