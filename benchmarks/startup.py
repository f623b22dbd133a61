"""How long a fresh process takes from a kernel object to its first result. Run as a program: prints one JSON object.

Imports come before the clock starts; LLVM's own loading and initialisation are timed by themselves, before Cayley uses them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np


def startup_times(rounds: int) -> dict[str, float]:
    """Median seconds of each phase: with an empty cache ("cold"), with the entry that this left behind ("cached"), and LLVM's own."""
    samples: dict[str, list[float]] = {"cold": [], "cached": [], "llvm": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            cold, cached = _fresh_process(folder), _fresh_process(folder)
        if cold["torques"] != cached["torques"]:
            raise SystemExit("the kernel of the cache gives other torques than the kernel that was compiled; nothing was timed")
        samples["cold"].append(cold["first_result"])
        samples["cached"].append(cached["first_result"])
        samples["llvm"] += [cold["llvm"], cached["llvm"]]
    return {phase: statistics.median(times) for phase, times in samples.items()}


def _fresh_process(cache: str) -> dict:
    environment = os.environ | {"CAYLEY_CACHE": cache}
    done = subprocess.run([sys.executable, __file__], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def _measure() -> dict:
    start = time.perf_counter()
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.Target.from_default_triple().create_target_machine()
    llvm_ready = time.perf_counter()

    import cayley as cy
    from arm import arm_torques, random_states

    kernel = cy.kernel("(n),(n),(n)->(n)")(arm_torques)
    state = [x[0] for x in random_states(1)]
    kernel_made = time.perf_counter()
    torques = kernel(*state)
    return {"llvm": llvm_ready - start, "first_result": time.perf_counter() - kernel_made, "torques": np.asarray(torques).tolist()}


if __name__ == "__main__":
    print(json.dumps(_measure()))
