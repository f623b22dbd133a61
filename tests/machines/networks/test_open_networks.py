"""Open networks: terminal equations in closed form, block by block and from body to body, with joints of every kind."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import GeometryError, ModelError, SingularityError, UnsupportedError
from cayley.geometry.tensors.cross import skew
from cayley.machines.networks import OpenNetwork, RigidBody
from cayley.machines.networks.hybrid_solve import (
    centre_operator,
    driven_motion,
    driver_names,
    equations_in_forms,
    inverse_matrix,
    is_passive,
    joint_matrix,
    open_equations,
    solvability,
    tip_matrix,
    weights,
)
from cayley.machines.networks.instant import Attachment, BodyMotion, NetworkJoint, instant, inward, outward
from cayley.machines.networks.open_network import least_motion
from cayley.machines.networks.signal_flow import block_diagram
from cayley.model.joint_kinds import Revolute
from dynamics.robots import ACCEPTED, forces_there, pinocchio_model, robot, state_here
from kinematics.motions import KINDS_AND_MORE, random_state, random_tree
from machines.networks.explicit_blocks import operator_block, tip_block, weight_block

G = np.array([0.3, -0.5, -9.81])
MIXED = np.array([[0.4, 0.15, -0.7, 1.1], [0.5, -0.3, 0.8, -1.2], [1.0, 0.4, -0.6, 0.9]])  # W3-08, W4-06


class FreeBody:
    """A body that moves as it likes, R = Rz(a) Rx(b) with angles and a mass centre that are quadratic in time:
    position, velocity and acceleration in closed form."""

    def __init__(self, random):
        self.angles, self.place = random.normal(size=(3, 2)), random.normal(size=(3, 3))

    def at(self, t):
        (a, b), (da, db), (dda, ddb) = self._quadratic(self.angles, t)
        z, x = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
        Rz = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        Rx = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
        w = da * z + Rz @ (db * x)
        wd = dda * z + Rz @ (ddb * x) + np.cross(da * z, Rz @ (db * x))
        return (Rz @ Rx, w, wd, *self._quadratic(self.place, t))

    @staticmethod
    def _quadratic(c, t):
        return c[0] + c[1] * t + c[2] * t * t, c[1] + 2 * c[2] * t, 2 * c[2]


class FreeChain:
    """A chain whose bodies all move as they like: what acts in it by Newton and Euler, body by body."""

    def __init__(self, m, seed, parents=None):
        random = np.random.default_rng(seed)
        self.parents = parents or list(range(-1, m - 1))
        self.bodies = []
        for j in range(m):
            J = random.normal(size=(3, 3))
            self.bodies.append(RigidBody(f"b{j}", random.uniform(0.5, 3), J @ J.T + 0.1 * np.eye(3), {
                "B": random.normal(size=3), **{f"A{k}": random.normal(size=3) for k in range(m)},
                "tip": random.normal(size=3)}))
        self.free = [FreeBody(random) for _ in range(m)]
        self.load = random.normal(size=6)
        self.at_centres = random.normal(size=(m, 6))
        self.attachments = [Attachment(parent, f"A{j}") for j, parent in enumerate(self.parents)]

    def point(self, j, port, t):
        """Position, velocity and acceleration of a terminal."""
        R, w, wd, p, v, a = self.free[j].at(t)
        r = R @ self.bodies[j].point(port)
        return p + r, v + np.cross(w, r), a + np.cross(wd, r) + np.cross(w, np.cross(w, r))

    def instant(self, t, convention):
        motions = []
        for j, parent in enumerate(self.parents):
            B, vB, _ = self.point(j, "B", t)
            A, vA, _ = self.point(parent, f"A{j}", t) if parent >= 0 else np.zeros((3, 3))
            motions.append(BodyMotion(*self.free[j].at(t)[:2], B - A, vB - vA))
        return instant(self.bodies, ["B"] * len(self.bodies), self.attachments, motions,
                       [Attachment(len(self.bodies) - 1, "tip")], G, convention)

    def joint_motion(self, t, convention):
        """x and its rate, by the points themselves."""
        x, xd = [], []
        for j, parent in enumerate(self.parents):
            B, vB, aB = self.point(j, "B", t)
            _, w, wd, *_ = self.free[j].at(t)
            if parent < 0:
                x.append(np.concatenate([vB, w])), xd.append(np.concatenate([aB, wd]))
                continue
            _, w0, wd0, p0, v0, a0 = self.free[parent].at(t)
            if convention == "relative":
                v = v0 + np.cross(w0, B - p0)
                a = a0 + np.cross(wd0, B - p0) + np.cross(w0, vB - v0)
            else:
                _, v, a = self.point(parent, f"A{j}", t)
            x.append(np.concatenate([vB - v, w - w0])), xd.append(np.concatenate([aB - a, wd - wd0]))
        return np.concatenate(x), np.concatenate(xd)

    def wrenches(self, t, convention, at_centres=True):
        m = len(self.bodies)
        force, moment = [None] * m, [None] * m
        for j in reversed(range(m)):
            R, w, wd, p, _, a = self.free[j].at(t)
            J = R @ self.bodies[j].inertia @ R.T
            f = self.bodies[j].mass * (a - G)
            n = J @ wd + np.cross(w, J @ w)
            if at_centres:
                f, n = f - self.at_centres[j][:3], n - self.at_centres[j][3:]
            if j == m - 1:
                tip = self.point(j, "tip", t)[0]
                f, n = f - self.load[:3], n - self.load[3:] - np.cross(tip - p, self.load[:3])
            for child in range(j + 1, m):
                if self.parents[child] == j:
                    where = self.point(*((child, "B") if convention == "relative" else (j, f"A{child}")), t)[0]
                    f, n = f + force[child], n + moment[child] + np.cross(where - p, force[child])
            B = self.point(j, "B", t)[0]
            force[j], moment[j] = f, n - np.cross(B - p, f)
        return np.concatenate([np.concatenate(pair) for pair in zip(force, moment, strict=True)])


def near(a, b, tolerance):
    return np.abs(a - b).max() <= tolerance * max(np.abs(b).max(), 1)


@pytest.mark.spec("S4-14", "S4-15", "S4-26")
@pytest.mark.parametrize("convention", ["relative", "inertial"])
@pytest.mark.parametrize(("m", "parents"), [(1, None), (2, None), (4, None), (6, [-1, 0, 0, 1, -1, 2])])
def test_six_freedom_joints_by_newton_and_euler(m, parents, convention):
    """W4-09: chains of independent bodies, and a branched network; closed form and recursion; loads at mass centres."""
    chain = FreeChain(m, m, parents)
    for t in (0.0, 0.4):
        network = chain.instant(t, convention)
        x, xd = chain.joint_motion(t, convention)
        equations = open_equations(network)
        for loads in (None, chain.at_centres):
            expected = chain.wrenches(t, convention, loads is not None)
            given = None if loads is None else loads.reshape(-1)
            assert near(equations.wrenches(x, xd, chain.load, given), expected, 1e-12)
            motion = outward(network, list(x.reshape(-1, 6)), list(xd.reshape(-1, 6)))
            assert near(np.concatenate(inward(network, motion, [chain.load], loads)), expected, 1e-12)
        tip = chain.point(m - 1, "tip", t)
        assert near(equations.tip @ x, np.concatenate([tip[1], chain.free[-1].at(t)[1]]), 1e-12)
        there, rate = motion.at(m - 1, network.open[0].arm)
        assert near(there, equations.tip @ x, 1e-13) and near(rate[:3], tip[2], 1e-12)
        centres = np.concatenate([[*chain.free[j].at(t)[4], *chain.free[j].at(t)[1]] for j in range(m)])
        assert near(equations.S @ x, centres, 1e-12) and near(np.concatenate(motion.x), centres, 1e-12)


@pytest.mark.spec("S4-11", "S4-12", "S4-13", "S4-16", "S4-17", "S4-21")
@pytest.mark.parametrize("convention", ["relative", "inertial"])
@pytest.mark.parametrize("parents", [None, [-1, 0, 0, 1, -1]])
def test_matrices_of_a_network(parents, convention):
    """K and its inverse, the printed diagonal blocks that are wrong (E4-06), the blocks of P and Q, P' = Q + Q^T."""
    chain = FreeChain(5, 11, parents)
    network = chain.instant(0.3, convention)
    K = joint_matrix(network)
    S = inverse_matrix(network)
    assert near(S @ K, np.eye(30), 1e-13) and abs(np.linalg.det(K) - 1) < 1e-12
    assert np.abs(S[:6, :6] - np.eye(6)).max() > 0.1  # E4-06
    equations = open_equations(network)
    W_G = centre_operator(network)
    x, xd = chain.joint_motion(0.3, convention)
    motion = outward(network, list(x.reshape(-1, 6)), list(xd.reshape(-1, 6)))
    y = equations.wrenches(x, xd, chain.load)
    left = K.T @ y + tip_matrix(network).T @ chain.load - weights(network)  # (17), (18): x_G kept
    assert near(W_G(np.concatenate(motion.x), np.concatenate(motion.xd)), left, 1e-12)
    assert near(joint_matrix(network) @ np.concatenate(motion.x), x, 1e-12)
    for p in range(5):
        assert near(weight_block(network, p), equations.u[6 * p:6 * p + 6], 1e-13)
        assert near(tip_block(network, network.open[0], p), equations.tip[:, 6 * p:6 * p + 6], 1e-13)
        for q in range(5):
            block = operator_block(network, p, q)
            rows, columns = slice(6 * p, 6 * p + 6), slice(6 * q, 6 * q + 6)
            assert near(block.P, equations.W.P[rows, columns], 1e-12)
            assert near(block.Q, equations.W.Q[rows, columns], 1e-12)
    P, Q = equations.W
    assert near(P, P.T, 1e-15) and np.linalg.eigvalsh(P).min() > 0
    h = 1e-3
    c = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    P_rate = sum(c[k] * open_equations(chain.instant(0.3 + (k - 4) * h, convention)).W.P for k in range(9))
    assert near(P_rate, Q + Q.T, 1e-10) and is_passive(P, Q, Q + Q.T)


