"""Mechanisms with many constraints, whose steps eliminate them as they are: beside accelerations integrated by SciPy,
and beside the same linkages one by one."""

import numpy as np
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from dynamics.test_closed_mechanisms import closed_state, shift, stewart, stewart_guess


def test_a_stewart_platform_moves_by_its_accelerations_and_stays_closed():
    arm = stewart()
    q, qd, tau = closed_state(arm, stewart_guess())
    roll = arm.rollout(method="rk4")
    run = roll(q, qd, tau=tau, step=1e-3, steps=100)

    manifold = arm.system().layout.blocks["q"].manifold

    def slope(t, x):
        return np.concatenate([manifold.rate(x[:arm.nq], x[arm.nq:]),
                               arm.forward_dynamics(x[:arm.nq], x[arm.nq:], tau)])

    exact = solve_ivp(slope, (0.0, 0.1), np.concatenate([q, qd]), rtol=1e-11, atol=1e-12, method="DOP853").y[:, -1]
    np.testing.assert_allclose(run.q[-1], exact[:arm.nq], atol=1e-8)
    np.testing.assert_allclose(run.qd[-1], exact[arm.nq:], atol=1e-7)
    assert np.abs(arm.loops.residual(run.q)).max() < 1e-13
    assert np.abs(arm.loops.rates(run.q, run.qd)).max() < 1e-9
    assert np.abs(run.energy_drift).max() < 1e-7
    q, qd, tau = (given.astype("float32") for given in (q, qd, tau))
    single = roll(q, qd, tau=tau, step=np.float32(1e-3), steps=100)
    assert single.q.dtype == np.float32
    np.testing.assert_allclose(single.q[-1], run.q[-1], atol=2e-5)


def parallelograms(count):
    """Four-bars that fold flat twice a turn, side by side."""
    bodies, joints, frames, loops = [Body("base")], [], [], []
    for k in range(count):
        bodies += [Body(f"{name}{k}", 0.5, [length / 2, 0, 0], np.diag([1e-6, 1, 1]) * 0.5 * length**2 / 12)
                   for name, length in (("a", 0.2), ("b", 0.5), ("c", 0.2))]
        joints += [Joint(f"crank{k}", "base", f"a{k}", Revolute(), shift(0, 0, k)),
                   Joint(f"coupler{k}", f"a{k}", f"b{k}", Revolute(), shift(0.2)),
                   Joint(f"rocker{k}", "base", f"c{k}", Revolute(), shift(0.5, 0, k))]
        frames += [Frame(f"end{k}", f"b{k}", shift(0.5)), Frame(f"top{k}", f"c{k}", shift(0.2))]
        loops.append(Loop(f"pin{k}", f"end{k}", f"top{k}", Revolute()))
    return cy.Mechanism.of(f"{count} parallelograms", bodies, joints, frames=frames, loops=loops,
                           gravity=(0.0, -9.81, 0.0))


def test_many_parallelograms_pass_where_they_fold_flat_as_one_does():
    one, many = parallelograms(1), parallelograms(7)
    assert many.loops.structure.rank == 14
    angle, speed = np.linspace(0.3, 1.2, 7), np.linspace(12.0, 20.0, 7)
    q, qd = np.stack([angle, -angle, angle], axis=1), np.stack([speed, -speed, speed], axis=1)
    alone = one.rollout(method="semi-implicit-euler")(q, qd, step=1e-3, steps=1000, every=1000)
    together = many.rollout(method="semi-implicit-euler")(q.ravel(), qd.ravel(), step=1e-3, steps=1000, every=1000)
    found = together.q[-1].reshape(7, 3)
    assert (found[:, 0] > 4 * np.pi).sum() > 4  # they have turned round, more than once
    np.testing.assert_allclose(found, alone.q[:, -1], atol=1e-4)
    np.testing.assert_allclose(found[:, 0], found[:, 2], atol=1e-12)  # still parallelograms, not crossed
    assert np.abs(many.loops.residual(together.q[-1])).max() < 1e-12
