"""Identification: the regressor, base parameters, estimates from measurements, and trajectories that excite."""

from cayley.dynamics.identification.base_parameters import (
    BaseExpressions,
    BaseParameters,
    base_parameters,
    random_states,
    structural_base_parameters,
    symbolic_base_parameters,
)
from cayley.dynamics.identification.estimate import Estimate, Fit, least_squares
from cayley.dynamics.identification.exciting import (
    ExcitationLimits,
    ExcitingTrajectory,
    FourierTrajectory,
    condition_of,
    exciting_trajectory,
    motion_limits,
    random_trajectory,
)
from cayley.dynamics.identification.measurements import (
    Measurements,
    SummedMeasurements,
    logged_measurements,
    measurements_from_positions,
    simulate_measurements,
    summed_measurements,
)
from cayley.dynamics.identification.physical import physical_estimate
from cayley.dynamics.identification.regressor import JOINT_TERMS, RegressorModel, carriers, linear_model, regressor
from cayley.dynamics.rigid_links.moments import (
    MOMENT_NAMES,
    MOMENTS_FROM_INERTIA,
    inertia_vector_from_moments,
    moments_from_inertia_vector,
    moments_from_vector,
    moved,
    vector_from_moments,
)
from cayley.lazy_names import former_names

__all__ = [
    "JOINT_TERMS", "MOMENTS_FROM_INERTIA", "MOMENT_NAMES", "BaseExpressions", "BaseParameters", "Estimate",
    "ExcitationLimits", "ExcitingTrajectory", "Fit", "FourierTrajectory", "Measurements", "RegressorModel",
    "SummedMeasurements", "base_parameters", "carriers", "condition_of", "exciting_trajectory",
    "inertia_vector_from_moments", "least_squares", "linear_model", "logged_measurements",
    "measurements_from_positions", "moments_from_inertia_vector", "moments_from_vector", "motion_limits", "moved",
    "physical_estimate", "random_states", "random_trajectory", "regressor", "simulate_measurements",
    "structural_base_parameters", "summed_measurements", "symbolic_base_parameters", "vector_from_moments"]

__getattr__ = former_names(__name__, {"MotionLimits": "ExcitationLimits", "LinearModel": "RegressorModel"})
