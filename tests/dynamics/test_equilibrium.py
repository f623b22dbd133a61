"""Equilibria of potentials and their nature; generalised forces."""

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.closed_form import gravity_forces
from cayley.dynamics.mechanics.equilibrium import Potential
from cayley.dynamics.rigid_links.energies import potential_energy
from cayley.dynamics.rigid_links.links import links_of
from cayley.errors import SignatureError
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.statics import generalized_forces
from dynamics.chains import random_chain, random_state


def pendulum_with_spring(k):
    return Potential(lambda q: np.cos(q[0]) + k * q[0] ** 2 / 2)


@pytest.mark.spec("S2-54")
def test_inverted_pendulum_with_a_spring():
    """WE-22."""
    stiff, = pendulum_with_spring(2.0).equilibria([(-3, 3)]).found
    assert stiff.nature == "stable" and abs(stiff.q[0]) < 1e-9 and stiff.curvatures[0] == pytest.approx(1.0, abs=1e-9)
    soft = pendulum_with_spring(0.5).equilibria([(-3, 3)])
    assert [e.nature for e in soft.found] == ["stable", "stable", "unstable"]
    assert [float(e.q[0]) for e in soft.found] == pytest.approx([-1.8954942670, 1.8954942670, 0.0], abs=1e-9)
    assert [float(e.curvatures[0]) for e in soft.found] == pytest.approx([0.8190225241, 0.8190225241, -0.5], abs=1e-9)
    assert len(soft.of_nature("stable")) == 2 and soft.failed == 0


@pytest.mark.spec("S2-54")
def test_no_curvature_decides_nothing():
    """E-33: U'' = 0 is stable, unstable or indifferent."""
    critical, = pendulum_with_spring(1.0).equilibria([(-3, 3)]).found
    assert critical.nature == "stable" and critical.flat.all() and abs(critical.q[0]) < 1e-4
    for U, nature in [(lambda q: q[0]**4, "stable"), (lambda q: -(q[0]**4), "unstable"),
                      (lambda q: q[0]**3, "unstable"), (lambda q: q[0]**6, "stable"),
                      (lambda q: 0.0 * q[0] + 3.0, "indifferent")]:
        assert Potential(U).at([0.0]).nature == nature
    for U, nature in [(lambda q: q[0] ** 4 + q[1] ** 2, "stable"), (lambda q: q[1] ** 2 + 0 * q[0], "indifferent"),
                      (lambda q: q[0] ** 3 + q[1] ** 2, "unstable"), (lambda q: (q @ q) ** 2, "stable"),
                      (lambda q: q[0] ** 2 * q[1] ** 2, "indifferent"), (lambda q: q[0] ** 4 - q[1] ** 4, "unstable"),
                      (lambda q: -(q[0] ** 2) + q[1] ** 4, "unstable")]:
        assert Potential(U).at([0.0, 0.0]).nature == nature
    # where only the best place of the other coordinates shows the fall
    assert Potential(lambda q: q[0] ** 4 + q[1] ** 2 - 3 * q[0] ** 2 * q[1]).at([0.0, 0.0]).nature == "unstable"
    assert Potential(lambda q: q[0] ** 4 + q[1] ** 2 - q[0] ** 2 * q[1]).at([0.0, 0.0]).nature == "stable"


