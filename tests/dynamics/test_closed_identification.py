"""Parameters of closed mechanisms: what of them the forces of the drives tell, and estimates that foretell these forces
in states that were not measured."""

from functools import cache

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.identification import (
    base_parameters,
    exciting_trajectory,
    least_squares,
    physical_estimate,
    random_states,
    simulate_measurements,
    structural_base_parameters,
)
from cayley.dynamics.identification.measurements import Measurements
from cayley.errors import SingularityError, UnsupportedError
from dynamics.test_closed_inverse_dynamics import FIVE, bar, five_bar, moved

MACHINES = {
    "four-bar": lambda: bar("crank"),
    "five-bar": five_bar,
    "redundant five-bar": lambda: five_bar("left", "right", "left coupler"),
    "under-actuated five-bar": lambda: five_bar("left"),
    "slider-crank": cache(lambda: cy.load("slider_crank")),
    "panda_hand": cache(lambda: cy.load("panda_hand")),
}


@cache
def model_of(arm):
    return arm.identification.linear_model()


def states(arm, count, seed=0):
    return random_states(model_of(arm), count // 2, seed=seed)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "panda_hand"])
def test_random_states_are_closed_and_move_as_the_constraints_allow(name):
    arm = MACHINES[name]()
    q, qd, qdd = states(arm, 40)
    assert np.abs(arm.loops.residual(q)).max() < 1e-11
    A = arm.loops.jacobian(q)
    assert np.abs(np.einsum("kij,kj->ki", A, qd)).max() < 1e-11
    assert np.abs(np.einsum("kij,kj->ki", A, qdd) + arm.loops.drift(q, qd)).max() < 1e-9
    assert np.ptp(q, axis=0).max() > 0.3


@pytest.mark.parametrize("name", MACHINES)
def test_the_regressor_gives_the_forces_of_the_drives(name):
    arm = MACHINES[name]()
    q, qd, qdd = states(arm, 20, seed=1)
    model = model_of(arm)
    found = model.regressor(q, qd, qdd) @ model.values
    if arm.loops.actuation.kind == "under-actuated":  # then of all joints, those of least norm
        wanted = arm.variants.with_actuated(*arm.joint_names).inverse_dynamics(q, qd, qdd)
    else:
        wanted = arm.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())
    base = base_parameters(model)
    np.testing.assert_allclose(base.regressor(q, qd, qdd) @ base.values(model.values), wanted,
                               atol=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["four-bar", "redundant five-bar", "slider-crank"])
def test_base_parameters_are_as_many_as_the_forces_tell_apart(name):
    """By the rank of N^T Y of the tree at other closed states, in NumPy."""
    arm = MACHINES[name]()
    base = base_parameters(model_of(arm))
    q, qd, qdd = states(arm, 300, seed=7)
    Y = arm.variants.spanning_tree().identification.linear_model().regressor(q, qd, qdd)
    A = arm.loops.jacobian(q)
    rows = (np.linalg.svd(A)[2][:, -arm.loops.mobility:] @ Y).reshape(-1, Y.shape[-1])
    sizes = np.abs(rows).max(axis=0)
    values = np.linalg.svd(rows / np.maximum(sizes, 1e-9 * sizes.max()), compute_uv=False)
    assert base.size == int((values > 1e-9 * values[0]).sum())


def test_a_four_bar_tells_fewer_parameters_than_its_open_tree():
    arm = MACHINES["four-bar"]()
    cut = arm.variants.spanning_tree()
    closed, free = base_parameters(model_of(arm)), base_parameters(cut.identification.linear_model())
    assert closed.size < free.size


