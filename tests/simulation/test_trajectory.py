"""Trajectories as objects: parts, interpolation, files, figures."""

import json
import pickle

import matplotlib
import numpy as np
import pytest

import cayley as cy
from cayley.errors import ConventionError, ModelError, UnsupportedError
from cayley.model.catalogue import load_robot
from cayley.simulation import Event, Trajectory, rollout, simulate
from cayley.simulation.fixed_steps import METHODS
from simulation.mechanisms import floating_arm, random_state, slider

matplotlib.use("Agg")


def some():
    return simulate(load_robot("planar2r"), [0.3, 0.7], [0.6, -0.8], tau=[0.5, 0.1], until=1.0,
                    events=[Event("level", lambda t, q, qd: q[0], action="record")])


def test_a_file_tells_all_again(tmp_path):
    made = some()
    path = made.save(tmp_path / "run")
    assert path.name == "run.npz" and not list(tmp_path.glob("*.part"))
    read = Trajectory.load(path)
    for name in ("t", "q", "qd", "tau", "work", "energy", "kinetic", "potential", "momentum", "energy_drift"):
        assert (getattr(read, name) == getattr(made, name)).all(), name
    assert (read.status, read.message, read.happened, read.coordinates, read.velocities, read.name) == \
        (made.status, made.message, made.happened, made.coordinates, made.velocities, made.name)
    assert dict(read.facts) == dict(made.facts) and len(read.happened) > 0
    with np.load(path, allow_pickle=False) as archive:  # anyone can read it
        about = json.loads(str(archive["about"]))
    assert about["mechanism"] == "planar2r" and about["arrays"]["q"].startswith("(..., samples, nq)")
    with pytest.raises(UnsupportedError, match=r"Trajectory\.load"):
        read.at(0.5)
    again = Trajectory.load(path, load_robot("planar2r"))
    assert np.abs(again.at(0.55)[0] - made.at(0.55)[0]).max() < 1e-4


def test_files_that_are_none_are_refused(tmp_path):
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"not a zip")
    with pytest.raises(ModelError, match="no trajectory file"):
        Trajectory.load(bad)
    np.savez(bad, x=np.zeros(3))
    with pytest.raises(ModelError, match="no trajectory file"):
        Trajectory.load(bad)
    np.savez(bad, about=np.array(json.dumps({"format": "another"})))
    with pytest.raises(ModelError, match="format 'another'"):
        Trajectory.load(bad)
    np.savez(bad, about=np.array([{}], dtype=object))
    with pytest.raises(ModelError, match="no trajectory file"):
        Trajectory.load(bad)
    with pytest.raises(ModelError, match=r"missing.npz' cannot be read: No such file"):
        Trajectory.load(tmp_path / "missing.npz")
    with pytest.raises(ModelError, match="puma560 has nq = 6"):
        Trajectory.load(some().save(tmp_path / "good.npz"), load_robot("puma560"))


def test_batches_are_saved_and_cut(tmp_path):
    tree = floating_arm((0.0, 0.0, -9.81))
    made = [random_state(tree, k) for k in range(6)]
    q, qd = (np.array(x).reshape(2, 3, -1) for x in zip(*made, strict=True))
    found = rollout(tree)(q, qd, step=1e-3, steps=100, every=10)
    read = Trajectory.load(found.save(tmp_path / "batch.npz"), tree)
    assert read.batch == (2, 3) and (read.q == found.q).all() and (read.momentum == found.momentum).all()
    assert (found[1, 2].q == found.q[1, 2]).all() and found[0].batch == (3,) and (read[1].energy
                                                                                   == found.energy[1]).all()
    part = found.between(0.02, 0.05)
    assert (part.t == found.t[2:6]).all() and (part.q == found.q[:, :, 2:6]).all() and (part.tau
                                                                                        == found.tau[:, :, 2:6]).all()
    with pytest.raises(ConventionError, match="between"):
        found[0, 0, 3]
    with pytest.raises(ConventionError, match="between"):
        found[0, 0][0]
    assert found.tau.shape == found.qd.shape and repr(found).startswith("<trajectory: 2x3 of floating arm, 11 samples")


