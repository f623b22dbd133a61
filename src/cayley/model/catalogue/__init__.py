"""Robots as data: one TOML file each, with the published source of its numbers, or what they were made for.

Machines with loops are closed at q = 0. The fixtures of the specification are there as well."""

from __future__ import annotations

from pathlib import Path

from cayley.errors import ModelError, did_you_mean, shown
from cayley.model.catalogue.packaged import PACKAGED
from cayley.model.formats.toml_format import load_toml
from cayley.model.tree import Tree

_FOLDERS = {False: Path(__file__).parent, True: Path(__file__).parent / "fixtures"}


def catalogue_names(*, fixtures: bool = False) -> tuple[str, ...]:
    """The names of the robots, in order; or, of the fixtures of the specification: s1_f4 is F4 of seed 1.

    >>> catalogue_names()[:6]
    ('abb_irb120', 'biped', 'delta', 'excavator', 'five_bar', 'four_bar')
    """
    return tuple(sorted(entry.name[:-5] for entry in _FOLDERS[fixtures].iterdir() if entry.name.endswith(".toml")))


def load_robot(name: str) -> Tree:
    """A robot or fixture of the catalogue by name.

    >>> load_robot("puma560")
    <puma560: 7 bodies, 6 joints, nq = 6, nv = 6>
    >>> load_robot("puma650")
    Traceback (most recent call last):
    cayley.errors.ModelError: the catalogue has no robot 'puma650': did you mean 'puma560'?
    """
    robots = catalogue_names()
    fixtures = catalogue_names(fixtures=True)
    if name not in (*robots, *fixtures):
        known = sorted([*robots, *PACKAGED])
        advice = did_you_mean(name, (*known, *fixtures), otherwise=f"; it has {', '.join(known)}")
        raise ModelError(f"the catalogue has no robot {shown(name)}{advice}")
    return load_toml(_FOLDERS[name not in robots] / f"{name}.toml")
