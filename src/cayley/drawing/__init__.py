"""Pictures of mechanisms with Matplotlib: stick figures, moving pictures, workspaces, manipulability maps, ellipsoids.

Matplotlib is loaded when the first of these names is used, not before."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