@pytest.mark.spec("S2-54")
def test_what_hides_its_nature():
    """A valley too narrow to be hit, a hill too flat to be seen, a minimum too small to be seen from afar; and what
    cannot be decided.
    """
    for U, nature in [(lambda q: 1e3 * (q[0] - 0.37 * q[1])**2 * (q[0]**2 + q[1]**2) - q[0]**4, "unstable"),
                      (lambda q: -1e-7 * q[0]**2 + q[0]**4 + 0 * q[1], "unstable"),
                      (lambda q: q[0]**4 + 1e-9 * q[1]**4, "undecided"), (lambda q: q[0]**4 + q[1]**6, "undecided"),
                      (lambda q: q[0]**4 + q[1]**4 - 3 * (q[0] * q[1])**2, "unstable"),
                      # Peano's: it rises on every straight line
                      (lambda q: (q[0] - q[1]**2) * (q[0] - 2 * q[1]**2), "unstable"),
                      (lambda q: (q[0] - q[1]**2) * (q[0] - q[1]**2) + 1e-3 * q[1]**8, "stable")]:
        assert Potential(U).at([0.0, 0.0]).nature == nature
    for U, nature in [(lambda q: -1e-7 * q[0]**2 + q[0]**4, "unstable"), (lambda q: q[0]**4 - 1e4 * q[0]**6, "stable"),
                      (lambda q: 1e-7 * q[0]**2 - q[0]**4, "stable"),
                      (lambda q: -(q[0]**4) + 1e4 * q[0]**6, "unstable"), (lambda q: q[0]**5 + q[0]**6, "unstable")]:
        assert Potential(U).at([0.0]).nature == nature


@pytest.mark.spec("S2-54")
@pytest.mark.parametrize("seed", range(8))
def test_random_degenerate_potentials_with_known_answers(seed):
    """Valleys bent along a polynomial, the bottom rising or falling with a known power; sums of fourth powers, with a
    known sign.
    """
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(2, 2)))[0]
    bend, power, size = random.normal(size=2), int(random.integers(
        3, 7)), 10**random.uniform(-1, 1) * random.choice([-1, 1])

    def valley(q):
        x, y = turn @ q
        return (x - bend[0] * y ** 2 - bend[1] * y ** 3) ** 2 + size * y ** power

    known = "stable" if size > 0 and power % 2 == 0 else "unstable"
    assert Potential(valley).at([0.0, 0.0]).nature == known
    rows, weights = random.normal(size=(6, 3)), random.uniform(0.5, 2.0, 6)

    def quartic(q):
        return weights @ (rows @ q) ** 4

    def saddle(q):
        return quartic(q) - 2.0 * quartic(np.array([1.0, 0.0, 0.0])) * q[0] ** 4

    assert Potential(quartic).at([0.0, 0.0, 0.0]).nature in ("stable", "undecided")
    assert Potential(saddle).at([0.0, 0.0, 0.0]).nature == "unstable"


@pytest.mark.spec("S2-54")
@pytest.mark.parametrize("seed", range(12))
def test_the_lowest_power_decides_however_small_it_is(seed):
    """q^m + c q^k with k < m and |c| down to 1e-9, alone and at the bottom of a bent valley: U < 0 next to 0 if c < 0,
    or if k is odd. Far away only q^m is seen.
    """
    random = np.random.default_rng(seed)
    k = int(random.integers(2, 10))
    m, c, bend = k + int(random.integers(1, 4)), 10 ** random.uniform(-9, -1) * random.choice([-1, 1]), random.normal()
    m += m % 2

    def bottom(x):
        return x**m + c * x**k

    known = "unstable" if k % 2 or c < 0 else "stable"
    assert Potential(lambda q: bottom(q[0])).at([0.0]).nature == known
    assert Potential(lambda q: bottom(q[0]) + (q[1] - bend * q[0]**2) ** 2).at([0.0, 0.0]).nature == known
    both = Potential(lambda q: bottom(q[0]) + q[1] ** m).at([0.0, 0.0]).nature
    assert both in (known, "undecided")
    printed = [(8, 1e-3, 7), (6, 1e-4, 5), (10, 1e-2, 9), (4, 1e-9, 3)]
    high, small, low = printed[seed % 4]
    assert Potential(lambda q: q[0]**high - small * q[0]**low).at([0.0]).nature == "unstable"


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize("place", [0.0, 1.0, -2.3])
def test_nature_does_not_depend_on_the_unit_or_the_place(scale, place):
    found, = Potential(lambda q: scale * ((q[0] - place) ** 4 / 24 + 7.0)).equilibria([(-4, 4)]).found
    assert found.nature == "stable" and abs(found.q[0] - place) < 1e-3


