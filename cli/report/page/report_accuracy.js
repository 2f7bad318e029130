// SPDX-License-Identifier: Apache-2.0
// The error of each operator, relative to a program of another precision.
'use strict';

function errorText({error, notFinite}) {
  if (error === Infinity) return `not finite${notFinite ? ` in ${plural(notFinite, 'element')}` : ''}`;
  return error === 0 ? '0' : error >= 0.001 ? percentText(error).replace(/^0\.0 %$/, `${digits(100 * error, 2)} %`) : error.toExponential(1);
}

function accuracySection(page, model) {
  const {precision, of} = model.accuracy;
  const points = model.graphs.compiled.timed.filter(box => box.error !== undefined);
  const worst = points.reduce((best, box) => box.error > best.error ? box : best, {error: 0, label: 'none', name: ''});
  const rest = of - points.length;
  const note = `The largest difference of an output from that of the program in ${precision}, divided by the largest magnitude, with random inputs. Errors add up along the run: an operator that raises them rounds by itself. Exact results are at the bottom; results with elements that are finite in one program only, such as after an overflow, at the top.` +
    (rest > 0 ? ` ${plural(rest, 'result')} without a counterpart in the other program ${rest === 1 ? 'is' : 'are'} left out.` : '');
  return sectionOf('accuracy', `Accuracy against ${precision}`, null,
    el('p', null, `Largest error: ${errorText(worst)}, ${worst.label} `, el('span', {class: 'muted'}, worst.name)),
    points.some(box => box.error > 0) ? responsive(width => accuracyPlot(page, model, points, width)) : null, el('p', {class: 'note'}, note));
}

function accuracyPlot(page, model, points, width) {
  const boxes = model.graphs.compiled.timed, height = Math.min(360, Math.max(260, width * 0.3));
  const order = new Map(boxes.map((box, i) => [box, i + 0.5]));
  const ys = decadesOf(points.map(box => box.error)), limited = error => Math.min(Math.max(error, ys[0]), ys[ys.length - 1]);
  const xs = ticksTo(boxes.length, 8).filter(value => value <= boxes.length && Number.isInteger(value));
  const {element, px, py} = plotOf(width, height,
    {at: value => value / boxes.length, ticks: xs, text: String, title: 'operators of a run'},
    {at: logarithmic(ys), ticks: ys, text: value => value.toExponential(0), title: 'relative error'}, 'accuracy');
  for (const box of points) {
    const dot = svg('circle', {class: 'dot', cx: px(order.get(box)), cy: py(limited(box.error)), r: 4.5, color: colorOf(box.kind),
                               on: {click: () => page.pick(model, box)}});
    element.append(page.linked(box, withTip(dot, () => `${box.label}\n${box.name}\nerror ${errorText(box)}`)));
  }
  return element;
}
