"""The generator: kernels of the terms of an arm's equations of motion, of its inverse and of its forward dynamics, and
their text in any language that the compiler writes.

    B(q) qdd + C(q, qd) + G(q) + E(q, qd) = U
E is what springs and friction need, as far as the mechanism includes them. Numbers of the arm are constants, or letters
that each call gives; joints are q, or tangents of half-angles. Zeros, and what is shared, are found by the compiler:
nothing is multiplied by zero or computed twice. Source: Mladenova 8.3 (spec R-62).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from cayley.compiler.algebras.counts import Operations, count
from cayley.compiler.algebras.equations import Equations, equations
from cayley.compiler.backends import backend_named
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.definite import only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.equations.symbolic_links import Numbers, Parameter, symbolic_links
from cayley.dynamics.forward.singular_inertia import regular_text, why_singular
from cayley.dynamics.generation.bodies import bodies_of, numbering
from cayley.dynamics.generation.half_angles import angles, with_rational_angles
from cayley.dynamics.generation.inward import inward
from cayley.dynamics.generation.spring_letters import spring_forces, spring_numbers
from cayley.dynamics.generation.trace_form import Terms, trace_form
from cayley.dynamics.generation.zeros import actuators_first, generated_pattern, structural_pattern
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.rigid_links.drives import friction_forces, rotor_inertias
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.planar_rotations import Turn
from cayley.errors import ConventionError, SingularityError
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.dynamics.equations import EquationsOfMotion

Form = Literal["recursion", "traces"]
Coordinates = Literal["angles", "half-angle tangents"]
FORMS: dict[str, Callable[[Links, Array, Array], Terms]] = {"recursion": inward, "traces": trace_form}


@dataclass(frozen=True, eq=False)
class GeneratedModel:
    """The generated equations of one arm; `generate` makes one."""

    tree: Tree
    form: str
    coordinates: str
    parameters: Mapping[str, float]
    """The letters, with the numbers that they have in this arm; empty where numbers are constants of the text."""
    _links: Links

    def __repr__(self) -> str:
        letters = f", {len(self.parameters)} letters" if self.parameters else ""
        return f"<equations of {self.tree.name}: {self.bodies} bodies, by {self.form}, in {self.coordinates}{letters}>"

    @property
    def bodies(self) -> int:
        return len(self._links.links)

    @cached_property
    def numbering(self) -> Array:
        """The places in q of the bodies s = 1, ..., 2N of the book: actuator 1, link 1, actuator 2, ..."""
        return numbering(self.tree)

    @cached_property
    def terms(self) -> Kernel:
        """`terms(q, qd)`: B (n, n), C (n), G (n), E (n). With letters, a last argument has the numbers for them."""
        return self._kernel("terms")

    @cached_property
    def inverse_dynamics(self) -> Kernel:
        """`inverse_dynamics(q, qd, qdd)`: the forces U (n)."""
        return self._kernel("inverse_dynamics")

    @cached_property
    def forward_dynamics(self) -> Kernel:
        """`forward_dynamics(q, qd, U)`: the accelerations (n)."""
        return self._kernel("forward_dynamics")

    @property
    def pattern(self) -> Array:
        """(n, n) truth values: where B is not zero in the generated text."""
        return generated_pattern(self.program("terms"))

    @property
    def structural_pattern(self) -> Array:
        """(n, n) truth values: where B may differ from zero, by who carries whom."""
        return structural_pattern(self._links)

    @property
    def operations(self) -> dict[str, Operations]:
        """What each function costs."""
        return {name: count(self.program(name)) for name in FUNCTIONS}

    def equations(self, function: str = "terms") -> Equations:
        """A function as equations of SymPy, by way of intermediate lines where it is long."""
        return equations(self.program(function))

    def simplified(self) -> EquationsOfMotion:
        """M, V and G written out and simplified, where they are short enough for that: what `Mechanism.equations`
        gives; M is B, V is C."""
        from cayley.dynamics.equations import equations_of_motion  # SymPy takes its time
        return equations_of_motion(self.tree, parameters="symbols" if self.parameters else "numbers")

    def program(self, function: str) -> Program:
        """The graph of a function, in which every letter is an input by its name."""
        if function not in FUNCTIONS:
            raise ConventionError(f"there is no generated function {function!r}; there are {', '.join(FUNCTIONS)}")
        return self._programs(function)

    @cached_property
    def _programs(self) -> Callable[[str], Program]:
        return cache(lambda function: replace(self._kernel(function, named=True).program(),
                                              name=f"{self.tree.name}_{function}"))

    def texts(self, language: str, functions: str | Sequence[str] = "terms",
              precision: str = "double") -> dict[str, str]:
        """The text of functions in a language, "c", "fortran", "python" or another backend, by the names of files."""
        files: dict[str, str] = {}
        for function in [functions] if isinstance(functions, str) else functions:
            backend_named(language).check(self.program(function))
            files |= backend_named(language).files(self.program(function), precision)
        return files

    def write(self, folder: str | Path, language: str, functions: str | Sequence[str] = "terms",
              precision: str = "double") -> list[Path]:
        """Write these texts into a folder, which is made if need be; their paths."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, text in self.texts(language, functions, precision).items():
            paths.append(place / name)
            paths[-1].write_text(text, encoding="utf-8")
        return paths

    # How a text is made

    def _terms(self, given: Mapping[str, Scalar], q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
        links = symbolic_links(self._links, _Letters(given)) if given else self._links
        coordinates = q
        if self.coordinates == "half-angle tangents":
            coordinates = with_rational_angles(self._links, self._motors, q)
            q = self._angles(q)
        B, C, G = FORMS[self.form](links, coordinates, qd)
        rotors = np.array([given.get(f"J_{k + 1}", J) for k, J in enumerate(rotor_inertias(self.tree))])
        return B + np.diag(rotors), C, G, spring_forces(self.tree, given, q, qd) + friction_forces(self.tree, qd)

    def _inverse(self, given: Mapping[str, Scalar], q: Array, qd: Array, qdd: Array) -> Array:
        B, C, G, E = self._terms(given, q, qd)
        return B @ qdd + C + G + E

    def _forward(self, given: Mapping[str, Scalar], q: Array, qd: Array, U: Array) -> Array:
        """Actuators are eliminated first, which keeps the zeros of B. NaN where a joint moves no mass."""
        order = actuators_first(self.tree)
        B, C, G, E = self._terms(given, q, qd)
        found = ldl_solve(B[np.ix_(order, order)], (U - C - G - E)[order])[np.argsort(order)]
        if given or always_regular(self.tree):
            return found
        return only_where(regular_text(self.tree)(self._angles(q)), found)

    def _angles(self, q: Array) -> Array:
        return angles(self._links, self._motors, q) if self.coordinates == "half-angle tangents" else q

    @property
    def _motors(self) -> list[int]:
        """The places of motors in q."""
        return [self.tree.q_slices[motor].start for motor in self.tree.motors.values()]

    def _kernel(self, function: str, *, named: bool = False) -> Kernel:
        """A function whose letters are entries of one array, or inputs by their names."""
        text, inputs, outputs, sentence = FUNCTIONS[function]
        n = str(self.tree.nv)
        m = len(self.parameters)
        letters = [] if not m else ["()"] * m if named else [f"({m})"]
        names = [*([] if not m else self.parameters if named else ["parameters"])]

        def described(*arguments: Scalar) -> Any:  # noqa: ANN401 (one array, or several)
            values = arguments[len(inputs):] if named or not m else arguments[-1]
            return text(self, dict(zip(self.parameters, values, strict=True)), *arguments[:len(inputs)])

        joints = ", ".join(joint.name for joint in self.tree.joints if joint.motion.nv)
        described.__doc__ = f"{sentence} Coordinates, in this order, of {joints}."
        first = "t" if self.coordinates == "half-angle tangents" else "q"
        shapes = ",".join([f"({n})"] * len(inputs) + letters)
        results = ",".join(f"({shape})".replace("n", n) for shape in outputs.values())
        return kernel(f"{shapes}->{results}", name=function, inputs=(first, *inputs[1:], *names),
                      outputs=tuple(outputs), explain=None if m else self._explain)(described)

    def _explain(self, q: Array, *_: Array) -> None:
        """Why a result is no number: of forward dynamics, if the inertia matrix is singular."""
        reason = why_singular(self.tree, self._angles(q))
        if reason is not None:
            raise SingularityError(reason)


class Function(NamedTuple):
    """A function that is generated: its text, its inputs besides letters, the shapes of its outputs, and what it is."""

    text: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: Mapping[str, str]
    sentence: str


FUNCTIONS = {
    "terms": Function(GeneratedModel._terms, ("q", "qd"), {"B": "n,n", "C": "n", "G": "n", "E": "n"},
                      "The terms of B qdd + C + G + E = U."),
    "inverse_dynamics": Function(GeneratedModel._inverse, ("q", "qd", "qdd"), {"U": "n"},
                                 "The forces that give accelerations."),
    "forward_dynamics": Function(GeneratedModel._forward, ("q", "qd", "U"), {"qdd": "n"},
                                 "The accelerations under forces."),
}


class _Letters:
    """The letters of a model in the place of its numbers."""

    def __init__(self, given: Mapping[str, Scalar]) -> None:
        self.given = given

    def number(self, parameter: Parameter) -> Scalar:
        return self.given[parameter.name]

    def turn(self, parameter: Parameter) -> Turn:
        return Turn(np.cos(self.given[parameter.name]), np.sin(self.given[parameter.name]))

    def shift(self, parameter: Parameter) -> Scalar:
        return self.given[parameter.name]


def generate(tree: Tree, *, form: Form = "recursion", coordinates: Coordinates = "angles",
             parameters: Literal["numbers", "symbols"] = "numbers") -> GeneratedModel:
    """The equations of motion of an arm of revolute and prismatic joints, elastic as far as the tree includes elastic
    drives, rigid otherwise.

    `form`: by the "recursion" of the book's (361)-(388), or by "traces", (348)-(357), which cost more. `coordinates`:
    "angles", or "half-angle tangents", t = tan(q/2) of revolute joints, of which B, C and G are rational functions, and
    E is that of angles between -pi and pi; motors, whose turns springs count, keep their angles. `parameters`: masses,
    lengths, stiffnesses and so on are constants of the text, or with "symbols" inputs by letters.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = load_robot("planar2r").with_drive("joint1", stiffness=1e3, inertia=0.01, gear=50.0)
    >>> model = generate(arm.including("elastic drives"))
    >>> model
    <equations of planar2r: 3 bodies, by recursion, in angles>
    >>> model.terms([0.3, 0.2, 15.1], [0.0, 0.0, 0.0]).E.round(6)
    array([-2.  ,  0.  ,  0.04])
    """
    for word, given, known in (("form", form, tuple(FORMS)), ("coordinates", coordinates, get_args(Coordinates)),
                               ("parameters", parameters, ("numbers", "symbols"))):
        if given not in known:
            raise ConventionError(f"the {word} {given!r} is none of {', '.join(map(repr, known))}")
    links = bodies_of(tree)
    return GeneratedModel(tree, form, coordinates, _numbers(tree, links) if parameters == "symbols" else {}, links)


def _numbers(tree: Tree, links: Links) -> dict[str, float]:
    numbers = Numbers()
    symbolic_links(links, numbers)
    found = {name: parameter.value for name, parameter in numbers.asked.items()}
    found |= {f"J_{k + 1}": float(J) for k, J in enumerate(rotor_inertias(tree)) if J}
    return found | spring_numbers(tree)