@pytest.mark.spec("S4-19")
def test_rates_of_vectors_and_the_omission_rule():
    """R' = W R - R W; the part that ends in W w vanishes for the product Q x, not for the blocks, and not for P'."""
    chain = FreeChain(3, 4)
    network = chain.instant(0.2, "inertial")
    x, _ = chain.joint_motion(0.2, "inertial")
    full = open_equations(network).W
    R = skew(network.inner[1].r)
    turn = skew(network.turning[1])
    assert near(turn @ R - R @ turn, skew(network.inner[1].rate), 1e-14)
    w = network.turning[1]
    assert np.abs(turn @ w).max() < 1e-15

    def rate(j, r):
        """(R')^T = W R^T - R^T W without the part that ends in W."""
        return skew(network.turning[j]) @ skew(r).T

    X = [[None] * 3 for _ in range(3)]
    for p in range(3):
        for q in range(p + 1):
            total = rate(p, -network.inner[p].r)
            for k in range(q, p):
                total = total + rate(k, network.carrying[k + 1].r - network.inner[k].r)
            X[p][q] = total
    S = inverse_matrix(network)
    Sd = np.zeros((18, 18))
    for p in range(3):
        for q in range(p + 1):
            Sd[6 * p:6 * p + 3, 6 * q + 3:6 * q + 6] = X[p][q]
    short = centre_operator(network).through(S, Sd)
    assert near(short.Q @ x, full.Q @ x, 1e-12)  # on the motion itself
    assert np.abs(short.Q - full.Q).max() > 0.1  # but not block by block
    P_rate = full.Q + full.Q.T
    assert np.abs(short.Q + short.Q.T - P_rate).max() > 0.1


