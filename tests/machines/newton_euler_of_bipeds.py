"""A planar biped by Newton and Euler, link by link, from the positions of its mass centres alone: what the ground does
must be the rate of momentum, and each link that is cut free gives the torque of its joint. NumPy, and no equation of
the package."""

import numpy as np


def links(biped, q, qd, qdd):
    """Of trunk with hip, thigh1, shank1, thigh2, shank2: mass, inertia about the mass centre, positions (x, z) of mass
    centre and lower end, velocity and acceleration of the mass centre, angular velocity and acceleration clockwise."""
    upper = biped.hip_mass + biped.trunk_mass
    height = biped.trunk_mass * biped.trunk_center / upper
    hip = tuple(each[:2] for each in (q, qd, qdd))
    own = biped.trunk_inertia - upper * height**2
    found = [link(upper, own, hip, -height, 0.0, *(each[2] for each in (q, qd, qdd)))]
    for leg in range(2):
        top = hip
        for half, mass, inertia, j in ((biped.half_thigh, biped.thigh_mass, biped.thigh_inertia, 3 + 2 * leg),
                                       (biped.half_shank, biped.shank_mass, biped.shank_inertia, 4 + 2 * leg)):
            found.append(link(mass, inertia - mass * half**2, top, half, 2 * half, *(each[j] for each in (q, qd, qdd))))
            top = found[-1]["end"]
    return found


def link(mass, inertia, top, center, length, angle, rate, acceleration):
    """Hanging down from its upper joint, whose position, velocity and acceleration are `top`."""
    down = -np.array([np.sin(angle), np.cos(angle)])
    across = -np.array([np.cos(angle), -np.sin(angle)])

    def at(distance):
        return (top[0] + distance * down, top[1] + distance * rate * across,
                top[2] + distance * (acceleration * across - rate**2 * down))

    return {"mass": mass, "inertia": inertia, "top": top[0], "center": at(center), "end": at(length), "rate": rate,
            "acceleration": acceleration}


def moment(arm, force):
    """Clockwise, with x to the right and z up."""
    return arm[..., 1] * force[..., 0] - arm[..., 0] * force[..., 1]


def reactions_and_torques(biped, q, qd, qdd, reactions):
    """The sum of all forces that the ground must give (2) and of their moments about the origin, and the torques
    (u1, u2, q1, q2), given how the feet share it (4)."""
    parts = links(biped, q, qd, qdd)
    weight = np.array([0.0, -biped.gravity])
    force = sum(part["mass"] * (part["center"][2] - weight) for part in parts)
    turning = sum(moment(part["center"][0], part["mass"] * (part["center"][2] - weight))
                  + part["inertia"] * part["acceleration"] for part in parts)
    torques = np.zeros(4)
    for leg in range(2):
        below = reactions[2 * leg:2 * leg + 2]
        torque = 0.0
        for k, part in ((0, parts[2 + 2 * leg]), (2, parts[1 + 2 * leg])):
            above = part["mass"] * (part["center"][2] - weight) - below
            torque = (part["inertia"] * part["acceleration"] + torque
                      - moment(part["end"][0] - part["center"][0], below)
                      - moment(part["top"] - part["center"][0], above))
            torques[leg + k] = torque
            below = -above
    return force, turning, torques


def momenta(biped, q, qd):
    """Linear momentum (2) and angular momentum about the origin."""
    parts = links(biped, q, qd, np.zeros(7))
    return (sum(part["mass"] * part["center"][1] for part in parts),
            sum(moment(part["center"][0], part["mass"] * part["center"][1]) + part["inertia"] * part["rate"]
                for part in parts))


def energy_rate(biped, q, qd, qdd):
    parts = links(biped, q, qd, qdd)
    return sum(part["mass"] * (part["center"][1] @ part["center"][2] + biped.gravity * part["center"][1][1])
               + part["inertia"] * part["rate"] * part["acceleration"] for part in parts)