@pytest.mark.spec("S2-54")
def test_equilibria_of_an_arm():
    """A double pendulum hangs stably, and rests unstably in three other ways."""
    links = links_of(cy.load("planar2r").with_gravity((0, -9.81, 0)).tree)
    U = Potential(lambda q: potential_energy(links, q))
    found = U.equilibria([(-3, 3.5), (-1, 4)])
    assert [e.nature for e in found.found] == ["stable", "unstable", "unstable", "unstable"]
    assert np.abs(found.found[0].q - [-np.pi / 2, 0]).max() < 1e-9
    for e in found.found:
        assert np.abs(gravity_forces(links, e.q)).max() < 1e-9 and e.residual < 1e-9
        assert np.abs(np.cos(e.q[0])) < 1e-9 and np.abs(np.sin(e.q[1])) < 1e-9


@pytest.mark.spec("S2-54")
def test_a_joint_that_gravity_does_not_see_is_indifferent():
    """The first joint of an upright arm: all its angles are one equilibrium."""
    tree = cy.load("puma560").tree
    links = links_of(tree)
    U = Potential(lambda q: potential_energy(links, np.concatenate([q, np.zeros(3)])))
    found = U.equilibria([(-3, 3), (-3.1, 3.1), (-3.1, 3.1)], starts=32)
    assert found.found and {e.nature for e in found.found} == {"indifferent", "unstable"}
    lowest = found.found[0]
    assert lowest.nature == "indifferent" and lowest.flat.sum() == 1 and abs(
        abs(lowest.directions[:, lowest.flat][0, 0]) - 1) < 1e-9
    assert len(found.of_nature("indifferent")) == 1


def test_what_is_not_at_rest_has_no_nature():
    with pytest.raises(SignatureError, match="not at rest"):
        pendulum_with_spring(2.0).at([0.3])


def test_a_potential_without_equilibria():
    found = Potential(lambda q: 2.0 * q[0] + np.exp(q[0])).equilibria([(-5, 5)], starts=8)
    assert found.found == () and found.starts == found.failed == 8


@pytest.mark.spec("S2-56")
@pytest.mark.parametrize("pattern", ["RRR", "RPR", "PRRPR"])
def test_generalized_forces_in_either_frame(pattern):
    """tau + J^T F is the same from the base's axes and from the tool's, and the virtual work of F is Q.dq."""
    tree = random_chain(pattern, 7)
    q, dq, tau = random_state(tree, 7)
    F = np.random.default_rng(7).normal(size=6)
    R = frame_pose(tree, q, "tool").R
    world = generalized_forces(tree, q, tau, F, "tool", axes="world")
    own = generalized_forces(tree, q, tau, np.concatenate([R.T @ F[:3], R.T @ F[3:]]), "tool", axes="body")
    assert np.abs(world - own).max() < 1e-13 * np.abs(world).max()
    h = 1e-6
    after, before = frame_pose(tree, q + h * dq, "tool"), frame_pose(tree, q - h * dq, "tool")
    turn = (after.R - before.R) @ R.T / (2 * h)
    work = F[:3] @ (after.p - before.p) / (2 * h) + F[3:] @ [turn[2, 1], turn[0, 2], turn[1, 0]]
    assert (world - tau) @ dq == pytest.approx(work, rel=1e-7)


@pytest.mark.spec("S2-56")
def test_potential_and_end_wrench_hold_each_other():
    """The joint forces that hold an arm at rest are G - J^T F: WE-20 with its tool wrench, exerted on the environment.
    """
    tree = cy.load("s2_we20").tree
    q = np.array([0.4, 0.9, 0.5])
    frame = tree.joints[-1].child
    exerted = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    Q = generalized_forces(tree, q, np.zeros(3), -exerted, frame, axes="body")
    wanted = np.array([-1.3136075604, -2.7430557194, 9.5677935838]) - [0.1802736353, -3.4430557194, 6.5677935838]
    assert np.abs(-Q - wanted).max() < 1e-8
    h, links = 1e-6, links_of(tree)
    slope = [(potential_energy(links, q + h * e) - potential_energy(links, q - h * e)) / (2 * h) for e in np.eye(3)]
    assert np.abs(slope - np.array([0, -3.3494234088, 7.3175925465])).max() < 1e-7
