"""Arms whose joints are driven through springs: errors of the reduced model, in which rotors only spin, this model in
vector-parameters, and the motion and forces of the motors that a motion of the links needs.

The mechanism itself, with its motors, is `arm.including("elastic drives")`."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
