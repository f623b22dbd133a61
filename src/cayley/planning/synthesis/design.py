"""A four-bar as synthesis finds it: by its parameters, with the pairs it is for.

    branch     some positions are in the other assembly mode: the input cannot bring it there, it must be taken apart
    circuit    some positions are beyond a dead centre of the input, which it cannot pass
    order      the input, turning one way, meets the positions in another order
Lengths may be negative (the link then stands at the angle plus pi) or infinite: with k2 = 0 (k3 = 0) the input (output)
link and the coupler have their pin at infinity, a slot in that link. It is feasible if every link is shorter than the
others together. Source: Ruggiu 4.6.1, 4.6.2, corrected as in spec E-19, E-20."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, UnreachableError, UnsupportedError
from cayley.machines.arguments import DOWN, Masses
from cayley.machines.linkages.four_bar import FourBar
from cayley.machines.linkages.slider_crank import SlottedLever
from cayley.model.tree import Tree
from cayley.planning.synthesis.freudenstein import input_output_residual, output_angles, signed_lengths
from cayley.showing import brief

Linkage = FourBar | SlottedLever

_ZERO = 1e-12  # of the largest parameter; more, where pairs hardly determine it
_ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class StructuralError:
    """The outputs of a linkage at the inputs (m): the output nearest to the prescribed one, and the difference [rad].
    `modes` (m) is the assembly mode, -1 where it cannot be assembled; there `generated` and `error` are NaN."""

    inputs: Array
    prescribed: Array
    generated: Array
    error: Array
    modes: Array

    __repr__ = brief

    @property
    def unassembled(self) -> tuple[int, ...]:
        """The inputs, counted from 0, at which the linkage cannot be assembled."""
        return tuple(map(int, np.flatnonzero(self.modes < 0)))

    @property
    def largest(self) -> float:
        """The largest error [rad]; NaN if some input cannot be assembled."""
        return float(np.abs(self.error).max())

    @property
    def rms(self) -> float:
        """The root of the mean square [rad]; NaN if some input cannot be assembled."""
        return float(np.sqrt(np.mean(self.error**2)))

    @staticmethod
    def nearest(inputs: Array, wanted: Array, both: Array, off: Array) -> StructuralError:
        """The outputs in the assembly mode that is nearest at each input, by the outputs and errors (m, 2) of both."""
        stands = np.asarray(np.isfinite(off).all(axis=1))
        near = np.argmin(np.where(stands[:, None], np.abs(off), 0.0), axis=1)
        rows = np.arange(len(wanted))
        return StructuralError(inputs, wanted, both[rows, near], off[rows, near], np.where(stands, near, -1))

    @property
    def status(self) -> str:
        """"assembled", or at which inputs it is not."""
        at = ", ".join(f"{self.inputs[k]:.6g}" for k in self.unassembled)
        return f"cannot be assembled at the inputs {at} rad" if at else "assembled"


@dataclass(frozen=True, eq=False)
class FourBarDesign:
    """A four-bar by its `parameters` k (3) and its `ground` [m], for the pairs `inputs` and `outputs` (m) [rad];
    `condition` is that of the synthesis matrix: large where the pairs hardly determine the linkage."""

    parameters: Array
    ground: float
    inputs: Array
    outputs: Array
    condition: float

    __repr__ = brief

    @property
    def kind(self) -> str:
        """"RRRR", "PRRR" for k2 = 0 (a slot in the input link), "RRRP" for k3 = 0 (a slot in the output link), or
        "PRRP" for both, when input and output turn alike."""
        rounding = min(max(_ZERO, _ROUNDING * self.condition), 1e-9)
        zero = np.abs(self.parameters[1:]) <= rounding * max(1.0, float(np.abs(self.parameters).max()))
        return ("P" if zero[0] else "R") + "RR" + ("P" if zero[1] else "R")

    @cached_property
    def signed_lengths(self) -> Array:
        """(4) of ground, input link, coupler, output link [m]: negative, infinite (a slot), or NaN for a coupler whose
        square would be negative."""
        k = self.parameters * [1.0, self.kind[0] == "R", self.kind[3] == "R"]
        with np.errstate(divide="ignore"):
            ends = self.ground / np.abs(k[1:]) * np.where(k[1:] < 0, -1.0, 1.0)
        coupler = signed_lengths.unchecked(k, self.ground)[2] if self.kind == "RRRR" else np.inf
        return np.array([self.ground, ends[0], coupler, ends[1]])

    @property
    def input_shift(self) -> float:
        """The angle of the input link itself less psi: pi if its length is negative, else 0."""
        return np.pi if self.signed_lengths[1] < 0 else 0.0

    @property
    def output_shift(self) -> float:
        """The angle of the output link itself less phi: pi if its length is negative, else 0."""
        return np.pi if self.signed_lengths[3] < 0 else 0.0

    @property
    def infeasible(self) -> str:
        """Why there is no such linkage, in words; nothing if there is one."""
        k = self.parameters
        if self.kind != "RRRR":
            reach = 1.0 + abs(k[2] if self.kind == "PRRR" else k[1] if self.kind == "RRRP" else 0.0)
            missed = f"the slot is never met: |k1| = {abs(k[0]):.6g} is not below {reach:.6g}"
            return "" if abs(k[0]) < reach else missed
        lengths = np.abs(self.signed_lengths)
        if not lengths[2] > 0:
            square = self.ground**2 * (1 + 1 / k[1]**2 + 1 / k[2]**2 - 2 * k[0] / (k[1] * k[2]))
            return f"the coupler has no length: its square would be {square:.6g} m^2"
        longest = int(np.argmax(lengths))
        if 2 * lengths[longest] < lengths.sum():
            return ""
        name = ("ground", "input link", "coupler", "output link")[longest]
        return f"its {name} of {lengths[longest]:.6g} m is not shorter than the others together"

    @property
    def feasible(self) -> bool:
        return not self.infeasible

    @cached_property
    def linkage(self) -> Linkage:
        """The linkage with positive lengths; where a signed length is negative, its link is at the angle plus pi."""
        if self.infeasible:
            raise UnreachableError(f"the linkage cannot be built: {self.infeasible}; change a pair, or the choice of "
                                   "precision points")
        if self.kind == "PRRP":
            raise UnsupportedError(
                f"with k2 = k3 = 0 input and output turn alike, {np.arccos(self.parameters[0]):.6g} rad apart: that is "
                "no linkage of four bars but a coupling")
        lengths = np.abs(self.signed_lengths)
        if self.kind == "RRRR":
            return FourBar(crank=lengths[1], coupler=lengths[2], rocker=lengths[3], ground=lengths[0])
        slotted_input = self.kind == "PRRR"
        crank = 3 if slotted_input else 1
        return SlottedLever(crank=lengths[crank], ground=self.ground,
                            offset=float(self.parameters[0] * self.signed_lengths[crank]),
                            slot_on="input" if slotted_input else "output")

    @property
    def linkage_class(self) -> str:
        """The class of the four-bar by Grashof, which says what turns round, "slotted lever", or "infeasible"."""
        if self.infeasible or self.kind == "PRRP":
            return "infeasible" if self.infeasible else "coupling"
        return self.linkage.kind if isinstance(self.linkage, FourBar) else "slotted lever"

    # How well it does what it is for

    @property
    def design_errors(self) -> Array:
        """T k - b (m), what the equations of the pairs leave."""
        return input_output_residual(self.parameters, self.inputs, self.outputs)

    @property
    def design_error(self) -> float:
        """The root of the mean square of the design errors. It does not say how far the output is off, nor whether the
        linkage can be assembled: `structural_error` does."""
        return float(np.sqrt(np.mean(self.design_errors**2)))

    def output_angles(self, psi: ArrayLike) -> Array:
        """phi (..., 2) in both assembly modes; NaN where it cannot be assembled."""
        return output_angles.unchecked(self.parameters, psi)

    def structural_error(self, psi: ArrayLike | None = None, phi: ArrayLike | None = None) -> StructuralError:
        """The distances of the outputs from those of the pairs, or from others (m) at inputs (m), in the assembly mode
        that is nearest at each."""
        if (psi is None) != (phi is None):
            raise SignatureError("the structural error at other inputs needs the outputs wanted there, as many")
        inputs, wanted = (np.broadcast_arrays(*[np.atleast_1d(np.asarray(x, dtype=float)) for x in (psi, phi)])
                          if psi is not None else (self.inputs, self.outputs))
        both = self.output_angles(inputs)
        off = both - wanted[:, None]
        return StructuralError.nearest(inputs, wanted, both, np.arctan2(np.sin(off), np.cos(off)))

    def defects(self) -> Defects:
        """The defects that keep one motion of the input from leading through all pairs, in their order."""
        found = self.structural_error()
        if isinstance(self.linkage, FourBar):
            q = self._coordinates(self.inputs, found.generated)
            return defects_of(self.linkage, q[:, 0], assembly_mode(q[:, 0] + q[:, 1], q[:, 2]))
        first = found.modes[found.modes >= 0][:1]
        other = np.flatnonzero((found.modes >= 0) & (found.modes != first)) if len(first) else ()
        return Defects(found.unassembled, tuple(map(int, other)), (), True)

    def transmission_angles(self, psi: ArrayLike | None = None) -> Array:
        """The angle (...) between coupler and output link [rad] in [0, pi] at the pairs, or at inputs. It is the same
        in both modes, best near pi/2, and NaN where the linkage cannot be assembled. In a slotted lever the pin pushes
        at right angles to the slot, and the angle is that to the line from the output's pivot."""
        inputs = self.inputs if psi is None else np.asarray(psi, dtype=float)
        phi = self.output_angles(inputs)[..., 0]
        if isinstance(self.linkage, FourBar):
            q = self._coordinates(inputs, phi)
            return self.linkage.transmission_angle(np.stack([q[..., 0] + q[..., 1], q[..., 2]], axis=-1))
        if self.linkage.slot_on == "input":
            off = phi + self.output_shift - inputs
            return np.abs(np.arctan2(np.sin(off), np.cos(off)))
        return np.abs(np.arctan2(self.linkage.along_slot(inputs + self.input_shift, phi), self.linkage.offset))

    # The machine

    def tree(self, *, masses: Masses | None = None, gravity: ArrayLike = DOWN) -> Tree:
        """The linkage as a tree with a loop, for `cy.Mechanism`; masses [kg] by the names of the links."""
        return self.linkage.tree(masses=masses, gravity=gravity)

    def configuration(self, psi: ArrayLike, mode: int = 0) -> Array:
        """The coordinates (..., 3) of `tree` at inputs (...), in the assembly mode 0 or 1 of `output_angles`."""
        inputs = np.asarray(psi, dtype=float)
        return self._coordinates(inputs, output_angles(self.parameters, inputs)[..., mode])

    def _coordinates(self, psi: Array, phi: Array) -> Array:
        theta = psi + self.input_shift
        out = phi + self.output_shift
        if isinstance(self.linkage, SlottedLever):
            return self.linkage.configuration(theta, out)
        four = self.linkage
        along = four.ground + four.rocker * np.cos(out) - four.crank * np.cos(theta)
        coupler = np.arctan2(four.rocker * np.sin(out) - four.crank * np.sin(theta), along)
        return four.configuration(theta, np.stack([coupler, out], axis=-1))

    def __str__(self) -> str:
        names = ("ground", "input link", "coupler", "output link")
        lengths: Sequence[str] = [f"{name} {length:.6g} m" for name, length in
                                  zip(names, self.signed_lengths, strict=True)]
        return f"{self.kind}, {self.linkage_class}: {', '.join(lengths)}"


