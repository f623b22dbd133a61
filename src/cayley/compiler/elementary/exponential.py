"""Exponential and logarithm to the base e."""

from __future__ import annotations

from cayley.compiler.elementary.double import in_double, two_sum
from cayley.compiler.native.vector_assembly import Lanes, Value

LOG2_E = 1.4426950408889634
LN_2 = (0.6931471805599453, 2.3190468138462996e-17)
LN_2_SHORT = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
"""The first has 33 bits, so that its products by exponents are exact."""
INVERSE_LN_2 = (1.4426950408889634, 2.0355273740931033e-17)
INVERSE_LN_10 = (0.4342944819032518, 1.098319650216765e-17)
LOG10_2 = (0.30102999560767785, 5.630334806675098e-11)
ROUNDER = 1.5 * 2.0**52
"""Added to a number, it leaves the nearest whole number in the last bits of the sum."""
BITS_OF_ONE = 0x3FF0000000000000
BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD
BITS_OF_ROUNDER = 0x4338000000000000
INFINITY = float("inf")

EXPONENTIAL = (0.5000000000000011, 0.1666666666666641, 0.04166666666652986, 0.008333333333494928, 0.001388888894372117,
               0.00019841269505739304, 2.4801492994389583e-05, 2.755758696008136e-06, 2.763028884340043e-07,
               2.4999929565111758e-08)
"""(exp r - 1 - r) / r^2 on |r| <= ln(2)/2: minimax, 2^-56.3 of exp r."""
LOGARITHM = (6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
             1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01)
"""(log((1 + s) / (1 - s)) - 2 s) / s^3 by powers of s^2 on |s| <= 0.1716: fdlibm e_log.c."""


@in_double
def exp(lanes: Lanes, x: Value) -> Value:
    """2^k exp r with a whole k, the power in two halves so that it overflows and underflows only with the result."""
    k, grown = _reduced(lanes, x)
    return _scaled(lanes, 1.0 + grown, k)


@in_double
def expm1(lanes: Lanes, x: Value) -> Value:
    """2^k (exp r - 1 + (1 - 2^-k)); for a negative k, 2^k (exp r - 1) + (2^k - 1)."""
    k, grown = _reduced(lanes, x)
    near = lanes.select(k > 60.0, 60.0, lanes.select(k < -60.0, -60.0, k))  # beyond, 1 and the result share no digit
    result = _scaled(lanes, grown + (1.0 - _power_of_two(lanes, -near)), k)
    power = _power_of_two(lanes, near)
    result = lanes.select(k < 0.0, lanes.multiply_add(power, grown, power - 1.0), result)
    return lanes.select(x.equals(0.0), x, result)


@in_double
def exp2(lanes: Lanes, x: Value) -> Value:
    """2^k 2^f with the whole k that is nearest."""
    x = _within(lanes, x, -1100.0, 1040.0)
    k = (x + ROUNDER) - ROUNDER
    f = x - k
    r = f * LN_2[0]
    tail = lanes.fma(f, LN_2[0], -r) + f * LN_2[1]
    return _scaled(lanes, 1.0 + (r + lanes.multiply_add(r * r, lanes.polynomial(r, EXPONENTIAL), tail)), k)


def _reduced(lanes: Lanes, x: Value) -> tuple[Value, Value]:
    """The whole k and exp r - 1 with exp x = 2^k exp r."""
    x = _within(lanes, x, -750.0, 720.0)
    k = lanes.multiply_add(x, LOG2_E, ROUNDER) - ROUNDER
    near = lanes.fma(k, -LN_2[0], x)
    r = lanes.fma(k, -LN_2[1], near)
    tail = lanes.fma(k, -LN_2[1], near - r)
    return k, r + lanes.multiply_add(r * r, lanes.polynomial(r, EXPONENTIAL), tail)


def _within(lanes: Lanes, x: Value, low: float, high: float) -> Value:
    x = lanes.select(x > high, high, x)
    return lanes.select(x < low, low, x)


def _scaled(lanes: Lanes, x: Value, k: Value) -> Value:
    """x 2^k."""
    half = lanes.floor(0.5 * k)
    return x * _power_of_two(lanes, half) * _power_of_two(lanes, k - half)


def _power_of_two(lanes: Lanes, k: Value) -> Value:
    """2^k for a whole k between -1022 and 1023."""
    return lanes.as_number(lanes.as_integer(k + (ROUNDER + 1023.0)) << 52)


@in_double
def log(lanes: Lanes, x: Value) -> Value:
    """k log 2 + log(1 + f) with 1 + f between sqrt(1/2) and sqrt(2), after fdlibm e_log.c."""
    k, f = _exponent_and_fraction(lanes, x)
    s, rest, half_square = _series(lanes, f)
    correction = lanes.multiply_add(s, rest, k * LN_2_SHORT[1])
    result = lanes.multiply_add(k, LN_2_SHORT[0], f - (half_square - correction))
    return _where_positive(lanes, x, result)


@in_double
def log2(lanes: Lanes, x: Value) -> Value:
    """k + log(1 + f) / log 2."""
    return _logarithm_to_base(lanes, x, (1.0, 0.0), INVERSE_LN_2)


@in_double
def log10(lanes: Lanes, x: Value) -> Value:
    """k log10(2) + log(1 + f) / log 10."""
    return _logarithm_to_base(lanes, x, LOG10_2, INVERSE_LN_10)


def _logarithm_to_base(lanes: Lanes, x: Value, of_two: tuple[float, float], of_e: tuple[float, float]) -> Value:
    """k log 2 + log(1 + f) in another base, the logarithms of which are given as sums of two numbers."""
    k, f = _exponent_and_fraction(lanes, x)
    s, rest, half_square = _series(lanes, f)
    high = f - half_square
    low = ((f - high) - half_square) + s * rest  # log(1 + f) is their sum
    total, lost = two_sum(k * of_two[0], high * of_e[0])
    small = lanes.fma(high, of_e[0], -(high * of_e[0])) + (high * of_e[1] + low * of_e[0]) + k * of_two[1]
    return _where_positive(lanes, x, total + (lost + small))


def _series(lanes: Lanes, f: Value) -> tuple[Value, Value, Value]:
    """s, a rest and f^2 / 2, with log(1 + f) = f - (f^2 / 2 - s rest)."""
    s = f / (f + 2.0)
    z = s * s
    half_square = 0.5 * f * f
    return s, lanes.multiply_add(z, lanes.polynomial(z, LOGARITHM), half_square), half_square


def _where_positive(lanes: Lanes, x: Value, result: Value) -> Value:
    outside = lanes.select(x.equals(0.0), -INFINITY, lanes.select(x < 0.0, float("nan"), x))
    return lanes.select((x > 0.0) & (x < INFINITY), result, outside)


def _exponent_and_fraction(lanes: Lanes, x: Value) -> tuple[Value, Value]:
    subnormal = x < 2.0**-1022
    bits = lanes.as_integer(lanes.select(subnormal, x * 2.0**54, x))
    shifted = (bits + (BITS_OF_ONE - BITS_OF_ROOT_HALF)) >> 52
    one_plus_f = lanes.as_number(bits - (shifted << 52) + BITS_OF_ONE)
    bias = lanes.select(subnormal, lanes.constant(ROUNDER + 1023.0 + 54.0, "double"), ROUNDER + 1023.0)
    k = lanes.as_number(shifted + BITS_OF_ROUNDER) - bias
    return k, one_plus_f - 1.0
