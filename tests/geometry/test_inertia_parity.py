"""Every kernel of the inertia modules in every back end."""

import numpy as np
import pytest

from cayley.geometry import inertia as ci
from compiler.parity import check_parity
from geometry import formulas_of_inertia as fi
from geometry.parity_of_many import check_parity_of_many

RNG = np.random.default_rng(26)
V, M, S = (3,), (3, 3), ()

MOMENTS = [
    (ci.euler_tensor_from_inertia, [M]), (ci.inertia_from_euler_tensor, [M]), (ci.pseudo_inertia, [S, V, M]),
    (ci.moments_from_pseudo_inertia, [(4, 4)]), (ci.inertia_rate, [V, M]), (ci.inertia_about_point, [S, V, M]),
    (ci.inertia_about_center, [S, V, M]), (fi.inertia_moved, [S, V, V, M]), (fi.euler_tensor_about_point, [S, V, M]),
    (ci.euler_tensor_about_center, [S, V, M]), (fi.moments_about_point, [S, V, (6,)]),
]
DYNAMICS = [
    (ci.angular_momentum, [M, V]),
    (fi.angular_momentum_from_euler_tensor, [M, V]),
    (fi.angular_momentum_about_point, [S, V, V, V]),
    (fi.angular_momentum_of_moving_body, [S, V, V, V, M, V]),
    (fi.angular_momentum_tensor, [M, V]),
    (fi.angular_momentum_tensor_from_inertia, [M, V]),
    (ci.kinetic_energy, [S, V, M, V]),
    (ci.euler_torque, [M, V, V]),
    (fi.euler_torque_principal, [V, V, V]),
    (fi.euler_torque_from_euler_tensor, [M, V, V]),
    (fi.torque_tensor, [M, M]),
    (fi.torque_tensor_from_inertia, [M, M, V]),
    (fi.moment_about_point, [V, V, V]),
    (fi.force_in_body_axes, [S, V, V, V]),
    (ci.newton_euler_by_vectors, [S, M, V, V, V, V]),
    (ci.newton_euler_by_tensors, [S, M, V, M, V]),
    (ci.newton_euler_by_symmetric_tensors, [S, M, V, M, V]), ]
SOLIDS = [
    (ci.box_inertia, [S, V]),
    (ci.ellipsoid_inertia, [S, V]),
    (ci.plate_inertia, [S, (2,)]),
    (ci.sphere_inertia, [S, S]),
    (ci.disc_inertia, [S, S]),
    (ci.spherical_shell_inertia, [S, S]),
    (ci.hemisphere_inertia, [S, S]),
    (ci.rod_inertia, [S, S]),
    (ci.ring_inertia, [S, S]),
    (ci.cylinder_inertia, [S, S, S]),
    (ci.cone_inertia, [S, S, S]),
    (ci.capsule_inertia, [S, S, S]),
    (ci.torus_inertia, [S, S, S]),
    (ci.tube_inertia, [S, S, S, S]), ]
GYROSCOPE = [
    (ci.gyroscope_angular_velocity, [V, V]),
    (ci.nodal_from_fixed, [V, V]),
    (fi.fixed_from_nodal, [V, V]),
    (ci.gyroscope_moments, [S, S, S, V, V]),
    (ci.gyroscope_accelerations, [S, S, S, V, V]),
    (fi.steady_precession_moment, [S, S, S, S, S]), ]


def inertias(states):
    raw = RNG.normal(size=(states, 3, 3))
    return raw @ np.swapaxes(raw, 1, 2) + np.eye(3)


@pytest.mark.parametrize("group", [MOMENTS, DYNAMICS, SOLIDS, GYROSCOPE],
                         ids=["moments", "dynamics", "solids", "gyroscope"])
def test_parity(group):
    check_parity_of_many([
        (kernel, [RNG.uniform(0.5, 2, size=(2, *shape)) for shape in shapes]) for kernel, shapes in group])


def test_parity_of_solved_equations():
    J, B, (w, c), u = inertias(2), RNG.normal(size=(2, 3, 2)), RNG.normal(size=(2, 2, 3)), RNG.normal(size=(2, 2))
    check_parity_of_many([(ci.inverse_inertia, [J]), (ci.angular_acceleration_from_torque, [J, w, c]),
                          (ci.momentum_drift, [J, w]), (ci.attitude_rates, [J, B, w, c, u]),
                          (ci.momentum_state_rates, [J, B, w, c, u]),
                          (ci.vector_parameter_acceleration, [J, B, w, c, u])], tolerance=1e-12, single=1e-4)


def test_derivatives():
    check_parity(ci.capsule_inertia, *RNG.uniform(0.5, 2, size=(3, 2)))
    check_parity(ci.gyroscope_angular_velocity, *RNG.normal(size=(2, 2, 3)))
