"""Loops that share a body are solved along its axes: motions and forces are those along the axes of the base."""

import numpy as np
import pytest

import cayley as cy
from cayley.kinematics.constraints.turned_loops import turned_loops
from cayley.model.joint_kinds import JointKind, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Joint, Loop
from dynamics.test_closed_mechanisms import by_null_space, closed_state, shift, stewart, stewart_guess


def rod(name, length):
    return Body(name, 0.5, [length / 2, 0, 0], np.diag([1e-6, 1.0, 1.0]) * 0.5 * length**2 / 12)


def platform(loop, plate_motion, tilt=0.0):
    """A plate on three legs of two links in a plane, that of x and y or a tilted one."""
    turned = np.asarray(cy.geometry.motions.pose_from_twist([0, 0, 0, tilt, 2 * tilt, 0]))
    bodies = [Body("base"), Body("plate", 2.0, [0.02, 0.05, 0.01], np.diag([0.02, 0.03, 0.04]))]
    joints = [Joint("plate", "base", "plate", plate_motion, turned)]
    frames = []
    loops = []
    for k in range(3):
        foot = shift(0.8 * np.cos(2.1 * k), 0.8 * np.sin(2.1 * k))
        bodies += [rod(f"crank{k}", 0.5), rod(f"rod{k}", 0.6)]
        joints += [Joint(f"crank{k}", "base", f"crank{k}", Revolute(), turned @ foot),
                   Joint(f"rod{k}", f"crank{k}", f"rod{k}", Revolute(), shift(0.5))]
        frames += [Frame(f"end{k}", f"rod{k}", shift(0.6)),
                   Frame(f"corner{k}", "plate", shift(0.2 * np.cos(2.1 * k), 0.2 * np.sin(2.1 * k)))]
        loops.append(Loop(f"pin{k}", f"end{k}", f"corner{k}", loop))
    return cy.Mechanism.of("platform", bodies, joints, frames=frames, loops=loops, gravity=(0.5, -9.0, 1.0))


def hung_platform():
    """A plate that one leg carries and two more hold: nothing floats, and a weld keeps its attitude to the third."""
    bodies, joints, frames, loops = [Body("base")], [], [], []
    for k in range(3):
        foot = shift(0.8 * np.cos(2.1 * k), 0.8 * np.sin(2.1 * k))
        bodies += [Body(f"cylinder{k}", 1.0, [0, 0, 0.2], np.diag([0.02, 0.02, 0.001])),
                   Body(f"piston{k}", 0.7, [0, 0, -0.2], np.diag([0.01, 0.01, 0.001]))]
        joints += [Joint(f"foot{k}", "base", f"cylinder{k}", Universal(), foot),
                   Joint(f"slide{k}", f"cylinder{k}", f"piston{k}", Prismatic())]
    bodies += [Body("plate", 5.0, [0.02, -0.01, 0.03], np.diag([0.1, 0.12, 0.2])), Body("ball", 0.3, [0, 0, 0.01],
                                                                                       1e-3 * np.eye(3))]
    joints += [Joint("plate", "piston0", "plate", Spherical()), Joint("ball", "piston2", "ball", Spherical())]
    for k in (1, 2):
        frames.append(Frame(f"top{k}", "plate", shift(0.4 * np.cos(2.1 * k) - 0.4, 0.4 * np.sin(2.1 * k))))
    loops = [Loop("ball1", "piston1", "top1", Spherical()), Loop("weld", "top2", "ball", JointKind())]
    return cy.Mechanism.of("hung", bodies, joints, frames=frames, loops=loops)


def hung_guess():
    arm = hung_platform()
    q = arm.neutral.copy()
    for k in range(3):
        q[arm.tree.q_slices[arm.tree.joint_number(f"slide{k}")]] = 0.9
    return q


PLANAR_GUESS = [0.05, 0.1, 0.2, 2.5, 1.5, 4.5, 1.5, 0.5, 1.5]
PLATFORMS = {
    "pins": (lambda: platform(Revolute(), Planar()), PLANAR_GUESS),
    "pins in a tilted plane": (lambda: platform(Revolute(), Planar(), 0.3), PLANAR_GUESS),
    "a weld": (hung_platform, hung_guess()),
    "balls": (stewart, stewart_guess()), }


@pytest.mark.parametrize("name", [name for name in PLATFORMS if name != "balls"])  # those are beside Pinocchio's
def test_accelerations_and_forces_are_those_along_the_axes_of_the_base(name):
    make, guess = PLATFORMS[name]
    arm = make()
    q, qd, tau = closed_state(arm, guess)
    qdd = arm.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(qdd, by_null_space(arm, q, qd, tau), rtol=1e-9, atol=1e-9)
    pushed = arm.variants.spanning_tree().inverse_dynamics(q, qd, qdd) - tau
    found = arm.loops.forces(q, qd, tau)
    known = np.isfinite(found)
    assert known.any() == (name != "pins in a tilted plane")  # in which each row shares its force with others
    expected = np.linalg.lstsq(arm.loops.jacobian(q)[known].T, pushed, rcond=None)[0]
    np.testing.assert_allclose(found[known], expected, rtol=1e-8, atol=1e-8)


def test_a_stewart_platform_takes_the_operations_of_forces_that_its_plate_couples():
    assert stewart().forward_dynamics.operations().multiplications < 3000  # 4477 along the axes of the base


@pytest.mark.parametrize("name", PLATFORMS)
def test_loops_along_other_axes_are_open_by_the_same_vector_and_open_at_the_same_rate(name):
    make, guess = PLATFORMS[name]
    arm = make()
    random = np.random.default_rng(3)
    q = arm.integrate(np.asarray(guess, dtype=float), 0.2 * random.normal(size=arm.nv))  # not closed
    qd = random.normal(size=arm.nv)
    phi, rates, drift = arm.loops.residual(q), arm.loops.rates(q, qd), arm.loops.drift(q, qd)
    A = arm.loops.jacobian(q)
    seen = turned_loops(arm.tree, arm.loops.structure.leading, q, qd)
    assert len(seen) == {"pins in a tilted plane": 0, "a weld": 2, "pins": 3, "balls": 6}[name]
    for loop in seen:
        turn = np.eye(loop.rows.stop - loop.rows.start)
        turn[:3, :3] = loop.R
        for own, other in zip(loop.held, (A, phi, rates, drift), strict=True):
            np.testing.assert_allclose(turn @ own, other[loop.rows], atol=1e-12)