_SAME = 1e-9  # rad


@dataclass(frozen=True)
class Defects:
    """Defects of a linkage: the positions, from 0, on another branch or circuit than the first, and whether their order
    is right."""

    unassembled: tuple[int, ...]
    branch: tuple[int, ...]
    circuit: tuple[int, ...]
    in_order: bool

    __repr__ = brief

    @property
    def none(self) -> bool:
        return not (self.unassembled or self.branch or self.circuit) and self.in_order

    def __str__(self) -> str:
        def positions(numbers: tuple[int, ...]) -> str:
            return f"position{'s' if len(numbers) > 1 else ''} {', '.join(str(k + 1) for k in numbers)}"

        said = [f"{positions(self.unassembled)} cannot be assembled"] if self.unassembled else []
        said += [f"{positions(self.branch)} in the other assembly mode (branch defect)"] if self.branch else []
        if self.circuit:
            said.append(f"{positions(self.circuit)} beyond a dead centre of the input (circuit defect)")
        said += [] if self.in_order else ["the input meets the positions in another order (order defect)"]
        return "; ".join(said) or "none"


def defects_of(linkage: FourBar, theta: ArrayLike, modes: ArrayLike) -> Defects:
    """Defects of positions by the angles (m) of the crank and the assembly modes (m): 0 or 1, -1 where there is none.

    >>> linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    >>> print(defects_of(linkage, [0.0, 1.0, 0.5, 2.0], [0, 0, 1, 0]))
    position 3 in the other assembly mode (branch defect); the input meets the positions in another order (order defect)
    """
    angles = np.asarray(theta, dtype=float)
    mode = np.asarray(modes)
    stands = mode >= 0
    lost = tuple(map(int, np.flatnonzero(~stands)))
    if not stands.any():
        return Defects(lost, (), (), True)
    first = int(np.argmax(stands))
    arcs = crank_arcs(linkage)
    piece = np.array([_arc_of(arcs, angle) for angle in angles])
    return Defects(lost, tuple(map(int, np.flatnonzero(stands & (mode != mode[first])))),
                   tuple(map(int, np.flatnonzero(stands & (piece != piece[first])))),
                   _in_order(angles[stands & (piece == piece[first])], arcs, int(piece[first])))


