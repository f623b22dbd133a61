"""Angles as people write them: "-pi/2", "2*pi/3", "30 deg"."""

from __future__ import annotations

import re

import numpy as np

_ANGLE = re.compile(r"""\s* (?P<sign>[+-]?) \s*
    (?: (?P<degrees>[\d.eE+-]+) \s* deg
      | (?: (?P<times>[\d.eE+-]+) \s* \*? \s* )? pi (?: \s* / \s* (?P<over>[\d.eE+-]+) )? ) \s*""", re.VERBOSE)
_LONGEST = 60
ANGLES = 'a text like "-pi/2", "2*pi/3" or "30 deg"'


def angle_of(text: str) -> float:
    """Angle [rad] of a text; raises a ValueError if the text is not an angle.

    >>> angle_of("-pi/2"), round(angle_of("30 deg"), 6)
    (-1.5707963267948966, 0.523599)
    """
    match = _ANGLE.fullmatch(text) if len(text) <= _LONGEST else None
    over = float(match["over"] or 1) if match else 0.0
    if match is None or over == 0.0:
        raise ValueError(f"{text!r} is not an angle")
    sign = -1.0 if match["sign"] == "-" else 1.0
    if match["degrees"]:
        return sign * float(np.deg2rad(float(match["degrees"])))
    return sign * float(match["times"] or 1) * float(np.pi) / over
