// SPDX-License-Identifier: Apache-2.0
// The order of the results of a search: guides before the reference, pages about LightNet's own
// development last. Sphinx's scores are 100 for a heading that is the word, 15 for a word of a
// title, 5 for one of the text.
"use strict";

const LESS = [ // share of the score by the begin of a page's name
  [/^(docs\/dev\/|docs\/documents|CONTRIBUTING|CODE_OF_CONDUCT|SECURITY|CHANGELOG|parts$)/, 0.3],
  [/^(lightnet|tensorlight|cli|fuzz|tests|bench|embed)\//, 0.3],
  [/^reference\/operators\//, 0.5],
  [/^reference\//, 1],
];
const GUIDE = 5; // of what a guide says: its title precedes headings of the reference

const IN_TITLE = 1.2; // of a page whose own title has the begin of the query

function isInTitle(title) {
  const query = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase();
  return query && title.toLowerCase().includes(query.slice(0, Math.max(4, query.length - 2)));
}

var Scorer = {
  score: ([page, title, anchor, , score]) => {
    const found = LESS.find(([names]) => names.test(page));
    return score * (found ? found[1] : anchor ? 1 : GUIDE) * (isInTitle(title) ? IN_TITLE : 1);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
