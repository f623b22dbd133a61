"""Scenes of obstacles, spheres that contain the links of a robot, and how far the two are apart."""