@pytest.mark.spec("S4-18", "S4-20", "S4-24")
def test_mixed_chain_in_both_conventions():
    """W4-06: the arm of W3-08; the two conventions differ by the lever xi x f in the moment of the first joint."""
    tree = cy.load("s3_w08").tree
    loads = np.zeros((0, 6))
    found = {}
    for convention in ("relative", "inertial"):
        arm = OpenNetwork.of(tree, convention=convention)
        arm = OpenNetwork(arm.name, arm.bodies, arm.joints, arm.attachments, {}, arm.gravity, convention)
        found[convention] = arm.wrenches(*MIXED, loads)
        assert np.abs(arm.inverse_dynamics(*MIXED, loads) - [0.5322560903, -0.6038819870, 2.1908408705, 0.2702896202]
                      ).max() < 1e-9
        M = arm.reduced(*MIXED[:2])[0]
        assert np.abs(M - cy.load("s3_w08").inertia_matrix(MIXED[0])).max() < 1e-14
        P = arm.terminal_equations(*MIXED[:2])[0]
        assert abs(np.trace(P) - {"relative": 49.0114255299, "inertial": 48.0118193634}[convention]) < 1e-9
        assert abs(np.linalg.eigvalsh(P).min() - 0.00288692) < 1e-8
    expected = [[-0.4453180305, 0.6139300019, 71.5595980246, -12.1742806187, -19.9364412929, 0.5322560903],
                [-0.3029431074, 0.5275550560, 42.1295980246, -1.3546294686, -9.2038942825, 0.4489242041],
                [-0.6005471416, 0.9110384235, 22.5095980246, -2.3880816477, -3.5623069440, 0.1176166170],
                [-0.3179403387, 0.6520876845, 7.8391342447, -0.6429255541, -0.1647172674, -0.0105801928]]
    assert np.abs(found["relative"] - expected).max() < 1e-9
    assert np.abs(found["inertial"][1:] - expected[1:]).max() < 1e-9
    assert np.abs(found["inertial"][0] - [*expected[0][:3], -6.3536912037, -17.4755355592, 0.5432945100]).max() < 1e-9
    arm = OpenNetwork.of(tree)
    network = arm.instant(*MIXED[:2])
    xi = network.carrying[1].r - network.axes[0] @ arm.bodies[0].point("A joint2")
    difference = found["inertial"][0, 3:] - found["relative"][0, 3:]
    assert np.abs(difference + np.cross(xi, found["relative"][1, :3])).max() < 1e-12


