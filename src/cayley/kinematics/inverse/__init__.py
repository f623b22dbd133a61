"""Configurations that bring a frame where it should be, and velocities that keep it there."""

from cayley.kinematics.inverse.continuous import PostureResult, continuous_posture
from cayley.kinematics.inverse.numeric import InverseKinematicsResult, distinct_solutions, inverse_kinematics
from cayley.kinematics.inverse.tracking import (
    NewtonResult,
    PathResult,
    Rates,
    damped_inverse,
    damping_from_singular_value,
    follow_path,
    newton_iteration,
    resolved_rates,
)

__all__ = [
    "InverseKinematicsResult", "NewtonResult", "PathResult", "PostureResult", "Rates", "continuous_posture",
    "damped_inverse", "damping_from_singular_value", "distinct_solutions", "follow_path", "inverse_kinematics",
    "newton_iteration", "resolved_rates"]