def test_interpolation_between_samples():
    tree = floating_arm((0.0, 0.0, -9.81))
    q, qd = random_state(tree, 3)
    fine = rollout(tree)(q, qd, step=1e-3, steps=400)
    errors = []
    for every in (20, 10):
        coarse = rollout(tree)(q, qd, step=1e-3, steps=400, every=every)
        there, speed = coarse.at(fine.t[100:300])
        assert np.abs(np.linalg.norm(there[:, 3:7], axis=1) - 1).max() < 1e-14
        errors.append(np.abs(there - fine.q[100:300]).max())
        assert np.abs(speed - fine.qd[100:300]).max() < 1e-3
    assert errors[1] < errors[0] / 10
    one, _ = coarse.at(0.123)
    assert one.shape == (tree.nq,) and np.abs(one - fine.q[123]).max() < 1e-5
    assert np.abs(coarse.at(0.1)[0] - fine.q[100]).max() < 1e-14
    with pytest.raises(ConventionError, match="outside"):
        fine.at(2.0)


def test_the_solver_interpolates_its_own_result():
    found = simulate(slider(), [1.0], [0.0], until=1.0, rtol=1e-11, atol=1e-12)
    times = np.linspace(0, 1, 57)
    assert np.abs(found.at(times)[0][:, 0] - (1 - 9.81 * times**2 / 2)).max() < 1e-11


@pytest.mark.parametrize("make", [
    some, lambda: rollout(load_robot("puma560"))(np.zeros(
        (20, 6)), np.linspace(-1, 1, 120).reshape(20, 6), step=1e-3, steps=200, every=10)], ids=["one", "batch"])
def test_it_draws_itself(make, tmp_path):
    trajectory = make()
    figure = trajectory.plot()
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10000
    axes = figure.axes
    assert len(axes) == 3 + trajectory.tau.any() and axes[-1].get_xlabel() == "t [s]" and "[rad]" in axes[0].get_title(
        loc="left")
    lines = axes[0].get_lines()
    nq = trajectory.q.shape[-1]
    batch = int(np.prod(trajectory.batch))
    assert sum(len(line.get_xdata()) == len(trajectory) for line in lines) == nq * batch
    only = trajectory.plot(joints=[trajectory.coordinates[0][0]])
    assert len([line for line in only.axes[0].get_lines() if len(line.get_xdata()) == len(trajectory)]) == batch
    matplotlib.pyplot.close("all")


def test_legends_are_beside_their_own_panel():
    """Right of the axes, in the middle of their height, and over none of the others."""
    figure = some().plot()
    figure.draw_without_rendering()
    panels = [ax.get_window_extent() for ax in figure.axes]
    for ax, panel in zip(figure.axes, panels, strict=True):
        legend = ax.get_legend().get_window_extent()
        assert legend.x0 >= panel.x1 and abs((legend.y0 + legend.y1) - (panel.y0 + panel.y1)) < 2.0
        assert not any(legend.overlaps(other) for other in panels if other is not panel)
    matplotlib.pyplot.close("all")


def test_matplotlib_is_loaded_only_for_figures():
    import subprocess
    import sys
    code = "import sys, cayley.simulation; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_simulation_travels_between_processes():
    made = some()
    copy = pickle.loads(pickle.dumps(made))
    assert (copy.q == made.q).all() and copy.happened == made.happened
    assert (copy.at([0.123, 0.7])[0] == made.at([0.123, 0.7])[0]).all()