@pytest.mark.spec("S4-36")
@pytest.mark.parametrize("forms", ["GGGG", "BBBB", "AAAB", "BAGA", "GBAG"])
def test_forms_of_bodies_may_be_mixed(forms):
    arm = OpenNetwork.of(cy.load("s3_w08").tree, ["tool"])
    network = arm.instant(*MIXED[:2])
    expected = open_equations(network)
    found = equations_in_forms(network, forms)
    for ours, theirs in ((found.W.P, expected.W.P), (found.W.Q, expected.W.Q), (found.S, expected.S),
                         (found.tip, expected.tip), (found.u, expected.u)):
        assert near(ours, theirs, 1e-13)
    with pytest.raises(ModelError, match="the form of body 2 is 'X'"):
        equations_in_forms(network, "GXGG")
    with pytest.raises(ModelError, match="4 bodies need as many forms, not 3"):
        equations_in_forms(network, "GGG")
    with pytest.raises(ModelError, match="body 4 has no outer terminal"):
        equations_in_forms(network._replace(open=[]), "GGGA")


@pytest.mark.spec("S4-20", "S4-21", "S4-22", "S4-23", "S4-24")
@pytest.mark.parametrize("kind", KINDS_AND_MORE)
def test_joints_of_every_kind_in_branches(kind):
    """Forces, mass matrix, Jacobian and the way back, beside the mechanism's own; reactions, all six of each joint."""
    arm = random_tree(3, "revolute", kind, "prismatic", kind, "revolute")
    q, qd, qdd = random_state(arm.tree, 5)
    frame = arm.tree.frames[0].name if arm.tree.frames else arm.tree.bodies[-1].name
    loads = np.random.default_rng(2).normal(size=(1, 6))
    for convention in ("relative", "inertial"):
        network = OpenNetwork.of(arm.tree, [frame], convention=convention)
        tau = network.inverse_dynamics.reference(q, qd, qdd, loads)
        J = arm.jacobian(q, frame, axes="world")
        expected = arm.inverse_dynamics(q, qd, qdd) - J.T @ loads[0]
        assert near(tau, expected, 1e-12)
        M, h, gravity, jacobian = network.reduced.reference(q, qd)
        assert near(M, arm.inertia_matrix(q), 1e-12) and near(jacobian, J, 1e-12)
        assert near(h + gravity, arm.inverse_dynamics(q, qd, 0 * qd), 1e-12)
        assert near(network.tip_motion.reference(q, qd)[0], J @ qd, 1e-12)
        assert near(network.forward_dynamics.reference(q, qd, tau, loads), qdd, 1e-10)
        assert abs(network.power_balance(q, qd, qdd, loads).residual) < 1e-10
    y = OpenNetwork.of(arm.tree, [frame]).wrenches.reference(q, qd, qdd, 0 * loads)
    moving = [k for k, joint in enumerate(arm.tree.joints) if joint.motion.nv]
    own = arm.joint_reactions(q, qd, qdd)
    R = OpenNetwork.of(arm.tree).instant(q, qd).axes
    for row, k in enumerate(moving):
        turned = np.concatenate([R[k].T @ y[k][:3], R[k].T @ y[k][3:]])
        assert near(turned, own[row], 1e-11)


