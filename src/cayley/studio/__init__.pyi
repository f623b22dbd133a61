"""The names of `cayley.studio`: what a user imports from it, and where each is written."""

from cayley.studio.animation import animate as animate
from cayley.studio.animation import write_motion as write_motion
from cayley.studio.report import write_report as write_report
