"""All functions agree on what is singular: beside a dead centre of the drives, and where a loop folds along an axis."""

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.solving.rounding import least_singular
from cayley.errors import CayleyError, SingularityError
from cayley.machines.networks import Connection, Network, RigidBody
from cayley.model.joint_kinds import Revolute


def engine(distance):
    """A slider-crank that its slider is to turn, so far from the dead centre [rad]."""
    machine = cy.load("slider_crank").variants.with_actuated("slider")
    stretched = np.array([-np.pi / 2, np.arctan2(0.09, 0.4) + np.pi / 2, 0.1])
    if not distance:
        return machine, stretched
    return machine, machine.loops.close(stretched + np.array([distance, 0.0, 0.0]), fixed=["crank"]).configuration


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-5, 1e-8, 1e-10, 0.0])
def test_beside_a_dead_centre_of_the_drives_all_functions_agree(distance):
    machine, q = engine(distance)
    rest = np.zeros(3)
    is_singular = distance < least_singular(3)
    kind = machine.loops.actuation_singularity(q, "crank", task=[0, 0, 0, 0, 0, 1], axes="world").kind
    assert kind == ("direct" if is_singular else "regular")
    both = machine.loops.input_output(q, "crank", task=[0, 0, 0, 0, 0, 1], axes="world")
    asked = {"actuated_motion": lambda: machine.loops.actuated_motion(q, [1.0]),
             "actuated_acceleration": lambda: machine.loops.actuated_acceleration(q, [1.0], [0.0]),
             "consistent_velocity": lambda: machine.loops.consistent_velocity(q, [0.0, 0.0, 1.0], keep=["slider"]),
             "inverse_dynamics": lambda: machine.inverse_dynamics(q, rest, rest),
             "minimal_dynamics": lambda: machine.loops.minimal_dynamics("slider").inertia_matrix(q),
             "input_output": lambda: both.motion([1.0])}
    for name, call in asked.items():
        try:
            refused = not np.isfinite(call()).all()
        except CayleyError:
            refused = True
        assert refused == is_singular, name
    assert np.isfinite(machine.forward_dynamics(q, rest, rest)).all()  # the constraints are regular there


@pytest.mark.spec("S4-31")
@pytest.mark.parametrize(("crank", "plate"), [(0.3, 0.6), (0.25, 0.7), (3e-4, 5e-4)])
@pytest.mark.parametrize("method", ["multipliers", "augmented", "projection", "null space"])
def test_a_row_that_is_rounding_of_a_sine_is_none(crank, plate, method):
    def rod(name, length):
        return RigidBody(name, 1.0, np.eye(3) * length**2 / 9, {"B": [-length / 2, 0, 0], "A": [length / 2, 0, 0]})

    def pin(name, first, second):
        return Connection(name, first, second, Revolute())

    net = Network("par", [rod("c", crank), rod("p", plate), rod("r", crank)],
                  [pin("l", "O.l", "c.B"), pin("k", "c.A", "p.B"), pin("e", "p.A", "r.B"), pin("r", "O.r", "r.A")],
                  gravity=[0, -9.81, 0], reference={"l": [0, 0, 0], "r": [plate, 0, 0]})
    machine = cy.Mechanism(net.tree())
    folded = np.array([0.0, 0.0, np.pi])
    rest = np.zeros(3)
    assert machine.loops.singularity(folded).kind == "bifurcation"
    kernel = machine.forward_dynamics.using(method)
    with pytest.raises(SingularityError, match="depend on each other"):
        kernel(folded, rest, rest)
    beside = folded + 1e-3 * np.array([1.0, -1.0, 1.0])
    found = kernel(np.array([folded, beside]), rest, rest)
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1], found[1][0] * np.array([1.0, -1.0, 1.0]), rtol=1e-5)
