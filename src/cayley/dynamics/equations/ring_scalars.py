"""Links whose scalars are exact sums of sines and cosines, with letters or with the numbers of the model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.equations.symbolic_links import Parameter, bundles_of, parameters_of, symbolic_links
from cayley.dynamics.equations.trigonometric_sums import Coordinate, Ring, Sum, decimal, exact_turn
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.dynamics.rigid_links.planar_rotations import Turn

_ORDER = ("I", "J", "m", "l", "r", "q", "g")  # of the factors of a product


@dataclass(frozen=True)
class ExactNumbers:
    """Numbers as the decimals that they are written with, turns as rational points of the circle."""

    ring: Ring

    def number(self, parameter: Parameter) -> Sum:
        return self.ring.number(decimal(parameter.value))

    def turn(self, parameter: Parameter) -> Turn:
        return Turn(*map(self.ring.number, exact_turn(float(np.cos(parameter.value)), float(np.sin(parameter.value)))))

    def shift(self, parameter: Parameter) -> None:
        return None


@dataclass(frozen=True)
class Letters:
    """A letter for each number, an angle for each turn."""

    ring: Ring

    def number(self, parameter: Parameter) -> Sum:
        return self.ring.letter(parameter.name)

    def turn(self, parameter: Parameter) -> Turn:
        angle = Coordinate(self.ring, parameter.name)
        return Turn(angle.cos(), angle.sin())

    def shift(self, parameter: Parameter) -> None:
        return None


def exact_links(links: Links, more: dict[str, Parameter], *, with_letters: bool, longest: int,
                outside: Collection[int] = ()) -> tuple[Links, Array, Any]:
    """The links with exact scalars, the coordinates (nq), and the scalars; `more` are letters that are not the links'
    own. The coordinates of slides, and of the links at the places `outside`, occur outside sines and cosines.
    """
    parameters = parameters_of(links) | more
    bundles = [[coordinate_name(number) for number in bundle] for bundle in bundles_of(links)]
    letters = [Parameter("q", str(k + 1), "", 0.0) for k, link in enumerate(links.links)
               if not link.is_revolute or k in outside]
    if with_letters:
        letters += [p for p in parameters.values() if p.kind in _ORDER]
        _add_turns(links, bundles, parameters)
    ring = Ring(bundles, [p.name for p in sorted(letters, key=lambda p: _ORDER.index(p.kind))], longest=longest)
    scalars = Letters(ring) if with_letters else ExactNumbers(ring)
    q = np.array([Coordinate(ring, coordinate_name(number)) for number in range(len(links.links))] or np.zeros(0))
    return symbolic_links(links, scalars), q, scalars


def coordinate_name(number: int) -> str:
    return f"q_{number + 1}"


def _add_turns(links: Links, bundles: list[list[str]], parameters: dict[str, Parameter]) -> None:
    """Oblique turns: about the parent's axis they belong to its bundle, others are bundles by themselves."""
    for number, link in enumerate(links.links):
        place = str(number + 1)
        parent = coordinate_name(link.parent)
        if f"beta_{place}" in parameters:
            home = next((bundle for bundle in bundles if link.parent != ROOT and parent in bundle), None)
            if home is None:
                bundles.append([f"beta_{place}"])
            else:
                home.append(f"beta_{place}")
        bundles.extend([name] for name in (f"alpha_{place}",) if name in parameters)
        if link.is_prismatic and f"gamma_{place}" in parameters:
            bundles.append([f"gamma_{place}"])
