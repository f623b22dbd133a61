"use strict";
// What the page does with the robot: sliders, the motion, the cursor of the forces. `window.report` is for those who want to look inside.
(() => {
  const read = id => JSON.parse(document.getElementById(id).textContent);
  const scene = read("scene"), motion = read("played"), find = id => document.getElementById(id);
  const view = Robot.Viewer(find("view"), scene), loops = scene.closing ? Loops(scene) : null;
  const report = window.report = { scene, motion, view, time: 0, playing: false };

  // Sliders

  const box = find("sliders"), sliders = [];
  const degrees = 180 / Math.PI;
  const word = (slider, x) => (slider.turns ? `${(x * degrees).toFixed(0)}°` : `${x.toFixed(3)} m`).replace(/^-(0(?:\.0+)?(?:°| m))$/, "$1");

  function moved() {
    const q = Motion.placed(view.q, sliders.map(s => +s.input.value));
    pause();
    view.trailEnd = 0;
    view.contacts = null;
    if (!loops) { view.set(q); written(s => +s.input.value); return; }
    view.set(loops.driven(view.q, q)); // where the machine goes no further, the sliders stay behind
    follow(view.q);
  }

  function written(value) {
    for (const s of sliders) {
      const words = word(s, value(s));
      if (s.output.textContent === words) continue;
      s.output.textContent = words;
      s.input.setAttribute("aria-valuetext", words);
    }
  }

  function follow(q) { // past the ends of their sliders, too
    for (const s of sliders) if (s.attitude === null) s.input.value = q[s.place];
    written(s => s.attitude === null ? q[s.place] : +s.input.value);
  }

  for (const s of scene.sliders) {
    const row = document.createElement("label"), name = document.createElement("span");
    const input = document.createElement("input"), output = document.createElement("output");
    name.textContent = s.name;
    Object.assign(input, { type: "range", min: s.lower, max: s.upper, step: (s.upper - s.lower) / 1000, value: s.value });
    input.setAttribute("aria-label", s.name);
    output.setAttribute("aria-hidden", "true"); // the slider says it
    input.addEventListener("input", moved);
    row.append(name, output, input);
    box.append(row);
    sliders.push({ ...s, input, output });
  }
  written(s => s.value);

  // What can be scrolled sideways fades out on the side where there is more

  for (const box of document.querySelectorAll("nav, .scroll, .picture")) {
    const fade = () => {
      box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
      box.classList.toggle("less", box.scrollLeft > 2);
    };
    box.addEventListener("scroll", fade, { passive: true });
    new ResizeObserver(fade).observe(box);
  }

  // What is in view: the robot at rest, and the motion or the reach once they have been asked for

  const shown = new Map([["rest", view.swept([Motion.poses(scene.q)])]]);

  function reveal(name, points) {
    if (shown.has(name) || !points.length) return;
    shown.set(name, points);
    const all = [...shown.values()].flat(), end = extreme => [0, 1, 2].map(k => all.reduce((m, p) => extreme(m, p[k]), all[0][k]));
    const low = end(Math.min), center = end(Math.max).map((x, k) => (x + low[k]) / 2);
    view.look(center, 2.3 * all.reduce((m, p) => Math.max(m, Math.hypot(p[0] - center[0], p[1] - center[1], p[2] - center[2])), 0));
  }

  if (scene.shapes.length) { // an arm in its shapes can be seen as sticks, too
    const row = document.createElement("label"), tick = document.createElement("input");
    Object.assign(tick, { type: "checkbox", id: "show-shapes", checked: true });
    row.append(tick, " shapes");
    document.querySelector(".tools").prepend(row);
  }
  if (scene.missing.length) {
    const note = document.createElement("p");
    note.className = "note";
    note.id = "missing-shapes";
    note.textContent = `Not shown: ${scene.missing.join("; ")}.`;
    document.querySelector(".stage").after(note);
  }

  for (const name of ["frames", "reach", "shapes"]) {
    const tick = find("show-" + name);
    if (tick) tick.addEventListener("change", () => { view.show[name] = tick.checked; if (name === "reach") reveal(name, scene.reach); view.redraw(); });
  }

  find("home").addEventListener("click", () => {
    pause();
    view.trailEnd = report.time = 0;
    view.contacts = null;
    for (const name of ["reach", "motion"]) shown.delete(name);
    view.home();
    view.set(scene.q.slice());
    follow(scene.q);
  });
  find("closer").addEventListener("click", () => view.zoom(1.25));
  find("farther").addEventListener("click", () => view.zoom(0.8));

  // The motion

  function pause() { report.playing = false; if (find("play")) find("play").textContent = "▶ Play"; }

  if (!motion) return;
  const steps = motion.q.length - 1, length = steps * motion.step, play = find("play"), scrub = find("scrub"), cursor = find("cursor");
  const tool = scene.frames.find(f => f.main), origin = [3, 7, 11].map(k => tool.pose[k]), poses = motion.q.map(Motion.poses);
  const trail = poses.map(T => view.place(T, tool.body, origin)), few = Math.ceil(poses.length / 60);
  const places = view.swept(poses.filter((_, k) => k % few === 0 || k === steps));

  function show(time) {
    report.time = Math.max(0, Math.min(length, time));
    const place = report.time / motion.step, k = Math.min(Math.floor(place), steps - 1), part = place - k;
    const q = Motion.between(motion.q[k], motion.q[k + 1], part);
    reveal("motion", places);
    view.trail = trail;
    view.trailEnd = Math.floor(place) + 1;
    view.contacts = motion.contacts ? motion.contacts[Math.round(place)] : null;
    view.set(q);
    follow(q);
    scrub.value = report.time;
    find("time").textContent = `${report.time.toFixed(2)} s`;
    scrub.setAttribute("aria-valuetext", find("time").textContent);
    if (!cursor) return; // a motion that was given, without its forces
    const x = motion.left + (motion.right - motion.left) * report.time / length;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  }
  report.show = show;

  let last = null;
  function tick(now) {
    if (!report.playing) { last = null; return; }
    if (last !== null) {
      show(report.time + +find("speed").value * Math.min(now - last, 100) / 1000);
      if (report.time >= length) { pause(); last = null; return; }
    }
    last = now;
    requestAnimationFrame(tick);
  }
  play.addEventListener("click", () => {
    if (report.playing) return pause();
    if (report.time >= length) report.time = 0;
    report.playing = true;
    play.textContent = "❚❚ Pause";
    requestAnimationFrame(tick);
  });
  find("keys").textContent = " · space plays";
  document.addEventListener("keydown", e => { // wherever a space has no other meaning
    if (e.key !== " " || e.target.closest("button, input, select, textarea, summary, a")) return;
    e.preventDefault();
    play.click();
  });
  Object.assign(scrub, { min: 0, max: length, step: motion.step / 2, value: 0 });
  scrub.addEventListener("input", () => { pause(); show(+scrub.value); });
  if (!cursor) show(0);
})();
