"""Kernels as functions of CasADi: values and derivatives are those of CasADi's own differentiation, and solvers
converge with them.
"""

import casadi
import jax
import numpy as np
import pytest
import sympy

import cayley as cy
from cayley.errors import UnsupportedError


@cy.kernel("(2,3),(3),()->(2,2),(),(0)", outputs=("A", "b", "c"))
def shapes(M, v, s):
    A = np.stack([M[0] * v, M[1] * np.sin(v) * s])
    return A @ M.T, s * M[0, 1], v[:0]


@cy.kernel("(3),()->(2)", outputs=("jac",))
def awkward(null, out):
    return np.stack([np.where(null[0] < null[1], null[0] * null[2], np.sqrt(null[1] + 3.0)), out * out])


KERNELS = {
    "forward dynamics": lambda: cy.load("panda").forward_dynamics, "pose": lambda: cy.load("ur5").pose.of("tool"),
    "inertia matrix": lambda: cy.load("planar3r").inertia_matrix,
    "closed": lambda: cy.load("four_bar").forward_dynamics, "shapes": lambda: shapes, "names": lambda: awkward}


@pytest.mark.parametrize("which", KERNELS)
def test_derivatives_are_those_of_casadi(which):
    """Forward, reverse, whole and second ones, of a function of MX; CasADi differentiates the bare text."""
    kernel = KERNELS[which]()
    program = kernel.program()
    made = kernel.for_casadi()
    random = np.random.default_rng(0)
    values = [random.uniform(-0.5, 0.5, (*v.shape, 1, 1)[:2]) for v in program.inputs]
    bare = [casadi.SX.sym(f"x{k}", *x.shape) for k, x in enumerate(values)]
    found = kernel.evaluate(cy.CASADI, *bare)
    own = casadi.Function("own", bare, [casadi.SX(part) for part in (found if isinstance(found, tuple) else (found,))])
    symbols = [casadi.MX.sym(f"x{k}", *x.shape) for k, x in enumerate(values)]

    def derived(function):
        y = casadi.veccat(*function.call(symbols))
        along = casadi.DM(random_along)
        parts = [y]
        for x in symbols:
            parts += [casadi.jacobian(y, x), casadi.jtimes(y, x, casadi.DM.ones(x.shape)),
                      casadi.jtimes(y, x, along, True), casadi.hessian(casadi.sumsqr(y), x)[0]]
        return [np.array(part) for part in casadi.Function("all", symbols, parts).call(values)]

    random_along = random.normal(size=sum(len(v.nodes) for v in program.outputs))
    for ours, theirs in zip(derived(made), derived(own), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(theirs).max(initial=0.0)))
    state = [x.reshape(v.shape) for x, v in zip(values, program.inputs, strict=True)]
    numbers = kernel.unchecked(*state)
    for part, right in zip(made.call(values), numbers if isinstance(numbers, tuple) else (numbers,), strict=True):
        np.testing.assert_allclose(np.array(part).reshape(np.shape(right)), right, rtol=1e-9, atol=1e-9)


def test_names_batches_and_sparsity():
    arm = cy.load("planar3r")
    made = arm.forward_dynamics.for_casadi("arm fd")
    assert made.name() == "arm_fd" and made.name_in() == ["q", "qd", "tau"] and made.name_out() == ["qdd"]
    q, qd, tau = np.random.default_rng(1).normal(size=(3, 5, 3))
    np.testing.assert_allclose(np.array(made.map(5)(q.T, qd.T, tau.T)).T, arm.forward_dynamics(q, qd, tau), rtol=1e-12)
    assert awkward.for_casadi().name_in() == ["null_", "out"]
    # what does not depend on what is not stored: the torque of the first of two pendulums by the angle of the second
    apart = cy.kernel("(2)->(2)", name="apart")(lambda q: np.sin(q))
    assert apart.for_casadi().jacobian()([0.0, 0.0], [0.0, 0.0]).sparsity().nnz() == 2
    with pytest.raises(UnsupportedError, match=r"matrices of two axes: out_by_q|matrices of two axes: .* \(3, 3, 3\)"):
        arm.inertia_matrix.jacobian("q").for_casadi()


