"""Systems: states of any kind with inputs and outputs, how they are connected, and how they move in time."""

from cayley.geometry.manifolds import UNIT_QUATERNION, Manifold
from cayley.systems.joining.connect import HasSystem, connect, feedback, series
from cayley.systems.layout import Record, State, StateLike
from cayley.systems.ports import Block, Port
from cayley.systems.system import System
from cayley.systems.transitions import Transition

__all__ = ["UNIT_QUATERNION", "Block", "HasSystem", "Manifold", "Port", "Record", "State", "StateLike", "System",
           "Transition", "connect", "feedback", "series"]
