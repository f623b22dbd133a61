"""Rates: angular velocity and acceleration of every parameterisation and back, attitude through half-turns, points in motion."""

from cayley.geometry.rates.euler_rates import (
    angular_acceleration_from_euler_rates,
    angular_velocity_from_euler_rates,
    euler_rate_kernels,
    euler_rates_from_body_velocity,
    euler_rates_from_world_velocity,
    euler_second_rates_from_body_acceleration,
    euler_second_rates_from_world_acceleration,
    world_velocity_map_of_euler,
)
from cayley.geometry.rates.integration import AttitudePath, ChartSpan, IntegrationError, integrate_attitude
from cayley.geometry.rates.matrix_rates import (
    acceleration_matrix,
    angular_acceleration_from_matrix_rates,
    angular_velocity_from_matrix_rate,
    check_matrix_rate,
    matrix_rate_from_body_velocity,
    matrix_rate_from_world_velocity,
    matrix_second_rate_from_body_acceleration,
    matrix_second_rate_from_world_acceleration,
    tangent_matrix_rate,
)
from cayley.geometry.rates.measured_points import (
    RigidRates,
    acceleration_compatibility,
    angular_acceleration_from_points,
    angular_acceleration_from_points_by_trace,
    angular_velocity_from_points,
    angular_velocity_from_points_by_trace,
    check_spread,
    check_trace_form,
    rigid_rates_from_points,
    velocity_compatibility,
)
from cayley.geometry.rates.points import (
    acceleration_of_body_point,
    acceleration_of_moving_point,
    angular_velocity_about_axis,
    angular_velocity_from_point,
    compose_angular_rates,
    rate_from_rotating_frame,
    velocity_of_body_point,
    velocity_of_moving_point,
)
from cayley.geometry.rates.quaternion_rates import (
    angular_acceleration_from_homogeneous_rates,
    angular_acceleration_from_quaternion_rates,
    angular_velocity_from_homogeneous_rate,
    angular_velocity_from_quaternion_rate,
    homogeneous_rate_from_body_velocity,
    homogeneous_rate_from_world_velocity,
    homogeneous_second_rate_from_body_acceleration,
    homogeneous_second_rate_from_world_acceleration,
    quaternion_rate_from_body_velocity,
    quaternion_rate_from_world_velocity,
    quaternion_second_rate_from_body_acceleration,
    quaternion_second_rate_from_world_acceleration,
)
from cayley.geometry.rates.rotation_vector_rates import (
    angular_acceleration_from_rotation_vector_rates,
    angular_velocity_from_rotation_vector_rate,
    check_below_full_turn,
    rotation_vector_rate_from_body_velocity,
    rotation_vector_rate_from_world_velocity,
    rotation_vector_second_rate_from_body_acceleration,
    rotation_vector_second_rate_from_world_acceleration,
    world_velocity_map,
    world_velocity_map_inverse,
)
from cayley.geometry.rates.screw_axis import (
    instantaneous_screw,
    instantaneous_screw_from_homogeneous,
    instantaneous_screw_from_vector_parameter,
)
from cayley.geometry.rates.spinor_rates import (
    angular_acceleration_from_spinor_rates,
    angular_velocity_from_spinor_rate,
    rotate_by_spinor,
    spinor_rate_from_body_velocity,
    spinor_rate_from_world_velocity,
    spinor_second_rate_from_body_acceleration,
    spinor_second_rate_from_world_acceleration,
)
from cayley.geometry.rates.tangent_bundle import (
    compose_changing_homogeneous,
    compose_changing_vector_parameters,
    compose_moving_homogeneous,
    compose_moving_vector_parameters,
    inverse_of_moving_homogeneous,
    inverse_of_moving_vector_parameter,
)
from cayley.geometry.rates.tangent_pairs import (
    check_tangent_pair,
    compose_skew_vectors,
    compose_tangent_pairs,
    homogeneous_from_skew_vector,
    homogeneous_from_tangent_pair,
    matrix_from_tangent_pair,
    skew_vector_from_matrix,
    tangent_pair_from_matrix,
    vector_parameter_from_tangent_pair,
)
from cayley.geometry.rates.vector_parameter_rates import (
    angular_acceleration_from_vector_parameter_rates,
    angular_velocity_from_vector_parameter_rate,
    vector_parameter_rate_from_body_velocity,
    vector_parameter_rate_from_world_velocity,
    vector_parameter_second_rate_from_body_acceleration,
    vector_parameter_second_rate_from_world_acceleration,
)

