"""Derivatives of inverse dynamics beside Pinocchio, for every robot of example-robot-data, fixed and floating."""

import numpy as np
import pinocchio as pin
import pytest

from cayley.dynamics.linearised import by_differentiation
from cayley.dynamics.linearised.kernels import linearize_kernel, sensitivities_text
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from dynamics.robots import ACCEPTED, pinocchio_model, places, robot, state_here, state_there

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
COMPILED = [(name, floating) for name in ACCEPTED
            for word, floating in (("/panda.urdf", False), ("/ur5_robot.urdf", False), ("/a1.urdf", True))
            if name.endswith(word)]


def relative(ours, theirs):
    return np.abs(ours - theirs).max(initial=0.0) / max(1.0, np.abs(theirs).max(initial=0.0))


def sensitivities_there(tree, model, q, v, a):
    own, data = places(tree, model), model.createData()  # what comes back are views of `data`
    P, V, D = pin.computeRNEADerivatives(model, data, *state_there(tree, model, q, v, a))
    return [x[np.ix_(own, own)] for x in (np.triu(D) + np.triu(D, 1).T, V, P)]


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ACCEPTED)
def test_robots_agree_with_pinocchio(name, floating):
    tree, model = robot(name, floating), pinocchio_model(name, floating)
    q, v, a = (x[0] for x in state_here(tree, 4))
    if not tree.nv:
        assert [x.shape for x in sensitivities_text(tree)(q, v, a)] == [(0, 0)] * 3
        return
    theirs = sensitivities_there(tree, model, q, v, a)
    for ours, there in zip(sensitivities_text(tree)(q, v, a), theirs, strict=True):
        assert relative(ours, there) < 1e-12


@pytest.mark.parametrize("name, floating", COMPILED)
def test_compiled_and_differentiated(name, floating):
    tree, model = robot(name, floating), pinocchio_model(name, floating)
    q, v, a = state_here(tree, 5, 3)
    compiled = linearize_kernel(tree)(q, v, a)
    for k in range(3):
        theirs = sensitivities_there(tree, model, q[k], v[k], a[k])
        differentiated = by_differentiation.sensitivities(minimal_links(tree), q[k], v[k], a[k])
        for ours, ours_too, there in zip(compiled, differentiated, theirs, strict=True):
            assert relative(ours[k], there) < 1e-12
            assert relative(ours_too, there) < 1e-12
