"""Trajectories on disk: an .npz file with arrays, and a text that says what they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from cayley.compiler.typing import Array
from cayley.errors import CayleyError, ModelError
from cayley.model.formats.array_file import read_arrays, write_arrays
from cayley.model.tree import Tree
from cayley.simulation.balance import Balance
from cayley.simulation.trajectory import Trajectory
from cayley.systems.trajectory import Occurrence

FORMAT = "cayley trajectory 1"
_SHAPES = {
    "t": "(samples) [s]", "q": "(..., samples, nq), see coordinates",
    "qd": "(..., samples, nv), units of velocities a second", "tau": "(..., samples, nv), N m for rad, N for m",
    "work": "(..., samples) [J]", "kinetic": "(..., samples) [J]", "potential": "(..., samples) [J]",
    "momentum": "(..., samples, 6), about the centre of mass in the root's axes"}


def save(trajectory: Trajectory, path: str | Path) -> Path:
    """Write the file, whole or not at all; the suffix .npz is added if it is missing."""
    arrays = {
        "t": trajectory.t, "q": trajectory.q, "qd": trajectory.qd, "work": trajectory.work,
        **trajectory.balance._asdict()}
    if trajectory.tau is not None:
        arrays["tau"] = trajectory.tau
    described = {
        "format": FORMAT, "mechanism": trajectory.name, "status": trajectory.status, "message": trajectory.message,
        "coordinates": trajectory.coordinates, "velocities": trajectory.velocities,
        "happened": [o._asdict() for o in trajectory.happened], "facts": dict(trajectory.facts),
        "arrays": {name: _SHAPES[name]
                   for name in arrays}}
    return write_arrays(path, described, arrays)


def load(path: str | Path, tree: Tree | None = None) -> Trajectory:
    """Read a file; an error says what is wrong with it, or that the mechanism is another."""
    try:
        loaded = _read(path, tree)
    except CayleyError:
        raise
    except Exception as error:  # whatever NumPy, zipfile and its decompressors raise for a damaged file
        said = f"{type(error).__name__}, {error}" if str(error) else type(error).__name__
        raise ModelError(f"{path} is no trajectory file, or is damaged: {said}") from error
    if tree is not None and (tree.nq, tree.nv) != (loaded.q.shape[-1], loaded.qd.shape[-1]):
        raise ModelError(f"{path} is of {loaded.name}, with nq = {loaded.q.shape[-1]}, nv = {loaded.qd.shape[-1]}; "
                         f"{tree.name} has nq = {tree.nq}, nv = {tree.nv}")
    return loaded


def _read(path: str | Path, tree: Tree | None) -> Trajectory:
    about, arrays = read_arrays(path)
    if about["format"] != FORMAT:
        raise ModelError(f"{path} is of the format {about['format']!r}; this reads {FORMAT!r}")
    coordinates = _labels(about["coordinates"])
    velocities = _labels(about["velocities"])
    _check_shapes(path, about["arrays"], arrays, len(coordinates), len(velocities))
    balance = Balance(arrays["kinetic"], arrays["potential"], arrays["momentum"])
    return Trajectory(tree, arrays["t"], arrays["q"], arrays["qd"], arrays.get("tau"), arrays["work"], about["status"],
                      about["message"], tuple(Occurrence(**o) for o in about["happened"]), about["facts"],
                      coordinates, velocities, about["mechanism"], balance)


def _check_shapes(path: str | Path, said: Iterable[str], arrays: Mapping[str, Array], nq: int, nv: int) -> None:
    """Check that the arrays are those that the text names, numbers, and go together."""
    if set(said) != arrays.keys():
        raise ModelError(f"{path} is damaged: it names the arrays {', '.join(said)}, and has {', '.join(arrays)}")
    samples = arrays["work"].shape
    wanted = {"t": samples[-1:], "q": (*samples, nq), "qd": (*samples, nv), "tau": (*samples, nv), "work": samples,
              "kinetic": samples, "potential": samples, "momentum": (*samples, 6)}
    for name, array in arrays.items():
        if array.shape != wanted[name] or array.dtype.kind != "f":
            raise ModelError(f"{path} is damaged: its array {name} is {array.dtype} of the shape {array.shape}; with "
                             f"{samples} samples it would be real numbers of the shape {wanted[name]}")


def _labels(pairs: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(unit)) for name, unit in pairs)
