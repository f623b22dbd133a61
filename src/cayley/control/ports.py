"""The ports of laws: one table of names and shapes of measurements, targets, forces and wrenches."""

from __future__ import annotations

from cayley.model.tree import Tree
from cayley.systems import Port

# Of each port its shape, by a name, and whether it is zero where nothing drives it
_TABLE = {
    "q": ("configuration", False), "qd": ("velocity", False), "posture": ("configuration", False),
    "task_tau": ("velocity", False), "null_tau": ("velocity", True),
    "target": ("place", False), "target_qd": ("velocity", True), "target_qdd": ("velocity", True),
    "target_rate": ("rows", True), "target_acceleration": ("rows", True),
    "nominal": ("place", False), "nominal_rate": ("rows", True), "nominal_acceleration": ("rows", True),
    "target_force": ("pressed", False)}


def law_ports(tree: Tree, names: str, *, place: tuple[int, ...] | None = None, rows: int = 0,
              pressed: int = 0) -> dict[str, Port]:
    """The ports of a law by their names, with blanks between them.

    `place` is the shape of a target, a configuration (nq) if it is not given, `rows` the number of rows of the task of
    a frame, `pressed` the number of axes along which the force is controlled.

    >>> from cayley.model.catalogue import load_robot
    >>> law_ports(load_robot("panda"), "target target_qd")["target_qd"]
    Port(shape=(7,), unit='', default=0.0)
    """
    shapes = {"configuration": (tree.nq,), "velocity": (tree.nv,), "place": place or (tree.nq,), "rows": (rows,),
              "pressed": (pressed,)}
    return {name: Port(shapes[_TABLE[name][0]], default=0.0 if _TABLE[name][1] else None) for name in names.split()}
