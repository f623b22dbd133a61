"""The public names of `cayley.drawing`, and the modules they are in."""

from cayley.drawing.animations import animate as animate
from cayley.drawing.ellipsoids import draw_ellipsoids as draw_ellipsoids
from cayley.drawing.manipulability_maps import ManipulabilityMap as ManipulabilityMap
from cayley.drawing.manipulability_maps import manipulability_map as manipulability_map
from cayley.drawing.payload_maps import PayloadMap as PayloadMap
from cayley.drawing.payload_maps import payload_map as payload_map
from cayley.drawing.stick_figures import stick_figure as stick_figure
from cayley.drawing.workspace_pictures import draw_singular_locus as draw_singular_locus
from cayley.drawing.workspaces import Workspace as Workspace
from cayley.drawing.workspaces import workspace as workspace
