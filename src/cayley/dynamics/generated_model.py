"""Generated equations of motion of an arm: kernels of terms, inverse and forward dynamics, and their text in every
language that the compiler writes.

    B(q) qdd + C(q, qd) + G(q) + E(q, qd) = U
E is what included springs and friction need. Numbers of the arm are constants, or letters that each call gives: k_i,
d_i and so on of the spring of joint i, N_i of its gear. Joints are q, or tangents of half-angles.

Two accelerations are coupled only if one of the bodies carries the other, and an actuator carries none: with actuators
first the matrix is [[B11, B12], [B12^T, B22]], B11 diagonal, B12 strictly lower triangular, B22 full; of N elastic
joints at most N + N (N - 1) + N^2 entries are not zero, 72 of 144 for N = 6. With names for intermediate values the
text grows as the square of the number of joints; written out, by a factor with each joint (`growth`). Source: Mladenova
8.3, Table 4, (348)-(388) (spec R-57 to R-62)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
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
from cayley.compiler.tracing.graph import is_constant
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.accounting.counted_run import GENERAL, generic_arm
from cayley.dynamics.closed_form import gravity_forces, velocity_forces
from cayley.dynamics.equations.symbolic_links import GivenValues, parameters_of, symbolic_links, way_to_root
from cayley.dynamics.forward.singular_inertia import regular_text, why_singular
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse.trace_lagrange import trace_terms
from cayley.dynamics.rigid_links.drives import DriveSpring, friction_forces, rotor_inertias, spring_forces, ties
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.dynamics.rigid_links.minimal_links import without_unseen_turns
from cayley.dynamics.rigid_links.planar_rotations import RationalAngle
from cayley.errors import ConventionError, SingularityError, UnsupportedError
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.dynamics.equations import EquationsOfMotion

Form = Literal["recursion", "traces"]
Coordinates = Literal["angles", "half-angle tangents"]


def recursive_terms(links: Links, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """B (n, n) of composite bodies, C (n) by Newton and Euler's recursion, G (n): (361)-(388)."""
    return inertia_matrix(links, q), velocity_forces(links, q, qd), gravity_forces(links, q)


