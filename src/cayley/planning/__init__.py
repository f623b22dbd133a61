"""Motion planning in time: splines, motion profiles, curves of rotations and poses, paths and their timing.

Every planner returns a `Motion`; `arm.inverse_dynamics(*move(t))` gives the forces that it needs."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__, former={"EndState": "MotionState"})