@pytest.mark.parametrize("interface", ["nlpsol", "Opti"])
def test_ipopt_finds_the_least_effort(interface):
    """A link of one joint from rest to rest: double integrator in disguise, whose least effort is known.

    With u = tau - gravity the least integral of u^2 from 0 to 1 rad in 1 s, at rest at both ends, is 12 I^2 rad^2/s^3.
    """
    from cayley.model.joint_kinds import Revolute
    from cayley.model.parts import Body, Joint
    rod = cy.Mechanism.of("rod", [Body("base"), Body("rod", 1.0, (0.4, 0.0, 0.0), np.diag([0.0, 0.0, 0.04]))],
                          [Joint("pivot", "base", "rod", Revolute((0.0, 0.0, 1.0)))], gravity=(0.0, -9.81, 0.0))
    fd, hold = rod.forward_dynamics.for_casadi(), rod.gravity_forces.for_casadi()
    N = 20
    h = 1.0 / N
    inertia = 0.04 + 0.4**2
    quiet = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}

    def defects(q, w, tau):
        """Exact for accelerations that are constant over a step, as tau - hold is asked to be at its middle."""
        found = []
        for k in range(N):
            a = fd((q[k] + q[k + 1]) / 2, (w[k] + w[k + 1]) / 2, tau[k])
            found += [w[k + 1] - w[k] - h * a, q[k + 1] - q[k] - h * (w[k] + w[k + 1]) / 2]
        return found

    def effort(q, tau):
        return h * sum((tau[k] - hold((q[k] + q[k + 1]) / 2)) ** 2 for k in range(N))

    if interface == "nlpsol":
        q, w, tau = casadi.MX.sym("q", N + 1), casadi.MX.sym("w", N + 1), casadi.MX.sym("tau", N)
        g = casadi.vertcat(*defects(q, w, tau), q[0], w[0], q[N] - 1.0, w[N])
        solver = casadi.nlpsol("s", "ipopt", {"x": casadi.vertcat(q, w, tau), "f": effort(q, tau), "g": g}, quiet)
        best = float(solver(x0=0.0, lbg=0.0, ubg=0.0)["f"])
        assert solver.stats()["success"] and solver.stats()["iter_count"] < 50
    else:
        problem = casadi.Opti()
        q, w, tau = problem.variable(N + 1), problem.variable(N + 1), problem.variable(N)
        for defect in [*defects(q, w, tau), q[0], w[0], q[N] - 1.0, w[N]]:
            problem.subject_to(defect == 0.0)
        problem.minimize(effort(q, tau))
        problem.solver("ipopt", quiet)
        best = float(problem.solve().value(effort(q, tau)))
    # of steps with constant accelerations: 12 / (1 - 1/N^2)
    assert best == pytest.approx(12.0 * inertia**2 / (1.0 - 1.0 / N**2), rel=1e-6)


def test_symbols_of_other_libraries_are_told_what_to_call():
    arm = cy.load("planar2r")
    symbols = casadi.SX.sym("q", 2)
    fall = arm.rollout()
    for ask, words in [
            (lambda: arm.gravity_forces(symbols), r"gravity_forces\.for_casadi\(\)"),
            (lambda: arm.gravity_forces(casadi.MX.sym("q", 2)), r"gravity_forces\.for_casadi\(\)"),
            (lambda: arm.gravity_forces(sympy.symbols("a b")), r"evaluate\(cy\.SYMPY"),
            (lambda: jax.jit(arm.gravity_forces)(np.zeros(2)), r"gravity_forces\.for_jax\(\).*evaluate\(cy\.JAX"),
            (lambda: jax.jit(lambda q: arm.gravity_forces([q[0], q[1]]))(np.zeros(2)), r"for_jax\(\)"),
            (lambda: jax.grad(arm.potential_energy)(np.zeros(2)), r"potential_energy\.for_jax\(\)"),
            (lambda: jax.jit(lambda q: fall(q, np.zeros(2), step=1e-3, steps=2).q)(np.zeros(2)),
             r"rollout\.for_jax\(step=")]:
        with pytest.raises(UnsupportedError, match=words):
            ask()
    assert np.allclose(jax.jit(arm.pose.for_jax(frame="tool"))(np.zeros(2)), arm.pose(np.zeros(2), "tool"), atol=1e-6)
