// SPDX-License-Identifier: Apache-2.0
// Language models: tokens per second against the length of the sequence.
'use strict';

// Of one model, or of two side by side.
function decodeSection(models) {
  const speeds = models.map(speedOf);
  return sectionOf('decode', 'Tokens per second', models.length > 1 ? legendOfModels(models) : null,
    models.length > 1 ? el('p', null, `After the prompt: ${speedText(speeds[0].ms, speeds[1].ms)}.`) : null,
    el('dl', {class: 'facts'}, speeds.flatMap(({facts}, i) => facts.map(([name, value, detail]) =>
      factOf(models.length > 1 ? `${LETTERS[i]}: ${name}` : name, value, detail)))),
    responsive(width => decodePlot(speeds.map(({rates}) => rates), width)),
    el('p', {class: 'note'}, 'Each point is a step of one token, the shortest of several rounds. The cache grows by one token with each step.'));
}

// {rates: [{length, rate}], ms: of a step, facts}
function speedOf({decode: {prompt, prompt_ms, steps}}) {
  const rates = steps.map((ms, i) => ({length: prompt + i + 1, rate: 1000 / ms})).filter(point => Number.isFinite(point.rate));
  const all = steps.reduce((sum, ms) => sum + ms, 0);
  const perSecond = (n, ms) => ms > 0 ? `${digits(1000 * n / ms, 3)} tokens/s` : 'unknown';
  return {rates, ms: all / steps.length, facts: [
    ['Prompt', perSecond(prompt, prompt_ms), `${plural(prompt, 'token')} in ${msText(prompt_ms)}`],
    ['Steps', perSecond(steps.length, all), `${plural(steps.length, 'token')} in ${msText(all)}`]]};
}

// A curve for each of `curves`.
function decodePlot(curves, width) {
  const points = curves.flat(), lengths = points.map(point => point.length);
  const height = Math.min(360, Math.max(240, width * 0.35)), first = minOf(lengths), last = maxOf(lengths, first + 1);
  const ys = ticksTo(maxOf(points.map(point => point.rate)), 5);
  const step = ticksTo(last - first, 8)[1];
  const xs = Array.from({length: last - first + 1}, (_, i) => first + i).filter(value => value % Math.max(1, Math.round(step)) === 0);
  const {element, px, py} = plotOf(width, height,
    {at: value => (value - first) / (last - first), ticks: xs, text: String, title: 'tokens of the sequence'},
    {at: linear(ys), ticks: ys, text: tickText(ys), title: 'tokens/s'}, 'tokens per second');
  curves.forEach((rates, i) => {
    const radius = rates.length > width / 12 ? 2 : 3.5;
    element.append(svg('path', {class: 'line', color: SIDES[i], d: rates.map((point, k) => `${k ? 'L' : 'M'}${px(point.length)} ${py(point.rate)}`).join('')}),
      ...rates.map(point => withTip(svg('circle', {class: 'step', color: SIDES[i], cx: px(point.length), cy: py(point.rate), r: radius}),
        () => `${curves.length > 1 ? `${LETTERS[i]}: ` : ''}${point.length} tokens: ${digits(point.rate, 3)} tokens/s`)));
  });
  return element;
}
