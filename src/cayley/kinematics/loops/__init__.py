"""Closed loops: assembly, assembly modes, dead centres, and motions that follow given inputs."""
