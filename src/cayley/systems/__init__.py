"""Systems: states of any kind with inputs and outputs, how they are connected, and how they move in time."""

from cayley.systems.connect import connect, feedback, series
from cayley.systems.manifolds import UNIT_QUATERNION, Manifold
from cayley.systems.ports import Block, Port
from cayley.systems.system import System
from cayley.systems.transitions import Transition

__all__ = ["UNIT_QUATERNION", "Block", "Manifold", "Port", "System", "Transition", "connect", "feedback", "series"]