@pytest.mark.parametrize("name", [name for name in ACCEPTED if "talos" not in name][::4])
def test_robots_of_files_agree_with_pinocchio(name):
    tree, model = robot(name, True), pinocchio_model(name, True)
    q, v, a = (each[0] for each in state_here(tree, 1))
    theirs = forces_there(tree, model, q, v, a)
    network = OpenNetwork.of(tree, [tree.bodies[-1].name])
    assert near(network.inverse_dynamics.reference(q, v, a, np.zeros((1, 6))), theirs, 1e-11)


CATALOGUE = ["iiwa14", "panda", "planar2r", "planar3r", "puma560", "stanford", "ur3", "ur5", "ur10"]


@pytest.mark.parametrize("name", CATALOGUE)
def test_robots_of_the_catalogue_agree_with_pinocchio(name):
    """Torques and all reactions, from another model of the same bodies."""
    tree = cy.load(name).tree
    model = pin.Model()
    model.gravity.linear = np.array(tree.gravity)
    numbers = {tree.bodies[0].name: 0}
    for joint, body in zip(tree.joints, tree.bodies[1:], strict=True):
        kind = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}
        placement = pin.SE3(np.array(joint.placement))
        number = model.addJoint(numbers[joint.parent], kind[joint.motion.word](np.array(joint.motion.axis)), placement,
                                joint.name)
        model.appendBodyToJoint(number, pin.Inertia(body.mass or 0.0, np.array(body.center), np.array(body.inertia)),
                                pin.SE3.Identity())
        numbers[body.name] = number
    data = model.createData()
    random = np.random.default_rng(4)
    q, v, a = random.normal(size=(3, tree.nv))
    tau = pin.rnea(model, data, q, v, a)
    pin.forwardKinematics(model, data, q)
    network = OpenNetwork.of(tree)
    assert near(network.inverse_dynamics.reference(q, v, a, np.zeros((len(network.open), 6))), tau, 1e-11)
    y = network.wrenches.reference(q, v, a, np.zeros((len(network.open), 6)))
    for k in range(len(tree.joints)):
        R = data.oMi[k + 1].rotation
        theirs = np.concatenate([R @ data.f[k + 1].linear, R @ data.f[k + 1].angular])
        assert near(y[k], theirs, 1e-11)


