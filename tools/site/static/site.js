// SPDX-License-Identifier: Apache-2.0
// The navigation shows the current page. Results of a search show the place that was found, and what
// kind of page it is. Pages that are opened as files may not read others, so texts.js has them all.
"use strict";

// The navigation

function showCurrent() {
  const scroll = document.querySelector(".sidebar-scroll");
  const current = scroll && [...scroll.querySelectorAll(".current > a, a.current")].pop();
  if (current) {
    const top = current.getBoundingClientRect().top - scroll.getBoundingClientRect().top;
    if (top > scroll.clientHeight - current.offsetHeight) {
      scroll.scrollBy({ top: top - scroll.clientHeight / 2, behavior: "instant" });
    }
  }
}

// Results of a search

const KINDS = [
  [/^reference\/command/, "manual page"], [/^reference\/c\//, "C"], [/^reference\/python/, "Python"],
  [/^reference\/operators/, "operators"], [/^reference\//, "reference"], [/^examples\//, "example"],
  [/^(docs\/dev\/|CONTRIBUTING|CODE_OF_CONDUCT|SECURITY|CHANGELOG|parts)/, "development"],
  [/^(docs\/|python\/|index)/, "guide"], [/./, "part of the tree"],
];
const HEADING = "\u0001"; // before each heading in a text
const LENGTH = 180; // of the text around a place

const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// The words of the query in a text: their begins, as a search for "quantize" also finds "quantization".
function patternOf(query) {
  const words = query.split(/\W+/).filter(word => word.length > 2).map(word => escaped(word.slice(0, Math.max(4, word.length - 2))));
  return words.length ? new RegExp(`\\b(?:${words.join("|")})\\w*`, "gi") : null;
}

// Text from `from` on, in which the words of the query are marked.
function excerpt(text, from, pattern) {
  const part = text.slice(from, from + LENGTH).replaceAll(HEADING, "");
  const cut = from + LENGTH < text.length ? part.slice(0, part.lastIndexOf(" ")) + " .." : part;
  const paragraph = document.createElement("p");
  paragraph.className = "description";
  let end = 0;
  for (const match of pattern ? cut.matchAll(pattern) : []) {
    paragraph.append(cut.slice(end, match.index));
    paragraph.append(Object.assign(document.createElement("mark"), { textContent: match[0] }));
    end = match.index + match[0].length;
  }
  paragraph.append(cut.slice(end));
  return paragraph;
}

// Where an excerpt begins: after a heading, or somewhat before a word of the query; -1: there is none.
function placeOf(text, heading, pattern) {
  if (heading) {
    const at = text.indexOf(`${HEADING} ${heading}`);
    return at < 0 ? at : at + heading.length + 3;
  }
  const at = pattern ? text.search(pattern) : -1;
  return at > 60 ? text.lastIndexOf(" ", at - 50) + 1 : Math.min(at, 0);
}

function describe(item, seen, pattern) {
  const link = item.querySelector("a");
  if (!link || item.dataset.described) {
    return;
  }
  item.dataset.described = "yes";
  const root = document.getElementById("documentation_options").dataset.url_root;
  const url = new URL(link.getAttribute("href"), location.href);
  const page = url.pathname.slice(new URL(root, location.href).pathname.length);
  const [, heading] = link.textContent.split(" > ");
  const key = `${page} ${link.textContent} ${heading ? url.hash : ""}`;
  const isName = item.querySelector("span"); // of a function and the like, which Sphinx describes
  if (seen.has(key) && !isName) {
    item.remove(); // found by its title and by its text
    return;
  }
  seen.add(key);
  const kind = document.createElement("span");
  kind.className = "kind";
  kind.textContent = KINDS.find(([names]) => names.test(page))[1];
  link.after(" ", kind);
  if (!isName && page in TEXTS) {
    const [description, text] = TEXTS[page];
    const at = placeOf(text, heading, pattern);
    item.append(at < 0 ? excerpt(description, 0, pattern) : excerpt(text, at, pattern));
  }
}

showCurrent();
const results = document.getElementById("search-results");
if (results) {
  const script = document.createElement("script");
  const pattern = patternOf(new URLSearchParams(location.search).get("q") || "");
  const seen = new Set();
  script.src = "_static/texts.js";
  script.onload = () => {
    const describeAll = () => {
      results.querySelectorAll("ul.search li").forEach(item => describe(item, seen, pattern));
      const status = results.querySelector(".search-summary");
      if (status && status.textContent.includes("categories")) {
        status.textContent = "No page has all of these words."; // there are no categories to select
      }
    };
    new MutationObserver(describeAll).observe(results, { childList: true, subtree: true });
    describeAll();
  };
  document.body.appendChild(script);
}
