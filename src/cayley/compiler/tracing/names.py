"""Names for exported text that meet neither each other, nor what the user named, nor the words of a language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from itertools import chain, count

_PREFIXES = ("t", "u", "v", "w", "x", "y", "z", "tmp", "temporary")


def free_prefix(taken: Iterable[str]) -> str:
    """A prefix such that no taken name is the prefix with a number after it, with or without an underscore between."""
    used = {match[1] for name in taken if (match := re.fullmatch(r"(.*?)_?[\d_]*", name))}
    candidates = chain(_PREFIXES, (f"temporary{'_x' * k}" for k in count(1)))
    return next(prefix for prefix in candidates if prefix not in used)


def unique(name: str, taken: Collection[str], mark: str = "_") -> str:
    """The name, with marks added until it is not taken."""
    while name in taken:
        name += mark
    return name


def identifier(name: str, reserved: Collection[str], taken: Collection[str] = ()) -> str:
    """The name as an identifier of C: letters spelled out in ASCII, no leading underscore, no reserved word, not taken.

    >>> identifier("θ", ()), identifier("<lambda>", ()), identifier("int", {"int"}), identifier("_x", ())
    ('theta', 'lambda', 'int_', 'v_x')
    """
    text = re.sub(r"\W+", "_", "".join(map(_ascii, name)),
                  flags=re.ASCII).strip("_" if not name.startswith("_") else " ")
    text = text if re.match(r"[A-Za-z]", text) else f"v{text}"
    return unique(text, {*reserved, *taken})


def _ascii(character: str) -> str:
    if character.isascii():
        return character
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or unicodedata.name(character, f"u{ord(character):x}").rpartition(" ")[2].lower()
