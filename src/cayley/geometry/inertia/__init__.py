"""Inertia of rigid bodies and their motion: moments, mass properties, consistency, Newton and Euler, gyroscope,
attitude."""

from cayley.geometry import part_names

__getattr__, __dir__ = part_names(__name__, __file__)
