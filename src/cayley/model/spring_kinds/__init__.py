"""Kinds of springs of elastic drives, between the gear of a motor and the joint that it drives.

`KINDS` maps the words of files to kinds. `spring` lists what a new kind must define."""

from __future__ import annotations

from cayley.lazy_names import former_names
from cayley.model.spring_kinds.deflected import BacklashSpring, HardeningSpring, LinearSpring
from cayley.model.spring_kinds.law import SpringLaw
from cayley.model.spring_kinds.spring import SpringKind

KINDS: dict[str, type[SpringKind]] = {
    "linear": LinearSpring,
    "hardening": HardeningSpring,
    "backlash": BacklashSpring,
    "law": SpringLaw,
}

__all__ = ["KINDS", "BacklashSpring", "HardeningSpring", "LinearSpring", "SpringKind", "SpringLaw"]

__getattr__ = former_names(__name__, {"Spring": "SpringKind"})
