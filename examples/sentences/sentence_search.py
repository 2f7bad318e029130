#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: sentence_search.py MODEL FILE [QUERY]. Prints the three lines of FILE that are closest in meaning to the query.

Lines that begin with # are titles of sections. Without a query: how many lines have their closest line in their section.
"""
import re
import sys

import lightnet
import numpy as np

BUCKETS, PREFIX, BATCH = 8192, 5, 16


def fnv1a(data):
    """FNV-1a with 32 bits."""
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def token_ids(text):
    """Two buckets of the table for each word, and for the first letters of longer words: 'sailor' and 'sailo-'.

    Words that share one bucket rarely share the other.
    """
    pieces = []
    for word in re.findall(rb"[a-z0-9\x80-\xff]+", text.encode().lower()):
        pieces += [word, word[:PREFIX] + b"-"] if len(word) > PREFIX else [word]
    hashes = [fnv1a(piece) for piece in pieces]
    return [h % BUCKETS for h in hashes] + [h // BUCKETS % BUCKETS for h in hashes]


def embed(session, texts):
    """Unit vectors [texts, dims]."""
    vectors = []
    for first in range(0, len(texts), BATCH):
        batch = [token_ids(text) for text in texts[first:first + BATCH]]
        ids = np.zeros((len(batch), max(1, *map(len, batch))), np.int64)
        mask = np.zeros(ids.shape, np.float32)
        for row, tokens in enumerate(batch):
            ids[row, :len(tokens)], mask[row, :len(tokens)] = tokens, 1
        vectors += session.run(["unit"], {"ids": ids, "mask": mask})
    return np.concatenate(vectors)


def read_sections(file):
    """The sentences of a text file, and for each the number of its section."""
    sentences, sections, n = [], [], 0
    with open(file, encoding="utf-8") as lines:
        for line in lines.read().splitlines():
            n += line.startswith("#")
            if line and not line.startswith("#"):
                sentences.append(line)
                sections.append(n)
    return sentences, sections


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    model, file, *query = sys.argv[1:]
    session = lightnet.InferenceSession(model, threads=1)
    sentences, sections = read_sections(file)
    vectors = embed(session, sentences)
    if query:
        scores = vectors @ embed(session, query)[0]
        for i in np.argsort(-scores, kind="stable")[:3]:
            print(f"{scores[i]:.2f}  {sentences[i]}")
    else:
        scores = vectors @ vectors.T
        np.fill_diagonal(scores, -2)
        closest = scores.argmax(1)
        same = sum(sections[i] == sections[j] for i, j in enumerate(closest))
        print(f"{same} of {len(sentences)} sentences have their closest one in their section")


if __name__ == "__main__":
    main()
