"""Kernels of a mechanism, their descriptions, and the same kernels with numbers of the mechanism as inputs.

    torques = arm.inverse_dynamics.with_parameters("mass", "center")
    torques(q, qd, qdd, torques.parameters.with_values({"link2.mass": 3.0}))
The text is traced for a mechanism whose numbers are symbols. Which of them are zero or right angles is decided by the
model (`tracing.nominal_values`); what depends on parameters alone is computed once for each set of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import groupby
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from cayley.compiler.kernel import ExplanationBeside, Kernel
from cayley.compiler.kernel_family import GIVEN
from cayley.compiler.made_once import kept
from cayley.compiler.prepared_kernel import PreparedKernel
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.nominal_values import is_symbolic, suppose
from cayley.compiler.tracing.program import Program
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, Result
from cayley.errors import UnsupportedError
from cayley.explained_calls import with_explained_calls
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.model.digest import digest_of
from cayley.model.parameters import Parameters, chosen_parameters
from cayley.model.source import Source, source_in_words
from cayley.model.tree import Tree

Choices = ParamSpec("Choices")
Made = TypeVar("Made", bound="MechanismKernel[Any]")


class Remake(NamedTuple):
    """A function that makes a kernel for a mechanism, and the choices it is called with."""

    make: Callable[..., MechanismKernel]
    choices: tuple[Any, ...]
    named: dict[str, Any]

    def __call__(self, tree: Tree) -> MechanismKernel:
        return self.make(tree, *self.choices, **self.named)


@with_explained_calls
class KernelWithParameters(PreparedKernel[Result]):
    """A kernel of a mechanism whose last input are numbers of it, `parameters` (..., p): names, nominal values and
    units are its `parameters`. They broadcast with the state, so that one call serves many mechanisms of one structure.
    """

    parameters: Parameters


@with_explained_calls
class MechanismKernel(Kernel[Result]):
    """A kernel of a mechanism that knows how it would be made for another one of the same structure."""

    tree: Tree
    remake: Remake

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body",
                    base_motion: bool = False) -> MechanismKernel[Any]:
        """The kernel with external wrenches and the motion of the base as inputs, of those functions that have it.

        >>> cy.load("planar2r").inertia_matrix.with_inputs(base_motion=True)
        Traceback (most recent call last):
        cayley.errors.UnsupportedError: inertia_matrix takes no wrenches and no motion of the base: inverse_dynamics...
        """
        raise UnsupportedError(
            f"{self.__name__} takes no wrenches and no motion of the base: inverse_dynamics, forward_dynamics, "
            "bias_forces and joint_reactions do, by with_inputs(wrenches=..., base_motion=..., method=...)")

    def with_parameters(self, *words: str) -> KernelWithParameters[Result]:
        """The kernel with one more input, the array (..., p) of the parameters that the words choose; made once. See
        `cayley.model.parameters`. Values that the model has as zero stay zero, unless they are named in full. Arguments
        are not checked, as those of `unchecked` kernels are not.

        >>> torques = cy.load("s1_f2").inverse_dynamics.with_parameters("mass", "gravity")
        >>> torques.parameters
          0  link1.mass                                  2  kg
          1  link2.mass                                1.5  kg
          2  gravity.y                               -9.81  m/s^2
        >>> torques([0.3, -0.7], [1.1, -0.4], [0.5, 2.0], [2.0, 1.5, -9.81]).round(6)
        array([15.2001 ,  2.87612])
        """
        if not hasattr(self, "remake"):
            raise UnsupportedError(f"{self.__name__} takes no parameters: it depends on the kinds of the joints alone")
        return kept(self, ("with_parameters", words), lambda: _with_parameters(self, words))


def _with_parameters(kernel: MechanismKernel[Result], words: tuple[str, ...]) -> KernelWithParameters[Result]:
    chosen = chosen_parameters(kernel.tree, words)
    name = kernel.__name__
    inputs = (*kernel.inputs, "parameters")
    signature = Signature((*kernel.signature.inputs, (len(chosen),)), kernel.signature.outputs)
    doc = f"{kernel.__doc__}\nParameters, in their order, and their values in the model:\n{chosen}"

    def text(*arguments: Any) -> Array:  # noqa: ANN401 (as many as the kernel has)
        *state, values = arguments
        if is_symbolic(values):
            suppose(values, chosen.samples())
        made = kernel.remake(chosen.tree_with(values)).__wrapped__
        assert made is not None
        return made(*state)

    def make_program(bound: Mapping[str, int]) -> Program:
        return trace(text, signature, bound, name=name, inputs=inputs, outputs=kernel.outputs,
                     units=units_of(kernel.tree), description=doc)

    def explain(*arguments: Any) -> None:  # noqa: ANN401 (as many as the kernel has)
        *state, values = arguments
        reason = kernel.remake(chosen.tree_with(np.asarray(values, dtype=float)))._explain
        if reason is not None:
            reason(*state)

    beside = kernel._explain
    explained = ExplanationBeside(explain, beside.unknown) if isinstance(beside, ExplanationBeside) else explain
    made: KernelWithParameters[Result] = KernelWithParameters(
        signature, make_program, name=name, inputs=inputs, results=kernel.outputs, function=text, doc=doc,
        module=kernel.__module__, explain=explained, rebuild=(_again, (kernel.remake, kernel.tree, words)))
    made.parameters = chosen
    return made


def _again(remake: Remake, tree: Tree, words: tuple[str, ...]) -> KernelWithParameters:
    return remake(tree).with_parameters(*words)


def of_a_mechanism(
        make: Callable[Concatenate[Tree, Choices], Made]) -> Callable[Concatenate[Tree, Choices], Made]:
    """Let the kernel that a function makes for a mechanism remember how it was made."""
    @wraps(make)
    def remembered(tree: Tree, *choices: Choices.args, **named: Choices.kwargs) -> Made:
        made = make(tree, *choices, **named)
        made.tree = tree
        made.remake = Remake(remembered, choices, named)
        return made

    return remembered


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
    """The description of a kernel: its result, its choices and its mechanism."""
    return "\n".join([sentence, *([choices] if choices else []), "", *_mechanism(tree)])


def of_the_tree(tree: Tree) -> str:
    """The remark on a quantity that ignores the constraints of its mechanism.

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
    """The frame, the axes and the point of a kernel, in words.

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
    """The columns of one joint in words: "[rad]", or "x y z [m], qw qx qy qz"."""
    words = []
    for unit, group in groupby(labels, key=lambda label: label[1]):
        names = " ".join(name.removeprefix(joint).removeprefix(".") for name, _ in group)
        words.append(" ".join(filter(None, (names, f"[{unit}{by}]" if unit else ""))))
    return ", ".join(words)