@pytest.mark.spec("S4-25")
def test_least_motion_of_a_redundant_arm():
    """W4-08: two rows leave a choice, three do not; a weight chooses otherwise; six-freedom joints."""
    from cayley.machines.networks.planar_rods import planar_arm
    arm = planar_arm([2.0, 1.5, 0.8], [0.5, 0.4, 0.3])
    q = np.array([0.3, -0.5, 0.8])
    tip = [-0.316741591462, 0.798616718797]
    found = arm.joint_rates(q, tip, rows=[0, 1])
    assert np.abs(found.velocities - [0.522878647732, -0.131670565563, 1.206082358815]).max() < 1e-11
    assert found.status == "many" and abs(np.linalg.norm(found.velocities) - 1.3211259873) < 1e-9
    unique = arm.joint_rates(q, [*tip, 1.4], rows=[0, 1, 5])
    assert np.abs(unique.velocities - [0.7, -0.4, 1.1]).max() < 1e-9 and unique.status == "one"
    random = np.random.default_rng(0)
    L = random.normal(size=(3, 3))
    W = L @ L.T + np.eye(3)
    heavy = arm.joint_rates(q, tip, rows=[0, 1], weight=W).velocities
    A = arm.reduced(q, np.zeros(3))[3][:2]
    Wi = np.linalg.inv(W)
    assert np.abs(heavy - Wi @ A.T @ np.linalg.solve(A @ Wi @ A.T, tip)).max() < 1e-12
    assert np.abs(A @ heavy - tip).max() < 1e-14
    free = FreeChain(3, 8).instant(0.1, "relative")
    A = open_equations(free).tip
    x = random.normal(size=6)
    assert near(least_motion(A, x).velocities, np.linalg.pinv(A) @ x, 1e-12)
    with pytest.raises(GeometryError, match="positive definite"):
        least_motion(A[:, :2], x, weight=[1.0, -1.0])
    with pytest.raises(GeometryError, match=r"symmetric matrix \(2, 2\)"):
        least_motion(A[:, :2], x, weight=[1.0])


@pytest.mark.spec("S4-34")
def test_any_solvable_mix_of_motions_and_wrenches():
    """All wrenches given, then any solvable set of motions of the answer fed back: the same wrenches come out."""
    chain = FreeChain(3, 21)
    network = chain.instant(0.3, "relative")
    x_G = np.array([[*chain.free[j].at(0.3)[4], *chain.free[j].at(0.3)[1]] for j in range(3)])
    random = np.random.default_rng(1)
    names = driver_names(network)
    assert names == ["1", "2", "3", "1'", "2'", "3'", "tip 1"]
    through = {name: random.normal(size=6) for name in names}
    free = driven_motion(network, x_G, {}, through)
    solved = 0
    for bits in range(1, 2**7):
        across = {name for k, name in enumerate(names) if bits >> k & 1}
        given = {name: free.across_rates[name] for name in across}
        rest = {name: value for name, value in through.items() if name not in across}
        if not solvability(network, across).solvable:
            with pytest.raises(SingularityError, match="leave no single answer"):
                driven_motion(network, x_G, given, rest)
            continue
        solved += 1
        found = driven_motion(network, x_G, given, rest)
        assert max(np.abs(found.through[name] - through[name]).max() for name in names) < 1e-10
        assert near(found.centres, free.centres, 1e-10)
    assert solved == 47  # of 48, the one without any motion given being `free`
    x = chain.joint_motion(0.3, "relative")[0]
    received = sum(free.through[f"{j + 1}"] @ x[6 * j:6 * j + 6] for j in range(3))
    tip = open_equations(network).tip @ x
    received += tip @ free.through["tip 1"] + sum(x_G[j] @ free.through[f"{j + 1}'"] for j in range(3))
    stored = sum(x_G[j] @ (network.W(j)(x_G[j], free.centres[j]) + network.u(j)) for j in range(3))
    assert abs(received - stored) < 1e-10
    with pytest.raises(ModelError, match="there is no driver '4'"):
        driven_motion(network, x_G, {"4": np.zeros(6)}, {})
    with pytest.raises(ModelError, match="driver '1' cannot have its motion and its wrench given"):
        driven_motion(network, x_G, {"1": np.zeros(6)}, {"1": np.zeros(6)})


@pytest.mark.spec("S4-27")
def test_the_block_diagram_is_the_recursion():
    arm = random_tree(2, "revolute", "prismatic", "revolute", "spherical")
    q, qd, qdd = random_state(arm.tree, 1)
    network = OpenNetwork.of(arm.tree, [arm.tree.bodies[-1].name])
    x, xd = network.joint_motion(q, qd, qdd)
    load = np.random.default_rng(0).normal(size=(1, 6))
    diagram = block_diagram(network.instant(q, qd), "arm")
    names = [f"x{k + 1}" for k in range(network.size)]
    signals = diagram.evaluate(dict(zip(names, x.reshape(-1, 6), strict=True)) | {"y tip 1": load[0]},
                               dict(zip(names, xd.reshape(-1, 6), strict=True)))
    for k, y in enumerate(network.wrenches.reference(q, qd, qdd, load)):
        assert near(signals[f"y{k + 1}"], y, 1e-13)
    assert near(signals["x tip 1"], network.tip_motion.reference(q, qd)[0], 1e-13)
    kinds = [block.kind for block in diagram.blocks]
    assert kinds.count("derivative") == network.size  # W_G expanded: d/dt, P, Q and u of every body
    with pytest.raises(ModelError, match="the input 'x1' of the diagram of arm is missing"):
        diagram.evaluate({}, {})
    with pytest.raises(ModelError, match="needs the rate of 'xG"):
        diagram.evaluate(dict(zip(names, x.reshape(-1, 6), strict=True)) | {"y tip 1": load[0]}, {})


