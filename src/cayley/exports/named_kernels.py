"""Functions of a robot by the words of a command line: "inverse-dynamics", "pose:tool", "jacobian:tool:body"."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from cayley.errors import SignatureError, did_you_mean, shown

if TYPE_CHECKING:
    from cayley.compiler.kernel import Kernel
    from cayley.compiler.typing import ArrayLike, DTypeLike
    from cayley.exports.folder import ExportedFolder
    from cayley.model.tree import Tree
    from cayley.systems.system import System

OF_THE_ROBOT = ("inverse_dynamics", "forward_dynamics", "inertia_matrix", "inverse_inertia_matrix", "bias_forces",
                "coriolis_matrix", "gravity_forces", "kinetic_energy", "potential_energy", "center_of_mass", "momentum",
                "linearize", "forward_derivatives")
OF_CONSTRAINTS = {"constraint_residual": "loops.residual", "constraint_jacobian": "loops.jacobian",
                  "constraint_forces": "loops.forces"}
OF_A_FRAME = {"pose": (), "jacobian": ("axes",), "jacobian_rate": ("axes",), "twist": ("axes",)}
FUNCTIONS = (*OF_THE_ROBOT, *OF_CONSTRAINTS, *OF_A_FRAME)


class ExportedMechanism(Protocol):
    """A mechanism, which has the functions."""

    @property
    def name(self) -> str: ...

    @property
    def tree(self) -> Tree: ...

    @property
    def frame_names(self) -> tuple[str, ...]: ...


def kernel_named(arm: ExportedMechanism, words: str) -> tuple[str, Kernel]:
    """A name for the kernel that the words ask for, and the kernel.

    >>> arm = cy.load("planar2r")
    >>> kernel_named(arm, "inverse-dynamics")[0], kernel_named(arm, "jacobian:tool:body")[0]
    ('planar2r_inverse_dynamics', 'planar2r_jacobian_tool_body')
    >>> kernel_named(arm, "pose")
    Traceback (most recent call last):
    cayley.errors.SignatureError: 'pose' of planar2r: say of which frame, 'pose:tool'; there are ...
    """
    function, _, rest = words.partition(":")
    function = function.strip().replace("-", "_")
    if function not in FUNCTIONS:
        advice = did_you_mean(function, FUNCTIONS, otherwise=f"; there are {', '.join(FUNCTIONS)}")
        raise SignatureError(f"{shown(words)} is not a function of {arm.name}{advice}")
    if function in OF_CONSTRAINTS and not arm.tree.is_constrained:
        raise SignatureError(f"{shown(words)}: {arm.name} has no constraints, no loops and no mimic joints")
    if function not in OF_A_FRAME:
        if rest:
            raise SignatureError(f"{shown(words)}: {function} is not of a frame; {', '.join(OF_A_FRAME)} are")
        return f"{arm.name}_{function}", attrgetter(OF_CONSTRAINTS.get(function, function))(arm)
    frames = arm.frame_names
    if not rest:
        example = "tool" if "tool" in frames else frames[-1]
        raise SignatureError(f"{shown(words)} of {arm.name}: say of which frame, '{function}:{example}'; there are "
                             f"{', '.join(frames)}")
    frame, axes = (rest, "") if rest in frames or ":" not in rest else rest.rsplit(":", 1)
    if axes and not OF_A_FRAME[function]:
        raise SignatureError(f"{shown(words)}: {function} has no choice of axes")
    if not OF_A_FRAME[function]:
        return f"{arm.name}_{function}_{frame}", getattr(arm, function).of(frame)
    chosen = axes or "world"
    return f"{arm.name}_{function}_{frame}_{chosen}", getattr(arm, function).of(frame, axes=chosen)


def export_mechanism(arm: ExportedMechanism, folder: str | os.PathLike[str],
                     functions: Sequence[str | Kernel | System], *,
                     layout: str, dtype: DTypeLike | None, batch: bool, name: str | None,
                     states: Mapping[str, ArrayLike] | None) -> ExportedFolder:
    """See `Mechanism.export`."""
    from cayley.exports.folder import export_folder
    named: dict[str, Kernel | System] = {}
    for given in functions:
        key, what = kernel_named(arm, given) if isinstance(given, str) else _own(arm, given)
        if key in named:
            raise SignatureError(f"{key} is asked for twice")
        named[key] = what
    return export_folder(folder, named, layout=layout, name=name or arm.name, about=f"Functions of {arm.name}.",
                         dtype=dtype, batch=batch, tree=arm.tree, states=states)


def _own(arm: ExportedMechanism, given: Kernel | System) -> tuple[str, Kernel | System]:
    from cayley.compiler.kernel import Kernel
    from cayley.systems.system import System
    if isinstance(given, System):
        return f"{arm.name}_{given.name}", given
    if isinstance(given, Kernel):
        return f"{arm.name}_{given.__name__}", given
    raise SignatureError(f"export takes the name of a function (\"inverse-dynamics\", \"pose:tool\"), a kernel or a "
                         f"system, not {shown(given)}")
