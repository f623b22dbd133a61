"""The pictures of the conventions page, of the tutorials and of the front page.

Run `python docs/pictures/pictures.py [folder]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from drawings import PICTURES
from drawings.control import reaching
from drawings.front import moving_front
from drawings.machines import moving_carrier


def draw(name: str, folder: Path) -> Path:
    """Draw one picture into a folder."""
    with plt.rc_context({"figure.dpi": 110, "font.size": 10, "axes.edgecolor": "#333333",
                         "mathtext.fontset": "dejavusans"}):
        figure = PICTURES[name]()
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})
        plt.close(figure)
    return folder / f"{name}.png"


if __name__ == "__main__":
    place = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent
    place.mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        draw(name, place)
    moving_front(place)
    moving_carrier(place)
    reaching(place)
