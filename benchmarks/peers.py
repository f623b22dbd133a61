"""The contestants: Cayley and its peers, each on the same arm and the same states, each called in its fastest
documented way.

Every function takes the states as three arrays (count, 7) and returns its contestants. A peer that is not installed
raises `MissingPeer`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from arm import ARM, GRAVITY, arm_torques, inverse_dynamics
from tables import COMPILER_FLAGS
from timing import Contestant

PYTHON_LOOP_STATES = 1000
PREPARATION: dict[str, float] = {}  # seconds that peers take before their first torques


class MissingPeer(Exception):
    """A peer cannot run on this machine; the message says why."""


def cayley(q, qd, qdd) -> list[Contestant]:
    import cayley as cy

    kernel = cy.kernel("(n),(n),(n)->(n)")(arm_torques)
    one = {"kernel": kernel, "q": q[0], "qd": qd[0], "qdd": qdd[0], "tau": np.zeros(q.shape[1])}
    batch = {"kernel": kernel, "q": q, "qd": qd, "qdd": qdd, "tau": np.zeros(q.shape)}
    two_threads = batch | {"kernel": kernel.parallel(2)}
    float32 = batch | {name: batch[name].astype(np.float32) for name in ("q", "qd", "qdd", "tau")}
    plain, into = "kernel(q, qd, qdd)", "kernel(q, qd, qdd, out=tau)"
    return [
        Contestant("call", f"Cayley, `{plain}`", plain, one, 1, _value(plain, one)),
        Contestant("call into out", f"Cayley, `{into}`", into, one, 1, _value(into, one)),
        Contestant("batch", "Cayley, one thread", into, batch, len(q), _value(into, batch)),
        Contestant("batch allocating", "Cayley, one thread, into a new array", plain, batch, len(q),
                   _value(plain, batch)),
        Contestant("batch of two threads", "Cayley, two threads", into, two_threads, len(q), _value(into, two_threads)),
        Contestant("batch in float32", "Cayley, one thread, float32", into, float32, len(q), _value(into, float32),
                   tolerance=1e-2), ]


def pinocchio(q, qd, qdd) -> list[Contestant]:
    try:
        import pinocchio as pin
    except ImportError as error:
        raise MissingPeer(f"Pinocchio (package pin): {error}") from error

    model = pin.Model()
    joint = 0
    for number, link in enumerate(ARM, start=1):
        s, c = link.sine_of_twist, link.cosine_of_twist
        placement = pin.SE3(np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]), link.origin)
        joint = model.addJoint(joint, pin.JointModelRZ(), placement, f"joint{number}")
        model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.center, link.inertia), pin.SE3.Identity())
    model.gravity.linear = np.array(GRAVITY)

    one = {"rnea": pin.rnea, "model": model, "data": model.createData(), "q": q[0], "v": qd[0], "a": qdd[0]}
    call = "rnea(model, data, q, v, a)"
    loop = one | {"states": list(zip(q, qd, qdd, strict=True))[:PYTHON_LOOP_STATES]}
    each = "[rnea(model, data, q, v, a) for q, v, a in states]"
    columns = {name: np.asfortranarray(x.T) for name, x in (("q", q), ("v", qd), ("a", qdd))}
    pool = {
        "rneaInParallel": pin.rneaInParallel, "pool": pin.ModelPool(model, 1), "tau": np.zeros(q.T.shape, order="F")
    } | columns
    together = "rneaInParallel(1, pool, q, v, a, tau)"

    def pooled():
        eval(together, pool)
        return pool["tau"].T

    def looped():  # every call returns the same array of `data`
        return np.array([pin.rnea(model, one["data"], *state).copy() for state in loop["states"]])

    return [
        Contestant("pinocchio call", "Pinocchio, `pinocchio.rnea(model, data, q, v, a)`", call, one, 1,
                   _value(call, one)),
        Contestant("pinocchio batch", "Pinocchio, `rneaInParallel`, one thread", together, pool, len(q), pooled),
        Contestant("pinocchio loop", "Pinocchio, a Python loop over `rnea`", each, loop, len(loop["states"]), looped), ]


def casadi(q, qd, qdd) -> list[Contestant]:
    """CasADi's C for the batch, called on the arrays' own memory.

    `.map` of the compiled function of one state pays CasADi's call for every state; C generated from the mapped
    function has the loop inside. Both are shown.
    """
    try:
        import casadi as ca
    except ImportError as error:
        raise MissingPeer(f"CasADi: {error}") from error
    if shutil.which("gcc") is None:
        raise MissingPeer("CasADi's generated C: there is no gcc")

    begun = time.perf_counter()
    inputs = [ca.SX.sym(name, q.shape[1]) for name in ("q", "qd", "qdd")]
    tau = arm_torques(*[_scalars(x) for x in inputs])
    torques = ca.Function("torques", inputs, [ca.cse(ca.vertcat(*tau))])
    whole_batch = compiled_c(ca, torques.map(len(q)))
    PREPARATION["CasADi, C generated and compiled by gcc"] = time.perf_counter() - begun
    one_state = compiled_c(ca, torques).map(len(q))

    def contestant(key, title, function):
        buffer, run = function.buffer()
        out = np.zeros(q.shape)
        for position, x in enumerate((q, qd, qdd)):
            buffer.set_arg(position, memoryview(x))
        buffer.set_res(0, memoryview(out))

        def torques_of_batch():
            run()
            return out

        return Contestant(key, title, "run()", {"run": run, "keep": (buffer, function, out)}, len(q), torques_of_batch)

    return [
        contestant("casadi batch", "CasADi, generated C of the mapped function, one thread", whole_batch),
        contestant("casadi external", "CasADi, generated C of one state, `.map`, one thread", one_state),
    ]


def jax(q, qd, qdd) -> list[Contestant]:
    # half the time of the default on this program
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        raise MissingPeer(f"JAX: {error}") from error

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    torques = jax.jit(jax.vmap(lambda q, qd, qdd: inverse_dynamics(ARM, q, qd, qdd, xp=jnp)))
    names = {"torques": torques, "q": jnp.asarray(q), "qd": jnp.asarray(qd), "qdd": jnp.asarray(qdd)}
    statement = "torques(q, qd, qdd).block_until_ready()"
    begun = time.perf_counter()
    torques(*(names[name] for name in ("q", "qd", "qdd"))).block_until_ready()
    PREPARATION["JAX, traced and compiled by XLA, to the torques of the batch"] = time.perf_counter() - begun
    title = "JAX, `jit(vmap(...))` of the same plain text, its own threads"
    return [Contestant("jax batch", title, statement, names, len(q), _value(statement, names))]


def _value(statement: str, names: dict) -> Callable[[], np.ndarray]:
    return lambda: np.array(np.atleast_2d(eval(statement, names)))


def _scalars(vector) -> np.ndarray:
    """The elements of a CasADi vector in a NumPy array."""
    elements = np.empty(vector.numel(), dtype=object)
    for i in range(vector.numel()):
        elements[i] = vector[i]
    return elements


def compiled_c(ca, function):
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "generated.c"), Path(folder, "generated.so")
        generator = ca.CodeGenerator(source.name)
        generator.add(function)
        generator.generate(f"{folder}/")
        subprocess.run(["gcc", *COMPILER_FLAGS, "-shared", "-fPIC", "-o", library, source], check=True)
        return ca.external(function.name(), str(library))