def test_a_delta_robot_tells_three_numbers_of_each_arm_and_the_mass_of_its_platform():
    """Its platform does not turn while it stays in one way of being assembled; its rods have no mass."""
    base = base_parameters(cy.load("delta").identification.linear_model())
    assert base.names == (*[f"{word}(arm {k})" for k in (1, 2, 3) for word in ("ux", "uy", "Jxx")], "m(platform)")


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "redundant five-bar", "under-actuated five-bar"])
def test_estimates_foretell_the_forces_of_states_that_were_not_measured(name):
    arm = MACHINES[name]()
    model = model_of(arm)
    base = base_parameters(model)
    found = least_squares(base, simulate_measurements(model, *states(arm, 200, seed=2), noise=1e-3))
    q, qd, qdd = states(arm, 60, seed=3)
    wanted = model.regressor(q, qd, qdd) @ model.values
    assert np.abs(found.forces(q, qd, qdd) - wanted).max() < 5e-3 * max(1.0, np.abs(wanted).max())
    exact = least_squares(base, simulate_measurements(model, *states(arm, 200, seed=2)))
    np.testing.assert_allclose(exact.forces(q, qd, qdd), wanted, atol=1e-7 * np.abs(wanted).max())
    deviations = np.abs(found.base_values - base.values(model.values)) / found.standard_deviations
    assert np.sqrt(np.mean(deviations**2)) < 3.0


def test_a_preload_of_redundant_drives_is_not_taken_for_mass():
    """Forces that work against each other do nothing to the motion, whatever their size."""
    arm = five_bar("left", "right", "left coupler")
    model = model_of(arm)
    q, qd, qdd = states(arm, 200, seed=4)
    measured = simulate_measurements(model, q, qd, qdd)
    against = np.zeros((200, 4))
    for k, at in enumerate(q):
        N = np.linalg.svd(arm.loops.jacobian(at))[2][2:].T
        idle = np.linalg.svd(N[[0, 1, 2]].T)[2][-1]
        against[k, [0, 1, 2]] = 5.0 * idle
    loaded = Measurements(model, q, qd, qdd, measured.tau + against)
    base = base_parameters(model)
    np.testing.assert_allclose(least_squares(base, loaded).base_values, base.values(model.values), atol=1e-9)
    assert least_squares(base, loaded).validate(loaded).error.max() < 1e-9


def test_bodies_that_fit_are_a_closed_mechanism_again():
    arm = five_bar()
    model = model_of(arm)
    measured = simulate_measurements(model, *states(arm, 200, seed=5), noise=1e-4)
    found = cy.Mechanism(physical_estimate(base_parameters(model), measured).tree)
    q, qd, qdd = states(arm, 20, seed=6)
    wanted = arm.inverse_dynamics(q, qd, qdd)
    assert np.abs(found.inverse_dynamics(q, qd, qdd) - wanted).max() < 1e-2 * np.abs(wanted).max()
    assert found.loops and found.actuated_joints == ("left", "right")


def test_friction_of_passive_joints_is_felt_by_the_drives():
    arm = five_bar().with_friction("left coupler", viscous=0.3).including("friction")
    model = arm.identification.linear_model(joint_terms=["viscous"])
    q, qd, qdd = states(arm, 200, seed=8)
    np.testing.assert_allclose(model.regressor(q, qd, qdd) @ model.values, arm.inverse_dynamics(q, qd, qdd), atol=1e-10)
    found = least_squares(base_parameters(model), simulate_measurements(model, q, qd, qdd))
    assert "viscous(left coupler)" in found.base.names
    place = found.base.names.index("viscous(left coupler)")
    np.testing.assert_allclose(found.base_values[place], 0.3, atol=1e-9)


def test_what_takes_joints_as_independent_refuses():
    arm = five_bar()
    base = base_parameters(model_of(arm))
    with pytest.raises(UnsupportedError, match=r"structure of base parameters .*loop 'pin'"):
        structural_base_parameters(model_of(arm))
    with pytest.raises(UnsupportedError, match=r"exciting trajectory .*loop 'pin'"):
        exciting_trajectory(base, position=(-3, 3), velocity=2, acceleration=5)
    q, qd, qdd = moved(arm, FIVE)
    still = [np.stack([x] * 40) for x in (q, qd, qdd)]
    with pytest.raises(SingularityError, match="does not excite"):
        least_squares(base, simulate_measurements(model_of(arm), *still))