def test_trajectories_of_different_steps_have_their_own_times(tmp_path):
    steps = np.array([1e-3, 2e-3, 2e-3])
    found = rollout(slider())(np.zeros((3, 1)), [1.0], step=steps, steps=100, every=10, start=3.0)
    for whole in (found, Trajectory.load(found.save(tmp_path / "steps"), slider())):
        for one, step in ((whole[0], 1e-3), (whole[2], 2e-3), (whole[1:][0], 2e-3), (whole[1:], 2e-3)):
            assert np.abs(one.t - 3.0 - step * 10 * np.arange(11)).max() < 1e-12
            assert np.abs(one.q[..., 0] - ((one.t - 3) - 9.81 * (one.t - 3) ** 2 / 2)).max() < 1e-12
        assert whole[2].facts["step"] == 2e-3 and abs(whole[2].at(3.15)[0][0] - (0.15 - 9.81 * 0.15**2 / 2)) < 1e-9
        with pytest.raises(ConventionError, match="steps differ"):
            whole.at(3.05)


def test_a_motion_back_in_time_is_interpolated_too():
    back = rollout(slider())([0.0], [1.0], step=-1e-3, steps=100, every=10)
    assert abs(back.at(-0.055)[0][0] - (-0.055 - 9.81 * 0.055**2 / 2)) < 1e-12
    with pytest.raises(ConventionError, match="outside"):
        back.at(0.05)
    arm = rollout(load_robot("planar2r"))([0.3, 0.7], [0.6, -0.8], step=-1e-2, steps=55, every=5)
    q, qd = arm.at(arm.t)  # through every sample
    assert np.abs(q - arm.q).max() < 1e-14 and np.abs(qd - arm.qd).max() < 1e-13
    with pytest.raises(ConventionError, match="no samples"):
        back.between(1.0, 2.0).at(1.5)


def test_a_figure_of_a_joint_that_is_none_is_refused():
    with pytest.raises(ConventionError, match="no joint 'elbow'"):
        some().plot(joints=["elbow"])
    assert len(some().plot(joints="joint1").axes[0].get_lines()) == 1 + len(some().happened)
    matplotlib.pyplot.close("all")


def test_a_damaged_file_is_refused_or_tells_the_same(tmp_path):
    """Whatever byte is damaged: bytes changed, bytes missing."""
    made = simulate(load_robot("planar2r"), [0.3, 0.7], [0.6, -0.8], tau=[0.5, 0.1], until=0.2)
    path = made.save(tmp_path / "run.npz")
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for k in range(600):
        damaged = bytearray(whole[:rng.integers(len(whole))] if k % 3 == 0 else whole)
        for place in rng.integers(len(damaged), size=k % 3 * 2 - 1) if k % 3 else ():
            damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            read = Trajectory.load(path)
        except ModelError as error:
            refused += 1
            assert "run.npz" in str(error) and "damaged" in str(error)
        else:
            assert all((getattr(read, name) == getattr(made, name)).all()
                       for name in ("t", "q", "qd", "tau", "work", "momentum"))
            assert (read.status, read.happened, read.coordinates) == (made.status, made.happened, made.coordinates)
    assert refused > 500


def test_arrays_that_do_not_go_together_are_refused(tmp_path):
    path = some().save(tmp_path / "run.npz")
    with np.load(path) as archive:
        arrays = dict(archive)
    for name, wrong in (("q", arrays["q"][:-1]), ("t", arrays["t"][:, None]), ("tau", arrays["tau"][:, :1]),
                        ("qd", arrays["qd"].astype(int)), ("momentum", arrays["momentum"][..., :3])):
        np.savez(path, **{**arrays, name: wrong})
        with pytest.raises(ModelError, match=f"damaged: its array {name} is"):
            Trajectory.load(path)
    np.savez(path, **{name: array for name, array in arrays.items() if name != "tau"})
    with pytest.raises(ModelError, match="names the arrays"):
        Trajectory.load(path)


