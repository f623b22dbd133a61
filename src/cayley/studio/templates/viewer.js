"use strict";
// The robot in 3-D on a canvas. A pose is 12 numbers, three rows (R | p); those of all bodies are one after another, as `Motion.poses` gives them.
// While something moves the picture is made quickly; when all is still it is made once more, with smooth edges.
const Robot = (() => {
  const { cross, plus, unit } = Solids;
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const moved = (T, b, p) => [0, 4, 8].map(r => T[12 * b + r] * p[0] + T[12 * b + r + 1] * p[1] + T[12 * b + r + 2] * p[2] + T[12 * b + r + 3]);
  const QUICK = 1.3e6, FINE = 7e6, STILL = 140, AFFORDABLE = 14; // pixels, pixels, ms without a change, ms for a fine picture that is also quick

  function Viewer(canvas, scene) {
    const sticks = Solids.sticks(scene), skins = Solids.skins(scene), bare = new Set(scene.bare), raster = Raster();
    const view = { q: scene.q.slice(), show: { frames: false, reach: false, shapes: skins.length > 0 }, trail: [], trailEnd: 0, contacts: null, frames: 0, cost: 0 };
    let camera, palette, wanted = false, waiting = 0, slow = Infinity, x = new Float64Array(0), y = x, z = x;
    view.home = () => { camera = { ...scene.camera, center: scene.center.slice(), size: scene.size, zoom: 1 }; view.redraw(); };
    view.look = (center, size) => { camera.center = center.slice(); camera.size = size; view.redraw(); };
    view.camera = () => ({ ...camera });
    view.poses = Motion.poses;
    view.place = (T, body, p) => moved(T, body, p);
    view.swept = all => { // corners of boxes around all bodies, in these poses
      const ends = new Map(), found = [];
      for (const { body, points } of [...sticks, ...skins]) {
        const own = ends.get(body) || [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
        points.forEach((value, k) => { own[0][k % 3] = Math.min(own[0][k % 3], value); own[1][k % 3] = Math.max(own[1][k % 3], value); });
        ends.set(body, own);
      }
      for (const T of all) for (const [body, own] of ends) for (let corner = 0; corner < 8; corner++) {
        found.push(moved(T, body, [0, 1, 2].map(k => own[corner >> k & 1][k])));
      }
      return found;
    };
    view.set = q => { view.q = q; view.redraw(); };
    view.redraw = () => {
      if (wanted) return;
      wanted = true;
      clearTimeout(waiting);
      requestAnimationFrame(() => {
        wanted = false;
        const fine = slow < AFFORDABLE;
        draw(fine);
        if (!fine) waiting = setTimeout(() => draw(true), STILL);
      });
    };
    view.still = () => { clearTimeout(waiting); draw(true); }; // at once
    view.turn = (dx, dy) => { camera.azimuth -= dx; camera.elevation = Math.max(-1.5, Math.min(1.57, camera.elevation + dy)); view.redraw(); };
    view.zoom = factor => { camera.zoom = Math.max(0.2, Math.min(12, camera.zoom * factor)); view.redraw(); };
    view.pan = (dx, dy) => { // by pixels
      const { right, up, scale } = frame();
      camera.center = plus(plus(camera.center, right, -dx / scale), up, dy / scale);
      view.redraw();
    };
    view.repaint = () => {
      const style = getComputedStyle(document.documentElement), get = n => style.getPropertyValue("--" + n).trim();
      const numbers = n => [1, 3, 5].map(k => parseInt(get(n).slice(k, k + 2), 16));
      palette = { ink: get("ink"), grid: get("grid"), trail: get("accent"), shadow: get("shadow"), x: "#d62f3f", y: "#2f9e44", z: "#3b74d8", force: "#c2255c" };
      const [r, g, b] = numbers("accent");
      palette.dot = b << 16 | g << 8 | r;
      for (const n of ["link", "aside", "joint", "slide"]) palette[n] = Raster.shades(numbers(n));
      for (const p of [...sticks, ...skins]) p.shades = palette[p.color] || Raster.shades(p.color.map(c => c + 12));
      view.redraw();
    };

    function frame() { // directions of the picture, and pixels for a metre in its middle
      const { azimuth: a, elevation: e } = camera, eye = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
      const right = [-Math.sin(a), Math.cos(a), 0], up = cross(eye, right), box = canvas.getBoundingClientRect();
      const ratio = window.devicePixelRatio || 1;
      return { eye, right, up, width: box.width, height: box.height, ratio, scale: camera.zoom * Math.min(box.width, box.height) / camera.size };
    }

    function draw(fine) {
      const started = performance.now(), f = frame(), g = canvas.getContext("2d"), w = Math.round(f.width * f.ratio), h = Math.round(f.height * f.ratio);
      if (!w || !h) return;
      if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
      g.setTransform(f.ratio, 0, 0, f.ratio, 0, 0);
      g.clearRect(0, 0, f.width, f.height);
      g.lineJoin = g.lineCap = "round";
      const far = 2.6 * camera.size, T = Motion.poses(view.q);
      const seen = p => {
        const r = plus(p, camera.center, -1), depth = dot(r, f.eye), s = f.scale * far / Math.max(far - depth, 0.05 * far);
        return [f.width / 2 + s * dot(r, f.right), f.height / 2 - s * dot(r, f.up), s];
      };
      const line = (points, color, width, alpha = 1) => {
        if (points.length < 2) return;
        g.globalAlpha = alpha; g.strokeStyle = color; g.lineWidth = width; g.beginPath();
        points.forEach((p, k) => { const [x, y] = seen(p); k ? g.lineTo(x, y) : g.moveTo(x, y); });
        g.stroke(); g.globalAlpha = 1;
      };
      const tip = ([x, y], color) => { g.fillStyle = color; g.beginPath(); g.arc(x, y, 3.5, 0, 7); g.fill(); };
      for (const segment of scene.floor.lines) line(segment, palette.grid, 1);
      const rods = scene.slides.map(s => [moved(T, s.body, s.point), moved(T, s.child, s.end)]);
      const paths = [...scene.links.map(l => l.points.map(p => moved(T, l.body, p))), ...rods];
      const shadow = Math.max(1.5, f.scale * scene.rod * 1.6);
      if (f.eye[2] > 0.02) paths.forEach(path => line(path.map(p => [p[0], p[1], scene.floor.height]), palette.shadow, shadow));
      solids(f, far, T, rods, w, h, fine ? Math.min(2, Math.sqrt(FINE / (w * h))) : Math.min(1, Math.sqrt(QUICK / (w * h))), seen);
      raster.shown(g, f.width, f.height);
      axes(g, seen, T);
      line(view.trail.slice(Math.max(0, view.trailEnd - 90), view.trailEnd), palette.trail, 1.6, 0.75);
      if (view.contacts) {
        for (const cone of view.contacts.cones) line(cone, palette.force, 1, 0.45);
        for (const [start, end] of view.contacts.arrows) { line([start, end], palette.force, 3); tip(seen(end), palette.force); }
      }
      view.frames += 1;
      view.cost = performance.now() - started;
      if (fine) slow = view.cost;
    }

    function solids(f, far, T, rods, w, h, detail, seen) {
      const width = Math.max(1, Math.round(w * detail)), height = Math.max(1, Math.round(h * detail)), pixel = width / f.width;
      const light = unit(plus(plus(f.eye, f.up, 0.8), f.right, -0.5)), c = camera.center, e = f.eye, r = f.right, u = f.up;
      raster.clear(width, height);
      function part(p, b) {
        const { points, triangles, normals, closed, shades } = p, count = points.length / 3;
        if (x.length < count) { x = new Float64Array(2 * count); y = new Float64Array(2 * count); z = new Float64Array(2 * count); }
        const [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11] = T.slice(12 * b, 12 * b + 12);
        for (let k = 0, i = 0; k < count; k++, i += 3) {
          const px = points[i], py = points[i + 1], pz = points[i + 2];
          const qx = a0 * px + a1 * py + a2 * pz + a3 - c[0], qy = a4 * px + a5 * py + a6 * pz + a7 - c[1], qz = a8 * px + a9 * py + a10 * pz + a11 - c[2];
          const s = f.scale * far / Math.max(far - (qx * e[0] + qy * e[1] + qz * e[2]), 0.05 * far);
          x[k] = pixel * (f.width / 2 + s * (qx * r[0] + qy * r[1] + qz * r[2]));
          y[k] = pixel * (f.height / 2 - s * (qx * u[0] + qy * u[1] + qz * u[2]));
          z[k] = s;
        }
        const lx = a0 * light[0] + a4 * light[1] + a8 * light[2], ly = a1 * light[0] + a5 * light[1] + a9 * light[2];
        const lz = a2 * light[0] + a6 * light[1] + a10 * light[2];
        for (let t = 0, n = 0; t < triangles.length; t += 3, n += 9) {
          const i = triangles[t], j = triangles[t + 1], k = triangles[t + 2];
          const back = (x[j] - x[i]) * (y[k] - y[i]) - (x[k] - x[i]) * (y[j] - y[i]) >= 0;
          if (back && closed) continue;
          const side = back ? -255 : 255;
          raster.triangle(x[i], y[i], z[i], side * (normals[n] * lx + normals[n + 1] * ly + normals[n + 2] * lz),
                          x[j], y[j], z[j], side * (normals[n + 3] * lx + normals[n + 4] * ly + normals[n + 5] * lz),
                          x[k], y[k], z[k], side * (normals[n + 6] * lx + normals[n + 7] * ly + normals[n + 8] * lz), shades);
        }
      }
      if (view.show.shapes) for (const p of skins) part(p, p.body);
      for (const p of sticks) if (!view.show.shapes || bare.has(p.body)) part(p, p.body);
      scene.slides.forEach((s, k) => {
        if (!view.show.shapes || bare.has(s.child)) part({ ...Solids.between(...rods[k], 0.8 * scene.rod), shades: palette.aside }, 0);
      });
      if (view.show.reach) for (const p of scene.reach) { const [px, py, s] = seen(p); raster.dot(pixel * px, pixel * py, s, 2 * pixel, palette.dot); }
    }

    function axes(g, seen, T) { // of frames, over everything else
      const labels = [];
      for (const fr of scene.frames) {
        if (!fr.main && !view.show.frames) continue;
        const at = p => moved(T, fr.body, moved(fr.pose, 0, p)), length = (fr.main ? 4.2 : 2.8) * scene.mark, o = seen(at([0, 0, 0]));
        ["x", "y", "z"].forEach((n, k) => {
          const tip = seen(at([0, 1, 2].map(i => i === k ? length : 0)));
          g.strokeStyle = palette[n]; g.lineWidth = 2.2; g.beginPath(); g.moveTo(o[0], o[1]); g.lineTo(tip[0], tip[1]); g.stroke();
        });
        let down = o[1] + 13;
        while (labels.some(l => Math.abs(l[0] - o[0]) < 60 && Math.abs(l[1] - down) < 11)) down += 11;
        labels.push([o[0], down]);
        g.fillStyle = palette.ink; g.font = "11px system-ui, sans-serif"; g.fillText(fr.name, o[0] + 7, down);
      }
    }

    // Mouse, touch, keys: one pointer turns, two move and zoom, the wheel zooms
    const down = new Map();
    canvas.addEventListener("pointerdown", e => { down.set(e.pointerId, [e.clientX, e.clientY]); canvas.setPointerCapture(e.pointerId); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, e => down.delete(e.pointerId));
    canvas.addEventListener("pointermove", e => {
      const before = down.get(e.pointerId);
      if (!before) return;
      const dx = e.clientX - before[0], dy = e.clientY - before[1];
      if (down.size === 1) {
        if (e.shiftKey || e.buttons & 6) view.pan(dx, dy); else view.turn(0.008 * dx, 0.008 * dy);
      } else {
        const other = [...down].find(([id]) => id !== e.pointerId)[1], gap = p => Math.hypot(p[0] - other[0], p[1] - other[1]);
        view.zoom(Math.max(gap([e.clientX, e.clientY]), 1) / Math.max(gap(before), 1));
        view.pan(dx / 2, dy / 2);
      }
      down.set(e.pointerId, [e.clientX, e.clientY]);
    });
    canvas.addEventListener("wheel", e => { e.preventDefault(); view.zoom(Math.exp(-0.0015 * e.deltaY)); }, { passive: false });
    canvas.addEventListener("dblclick", view.home);
    canvas.addEventListener("contextmenu", e => e.preventDefault());
    canvas.addEventListener("keydown", e => {
      const act = { ArrowLeft: () => view.turn(-0.1, 0), ArrowRight: () => view.turn(0.1, 0), ArrowUp: () => view.turn(0, 0.1),
                    ArrowDown: () => view.turn(0, -0.1), "+": () => view.zoom(1.15), "-": () => view.zoom(1 / 1.15), 0: view.home }[e.key];
      if (act) { e.preventDefault(); act(); }
    });
    new ResizeObserver(view.redraw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", view.repaint);
    view.home();
    view.repaint();
    return view;
  }

  return { Viewer };
})();
