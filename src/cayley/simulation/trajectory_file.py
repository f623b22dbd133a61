"""Trajectories on disk: an .npz file with arrays, and a text that says what they are.

Files of trajectories of mechanisms (format 1) had q, qd and tau, energies and momentum; files of
format 2 name all blocks, modes, inputs and outputs of a system. Both are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import CayleyError, ModelError, UnsupportedError
from cayley.model.formats.array_file import read_arrays, write_arrays
from cayley.model.tree import Tree
from cayley.simulation.mechanism_motion import mechanism_motion
from cayley.systems.ports import Block, Port
from cayley.systems.system import System
from cayley.systems.trajectory import Trajectory
from cayley.systems.trajectory_parts import JointNames, Occurrence

FORMATS = ("cayley trajectory 1", "cayley trajectory 2")
_SHAPES = {
    "t": "(samples) [s]", "q": "(..., samples, nq), see coordinates",
    "qd": "(..., samples, nv), units of velocities a second", "tau": "(..., samples, nv), N m for rad, N for m",
    "work": "(..., samples) [J]", "kinetic": "(..., samples) [J]", "potential": "(..., samples) [J]",
    "momentum": "(..., samples, 6), about the centre of mass in the root's axes", "energy": "(..., samples) [J]"}
_OWN = {"t": (), "work": (), "kinetic": (), "potential": (), "momentum": (6,), "energy": ()}


def save_trajectory(trajectory: Trajectory, path: str | Path) -> Path:
    """Write the file, whole or not at all; a missing suffix .npz is added. The log of a batch is left out."""
    system = trajectory.system
    arrays: dict[str, Array] = {"t": trajectory.t, "work": trajectory.work}
    if trajectory.mechanism is not None:
        arrays |= trajectory.balance._asdict()
    elif system.energy is not None or "energy" in trajectory.stored:
        arrays["energy"] = trajectory.energy
    samples = trajectory.work.shape
    blocks = {name: (block.shape, block.unit) for name, block in system.blocks.items()}
    ports = {name: (port.shape, port.unit) for name, port in system.ports.items() if name in trajectory.inputs}
    outputs = {name: (port.shape, port.unit) for name, port in system.output_ports.items() if name not in blocks}
    kinds: dict[str, tuple[Mapping[str, tuple[tuple[int, ...], str]], Mapping[str, Array] | Any]] = {
        "state": (blocks, trajectory.states), "mode": ({name: ((), "") for name in system.modes}, trajectory.states),
        "input": (ports, trajectory.inputs), "output": (outputs, trajectory.outputs if outputs else {}),
        "parameter": ({name: (np.shape(system.parameters[name]), "") for name in trajectory.parameters},
                      trajectory.parameters)}
    parts = []
    for kind, (described, values) in kinds.items():
        for name, (shape, unit) in described.items():
            array = f"{kind} {name}" if name in arrays or name in (*_OWN, "about") else name
            parts.append({"array": array, "kind": kind, "name": name, "shape": shape, "unit": unit})
            arrays[array] = values[name] if kind == "parameter" else np.broadcast_to(values[name], (*samples, *shape))
    mechanism = trajectory.mechanism
    named: dict[str, object] = {"system": system.name} if mechanism is None else {
        "mechanism": mechanism.name, "coordinates": mechanism.coordinates, "velocities": mechanism.velocities}
    shapes = {part["array"]: f"(..., samples, {part['shape']}) [{part['unit']}]" for part in parts} | _SHAPES
    return write_arrays(path, {
        "format": FORMATS[-1], **named, "status": trajectory.status, "message": trajectory.message,
        "happened": [] if trajectory.batch else [o._asdict() for o in trajectory.happened],
        "facts": dict(trajectory.facts), "modes": system.modes, "parts": parts,
        "arrays": {name: shapes[name] for name in arrays}}, arrays)


def load_trajectory(path: str | Path, of: Tree | System | None = None) -> Trajectory:
    """Read a file; an error says what is wrong with it, or that the mechanism or the system is another."""
    try:
        loaded = _read(path)
    except CayleyError:
        raise
    except Exception as error:  # whatever NumPy, zipfile and its decompressors raise for a damaged file
        said = f"{type(error).__name__}, {error}" if str(error) else type(error).__name__
        raise ModelError(f"{path} is no trajectory file, or is damaged: {said}") from error
    return _of_system(path, loaded, of) if isinstance(of, System) else _of_tree(path, loaded, of) if of else loaded


def _of_system(path: str | Path, loaded: Trajectory, system: System) -> Trajectory:
    own, other = ({n: block.shape for n, block in each.blocks.items()} | dict.fromkeys(each.modes, ())
                  for each in (loaded.system, system))
    if own != other:
        raise ModelError(f"{path} is of {loaded.name}, with the state {', '.join(own)}; that of {system.name} is "
                         f"{', '.join(other)}, or has other shapes")
    return replace(loaded, system=system)


def _of_tree(path: str | Path, loaded: Trajectory, tree: Tree) -> Trajectory:
    if loaded.mechanism is None:
        raise ModelError(f"{path} is of the system {loaded.name}, not of a mechanism: load it with that system")
    if (tree.nq, tree.nv) != (loaded.q.shape[-1], loaded.qd.shape[-1]):
        raise ModelError(f"{path} is of {loaded.name}, with nq = {loaded.q.shape[-1]}, nv = {loaded.qd.shape[-1]}; "
                         f"{tree.name} has nq = {tree.nq}, nv = {tree.nv}")
    return replace(loaded, mechanism=mechanism_motion(tree))


def _read(path: str | Path) -> Trajectory:
    about, arrays = read_arrays(path)
    if about["format"] not in FORMATS:
        raise ModelError(f"{path} is of the format {about['format']!r}; this reads {' and '.join(map(repr, FORMATS))}")
    mechanism = JointNames(about["mechanism"], _labels(about["coordinates"]), _labels(about["velocities"])) \
        if "mechanism" in about else None
    parts = about["parts"] if "parts" in about else _former_parts(about)
    known = {kind: {part["name"]: part for part in parts if part["kind"] == kind}
             for kind in ("state", "mode", "input", "output", "parameter")}
    _check_shapes(path, about["arrays"], arrays, {part["array"]: part for part in parts})
    facts = about["facts"]
    t = arrays["t"]
    if "times" in facts:  # of format 1: the times of the first trajectory of a batch with different steps
        steps = np.broadcast_to(np.asarray(facts["step"]), arrays["work"].shape[:-1])[..., None]
        t = facts["start"] + (t - facts["start"]) * (steps / steps.ravel()[0])
        facts = {name: value for name, value in facts.items() if name not in ("times", "start")}
    system = System(
        about["mechanism"] if mechanism else about["system"],
        state={n: Block(tuple(part["shape"]), part["unit"]) for n, part in known["state"].items()},
        modes=about.get("modes", {}), inputs=_ports(known["input"]), outputs=_ports(known["output"]),
        parameters={n: np.zeros(part["shape"]) for n, part in known["parameter"].items()},
        derivative=_unknown, output=_unknown if known["output"] else None)
    named = {kind: {n: arrays[part["array"]] for n, part in each.items()} for kind, each in known.items()}
    stored = {f"output {n}": values for n, values in named["output"].items()}
    return Trajectory(
        system, t, system.layout.vectors(named["state"] | named["mode"], arrays["work"].shape), arrays["work"],
        named["input"], named["parameter"], about["status"], about["message"],
        tuple(Occurrence(**o) for o in about["happened"]), facts=facts, mechanism=mechanism,
        stored=stored | {n: arrays[n] for n in _OWN if n in arrays and n not in ("t", "work")})


def _former_parts(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of a file of format 1."""
    nq, nv = len(about["coordinates"]), len(about["velocities"])
    parts = {"q": ("state", nq), "qd": ("state", nv), "tau": ("input", nv)}
    return [{"array": name, "kind": kind, "name": name, "shape": [size], "unit": ""}
            for name, (kind, size) in parts.items() if name in about["arrays"]]


