"""The kinds of joints: what a joint lets its child do, as pure functions of the joint's own coordinates.

`KINDS` maps the words of files to kinds. `motion` lists what a new kind must define."""

from __future__ import annotations

from cayley.errors import ModelError, shown
from cayley.lazy_names import former_names
from cayley.model.joint_kinds.compound import Cylindrical, Planar, Universal
from cayley.model.joint_kinds.contract import check_contract
from cayley.model.joint_kinds.curvilinear import Curvilinear
from cayley.model.joint_kinds.held import FrameMotion, Row
from cayley.model.joint_kinds.motion import (
    Attitude,
    JointKind,
    Mark,
    MarkAxis,
    Screw,
    SharedMoments,
    plane_across,
    turn,
)
from cayley.model.joint_kinds.single_axis import Helical, Prismatic, Revolute
from cayley.model.joint_kinds.spherical import Floating, Spherical

KINDS: dict[str, type[JointKind]] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "helical": Helical,
    "universal": Universal,
    "spherical": Spherical,
    "planar": Planar,
    "cylindrical": Cylindrical,
    "curvilinear": Curvilinear,
    "floating": Floating,
    "fixed": JointKind,
}


def check_motion(motion: object, whose: str) -> None:
    """Raise a `ModelError` unless this is the motion of a joint; kinds of users are checked against the interface."""
    if not isinstance(motion, JointKind):
        named = motion if isinstance(motion, str) else getattr(motion, "__name__", "Revolute")
        raise ModelError(f"{whose} has the motion {shown(motion)}: give one of `cayley.model.joint_kinds`, as "
                         f"{named.capitalize()}()")
    if type(motion) not in KINDS.values():
        check_contract(motion)


__all__ = [
    "KINDS", "Attitude", "Curvilinear", "Cylindrical", "Floating", "FrameMotion", "Helical", "JointKind", "Mark",
    "MarkAxis", "Planar", "Prismatic", "Revolute", "Row", "Screw", "SharedMoments", "Spherical", "Universal",
    "check_contract", "check_motion", "plane_across", "turn"]

__getattr__ = former_names(__name__, {"Motion": "JointKind"})
