// SPDX-License-Identifier: Apache-2.0
// Checks of a page of `lightnet report`, for report_pages.py: each returns a list of faults.
'use strict';

const pageChecks = (function () {
  const rectOf = element => element.getBoundingClientRect();
  const nameOf = element => (element.querySelector('.label, .sub, .title') || element).textContent.slice(0, 60);
  const EDGE = 1; // pixels of rounding and of lines

  function overlap(a, b) {
    return a.left + EDGE < b.right && b.left + EDGE < a.right && a.top + EDGE < b.bottom && b.top + EDGE < a.bottom;
  }

  // Boxes and open groups; one may contain another one only as its part.
  function boxes() {
    const all = [...document.querySelectorAll('#graph .box, #graph .frame')].map(element => ({
      element, rect: rectOf(element.matches('.frame') ? element.querySelector(':scope > .card') : element)}));
    const faults = [];
    all.sort((a, b) => a.rect.top - b.rect.top);
    all.forEach((a, i) => {
      for (let k = i + 1; k < all.length && all[k].rect.top < a.rect.bottom; k++) {
        const b = all[k];
        const contains = (a.element.contains(b.element) && inside(b.rect, a.rect)) || (b.element.contains(a.element) && inside(a.rect, b.rect));
        if (!contains && overlap(a.rect, b.rect)) faults.push(`'${nameOf(a.element)}' overlaps '${nameOf(b.element)}'`);
      }
    });
    return faults;
  }

  function inside(a, b) {
    return a.left >= b.left - EDGE && a.right <= b.right + EDGE && a.top >= b.top - EDGE && a.bottom <= b.bottom + EDGE;
  }

  // Points of edges are outside of all boxes, and of titles.
  function edges() {
    const solid = [...document.querySelectorAll('#graph .box, #graph .frame > .head')].map(element => ({
      element, rect: rectOf(element.querySelector('.card') || element)}));
    const faults = [];
    for (const path of document.querySelectorAll('#graph .edge')) {
      const matrix = path.getScreenCTM(), length = path.getTotalLength();
      for (let at = 0; at < length; at += 6) {
        const point = path.getPointAtLength(at).matrixTransform(matrix);
        const hit = solid.find(({rect}) => point.x > rect.left + 2 && point.x < rect.right - 2 && point.y > rect.top + 2 && point.y < rect.bottom - 2);
        if (hit) {
          faults.push(`an edge runs behind '${nameOf(hit.element)}'`);
          break;
        }
      }
    }
    return faults;
  }

  // The texts of a box are within it, and apart.
  function labels() {
    const faults = [];
    for (const box of document.querySelectorAll('#graph .box')) {
      const card = rectOf(box.querySelector('.card:last-of-type') || box), texts = [...box.querySelectorAll('text')].filter(text => text.textContent);
      const rects = texts.map(rectOf);
      rects.forEach((rect, i) => {
        if (rect.left < card.left - EDGE || rect.right > card.right + EDGE + 4) faults.push(`'${texts[i].textContent}' leaves its box`);
        rects.slice(0, i).forEach((other, k) => {
          const rows = Math.abs(other.top - rect.top) < 3;
          if (rows && overlap(rect, other)) faults.push(`'${texts[i].textContent}' overlaps '${texts[k].textContent}'`);
        });
      });
    }
    return faults;
  }

  // The texts of each plot are apart, and within the page.
  function plots() {
    const faults = [];
    for (const plot of document.querySelectorAll('.plot')) {
      const texts = [...plot.querySelectorAll('text')];
      texts.forEach((text, i) => {
        const rect = rectOf(text);
        if (rect.left < 0 || rect.right > innerWidth) faults.push(`'${text.textContent}' leaves the page`);
        for (const other of texts.slice(0, i))
          if (overlap(rect, rectOf(other))) faults.push(`'${text.textContent}' overlaps '${other.textContent}' in ${plot.getAttribute('aria-label')}`);
      });
      if (!plot.querySelector('.block, .dot, .line')) faults.push(`${plot.getAttribute('aria-label')} is empty`);
    }
    return faults;
  }

  // The names of the roofline's lines are over no circle.
  function roofs() {
    const circles = [...document.querySelectorAll('#roofline .dot')].map(dot => {
      const rect = rectOf(dot);
      return {x: (rect.left + rect.right) / 2, y: (rect.top + rect.bottom) / 2, r: Number(dot.getAttribute('r'))};
    });
    return [...document.querySelectorAll('#roofline [data-label]')].filter(text => {
      const {left, right, top, bottom} = rectOf(text);
      return circles.some(({x, y, r}) => Math.hypot(x - Math.min(Math.max(x, left), right), y - Math.min(Math.max(y, top), bottom)) < r);
    }).map(text => `'${text.textContent}' is over a circle of the roofline`);
  }

  // The numbers of an axis have equally many decimals, except for powers of ten.
  function ticks() {
    const faults = [];
    for (const plot of document.querySelectorAll('.plot:not([aria-label=roofline])'))
      for (const axis of ['.tick-x', '.tick-y']) {
        const texts = [...plot.querySelectorAll(axis)].map(text => text.textContent);
        const decimals = new Set(texts.filter(text => !text.includes('e')).map(text => (text.split('.')[1] || '').length));
        if (!texts.length || decimals.size > 1) faults.push(`${plot.getAttribute('aria-label')} has the ticks ${texts.join(' ')}`);
      }
    return faults;
  }

  // Plots beside each other have their axes at one height.
  function rows() {
    const bottoms = [...document.querySelectorAll('.columns .plot')].map(plot => rectOf(plot).bottom), tops = [...document.querySelectorAll('.columns section')].map(section => rectOf(section).top);
    return bottoms.length > 1 && Math.abs(tops[0] - tops[1]) < 1 && Math.abs(bottoms[0] - bottoms[1]) > 1 ? [`plots side by side end at ${bottoms.join(' and ')}`] : [];
  }

  // The title of a plot's axis is below what precedes the plot.
  function titles() {
    return [...document.querySelectorAll('.plot')].filter(plot => {
      const before = plot.parentElement.previousElementSibling;
      return before && rectOf(plot.querySelector('.axis-title')).top < rectOf(before).bottom + 8;
    }).map(plot => `the axis title of ${plot.getAttribute('aria-label')} touches what is above it`);
  }

  // No text leaves its element, and no table its section.
  function clipped() {
    const texts = [...document.querySelectorAll('h1, h2, h3, h4, p, dt, dd, small, th, td, li, button, .scroll, .switch, .legend span')];
    return texts.filter(element => element.clientWidth && element.scrollWidth > element.clientWidth + 1)
      .map(element => `${element.tagName} '${element.textContent.slice(0, 60)}' needs ${element.scrollWidth} pixels, has ${element.clientWidth}`);
  }

  // On phones, controls are as high and as wide as a thumb needs.
  function controls() {
    const THUMB = 44;
    if (innerWidth > 620) return [];
    return [...document.querySelectorAll('button, input')].filter(element => !element.closest('.stack') && element.offsetParent).filter(element => {
      const rect = rectOf(element);
      return rect.width < THUMB - 0.5 || rect.height < THUMB - 0.5;
    }).map(element => `the control '${element.textContent.slice(0, 40)}' has ${rectOf(element).width} x ${rectOf(element).height} pixels`);
  }

  const parts = color => (color.match(/[\d.]+/g) || []).map(Number);
  function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b].map(value => value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  }

  function groundOf(element) {
    for (let at = element; at; at = at.parentElement) {
      const color = parts(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  }

  // Texts differ from their ground, by the ratio that WCAG 2 asks of small ones.
  function contrast() {
    const LEAST = 4.5, faults = new Set();
    for (const element of document.querySelectorAll('main *')) {
      const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join('').trim();
      if (!text || !element.getClientRects().length) continue;
      const style = getComputedStyle(element), box = element.closest('.box, .frame');
      const card = box && box.querySelector(box.matches('.frame') ? ':scope > .head' : '.card:last-of-type');
      const fill = card && parts(getComputedStyle(card).fill);
      const ground = fill && fill.length === 3 ? fill : groundOf(element);
      const [a, b] = [luminance(parts(element.closest('svg') ? style.fill : style.color)), luminance(ground)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < LEAST) faults.add(`'${text.slice(0, 40)}' in ${element.className.baseVal || element.className || element.tagName} has the contrast ${ratio.toFixed(2)}`);
    }
    return [...faults];
  }

  // Operators are as wide in the time line as they are long.
  function timeLine() {
    const stack = document.querySelector('.stack'), boxes = [...document.querySelectorAll('.stack button')];
    const data = JSON.parse(document.getElementById('data').textContent).models[0].compiled.boxes;
    const all = data.reduce((sum, box) => sum + Number(box.ms || 0), 0);
    return boxes.filter(button => Math.abs(rectOf(button).width - stack.clientWidth * data[button.dataset.box].ms / all) > 1.5)
      .map(button => `${button.getAttribute('aria-label')} is ${rectOf(button).width} pixels wide in the time line`);
  }

  // The canvas of a closed graph has no empty part below it, beyond the room for its buttons.
  function canvas() {
    const MOST = 380, view = rectOf(document.querySelector('#graph .canvas')), needed = rectOf(document.querySelector('#graph .canvas > svg > g')).height + 82;
    const least = innerWidth >= 900 ? MOST : 150;
    const faults = view.height > Math.max(least, needed) + 2 ? [`the canvas is ${view.height} pixels high, its graph needs ${needed}`] : [];
    return view.height < Math.min(MOST, needed) - 2 ? [...faults, `the canvas is only ${view.height} pixels high, its graph needs ${needed}`] : faults;
  }

  function width() {
    const over = document.documentElement.scrollWidth - innerWidth;
    return over > 0 ? [`the page is ${over} pixels too wide`] : [];
  }

  // The parts of the memory, with three digits each, add up to all of it.
  function sums() {
    const units = {'': 1, k: 1e3, M: 1e6, G: 1e9}, text = document.querySelector('#memory p.note').textContent;
    const sizes = [...text.matchAll(/([\d.]+)\s([kMG]?)B\b/g)].map(([, size, unit]) => size * units[unit]);
    const parts = text.includes('for loading') ? 3 : 2, sum = sizes.slice(0, parts).reduce((a, b) => a + b, 0);
    return Math.abs(sum - sizes[parts]) <= 0.015 * sum ? [] : [`memory of ${sum} bytes in parts, together ${sizes[parts]}: ${text}`];
  }

  return {graph: () => [...boxes(), ...edges(), ...labels()], canvas, contrast, plots, roofs,
          page: () => [...plots(), ...roofs(), ...ticks(), ...titles(), ...rows(), ...width(), ...clipped(), ...controls(), ...contrast(), ...timeLine(), ...sums()]};
}());
