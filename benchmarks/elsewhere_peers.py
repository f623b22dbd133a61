"""The peers of `.venv-peers`: `elsewhere.py` starts this program there, one process for each peer. It needs no Cayley.

A job gets its robot as a URDF or MJCF file and its states as arrays, and gives the ways in which the peer does it.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

LOOPED = 500  # states of a Python loop
FLAGS = "-O3 -march=native"


@dataclass
class Way:
    """One way to do a job: a statement, its global names, for how many states it is, and what it computes for them."""

    title: str
    statement: str
    names: dict[str, Any]
    states: int
    results: Callable[[], np.ndarray]


class Refused(Exception):
    """The peer has no such function, or does not take this robot; the message says why."""


def call_and_loop(name: str, each: Callable[..., Any], rows: list[tuple],
                  read: Callable[[Any], np.ndarray]) -> list[Way]:
    """One call again and again, and a Python loop over some states."""
    def results() -> np.ndarray:
        return np.stack([np.array(read(each(*x))).ravel() for x in rows])

    names = {"each": each, "x": rows[0], "rows": rows}
    return [Way(f"{name}, one call", "each(*x)", names, 1, results),
            Way(f"{name}, Python loop", "for x in rows: each(*x)", names, len(rows), results)]


# Drake


def drake(job: str, given: dict, arrays: dict) -> list[Way]:
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(given["urdf"])
    base = plant.GetBodyByName(given["base"])
    plant.WeldFrames(plant.world_frame(), base.body_frame())
    plant.Finalize()
    context = plant.CreateDefaultContext()
    tool, world, forces = None, plant.world_frame(), MultibodyForces(plant)
    acting = plant.get_applied_generalized_force_input_port()
    accelerations = plant.get_generalized_acceleration_output_port()
    if "tool" in given:
        tool = plant.GetFrameByName(given["tool"])

    def inverse(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, a, forces)

    def forward(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        acting.FixValue(context, tau)
        return accelerations.Eval(context)

    def matrix(q: np.ndarray, *_: np.ndarray) -> np.ndarray:
        plant.SetPositions(context, q)
        return plant.CalcMassMatrix(context)

    def pose(q: np.ndarray) -> np.ndarray:
        plant.SetPositions(context, q)
        return tool.CalcPoseInWorld(context).GetAsMatrix4()

    def jacobian(q: np.ndarray) -> np.ndarray:
        plant.SetPositions(context, q)
        return plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, tool, np.zeros(3), world, world)

    functions = {"inverse_dynamics": inverse, "forward_dynamics": forward, "inertia_matrix": matrix, "pose": pose,
                 "jacobian": jacobian}
    if job not in functions:
        raise Refused(f"no {job}")
    rows = [tuple(x[k].copy() for x in arrays.values()) for k in range(min(LOOPED, len(arrays["q"])))]
    return call_and_loop("Drake", functions[job], rows,
                         (lambda J: J[[3, 4, 5, 0, 1, 2]]) if job == "jacobian" else (lambda x: x))


# JAX


def under_jit(name: str, function: Callable[..., Any], arrays: dict) -> list[Way]:
    """`jit` of one state, and of `vmap` over the batch, as users of JAX write it."""
    import jax
    import jax.numpy as jnp

    one, many = jax.jit(function), jax.jit(jax.vmap(function))
    rows = [jnp.asarray(x) for x in arrays.values()]
    first = [x[0] for x in rows]

    def results() -> np.ndarray:
        return np.asarray(many(*rows)).reshape(len(rows[0]), -1)

    return [
        Way(f"{name}, `jit`, one call", "f(*x).block_until_ready()", {"f": one, "x": first}, 1,
            lambda: np.asarray(one(*first)).reshape(1, -1)),
        Way(f"{name}, `jit(vmap)`, its own threads", "f(*x).block_until_ready()", {"f": many, "x": rows}, len(rows[0]),
            results)]


def frax(job: str, given: dict, arrays: dict) -> list[Way]:
    import jax

    jax.config.update("jax_enable_x64", True)
    import frax as library

    offset = arrays.pop("offset", None)
    robot = library.Manipulator(given["urdf"], ee_offset=offset)
    up = np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    functions = {
        "inverse_dynamics": lambda q, v, a: robot.rnea(q, v, a, up, None),
        "forward_dynamics": lambda q, v, tau: robot.forward_dynamics(q, v, tau, None), "inertia_matrix": robot.crba,
        "pose": robot.ee_transform, "jacobian": robot.ee_jacobian}
    if job not in functions:
        raise Refused(f"no {job}")
    return under_jit("frax", functions[job], arrays)


def adam(job: str, given: dict, arrays: dict) -> list[Way]:
    """Its equations are those of a floating base, which is held here."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    from adam import Representations
    from adam.jax import KinDynComputations

    arrays.pop("offset", None)
    robot = KinDynComputations(given["urdf"], given["joints"], gravity=jnp.array([0, 0, -9.81, 0, 0, 0]))
    robot.set_frame_velocity_representation(Representations.MIXED_REPRESENTATION)
    base, still = jnp.eye(4), jnp.zeros(6)

    def inverse(q: Any, v: Any, a: Any) -> Any:
        return robot.mass_matrix(base, q)[6:, 6:] @ a + robot.bias_force(base, q, still, v)[6:]

    def forward(q: Any, v: Any, tau: Any) -> Any:
        return jax.scipy.linalg.solve(robot.mass_matrix(base, q)[6:, 6:],
                                      tau - robot.bias_force(base, q, still, v)[6:], assume_a="pos")

    functions = {
        "inverse_dynamics": inverse, "forward_dynamics": forward,
        "inertia_matrix": lambda q: robot.mass_matrix(base, q)[6:, 6:],
        "pose": lambda q: robot.forward_kinematics(given["tool"], base, q),
        "jacobian": lambda q: robot.jacobian(given["tool"], base, q)[:, 6:]}
    if job not in functions:
        raise Refused(f"no {job}")
    return under_jit("adam", functions[job], arrays)


