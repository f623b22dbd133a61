"""`cayley studio`: robots in the browser, live."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cayley.cli.arguments import completions, load, option
from cayley.cli.motion_files import read_motion
from cayley.cli.terminal import literal, output
from cayley.model.formats import files_in_words


def studio(
    robots: Annotated[list[str], typer.Argument(metavar="ROBOT...", autocompletion=completions, show_default=False,
                                                help=f"Names of the catalogue, or a {files_in_words()} each.")],
    motion: Annotated[Path | None, option(
        "--motion", "FILE", "A motion to play: an .npz file of `cayley trajectory --save` or `trajectory.save`, or a "
        "table of t and joints (.csv).")] = None,
    port: Annotated[int | None, option("--port", "NUMBER", "Port (default: the first free one from 8080 on).")] = None,
    host: Annotated[str, typer.Option("--host", help="0.0.0.0 lets other machines in.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Show robots in the browser, live: sliders, a gizmo that drags the end effector, its branches, ellipsoids,
    workspace, motions, simulation, plots, equations. It needs no network, and no graphics card. Ctrl-C ends it.

    **Examples**

    ```
    cayley studio panda
    cayley studio my_robot.urdf --no-browser --port 9000
    cayley studio ur5 four_bar
    cayley trajectory panda "0 0 0 -1 0 1 0" "1 0 0 -1 0 2 0" --acceleration 5 --save move.npz
    cayley studio panda --motion move.npz
    ```"""
    from cayley.studio.live import View
    arms = [load(name) for name in robots]
    played = None if motion is None else read_motion(motion, arms[0])
    with View(arms[0], host=host, port=port) as view:
        for arm in arms[1:]:
            view.add(arm)
        if played is not None:
            view.show(played)
        try:
            shown = ", ".join(arm.name for arm in arms)
            output().print(literal(f"{shown}: {view.url} (Ctrl-C ends it)"), soft_wrap=True)
            if browser:
                view.open()
            view.wait()
        except KeyboardInterrupt:
            output().print("Closed.")
