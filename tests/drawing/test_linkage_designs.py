"""Pictures of synthesised linkages show the pairs and poses they are for."""

import matplotlib.pyplot as plt
import numpy as np

from cayley.drawing.linkage_designs import draw_design, draw_guidance
from cayley.machines import FourBar
from cayley.planning import body_guidance, function_generator


def test_the_curve_passes_through_the_pairs_and_says_where_it_does_not_exist():
    psi = np.radians(np.arange(30.0, 121.0, 15.0))
    whole = draw_design(function_generator(psi[[0, 3, 6]], np.radians([90.0, 99.0, 120.0])))
    lines = {line.get_label(): np.array(line.get_data()) for line in whole.axes[1].lines}
    x, y = lines["its mode"]
    np.testing.assert_allclose(np.interp(lines["pairs"][0], x, y), lines["pairs"][1], atol=1e-3)
    broken = draw_design(function_generator(psi, np.radians(60 + 60 * (np.arange(7) / 6) ** 1.5)))
    labels = [line.get_label() for line in broken.axes[1].lines]
    assert "cannot be assembled" in labels and "not assembled at every pair" in broken.axes[0].get_title()
    plt.close("all")


def test_the_way_of_a_guided_body_passes_through_its_poses():
    linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    theta = np.linspace(0.3, 1.9, 5)
    poses = np.column_stack([linkage.coupler_point(theta, [0.2, 0.1])[:, 1], linkage.position(theta)[:, 1, 0]])
    figure = draw_guidance(body_guidance(poses)[0])
    way = max((np.array(line.get_data()).T for line in figure.axes[0].lines), key=len)
    gaps = np.linalg.norm(way[:, None] - poses[None, :, :2], axis=-1)
    assert np.nanmin(gaps, axis=0).max() < 2e-3
    plt.close("all")
