"""Rates: angular velocity and acceleration of every parameterisation and back, attitude through half-turns, points in
motion."""

from cayley.geometry import part_names

__getattr__, __dir__ = part_names(__name__, __file__)
