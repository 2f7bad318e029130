// SPDX-License-Identifier: Apache-2.0
// The roofline: what each operator reaches, below the limits of memory and of arithmetic.
'use strict';

const ARITHMETIC = {float32: 'float32', bfloat16: 'bfloat16', quantized: '8 bit'};

function rooflineSection(page, model) {
  const points = model.graphs.compiled.timed.filter(box => box.macs > 0 && box.ms > 0 && box.bytes > 0)
    .map(box => ({box, x: flopsOf(box) / box.bytes, y: rateOf(box)}));
  const rest = model.graphs.compiled.timed.length - points.length;
  const note = [
    'Each circle is an operator, as large as its time. On the slope, memory limits it; below the horizontal line, arithmetic does.',
    'Bytes are those of its inputs and outputs, operations those of the direct computation: Winograd needs fewer, and data in caches',
    'is faster than memory, so circles can lie above the lines.',
    rest ? `${plural(rest, 'operator')} without multiplications ${rest === 1 ? 'is' : 'are'} left out.` : '',
  ].join(' ');
  return sectionOf('roofline', 'Roofline', null,
    points.length ? responsive(width => rooflinePlot(page, model, points, width)) : el('p', {class: 'muted'}, 'No operator has multiplications.'),
    el('p', {class: 'note'}, note));
}

function rooflinePlot(page, model, points, width) {
  const {bandwidth, peaks} = model.machine, height = heightOf(width);
  // Left of the ridge, the slope has room.
  const xs = decadesOf([...points.map(point => point.x), ...Object.values(peaks).flatMap(peak => [peak / bandwidth, peak / bandwidth / 4])]);
  const ys = decadesOf([...points.map(point => point.y), ...Object.values(peaks), xs[0] * bandwidth]);
  const {element, area, px, py} = plotOf(width, height,
    {at: logarithmic(xs), ticks: xs, text: value => digits(value, 3), title: 'FLOP per byte'},
    {at: logarithmic(ys), ticks: ys, text: value => withPrefix(value, ''), title: 'FLOP/s'}, 'roofline');
  const low = Math.max(xs[0], ys[0] / bandwidth), right = area.left + area.width;
  const top = maxOf(Object.values(peaks));
  const slope = {from: {x: px(low), y: py(low * bandwidth)}, to: {x: px(top / bandwidth), y: py(top)}, label: withPrefix(bandwidth, 'B/s')};
  const roofs = Object.entries(peaks).map(([name, peak]) => ({from: {x: px(peak / bandwidth), y: py(peak)}, to: {x: right, y: py(peak)},
                                                              label: `${ARITHMETIC[name] || name} ${withPrefix(peak, 'FLOP/s')}`}));
  element.append(ceilingOf(slope), ...roofs.map((roof, i) => ceilingOf(roof, i ? 'second' : '')));
  const circles = [];
  for (const {box, x, y} of [...points].sort((a, b) => b.box.ms - a.box.ms)) {
    const circle = {x: px(x), y: py(y), r: 3.5 + 14 * Math.sqrt(box.share)};
    const dot = svg('circle', {class: 'dot', cx: circle.x, cy: circle.y, r: circle.r, color: colorOf(box.kind), on: {click: () => page.pick(model, box)}});
    element.append(page.linked(box, withTip(dot, () => `${describeBox(model, box)}\n${digits(x, 3)} FLOP per byte`)));
    circles.push(circle);
  }
  element.append(...labelsOf(slope, roofs, area, circles));
  return element;
}

const ceilingOf = ({from, to}, name = '') => svg('path', {class: `ceiling ${name}`, d: `M${from.x} ${from.y}L${to.x} ${to.y}`});

// The names of the lines, where they cover no circle, no line and no other name.
function labelsOf(slope, roofs, area, circles) {
  const ABOVE = 12, room = {...area, top: area.top - ABOVE, height: area.height + ABOVE};
  const taken = [], solid = [...circles.map(({x, y, r}) => ({x, y, r: r + 2})), ...[slope, ...roofs].flatMap(pointsOf)];
  return [...roofs.map(roof => [roof, placesAbove]), [slope, placesBeside]].map(([line, placesOf]) => {
    const width = widthOf(line.label, 12);
    const {place, rect} = freePlace(width, placesOf(line, width, area), room, solid, taken);
    taken.push(rect);
    return svg('text', {...place, 'data-label': ''}, line.label);
  });
}

// Points of a line, near enough to each other for a text.
function pointsOf({from, to}) {
  const n = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 4));
  return Array.from({length: n + 1}, (_, i) => ({x: from.x + (to.x - from.x) * i / n, y: from.y + (to.y - from.y) * i / n, r: 1}));
}

// Right above a horizontal line, then below it, each from the right; then further away.
function placesAbove({from, to}, width, area) {
  const STEP = 12, ROW = 16;
  const rows = [-6, 16, ...Array.from({length: Math.floor(area.height / ROW)}, (_, i) => [-6 - ROW * (i + 1), 16 + ROW * (i + 1)]).flat()];
  const columns = Array.from({length: Math.max(1, Math.ceil((to.x - from.x) / STEP))}, (_, i) => to.x - width - 2 - STEP * i);
  return rows.flatMap(by => columns.map(x => ({x, y: from.y + by})));
}

// Right of the slope or left of it, from its middle on; then further away.
function placesBeside({from, to}, width) {
  const shares = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9];
  return [8, 20, 40, 80].flatMap(by => shares.flatMap(share => {
    const x = from.x + (to.x - from.x) * share, y = from.y + (to.y - from.y) * share;
    return [{x: x + by, y: y + 6 + by}, {x: x - by - width, y: y - by}];
  }));
}
