"""The kinds of shapes: each a class in a file of its own, and a line here."""

from cayley.shapes.kinds.box import Box
from cayley.shapes.kinds.capsule import Capsule
from cayley.shapes.kinds.cylinder import Cylinder
from cayley.shapes.kinds.ellipsoid import Ellipsoid
from cayley.shapes.kinds.kind import Kind
from cayley.shapes.kinds.mesh import Mesh
from cayley.shapes.kinds.sphere import Sphere
from cayley.shapes.kinds.triangles import Triangles

__all__ = ["KINDS", "Box", "Capsule", "Cylinder", "Ellipsoid", "Kind", "Mesh", "Sphere", "Triangles"]

KINDS: dict[str, type[Kind]] = {
    kind.word: kind for kind in (Box, Cylinder, Sphere, Capsule, Ellipsoid, Mesh, Triangles)}
