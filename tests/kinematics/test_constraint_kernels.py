"""Residual, Jacobian and drift of constraints: every kind of joint in a loop, rods, couplings, mimic joints."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import GeometryError, ModelError, UnsupportedError
from cayley.model.constraint_kinds import Coupling, Polynomial, Rod
from cayley.model.joint_kinds import (
    Curvilinear,
    Cylindrical,
    Floating,
    Helical,
    JointKind,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from cayley.model.parts import Body, Frame, Joint, Loop, Mimic

OBLIQUE = (0.6, 0.0, 0.8)
KINDS = {
    "fixed": JointKind(),
    "revolute": Revolute(OBLIQUE), "prismatic": Prismatic(OBLIQUE), "helical": Helical(OBLIQUE, 0.3),
    "cylindrical": Cylindrical(OBLIQUE), "planar": Planar(OBLIQUE), "universal": Universal(OBLIQUE, (0.0, 1.0, 0.0)),
    "skew universal": Universal(OBLIQUE, (0.0, 0.6, 0.8)), "spherical": Spherical(), "floating": Floating(),
    "curvilinear": Curvilinear((0.1, 0.3, 0.2), (0.2, -0.7), (0.0, 0.1, 0.0, 0.4))}


def some_pose(random):
    return np.asarray(cy.geometry.motions.pose_from_twist(random.uniform(-0.7, 0.7, 6)))


def pose_of(motion, s):
    R, p = motion.pose(s)
    return np.block([[np.asarray(R, dtype=float), np.asarray(p, dtype=float)[:, None]], [np.zeros((1, 3)), 1.0]])


def ring(motion, seed=0):
    """A ring of joints of many kinds on a floating base, closed by a motion; a closed configuration, and where the
    closing joint is then."""
    random = np.random.default_rng(seed)
    chains = [[Spherical(), Universal()], [Floating(), Revolute(), Curvilinear((0.0, 1.0), (0.0, 0.2, 0.5))]]
    bodies = [Body("ground"), Body("base", 1.0, inertia=np.eye(3) / 50)]
    joints = [Joint("float", "ground", "base", Floating())]
    for side, kinds in enumerate(chains):
        parent = "base"
        for k, kind in enumerate(kinds):
            bodies.append(Body(f"{side}{k}", 1.0, random.normal(size=3) / 10, np.eye(3) / 50))
            joints.append(Joint(f"joint {side}{k}", parent, f"{side}{k}", kind, some_pose(random)))
            parent = f"{side}{k}"
    frames = [Frame("first", "01", some_pose(random))]
    tree = cy.Mechanism.of("ring", bodies, joints, frames=frames)
    q = np.asarray(tree.integrate(tree.neutral, random.uniform(-0.8, 0.8, tree.nv)))
    s = np.asarray(motion.step(motion.neutral, random.uniform(-0.8, 0.8, motion.nv)))
    second = np.linalg.inv(tree.pose(q, "12")) @ tree.pose(q, "first") @ pose_of(motion, s)
    made = cy.Mechanism.of("ring", bodies, joints, frames=[*frames, Frame("second", "12", second)],
                           loops=[Loop("loop", "first", "second", motion)])
    return made, q, s


def by_differences(function, arm, q, qd, step=1e-5):
    ahead, behind = (function(arm.integrate(q, sign * step * qd)) for sign in (1, -1))
    return (ahead - behind) / (2 * step)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_closing_joint_are_what_it_holds_and_their_rates(kind):
    motion = KINDS[kind]
    arm, q, s = ring(motion)
    random = np.random.default_rng(1)
    qd = random.normal(size=arm.nv)
    A = arm.loops.jacobian(q)
    assert A.shape == (6 - motion.nv, arm.nv) and len(arm.loops.rows) == len(A)
    np.testing.assert_allclose(arm.loops.residual(q), 0.0, atol=1e-14)
    # the same velocities are allowed as by the directions of the joint
    relative = arm.jacobian(q, "second", axes="body", relative_to="first")
    S = np.asarray(motion.subspace(s), dtype=float)
    free = relative - S @ np.linalg.pinv(S) @ relative
    rank = np.linalg.matrix_rank
    assert rank(A, tol=1e-9) == rank(free, tol=1e-9) == rank(np.concatenate([A, free]), tol=1e-9) == 6 - motion.nv
    np.testing.assert_allclose(A @ qd, by_differences(arm.loops.residual, arm, q, qd), atol=1e-8)
    np.testing.assert_allclose(arm.loops.drift(q, qd),
                               by_differences(lambda x: arm.loops.jacobian(x) @ qd, arm, q, qd), atol=1e-7)
    np.testing.assert_array_equal(A[:, :6], 0.0)  # the base carries the whole ring


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "helical"])
def test_rates_are_exact_where_loops_are_open_too(kind):
    arm, q, _ = ring(KINDS[kind])
    random = np.random.default_rng(2)
    q = arm.integrate(q, random.normal(size=arm.nv))
    qd = random.normal(size=arm.nv)
    np.testing.assert_allclose(arm.loops.jacobian(q) @ qd, by_differences(arm.loops.residual, arm, q, qd),
                               atol=1e-8)


def test_a_screw_that_closes_a_loop_may_make_any_number_of_turns():
    motion = Helical((0.0, 0.0, 1.0), 0.02)
    bodies = [Body("base"), Body("nut", 1.0)]
    arm = cy.Mechanism.of("vice", bodies, [Joint("slide", "base", "nut", Cylindrical())],
                          loops=[Loop("thread", "base", "nut", motion)])
    for turns in (0.0, 3.0, 40.0):
        np.testing.assert_allclose(arm.loops.residual([0.02 * turns, turns]), 0.0, atol=1e-15)
    np.testing.assert_allclose(arm.loops.jacobian([0.8, 40.0])[-1], [1.0, -0.02], atol=1e-15)


def crossed():
    """Two pendulums with a rod, gears and a mimic joint."""
    bodies = [Body("base"), *[Body(name, 1.0, [0.1, 0, 0]) for name in "abcd"]]
    far = np.eye(4)
    far[0, 3] = 0.5
    joints = [Joint("a", "base", "a", Universal()), Joint("b", "base", "b", Spherical(), far),
              Joint("c", "b", "c", Prismatic((0.0, 1.0, 0.0))), Joint("d", "a", "d", Revolute(), far,
                                                                     mimic=Mimic("c", 2.0, 0.3))]
    return cy.Mechanism.of("crossed", bodies, joints, constraints=[
        Rod("rod", "c", "d", 0.7), Coupling("gears", ("c", "d"), (3.0, -0.5), 0.1)])


def test_rods_couplings_and_mimic_joints_have_one_row_each():
    arm = crossed()
    random = np.random.default_rng(3)
    q = arm.integrate(arm.neutral, random.normal(size=arm.nv))
    qd = random.normal(size=arm.nv)
    distance = np.linalg.norm(arm.pose(q, "d")[:3, 3] - arm.pose(q, "c")[:3, 3])
    d, c = q[arm.tree.q_slices[arm.tree.joint_number("d")]][0], q[arm.tree.q_slices[arm.tree.joint_number("c")]][0]
    np.testing.assert_allclose(arm.loops.residual(q),
                               [(distance**2 - 0.49) / 1.4, 3 * c - 0.5 * d - 0.1, d - 2 * c - 0.3], atol=1e-14)
    np.testing.assert_allclose(arm.loops.jacobian(q) @ qd, by_differences(arm.loops.residual, arm, q, qd),
                               atol=1e-8)
    np.testing.assert_allclose(arm.loops.drift(q, qd),
                               by_differences(lambda x: arm.loops.jacobian(x) @ qd, arm, q, qd), atol=1e-7)
    assert [str(row) for row in arm.loops.rows] == ["rod: length", "gears: coordinates", "mimic d: coordinates"]
    q = np.stack([arm.integrate(arm.neutral, x) for x in random.normal(size=(5, arm.nv))])
    np.testing.assert_allclose(arm.loops.jacobian(q), np.stack([arm.loops.jacobian(x) for x in q]),
                               atol=1e-15)
    assert "constraint_jacobian" in arm.loops.jacobian.c_source().source


def test_a_polynomial_bends_its_rates():
    bodies = [Body("base"), Body("shaft", 1.0), Body("valve", 1.0)]
    joints = [Joint("shaft", "base", "shaft", Revolute()), Joint("valve", "base", "valve", Prismatic())]
    lift = Polynomial("cam", "valve", "shaft", (0.1, -0.2, 0.0, 3.0))
    arm = cy.Mechanism.of("cam", bodies, joints, constraints=[lift])
    for x, y in np.random.default_rng(0).normal(size=(3, 2)):
        np.testing.assert_allclose(arm.loops.residual([x, y]), [y - 0.1 + 0.2 * x - 3 * x**3], atol=1e-14)
        np.testing.assert_allclose(arm.loops.jacobian([x, y]), [[0.2 - 9 * x**2, 1.0]], atol=1e-14)
        np.testing.assert_allclose(arm.loops.drift([x, y], [2.0, 7.0]), [-18 * x * 4.0], atol=1e-13)
    assert arm.loops.mobility == 1


def test_rods_and_couplings_are_read_back_from_toml_and_never_lost(tmp_path):
    arm = crossed()
    arm.save(tmp_path / "crossed.toml")
    again = cy.load(tmp_path / "crossed.toml")
    assert again.tree.constraints == arm.tree.constraints and arm.variants.spanning_tree().tree.constraints == ()
    assert again.with_gravity((0, 0, 0)).with_payload("a", 1.0).tree.constraints == arm.tree.constraints
    with pytest.raises(UnsupportedError, match="spherical"):
        arm.save(tmp_path / "crossed.urdf")
    with pytest.raises(GeometryError, match=r"constraint 'rod' of crossed is open by 0\.35 m"):
        arm.inverse_dynamics(arm.neutral, np.zeros(arm.nv), np.zeros(arm.nv))
    assert "gears" in str(arm.summary())


@pytest.mark.parametrize("made, said", [
    (lambda: Rod("r", "a", "b", 0.0), "rod 'r' has the length 0"),
    (lambda: Coupling("c", ("a", "b"), (1.0,)), "one finite coefficient for each"),
    (lambda: Coupling("c", ("a", "a"), (1.0, 2.0)), "a joint twice"),
    (lambda: Coupling("c", ("a", "b"), (1.0, 0.0)), "coefficient 0"),
    (lambda: cy.Mechanism.of("m", [Body("a"), Body("b")], [Joint("ball", "a", "b", Spherical())],
                             constraints=[Coupling("c", ("ball",), (1.0,))]), "'ball', which is spherical"),
    (lambda: cy.Mechanism.of("m", [Body("a")], [], constraints=[Rod("r", "a", "nowhere", 1.0)]), "nowhere"),
])
def test_constraints_that_cannot_be_are_refused_by_name(made, said):
    with pytest.raises(ModelError, match=said):
        made()


def test_a_kind_that_cannot_close_a_loop_says_what_to_do():
    bodies = [Body("base"), Body("nut", 1.0)]
    arm = cy.Mechanism.of("rail", bodies, [Joint("slide", "base", "nut", Prismatic())],
                          loops=[Loop("bend", "base", "nut", Curvilinear((0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0)))])
    with pytest.raises(UnsupportedError, match=r"linear in q.*joint of the tree"):
        arm.loops.jacobian([0.0])


def test_a_bead_on_a_parabola_that_closes_a_loop_moves_as_in_books(tmp_path):
    bodies = [Body("base"), Body("beam", 0.0), Body("bead", 2.0)]
    joints = [Joint("x", "base", "beam", Prismatic((1.0, 0.0, 0.0))),
              Joint("y", "beam", "bead", Prismatic((0.0, 1.0, 0.0)))]
    wire = Curvilinear((0.0, 2.0), (0.3, 0.0, 2.0))  # y = 0.3 + x^2 / 2
    arm = cy.Mechanism.of("bead", bodies, joints, gravity=(0, -9.81, 0), loops=[Loop("wire", "base", "bead", wire)])
    arm.save(tmp_path / "bead.toml")
    for made in (arm, cy.load(tmp_path / "bead.toml")):
        for x, rate in ((0.0, 1.0), (0.7, -2.0), (-1.2, 0.4)):
            q = made.loops.close([x, 0.3 + x * x / 2]).configuration
            np.testing.assert_allclose(q, [x, 0.3 + x * x / 2], atol=1e-12)
            acceleration = -(x * rate**2 + 9.81 * x) / (1 + x * x)
            np.testing.assert_allclose(made.forward_dynamics.using("augmented")(q, [rate, x * rate], [0.0, 0.0]),
                                       [acceleration, x * acceleration + rate**2], atol=1e-11)
        assert made.loops.mobility == 1 and [row.holds for row in made.loops.structure.redundant] == [
            "curve along z", "turn about x", "turn about y", "turn about z"]
