"""The kinds of constraints: what ties the joints of a tree together, as pure functions of frames and coordinates.

`KINDS` maps the words of files to kinds. `constraint` lists what a new kind must define. Loops have a table of their
own in files; so do mimic joints, which are couplings."""

from __future__ import annotations

from cayley.model.constraint_kinds.ball import Ball
from cayley.model.constraint_kinds.constraint import Constraint
from cayley.model.constraint_kinds.coupling import Coupling, Polynomial
from cayley.model.constraint_kinds.loop import Loop
from cayley.model.constraint_kinds.pfaffian import Pfaffian
from cayley.model.constraint_kinds.prescribed_motion import PrescribedMotion
from cayley.model.constraint_kinds.rod import Rod
from cayley.model.constraint_kinds.rolling import Disc, KnifeEdge, RollerWheel, SteeredAxle, Wheel

KINDS: dict[str, type[Constraint]] = {
    "rod": Rod,
    "coupling": Coupling,
    "polynomial": Polynomial,
    "prescribed motion": PrescribedMotion,
    "knife edge": KnifeEdge,
    "wheel": Wheel,
    "disc": Disc,
    "ball": Ball,
    "roller wheel": RollerWheel,
    "steered axle": SteeredAxle,
    "pfaffian": Pfaffian,
}

__all__ = [
    "KINDS", "Ball", "Constraint", "Coupling", "Disc", "KnifeEdge", "Loop", "Pfaffian", "Polynomial",
    "PrescribedMotion", "Rod", "RollerWheel", "SteeredAxle", "Wheel"]
