"""Machines with closed loops, wheels, legs and networks: parallel machines and linkages in closed form, rolling and
walking robots."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
