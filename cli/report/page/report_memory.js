// SPDX-License-Identifier: Apache-2.0
// The memory plan: offsets over the operators of a run, without the constants.
'use strict';

// Moves blocks down over memory that only constants use.
function packedBlocks(blocks) {
  const sorted = [...blocks].sort((a, b) => a.offset - b.offset);
  let end = 0, gap = 0;
  const moved = new Map();
  for (const block of sorted) {
    if (block.offset > end) gap += block.offset - end;
    end = Math.max(end, block.offset + block.size);
    moved.set(block, block.offset - gap);
  }
  return {moved, size: end - gap};
}

function memorySection(page, model) {
  const {blocks, constants, size, bound} = model.memory;
  const run = blocks.filter(block => !block.reuses);
  const {moved, size: used} = packedBlocks(run);
  const rest = size - used - constants; // used before a run, or by nothing
  const facts = `${bytesText(used)} for the tensors of a run. Not drawn: ${bytesText(constants)} for weights and other constants` +
    (rest > 0 ? `, ${bytesText(rest)} for loading and alignment` : '') + `. Together ${bytesText(size)}` +
    (size > 1.005 * bound ? `, ${digits(size / bound, 3)} times the lower bound of any plan.` : ', the least that any plan needs.');
  const legend = el('div', {class: 'legend'}, el('span', {color: colorOf('convolution')}, el('i'), 'tensor'),
                    el('span', {color: colorOf('quantization')}, el('i'), 'scratch memory of an operator'));
  return sectionOf('memory', 'Memory over a run', legend,
    run.length ? responsive(width => memoryPlot(page, model, run, moved, used, width)) : el('p', {class: 'muted'}, 'A run needs no memory.'),
    el('p', {class: 'note'}, `${facts} The offset of each piece of memory is upward, the operators of a run are to the right: memory is used again when its tensor has had its last reader.`));
}

function memoryPlot(page, model, blocks, moved, used, width) {
  const boxes = model.graphs.compiled.timed, height = Math.min(460, Math.max(280, width * 0.5));
  const positions = boxes.map(box => box.position);
  const at = time => positions.filter(position => position < time).length; // operators before it
  const ends = blocks.map(block => ({block, first: at(block.first), last: Math.max(at(block.last + 1), at(block.first) + 1)}));
  const count = Math.max(boxes.length, 1);
  const ys = ticksTo(used / 1e6, 6), scale = ys[ys.length - 1] * 1e6;
  const xs = ticksTo(count, 8).filter(value => value <= count && Number.isInteger(value));
  const {element, area, px, py} = plotOf(width, height,
    {at: value => value / count, ticks: xs, text: String, title: 'operators of a run'},
    {at: value => value / (scale / 1e6), ticks: ys, text: value => digits(value, 3), title: 'MB'}, 'memory plan');
  for (const {block, first, last} of ends) {
    const low = moved.get(block) / 1e6, right = Math.min(px(last), area.left + area.width);
    const rect = svg('rect', {class: `block ${block.scratch ? 'scratch' : 'tensor'}`, x: px(first), width: Math.max(0.8, right - px(first)),
                              y: py(low + block.size / 1e6), height: Math.max(0.8, py(low) - py(low + block.size / 1e6))});
    const owner = boxes.find(box => box.operator === block.name || box.outputs.some(tensor => tensor.name === block.name));
    if (owner) rect.addEventListener('click', () => page.pick(model, owner));
    element.append(withTip(rect, () => `${block.scratch ? 'scratch memory of ' : ''}${block.name}\n${bytesText(block.size)}, operators ${first + 1} to ${last}`));
  }
  return element;
}
