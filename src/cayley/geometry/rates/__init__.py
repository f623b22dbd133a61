"""Rates: angular velocity and acceleration of every parameterisation and back, attitude through half-turns, points in
motion.
"""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
