"""Arms whose joints are driven through springs, from the side of the links: the motion of the motors, and their forces,
that a motion of the links needs; and the acceleration and jerk of the links from the state.

It is the reduced model, in which rotors only spin.
"""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
