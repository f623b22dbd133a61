"""The pictures of the conventions page, of the tutorials and of the front page.

Run `python docs/pictures/pictures.py [folder [name ...]]`; without names it makes all.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.image
import matplotlib.pyplot as plt
from drawings import PICTURES
from drawings.control import hopping, moving_balance, reaching
from drawings.front import moving_front
from drawings.machines import moving_carrier

MADE = {"moving_front": moving_front, "moving_carrier": moving_carrier, "moving_balance": moving_balance,
        "reaching": reaching, "hopping": hopping}  # by longer work


def draw(name: str, folder: Path) -> Path:
    """Draw one picture into a folder."""
    with plt.rc_context({"figure.dpi": 110, "font.size": 10, "axes.edgecolor": "#333333",
                         "mathtext.fontset": "dejavusans"}):
        figure = PICTURES[name]()
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})
        plt.close(figure)
    return folder / f"{name}.png"


def beside_kept(name: str, folder: Path) -> tuple[Any, Any]:
    """Draw one picture into a folder: its points, and those of the picture that is kept here."""
    path = draw(name, folder)
    drawn, kept = (matplotlib.image.imread(place)[..., :3] for place in (path, Path(__file__).with_name(path.name)))
    return drawn, kept


if __name__ == "__main__":
    place = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent
    place.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or [*PICTURES, *MADE]:
        if name in MADE:
            MADE[name](place)
        else:
            draw(name, place)
