"""Derivatives of forward dynamics beside Pinocchio, for every robot of example-robot-data, fixed and floating."""

import mpmath
import numpy as np
import pinocchio as pin
import pytest

from cayley.dynamics.linearised.kernels import forward_derivatives_kernel, forward_derivatives_text
from dynamics.robots import ACCEPTED, pinocchio_model, places, robot, state_here, state_there
from dynamics.test_linearised_robots import COMPILED, relative, sensitivities_there

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
MASSLESS = ("_gripper.urdf", "romeo.urdf", "romeo_laas_small.urdf")


def forward_there(tree, model, q, v, a):
    """The forces for an acceleration, and the derivatives of the acceleration under these."""
    own, data = places(tree, model), model.createData()
    state = state_there(tree, model, q, v, a)
    tau = pin.rnea(model, data, *state)
    by_q, by_v, by_tau = pin.computeABADerivatives(model, data, state[0], state[1], tau)
    return tau[own], [x[np.ix_(own, own)] for x in (by_q, by_v, np.triu(by_tau) + np.triu(by_tau, 1).T)]


def scaled_condition(D):
    """The condition number of an inertia matrix, units aside; infinite where a joint moves no mass."""
    scale = np.sqrt(np.abs(np.diag(D)))
    return np.linalg.cond(D / np.outer(scale, scale)) if (scale > 0).all() else np.inf


def by_forty_digits(tree, model, q, v, a):
    """The derivatives from those of Pinocchio's inverse dynamics, with a matrix that is inverted exactly."""
    D, V, P = sensitivities_there(tree, model, q, v, a)
    with mpmath.workdps(40):
        inverse = np.array((mpmath.matrix(D.tolist()) ** -1).tolist(), dtype=float)
    return [-inverse @ P, -inverse @ V, inverse]


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ACCEPTED)
def test_robots_agree_with_pinocchio(name, floating):
    tree, model = robot(name, floating), pinocchio_model(name, floating)
    q, v, a = (x[0] for x in state_here(tree, 4))
    if not tree.nv:
        assert [x.shape for x in forward_derivatives_text(tree)(q, v, a)] == [(0,), (0, 0), (0, 0), (0, 0)]
        return
    condition = scaled_condition(sensitivities_there(tree, model, q, v, a)[0])
    if np.isinf(condition):
        assert name.endswith(MASSLESS)  # no accelerations to differentiate
        return
    tau, derivatives = forward_there(tree, model, q, v, a)
    if condition > 1e5:  # Pinocchio's recursion for the inverse loses seven digits here
        derivatives = by_forty_digits(tree, model, q, v, a)
    tolerance = max(1e-10, 3e-15 * condition)
    ours = forward_derivatives_text(tree)(q, v, tau)
    assert relative(ours.qdd, a) < tolerance
    for own, there in zip(ours[1:], derivatives, strict=True):
        assert relative(own, there) < tolerance


@pytest.mark.parametrize("name, floating", COMPILED)
def test_compiled(name, floating):
    tree, model = robot(name, floating), pinocchio_model(name, floating)
    q, v, a = (x[0] for x in state_here(tree, 5))
    tau, derivatives = forward_there(tree, model, q, v, a)
    for ours, there in zip(forward_derivatives_kernel(tree)(q, v, tau)[1:], derivatives, strict=True):
        assert relative(ours, there) < 1e-10


def test_a_humanoid_is_solved_column_by_column():
    """One program for all columns with the same zeros: written out it would be 143 000 nodes."""
    name = "talos_data/robots/talos_reduced.urdf"
    tree, model = robot(name, True), pinocchio_model(name, True)
    kernel = forward_derivatives_kernel(tree)
    calls = [node.value.key for node in kernel.program().nodes if node.op == "call"]
    assert len(calls) > 2 * tree.nv and len(set(calls)) < 10 and len(kernel.program().nodes) < 40_000
    assert kernel.operations().multiplications < 73_114  # with the inverse matrix
    states = state_here(tree, 5, 3)
    there = [forward_there(tree, model, q, v, a) for q, v, a in zip(*states, strict=True)]
    ours = kernel(*states[:2], np.stack([tau for tau, _ in there]))
    assert (ours.by_tau == np.swapaxes(ours.by_tau, 1, 2)).all()
    for k, (_, derivatives) in enumerate(there):
        for own, expected in zip(ours[1:], derivatives, strict=True):
            assert relative(own[k], expected) < 1e-10
