"""The open tree of rigid bodies as a system: its equations of motion, its configurations, its ports."""
