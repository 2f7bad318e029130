// SPDX-License-Identifier: Apache-2.0
// The memory plan: offsets over the operators of a run, without the constants.
'use strict';

function memorySection(page, model) {
  const {blocks, constants, run, size, bound} = model.memory;
  const rest = size - run - constants;
  const facts = [
    `${bytesText(run)} for the tensors of a run, ${bytesText(constants)} for weights and other constants, which are not drawn${rest > 0 ? `, ${bytesText(rest)} for loading and alignment` : ''}.`,
    `Together ${bytesText(size)}${size > 1.005 * bound ? `, ${digits(size / bound, 3)} times the lower bound of any plan.` : ', the least that any plan needs.'}`,
    'The offset of each piece of memory is upward, the operators of a run are to the right: memory is used again when its tensor has had its last reader.',
  ].join(' ');
  const legend = el('div', {class: 'legend'}, el('span', {color: colorOf('convolution')}, el('i'), 'tensor'),
                    el('span', {color: colorOf('quantization')}, el('i'), 'scratch memory of an operator'));
  const owners = ownersOf(model.graphs.compiled);
  return sectionOf('memory', 'Memory over a run', legend,
    blocks.length ? responsive(width => memoryPlot(page, model, owners, width)) : el('p', {class: 'muted'}, 'A run needs no memory.'),
    el('p', {class: 'note'}, facts));
}

// The operators by their names, for scratch memory, and by those of their outputs.
function ownersOf(graph) {
  const owners = new Map(graph.timed.flatMap(box => box.outputs.map(tensor => [tensor.name, box])));
  for (const box of graph.timed) owners.set(box.operator, box);
  return owners;
}

// The unit of the axis, {name, size}.
const unitOf = bytes => [['GB', 1e9], ['MB', 1e6], ['kB', 1e3], ['B', 1]].map(([name, size]) => ({name, size})).find(({size}) => bytes >= size || size === 1);

function memoryPlot(page, model, owners, width) {
  const {blocks, run, operators} = model.memory, height = heightOf(width), count = Math.max(operators, 1);
  const unit = unitOf(run), ys = ticksTo(run / unit.size, 6);
  const xs = ticksTo(count, 8).filter(value => value <= count && Number.isInteger(value));
  const {element, px, py} = plotOf(width, height,
    {at: value => value / count, ticks: xs, text: String, title: 'operators of a run'},
    {at: linear(ys), ticks: ys, text: tickText(ys), title: unit.name}, 'memory plan');
  for (const block of blocks) {
    const x = px(block.first), low = py(block.offset / unit.size), high = py((block.offset + block.size) / unit.size), owner = owners.get(block.name);
    const rect = svg('rect', {class: `block ${block.scratch ? 'scratch' : 'tensor'}`, x, width: Math.max(0.8, px(block.last + 1) - x),
                              y: high, height: Math.max(0.8, low - high), on: owner && {click: () => page.pick(model, owner)}});
    element.append(withTip(rect, () => `${block.scratch ? 'scratch memory of ' : ''}${block.name}\n${bytesText(block.size)}, operators ${block.first + 1} to ${block.last + 1}`));
  }
  return element;
}
