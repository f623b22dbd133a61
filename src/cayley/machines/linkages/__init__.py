"""Planar linkages in closed form: four-bar, slider-crank, slotted lever, five-bar; both ways of assembly, rates, dead
centres."""

from cayley.machines.linkages.five_bar import FiveBar
from cayley.machines.linkages.four_bar import FourBar
from cayley.machines.linkages.slider_crank import SliderCrank, SlottedLever

__all__ = ["FiveBar", "FourBar", "SliderCrank", "SlottedLever"]
