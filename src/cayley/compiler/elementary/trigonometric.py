"""Sine, cosine and tangent: x = k pi/2 + r with a whole k, polynomials in r, and the quadrant k."""

from __future__ import annotations

from cayley.compiler.elementary.double import in_double, two_sum
from cayley.compiler.native.vector_assembly import Assembly, Lanes, Value

TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963267948966, 6.123233995736765e-17, 1.0828566739219139e-32)
"""pi/2 in pieces of 53 bits. All pieces are positive: so -0.0 minus zero times a piece stays -0.0."""
HALF_PI_SINGLE = (1.57079625129699707031, 7.54978941586159635335e-8, 5.39030252995776476554e-15)
"""pi/2 in pieces of 24 bits, all positive."""
HALF_PI_SHORT = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32)
"""pi/2 in pieces of 33 bits, whose products by whole numbers below 2^20 are exact, and a last one of 53."""
TWO_OVER_PI_BITS = int(
    "145f306dc9c882a53f84eafa3ea69bb81b6c52b3278872083fca2c757bd778ac36e48dc74849ba5c00c925dd413a32439fc3bd63962534e7"
    "dd1046bea5d768909d338e04d68befc827323ac7306a673e93908bf177bf250763ff12fffbc0b301fde5e2316b414da3eda6cfd9e4f96136"
    "e9e8c7ecd3cbfd45aea4f758fd7cbe2f67a0e73ef14a525d4d7f6bf623f1aba10ac", 16)
"""2/pi, times 2^1161."""
TABLE = "@cayley.two_over_pi"

BITS_OF_FAR = {"double": 1023 + 20 << 52, "float": 127 + 16 << 23}
"""2^20 and 2^16: beyond, the reduction in few operations is not exact."""
BITS_OF_LOST = {"double": 1023 + 40 << 52, "float": 127 + 20 << 23}
"""2^40 and 2^20: as far as fused products reduce a number in few operations, where there is no other way."""
ROUNDER = {"double": 1.5 * 2.0**52, "float": 1.5 * 2.0**23}
"""Added to a number, it leaves the nearest whole number in the last bits of the sum."""
TINY = 1e-30
"""Changes no sum but a zero one: it makes the correction of a sine positive there, so that -0.0 stays -0.0."""

SINE = {  # (sin r - r) / r^3 by powers of r^2 on |r| <= pi/4
    "double": (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
               2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10),  # fdlibm k_sin.c
    "float": (-0.16666653752326965, 0.008332106284797192, -0.00019507882825564593),  # minimax, 2^-27.8
}
COSINE = {  # (cos r - 1) / r^2
    "double": (-0.5, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
               -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11),  # fdlibm k_cos.c
    "float": (-0.5, 0.04166664555668831, -0.0013887304812669754, 2.443142693664413e-05),  # minimax, 2^-32.9
}


def sincos(lanes: Lanes, x: Value) -> tuple[Value, Value]:
    """Sine and cosine by one reduction. In single precision only the reduction is done in double."""
    r, quadrant = _reduced(lanes, x)
    z = r * r
    correction = lanes.multiply_add(z, lanes.polynomial(z, SINE[x.kind]), TINY)
    sine = lanes.multiply_add(r, correction, r)
    cosine = lanes.multiply_add(z, lanes.polynomial(z, COSINE[x.kind]), 1.0)
    return _turned(lanes, sine, cosine, lanes.as_integer(quadrant))


def sin(lanes: Lanes, x: Value) -> Value:
    return sincos(lanes, x)[0]


def cos(lanes: Lanes, x: Value) -> Value:
    return sincos(lanes, x)[1]


@in_double
def tan(lanes: Lanes, x: Value) -> Value:
    """sin r / cos r or - cos r / sin r, each a sum of two numbers."""
    r, tail, quadrant = _reduced_to_pair(lanes, x)
    sine, cosine = _sine_and_cosine_pairs(lanes, r, tail)
    odd = _is_odd(lanes.as_integer(quadrant))
    above, above_tail = (lanes.select(odd, -c, s) for c, s in zip(cosine, sine, strict=True))
    below, below_tail = (lanes.select(odd, s, c) for c, s in zip(cosine, sine, strict=True))
    ratio = above / below
    rest = lanes.fma(-ratio, below, above) + (above_tail - ratio * below_tail)
    return lanes.select(x.equals(0.0), x, ratio + rest / below)