def test_the_diagram_is_drawn(tmp_path):
    from cayley.machines.networks.signal_flow import draw_block_diagram
    network = OpenNetwork.of(cy.load("planar2r").tree)
    figure = draw_block_diagram(block_diagram(network.instant(np.zeros(2), np.zeros(2)), "planar2r"))
    figure.savefig(tmp_path / "diagram.svg")
    assert "svg" in (tmp_path / "diagram.svg").read_text()
    written = {text.get_text() for text in figure.axes[0].texts}
    assert {"d/dt", "P1", "Q2", "u2", "x1", "y1"} <= written


def test_a_network_is_a_mechanism_again():
    for name in ("puma560", "stanford", "ur5"):
        arm = cy.load(name)
        again = cy.Mechanism(OpenNetwork.of(arm.tree, ["tool"]).tree())
        q, qd, qdd = np.random.default_rng(0).normal(size=(3, arm.nv))
        assert near(again.inverse_dynamics(q, qd, qdd), arm.inverse_dynamics(q, qd, qdd), 1e-12)
        assert near(again.pose(q, "tool")[:3, 3], arm.pose(q, "tool")[:3, 3], 1e-14)


@pytest.mark.parametrize(("wrong", "error", "words"), [
    (lambda: OpenNetwork.of(cy.load("four_bar").tree), UnsupportedError, "loop 'closing'|loop"),
    (lambda: OpenNetwork.of(cy.load("scara").tree), ModelError, "need the mass of 'link1'"),
    (lambda: OpenNetwork.of(cy.load("panda").including("armature").tree), UnsupportedError, "has no armature"),
    (lambda: OpenNetwork.of(cy.load("panda").tree, ["nothing"]), ModelError, "nothing"),
    (lambda: OpenNetwork.of(cy.load("puma560").tree, [cy.load("puma560").tree.bodies[0].name]), ModelError,
     "on the reference itself"),
    (lambda: OpenNetwork.chain("none", [], []), ModelError, "has no bodies"),
    (lambda: OpenNetwork.chain("rod", [RigidBody("rod", 1.0, np.eye(3), {"A": [1, 0, 0]})],
                               [NetworkJoint(Revolute(), np.eye(3))]), ModelError, "'rod' has no port 'B'")])
def test_what_is_no_open_network_is_refused(wrong, error, words):
    with pytest.raises(error, match=words):
        wrong()


def test_joints_that_move_no_mass_are_named():
    """One state is refused by the name of the joint, a batch has NaN, and the inverse dynamics are as they are."""
    bodies = [RigidBody("heavy", 1.0, np.eye(3), {"B": [-0.5, 0, 0], "A": [0.5, 0, 0]}),
              RigidBody("bare", 0.0, np.zeros((3, 3)), {"B": [0, 0, 0], "A": [1.0, 0, 0]})]
    network = OpenNetwork.chain("bare", bodies, [NetworkJoint(Revolute(), np.eye(3))] * 2)
    zero = np.zeros(2)
    with pytest.raises(SingularityError, match="a motion of joint 'joint2' moves no mass"):
        network.forward_dynamics(zero, zero, zero, np.zeros((1, 6)))
    many = network.forward_dynamics(np.zeros((3, 2)), zero, zero, np.zeros((1, 6)))
    assert many.shape == (3, 2) and np.isnan(many).all()
    assert np.isfinite(network.inverse_dynamics(zero, zero, np.ones(2), np.zeros((1, 6)))).all()
    with pytest.raises(SingularityError, match="moves no mass"):
        network.system().simulate({"q": zero, "qd": zero}, until=0.1)
