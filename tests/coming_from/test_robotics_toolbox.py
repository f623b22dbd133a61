"""Every row of the table of the Robotics Toolbox runs on our side: beside closed forms of a planar arm of two joints,
and the values of Puma 560 that the toolbox's own documentation prints. The toolbox itself is not needed."""

from math import pi

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics import operational_space_kernel
from cayley.geometry import motions, rotations
from cayley.words import calls
from coming_from.rows import all_of, value

ROWS = calls("robotics_toolbox")


def planar_pose(angle, x, y):
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    pose[:2, 3] = x, y
    return pose


def closed_forms():
    """Links of 0.5 and 0.4 m, masses of 2 and 1.5 kg at 0.25 and 0.2 m, inertias of 0.05 and 0.03 kg m^2 about them."""
    q, q1, qd, qdd, tau = np.array([[0.3, 0.8], [1.1, -0.4], [0.7, -1.2], [0.5, 2.0], [3.0, 1.0]])
    (a1, a2), (v1, v2) = q, qd
    c1, s1, c2, s2, c12, s12 = np.cos(a1), np.sin(a1), np.cos(a2), np.sin(a2), np.cos(a1 + a2), np.sin(a1 + a2)
    coupling, second = 1.5 * 0.5 * 0.2, 1.5 * 0.2**2 + 0.03
    first = 2 * 0.25**2 + 0.05 + 1.5 * 0.5**2 + second
    M = np.array([[first + 2 * coupling * c2, second + coupling * c2], [second + coupling * c2, second]])
    C = coupling * s2 * np.array([[-v2, -v1 - v2], [v1, 0.0]])
    gravity = 9.81 * np.array([2 * 0.25 * c1 + 1.5 * (0.5 * c1 + 0.2 * c12), 1.5 * 0.2 * c12])
    return locals() | {"x": 0.5 * c1 + 0.4 * c12, "y": 0.5 * s1 + 0.4 * s12}


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Puma 560 as the toolbox has it, in standard Denavit-Hartenberg rows, without its base."""
    path = tmp_path_factory.mktemp("toolbox") / "planar2r.urdf"
    cy.load("planar2r").save(path, leave_out=True)
    forms = closed_forms()
    rows = [(0, 0, 0, pi / 2), (0, 0, 0.4318, 0), (0, 0.15005, 0.0203, -pi / 2), (0, 0.4318, 0, pi / 2),
            (0, 0, 0, -pi / 2), (0, 0, 0, 0)]
    return all_of(rotations, motions) | forms | {
        "np": np, "cy": cy, "pi": pi, "path": path, "arm": cy.load("planar2r"), "T": planar_pose,
        "operational_space_kernel": operational_space_kernel, "W": np.array([1.0, -2.0, 0.0, 0.0, 0.0, 0.5]),
        "puma": cy.Mechanism.from_dh(rows, convention="standard"), "R": rotations.rotation_z(0.7),
        "t": np.linspace(0, 1, 50)[:, None], "pose": planar_pose(sum(forms["q"]), forms["x"], forms["y"]),
        "pose1": planar_pose(0.2, 0.3, 0.4),
        "PUMA": np.array([[0.1501, 0.0144, 0.3197, 0, 0, 0], [0.5963, 0, 0, 0, 0, 0], [0, 0.5963, 0.2910, 0, 0, 0],
                          [0, 0, 0, 0.7071, 0, 1], [0, -1, -1, 0, -1, 0], [1, 0, 0, -0.7071, 0, 0]])}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.theirs)
def test_ours_is_what_the_closed_form_says(names, row):
    assert value(row.result, names | {"found": value(row.here, names)})
