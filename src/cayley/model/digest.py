"""Digest of a mechanism, which identifies the numbers that a generated text was made from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.model.tree import Tree

_NOT_NUMBERS = ("source", "notes")


def digest_of(tree: Tree) -> str:
    """The SHA-256 of all that a mechanism is, its source and notes aside, with numbers to twelve digits; other words
    where some of them are symbols. Any change to the mechanism changes it.

    >>> arm = cy.load("planar2r").tree
    >>> digest_of(arm)[:8], digest_of(arm) == digest_of(arm.with_gravity(arm.gravity))
    ('SHA-256 ', True)
    >>> digest_of(arm) == digest_of(arm.with_gravity([0, 0, 0]))
    False
    """
    return kept(tree, "digest", lambda: _digest(tree))


def _digest(tree: Tree) -> str:
    try:
        text = json.dumps([_plain(getattr(tree, part.name)) for part in fields(tree) if part.name not in _NOT_NUMBERS])
    except _SymbolError:
        return "some are inputs"
    return f"SHA-256 {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


class _SymbolError(Exception):
    """A number is not known yet."""


def _plain(value: Any) -> Any:  # noqa: ANN401 (whatever a part of a mechanism may hold)
    """Lists and words that are the same wherever the mechanism is made."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (int, float, np.number)):
        return f"{float(value) + 0.0:.12g}"
    if isinstance(value, np.ndarray) or is_symbolic(value):
        if is_symbolic(value):
            raise _SymbolError
        return _plain(value.tolist())
    if is_dataclass(value):
        return [type(value).__name__, *[[part.name, _plain(getattr(value, part.name))] for part in fields(value)]]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, dict):
        return [[str(key), _plain(one)] for key, one in value.items()]
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return getattr(value, "__qualname__", type(value).__qualname__)
