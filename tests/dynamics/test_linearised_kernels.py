"""Derivatives of trees with joints of every kind beside 40 digits, drives, second derivatives, back ends and counts."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

import cayley as cy
from cayley.compiler.algebras.packages import CASADI, JAX, MPMATH
from cayley.compiler.kernel import kernel
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.linearised.kernels import (
    forward_derivatives_kernel,
    linearize_kernel,
    longest_way,
    sensitivities_text,
)
from cayley.dynamics.linearised.methods import METHODS
from cayley.dynamics.linearised.second_derivatives import (
    forward_second_derivatives_kernel,
    inverse_second_derivatives_kernel,
)
from cayley.dynamics.linearised.state_space import LinearisedMechanism
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.model.joint_kinds import JointKind
from cayley.model.parts import Body, Friction, Joint, Rotor
from compiler.parity import check_parity
from dynamics.chains import random_chain, random_state
from dynamics.robots import state_here
from dynamics.test_inverse_dynamics import random_tree

KINDS = ("revolute", "prismatic", "helical", "universal", "spherical", "planar", "fixed")


def close(ours, true, tolerance=1e-12):
    np.testing.assert_allclose(ours, true, rtol=0, atol=tolerance * max(1.0, np.abs(true).max(initial=0.0)))


def stepped(tree, q, direction):
    """The configuration moved along a velocity, by the joints' own rule."""
    parts = [
        j.motion.rate(q[a], direction[b]) for j, a, b in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True)
        if j.motion.nq]
    return np.concatenate(parts)


@pytest.mark.parametrize("kinds, seed", [(KINDS, 0), (("floating", "spherical", "revolute"), 1),
                                         (("revolute", "floating", "helical"), 2)])
def test_every_joint_kind_against_forty_digits(kinds, seed):
    tree = random_tree(seed, kinds)
    links, (q, v, a) = links_of(tree), (x[0] for x in state_here(tree, seed))
    text = kernel(f"({tree.nq}),({tree.nv}),({tree.nv})->({tree.nv})",
                  name="forces")(lambda q, v, a: inverse_dynamics(links, q, v, a))
    ours = sensitivities_text(tree)(q, v, a)
    rates = [stepped(tree, q, unit) for unit in np.eye(tree.nv)]
    with mpmath.workdps(40):
        h, state = mpmath.mpf(10) ** -13, [np.array([mpmath.mpf(float(x)) for x in s], dtype=object) for s in (q, v, a)]
        for k in range(0, tree.nv, 2):
            for place, matrix in zip((2, 1, 0), ours, strict=True):
                direction = rates[k] if place == 0 else np.eye(tree.nv)[k]
                ends = []
                for sign in (1, -1):
                    moved = list(state)
                    moved[place] = moved[place] + sign * h * direction
                    ends.append(np.asarray(text.evaluate(MPMATH, *moved)))
                close(matrix[:, k], ((ends[0] - ends[1]) / (2 * h)).astype(float))


def test_closed_form_and_differentiation_agree_and_the_closed_form_is_cheaper():
    for seed in range(4):
        tree = random_tree(seed, KINDS)
        state = [x[0] for x in state_here(tree, seed)]
        both = [METHODS[name].text(tree, "sensitivities")(*state) for name in ("algorithm-7.1", "differentiation")]
        for ours, true in zip(*both, strict=True):
            close(ours, true)
    counts = [linearize_kernel(tree).using(name).operations() for name in ("algorithm-7.1", "differentiation")]
    assert counts[0].multiplications + counts[0].additions < counts[1].multiplications + counts[1].additions


def test_a_floating_joint_may_be_anywhere():
    tree = next(tree for seed in range(9) if (tree := random_tree(seed, ("revolute", "floating"))).parents[1] == 1
                and tree.joints[1].motion.nv == 6)
    state = [x[0] for x in state_here(tree, 0)]
    both = [METHODS[name].text(tree, "sensitivities")(*state) for name in ("algorithm-7.1", "differentiation")]
    for ours, true in zip(*both, strict=True):
        close(ours, true)


