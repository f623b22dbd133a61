"""The geoms of MJCF files, as MuJoCo compiles them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.geometry.motions.homogeneous import pose_from_quaternion
from cayley.model.formats.mjcf import compiled_mjcf, names_of
from cayley.model.formats.search import Search
from cayley.shapes.kinds import KINDS, Kind, Triangles
from cayley.shapes.shape import Role, Shape, Shapes
from cayley.shapes.xml_shapes import MOST_SHAPES

if TYPE_CHECKING:
    from mujoco import MjModel

_PLANE = 0
_SHOWN_GROUPS = 3  # MuJoCo's own viewer shows the first three
_WORDS = {1: "height field", 8: "signed distance field"}


def mjcf_shapes(search: Search) -> Shapes:
    """The shapes of a file: visual are those of the groups that MuJoCo's viewer shows, collision those that can touch.
    Planes have no end and are not shown."""
    model, _, _ = compiled_mjcf(search.model, trust=search.trusted)
    bodies = names_of(model, "body", model.nbody)
    kinds = {kind.mujoco: kind for kind in KINDS.values() if kind.mujoco is not None}
    meshes: dict[int, Triangles] = {}
    shapes: list[Shape] = []
    missing: list[str] = []
    for k in range(model.ngeom):
        number = int(model.geom_type[k])
        if number == _PLANE:
            continue
        body = bodies[model.geom_bodyid[k]]
        if number not in kinds:
            missing.append(f"{body}: a {_WORDS.get(number, 'shape of an unknown kind')} is not drawn")
            continue
        if len(shapes) == MOST_SHAPES:
            missing.append(f"{body}: there are more than {MOST_SHAPES} shapes; this and those after it are left out")
            break
        mesh = int(model.geom_dataid[k])
        kind: Kind = (meshes.setdefault(mesh, _mesh(model, mesh)) if kinds[number] is Triangles
                      else kinds[number].from_mujoco(model.geom_size[k]))
        pose = np.array(pose_from_quaternion.unchecked(np.array(model.geom_quat[k]), np.array(model.geom_pos[k])))
        shapes.append(Shape(body, kind, pose, _roles(model, k), _color(model, k)))
    return Shapes(tuple(shapes), tuple(missing))


def _mesh(model: MjModel, mesh: int) -> Triangles:
    first = model.mesh_vertadr[mesh]
    start = model.mesh_faceadr[mesh]
    return Triangles(np.array(model.mesh_vert[first:first + model.mesh_vertnum[mesh]], dtype=float),
                     np.array(model.mesh_face[start:start + model.mesh_facenum[mesh]]))


def _roles(model: MjModel, geom: int) -> tuple[Role, ...]:
    found: list[Role] = []
    if model.geom_group[geom] < _SHOWN_GROUPS:
        found.append("visual")
    if model.geom_contype[geom] or model.geom_conaffinity[geom]:
        found.append("collision")
    return tuple(found)


def _color(model: MjModel, geom: int) -> tuple[float, float, float]:
    material = model.geom_matid[geom]
    r, g, b = (model.geom_rgba[geom] if material < 0 else model.mat_rgba[material])[:3]
    return float(r), float(g), float(b)
