"use strict";
// Keeps a mechanism closed while its sliders are moved: the compiled steps that make the other joints follow, in parts that are as long as they
// are good, so that it stays on its branch and goes no further than it can.
const Loops = scene => {
  const STAGES = [1, 0, 0, 0], LONGEST = 0.2, SHORTEST = 1e-4, ARRIVED = 1e-7, CLOSED = 1e-9, places = scene.sliders.map(s => s.place);

  const opening = q => Math.max(0, ...Motion.opening(q).map(Math.abs));

  function followed(q, d) { // where it is when the sliders have moved by d; null if that is no plain way
    const { q_after: found, good_after: good, size_after: size } = Motion.follow(1, 1, STAGES.length, q, 1, 0, 0, d, STAGES);
    return good[0] > 0 && size[0] <= ARRIVED && opening(found) < CLOSED ? Array.from(found) : null;
  }

  function driven(q, target) { // along a straight way of the sliders, as far as the machine goes
    const way = places.map(p => target[p] - q[p]), from = places.map(p => q[p]);
    const length = Math.max(...way.map((x, k) => Math.abs(x) / (scene.sliders[k].turns ? 1 : scene.closing.size)));
    for (let at = 0, step = Math.min(1, LONGEST / length); at < 1 && step * length > SHORTEST;) {
      const to = Math.min(1, at + step), found = followed(q, places.map((p, k) => from[k] + way[k] * to - q[p]));
      if (found === null) { step /= 2; continue; }
      q = found;
      at = to;
      step = Math.min(2 * step, LONGEST / length);
    }
    return q;
  }

  return { opening, driven };
};
