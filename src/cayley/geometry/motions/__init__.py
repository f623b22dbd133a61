"""Motions: poses, displacements, screws, lines, dual numbers and quaternions, twists and wrenches, the universal joint.
"""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
