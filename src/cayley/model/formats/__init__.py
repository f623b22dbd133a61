"""The files that mechanisms are read from and written to: TOML, URDF, MJCF. One module reads a format, one writes it.
"""
