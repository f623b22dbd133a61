"""Inverse trigonometric functions: an angle near 0 by a polynomial, plus a multiple of pi/4."""

from __future__ import annotations

from cayley.compiler.elementary.double import in_double
from cayley.compiler.native.vector_assembly import Lanes, Value

QUARTER_PI = (0.7853981633974483, 3.061616997868383e-17)
TAN_EIGHTH_PI = 0.41421356237309503
INFINITY = float("inf")
TINY = 1e-300
"""Keeps 0 / 0 away and changes no other quotient."""

ARCSINE = (0.1666666666666676, 0.07499999999970863, 0.04464285717456473, 0.03038194270965477, 0.022372214942297363,
           0.01735161273330545, 0.013980812779876577, 0.011398970248486295, 0.010779952732972359, 0.003707462747910153,
           0.021705049613798665, -0.020995884644074668, 0.03262676651689228)
"""(arcsin s - s) / s^3 by powers of s^2 on |s| <= 1/2: minimax, 2^-59.7 of arcsin s."""
ARCTANGENT = (-3.33333333333329318027e-01, 1.99999999998764832476e-01, -1.42857142725034663711e-01,
              1.11111104054623557880e-01, -9.09088713343650656196e-02, 7.69187620504482999495e-02,
              -6.66107313738753120669e-02, 5.83357013379057348645e-02, -4.97687799461593236017e-02,
              3.65315727442169155270e-02, -1.62858201153657823623e-02)
"""(arctan t - t) / t^3 by powers of t^2 on |t| <= 7/16: fdlibm s_atan.c."""


@in_double
def arcsin(lanes: Lanes, x: Value) -> Value:
    """Above 1/2 it is pi/2 - 2 arcsin sqrt((1 - x) / 2)."""
    near, angle, tail = _arcsine_of_near_or_half(lanes, lanes.absolute(x))
    times = lanes.select(near, lanes.constant(1.0, "double"), -2.0)
    quarters = lanes.select(near, lanes.constant(0.0, "double"), 2.0)
    return lanes.with_sign_of(_plus_quarters(lanes, quarters, angle * times, tail * times), x)


@in_double
def arccos(lanes: Lanes, x: Value) -> Value:
    """pi/2 - arcsin x, or 2 arcsin sqrt((1 - x) / 2) above 1/2, or pi minus that of -x below -1/2."""
    near, angle, tail = _arcsine_of_near_or_half(lanes, lanes.absolute(x))
    sign = lanes.with_sign_of(1.0, x)
    times = lanes.select(near, -sign, sign + sign)
    quarters = lanes.select(near, 2.0, 2.0 - (sign + sign))
    return _plus_quarters(lanes, quarters, angle * times, tail * times)


def _arcsine_of_near_or_half(lanes: Lanes, a: Value) -> tuple[Value, Value, Value]:
    """The truth of a < 1/2, with arcsin a if it is, else arcsin sqrt((1 - a) / 2), as the sum of two numbers. a >=
    0."""
    near = a < 0.5
    z = lanes.select(near, a * a, 0.5 - 0.5 * a)
    root = lanes.sqrt(z)
    root_tail = lanes.fma(-root, root, z) / (root + root + TINY)
    s = lanes.select(near, a, root)
    s_tail = lanes.select(near, 0.0, root_tail)
    return near, s, lanes.multiply_add(s * z, lanes.polynomial(z, ARCSINE), s_tail)


@in_double
def arctan(lanes: Lanes, x: Value) -> Value:
    return arctan2(lanes, x, lanes.constant(1.0, "double"))


@in_double
def arctan2(lanes: Lanes, y: Value, x: Value) -> Value:
    """The angle in the octant of (|x|, |y|), turned into that of (x, y)."""
    a, b = _without_infinities(lanes, lanes.absolute(y), lanes.absolute(x))
    steep = a > b
    left = lanes.as_integer(x) < 0
    middle, angle, tail = _arctangent(lanes, lanes.select(steep, b, a), lanes.select(steep, a, b))
    quarters = lanes.select(middle, lanes.constant(1.0, "double"), 0.0)
    quarters = lanes.select(steep, 2.0 - quarters, quarters)
    quarters = lanes.select(left, 4.0 - quarters, quarters)
    times = lanes.select(left ^ steep, lanes.constant(-1.0, "double"), 1.0)
    return lanes.with_sign_of(_plus_quarters(lanes, quarters, angle * times, tail * times), y)


def _without_infinities(lanes: Lanes, a: Value, b: Value) -> tuple[Value, Value]:
    """The same direction by finite numbers; NaN stays. a, b >= 0."""
    infinite_a = a.equals(INFINITY)
    infinite_b = b.equals(INFINITY)
    either = infinite_a | infinite_b
    return (lanes.select(either, lanes.select(infinite_a, 1.0, a * 0.0), a),
            lanes.select(either, lanes.select(infinite_b, 1.0, b * 0.0), b))


def _arctangent(lanes: Lanes, short: Value, long: Value) -> tuple[Value, Value, Value]:
    """The truth of short / long > tan pi/8, with its arctangent minus pi/4 if it is, else its arctangent, as the sum of
    two numbers."""
    short, long = _scaled(lanes, short, long)
    middle = short > long * TAN_EIGHTH_PI
    total = long + short
    difference = long - short
    above = lanes.select(middle, -difference, short)
    below = lanes.select(middle, total, long)
    above_tail = lanes.select(middle, short - (long - difference), 0.0)
    below_tail = lanes.select(middle, short - (total - long), 0.0)
    inverse = 1.0 / below
    t = above * inverse
    rest = lanes.fma(-t, below, above) + (above_tail - t * below_tail)
    z = t * t
    t_tail = rest * inverse * (1.0 - z)
    return middle, t, lanes.multiply_add(t * z, lanes.polynomial(z, ARCTANGENT), t_tail)


def _scaled(lanes: Lanes, short: Value, long: Value) -> tuple[Value, Value]:
    """Two numbers times a power of two, so that the longer has an inverse, their sum does not overflow and no
    remainder underflows."""
    scale = lanes.select(long > 2.0**800, lanes.constant(2.0**-50, "double"), 2.0**150)
    return short * scale, lanes.select(long.equals(0.0), 1.0, long * scale)


def _plus_quarters(lanes: Lanes, quarters: Value, angle: Value, tail: Value) -> Value:
    """quarters pi/4 + angle + tail, rounded almost once; the first term is zero or the largest."""
    high, low = QUARTER_PI
    base = quarters * high
    base_tail = lanes.fma(quarters, low, lanes.fma(quarters, high, -base))
    total = base + angle
    lost = angle - (total - base)
    return total + (lost + (tail + base_tail))
