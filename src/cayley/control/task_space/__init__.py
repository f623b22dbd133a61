"""Control in the coordinates of a frame: errors, dynamics and maps between task and joints."""
