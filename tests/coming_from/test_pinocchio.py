"""Every row of the table of Pinocchio's functions runs in both libraries, on Panda and on a machine with a floating
base, and gives the same."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.geometry import motions, rotations, tensors
from cayley.words import calls
from coming_from.rows import all_of, value

ROWS = calls("pinocchio")
GRIPPER = """<robot name="gripper">
  <link name="palm"><inertial><mass value="0.2"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="closing" type="prismatic"><parent link="palm"/><child link="finger"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.1" velocity="1" effort="10"/></joint>
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
</robot>
"""


class Both:
    """A robot in both libraries, with a state of it in the names and the order of each."""

    def __init__(self, path, floating, link, folder):
        self.arm = cy.load(path, floating_base=floating)
        self.model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(
            path)
        self.floating = floating
        random = np.random.default_rng(3)
        q, q1 = (self.arm.random_configuration(seed=seed) for seed in (1, 2))
        qd, qdd, tau, wrench = (random.normal(size=size) for size in (*[self.arm.nv] * 3, 6))
        joint_name = next(joint.name for joint in self.arm.joints if joint.child == link)
        joint = self.model.getJointId(joint_name)
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        forces[joint] = pin.Force(wrench)
        mjcf = folder / "ur3.xml"
        cy.load("ur3").save(mjcf, leave_out=True)
        gripper = folder / "gripper.urdf"
        gripper.write_text(GRIPPER)
        states = [np.array([x, 2 * x]) for x in (qd, qdd)]
        states_q = np.array([q, q1])
        X = np.array(self.arm.pose(q, link))
        given = {"np": np, "path": path, "mjcf": str(mjcf), "joint_name": joint_name, "moon": np.array([0, 0, -1.62]),
                 "point": np.array([0.1, 0.2, 0.3]), "w": np.array([0.3, -0.4, 0.5]), "R": X[:3, :3], "X": X,
                 "t": np.array([0.1, 0.2, 0.3, 0.3, -0.4, 0.5])}
        self.ours = given | all_of(rotations, motions, tensors) | {
            "cy": cy, "arm": self.arm, "q": q, "q1": q1, "qd": qd, "qdd": qdd, "tau": tau, "wrench": wrench,
            "link": link, "long_q": 2 * q, "mounted": cy.load(gripper), "states_q": states_q,
            "states_qd": states[0], "states_qdd": states[1]}
        self.theirs = given | {
            "pin": pin, "pool": pin.ModelPool(self.model, 1), "q": self.their_q(q), "q1": self.their_q(q1),
            "v": self.their_v(qd), "a": self.their_v(qdd), "tau": self.their_v(tau),
            "joint": joint, "frame": self.model.getFrameId("tool"), "forces": forces,
            "long_q": self.their_q(2 * q), "low": -np.ones(self.model.nq), "high": np.ones(self.model.nq),
            "other": pin.buildModelFromUrdf(str(gripper)),
            "states_q": np.array([self.their_q(x) for x in states_q]).T,
            "states_v": np.array([self.their_v(x) for x in states[0]]).T,
            "states_a": np.array([self.their_v(x) for x in states[1]]).T,
            "inertias": np.concatenate([inertia.toDynamicParameters() for inertia in self.model.inertias[1:]])}

    @property
    def places(self):
        """For each velocity here its place there."""
        found = []
        for joint, own in zip(self.arm.joints, self.arm.tree.v_slices, strict=True):
            if own.stop > own.start:
                name = joint.name if self.model.existJointName(joint.name) else "root_joint"
                start = self.model.idx_vs[self.model.getJointId(name)]
                found += range(start, start + own.stop - own.start)
        return found

    @property
    def coordinates(self):
        """For each coordinate here its place there: of a floating base (x, y, z, qw, qx, qy, qz) here, and there (x, y,
        z, qx, qy, qz, qw)."""
        if not self.floating:
            return self.places
        return [0, 1, 2, 6, 3, 4, 5, *[place + 1 for place in self.places[6:]]]

    def their_q(self, q):
        found = np.zeros(self.model.nq)
        found[self.coordinates] = q
        return found

    def their_v(self, v):
        found = np.zeros(self.model.nv)
        found[self.places] = v
        return found

    def brought(self, found, result):
        """A result of theirs, in the order of ours."""
        found = np.asarray(found)
        if result == "configuration":
            return found[self.coordinates]
        if result in ("velocity", "force"):
            return found[..., self.places]
        return found[..., self.places, :][..., self.places] if result == "matrix" else found


@pytest.fixture(scope="module", params=["panda", "crawler"])
def both(request, tmp_path_factory, crawler):
    folder = tmp_path_factory.mktemp("robots")
    if request.param == "crawler":
        return Both(crawler, True, "lower", folder)
    cy.load("panda").save(folder / "panda.urdf")
    return Both(str(folder / "panda.urdf"), False, "panda_link5", folder)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.theirs.split("; ")[-1])
def test_both_give_the_same(both, row):
    if row.robots == "panda" and both.floating:
        return  # the table says so
    model = both.model.copy()
    there = value(row.theirs, both.theirs | {"model": model, "data": model.createData()})
    here = value(row.here, both.ours)
    if row.result != "no value":
        np.testing.assert_allclose(here, both.brought(there, row.result), rtol=1e-9, atol=1e-10)


def test_at_least_sixty_functions_are_named():
    named = {name for row in ROWS for name in row.theirs.replace("(", " ").split() if name.startswith("pin.")}
    assert len(named) >= 60


@pytest.mark.parametrize("floating", [True, False])
@pytest.mark.parametrize("name", ["anymal_b", "anymal_c", "solo12", "a1"])
def test_states_go_over_by_the_names_of_joints_in_whatever_order(name, floating):
    """By places, as docs/start/coming_from/mujoco.md has it, both ways; legs of three of these robots
    are in another order there, and the plain order would give plausible wrong torques."""
    dog = cy.load(name, floating_base=floating, exact_angles=False)  # as Pinocchio reads them
    model = pin.buildModelFromUrdf(dog.tree.source, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(
        dog.tree.source)
    there = pin.Data(model)
    numbers = [dog.tree.joint_number(joint) for joint in list(model.names)[1:]]
    at_q = np.concatenate([np.arange(dog.nq)[dog.tree.q_slices[k]] for k in numbers])
    at_v = np.concatenate([np.arange(dog.nv)[dog.tree.v_slices[k]] for k in numbers])
    q = dog.random_configuration(seed=1)
    qd, qdd = np.random.default_rng(1).normal(size=(2, dog.nv))
    theirs = q[at_q]
    if floating:
        theirs[3:7] = np.roll(theirs[3:7], -1)
    tau = np.empty(dog.nv)
    tau[at_v] = pin.rnea(model, there, theirs, qd[at_v], qdd[at_v])
    scale = np.abs(tau).max()
    np.testing.assert_allclose(dog.inverse_dynamics(q, qd, qdd), tau, rtol=0, atol=1e-12 * scale)
    M = pin.crba(model, there, theirs)
    np.testing.assert_allclose(dog.inertia_matrix(q)[np.ix_(at_v, at_v)], np.triu(M) + np.triu(M, 1).T, atol=1e-11)
    if (at_v != np.arange(dog.nv)).any():
        plain = pin.rnea(model, there, theirs, qd, qdd)
        assert np.abs(plain - tau).max() > 1e-3 * scale
