"""Exact sums as formulas that read like a textbook's: SymPy expressions whose terms stand in the order in which they
are to be printed.

Terms with the same mass stand together, m_2*(l_1**2 + r_2**2 + 2*l_1*r_2*cos(q_2)), and gravity forces by their angle.
Where it is shorter, A + A cos 2x is written 2 A cos(x)**2. In long formulas sines and cosines get short names, c23 =
cos(q_2 + q_3), and so do the constants that multiply them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from cayley.compiler.typing import Scalar
from cayley.dynamics.equations.trigonometric_sums import Ring, RingSum, Wave
from cayley.extras import optional_imports

with optional_imports():
    import sympy

_LARGEST_RATIONAL = 1000  # numerators and denominators that are read as fractions
_LONE_DIGITS = 9  # angles that one digit each can name


class Factor(NamedTuple):
    """A power of the cosine or sine of k . angles of a bundle."""

    place: int
    k: tuple[int, ...]
    is_sine: bool
    power: int = 1


class Term(NamedTuple):
    """A number times letters, by their places in the ring with exponents, times sines and cosines."""

    number: Fraction
    letters: tuple[tuple[int, int], ...]
    waves: tuple[Factor, ...]


_ONE = Term(Fraction(1), (), ())


def product(*factors: Scalar) -> Scalar:
    """A product that keeps the order of its factors, a number first."""
    flat = [part for factor in map(sympy.sympify, factors) for part in (factor.args if factor.is_Mul else (factor,))]
    number = sympy.prod([part for part in flat if part.is_Number])
    kept = [number] * (number != 1) + [part for part in flat if not part.is_Number]
    return sympy.Mul(*kept, evaluate=False) if len(kept) > 1 else (kept or [number])[0]


def total(*terms: Scalar) -> Scalar:
    """A sum that keeps the order of its terms."""
    return sympy.Add(*terms, evaluate=False) if len(terms) > 1 else (terms or (sympy.Integer(0),))[0]


class Writer:
    """Writes the sums of a ring. `symbols` are the symbols of its letters, `angles` what each of its angles is the sum
    of. With `short` names: `lines` then has what they stand for, sines and cosines first."""

    def __init__(self, ring: Ring, symbols: Mapping[str, Any], angles: Mapping[str, Sequence[Any]], *, decimals: bool,
                 short: bool = False) -> None:
        self.ring = ring
        self.symbols = symbols
        self.angles = angles
        self.decimals = decimals
        self.short = short
        self._waves: dict[Factor, tuple[Any, Any]] = {}
        self._constants: dict[Any, tuple[Any, Any]] = {}

    @property
    def waves(self) -> list[tuple[Any, Any]]:
        return [
            self._waves[wave]
            for wave in sorted(self._waves, key=lambda w: (w.place, _size(w), [-x for x in w.k], w.is_sine))]

    @property
    def constants(self) -> list[tuple[Any, Any]]:
        return list(self._constants.values())

    def by_mass(self, value: RingSum) -> Scalar:
        """Terms with the same mass or inertia together."""
        return self._by_constants(value) if self.short and not self.decimals else self._masses(_squares(_terms(value)))

    def by_angle(self, value: RingSum) -> Scalar:
        """Terms with the same sines and cosines together, and gravity outside the brackets."""
        if self.short and not self.decimals:
            return self._by_constants(value)
        groups: dict[Any, list[Term]] = {}
        for term in sorted(_terms(value), key=_term_key):
            gravity = [place for place, power in term.letters if self.ring.letters[place][0] == "g" and power == 1]
            groups.setdefault((*gravity, *term.waves), []).append(_without(term, gravity)._replace(waves=()))
        return total(*[
            self._bracket([], inner, [self._letter(x, 1) if isinstance(x, int) else self._wave(x) for x in outside])
            for outside, inner in groups.items()])

    def _by_constants(self, value: RingSum) -> Scalar:
        """Every sine or cosine with one constant, which has a name if it is not short by itself."""
        parts = []
        for waves in sorted(value.terms, key=lambda w: _wave_key(_factors(w))):
            for slides, factor in self._by_slides(value.terms[waves]):
                number, constant = self._constant(factor)
                parts.append(product(self._number(number), constant, *slides, *map(self._wave, _factors(waves))))
        return total(*parts)

    def _by_slides(self, polynomial: Scalar) -> list[tuple[list[Any], Any]]:
        """A polynomial by the powers of the slides in it, which are no constants."""
        slides = [i for i, name in enumerate(self.ring.letters) if name.startswith("q_")]
        found: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
        for powers, number in polynomial.terms():
            rest = tuple(0 if i in slides else p for i, p in enumerate(powers))
            found.setdefault(tuple(powers[i] for i in slides), {})[rest] = number
        return [([self._letter(i, p) for i, p in zip(slides, key, strict=True)
                  if p], self.ring.polynomials.from_dict(terms)) for key, terms in sorted(found.items())]

    def _constant(self, polynomial: Scalar) -> tuple[Fraction, Any]:
        """A polynomial in constants as a number times an expression: a product of at most two letters, or a name."""
        number = polynomial.LC
        monic = polynomial.monic()
        if len(monic) == 1 and sum(monic.leading_expv()) <= 2:
            return _fraction(number), product(*[self._letter(i, p) for i, p in enumerate(monic.leading_expv()) if p])
        if monic not in self._constants:
            self._constants[monic] = sympy.Symbol(f"a_{len(self._constants) + 1}"), self._factored(monic)
        return _fraction(number), self._constants[monic][0]

    def _factored(self, polynomial: Scalar) -> Scalar:
        """A polynomial with the letters that all its terms share outside a bracket."""
        terms = _terms(RingSum(self.ring, {self.ring.still: polynomial}))
        shared = [
            x for x in terms[0].letters if all(x in term.letters for term in terms) and not self._is_inertial(x[0])]
        inner = [_without(term, [place for place, _ in shared]) for term in terms]
        return self._bracket([], inner, [self._letter(*x) for x in shared])

    def _masses(self, terms: list[Term]) -> Scalar:
        """Terms with the same mass or inertia together, and masses that multiply the same; inertias first."""
        groups: dict[int | None, list[Term]] = {}
        for term in sorted(terms, key=_term_key):
            place = next((place for place, _ in term.letters if self._is_inertial(place)), None)
            groups.setdefault(place, []).append(term if place is None else _without(term, [place]))
        same: dict[tuple[Term, ...], list[int]] = {}
        for place in sorted(place for place in groups if place is not None):
            same.setdefault(tuple(groups[place]), []).append(place)
        parts = [self._term(term) for term in groups.get(None, [])]
        for inner, places in same.items():
            outside = [self._letter(place, 1) for place in places]
            if inner == (_ONE,):
                parts += outside
            else:
                parts.append(self._bracket([total(*outside)], list(inner), []))
        return total(*parts)

    def _bracket(self, before: list[Any], inner: list[Term], behind: list[Any]) -> Scalar:
        """A product of factors and of a sum, whose sign, and whose number, if all terms have the same, is outside."""
        common = _common_number([term.number for term in inner])
        rest = [term._replace(number=term.number / common) for term in inner]
        return product(self._number(common), *before, self._masses(rest), *behind)

    def _term(self, term: Term) -> Scalar:
        return product(self._number(term.number), *[self._letter(*x) for x in term.letters],
                       *map(self._wave, term.waves))

    def _number(self, number: Fraction) -> Scalar:
        if number.denominator == 1 and abs(number) < 10**6:
            return sympy.Integer(number.numerator)
        if self.decimals or max(abs(number.numerator), number.denominator) > _LARGEST_RATIONAL:
            return sympy.Float(float(number))
        return sympy.Rational(number.numerator, number.denominator)

    def _letter(self, place: int, power: int) -> Scalar:
        return self.symbols[self.ring.letters[place]] ** power

    def _wave(self, factor: Factor) -> Scalar:
        plain = factor._replace(power=1)
        if self.short and plain not in self._waves:
            name = _short_name(plain, self.ring.bundles[plain.place], apart=sum(map(len, self.ring.bundles))
                               > _LONE_DIGITS)
            self._waves[plain] = sympy.Symbol(name), self._written_out(plain)
        return (self._waves[plain][0] if self.short else self._written_out(plain)) ** factor.power

    def _written_out(self, factor: Factor) -> Scalar:
        names = self.ring.bundles[factor.place]
        parts = [product(k, part) if part.is_Symbol else k * part for k, name in zip(factor.k, names, strict=True) if k
                 for part in self.angles[name]]
        return (sympy.sin if factor.is_sine else sympy.cos)(total(*parts), evaluate=False)

    def _is_inertial(self, place: int) -> bool:
        return self.ring.letters[place][0] in "mIJ"


def leading_sign(value: RingSum) -> int:
    """The sign of the term that is written first, not zero."""
    return 1 if min(_terms(value), key=_term_key).number > 0 else -1


def _terms(value: RingSum) -> list[Term]:
    return [Term(_fraction(number), tuple((i, p) for i, p in enumerate(powers) if p), _factors(waves))
            for waves, polynomial in value.terms.items() for powers, number in polynomial.terms()]


def _without(term: Term, places: Sequence[int]) -> Term:
    return term._replace(letters=tuple(x for x in term.letters if x[0] not in places))


def _factors(waves: tuple[Wave, ...]) -> tuple[Factor, ...]:
    return tuple(Factor(place, wave.k, wave.is_sine) for place, wave in enumerate(waves) if any(wave.k))


def _fraction(number: Scalar) -> Fraction:
    return Fraction(int(number.numerator), int(number.denominator))


def _squares(terms: list[Term]) -> list[Term]:
    """A + A cos 2x as 2 A cos(x)^2, A - A cos 2x as 2 A sin(x)^2, halves of sin 2x as sin x cos x."""
    left = {(term.letters, term.waves): term.number for term in terms}
    for letters, waves in sorted(left, key=lambda key: -len(key[1])):
        number = left.get((letters, waves))
        doubled = [w for w in waves if w.power == 1 and not any(x % 2 for x in w.k)]
        if number is None or not doubled:
            continue
        wave = doubled[0]
        rest = tuple(w for w in waves if w != doubled[0])
        half = wave._replace(k=tuple(x // 2 for x in wave.k))
        if wave.is_sine and letters and number.denominator == 2:
            del left[letters, waves]
            left[letters, _ordered((*rest, half, half._replace(is_sine=False)))] = 2 * number
        elif not wave.is_sine and abs(left.get((letters, rest), 0)) == abs(number):
            plain = left.pop((letters, rest))
            del left[letters, waves]
            left[letters, _ordered((*rest, half._replace(is_sine=plain != number, power=2)))] = 2 * plain
    return [Term(number, *key) for key, number in left.items()]


def _ordered(waves: tuple[Factor, ...]) -> tuple[Factor, ...]:
    return tuple(sorted(waves))


def _common_number(numbers: list[Fraction]) -> Fraction:
    """-1 where every term would start with a minus, and the factor that all share."""
    if all(number == numbers[0] for number in numbers):
        return numbers[0]
    return Fraction(-1 if all(number < 0 for number in numbers) else 1)


def _size(factor: Factor) -> int:
    return sum(map(abs, factor.k))


def _wave_key(waves: tuple[Factor, ...]) -> tuple[Any, ...]:
    return len(waves), [(w.place, _size(w), [-x for x in w.k], w.is_sine, -w.power) for w in waves]


def _term_key(term: Term) -> tuple[Any, ...]:
    return _wave_key(term.waves), len(term.letters), term.letters


def _short_name(factor: Factor, bundle: tuple[str, ...], *, apart: bool) -> str:
    """c23 is cos(q_2 + q_3), s22 sin(2 q_2), c2m3 cos(q_2 - q_3); c1_12, if there are more than nine joints."""
    parts = []
    for k, name in zip(factor.k, bundle, strict=True):
        parts += [("m" if k < 0 else "") +
                  (name.removeprefix("q_") if name.startswith("q_") else name.replace("_", ""))] * abs(k)
    apart = apart or any(part.isalnum() and not part.lstrip("m").isdigit() for part in parts)
    return ("s" if factor.is_sine else "c") + ("_" if apart else "").join(parts)
