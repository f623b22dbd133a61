"""All benchmarks in the order of the page, each in a process of its own: `make bench`.

A script that fails or takes too long does not stop the others, and is named on the page with its message. `--quick`
does everything in a few rounds and leaves the page alone: `build/benchmarks.md` gets the figures.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
LONGEST = 900.0  # seconds of a script
QUICK = {  # how a script is short; the others take --rounds 2
    "stiff_springs": ["--seconds", "2"],
    "dynamics": ["--rounds", "2", "--states", "1000"],
    "control": ["--rounds", "2", "--rollouts", "256"],
    "inverse_kinematics": ["--rounds", "2", "--poses", "500", "--singles", "50", "--unreachable", "50"]}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a few rounds, written into build/benchmarks.md")
    options.add_argument("--only", default="", help="names of scripts, with commas between them")
    chosen = options.parse_args()
    if chosen.quick:
        copy = HERE.parent / "build" / "benchmarks.md"
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(HERE / "README.md", copy)
        os.environ["CAYLEY_BENCHMARKS_PAGE"] = str(copy)
    import elsewhere  # after the page has been chosen
    import page

    names = [name for name in page.SECTIONS if not chosen.only or name in chosen.only.split(",")]
    unknown = set(chosen.only.split(",")) - {"", *names}
    if unknown:
        raise SystemExit(f"There is no benchmark {', '.join(sorted(unknown))}. There are: {', '.join(page.SECTIONS)}")
    begun, took, failed = time.perf_counter(), {}, {}
    for number, name in enumerate(names, start=1):
        print(f"[{number} of {len(names)}, {clock(time.perf_counter() - begun)}] {name}", flush=True)
        start = time.perf_counter()
        message = one(name, QUICK.get(name, ["--rounds", "2"]) if chosen.quick else [])
        took[name] = time.perf_counter() - start
        if message:
            failed[name] = message
            print(f"{name} failed: {message}", file=sys.stderr, flush=True)
    page.summarise()
    whole = time.perf_counter() - begun
    if not chosen.only:
        page.replace("run", report(page.SECTIONS, took, failed, whole, elsewhere.refused()))
    print(f"{len(names) - len(failed)} of {len(names)} benchmarks in {clock(whole)}, written into {page.PAGE}")
    if failed:
        raise SystemExit("Failed: " + "; ".join(f"{name}: {message}" for name, message in failed.items()))


def one(name: str, options: list[str]) -> str:
    """Run a script; why it failed, or nothing."""
    try:
        done = subprocess.run([sys.executable, HERE / f"{name}.py", *options], stderr=subprocess.PIPE, text=True,
                              timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return f"it took longer than {LONGEST:.0f} s"
    sys.stderr.write(done.stderr)
    if done.returncode == 0:
        return ""
    return " ".join(done.stderr.strip().splitlines()[-1:]) or f"status {done.returncode}"


def report(headings: dict[str, str], took: dict[str, float], failed: dict[str, str], whole: float,
           refused: list[str]) -> list[str]:
    """The last run, for the page: how long everything took, and what there is not."""
    times = ", ".join(f"{headings[name]} {seconds:.0f} s" for name, seconds in took.items())
    parts = [f"The last run was on {datetime.date.today().isoformat()} and took {clock(whole)}: {times}."]
    if failed:
        lines = [f"- {headings[name]}, whose figures are of an earlier run: {text}" for name, text in failed.items()]
        parts.append("Failed in it:\n\n" + "\n".join(lines))
    if refused:
        parts.append("Peers that do not install:\n\n" + "\n".join(f"- {line}" for line in refused))
    return parts


def clock(seconds: float) -> str:
    return f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"


if __name__ == "__main__":
    main()
