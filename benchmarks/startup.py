"""How long a fresh process takes from a kernel object to its first result. Run as a program: prints one JSON object.

Imports come before the clock starts, also those that Cayley puts off until the first call: the modules to import
beforehand are the program's arguments. The first call with its own imports is timed as well. LLVM's loading and
initialisation are timed by themselves, before Cayley uses them.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np


def startup_times(rounds: int) -> dict[str, float]:
    """Median seconds from the kernel object to the first result, and of LLVM's own initialisation.

    "cold" begins with an empty cache, "cached" with the entry that it left behind; "cached with imports" is the same
    for a user who has imported nothing but `cayley`.
    """
    samples: dict[str, list[float]] = {"cold": [], "cached": [], "cached with imports": [], "llvm": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
            put_off = _fresh_process(scratch)["imported"]
            runs = {
                "cold": _fresh_process(folder, *put_off),
                "cached": _fresh_process(folder, *put_off),
                "cached with imports": _fresh_process(folder),
            }
        if any(run["torques"] != runs["cold"]["torques"] for run in runs.values()):
            raise SystemExit(
                "the kernel of the cache gives other torques than the kernel that was compiled; nothing was timed")
        for phase, run in runs.items():
            samples[phase].append(run["first_result"])
            samples["llvm"].append(run["llvm"])
    return {phase: statistics.median(times) for phase, times in samples.items()}


def _fresh_process(cache: str, *modules: str) -> dict:
    environment = os.environ | {"CAYLEY_CACHE": cache}
    done = subprocess.run([sys.executable, __file__, *modules], env=environment, stdout=subprocess.PIPE, text=True,
                          check=True)
    return json.loads(done.stdout)


def _measure(modules: list[str]) -> dict:
    start = time.perf_counter()
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.Target.from_default_triple().create_target_machine()
    llvm_ready = time.perf_counter()

    import cayley as cy
    from arm import arm_torques, random_states

    for module in modules:
        with contextlib.suppress(ImportError):  # a module that exists only after another was imported
            importlib.import_module(module)
    kernel = cy.kernel("(n),(n),(n)->(n)")(arm_torques)
    state = [x[0] for x in random_states(1)]
    before = set(sys.modules)
    kernel_made = time.perf_counter()
    torques = kernel(*state)
    first_result = time.perf_counter() - kernel_made
    imported = [name for name in sys.modules if name not in before]
    return {
        "llvm": llvm_ready - start, "first_result": first_result, "torques": np.asarray(torques).tolist(),
        "imported": imported}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1:])))
