"""Configurations that bring a frame where it should be, and velocities that keep it there."""

from cayley.kinematics.inverse.continuous import PostureResult, continuous_posture
from cayley.kinematics.inverse.numeric import InverseKinematicsResult, distinct_solutions, inverse_kinematics
from cayley.kinematics.inverse.rates import (
    NewtonResult,
    Rates,
    damped_inverse,
    damping_from_singular_value,
    newton_iteration,
    resolved_rates,
)
from cayley.kinematics.inverse.tracking import PathResult, follow_path

__all__ = [
    "InverseKinematicsResult", "NewtonResult", "PathResult", "PostureResult", "Rates", "continuous_posture",
    "damped_inverse", "damping_from_singular_value", "distinct_solutions", "follow_path", "inverse_kinematics",
    "newton_iteration", "resolved_rates"]
