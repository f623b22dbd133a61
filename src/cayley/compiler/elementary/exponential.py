"""Exponential and logarithm to the base e."""

from __future__ import annotations

from cayley.compiler.elementary.double import in_double
from cayley.compiler.vector_assembly import Lanes, Value

LOG2_E = 1.4426950408889634
LN_2 = (0.6931471805599453, 2.3190468138462996e-17)
LN_2_SHORT = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
"""The first has 33 bits, so that its products by exponents are exact."""
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
    x = lanes.select(x > 720.0, 720.0, x)
    x = lanes.select(x < -750.0, -750.0, x)
    k = lanes.multiply_add(x, LOG2_E, ROUNDER) - ROUNDER
    near = lanes.fma(k, -LN_2[0], x)
    r = lanes.fma(k, -LN_2[1], near)
    tail = lanes.fma(k, -LN_2[1], near - r)
    more = lanes.multiply_add(r * r, lanes.polynomial(r, EXPONENTIAL), tail)
    half = lanes.floor(0.5 * k)
    return (1.0 + (r + more)) * _power_of_two(lanes, half) * _power_of_two(lanes, k - half)


def _power_of_two(lanes: Lanes, k: Value) -> Value:
    """2^k for a whole k between -1022 and 1023."""
    return lanes.as_number(lanes.as_integer(k + (ROUNDER + 1023.0)) << 52)


@in_double
def log(lanes: Lanes, x: Value) -> Value:
    """k log 2 + log(1 + f) with 1 + f between sqrt(1/2) and sqrt(2), after fdlibm e_log.c."""
    k, f = _exponent_and_fraction(lanes, x)
    s = f / (f + 2.0)
    z = s * s
    half_square = 0.5 * f * f
    rest = lanes.multiply_add(z, lanes.polynomial(z, LOGARITHM), half_square)
    correction = lanes.multiply_add(s, rest, k * LN_2_SHORT[1])
    result = lanes.multiply_add(k, LN_2_SHORT[0], f - (half_square - correction))
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
