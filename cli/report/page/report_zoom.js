// SPDX-License-Identifier: Apache-2.0
// Moves and scales the content of an SVG element: drag, pinch, Ctrl and the wheel.
'use strict';

const SCALE = {min: 0.04, max: 3, legible: 0.78}; // legible: text has 9 pixels
const MARGIN = {side: 16, end: 64}; // around a drawing; at its end there are buttons

// The scale at which a drawing is read from its top on, in a view of that width.
function readingScale(size, viewWidth) {
  const width = viewWidth - 2 * MARGIN.side;
  return Math.min(1, Math.max(Math.min(SCALE.legible, width / BOX.width), width / size.width));
}

function zoomOf(view, content) {
  const state = {x: 0, y: 0, scale: 1};
  const pointers = new Map();
  let moved = 0;

  function apply() {
    content.setAttribute('transform', `translate(${state.x} ${state.y}) scale(${state.scale})`);
  }

  // Scales around a point of the view.
  function scaleAt(x, y, factor) {
    const scale = Math.min(SCALE.max, Math.max(SCALE.min, state.scale * factor));
    state.x = x - (x - state.x) * scale / state.scale;
    state.y = y - (y - state.y) * scale / state.scale;
    state.scale = scale;
    apply();
  }

  function middle() {
    const points = [...pointers.values()];
    const x = points.reduce((sum, p) => sum + p.x, 0) / points.length, y = points.reduce((sum, p) => sum + p.y, 0) / points.length;
    return {x, y, spread: points.length > 1 ? Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y) : 0};
  }

  const pointOf = event => {
    const edge = view.getBoundingClientRect();
    return {x: event.clientX - edge.left, y: event.clientY - edge.top};
  };

  function release(event) {
    if (pointers.delete(event.pointerId)) view.classList.remove('moving');
  }

  view.addEventListener('pointerdown', event => {
    if (event.button) return;
    if (!pointers.size) moved = 0;
    pointers.set(event.pointerId, pointOf(event));
  });
  view.addEventListener('pointermove', event => {
    if (!event.buttons) release(event); // outside, before the view had the pointer
    if (!pointers.has(event.pointerId)) return;
    const before = middle();
    pointers.set(event.pointerId, pointOf(event));
    const after = middle();
    moved += Math.abs(after.x - before.x) + Math.abs(after.y - before.y);
    if (moved > 4 && !view.classList.contains('moving')) {
      view.classList.add('moving');
      view.setPointerCapture(event.pointerId);
    }
    state.x += after.x - before.x;
    state.y += after.y - before.y;
    apply();
    if (before.spread && after.spread) scaleAt(after.x, after.y, after.spread / before.spread);
  });
  for (const name of ['pointerup', 'pointercancel']) view.addEventListener(name, release);
  // A drag is no click.
  view.addEventListener('click', event => { if (moved > 4) { event.stopPropagation(); moved = 0; } }, true);
  view.addEventListener('wheel', event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = pointOf(event);
    scaleAt(at.x, at.y, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)));
  }, {passive: false});

  return {
    by(factor) { scaleAt(view.clientWidth / 2, view.clientHeight / 2, factor); },
    // All of a drawing. With `begin`, a position at its top: its width from the top on, but legible;
    // of what is wider than the view, the part around `begin`.
    fit(size, begin) {
      const whole = begin === undefined;
      const width = view.clientWidth - 2 * MARGIN.side, height = view.clientHeight - 2 * MARGIN.side;
      const fill = Math.min(1, width / size.width, height / size.height);
      state.scale = whole ? Math.max(SCALE.min, fill) : Math.max(fill, readingScale(size, view.clientWidth));
      const isWide = size.width * state.scale > view.clientWidth;
      state.x = view.clientWidth / 2 - (isWide && !whole ? begin : size.width / 2) * state.scale;
      state.y = whole ? (view.clientHeight - size.height * state.scale) / 2 : MARGIN.side;
      apply();
    },
    // Moves a rectangle of the content into view, if it is not.
    show(rect) {
      const into = (at, size, room) => Math.min(Math.max(at, MARGIN.side), Math.max(MARGIN.side, room - MARGIN.side - size));
      const x = state.x + rect.x * state.scale, y = state.y + rect.y * state.scale;
      state.x += into(x, rect.width * state.scale, view.clientWidth) - x;
      state.y += into(y, rect.height * state.scale, view.clientHeight) - y;
      apply();
    },
    move(dx) {
      state.x += dx;
      apply();
    },
    // Moves a rectangle of the content into the middle.
    center(rect) {
      state.scale = Math.max(state.scale, 0.7);
      state.x = view.clientWidth / 2 - (rect.x + rect.width / 2) * state.scale;
      state.y = view.clientHeight / 2 - (rect.y + Math.min(rect.height / 2, 200)) * state.scale;
      apply();
    },
    // Moves, and if necessary scales, so that the width of a rectangle is in view, or what is around position `middle` in it if text
    // would be too small.
    include(rect, middle) {
      const EDGE = 12;
      const scale = Math.min(state.scale, Math.max(SCALE.legible, (view.clientWidth - 2 * EDGE) / rect.width));
      state.y = state.y + rect.y * (state.scale - scale);
      state.x = state.x + rect.x * (state.scale - scale);
      state.scale = scale;
      const left = EDGE - rect.x * scale, right = left + view.clientWidth - 2 * EDGE - rect.width * scale;
      state.x = right >= left ? Math.max(Math.min(state.x, right), left) : Math.min(left, Math.max(right, view.clientWidth / 2 - middle * scale));
      apply();
    },
    // The position of a point of the content in the view, and the move that brings it there again.
    where(point) { return {x: state.x + point.x * state.scale, y: state.y + point.y * state.scale}; },
    bring(point, to) {
      state.x = to.x - point.x * state.scale;
      state.y = to.y - point.y * state.scale;
      apply();
    },
  };
}
