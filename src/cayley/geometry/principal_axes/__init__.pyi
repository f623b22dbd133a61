from cayley.geometry.principal_axes.diagonalization import (
    CUBE_ROTATIONS,
    Diagonalization,
    diagonalize,
    diagonalizing_rotations,
    rotations_by_elimination,
)
from cayley.geometry.principal_axes.dialytic import (
    FirstLevel,
    Quartics,
    dialytic_matrix,
    elimination_cubic,
    elimination_quartic,
    elimination_quartics,
    first_level,
)
from cayley.geometry.principal_axes.linear_systems import (
    LinearSolution,
    linear_solution,
    mode_functions,
    symmetric_exponential,
)
from cayley.geometry.principal_axes.plane_rotation import second_level_roots, second_level_rotations
from cayley.geometry.principal_axes.point_mass import PointMassRotations, point_mass_rotations
from cayley.geometry.principal_axes.symbolic import (
    PointMassSteps,
    SymbolicDiagonalization,
    second_level_radicals,
    symbolic_diagonalization,
    symbolic_point_mass,
)

__all__ = [
    "CUBE_ROTATIONS",
    "Diagonalization",
    "FirstLevel",
    "LinearSolution",
    "PointMassRotations",
    "PointMassSteps",
    "Quartics",
    "SymbolicDiagonalization",
    "diagonalize",
    "diagonalizing_rotations",
    "dialytic_matrix",
    "elimination_cubic",
    "elimination_quartic",
    "elimination_quartics",
    "first_level",
    "linear_solution",
    "mode_functions",
    "point_mass_rotations",
    "rotations_by_elimination",
    "second_level_radicals",
    "second_level_roots",
    "second_level_rotations",
    "symbolic_diagonalization",
    "symbolic_point_mass",
    "symmetric_exponential",
]