# Pinocchio in C++


def codegen(job: str, given: dict, arrays: dict) -> list[Way]:
    """Pinocchio's own functions in C++, and the C that CppADCodeGen makes of them."""
    library, number = library_of_pinocchio(), JOBS.get(job)
    if number is None:
        raise Refused(f"no {job}")
    kinds, parents = arrays["kinds"].astype(np.int32), arrays["parents"].astype(np.int32)
    placements, inertias = (np.ascontiguousarray(arrays[name]) for name in ("placements", "inertias"))
    model = library.new_model(len(kinds), parents.ctypes, kinds.ctypes, placements.ctypes, inertias.ctypes)
    folder = Path(given["folder"])
    function = library.new_function(model, number, str(folder / f"{given['robot']}_{job}").encode(), FLAGS.encode())
    x = np.ascontiguousarray(np.concatenate([arrays[name] for name in ("q", "v", "a")], axis=1))
    n, nv = len(x), arrays["v"].shape[1]
    size = {2: nv * (nv + 1) // 2}.get(number, (1 if number < 2 else 3 * nv) * nv)  # of the generated
    ways = []
    for title, run, outputs in (("Pinocchio in C++, a loop", library.run_plain, nv * nv if number == 2 else size),
                                ("Pinocchio, C of CppADCodeGen, a loop in C++", library.run_generated, size)):
        if number == 2 and run is library.run_generated:
            x = np.ascontiguousarray(arrays["q"])
        out = np.zeros((n, outputs))
        names = {"run": run, "f": function, "x": x, "out": out, "px": x.ctypes.data, "po": out.ctypes.data,
                 "inputs": x.shape[1], "outputs": outputs, "n": n}
        statement = "run(f, px, inputs, po, outputs, n)"

        def results(names: dict = names, statement: str = statement, out: np.ndarray = out) -> np.ndarray:
            eval(statement, names)
            return whole(out, number, nv)

        ways.append(Way(title, statement, names, n, results))
    return ways


def whole(out: np.ndarray, number: int, nv: int) -> np.ndarray:
    """Symmetric matrices in full, as the other peers give them."""
    if number != 2:
        return out.copy()
    full = np.zeros((len(out), nv, nv))
    if out.shape[1] == nv * nv:
        full[:] = np.triu(out.reshape(-1, nv, nv).transpose(0, 2, 1))
    else:
        full[(slice(None), *np.triu_indices(nv))] = out
    return (full + np.triu(full, 1).transpose(0, 2, 1)).reshape(len(out), -1)


JOBS = {"inverse_dynamics": 0, "forward_dynamics": 1, "inertia_matrix": 2, "linearize": 3, "forward_derivatives": 4}


def library_of_pinocchio() -> ctypes.CDLL:
    """Compiled once, into the environment."""
    source = Path(__file__).with_name("pinocchio_codegen.cpp")
    prefix = Path(sys.prefix) / f"lib/python3.{sys.version_info.minor}/site-packages/cmeel.prefix"
    if not (prefix / "include/cppad/cg.hpp").exists():
        raise Refused("CppADCodeGen is not installed")
    mark = hashlib.sha256(source.read_bytes() + version("pin").encode()).hexdigest()[:12]
    made = Path(sys.prefix) / f"pinocchio_codegen_{mark}.so"
    if not made.exists():
        boost = ["BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_FUSION_INVOKE_MAX_ARITY=12",
                 "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "NDEBUG"]
        done = subprocess.run(
            ["g++", "-std=c++17", *FLAGS.split(), "-w", "-fPIC", "-shared", *(f"-D{name}" for name in boost),
             f"-I{prefix}/include", f"-I{prefix}/include/eigen3", "-o", made, source, f"-L{prefix}/lib", "-lcppad_lib",
             "-ldl", f"-Wl,-rpath,{prefix}/lib"], capture_output=True, text=True)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise Refused(f"g++: {(errors or ['failed'])[0]}")
    library = ctypes.CDLL(str(made))
    pointer, number = ctypes.c_void_p, ctypes.c_int
    for name, result, arguments in (
            ("new_model", pointer, [number, *[pointer] * 4]),
            ("new_function", pointer, [pointer, number, ctypes.c_char_p, ctypes.c_char_p]),
            ("run_plain", None, [pointer, pointer, number, pointer, number, number]),
            ("run_generated", None, [pointer, pointer, number, pointer, number, number])):
        getattr(library, name).restype, getattr(library, name).argtypes = result, arguments
    return library


PEERS = {  # the function and the packages whose versions the page tells
    "Drake": (drake, ["drake"]), "frax": (frax, ["frax", "jax"]), "adam": (adam, ["adam-robotics", "jax"]),
    "CppADCodeGen": (codegen, ["pin", "cmeel-cppadcodegen", "cmeel-cppad"])}


def answers(peer: str) -> Iterator[dict]:
    function, packages = PEERS[peer]
    ways: list[Way] = []
    timers: list[timeit.Timer] = []
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if asked["request"] == "versions":
                yield {"versions": [f"{name} {version(name)}" for name in packages]}
            elif asked["request"] == "enter":
                first = len(ways)
                ways += function(asked["job"], asked, dict(np.load(asked["arrays"])))
                timers += [timeit.Timer(way.statement, globals=way.names) for way in ways[first:]]
                yield {"ways": [{"number": k, "title": way.title, "states": way.states}
                                for k, way in enumerate(ways) if k >= first]}
            elif asked["request"] == "results":
                np.save(asked["path"], ways[asked["way"]].results())
                yield {}
            else:
                yield {"seconds": timers[asked["way"]].timeit(asked["loops"])}
        except (Refused, PackageNotFoundError, ImportError) as reason:
            yield {"missing": str(reason)}
        except Exception as error:
            yield {"missing": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}


def main() -> None:
    if sys.argv[1] == "--compile":
        library_of_pinocchio()
        return
    answering = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what packages print must not be taken for an answer
    for answer in answers(sys.argv[1]):
        print(json.dumps(answer), file=answering, flush=True)


if __name__ == "__main__":
    main()
