// What is wrong with the drawing in the window, in words, and its width and smallest font as drawn: a text leaves the
// drawing, two texts meet, a line goes through a text, a text is too pale (arguments[0]: the least contrast).
const [least] = arguments, faults = new Set(), root = document.documentElement;
const start = e => e.textContent.trim().slice(0, 40);
const parts = color => color.match(/[\d.]+/g).map(Number);
const linear = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
const texts = [...root.querySelectorAll('text')].filter(e => e.textContent.trim());
const shapes = [...root.querySelectorAll('rect,path,line,polyline,polygon,circle')];
const later = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;
const place = (x, y) => new DOMPoint(x, y);
const holds = (shape, x, y) =>
  shape.isPointInFill(place(x, y).matrixTransform(shape.getScreenCTM().inverse()));
const opaque = e => {
  const s = getComputedStyle(e);
  return s.fill !== 'none' && (parts(s.fill)[3] ?? 1) * s.fillOpacity * s.opacity > .7;
};

const masks = e => getComputedStyle(e).stroke !== 'none' && getComputedStyle(e).paintOrder.startsWith('stroke');

// The letters of a text, without the space above and below them, in its own coordinates: it may be turned.
const inks = texts.map(e => {
  const {x, y, width, height} = e.getBBox();
  return {left: x, right: x + width, top: y + .25 * height, bottom: y + .75 * height};
});
const turns = texts.map(e => e.getScreenCTM()), back = turns.map(m => m.inverse());
const meets = (n, point, margin) => {
  const p = point.matrixTransform(back[n]), b = inks[n];
  return p.x > b.left + margin && p.x < b.right - margin && p.y > b.top + margin && p.y < b.bottom - margin;
};
const points = inks.map((b, n) => [b.top, (b.top + b.bottom) / 2, b.bottom].flatMap(y =>
  Array.from({length: Math.ceil((b.right - b.left) / 2) + 1}, (_, i) =>
    place(Math.min(b.right, b.left + 2 * i), y).matrixTransform(turns[n]))));
const all = root.getScreenCTM(), {x: left, y: top, width, height} = root.viewBox.baseVal;
const low = place(left, top).matrixTransform(all), high = place(left + width, top + height).matrixTransform(all);
points.forEach((own, n) => {
  if (own.some(p => p.x < low.x - 1 || p.x > high.x + 1 || p.y < low.y - 1 || p.y > high.y + 1))
    faults.add('leaves the drawing: ' + start(texts[n]));
  for (let m = 0; m < texts.length; m++)
    if (m !== n && own.some(p => meets(m, p, .5))) faults.add(`meet: ${start(texts[m])} | ${start(texts[n])}`);
});

for (const line of shapes) {
  const style = getComputedStyle(line);
  if (style.stroke === 'none' || !line.getTotalLength || style.visibility === 'hidden') continue;
  const matrix = line.getScreenCTM(), length = line.getTotalLength();
  for (let at = 0; at <= length; at += 1.5) {
    const p = line.getPointAtLength(at).matrixTransform(matrix);
    texts.forEach((e, n) => {
      if (!masks(e) && meets(n, p, 0) && !shapes.some(s => later(line, s) && later(s, e) && opaque(s) && holds(s, p.x, p.y)))
        faults.add('a line through: ' + start(e));
    });
  }
}

texts.forEach((e, n) => {
  const {x, y} = points[n][Math.floor(points[n].length / 2)];
  const ground = shapes.findLast(s => later(s, e) && opaque(s) && holds(s, x, y));
  const below = light(ground ? parts(getComputedStyle(ground).fill) : [255, 255, 255]);
  const [p, q] = [light(parts(getComputedStyle(e).fill)), below].sort((s, t) => s - t);
  if ((q + .05) / (p + .05) < least) faults.add(`pale, ${((q + .05) / (p + .05)).toFixed(1)}: ${start(e)}`);
});
const scale = m => Math.hypot(m.a, m.b);
const fonts = texts.map((e, n) => parseFloat(getComputedStyle(e).fontSize) * scale(turns[n]) / scale(all));
return [[...faults], width, Math.min(...fonts)];
