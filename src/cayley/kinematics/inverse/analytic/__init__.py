"""Inverse kinematics in closed form, all solutions: one module for each family of arms."""

from cayley.kinematics.inverse.analytic.all_solutions import (
    AllSolutions,
    PoseEquations,
    all_solutions,
    analytic_inverse_kinematics,
    count_pose_equations,
)
from cayley.kinematics.inverse.analytic.candidates import AnalyticResult, Continuum
from cayley.kinematics.inverse.analytic.decoupled import decoupled_6r, stanford_arm
from cayley.kinematics.inverse.analytic.parallel import parallel_6r
from cayley.kinematics.inverse.analytic.planar import elbow_discriminant, planar_2r, planar_3r, scara

__all__ = [
    "AllSolutions", "AnalyticResult", "Continuum", "PoseEquations", "all_solutions", "analytic_inverse_kinematics",
    "count_pose_equations", "decoupled_6r", "elbow_discriminant", "parallel_6r", "planar_2r", "planar_3r", "scara",
    "stanford_arm"]
