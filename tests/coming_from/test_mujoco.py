"""Every row of the table of MuJoCo's functions runs in both libraries, on an arm and on a machine with a free joint,
and gives the same.

The velocity of a free joint is (v in the world; w in the body) there, and (v; w) in the body here: their velocities are
T times ours, their forces T^-T, their accelerations T times ours and what the turning of the axes adds."""

import mujoco
import numpy as np
import pytest

import cayley as cy
from cayley.geometry import rotations
from cayley.words import calls
from coming_from.rows import all_of, value

ROWS = calls("mujoco")
MJCF = """<mujoco model="{name}"><compiler angle="radian"/>
<option gravity="0 0 -9.81" timestep="0.001" integrator="{integrator}">
  <flag contact="disable"/></option>
<worldbody><body name="trunk" pos="0 0 0">{joint}
  <inertial pos="0.02 0 0.05" mass="4" diaginertia="0.05 0.07 0.06"/>
  <body name="upper" pos="0.3 0.1 0.1" euler="0.2 0 0.4"><joint name="slide" type="slide" axis="1 0 0" range="-1 1"/>
    <inertial pos="0.1 0 0.02" mass="1.2" diaginertia="0.01 0.02 0.02"/>
    <body name="forearm" pos="0.2 0 0"><joint name="elbow" axis="0 0.6 0.8" range="-2 2"/>
      <inertial pos="0.1 0.02 0" quat="0.8 0.6 0 0" mass="0.8" diaginertia="0.004 0.01 0.009"/>
      <site name="tool" pos="0.25 0 0.03" euler="0.1 0.2 0.3"/><site name="center" pos="0.1 0.02 0"/>
    </body></body></body></worldbody></mujoco>"""
JOINTS = {"arm": '<joint name="turn" axis="0 0 1" range="-3 3"/>', "floating": '<freejoint name="base"/>'}


class Both:
    """A machine in both, with a state of it."""

    def __init__(self, kind, folder):
        self.kind = kind
        self.path = str(folder / f"{kind}.xml")
        text = MJCF.format(name=kind, joint=JOINTS[kind], integrator="Euler")
        (folder / f"{kind}.xml").write_text(text)
        self.arm = cy.load(self.path)
        self.model = mujoco.MjModel.from_xml_path(self.path)
        self.rk4 = mujoco.MjModel.from_xml_string(text.replace("Euler", "RK4"))
        random = np.random.default_rng(5)
        self.q, q1 = (self.arm.random_configuration(seed=seed) for seed in (1, 2))
        self.qd, qdd, tau = random.normal(size=(3, self.arm.nv))
        wrench, point = random.normal(size=6), np.array([0.1, 0.2, 0.3])
        quats = rotations.normalize_quaternion(random.normal(size=(2, 4)))
        quats *= np.sign(quats[:, :1])  # of the two that are one rotation, the one with w > 0
        given = {"np": np, "path": self.path, "wrench": wrench, "quat": quats[0], "quat1": quats[1], "point": point,
                 "axis": np.array([0.6, 0.0, 0.8]), "matrix": rotations.matrix_from_quaternion(quats[0])}
        self.ours = all_of(rotations) | given | {
            "cy": cy, "arm": self.arm, "q": self.q, "q1": q1, "qd": self.qd, "qdd": qdd, "tau": tau}
        place = self.arm.point(self.q, point, "forearm")
        self.theirs = given | {
            "mujoco": mujoco, "m": self.model, "rk4": self.rk4, "qpos1": q1, "qacc": self.their_acceleration(qdd),
            "tau": np.linalg.solve(self.T.T, tau), "site": self.model.site("tool").id,
            "body": self.model.body("forearm").id, "place": place}

    @property
    def T(self):
        found = np.eye(self.arm.nv)
        if self.kind == "floating":
            found[:3, :3] = rotations.matrix_from_quaternion(self.q[3:7])
        return found

    def their_acceleration(self, qdd):
        there = self.T @ qdd
        if self.kind == "floating":
            there[:3] += self.T[:3, :3] @ np.cross(self.qd[3:6], self.qd[:3])
        return there

    def data(self):
        data = mujoco.MjData(self.model)
        data.qpos, data.qvel = self.q, self.T @ self.qd
        return data

    def brought(self, found, result):
        if result == "velocity":
            return np.linalg.solve(self.T, found)
        if result == "force":
            return found @ self.T
        if result == "matrix":
            return self.T.T @ found @ self.T
        return found


@pytest.fixture(scope="module", params=JOINTS)
def both(request, tmp_path_factory):
    return Both(request.param, tmp_path_factory.mktemp("mujoco"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.theirs.split("mujoco.")[-1])
def test_both_give_the_same(both, row):
    if row.robots == "arm" and both.kind == "floating":
        return  # the table says so
    there = value(row.theirs, both.theirs | {"d": both.data()})
    here = value(row.here, both.ours)
    if row.result == "acceleration":
        here = both.their_acceleration(here)
    if row.result != "no value":
        np.testing.assert_allclose(here, both.brought(there, row.result), rtol=1e-8, atol=1e-9)


def test_bias_of_a_free_joint_is_that_of_other_coordinates(both):
    """What the table leaves out of a floating base: forces at qdd = 0 here are those at T' qd there."""
    data = both.data()
    data.qacc = both.their_acceleration(np.zeros(both.arm.nv))
    mujoco.mj_inverse(both.model, data)
    np.testing.assert_allclose(both.arm.bias_forces(both.q, both.qd), data.qfrc_inverse @ both.T, rtol=1e-9, atol=1e-9)


def test_at_least_thirty_functions_are_named():
    assert len({name.split("(")[0] for row in ROWS for name in row.theirs.split() if name.startswith("mujoco.")}) >= 30