def with_drives(tree):
    joints = [
        replace(j, friction=Friction(0.3 + k, 0.7), rotor=Rotor(0.01 * (k + 1), 10.0))
        for k, j in enumerate(tree.joints)]
    return replace(tree, joints=tuple(joints)).including("armature", "friction")


def test_rotors_and_friction():
    tree = with_drives(random_chain("RPR", 2))
    q, v, a = random_state(tree, 2)
    inverse, forward = inverse_dynamics_kernel(tree), forward_dynamics_kernel(tree)
    D, V, P = linearize_kernel(tree)(q, v, a)
    tau = inverse(q, v, a)
    for place, matrix in zip((2, 1, 0), (D, V, P), strict=True):
        np.testing.assert_allclose(matrix, differences(inverse, [q, v, a], place), rtol=1e-6, atol=1e-6)
    found = forward_derivatives_kernel(tree)(q, v, tau)
    close(found.qdd, a, 1e-10)
    for place, matrix in enumerate(found[1:]):
        np.testing.assert_allclose(matrix, differences(forward, [q, v, tau], place), rtol=1e-6, atol=1e-5)


def differences(function, state, place, h=1e-6):
    columns = []
    for unit in np.eye(len(state[place])):
        ends = [
            function(*[x + (sign * h * unit if k == place else 0.0) for k, x in enumerate(state)]) for sign in (1, -1)]
        columns.append((np.asarray(ends[0]) - np.asarray(ends[1])) / (2 * h))
    return np.stack(columns, axis=-1)


def test_second_derivatives():
    tree = random_chain("RPR", 6)
    q, v, a = random_state(tree, 6)
    linearize, forward = linearize_kernel(tree), forward_derivatives_kernel(tree)
    found = inverse_second_derivatives_kernel(tree)(q, v, a)
    first = [lambda *s, k=k: linearize(*s)[k] for k in range(3)]
    for ours, matrix, place in zip(found, (0, 1, 2, 2), (0, 1, 1, 0), strict=True):
        np.testing.assert_allclose(ours, differences(first[matrix], [q, v, a], place), rtol=1e-6, atol=1e-6)
    # forces are quadratic in velocities
    np.testing.assert_allclose(found.V_by_qd, np.swapaxes(found.V_by_qd, -1, -2), atol=1e-11)
    np.testing.assert_allclose(found.P_by_q, np.swapaxes(found.P_by_q, -1, -2), atol=1e-11)
    found = forward_second_derivatives_kernel(tree)(q, v, a)
    first = [lambda *s, k=k: forward(*s)[k] for k in range(4)]
    for ours, matrix, place in zip(found, (1, 1, 2, 3), (0, 1, 1, 0), strict=True):
        true = differences(first[matrix], [q, v, a], place)
        np.testing.assert_allclose(ours, true, rtol=1e-5, atol=1e-6 * np.abs(true).max())
    np.testing.assert_allclose(found.by_q_q, np.swapaxes(found.by_q_q, -1, -2), rtol=1e-9,
                               atol=1e-9 * np.abs(found.by_q_q).max())


def test_the_cheaper_of_closed_form_and_differentiation_is_the_default():
    trees = [
        cy.load("s1_g1").tree,
        random_chain("RR", 1, twists="special"),
        random_tree(0, ("planar", )),
        random_chain("RRRR", 1)]
    for tree in trees:
        for made in (linearize_kernel(tree), forward_derivatives_kernel(tree)):
            prices = [cost.multiplications + cost.additions for cost in (made.using(name).operations() for name in
                                                                         ("algorithm-7.1", "differentiation"))]
            assert made.operations().multiplications + made.operations().additions == min(prices)
    assert linearize_kernel(trees[0]).operations().multiplications == 20


