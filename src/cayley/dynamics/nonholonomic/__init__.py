"""Systems with constraints on velocities in the forms of the books: moving frames and their structure coefficients, the
equations of Routh and of Hamel, the matrix form, the descriptor form, program constraints; what is integrable, and
where brackets lead.

Each form is of one system, `nonholonomic_system(...)`, and has the accelerations and reactions of the others. A
mechanism with wheels is such a system: `nonholonomic_model(tree)`."""

from cayley.dynamics.nonholonomic.accessibility import Accessibility, accessibility, accessibility_of_frame
from cayley.dynamics.nonholonomic.integrable_part import (
    LevelFunction,
    LevelFunctions,
    level_functions,
    level_functions_of,
)
from cayley.dynamics.nonholonomic.model import nonholonomic_model
from cayley.dynamics.nonholonomic.moving_frame import MovingFrame, completed_frame
from cayley.dynamics.nonholonomic.program_constraints import program_control
from cayley.dynamics.nonholonomic.system import NonholonomicSystem, nonholonomic_system

__all__ = [
    "Accessibility", "LevelFunction", "LevelFunctions", "MovingFrame", "NonholonomicSystem", "accessibility",
    "accessibility_of_frame", "completed_frame", "level_functions", "level_functions_of", "nonholonomic_model",
    "nonholonomic_system", "program_control"]
