"""Derivatives of forward dynamics beside Pinocchio, for every robot of example-robot-data, fixed and floating."""

import numpy as np
import pinocchio as pin
import pytest

from cayley.dynamics.linearised.kernels import forward_derivatives_kernel, forward_derivatives_text
from dynamics.robots import ACCEPTED, pinocchio_model, places, robot, state_here, state_there
from dynamics.test_linearised_robots import COMPILED, relative

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")


def forward_there(tree, model, q, v, a):
    """The forces for an acceleration, and the derivatives of the acceleration under these."""
    own, data = places(tree, model), model.createData()
    state = state_there(tree, model, q, v, a)
    tau = pin.rnea(model, data, *state)
    by_q, by_v, by_tau = pin.computeABADerivatives(model, data, state[0], state[1], tau)
    return tau[own], [x[np.ix_(own, own)] for x in (by_q, by_v, np.triu(by_tau) + np.triu(by_tau, 1).T)]


def is_regular(tree, model, q):
    """Whether the inertia matrix is far from singular, units aside."""
    data = model.createData()
    D = pin.crba(model, data, *state_there(tree, model, q), pin.Convention.WORLD)
    D = np.triu(D) + np.triu(D, 1).T
    scale = np.sqrt(np.abs(np.diag(D)))
    return len(D) > 0 and (scale > 0).all() and np.linalg.cond(D / np.outer(scale, scale)) < 1e5


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ACCEPTED)
def test_robots_agree_with_pinocchio(name, floating):
    tree, model = robot(name, floating), pinocchio_model(name, floating)
    q, v, a = (x[0] for x in state_here(tree, 4))
    if not tree.nv or not is_regular(tree, model, q):
        return  # massless joints: no accelerations to differentiate
    tau, derivatives = forward_there(tree, model, q, v, a)
    ours = forward_derivatives_text(tree)(q, v, tau)
    assert relative(ours.qdd, a) < 1e-10
    for own, there in zip(ours[1:], derivatives, strict=True):
        assert relative(own, there) < 1e-10


def test_most_robots_are_regular():
    regular = [name for name in ACCEPTED if (tree := robot(name)).nv and is_regular(tree, pinocchio_model(name), state_here(tree, 4)[0][0])]
    assert len(regular) > 60


@pytest.mark.parametrize("name, floating", COMPILED)
def test_compiled(name, floating):
    tree, model = robot(name, floating), pinocchio_model(name, floating)
    q, v, a = (x[0] for x in state_here(tree, 5))
    tau, derivatives = forward_there(tree, model, q, v, a)
    for ours, there in zip(forward_derivatives_kernel(tree)(q, v, tau)[1:], derivatives, strict=True):
        assert relative(ours, there) < 1e-10