def _sine_and_cosine_pairs(lanes: Lanes, r: Value, tail: Value) -> tuple[tuple[Value, Value], tuple[Value, Value]]:
    """Each as a rounded value and what the rounding lost."""
    z = r * r
    z_tail = lanes.fma(r, r, -z)
    start = lanes.fma(z, -0.5, 1.0)
    lost = lanes.fma(z, -0.5, 1.0 - start) - lanes.multiply_add(z_tail, 0.5, r * tail)
    more = lanes.multiply_add(r, z * lanes.polynomial(z, SINE["double"]), tail * start)
    less = lanes.multiply_add(z * z, lanes.polynomial(z, COSINE["double"][1:]), lost)
    sine = r + more
    cosine = start + less
    return (sine, more - (sine - r)), (cosine, less - (cosine - start))


def _turned(lanes: Lanes, sine: Value, cosine: Value, quadrant: Value) -> tuple[Value, Value]:
    """(sin, cos) of r + k pi/2 from those of r; k is in the last bits of the integer."""
    odd = _is_odd(quadrant)
    return (_negated_by_bit_1(lanes, lanes.select(odd, cosine, sine), quadrant),
            _negated_by_bit_1(lanes, lanes.select(odd, sine, cosine), quadrant + 1))


def _is_odd(quadrant: Value) -> Value:
    return (quadrant & 1).equals(1)


def _negated_by_bit_1(lanes: Lanes, a: Value, quadrant: Value) -> Value:
    sign = (quadrant & 2) << (62 if a.kind == "double" else 30)
    return lanes.as_number(lanes.as_integer(a) ^ sign)


def _reduced(lanes: Lanes, x: Value) -> tuple[Value, Value]:
    """r, and k in the last bits of a number."""
    quadrant = lanes.multiply_add(x, TWO_OVER_PI, ROUNDER[x.kind])
    if lanes.is_straight:
        return _reduced_straight(lanes, x, quadrant - ROUNDER[x.kind]), quadrant
    k = lanes.convert(quadrant - ROUNDER[x.kind], "double")
    r = (_minus_half_pis if lanes.fused else _minus_half_pis_unfused)(lanes, x, k)

    def from_afar() -> tuple[Value, Value]:
        r, _, k = _reduced_from_afar(lanes, lanes.convert(x, "double"))
        return lanes.convert(r, x.kind), lanes.convert(k, x.kind) + ROUNDER[x.kind]

    r, quadrant = lanes.rarely(_is_far(lanes, x), (lanes.convert(r, x.kind), quadrant), from_afar)
    return r, quadrant


def _reduced_straight(lanes: Lanes, x: Value, k: Value) -> Value:
    """The reduced angle in the precision of x; NaN for an x that is too large for that."""
    r = x
    for piece in HALF_PI if x.kind == "double" else HALF_PI_SINGLE:
        r = lanes.fma(k, -piece, r)
    return lanes.select(lanes.as_integer(lanes.absolute(x)) > BITS_OF_LOST[x.kind], float("nan"), r)


def _is_far(lanes: Lanes, x: Value) -> Value:
    """True for large numbers, by the bits, because a comparison of numbers would signal NaN, and NumPy would warn of
    it."""
    return lanes.as_integer(lanes.absolute(x)) > BITS_OF_FAR[x.kind]


def _minus_half_pis(lanes: Lanes, x: Value, k: Value) -> Value:
    """x - k pi/2 after Cody and Waite, rounded once: the first step is exact, the last one counts only next to zero."""
    r = lanes.convert(x, "double")
    for piece in HALF_PI if x.kind == "double" else HALF_PI[:2]:
        r = lanes.fma(k, -piece, r)
    return r


def _minus_half_pis_unfused(lanes: Lanes, x: Value, k: Value) -> Value:
    """The same; here the second step rounds, and the third makes up for it."""
    first, second, third, fourth = (k * piece for piece in HALF_PI_SHORT)
    near = lanes.convert(x, "double") - first
    r = near - second
    lost = (near - r) - second
    return (r - (third - lost)) - fourth


