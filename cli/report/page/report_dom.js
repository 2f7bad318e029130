// SPDX-License-Identifier: Apache-2.0
// Elements, the tooltip, and numbers as text.
'use strict';

const SVG = 'http://www.w3.org/2000/svg';

// Attributes of an element: `on` has listeners, `style` properties, `color` a CSS color; null and false are left out.
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === 'color') {
      element.style.setProperty('--color', value);
    } else if (name === 'style') {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  return element;
}

function filled(element, attributes, children) {
  setAttributes(element, attributes);
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) element.append(child);
  return element;
}

const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

// A fact of a <dl class="facts">.
function factOf(name, value, detail, isWords) {
  return el('div', null, el('dt', null, name), el('dd', {class: isWords ? 'words' : null}, value, detail ? el('small', null, detail) : null));
}

// Replaces the children of an element. There may be more of them than a call can have arguments.
function refill(element, children) {
  element.replaceChildren();
  return filled(element, null, children);
}

// Listeners of an element that acts as a button.
const pressed = act => ({
  click: act,
  keydown: event => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    act();
  },
});

const colorOf = kind => `var(--${kind})`;

// A group of buttons, one of which is pressed: options {value: text}.
function switchOf(label, options, chosen, choose) {
  const buttons = Object.entries(options).map(([value, text]) => el('button', {
    type: 'button', 'aria-pressed': String(value === chosen), 'data-value': value, on: {click: () => press(value)}}, text));
  function press(value) {
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.value === value));
    choose(value);
  }
  return el('div', {class: 'switch', role: 'group', 'aria-label': label}, buttons);
}

// A section with a heading, and controls beside it.
function sectionOf(id, title, controls, ...content) {
  return el('section', {id, 'aria-label': title}, el('header', null, el('h2', null, title), controls), content);
}

// The types and the name of an operator in a row. The types are cut first: many operators have the same.
const nameOf = ({label, name}) => el('span', {class: 'name'}, el('span', null, label), ' ', el('span', {class: 'muted'}, name));

const MAX_ROWS = 30; // until all are wanted

// {controls, list}: rows, and a switch of their order. orders: {name: [title, items]}, the first one first; row(item): an element.
function rowList(orders, row) {
  const list = el('div', {class: 'rows'}), n = Object.values(orders)[0][1].length;
  let order = Object.keys(orders)[0], isWhole = n <= MAX_ROWS + 5;
  function draw() {
    const items = orders[order][1], shown = isWhole ? items : items.slice(0, MAX_ROWS);
    const more = isWhole ? null : el('button', {type: 'button', on: {click: () => { isWhole = true; draw(); }}}, `Show all ${n}`);
    refill(list, [shown.map(row), more]);
  }
  draw();
  const titles = Object.fromEntries(Object.entries(orders).map(([name, [title]]) => [name, title]));
  return {list, controls: switchOf('order', titles, order, name => { order = name; draw(); })};
}

// The tooltip: text() is evaluated when it is shown.
function withTip(element, text) {
  const tip = document.getElementById('tip');
  function move(event) {
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 16;
    tip.style.left = `${Math.max(8, x)}px`;
    tip.style.top = `${below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below}px`;
  }
  element.addEventListener('pointerenter', event => {
    tip.textContent = text();
    tip.hidden = false;
    move(event);
  });
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerleave', () => { tip.hidden = true; });
  return element;
}

// Numbers

const NO_BREAK = '\u00a0'; // a blank at which no line ends

// Not Math.max(...values): the number of arguments of a call is limited.
const maxOf = (values, least = -Infinity) => values.reduce((max, value) => Math.max(max, value), least);
const minOf = values => values.reduce((min, value) => Math.min(min, value), Infinity);

function digits(value, n) {
  return value.toLocaleString('en', {maximumSignificantDigits: n, useGrouping: false});
}

// "97.7 MB": three digits, or all of those before the point.
function withPrefix(value, unit, step = 1000) {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let i = 0;
  while (Math.abs(value) >= 999.5 && i < prefixes.length - 1) {
    value /= step;
    i++;
  }
  return `${digits(value, 3)}${NO_BREAK}${prefixes[i]}${unit}`.trim();
}

const bytesText = bytes => withPrefix(bytes, 'B');
const countText = n => n < 10000 ? String(n) : withPrefix(n, '');
function msText(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)}${NO_BREAK}s`;
  if (ms < 0.0995) return `${(ms * 1000).toFixed(1)}${NO_BREAK}µs`;
  return `${ms.toFixed(ms >= 100 ? 0 : ms >= 10 ? 1 : ms >= 1 ? 2 : 3)}${NO_BREAK}ms`;
}
const ratioText = ratio => ratio >= 99.95 ? digits(ratio, 3) : ratio.toFixed(ratio >= 9.995 ? 1 : 2);
const percentText = share => `${(100 * share).toFixed(share >= 0.0995 ? 0 : 1)} %`;
const shapeText = shape => !shape ? '' : shape.length ? shape.map(n => n === null ? '?' : n).join(' × ') : 'scalar';
const typeText = dtype => String(dtype).replace(/^TL_/, '').toLowerCase();
const plural = (n, word) => `${countText(n)} ${word}${n === 1 ? '' : 's'}`;

// Widths of text in the font of the page
const measure = document.createElement('canvas').getContext('2d');
function widthOf(text, size, weight = 400) {
  measure.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return measure.measureText(text).width;
}

// A name whose lines may end after its separators.
const breakable = name => name.split(/(?<=[./_:])/).flatMap((part, i) => i ? [el('wbr'), part] : [part]);

// The longest cut(n) that fits into `width` pixels; cut(length) is the whole text.
function longestFit(length, cut, width, size, weight) {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(cut(middle), size, weight) <= width) low = middle;
    else high = middle - 1;
  }
  return cut(low);
}

// Names keep both ends, since they often differ in the last part; other text keeps its beginning.
function fitted(text, width, size, weight = 400) {
  const cut = n => n === text.length ? text : `${text.slice(0, Math.ceil(n * 0.5))}…${text.slice(text.length - Math.floor(n * 0.5))}`;
  return longestFit(text.length, cut, width, size, weight);
}
function fittedStart(text, width, size, weight = 400) {
  return longestFit(text.length, n => n === text.length ? text : `${text.slice(0, n)}…`, width, size, weight);
}
