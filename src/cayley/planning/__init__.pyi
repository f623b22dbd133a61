"""The names of `cayley.planning`: what a user imports from it, and where each is written."""

from cayley.planning.composed import Composed as Composed
from cayley.planning.function_of_time import FunctionOfTime as FunctionOfTime
from cayley.planning.motion import Motion as Motion
from cayley.planning.motion import MotionState as MotionState
from cayley.planning.motion_file import load_motion as load_motion
from cayley.planning.polynomials import Polynomials as Polynomials
from cayley.planning.sequence import Sequence as Sequence
from cayley.planning.together import Together as Together
