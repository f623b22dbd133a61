"""The names of `cayley.planning`: what a user imports from it, and where each is written."""

from cayley.planning.composed import Composed as Composed
from cayley.planning.conditions import At as At
from cayley.planning.conditions import polynomial_through as polynomial_through
from cayley.planning.cubic_splines import cubic_spline as cubic_spline
from cayley.planning.cubic_splines import rest_to_rest_spline as rest_to_rest_spline
from cayley.planning.cubic_splines import second_derivatives as second_derivatives
from cayley.planning.function_of_time import FunctionOfTime as FunctionOfTime
from cayley.planning.motion import Motion as Motion
from cayley.planning.motion import MotionState as MotionState
from cayley.planning.motion_file import load_motion as load_motion
from cayley.planning.polynomials import Polynomials as Polynomials
from cayley.planning.sequence import Sequence as Sequence
from cayley.planning.splines import b_spline as b_spline
from cayley.planning.splines import quintic_spline as quintic_spline
from cayley.planning.together import Together as Together
from cayley.planning.via_poses import motion_through_poses as motion_through_poses
