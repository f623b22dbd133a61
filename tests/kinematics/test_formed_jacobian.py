"""Jacobians formed in one frame and referred to another: adjoints of the Jacobian in vector-parameters, Pinocchio, and
Table 2 beside the counts of programs.
"""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.dynamics.accounting import table_2
from cayley.errors import CayleyError, ConventionError
from cayley.geometry.rotations.costs import jacobian_claims
from cayley.kinematics.jacobians.formed_jacobian import formed_jacobian
from cayley.kinematics.jacobians.vector_parameter_chain import joint_pairs, pair_rate_map, vector_parameter_jacobian
from cayley.model.joint_kinds import Floating, Helical, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Joint
from dynamics.chains import random_chain, random_state
from kinematics.pinocchio_trees import PinocchioTree
from model.random_trees import random_pose

pytestmark = pytest.mark.spec("S0-76")
WAYS = ("matrices", "vector-parameters")


def close(found, expected, tolerance=1e-12):
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def moved(J, R, r):
    """Twists at one point in the root's axes as twists at a point farther by r, in axes R: an adjoint."""
    w = J[3:]
    v = J[:3] + np.cross(w.T, r).T
    return np.concatenate([R.T @ v, R.T @ w])


def seen(tree, q, name, own):
    return np.eye(4) if name == "world" else cy.Mechanism(tree).pose.of(own if name == "body" else name).reference(q)


@pytest.mark.parametrize("pattern", ["RPR", "PRRPR", "RRRRRR"])
def test_they_are_adjoints_of_one_jacobian(pattern):
    """Every pair of root, end, the frame in the middle and the first: J_V dc/dq moved and turned, and Pinocchio's."""
    tree = random_chain(pattern, 1, frames="any")
    q, (middle, first) = random_state(tree, 2)[0], (f"link{len(pattern) // 2}", "link1")
    pairs = joint_pairs(tree, q, "tool")
    J = vector_parameter_jacobian(tree, *pairs, "tool") @ pair_rate_map(tree, q, "tool")  # S0-26
    end = seen(tree, q, "body", "tool")
    here = PinocchioTree.of(tree)
    data = here.model.createData()
    pin.computeJointJacobians(here.model, data, here.q(q))
    pin.updateFramePlacements(here.model, data)
    close(J, pin.getFrameJacobian(here.model, data, here.frames["tool"], pin.ReferenceFrame.LOCAL_WORLD_ALIGNED))
    for i in ("world", "body", middle, first):
        for j in ("world", "body", middle, first):
            at, axes = (seen(tree, q, name, "tool") for name in (i, j))
            wanted = moved(J, axes[:3, :3], at[:3, 3] - end[:3, 3])
            for by in WAYS:
                close(formed_jacobian(tree, q, "tool", formed_in=i, referred_to=j, by=by), wanted)
    own = pin.getFrameJacobian(here.model, data, here.frames["tool"], pin.ReferenceFrame.LOCAL)
    close(formed_jacobian(tree, q, "tool", formed_in="body", referred_to="body", by="vector-parameters"), own)


def test_trees_with_joints_of_other_kinds():
    """Frames on another branch, a ball and a floating base; half-turns of joints cost no digits."""
    random = np.random.default_rng(3)
    kinds = {"trunk": ("world", Floating()), "neck": ("trunk", Spherical()),
             "arm": ("trunk", Revolute((0.0, 0.6, 0.8))), "hand": ("arm", Helical((1.0, 0.0, 0.0), 0.2)),
             "rail": ("neck", Prismatic((0.6, 0.8, 0.0)))}
    tree = cy.Mechanism.of("branched", [Body("world"), *[Body(name) for name in kinds]],
                           [Joint(f"to {name}", parent, name, kind, random_pose(random))
                            for name, (parent, kind) in kinds.items()])
    q, qd = tree.random_configuration(seed=4), random.normal(size=tree.nv)
    q[tree.tree.q_slices[tree.tree.joint_number("to arm")]] = np.pi
    for frame, i, j in (("hand", "rail", "neck"), ("hand", "body", "rail"), ("rail", "hand", "hand"),
                        ("neck", "world", "arm"), ("world", "arm", "arm"), ("hand", "trunk", "trunk")):
        at, axes, own = (seen(tree.tree, q, name, frame) for name in (i, j, "body"))
        twist = tree.twist.of(frame, axes="world").reference(q, qd)
        wanted = moved(twist[:, None], axes[:3, :3], at[:3, 3] - own[:3, 3])[:, 0]
        for by in WAYS:
            close(formed_jacobian(tree.tree, q, frame, formed_in=i, referred_to=j, by=by) @ qd, wanted)


@pytest.mark.parametrize("angle", [np.pi, -np.pi, np.nextafter(np.pi, 0), 0.0])
def test_half_turns(angle):
    arm = cy.load("panda")
    q = np.full(7, angle)
    args = {"formed_in": "panda_link3", "referred_to": "panda_link3"}
    close(formed_jacobian(arm.tree, q, "tool", by="vector-parameters", **args),
          formed_jacobian(arm.tree, q, "tool", by="matrices", **args), 1e-14)


def test_from_the_mechanism():
    """The kernels: compiled, in batches, and the cheap text behind `jacobian` in the axes of a frame on the way."""
    arm = cy.load("puma560")
    q = np.random.default_rng(5).normal(size=(4, 6))
    by = arm.formulations.formed_jacobian(q, "tool", formed_in="link3", referred_to="link3", by="vector-parameters")
    close(by, arm.jacobian(q, "tool", axes="link3", at="link3"), 1e-14)
    assert arm.jacobian.of("tool", axes="link3", at="link3").operations().multiplications < 40
    bar = cy.load("four_bar")  # of the coordinates of its tree, as `jacobian` is
    close(bar.formulations.formed_jacobian(np.zeros(3), "rocker", formed_in="coupler", referred_to="world"),
          bar.jacobian(np.zeros(3), "rocker", axes="world", at="coupler"), 1e-14)
    with pytest.raises(ConventionError, match="quaternions"):
        arm.formulations.formed_jacobian(q, "tool", formed_in="world", referred_to="world", by="quaternions")
    with pytest.raises(CayleyError, match="link9"):
        arm.formulations.formed_jacobian(q, "tool", formed_in="link9", referred_to="world")
    assert formed_jacobian(arm.tree, q[0], "base", formed_in="body", referred_to="tool", by="matrices").any() == 0


def test_counts_beside_table_2():
    """What is claimed stands beside what is compiled for the same frames. The middle frame is the cheapest in both;
    vector-parameters cost more than matrices here, whatever is claimed."""
    table = table_2(6)
    claims = {claim.method: claim for claim in jacobian_claims(6)}
    counted = {}
    for method, claim in claims.items():
        assert table.figures(method, "by matrices")(6) == (claim.matrices.multiplications, claim.matrices.additions)
        counted[method] = [table.figures(method, f"{way}, counted")(6) for way in WAYS]
    for way in (0, 1):
        assert min(counted, key=lambda method: sum(counted[method][way])) == "Renaud"
    assert min(claims, key=lambda method: claims[method].matrices.multiplications) == "Renaud"
    assert min(claims, key=lambda method: claims[method].vector_parameters.multiplications) == "Renaud"
    assert all(by_matrices[0] < by_parameters[0] for by_matrices, by_parameters in counted.values())
    assert counted["Renaud"][0] == (108, 65)
