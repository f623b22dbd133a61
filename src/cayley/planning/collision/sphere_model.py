"""Spheres that contain the links of a robot, and the pairs of links that may meet: `CollisionModel`, as data and as a
file."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FieldArray
from cayley.errors import ModelError, check_known
from cayley.model.formats.files import read_bytes
from cayley.model.tree import Tree
from cayley.planning.collision.balls import ball_around_balls


@dataclass(frozen=True, eq=False)
class LinkSpheres:
    """Spheres (n, 4) on a body, each a center in its frame and a radius [m], that contain its shapes together. `volume`
    is that of the shapes at least, `excess` that of the spheres outside of them at most [m^3]; NaN if not known."""

    body: str
    spheres: FieldArray
    volume: float = np.nan
    excess: float = np.nan

    def __post_init__(self) -> None:
        said = f"the spheres of {self.body!r}"
        try:
            rows = np.array(self.spheres, dtype=float)
        except (ValueError, TypeError) as error:
            raise ModelError(f"{said} are no numbers (n, 4): {error}") from error
        if rows.ndim != 2 or rows.shape[1] != 4 or not len(rows):
            raise ModelError(f"{said} are rows of a center and a radius, (n, 4), not {rows.shape}")
        for k, row in enumerate(rows):
            if not (np.isfinite(row).all() and row[3] > 0):
                raise ModelError(f"sphere {k} of {self.body!r} is {row}: it is a finite center and a positive radius")
        rows.flags.writeable = False
        object.__setattr__(self, "spheres", rows)

    @cached_property
    def coarse(self) -> Array:
        """One sphere (4) that contains the others."""
        return ball_around_balls(self.spheres)


@dataclass(frozen=True, eq=False)
class CollisionModel:
    """Spheres on the links of a robot, and the pairs of links that may meet.

    >>> model = CollisionModel("two links", [LinkSpheres("link1", [[0.1, 0, 0, 0.1], [0.3, 0, 0, 0.1]])])
    >>> model
    <collision model of two links: 2 spheres on 1 link, 0 pairs of links>
    >>> model.links[0].coarse
    array([0.2, 0. , 0. , 0.2])
    """

    robot: str
    links: Sequence[LinkSpheres]
    pairs: Sequence[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", tuple(self.links))
        names = [link.body for link in self.links]
        twice = [name for k, name in enumerate(names) if name in names[:k]]
        if twice:
            raise ModelError(f"the collision model of {self.robot} has {twice[0]!r} twice")
        for pair in self.pairs:
            if len(pair) != 2 or pair[0] == pair[1]:
                raise ModelError(f"a pair of links that may meet is of two links, not {list(pair)}")
            check_known(pair, names, f"the collision model of {self.robot} has no spheres on")
        object.__setattr__(self, "pairs", tuple((one, other) for one, other in self.pairs))

    def __repr__(self) -> str:
        n = len(self.links)
        return (f"<collision model of {self.robot}: {self.count} spheres on {n} link{'' if n == 1 else 's'}, "
                f"{len(self.pairs)} pairs of links>")

    @property
    def count(self) -> int:
        """The number of spheres."""
        return sum(len(link.spheres) for link in self.links)

    @property
    def bodies(self) -> tuple[str, ...]:
        """The bodies of the spheres, one for each, in their order."""
        return tuple(link.body for link in self.links for _ in link.spheres)

    def with_spheres(self, body: str, spheres: ArrayLike) -> Self:
        """The same model with other spheres (n, 4) on a body, or with those of an object that it holds."""
        made = LinkSpheres(body, spheres)
        there = any(link.body == body for link in self.links)
        links = [made if link.body == body else link for link in self.links] + ([] if there else [made])
        return replace(self, links=links)

    def without_pairs(self, *pairs: tuple[str, str]) -> Self:
        """The same model in which some pairs of links are not looked at."""
        out = [frozenset(pair) for pair in pairs]
        check_known([" and ".join(pair) for pair in pairs if frozenset(pair) not in map(frozenset, self.pairs)], (),
                    f"the collision model of {self.robot} does not look at")
        return replace(self, pairs=[pair for pair in self.pairs if frozenset(pair) not in out])

    def with_pairs(self, *pairs: tuple[str, str]) -> Self:
        """The same model in which more pairs of links are looked at."""
        known = {frozenset(pair) for pair in self.pairs}
        return replace(self, pairs=[*self.pairs, *[pair for pair in pairs if frozenset(pair) not in known]])

    def check(self, tree: Tree) -> None:
        """Raise an error that names a body of the model which a mechanism does not have."""
        check_known([link.body for link in self.links], tree.body_names, f"{tree.name} has no body")

    @staticmethod
    def load(path: str | os.PathLike[str]) -> CollisionModel:
        """The model of a TOML file, as `save` writes it."""
        place = os.fspath(path)
        try:
            found = tomllib.loads(read_bytes(place).decode("utf-8"))
            check_known(found, ("robot", "pairs", "links"), f"{place!r} has", "a collision model has")
            for link in found["links"]:
                check_known(link, ("body", "spheres", "volume", "excess"), "a link has", "a link has")
            return CollisionModel(found["robot"], [LinkSpheres(**link) for link in found["links"]],
                                  [(*pair,) for pair in found.get("pairs", [])])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise error if place in str(error) else ModelError(
                f"{place!r} is no collision model: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a TOML file, which may be corrected by hand."""
        head = [f"robot = {json.dumps(self.robot)}", "pairs = [",
                *[f"    {json.dumps(list(pair))}," for pair in self.pairs], "]", ""]
        Path(path).write_text("\n".join([*head, *[line for link in self.links for line in _lines(link)]]),
                              encoding="utf-8")


def _lines(link: LinkSpheres) -> Iterable[str]:
    known = [f"{name} = {value!r}" for name, value in (("volume", link.volume), ("excess", link.excess))
             if np.isfinite(value)]
    return ["[[links]]", f"body = {json.dumps(link.body)}", *known, "spheres = [",
            *[f"    {row}," for row in link.spheres.tolist()], "]", ""]