def test_a_digital_controller_leaves_regular_samples_and_the_forces_it_held():
    looks = []

    def law(t, q, qd):
        looks.append(np.array([3.0 - t, -q[1]]))
        return looks[-1]

    found = simulate(load_robot("planar2r"), [0.1, 0.4], [0.0, 0.0], controller=law, control_period=0.01, until=0.305)
    assert np.abs(found.t - np.append(0.01 * np.arange(31), 0.305)).max() < 1e-12
    assert found.tau.shape == found.qd.shape and (found.tau == np.array([*looks, looks[-1]])).all()
    figure = found.plot()
    assert "joint forces [N m]" in [ax.get_title(loc="left") for ax in figure.axes]
    matplotlib.pyplot.close("all")
    times = np.array([0.0, 0.004, 0.02, 0.0299, 0.05])
    asked = simulate(load_robot("planar2r"), [0.1, 0.4], [0.0, 0.0], controller=law, control_period=0.01, times=times)
    assert np.abs(asked.tau[:, 0] - (3.0 - np.array([0.0, 0.0, 0.02, 0.02, 0.04]))).max() < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_rollouts_travel_between_processes(method):
    rubbing = cy.load("planar2r").with_friction("joint1", coulomb=1.0)
    tree = rubbing.including("friction", "armature").tree
    for made in (rollout(tree, method=method), rollout(slider(), method=method, wrenches=["mass"], changing=["tau"])):
        copy = pickle.loads(pickle.dumps(made))
        inputs = {
            name: np.zeros((20, *shape)) if name == "tau" else np.zeros(shape)
            for name, shape in made.inputs.items()}
        inputs = {**inputs, "tau": np.zeros(2)} if made.tree is tree else inputs
        one, other = (roll(np.full(roll.tree.nq, 0.2), np.ones(roll.tree.nv), step=1e-3, steps=20, **inputs)
                      for roll in (made, copy))
        assert (one.q == other.q).all() and repr(copy) == repr(made)


def test_files_of_the_first_format_are_read(tmp_path):
    """As versions wrote them that had a trajectory of mechanisms alone."""
    made = some()
    shapes = dict.fromkeys(["t", "q", "qd", "work", "kinetic", "potential", "momentum", "tau"], "of samples")
    about = {"format": "cayley trajectory 1", "mechanism": "planar2r", "status": "finished", "message": "as it was",
             "coordinates": made.coordinates, "velocities": made.velocities,
             "happened": [o._asdict() for o in made.happened], "facts": {"method": "DOP853"}, "arrays": shapes}
    np.savez_compressed(tmp_path / "old.npz", about=np.array(json.dumps(about)),
                        **{name: getattr(made, name) for name in shapes})
    for read in (Trajectory.load(tmp_path / "old.npz"), Trajectory.load(tmp_path / "old.npz", load_robot("planar2r"))):
        assert all((getattr(read, name) == getattr(made, name)).all() for name in (*shapes, "energy_drift"))
        assert (read.message, read.happened, read.coordinates) == ("as it was", made.happened, made.coordinates)
        assert list(read.to_columns()) == list(made.to_columns()) and read.plot().axes
        assert (Trajectory.load(read.save(tmp_path / "new.npz")).momentum == made.momentum).all()
    assert np.abs(read.at(0.55)[0] - made.at(0.55)[0]).max() < 1e-4
    matplotlib.pyplot.close("all")


def test_different_steps_in_files_of_the_first_format(tmp_path):
    steps = np.array([1e-3, 2e-3])
    found = rollout(slider())(np.zeros((2, 1)), [1.0], step=steps, steps=100, every=10, start=3.0)
    names = ["t", "q", "qd", "work", "kinetic", "potential", "momentum", "tau"]
    about = {"format": "cayley trajectory 1", "mechanism": found.name, "status": "finished", "message": "",
             "coordinates": found.coordinates, "velocities": found.velocities, "happened": [],
             "facts": {"step": steps.tolist(), "times": "steps differ in the batch", "start": 3.0},
             "arrays": dict.fromkeys(names, "")}
    arrays = {name: getattr(found, name) for name in names} | {"t": found.t[0]}
    np.savez_compressed(tmp_path / "old.npz", about=np.array(json.dumps(about)), **arrays)
    read = Trajectory.load(tmp_path / "old.npz", slider())
    assert np.abs(read.t - found.t).max() < 1e-12 and np.abs(read[1].at(3.15)[0] - found[1].at(3.15)[0]).max() < 1e-12


