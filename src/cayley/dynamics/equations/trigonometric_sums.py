"""Exact sums of parameters times sines and cosines: the scalars on which an algorithm's text gives equations to read.

    sum of   (polynomial in parameters and slides, with rational coefficients) * (product over bundles of cos or sin of
             k . angles)
Angles that are added up in the mechanism, those of parallel axes, form a bundle. Inside a bundle products are turned
into sums, 2 cos a cos b = cos(a + b) + cos(a - b), and so on; between bundles they stay products. This form is unique:
what cancels is gone, and cos q1 cos q2 - sin q1 sin q2 is cos(q1 + q2) without search. Derivatives are exact."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.equations.symbolic_links import ModelNumber, Scalars, bundles_of, parameters_of, symbolic_links
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.dynamics.rigid_links.planar_rotations import PlanarRotation
from cayley.errors import UnsupportedError
from cayley.extras import optional_imports

with optional_imports():
    from sympy import QQ, ring


class Wave(NamedTuple):
    """cos(k . angles of a bundle), or the sine; the first k that is not zero is positive. cos(0) is 1."""

    k: tuple[int, ...]
    is_sine: bool = False


class TooLong(UnsupportedError):
    """A sum has more terms than anybody would read."""


class Ring:
    """The generators of the sums: bundles of angles by their names, and the names of parameters and slides."""

    def __init__(self, bundles: Iterable[Sequence[str]], letters: Sequence[str], *, longest: int) -> None:
        self.bundles = tuple(map(tuple, bundles))
        self.letters = tuple(letters)
        self.polynomials, *generators = ring(self.letters, QQ)
        self.generators = dict(zip(self.letters, generators, strict=True))
        self.still = tuple(Wave((0,) * len(bundle)) for bundle in self.bundles)
        self.longest = longest

    def number(self, value: Fraction | float) -> RingSum:
        """A number: exactly the decimals that it is written with."""
        return self._sum({self.still: self.polynomials(_rational(value))})

    def letter(self, name: str) -> RingSum:
        return self._sum({self.still: self.generators[name]})

    def wave(self, angle: str, *, is_sine: bool) -> RingSum:
        place, bundle = next((p, b) for p, b in enumerate(self.bundles) if angle in b)
        wave = Wave(tuple(int(name == angle) for name in bundle), is_sine)
        return self._sum({(*self.still[:place], wave, *self.still[place + 1:]): self.polynomials(1)})

    def _sum(self, terms: dict[tuple[Wave, ...], Any]) -> RingSum:
        kept = {waves: factor for waves, factor in terms.items() if factor}
        if len(kept) > self.longest:
            raise TooLong(f"an entry has more than {self.longest} terms")
        return RingSum(self, kept)


class RingSum:
    """A sum of the ring, with the operations that texts use."""

    def __init__(self, ring: Ring, terms: dict[tuple[Wave, ...], Any]) -> None:
        self.ring = ring
        self.terms = terms

    def __add__(self, other: Scalar) -> RingSum:
        if isinstance(other, np.ndarray):
            return NotImplemented
        total = dict(self.terms)
        for waves, factor in self._read(other).terms.items():
            total[waves] = total[waves] + factor if waves in total else factor
        return self.ring._sum(total)

    def __mul__(self, other: Scalar) -> RingSum:
        if isinstance(other, np.ndarray):
            return NotImplemented
        total: dict[tuple[Wave, ...], Any] = {}
        for first, a in self.terms.items():
            for second, b in self._read(other).terms.items():
                product = a * b
                for waves, share in _product(first, second):
                    part = product * share
                    total[waves] = total[waves] + part if waves in total else part
        return self.ring._sum(total)

    def __neg__(self) -> RingSum:
        return self * -1

    def __sub__(self, other: Scalar) -> RingSum:
        return self + -other

    def __rsub__(self, other: Scalar) -> RingSum:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, number: float) -> RingSum:
        return self * (1 / Fraction(number))

    def by_letter(self, name: str) -> RingSum:
        """The derivative by a parameter or slide."""
        generator = self.ring.generators[name]
        return self.ring._sum({waves: factor.diff(generator) for waves, factor in self.terms.items()})

    def by_angle(self, name: str) -> RingSum:
        """The derivative by an angle."""
        place, bundle = next((p, b) for p, b in enumerate(self.ring.bundles) if name in b)
        total = {}
        for waves, factor in self.terms.items():
            k, is_sine = waves[place]
            slope = k[bundle.index(name)] * (1 if is_sine else -1)
            total[(*waves[:place], Wave(k, not is_sine), *waves[place + 1:])] = factor * slope
        return self.ring._sum(total)

    def _read(self, other: Scalar) -> RingSum:
        return other if isinstance(other, RingSum) else self.ring.number(other)


class RingCoordinate(RingSum):
    """A joint's coordinate: an angle with a sine and a cosine, and, if it is also a length, a letter of the ring."""

    def __init__(self, ring: Ring, name: str) -> None:
        super().__init__(ring, ring.letter(name).terms if name in ring.letters else {})
        self.name = name

    def rate_of(self, value: RingSum) -> RingSum:
        """The derivative of a sum by this coordinate."""
        turning = any(self.name in bundle for bundle in self.ring.bundles)
        sliding = self.name in self.ring.letters
        zero = self.ring.number(0)
        return (value.by_angle(self.name) if turning else zero) + (value.by_letter(self.name) if sliding else zero)

    def cos(self) -> RingSum:
        return self.ring.wave(self.name, is_sine=False)

    def sin(self) -> RingSum:
        return self.ring.wave(self.name, is_sine=True)


