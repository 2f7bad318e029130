#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the sentence embedding of this example on WordNet's glosses, and measures it: NumPy only.

usage: train_sentences.py [--evaluate]     trains, writes sentences.onnx, measures; --evaluate: only measures
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "common"))

import numpy as np

import training
from onnx_writer import node

WORDNET = os.environ.get("WORDNET", "/usr/share/wordnet")  # of Debian's package wordnet-base
MODEL = os.path.join(HERE, "sentences.onnx")

BUCKETS, DIMS = 8192, 32
PREFIX = 5  # letters
SEED, STEPS, BATCH, RATE, TEMPERATURE = 1, 3000, 512, 3e-3, 0.07
HELD_OUT = 20  # one synset of this many


def fnv1a(data):
    """FNV-1a with 32 bits."""
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def tokens(text, cache={}):
    """Two buckets for each word, and for the prefix of longer words, as in sentence_search.py."""
    ids = []
    for word in re.findall(rb"[a-z0-9\x80-\xff]+", text.encode().lower()):
        if word not in cache:
            pieces = [word] + ([word[:PREFIX] + b"-"] if len(word) > PREFIX else [])
            hashes = [fnv1a(piece) for piece in pieces]
            cache[word] = [h % BUCKETS for h in hashes] + [h // BUCKETS % BUCKETS for h in hashes]
        ids += cache[word]
    return ids


class Synset:
    """A meaning: its words, its definition, its examples, the file (topic) that it belongs to."""

    def __init__(self, line):
        head, gloss = line.split(" | ", 1)
        fields = head.split()
        self.topic, n_words = int(fields[1]), int(fields[3], 16)
        words = [re.sub(r"\(.*\)", "", word).replace("_", " ") for word in fields[4:4 + 2 * n_words:2]]
        pointers = fields[5 + 2 * n_words:]
        self.related = [(pointers[i + 2].replace("s", "a"), pointers[i + 1]) for i in range(0, 4 * int(fields[4 + 2 * n_words]), 4)
                        if pointers[i] != "!"]  # no antonyms
        definition = " ".join(part for part in gloss.split(";") if '"' not in part)
        self.words, self.definition = tokens(" ".join(words)), tokens(definition)
        self.examples = tokens(" ".join(re.findall(r'"([^"]*)"', gloss)))


def read_wordnet():
    """Training synsets, held-out synsets, and for each training synset the indices of related ones."""
    synsets = {}
    for letter, name in ("n", "noun"), ("v", "verb"), ("a", "adj"), ("r", "adv"):
        with open(os.path.join(WORDNET, "data." + name), encoding="latin-1") as file:
            for line in file:
                if not line.startswith(" "):
                    synset = Synset(line)
                    if synset.definition and synset.words:
                        synsets[letter, line[:8]] = synset
    keys = list(synsets)
    held = set(range(0, len(keys), HELD_OUT))
    place = {key: i for i, key in enumerate(key for i, key in enumerate(keys) if i not in held)}
    trained = [synsets[key] for key in place]
    return trained, [synsets[keys[i]] for i in sorted(held)], [[place[k] for k in s.related if k in place] for s in trained]


class Network:
    """mean of token vectors -> x + relu(x W1 + b1) W2 -> unit length"""

    def __init__(self, rng, hidden=64):
        def normal(scale, *dims):
            return rng.normal(0, scale, dims).astype(np.float32)
        self.params = {"table": normal(0.1, BUCKETS, DIMS), "w1": normal(0.3, DIMS, hidden),
                       "b1": np.zeros(hidden, np.float32), "w2": normal(0.05, hidden, DIMS)}

    def forward(self, bags):
        """Unit vectors [bags, DIMS] of lists of ids, and what backward needs."""
        p = self.params
        ids, lengths = np.concatenate(bags), np.array([len(bag) for bag in bags])
        mean = np.add.reduceat(p["table"][ids], np.cumsum(lengths) - lengths) / lengths[:, None].astype(np.float32)
        hidden = np.maximum(mean @ p["w1"] + p["b1"], 0)
        out = mean + hidden @ p["w2"]
        norm = np.sqrt((out * out).sum(1, keepdims=True)) + 1e-6
        return out / norm, (ids, lengths, mean, hidden, norm)

    def backward(self, unit, state, grad):
        """Gradients of the parameters from that of the unit vectors."""
        p, (ids, lengths, mean, hidden, norm) = self.params, state
        d_out = (grad - unit * (grad * unit).sum(1, keepdims=True)) / norm
        d_hidden = d_out @ p["w2"].T * (hidden > 0)
        d_mean = d_out + d_hidden @ p["w1"].T
        d_tokens = np.repeat(d_mean / lengths[:, None], lengths, axis=0)
        table = np.stack([np.bincount(ids, d_tokens[:, d], BUCKETS) for d in range(DIMS)], 1)
        return {"table": table.astype(np.float32), "w1": mean.T @ d_hidden, "b1": d_hidden.sum(0), "w2": hidden.T @ d_out}


def pair_of(rng, synsets, related, i):
    """Two texts of one meaning, or of two related meanings."""
    one = synsets[i]
    if related[i] and rng.random() < 0.5:
        other = synsets[related[i][rng.integers(len(related[i]))]]
        return one.words + one.definition, other.words + other.definition
    if one.examples and rng.random() < 0.7:
        return one.examples, one.words + one.definition
    return one.words, one.definition


def train():
    rng = np.random.default_rng(SEED)
    synsets, held, related = read_wordnet()
    net = Network(rng)
    adam = training.Adam(net.params)
    for step in range(STEPS):
        pairs = [pair_of(rng, synsets, related, i) for i in rng.integers(0, len(synsets), BATCH)]
        a, state_a = net.forward([p[0] for p in pairs])
        b, state_b = net.forward([p[1] for p in pairs])
        # Each text finds its partner among those of the batch (InfoNCE), in both directions.
        scores = a @ b.T / TEMPERATURE
        ab, ba = softmax(scores), softmax(scores.T)
        grad = (ab + ba.T - 2 * np.eye(BATCH, dtype=np.float32)) / (2 * BATCH * TEMPERATURE)
        grads = net.backward(a, state_a, grad @ b)
        for name, value in net.backward(b, state_b, grad.T @ a).items():
            grads[name] += value
        adam.step(grads, RATE * training.cosine(step, STEPS))
        if step % 500 == 0:
            print(f"step {step}: loss {-np.log(np.diag(ab)).mean():.3f}, same topic {same_topic(lambda bags: net.forward(bags)[0], held[::3]):.3f}", flush=True)
    return net.params


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def same_topic(embed, synsets):
    """The share of definitions whose nearest other definition is of the same topic; embed: bags of ids -> unit vectors."""
    bags = [s.definition for s in synsets]
    units = np.concatenate([embed(bags[i:i + 500]) for i in range(0, len(bags), 500)])
    topics = np.array([s.topic for s in synsets])
    scores = units @ units.T
    np.fill_diagonal(scores, -2)
    return (topics[scores.argmax(1)] == topics).mean()


def write_model(params):
    """ONNX: ids and mask of a batch of sentences in, unit vectors out; the table has 8 bits."""
    scale = np.abs(params["table"]).max(0) / 127
    constants = {"table": np.rint(params["table"] / scale).astype(np.int8), "scale": scale.astype(np.float32),
                 "w1": params["w1"], "b1": params["b1"], "w2": params["w2"], "axis1": np.array([1], np.int64), "one": np.float32(1)}
    nodes = [
        node("Gather", ["table", "ids"], ["bytes"]),
        node("Cast", ["bytes"], ["vectors"], to=1),
        node("Unsqueeze", ["mask", "axis1"], ["mask_row"]),
        node("MatMul", ["mask_row", "vectors"], ["sum_row"]),
        node("Squeeze", ["sum_row", "axis1"], ["sum"]),
        node("ReduceSum", ["mask", "axis1"], ["length"], keepdims=1),
        node("Max", ["length", "one"], ["divisor"]),
        node("Div", ["sum", "divisor"], ["mean_bytes"]),
        node("Mul", ["mean_bytes", "scale"], ["mean"]),
        node("Gemm", ["mean", "w1", "b1"], ["dense"]),
        node("Relu", ["dense"], ["hidden"]),
        node("MatMul", ["hidden", "w2"], ["change"]),
        node("Add", ["mean", "change"], ["embedding"]),
        node("LpNormalization", ["embedding"], ["unit"], axis=-1, p=2)]
    training.write_model(MODEL, nodes, [("ids", "int64", ["batch", "sequence"]), ("mask", "float", ["batch", "sequence"])],
                         [("unit", "float", ["batch", DIMS])], constants)


def run_model(session, bags):
    """Unit vectors, as LightNet computes them."""
    ids = np.zeros((len(bags), max(map(len, bags))), np.int64)
    mask = np.zeros(ids.shape, np.float32)
    for row, bag in enumerate(bags):
        ids[row, :len(bag)], mask[row, :len(bag)] = bag, 1
    return session.run(["unit"], {"ids": ids, "mask": mask})[0]


def evaluate():
    """On held-out definitions, beside a model with random vectors: that compares bags of words."""
    import lightnet
    session = lightnet.InferenceSession(MODEL, threads=1)
    _, held, _ = read_wordnet()
    trained = same_topic(lambda bags: run_model(session, bags), held)
    untrained = same_topic(lambda bags: Network(np.random.default_rng(SEED)).forward(bags)[0], held)
    print(f"{len(held)} held-out definitions, the closest one is of the same topic: {trained:.1%}, untrained {untrained:.1%}")


def main():
    if sys.argv[1:] != ["--evaluate"]:
        write_model(train())
    evaluate()


if __name__ == "__main__":
    main()
