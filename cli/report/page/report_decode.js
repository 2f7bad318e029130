// SPDX-License-Identifier: Apache-2.0
// Language models: tokens per second against the length of the sequence.
'use strict';

function decodeSection(model) {
  const {prompt, prompt_ms, steps} = model.decode;
  const rates = steps.map((ms, i) => ({length: prompt + i + 1, rate: 1000 / ms})).filter(point => Number.isFinite(point.rate));
  const all = steps.reduce((sum, ms) => sum + ms, 0);
  return sectionOf('decode', 'Tokens per second', null,
    el('dl', {class: 'facts'}, factOf('Prompt', `${digits(1000 * prompt / prompt_ms, 3)} tokens/s`, `${prompt} tokens in ${msText(prompt_ms)}`),
      factOf('Steps', `${digits(1000 * steps.length / all, 3)} tokens/s`, `${steps.length} tokens in ${msText(all)}`)),
    responsive(width => decodePlot(rates, width)),
    el('p', {class: 'note'}, 'Each point is a step of one token, the shortest of several rounds. The cache grows by one token with each step.'));
}

function decodePlot(rates, width) {
  const height = Math.min(360, Math.max(240, width * 0.35)), first = rates[0].length, last = Math.max(rates[rates.length - 1].length, first + 1);
  const ys = ticksTo(maxOf(rates.map(point => point.rate)), 5);
  const step = ticksTo(last - first, 8)[1];
  const xs = Array.from({length: last - first + 1}, (_, i) => first + i).filter(value => value % Math.max(1, Math.round(step)) === 0);
  const {element, px, py} = plotOf(width, height,
    {at: value => (value - first) / (last - first), ticks: xs, text: String, title: 'tokens of the sequence'},
    {at: linear(ys), ticks: ys, text: value => digits(value, 3), title: 'tokens/s'}, 'tokens per second');
  element.append(svg('path', {class: 'line', d: rates.map((point, i) => `${i ? 'L' : 'M'}${px(point.length)} ${py(point.rate)}`).join('')}));
  for (const point of rates)
    element.append(withTip(svg('circle', {cx: px(point.length), cy: py(point.rate), r: 3.5, fill: 'var(--a)'}),
      () => `${point.length} tokens: ${digits(point.rate, 3)} tokens/s`));
  return element;
}
