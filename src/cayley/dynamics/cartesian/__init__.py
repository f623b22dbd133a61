"""Dynamics in the coordinates of a frame: the operational-space model, its torques, and its linearisation."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
