// SPDX-License-Identifier: Apache-2.0
// Results of a search show the descriptions of their pages. Pages that are opened as files may not
// read others, so descriptions.js has them all.
"use strict";

function describe(item) {
  const link = item.querySelector("a");
  if (!link || item.querySelector("p.description")) {
    return;
  }
  const root = document.getElementById("documentation_options").dataset.url_root;
  const page = new URL(link.getAttribute("href"), location.href).pathname;
  const base = new URL(root, location.href).pathname;
  const isEntry = new URL(link.href).hash.length > 1;
  const text = DESCRIPTIONS[page.slice(base.length)];
  if (text && !isEntry) {
    const paragraph = document.createElement("p");
    paragraph.className = "description";
    paragraph.textContent = text;
    item.appendChild(paragraph);
  }
}

const results = document.getElementById("search-results");
if (results) {
  const script = document.createElement("script");
  script.src = "_static/descriptions.js";
  script.onload = () => {
    const describeAll = () => results.querySelectorAll("ul.search li").forEach(describe);
    new MutationObserver(describeAll).observe(results, { childList: true, subtree: true });
    describeAll();
  };
  document.body.appendChild(script);
}