def test_a_trajectory_of_a_system_is_saved_and_read(tmp_path):
    arm = cy.load("planar2r")
    loop = cy.connect(arm, arm.control.pid(100.0, 10.0, 5.0))
    run = loop.simulate({"q": [0.1, 0.2], "qd": [0.0, 0.0]}, until=0.1, inputs={"target": [0.1, 0.2]})
    path = run.save(tmp_path / "loop")
    for read in (Trajectory.load(path), Trajectory.load(path, loop)):
        assert all((read[name] == run[name]).all() for name in ("q", "qd", "integral", "target", "tau"))
        assert (read.status, dict(read.facts)) == (run.status, dict(run.facts)) and repr(read) == repr(run)
        assert (read.between(0.02, 0.05)["tau"] == run.between(0.02, 0.05)["tau"]).all()
        assert list(read.to_columns()) == list(run.to_columns())
    with pytest.raises(ModelError, match="the state q, qd, integral"):
        Trajectory.load(path, arm.system())
    with pytest.raises(ModelError, match="load it with that system"):
        Trajectory.load(path, arm.tree)
    ball = cy.System("ball", state={"height": cy.systems.Block((), "m", velocity="speed"), "speed": "m/s"},
                     parameters={"g": 9.81}, modes={"side": ("left", "right")}, derivative=lambda t, x, u, p: -p.g,
                     energy=lambda t, x, u, p: x.speed**2 / 2 + p.g * x.height)
    fall = ball.rollout(parameters=["g"])({"height": [1.0, 2.0], "speed": 0.0}, step=np.array([1e-2, 2e-2]), steps=5,
                                          parameters={"g": [9.81, 1.6]})
    read = Trajectory.load(fall.save(tmp_path / "fall"))
    assert (read.energy == fall.energy).all() and (read[1].energy == fall[1].energy).all()
    assert (read[1].t == fall[1].t).all() and set(read.to_columns()["side"]) == {"left"} and read.facts == fall.facts


def test_a_controlled_mechanism_has_joints_and_the_blocks_of_its_law():
    """Whether the arm is simulated with its law, or the two are connected: the same class, and the same numbers."""
    arm = cy.load("planar2r")
    law = arm.control.pid(100.0, 10.0, 5.0)
    alone = arm.simulate([0.1, 0.2], [0.0, 0.0], controller=law, parameters={"target": np.zeros(2)}, until=0.2)
    joined = cy.connect(arm, law).simulate({"q": [0.1, 0.2], "qd": [0.0, 0.0]}, inputs={"target": np.zeros(2)},
                                           until=0.2)
    for name in ("t", "q", "qd", "tau", "integral", "kinetic", "potential", "momentum"):
        assert (getattr(alone, name) == getattr(joined, name)).all(), name
    assert alone.coordinates == joined.coordinates and type(alone) is type(joined) is Trajectory
    with pytest.raises(UnsupportedError, match="no energy of joints"):
        cy.System("lag", state={"y": ""}, derivative=lambda t, x, u, p: -x.y).simulate(1.0, until=0.1).kinetic  # noqa: B018


def test_the_former_name_of_trajectories_of_systems_warns():
    from cayley.systems import trajectory
    with pytest.warns(DeprecationWarning, match="is now called `cayley.systems.trajectory.Trajectory`"):
        assert trajectory.SystemTrajectory is Trajectory


def test_a_plot_of_a_connected_arm_names_joints_and_units():
    arm = cy.load("stanford")
    servo = cy.connect(arm, arm.control.pd_with_gravity(1.0, 1.0))
    run = servo.simulate({"q": arm.lower, "qd": np.zeros(6)}, until=0.01, inputs={"target": arm.lower})
    axes = run.plot().axes
    assert [ax.get_title(loc="left") for ax in axes] == ["q [rad, m]", "qd [rad/s, m/s]", "tau [N m, N]"]
    assert [line.get_label() for line in axes[0].lines[:6]] == list(arm.joint_names)
