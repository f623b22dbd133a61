"""Motions in time: splines, laws of motion, curves of rotations and poses, paths and their timing.

Whatever plans gives a `Motion`; `arm.inverse_dynamics(*move(t))` is what it asks of the drives.
"""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__, former={"EndState": "MotionState"})