__all__ = [
    "AttitudePath", "ChartSpan", "IntegrationError", "RigidRates", "acceleration_compatibility", "acceleration_matrix",
    "acceleration_of_body_point", "acceleration_of_moving_point", "angular_acceleration_from_euler_rates",
    "angular_acceleration_from_homogeneous_rates", "angular_acceleration_from_matrix_rates", "angular_acceleration_from_points",
    "angular_acceleration_from_points_by_trace", "angular_acceleration_from_quaternion_rates",
    "angular_acceleration_from_rotation_vector_rates", "angular_acceleration_from_spinor_rates",
    "angular_acceleration_from_vector_parameter_rates", "angular_velocity_about_axis", "angular_velocity_from_euler_rates",
    "angular_velocity_from_homogeneous_rate", "angular_velocity_from_matrix_rate", "angular_velocity_from_point",
    "angular_velocity_from_points", "angular_velocity_from_points_by_trace", "angular_velocity_from_quaternion_rate",
    "angular_velocity_from_rotation_vector_rate", "angular_velocity_from_spinor_rate", "angular_velocity_from_vector_parameter_rate",
    "check_below_full_turn", "check_matrix_rate", "check_spread", "check_tangent_pair", "check_trace_form", "compose_angular_rates",
    "compose_changing_homogeneous", "compose_changing_vector_parameters", "compose_moving_homogeneous",
    "compose_moving_vector_parameters", "compose_skew_vectors", "compose_tangent_pairs", "euler_rate_kernels",
    "euler_rates_from_body_velocity", "euler_rates_from_world_velocity", "euler_second_rates_from_body_acceleration",
    "euler_second_rates_from_world_acceleration", "homogeneous_from_skew_vector", "homogeneous_from_tangent_pair",
    "homogeneous_rate_from_body_velocity", "homogeneous_rate_from_world_velocity", "homogeneous_second_rate_from_body_acceleration",
    "homogeneous_second_rate_from_world_acceleration", "instantaneous_screw", "instantaneous_screw_from_homogeneous",
    "instantaneous_screw_from_vector_parameter", "integrate_attitude", "inverse_of_moving_homogeneous",
    "inverse_of_moving_vector_parameter", "matrix_from_tangent_pair", "matrix_rate_from_body_velocity", "matrix_rate_from_world_velocity",
    "matrix_second_rate_from_body_acceleration", "matrix_second_rate_from_world_acceleration", "quaternion_rate_from_body_velocity",
    "quaternion_rate_from_world_velocity", "quaternion_second_rate_from_body_acceleration",
    "quaternion_second_rate_from_world_acceleration", "rate_from_rotating_frame", "rigid_rates_from_points", "rotate_by_spinor",
    "rotation_vector_rate_from_body_velocity", "rotation_vector_rate_from_world_velocity",
    "rotation_vector_second_rate_from_body_acceleration", "rotation_vector_second_rate_from_world_acceleration",
    "skew_vector_from_matrix", "spinor_rate_from_body_velocity", "spinor_rate_from_world_velocity",
    "spinor_second_rate_from_body_acceleration", "spinor_second_rate_from_world_acceleration", "tangent_matrix_rate",
    "tangent_pair_from_matrix", "vector_parameter_from_tangent_pair", "vector_parameter_rate_from_body_velocity",
    "vector_parameter_rate_from_world_velocity", "vector_parameter_second_rate_from_body_acceleration",
    "vector_parameter_second_rate_from_world_acceleration", "velocity_compatibility", "velocity_of_body_point",
    "velocity_of_moving_point", "world_velocity_map", "world_velocity_map_inverse", "world_velocity_map_of_euler",
]