def test_the_longest_way_has_the_velocities_of_all_joints_between_the_root_and_a_tip():
    for tree in (random_tree(0), random_tree(1), random_chain("RPRRPR", 1), cy.load("panda_hand").tree.spanning_tree()):
        ways = [sum(tree.joints[number].motion.nv for number in tree.path(body)) for body in range(len(tree.bodies))]
        assert longest_way(links_of(tree)) == longest_way(minimal_links(tree)) == max(ways)


def test_forward_derivatives_by_every_method():
    tree = random_chain("RPR", 4)
    q, v, tau = random_state(tree, 4)
    made = forward_derivatives_kernel(tree)
    for name in made.methods:
        for ours, default in zip(made.using(name)(q, v, tau), made(q, v, tau), strict=True):
            close(ours, default, 1e-11)


def test_a_mechanism_without_joints():
    post = cy.Mechanism.of("post", [Body("ground"), Body("post", 1.0)],
                           [Joint("weld", "ground", "post", JointKind())]).tree
    none = np.zeros(0)
    assert [x.shape for x in linearize_kernel(post)(none, none, none)] == [(0, 0)] * 3
    assert [x.shape for x in forward_derivatives_kernel(post)(none, none, none)] == [(0,)] + [(0, 0)] * 3
    for make in (inverse_second_derivatives_kernel, forward_second_derivatives_kernel):
        assert [x.shape for x in make(post)(none, none, none)] == [(0, 0, 0)] * 4
    model = LinearisedMechanism(post).at(none)
    assert model.A.shape == (0, 0) and model.controllable and model.stable


def test_parity():
    arm, state = cy.load("planar2r").tree, np.random.default_rng(5).normal(size=(3, 4, 2))
    check_parity(linearize_kernel(arm), *state, everywhere=True)


def test_bridges():
    """The same functions as CasADi expressions and as JAX functions, and their own derivatives of forward dynamics."""
    import casadi
    import jax
    arm, (q, v, tau) = cy.load("planar3r").tree, np.random.default_rng(6).normal(size=(3, 3))
    found = forward_derivatives_kernel(arm)(q, v, tau)
    symbols = [casadi.SX.sym(name, 3) for name in ("q", "qd", "tau")]
    expressions = forward_derivatives_kernel(arm).evaluate(CASADI, *symbols)
    values = casadi.Function("derivatives", symbols, list(expressions))(q, v, tau)
    acceleration = forward_dynamics_kernel(arm).evaluate(CASADI, *symbols)
    by_casadi = casadi.Function("jacobian", symbols, [casadi.jacobian(acceleration, x) for x in symbols])(q, v, tau)
    for ours, theirs, own in zip(values[1:], by_casadi, found[1:], strict=True):
        np.testing.assert_allclose(np.asarray(ours), own, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(np.asarray(theirs), own, rtol=1e-10, atol=1e-10)
    with jax.enable_x64(True):
        forward = forward_dynamics_kernel(arm)
        by_jax = jax.jacfwd(lambda *s: forward.evaluate(JAX, *s), argnums=(0, 1, 2))(q, v, tau)
        for theirs, own in zip(by_jax, found[1:], strict=True):
            np.testing.assert_allclose(np.asarray(theirs), own, rtol=1e-10, atol=1e-10)


def test_counts_are_below_those_of_the_source():
    for tree, multiplications, additions in ((random_chain("RRRRRR", 5), 2056, 1762),
                                             (cy.load("puma560").tree, 1516, 1472)):
        found = linearize_kernel(tree).operations()
        assert found.multiplications < multiplications
        assert found.additions < additions


def test_a_batch_is_its_states():
    arm = cy.load("puma560").tree
    q, v, a = np.random.default_rng(7).normal(size=(3, 2, 3, 6))
    many = linearize_kernel(arm)(q, v, a)
    for place in np.ndindex(2, 3):
        one = linearize_kernel(arm)(q[place], v[place], a[place])
        assert all(np.array_equal(x[place], y) for x, y in zip(many, one, strict=True))
    assert linearize_kernel(arm)(q[:0], v[:0], a[:0]).P.shape == (0, 3, 6, 6)
