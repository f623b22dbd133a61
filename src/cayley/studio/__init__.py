"""A mechanism as a page: one self-contained HTML file with the robot in 3-D, its tables, pictures, equations, counts
and a fall; or with a motion that it plays.
"""

from cayley.studio.animation import animate
from cayley.studio.motion_page import write_motion
from cayley.studio.report import write_report

__all__ = ["animate", "write_motion", "write_report"]