def _reduced_to_pair(lanes: Lanes, x: Value) -> tuple[Value, Value, Value]:
    """r as the sum of two numbers, and k in the last bits of a third."""
    quadrant = lanes.multiply_add(x, TWO_OVER_PI, ROUNDER["double"])
    k = quadrant - ROUNDER["double"]
    first, second, third = HALF_PI
    product = k * second
    product_tail = lanes.fma(k, third, lanes.fma(k, second, -product))
    r, lost = two_sum(lanes.fma(k, -first, x), -product)
    r, tail = two_sum(r, lost - product_tail)
    if lanes.is_straight:
        lost = lanes.as_integer(lanes.absolute(x)) > BITS_OF_LOST["double"]
        return lanes.select(lost, float("nan"), r), tail, quadrant

    def from_afar() -> tuple[Value, Value, Value]:
        r, tail, k = _reduced_from_afar(lanes, x)
        return r, tail, k + ROUNDER["double"]

    r, tail, quadrant = lanes.rarely(_is_far(lanes, x), (r, tail, quadrant), from_afar)
    return r, tail, quadrant


def _reduced_from_afar(lanes: Lanes, x: Value) -> list[Value]:
    """r as the sum of two numbers, and k modulo 4, for |x| above 2^20."""
    symbol = "@cayley.reduced_from_afar"
    if symbol not in lanes.assembly.functions:
        _define_reduction_from_afar(lanes.assembly, symbol)
    return lanes.lane_by_lane(symbol, x, ["double"] * 3)


def _define_reduction_from_afar(assembly: Assembly, symbol: str) -> None:
    """Payne and Hanek: x = m 2^e, and of m 2^e 2/pi only the 128 bits below 4 are computed."""
    lane = Lanes(assembly, 1)
    x = lane.argument("x", "double")
    bits = lane.as_integer(x)
    mantissa = lane.cast("zext", bits & (2**52 - 1) | 2**52, "i128")
    window, below = _bits_of_two_over_pi(lane, (2046 - (bits >> 52)) & 2047)
    quarters = window * mantissa + (below * mantissa >> 64)
    k = lane.cast("uitofp", lane.cast("trunc", (quarters + 2**125) >> 126, "i64"), "double")
    fraction = quarters << 2
    negative = lane.bits("ashr", fraction, 127)
    r, tail = _times_half_pi(lane, *_fraction_to_pair(lane, fraction ^ negative))
    sign = lane.with_sign_of(1.0, x)
    sign_of_r = lane.select(negative.equals(0), sign, -sign)
    nan_if_infinite = x - x
    lane.define(symbol, [x], [r * sign_of_r + nan_if_infinite, tail * sign_of_r, k * sign], "cold noinline nounwind")


def _bits_of_two_over_pi(lane: Lanes, first: Value) -> tuple[Value, Value]:
    """128 bits of the table from the bit `first` + 64 on, and the 64 bits below."""
    size = 2048 // 64 + 3
    table = ", ".join(f"i64 {TWO_OVER_PI_BITS >> 64 * i & 2**64 - 1}" for i in range(size))
    lane.assembly.declarations[TABLE] = f"{TABLE} = internal constant [{size} x i64] [{table}]"
    words = [_word_of_two_over_pi(lane, (first >> 6) + i) for i in range(4)]
    low, middle, high = (lane.cast("zext", lane.intrinsic("fshr", words[i + 1], words[i], first), "i128")
                         for i in range(3))
    return middle | high << 64, low


def _word_of_two_over_pi(lane: Lanes, index: Value) -> Value:
    scalar = lane.fresh()
    address = lane.fresh()
    lane.lines += [
        f"{scalar} = extractelement {index.typed}, i32 0", f"{address} = getelementptr i64, ptr {TABLE}, i64 {scalar}"]
    return lane.line(f"load {lane.vector('i64')}, ptr {address}, align 8", "i64")


def _fraction_to_pair(lane: Lanes, fraction: Value) -> tuple[Value, Value]:
    """A fraction of 128 bits, below one half, as the sum of two numbers."""
    high, middle, low = (lane.cast("uitofp", lane.cast("trunc",
                                                       (fraction >> s) & (2**42 - 1), "i64"), "double") * 2.0**(s - 128)
                         for s in (86, 44, 2))
    total, lost = two_sum(high, middle)
    return two_sum(total, lost + low)


def _times_half_pi(lane: Lanes, high: Value, low: Value) -> tuple[Value, Value]:
    product = high * HALF_PI[0]
    lost = lane.fma(high, HALF_PI[0], -product)
    return two_sum(product, lost + (high * HALF_PI[1] + low * HALF_PI[0]))
