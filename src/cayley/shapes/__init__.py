"""Shapes of bodies: boxes, cylinders, balls, capsules and meshes of URDF and MJCF files.

No computation needs them: they are read from the model's file when they are looked at."""

from cayley.shapes.reading import shapes_of
from cayley.shapes.shape import Shape, Shapes, Surfaces
from cayley.shapes.surface import Surface

__all__ = ["Shape", "Shapes", "Surface", "Surfaces", "shapes_of"]
