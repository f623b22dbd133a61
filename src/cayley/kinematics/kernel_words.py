"""What the kernels of a mechanism say of themselves, in `help` and at the head of exported C: the mechanism, its joints
in the order of q, gravity, units, and the choices (frame, axes, point) that were made.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from cayley.compiler.kernel_family import GIVEN
from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.model.digest import digest_of
from cayley.model.source import Source, source_in_words
from cayley.model.tree import Tree

_UNITS = {
    "q": ("rad", "m"), "qd": ("rad/s", "m/s"), "qdd": ("rad/s^2", "m/s^2"), "tau": ("N m", "N"),
    "M": ("kg m^2", "kg")}  # of revolute joints, and of prismatic joints


def units_of(tree: Tree) -> dict[str, str]:
    """The units of the arrays that are called q, qd, qdd, tau and so on, in words.

    >>> from cayley.model.catalogue import load_robot
    >>> units_of(load_robot("puma560"))["tau"], units_of(load_robot("scara"))["tau"]
    ('N m', 'N m or N')
    """
    found = {unit for _, unit in velocity_labels(tree)}
    there = [place for place, unit in enumerate(("rad", "m")) if unit in found]
    by_joint = {name: " or ".join(both[place] for place in there) for name, both in _UNITS.items()}
    return {**by_joint, "wrench": "N; N m", "point": "m", "at": "m"}


def described(tree: Tree, function: Callable[..., Any], sentence: str, choices: str = "") -> None:
    """Give a function that is about to be a kernel its docstring."""
    function.__doc__ = mechanism_in_words(tree, sentence, choices)


def mechanism_in_words(tree: Tree, sentence: str, choices: str = "") -> str:
    """What is computed, with which choices, and of which mechanism."""
    return "\n".join([sentence, *([choices] if choices else []), "", *_mechanism(tree)])


def of_the_tree(tree: Tree) -> str:
    """What a quantity of a mechanism with constraints is that does not know them.

    >>> from cayley.model.catalogue import load_robot
    >>> of_the_tree(load_robot("four_bar"))
    'Of all coordinates of the tree, as if nothing tied them together.'
    >>> of_the_tree(load_robot("planar2r"))
    ''
    """
    return "Of all coordinates of the tree, as if nothing tied them together." if tree.is_constrained else ""


def first_sentence(text: Callable[..., Any]) -> str:
    """The first paragraph of a docstring, in one line."""
    return " ".join((inspect.getdoc(text) or "").split("\n\n")[0].split())


def choices_in_words(tree: Tree, frame: str, choices: Mapping[str, Any]) -> str:
    """Which frame, axes and point a kernel is for.

    >>> from cayley.model.catalogue import load_robot
    >>> choices_in_words(load_robot("planar2r"), "tool", {"axes": "world", "at": None})
    "Here: frame 'tool' (on body 'link2'); axes 'world': those of the root, 'base'; at the origin of the frame."
    """
    words = [f"frame {frame!r} (on body {tree.frame(frame).body!r})"]
    for name, choice in choices.items():
        if name == "axes":
            own = {"world": f": those of the root, {tree.bodies[0].name!r}", "body": ": those of the frame itself"}
            words.append(f"axes {choice!r}{own.get(choice, '')}")
        elif name == "at":
            words.append("at the origin of the frame" if choice is None else "at a given point" if choice is GIVEN else
                         f"at the point of the body that is at {choice!r}")
        elif name == "relative_to":
            words.append(f"relative to {choice!r}"
                         + (f", the root {tree.bodies[0].name!r}" if choice == "world" else ""))
        elif choice is not None:
            words.append(f"{name.replace('_', ' ')} {choice!r}")
    return f"Here: {'; '.join(words)}."


def _mechanism(tree: Tree) -> list[str]:
    source = source_in_words(tree.source)
    gravity = "an input" if is_symbolic(tree.gravity) else ", ".join(f"{x + 0.0:.6g}" for x in tree.gravity)
    included = f" Included of the drives: {', '.join(sorted(tree.included))}." if tree.included else ""
    return [
        f"Mechanism: {tree.name}{f' ({source})' if source else ''}. Gravity ({gravity}) m/s^2 in the axes of the root, "
        f"{tree.bodies[0].name!r}.{included}",
        *([f"File: {tree.source.file}, SHA-256 {tree.source.sha256}"] if isinstance(tree.source, Source) else []),
        f"Numbers as they are here: {digest_of(tree)}",
        "Joints, in the order of coordinates q and of velocities qd and forces tau:",
        *_joints(tree)]


def _joints(tree: Tree) -> list[str]:
    rows = []
    for joint, q, v in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.motion.nq:
            labels = coordinate_labels(tree)[q]
            rates = velocity_labels(tree)[v]
            units = _units(labels, joint.name)
            more = "" if labels == rates else f"; velocities {_units(rates, joint.name, '/s')}"
            rows.append((f"q[{_places(q)}]", f"qd[{_places(v)}]", joint.name, joint.motion.word, units + more))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _places(part: slice) -> str:
    return str(part.start) if part.stop - part.start == 1 else f"{part.start}..{part.stop - 1}"


def _units(labels: Sequence[tuple[str, str]], joint: str, by: str = "") -> str:
    """What the columns of one joint are: "[rad]", or "x y z [m], qw qx qy qz"."""
    words = []
    for unit, group in groupby(labels, key=lambda label: label[1]):
        names = " ".join(name.removeprefix(joint).removeprefix(".") for name, _ in group)
        words.append(" ".join(filter(None, (names, f"[{unit}{by}]" if unit else ""))))
    return ", ".join(words)
