"use strict";
// Triangles in plain JavaScript: each pixel shows what is nearest. It needs no graphics card, and every machine draws the same picture.
// A place is x and y in pixels and z, larger where it is nearer, linear on the screen; brightness goes evenly from corner to corner.
const Raster = () => {
  let width = 0, height = 0, depth = new Float32Array(0), pixels = new Uint32Array(0), image = null;
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d");

  function clear(w, h) {
    if (w === width && h === height) { depth.fill(0); pixels.fill(0); return; }
    width = canvas.width = w;
    height = canvas.height = h;
    depth = new Float32Array(w * h);
    image = context.createImageData(w, h);
    pixels = new Uint32Array(image.data.buffer);
  }

  function triangle(ax, ay, az, ai, bx, by, bz, bi, cx, cy, cz, ci, shades) { // shades: 256 colours from dark to bright
    const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    if (!(area > 1e-9 || area < -1e-9)) return;
    const zx = ((bz - az) * (cy - ay) - (cz - az) * (by - ay)) / area, zy = ((cz - az) * (bx - ax) - (bz - az) * (cx - ax)) / area;
    const ix = ((bi - ai) * (cy - ay) - (ci - ai) * (by - ay)) / area, iy = ((ci - ai) * (bx - ax) - (bi - ai) * (cx - ax)) / area;
    const low = Math.min(ay, by, cy), high = Math.max(ay, by, cy);
    const first = Math.max(0, Math.ceil(low - 0.5)), last = Math.min(height, Math.ceil(high - 0.5));
    for (let row = first; row < last; row++) {
      const y = row + 0.5;
      let left = Infinity, right = -Infinity, x; // where the row meets the edges
      if ((ay <= y) !== (by <= y)) { x = ax + (y - ay) * (bx - ax) / (by - ay); left = x < left ? x : left; right = x > right ? x : right; }
      if ((by <= y) !== (cy <= y)) { x = bx + (y - by) * (cx - bx) / (cy - by); left = x < left ? x : left; right = x > right ? x : right; }
      if ((cy <= y) !== (ay <= y)) { x = cx + (y - cy) * (ax - cx) / (ay - cy); left = x < left ? x : left; right = x > right ? x : right; }
      const from = Math.max(0, Math.ceil(left - 0.5)), to = Math.min(width, Math.ceil(right - 0.5));
      let z = az + zx * (from + 0.5 - ax) + zy * (y - ay), i = ai + ix * (from + 0.5 - ax) + iy * (y - ay), at = row * width + from;
      for (let end = row * width + to; at < end; at++) {
        if (z > depth[at]) { depth[at] = z; pixels[at] = shades[i < 0 ? 0 : i > 255 ? 255 : i | 0]; }
        z += zx;
        i += ix;
      }
    }
  }

  function dot(x, y, z, size, color) { // half through it one sees what is behind
    for (let row = Math.max(0, Math.round(y - size / 2)); row < Math.min(height, Math.round(y + size / 2)); row++) {
      for (let at = row * width + Math.max(0, Math.round(x - size / 2)), end = row * width + Math.min(width, Math.round(x + size / 2)); at < end; at++) {
        if (z > depth[at]) pixels[at] = pixels[at] ? 0xff000000 | ((pixels[at] & 0xfefefe) + (color & 0xfefefe)) >>> 1 : 0x80000000 | color & 0xffffff;
      }
    }
  }

  function shown(target, w, h) { // on another canvas, in this size
    context.putImageData(image, 0, 0);
    target.imageSmoothingQuality = "medium";
    target.drawImage(canvas, 0, 0, w, h);
  }

  return { clear, triangle, dot, shown };
};

Raster.shades = ([r, g, b]) => Uint32Array.from({ length: 256 }, (_, k) => { // of a colour, from half as bright to a little brighter
  const lit = c => Math.min(255, Math.round(c * (0.5 + 0.55 * k / 255)));
  return (0xff000000 | lit(b) << 16 | lit(g) << 8 | lit(r)) >>> 0;
});
