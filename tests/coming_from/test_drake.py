"""Every row of the table of Drake's functions runs on our side, on Panda and on a machine with branches, and gives what
Drake gave (`drake_values.json`, recorded by `record_drake.py`); where Drake is installed, that is recorded again."""

import json

import numpy as np
import pytest

import cayley as cy
from cayley.geometry import motions, rotations
from cayley.words import calls
from coming_from import record_drake
from coming_from.conftest import CRAWLER
from coming_from.rows import all_of, value

ROWS = calls("drake")
RECORDED = json.loads((record_drake.HERE / "drake_values.json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("drake")
    (found / "crawler.urdf").write_text(CRAWLER)
    cy.load("panda").save(found / "panda.urdf")
    return found


def places(arm, order):
    """For each joint of ours its place in an order of names."""
    return [order.index(name) for name in arm.joint_names if name in order]


@pytest.fixture(scope="module", params=["panda", "crawler"])
def robot(request, folder):
    arm = cy.load(folder / f"{request.param}.urdf")
    state = record_drake.by_name(arm.joint_names)
    q, qd, qdd, tau = np.array([state[name] for name in arm.joint_names]).T
    link = record_drake.LINKS[request.param]
    joint_name = next(joint.name for joint in arm.joints if joint.child == link)
    return request.param, arm, all_of(rotations, motions) | {
        "cy": cy, "np": np, "arm": arm, "path": folder / f"{request.param}.urdf", "q": q, "qd": qd, "qdd": qdd,
        "tau": tau, "link": link, "joint_name": joint_name, "point": record_drake.POINT, "wrench": record_drake.WRENCH,
        "X": record_drake.X, "R": record_drake.X[:3, :3], "T": arm.pose(q, "tool"), "law": arm.control.pd(1.0, 1.0)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.theirs.split("; ")[-1])
def test_ours_is_what_drake_gave(robot, row):
    name, arm, names = robot
    if row.result == "no value":
        exec(row.here, dict(names))
        return
    here = value(row.here, names)
    there = np.array(RECORDED[name][row.theirs])
    own = places(arm, RECORDED[name]["order"])
    if row.result in ("velocity", "simulated"):
        there = there[..., own]
    elif row.result == "matrix":
        there = there[..., own, :][..., own]
    tolerance = 2e-4 if row.result == "simulated" else 1e-10  # theirs integrates to 1e-3 of its own accuracy
    np.testing.assert_allclose(here, there, rtol=tolerance, atol=tolerance)


def test_a_floating_base_goes_over_as_the_page_says(folder):
    """Quaternion and angular velocity first there, velocities in the world's axes; their accelerations are zero."""
    arm, drake = cy.load(folder / "crawler.urdf", floating_base=True), RECORDED["floating"]
    own = places(arm, drake["order"])
    state = record_drake.by_name(drake["order"])
    joints = np.array([state[name][:2] for name in arm.joint_names if name in drake["order"]])
    theirs, v = record_drake.BASE["q"], record_drake.BASE["v"]
    R = rotations.matrix_from_quaternion(theirs[:4])
    q = np.concatenate([theirs[4:], theirs[:4], joints[:, 0]])
    qd = np.concatenate([R.T @ v[3:], R.T @ v[:3], joints[:, 1]])
    qdd = np.concatenate([-np.cross(qd[3:6], qd[:3]), np.zeros(3 + len(own))])
    np.testing.assert_allclose(arm.pose(q, "tool"), drake["pose"], atol=1e-12)
    np.testing.assert_allclose(np.roll(arm.twist(q, qd, "tool", axes="world"), 3), drake["velocity"], atol=1e-12)
    assert arm.kinetic_energy(q, qd) == pytest.approx(drake["energy"], rel=1e-12)
    tau = arm.inverse_dynamics(q, qd, qdd)
    at = [3, 4, 5, 0, 1, 2, *[6 + place for place in own]]
    np.testing.assert_allclose(np.concatenate([R @ tau[:3], R @ tau[3:6], tau[6:]]), np.array(drake["tau"])[at],
                               atol=1e-11)


def test_the_values_are_drake_s(folder):
    pytest.importorskip("pydrake", reason="Drake is not installed: its recorded values are compared alone")
    again = record_drake.recorded(folder)
    for name, values in RECORDED.items():
        for call, there in values.items():
            if call != "order":
                np.testing.assert_allclose(again[name][call], there, rtol=1e-6, atol=1e-9)
