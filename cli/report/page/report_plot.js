// SPDX-License-Identifier: Apache-2.0
// Axes of plots.
'use strict';

// Round numbers from 0 to at least `max`, about `n` of them.
function ticksTo(max, n) {
  if (!(max > 0)) return [0, 1];
  const rough = max / n, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough * 0.999);
  return Array.from({length: Math.ceil(max / step - 1e-9) + 1}, (_, i) => i * step);
}

// The text of a number of an axis, with the decimals that the distance of its ticks needs.
function tickText(ticks) {
  const decimals = Math.max(0, -Math.floor(Math.log10(ticks[1] - ticks[0]) + 1e-9));
  return value => value.toFixed(Math.min(decimals, 20));
}

// The powers of 10 around all values that are positive and finite; from 0.1 to 1 without such values.
function decadesOf(values) {
  const logs = values.filter(value => value > 0 && value < Infinity).map(Math.log10);
  const low = logs.length ? Math.floor(minOf(logs)) : -1, high = Math.ceil(maxOf(logs, low) + 1e-9);
  return Array.from({length: Math.max(1, high - low) + 1}, (_, i) => 10 ** (low + i));
}

// The height of plots that may lie side by side.
const heightOf = width => Math.round(Math.min(460, Math.max(290, width * 0.52)));

// {element, area, x, y}: a plot of `width` x `height` with axes. x and y are {at: value -> share of the axis, ticks, text, title}.
function plotOf(width, height, x, y, label) {
  const left = 14 + maxOf(y.ticks.map(value => widthOf(y.text(value), 12))), right = 14, top = 26, bottom = 44;
  const area = {left, top, width: width - left - right, height: height - top - bottom};
  const px = value => area.left + x.at(value) * area.width, py = value => area.top + (1 - y.at(value)) * area.height;
  const room = Math.max(1, Math.ceil(x.ticks.length / (area.width / 56))); // of labels that do not touch
  const element = svg('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label},
    y.ticks.map(value => [svg('line', {class: 'grid', x1: area.left, x2: width - right, y1: py(value), y2: py(value)}),
                          svg('text', {class: 'tick-y', x: area.left - 7, y: py(value) + 4, 'text-anchor': 'end'}, y.text(value))]).flat(),
    x.ticks.map((value, i) => [svg('line', {class: 'grid', x1: px(value), x2: px(value), y1: area.top, y2: area.top + area.height}),
                               i % room ? null : svg('text', {class: 'tick-x', x: px(value), y: height - bottom + 18, 'text-anchor': 'middle'}, x.text(value))]).flat(),
    svg('text', {class: 'axis-title', x: 0, y: 13}, y.title),
    svg('text', {class: 'axis-title', x: width - right, y: height - 5, 'text-anchor': 'end'}, x.title));
  return {element, area, px, py};
}

// The first of `places` [{x, y}], left ends of base lines, at which a text of that width is within
// `area` and covers neither `circles` [{x, y, r}] nor `rects`; without such a place, the one that
// covers the fewest.
function freePlace(width, places, area, circles, rects) {
  const rectAt = ({x, y}) => ({left: x - 2, right: x + width + 2, top: y - 11, bottom: y + 4});
  const isInside = ({left, right, top, bottom}) => left >= area.left && right <= area.left + area.width && top >= area.top && bottom <= area.top + area.height;
  const covered = rect => circles.filter(circle => isOver(rect, circle)).length +
    rects.filter(other => rect.left < other.right && other.left < rect.right && rect.top < other.bottom && other.top < rect.bottom).length;
  let best = {place: places[0], rect: rectAt(places[0]), count: Infinity};
  for (const place of places) {
    const rect = rectAt(place), count = isInside(rect) ? covered(rect) : Infinity;
    if (count < best.count) best = {place, rect, count};
    if (!count) break;
  }
  return best;
}

function isOver({left, right, top, bottom}, {x, y, r}) {
  const dx = x - Math.min(Math.max(x, left), right), dy = y - Math.min(Math.max(y, top), bottom);
  return dx * dx + dy * dy < r * r;
}

const linear = ticks => value => value / ticks[ticks.length - 1];
function logarithmic(ticks) {
  const low = Math.log10(ticks[0]), span = Math.log10(ticks[ticks.length - 1]) - low;
  return value => (Math.log10(value) - low) / span;
}

// Draws `draw(width)` into an element, again when its width changes.
function responsive(draw) {
  const element = el('div');
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.round(element.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    element.replaceChildren(draw(width));
  }).observe(element);
  return element;
}
