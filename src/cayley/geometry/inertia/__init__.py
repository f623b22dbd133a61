"""Inertia of rigid bodies and their motion: moments, mass properties, consistency, Newton and Euler, gyroscope,
attitude.
"""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