def crank_arcs(linkage: FourBar) -> Array:
    """The arcs (k, 2) of its angle in which the crank can stand, each from its first to its second end, which is
    greater; none if it turns round."""
    ends = np.sort(linkage.dead_centres().crank)
    if not len(ends):
        return np.empty((0, 2))
    arcs = np.stack([ends, np.roll(ends, -1)], axis=1)
    arcs[-1, 1] += 2 * np.pi
    middle = arcs.mean(axis=1)
    reach = np.hypot(linkage.crank * np.cos(middle) - linkage.ground, linkage.crank * np.sin(middle))
    return arcs[(reach > abs(linkage.coupler - linkage.rocker)) & (reach < linkage.coupler + linkage.rocker)]


def assembly_mode(coupler: ArrayLike, rocker: ArrayLike) -> Array:
    """The assembly mode (...), as `FourBar.position` counts them, of angles (...) of coupler and rocker; -1 for NaN."""
    bend = np.sin(np.asarray(coupler, dtype=float) - np.asarray(rocker, dtype=float))
    return np.where(np.isnan(bend), -1, np.where(bend > 0, 0, 1))


def _arc_of(arcs: Array, angle: float) -> int:
    """The number of the arc that an angle is in; -1 if in none, 0 if there are none and the crank turns round."""
    if not len(arcs):
        return 0
    beyond = np.mod(angle - arcs[:, 0] + _SAME, 2 * np.pi)
    inside = beyond <= arcs[:, 1] - arcs[:, 0] + 2 * _SAME
    return int(np.argmax(inside)) if inside.any() else -1


def _in_order(angles: Array, arcs: Array, piece: int) -> bool:
    if not len(arcs):  # the crank turns round: once at most, one way or the other
        steps = np.mod(np.diff(angles), 2 * np.pi)
        back = np.mod(-np.diff(angles), 2 * np.pi)
        return bool(steps.sum() <= 2 * np.pi + _SAME or back.sum() <= 2 * np.pi + _SAME)
    along = np.diff(np.mod(angles - arcs[piece, 0] + _SAME, 2 * np.pi))
    return bool((along >= -_SAME).all() or (along <= _SAME).all())