FORMS = {"recursion": recursive_terms, "traces": trace_terms}
_SHORT = {"stiffness": "k", "damping": "d"}


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
        motors = self.tree.motors
        numbers = [number for number in range(len(self.tree.joints))
                   if number not in motors.values() and self.tree.joints[number].motion.nv]
        return np.array([self.tree.v_slices[body].start for number in numbers
                         for body in (motors.get(number), number) if body is not None], dtype=int)

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
        B = next(v for v in self.program("terms").outputs if v.name == "B")
        return np.array([not is_constant(node, 0.0) for node in B.nodes]).reshape(B.shape)

    @property
    def structural_pattern(self) -> Array:
        """(n, n) truth values: where B may differ from zero, by who carries whom."""
        found = np.zeros((self.tree.nv, self.tree.nv), dtype=bool)
        for number, link in enumerate(self._links.links):
            for carrier in way_to_root(self._links, number)[:-1]:
                found[self._links.links[carrier].columns, link.columns] = True
        return found | found.T

    @property
    def actuators_first(self) -> Array:
        """The places in q of actuators, by the joints that they drive, then of all joints: (360)."""
        return np.array([*self._motors, *[k for k in range(self.tree.nv) if k not in self._motors]], dtype=int)

    @property
    def operations(self) -> dict[str, Operations]:
        """The operations of each function."""
        return {name: count(self.program(name)) for name in FUNCTIONS}

    def equations(self, function: str = "terms") -> Equations:
        """A function as equations of SymPy, by way of intermediate lines where it is long."""
        return equations(self.program(function))

    def simplified(self) -> EquationsOfMotion:
        """M, V and G simplified, where they are short enough: `Mechanism.equations`; M is B, V is C."""
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

    def _terms(self, given: Mapping[str, Scalar], q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
        links = symbolic_links(self._links, GivenValues(given)) if given else self._links
        coordinates = q
        if self.coordinates == "half-angle tangents":
            coordinates = self._rational_angles(q)
            q = self._angles(q)
        B, C, G = FORMS[self.form](links, coordinates, qd)
        rotors = np.array([given.get(f"J_{k + 1}", J) for k, J in enumerate(rotor_inertias(self.tree))])
        springs = [_written(tie, given) for tie in ties(self.tree)]
        return B + np.diag(rotors), C, G, spring_forces(self.tree, q, qd, springs) + friction_forces(self.tree, qd)

    def _inverse(self, given: Mapping[str, Scalar], q: Array, qd: Array, qdd: Array) -> Array:
        B, C, G, E = self._terms(given, q, qd)
        return B @ qdd + C + G + E

    def _forward(self, given: Mapping[str, Scalar], q: Array, qd: Array, U: Array) -> Array:
        """Actuators are eliminated first, which keeps the zeros of B. NaN where a joint moves no mass."""
        order = self.actuators_first
        B, C, G, E = self._terms(given, q, qd)
        found = ldl_solve(B[np.ix_(order, order)], (U - C - G - E)[order])[np.argsort(order)]
        if given or always_regular(self.tree):
            return found
        return only_where(regular_text(self.tree)(self._angles(q)), found)

    def _angles(self, q: Array) -> Array:
        """The coordinates q themselves, with angles between -pi and pi where tangents are given."""
        if self.coordinates == "angles":
            return q
        turning = {link.coordinates.start for link in self._links.links if link.is_revolute} - set(self._motors)
        return np.stack([2 * np.arctan(q[k]) if k in turning else q[k] for k in range(len(q))])

    def _rational_angles(self, t: Array) -> Array:
        """Coordinates (nq) for the texts of links: the angles of revolute joints by the tangents of their halves. A
        motor behind a gear makes many turns, and its spring counts them, which t does not: motors keep their angles.
        Balanced round rotors look the same at every angle, so that B, C and G do not depend on these."""
        found = np.empty(len(t), dtype=object)
        found[:] = [t[k] for k in range(len(t))]
        for link in without_unseen_turns(self._links).links:
            k = link.coordinates.start
            if link.is_revolute and k not in self._motors:
                found[k] = RationalAngle.of_tangent(t[k])
            elif link.turns_unseen:
                found[k] = RationalAngle(1.0, 0.0)
        return found

    @property
    def _motors(self) -> list[int]:
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


def generate(tree: Tree, *, form: Form = "recursion", coordinates: Coordinates = "angles",
             parameters: Literal["numbers", "symbols"] = "numbers") -> GeneratedModel:
    """The equations of motion of an arm of revolute and prismatic joints, elastic as far as the tree includes elastic
    drives, rigid otherwise.

    `form`: by "recursion", or by "traces", Mladenova (348)-(357), which cost more. `coordinates`:
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
    links = links_of(tree)
    for link in links.links:
        if not (link.is_revolute or link.is_prismatic):
            raise UnsupportedError(f"joint {link.name!r} of {tree.name} is {link.motion.word}: equations are generated "
                                   "for revolute and prismatic joints; use the default methods, which are for all")
    return GeneratedModel(tree, form, coordinates, _numbers(tree, links) if parameters == "symbols" else {}, links)


def _numbers(tree: Tree, links: Links) -> dict[str, float]:
    found = {name: parameter.value for name, parameter in parameters_of(links).items()}
    found |= {f"J_{k + 1}": float(J) for k, J in enumerate(rotor_inertias(tree)) if J}
    for tie in ties(tree):
        found |= {_letter(tie, key): float(value) for key, value in _numbers_of(tie).items()}
        found |= {} if tie.qm is None else {f"N_{tie.qd + 1}": float(tie.gear)}
    return found


def _written(tie: DriveSpring, given: Mapping[str, Scalar]) -> DriveSpring:
    letters = {key: given[_letter(tie, key)] for key in _numbers_of(tie) if _letter(tie, key) in given}
    spring = replace(tie.spring, **letters) if letters else tie.spring
    return tie._replace(spring=spring, gear=given.get(f"N_{tie.qd + 1}", tie.gear))


def _numbers_of(tie: DriveSpring) -> dict[str, float]:
    """The numbers of a spring; a law that is a formula or a function has none."""
    return {entry.name: getattr(tie.spring, entry.name) for entry in fields(tie.spring)
            if "number" in entry.metadata.get("form", "") and getattr(tie.spring, entry.name)}


def _letter(tie: DriveSpring, key: str) -> str:
    return f"{_SHORT.get(key, key)}_{tie.qd + 1}"


class ModelSize(NamedTuple):
    """The size of the generated equations of an arm."""

    joints: int
    bodies: int
    terms: Operations
    inverse_dynamics: Operations
    not_zero: int  # entries of B
    written_out: int  # operations of all terms if nothing were shared

    @staticmethod
    def of(model: GeneratedModel, joints: int) -> ModelSize:
        operations = model.operations
        return ModelSize(joints, model.bodies, operations["terms"], operations["inverse_dynamics"],
                         int(model.pattern.sum()),
                    written_out(model.program("terms")))


def growth(joints: Sequence[int], *, elastic: bool = True, twist: float = GENERAL, form: Form = "recursion",
           coordinates: Coordinates = "angles") -> list[ModelSize]:
    """The sizes for arms of revolute joints without special numbers, with the given twist [rad] between their axes.

    >>> [(size.bodies, size.not_zero) for size in growth([1, 2, 3])]
    [(2, 2), (4, 8), (6, 18)]
    """
    return [ModelSize.of(generate(elastic_generic_arm(n, twist) if elastic else generic_arm([twist] * n), form=form,
                             coordinates=coordinates), n) for n in joints]


def elastic_generic_arm(joints: int, twist: float = GENERAL) -> Tree:
    """An arm without special numbers whose joints are all elastic: rotors are bodies of revolution on their axes."""
    arm = generic_arm([twist] * joints)
    random = np.random.default_rng(joints)
    for joint in arm.joints:
        across, along = random.uniform(0.01, 0.05, 2)
        arm = arm.with_drive(joint.name, stiffness=random.uniform(100.0, 900.0), gear=random.uniform(20.0, 90.0),
                             mass=random.uniform(0.2, 0.9), center=(0.0, 0.0, random.uniform(0.01, 0.1)),
                             tensor=np.diag([across, across, along]))
    return arm.including("elastic drives")


def written_out(program: Program) -> int:
    """The operations of all outputs together, if every intermediate value were written where it is used."""
    length: dict[int, int] = {}
    for node in program.nodes:
        length[node.index] = len(node.args) and 1 + sum(length[a.index] for a in node.args)
    return sum(length[node.index] for node in program.results)
