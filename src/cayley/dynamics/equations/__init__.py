"""The equations of motion of a mechanism as formulas to read."""

from cayley.dynamics.equations.equations_of_motion import equations_of_motion
from cayley.dynamics.equations.result import EquationsOfMotion

__all__ = ["EquationsOfMotion", "equations_of_motion"]
