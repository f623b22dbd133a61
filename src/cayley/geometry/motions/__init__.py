"""Motions: poses, displacements, screws, lines, dual numbers and quaternions, twists, wrenches, universal joints."""

from cayley.geometry import part_names

__getattr__, __dir__ = part_names(__name__, __file__)
