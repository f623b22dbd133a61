"""Planar linkages in closed form: four-bar, slider-crank, slotted lever, five-bar; both ways of assembly, rates, dead
centres."""

from cayley.mechanisms.linkages.five_bar import FiveBar
from cayley.mechanisms.linkages.four_bar import FourBar
from cayley.mechanisms.linkages.slider_crank import SliderCrank
from cayley.mechanisms.linkages.slotted_lever import SlottedLever

__all__ = ["FiveBar", "FourBar", "SliderCrank", "SlottedLever"]