def exact_turn(cosine: float, sine: float) -> tuple[Fraction, Fraction]:
    """A cosine and a sine as rational numbers whose squares add up to 1, equal to the given ones to the last digits."""
    if cosine < 0:
        c, s = exact_turn(-cosine, sine)
        return -c, s
    t = Fraction(sine / (1 + cosine)).limit_denominator(10**17)  # the tangent of the half angle
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def decimal(value: float) -> Fraction:
    """A number as the decimals that it was meant to be: 15 digits."""
    return Fraction(f"{value:.15g}")


def _rational(value: Fraction | float) -> Scalar:
    exact = value if isinstance(value, Fraction) else Fraction(value.item() if isinstance(value, np.generic) else value)
    return QQ(exact.numerator, exact.denominator)


@cache
def _product(first: tuple[Wave, ...], second: tuple[Wave, ...]) -> list[tuple[tuple[Wave, ...], Any]]:
    found: list[tuple[tuple[Wave, ...], Any]] = [((), QQ(1))]
    for a, b in zip(first, second, strict=True):
        found = [((*waves, wave), share * part) for waves, share in found for wave, part in _bundle_product(a, b)]
    return found


@cache
def _bundle_product(a: Wave, b: Wave) -> list[tuple[Wave, Any]]:
    if not any(a.k) or not any(b.k):
        return [(b if not any(a.k) else a, QQ(1))]
    total = tuple(x + y for x, y in zip(a.k, b.k, strict=True))
    difference = tuple(x - y for x, y in zip(a.k, b.k, strict=True))
    signs = {(False, False): (1, 1), (True, True): (-1, 1), (True, False): (1, 1), (False, True): (1, -1)}[a.is_sine,
                                                                                                           b.is_sine]
    is_sine = a.is_sine != b.is_sine
    return [
        _upright(k, is_sine, QQ(sign, 2)) for k, sign in zip((total, difference), signs, strict=True)
        if any(k) or not is_sine]


def _upright(k: tuple[int, ...], is_sine: bool, factor: Scalar) -> tuple[Wave, Any]:
    leading = next((x for x in k if x), 1)
    if leading > 0:
        return Wave(k, is_sine), factor
    return Wave(tuple(-x for x in k), is_sine), -factor if is_sine else factor


_ORDER = ("I", "J", "m", "l", "r", "q", "g")  # of the factors of a product


class ExactNumbers(Scalars):
    """Numbers as the decimals that they are written with, turns as rational points of the circle."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring

    def number(self, parameter: ModelNumber) -> RingSum:
        return self.ring.number(decimal(parameter.value))

    def turn(self, parameter: ModelNumber) -> PlanarRotation:
        return PlanarRotation(*map(self.ring.number,
                                   exact_turn(float(np.cos(parameter.value)), float(np.sin(parameter.value)))))

    def shift(self, parameter: ModelNumber) -> None:
        return None


class Letters(ExactNumbers):
    """A letter for each number, an angle for each turn."""

    def number(self, parameter: ModelNumber) -> RingSum:
        return self.ring.letter(parameter.name)

    def turn(self, parameter: ModelNumber) -> PlanarRotation:
        angle = RingCoordinate(self.ring, parameter.name)
        return PlanarRotation(angle.cos(), angle.sin())


def exact_links(links: Links, more: dict[str, ModelNumber], *, with_letters: bool, longest: int,
                outside: Collection[int] = ()) -> tuple[Links, Array, Any]:
    """The links with exact scalars, the coordinates (nq), and the scalars; `more` are letters that are not the links'
    own. The coordinates of slides, and of the links at the places `outside`, occur outside sines and cosines."""
    parameters = parameters_of(links) | more
    bundles = [[coordinate_name(number) for number in bundle] for bundle in bundles_of(links)]
    letters = [ModelNumber("q", str(k + 1), "", 0.0) for k, link in enumerate(links.links)
               if not link.is_revolute or k in outside]
    if with_letters:
        letters += [p for p in parameters.values() if p.kind in _ORDER]
        _add_turns(links, bundles, parameters)
    ring = Ring(bundles, [p.name for p in sorted(letters, key=lambda p: _ORDER.index(p.kind))], longest=longest)
    scalars = Letters(ring) if with_letters else ExactNumbers(ring)
    q = np.array([RingCoordinate(ring, coordinate_name(number)) for number in range(len(links.links))] or np.zeros(0))
    return symbolic_links(links, scalars), q, scalars


def coordinate_name(number: int) -> str:
    return f"q_{number + 1}"


def _add_turns(links: Links, bundles: list[list[str]], parameters: dict[str, ModelNumber]) -> None:
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


def used_names(sums: Iterable[RingSum]) -> set[str]:
    """The letters and the angles that occur in sums, with the shifts of the joints."""
    found = set()
    for one in sums:
        for waves, polynomial in one.terms.items():
            found |= {name for name, degree in zip(one.ring.letters, polynomial.degrees(), strict=True) if degree > 0}
            found |= {name for bundle, wave in zip(one.ring.bundles, waves, strict=True)
                      for name, k in zip(bundle, wave.k, strict=True) if k}
    return found | {name.replace("q_", "gamma_") for name in found}