def _unknown(t: Scalar, x: object, u: object, p: object) -> NoReturn:
    raise UnsupportedError("a file of a trajectory does not tell how its system moves: load it with the system, "
                           "`Trajectory.load(path, system)`")


def _ports(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Port]:
    return {name: Port(tuple(part["shape"]), part["unit"]) for name, part in parts.items()}


def _check_shapes(path: str | Path, said: Iterable[str], arrays: Mapping[str, Array],
                  parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that the arrays are those that the text names, numbers, and go together."""
    if set(said) != arrays.keys():
        raise ModelError(f"{path} is damaged: it names the arrays {', '.join(said)}, and has {', '.join(arrays)}")
    samples = arrays["work"].shape
    for name, array in arrays.items():
        shape = tuple(parts[name]["shape"]) if name in parts else _OWN[name]
        wanted = (*samples, *shape)
        if name == "t" and array.ndim < 2:
            wanted = samples[-1:]
        if name in parts and parts[name]["kind"] == "parameter":
            wanted = (*array.shape[:max(array.ndim - len(shape), 0)], *shape)
        if array.shape != wanted or array.dtype.kind != "f":
            raise ModelError(f"{path} is damaged: its array {name} is {array.dtype} of the shape {array.shape}; with "
                             f"{samples} samples it would be real numbers of the shape {wanted}")


def _labels(pairs: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(unit)) for name, unit in pairs)
