"""Motions on disk: an .npz file with arrays, and a text that says what they are. A kind is written by its fields."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import CayleyError, PlanningError, UnsupportedError
from cayley.model.formats.array_file import read_arrays, write_arrays
from cayley.planning.motion import Motion

FORMAT = "cayley motion 1"
_KINDS = {
    "Polynomials": "cayley.planning.splines.polynomials", "Composed": "cayley.planning.sequence",
    "Sequence": "cayley.planning.sequence", "Together": "cayley.planning.sequence",
    "Cycloid": "cayley.planning.profiles.two_points", "RotationCurve": "cayley.planning.poses.rotation_splines",
    "PoseCurve": "cayley.planning.poses.rotation_splines", "Screws": "cayley.planning.poses.rotation_splines",
    "Standing": "cayley.planning.sequence"}


def save(motion: Motion, path: str | Path) -> Path:
    """Write the file, whole or not at all; the suffix .npz is added if it is missing."""
    arrays: dict[str, Array] = {}
    described = {"format": FORMAT, "motion": _described(motion, arrays)}
    return write_arrays(path, described, arrays)


def load_motion(path: str | Path) -> Motion:
    """The motion that `Motion.save` has written."""
    try:
        about, arrays = read_arrays(path)
        if about["format"] != FORMAT:
            raise PlanningError(f"{path} is of the format {about['format']!r}; this reads {FORMAT!r}")
        made = _made(about["motion"], arrays)
    except CayleyError:
        raise
    except Exception as error:  # whatever NumPy, zipfile and its decompressors raise for a damaged file
        said = f"{type(error).__name__}, {error}" if str(error) else type(error).__name__
        raise PlanningError(f"{path} is no file of a motion, or is damaged: {said}") from error
    if not isinstance(made, Motion):
        raise PlanningError(f"{path} is no file of a motion")
    return made


def _described(value: Any, arrays: dict[str, Array]) -> Any:  # noqa: ANN401 (a field of a motion, as JSON)
    if isinstance(value, Motion):
        kind = type(value).__name__
        if kind not in _KINDS:
            raise UnsupportedError(f"a {kind} is not data, and cannot be saved: save a spline through samples of it")
        return {"kind": kind, **{part.name: _described(getattr(value, part.name), arrays) for part in fields(value)}}  # type: ignore[arg-type]
    if isinstance(value, tuple):
        return [_described(part, arrays) for part in value]
    if isinstance(value, np.ndarray):
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    return value


def _made(value: Any, arrays: dict[str, Array]) -> Any:  # noqa: ANN401 (of JSON, the field of a motion)
    if isinstance(value, list):
        return tuple(_made(part, arrays) for part in value)
    if isinstance(value, dict) and "array" in value:
        return arrays[value["array"]]
    if isinstance(value, dict):
        kind = getattr(import_module(_KINDS[value["kind"]]), value["kind"])
        return kind(**{name: _made(part, arrays) for name, part in value.items() if name != "kind"})
    return value
