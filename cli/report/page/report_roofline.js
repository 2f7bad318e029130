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
  const {bandwidth, peaks} = model.machine, height = Math.min(460, Math.max(300, width * 0.55));
  const xs = decadesOf([...points.map(point => point.x), ...Object.values(peaks).map(peak => peak / bandwidth)]);
  const ys = decadesOf([...points.map(point => point.y), ...Object.values(peaks), xs[0] * bandwidth]);
  const {element, area, px, py} = plotOf(width, height,
    {at: logarithmic(xs), ticks: xs, text: value => digits(value, 3), title: 'FLOP per byte'},
    {at: logarithmic(ys), ticks: ys, text: value => withPrefix(value, ''), title: 'FLOP/s'}, 'roofline');
  const low = Math.max(xs[0], ys[0] / bandwidth), right = area.left + area.width;
  const top = maxOf(Object.values(peaks));
  element.append(svg('path', {class: 'ceiling', d: `M${px(low)} ${py(low * bandwidth)}L${px(top / bandwidth)} ${py(top)}`}),
    svg('text', {x: (px(low) + px(top / bandwidth)) / 2 + 10, y: (py(low * bandwidth) + py(top)) / 2 + 14, 'data-label': ''}, withPrefix(bandwidth, 'B/s')));
  Object.entries(peaks).forEach(([name, peak], i) => element.append(
    svg('path', {class: `ceiling ${i ? 'second' : ''}`, d: `M${px(peak / bandwidth)} ${py(peak)}H${right}`}),
    svg('text', {x: right - 2, y: py(peak) - 6, 'text-anchor': 'end', 'data-label': ''}, `${ARITHMETIC[name] || name} ${withPrefix(peak, 'FLOP/s')}`)));
  const labels = [...element.querySelectorAll('[data-label]')];
  for (const {box, x, y} of [...points].sort((a, b) => b.box.ms - a.box.ms)) {
    const dot = svg('circle', {class: 'dot', cx: px(x), cy: py(y), r: 3.5 + 14 * Math.sqrt(box.share), color: colorOf(box.kind),
                               on: {click: () => page.pick(model, box)}});
    element.append(page.linked(box, withTip(dot, () => `${describeBox(model, box)}\n${digits(x, 3)} FLOP per byte`)));
  }
  element.append(...labels); // above the circles
  return element;
}
