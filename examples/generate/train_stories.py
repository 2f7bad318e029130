#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the tokenizer and the language model of this example on stories.py, and measures it: NumPy only.

usage: train_stories.py [--evaluate]     trains, writes model/, measures; --evaluate: only measures
"""
import collections
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "common"))

import numpy as np

import stories
import tokenizer
import training
from onnx_writer import node

MODEL = os.path.join(HERE, "model", "model.onnx")
TOKENS = os.path.join(HERE, "model", "tokenizer.json")
SETTINGS = os.path.join(HERE, "model", "generation_config.json")

END = "<|endoftext|>"
VOCABULARY, WIDTH, LAYERS, HEADS, GROUPS, HIDDEN = 1024, 128, 3, 4, 2, 256  # GROUPS: heads of keys and values
HEAD, BASE, EPSILON = WIDTH // HEADS, 10000.0, 1e-5
SEED, BATCH, LENGTH, WARM_UP = 1, 8, 256, 100
PHASES = [(2500, 3e-3, 0), (1500, 2e-3, 4)]  # steps, rate, how many texts of a batch begin with a story
TEXTS, HELD_OUT_SEED, HELD_OUT_TEXTS = 30000, 2, 500
f4 = np.float32


# ---- Tokenizer ----

def train_tokenizer():
    """Byte-level BPE (Sennrich et al. 2016): merges the most frequent pair until the vocabulary is full."""
    rng = random.Random(SEED)
    counts = collections.Counter(piece for _ in range(3000) for piece in tokenizer.split(stories.story(rng)))
    words = {word: [tokenizer.LETTERS[byte] for byte in word.encode()] for word in counts}
    vocab, merges = [END] + sorted(tokenizer.LETTERS), []
    while len(vocab) < VOCABULARY:
        pairs = collections.Counter()
        for word, parts in words.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(list(best))
        vocab.append("".join(best))
        for parts in words.values():
            for i in range(len(parts) - 1):
                if tuple(parts[i:i + 2]) == best:
                    parts[i:i + 2] = [parts[i] + parts[i + 1], ""]
            parts[:] = filter(None, parts)
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    data = {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [{"id": 0, "content": END, "single_word": False, "lstrip": False, "rstrip": False,
                              "normalized": False, "special": True}],
            "normalizer": None, "pre_tokenizer": level, "post_processor": None, "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": {token: i for i, token in enumerate(vocab)}, "merges": [" ".join(pair) for pair in merges]}}
    os.makedirs(os.path.dirname(TOKENS), exist_ok=True)
    with open(TOKENS, "w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, indent=0)
        file.write("\n")


def token_stream(seed, n):
    """The ids of n stories, each with the end of text after it."""
    rng, tokens, known, ids = random.Random(seed), tokenizer.Tokenizer(TOKENS), {}, []
    for _ in range(n):
        for piece in tokenizer.split(stories.story(rng)):
            if piece not in known:
                known[piece] = tokens.encode(piece.encode())
            ids += known[piece]
        ids.append(tokens.id_of(END))
    return np.array(ids, np.int64)


# ---- Network: a decoder like LLaMA (RMSNorm, rotary positions, grouped keys and values, SwiGLU, tied embedding) ----

def new_params(rng):
    def normal(rows, columns, scale=1.0):
        return rng.normal(0, scale * rows**-0.5, (rows, columns)).astype(f4)
    params = {"embedding": rng.normal(0, 0.05, (VOCABULARY, WIDTH)).astype(f4), "norm": np.ones(WIDTH, f4)}
    for i in range(LAYERS):
        params.update({
            f"{i}.norm1": np.ones(WIDTH, f4), f"{i}.norm2": np.ones(WIDTH, f4),
            f"{i}.q": normal(WIDTH, HEADS * HEAD), f"{i}.k": normal(WIDTH, GROUPS * HEAD),
            f"{i}.v": normal(WIDTH, GROUPS * HEAD), f"{i}.o": normal(WIDTH, WIDTH, 0.5),
            f"{i}.gate": normal(WIDTH, HIDDEN), f"{i}.up": normal(WIDTH, HIDDEN), f"{i}.down": normal(HIDDEN, WIDTH, 0.5)})
    return params


def frequencies():
    return (BASE ** (-np.arange(0, HEAD, 2, dtype=f4) / HEAD)).astype(f4)


def rotary(length):
    """Cosines and sines [length, HEAD] of each position; both halves of a head have the same angles."""
    angles = np.arange(length, dtype=f4)[:, None] * np.tile(frequencies(), 2)
    return np.cos(angles), np.sin(angles)


def swap_halves(x, sign):
    """[.., a, b] -> [.., -sign b, sign a]"""
    a, b = np.split(x, 2, -1)
    return np.concatenate([-sign * b, sign * a], -1)


def rms_norm(x, gain):
    inverse = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + f4(EPSILON))
    return x * inverse * gain, inverse


def rms_norm_back(x, gain, inverse, grad):
    """Gradients of x and of gain."""
    unit = x * inverse
    scaled = grad * gain
    return inverse * (scaled - unit * (scaled * unit).mean(-1, keepdims=True)), (grad * unit).reshape(-1, len(gain)).sum(0)


def flat(x):
    return x.reshape(-1, x.shape[-1])


class Network:
    def __init__(self, rng):
        self.params = new_params(rng)

    def forward(self, ids):
        """ids [batch, length] -> logits [batch, length, VOCABULARY], and what backward needs."""
        p, saved = self.params, {"ids": ids}
        x, turn = p["embedding"][ids], rotary(ids.shape[1])
        for i in range(LAYERS):
            x = x + self._attention(x, i, turn, saved)
            x = x + self._feed_forward(x, i, saved)
        y, inverse = rms_norm(x, p["norm"])
        saved["end"] = x, y, inverse
        return y @ p["embedding"].T, saved

    def _attention(self, x, i, turn, saved):
        p, (n, length, _), (cos, sin) = self.params, x.shape, turn
        h, inverse = rms_norm(x, p[f"{i}.norm1"])
        q, k, v = ((h @ p[f"{i}.{name}"]).reshape(n, length, -1, HEAD).transpose(0, 2, 1, 3) for name in "qkv")
        q, k = (y * cos + swap_halves(y, f4(1)) * sin for y in (q, k))
        # The heads of a group are rows of one matrix, since they share keys and values.
        q = (q * f4(HEAD**-0.5)).reshape(n, GROUPS, -1, HEAD)
        scores = q @ k.swapaxes(-1, -2)
        hidden = np.triu(np.ones((length, length), bool), 1)
        view = scores.reshape(n, GROUPS, -1, length, length)
        view[..., hidden] = -np.inf
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        out = (scores @ v).reshape(n, HEADS, length, HEAD).transpose(0, 2, 1, 3).reshape(n, length, WIDTH)
        saved[i, "attention"] = x, h, inverse, q, k, v, scores, out, turn
        return out @ p[f"{i}.o"]

    def _feed_forward(self, x, i, saved):
        p = self.params
        h, inverse = rms_norm(x, p[f"{i}.norm2"])
        gate, up = h @ p[f"{i}.gate"], h @ p[f"{i}.up"]
        share = 1 / (1 + np.exp(-gate))
        saved[i, "feed_forward"] = x, h, inverse, gate, up, share
        return (gate * share * up) @ p[f"{i}.down"]

    def backward(self, saved, grad):
        """Gradients of the parameters from that of the logits."""
        p, grads = self.params, {}
        x, y, inverse = saved["end"]
        grads["embedding"] = flat(grad).T @ flat(y)
        d, grads["norm"] = rms_norm_back(x, p["norm"], inverse, grad @ p["embedding"])
        for i in reversed(range(LAYERS)):
            d = d + self._feed_forward_back(i, saved, d, grads)
            d = d + self._attention_back(i, saved, d, grads)
        np.add.at(grads["embedding"], saved["ids"].ravel(), flat(d))
        return grads

    def _attention_back(self, i, saved, grad, grads):
        p, (x, h, inverse, q, k, v, scores, out, (cos, sin)) = self.params, saved[i, "attention"]
        n, length, _ = x.shape
        grads[f"{i}.o"] = flat(out).T @ flat(grad)
        d = (grad @ p[f"{i}.o"].T).reshape(n, length, HEADS, HEAD).transpose(0, 2, 1, 3).reshape(n, GROUPS, -1, HEAD)
        d_v = scores.swapaxes(-1, -2) @ d
        d_scores = d @ v.swapaxes(-1, -2)
        d_scores -= (d_scores * scores).sum(-1, keepdims=True)
        d_scores *= scores
        d_k = d_scores.swapaxes(-1, -2) @ q
        d_q = (d_scores @ k).reshape(n, HEADS, length, HEAD) * f4(HEAD**-0.5)
        d_q, d_k = (y * cos + swap_halves(y * sin, f4(-1)) for y in (d_q, d_k))
        d_h = 0
        for name, y in ("q", d_q), ("k", d_k), ("v", d_v):
            y = y.transpose(0, 2, 1, 3).reshape(n, length, -1)
            grads[f"{i}.{name}"] = flat(h).T @ flat(y)
            d_h = d_h + y @ p[f"{i}.{name}"].T
        d_x, grads[f"{i}.norm1"] = rms_norm_back(x, p[f"{i}.norm1"], inverse, d_h)
        return d_x

    def _feed_forward_back(self, i, saved, grad, grads):
        p, (x, h, inverse, gate, up, share) = self.params, saved[i, "feed_forward"]
        silu = gate * share
        grads[f"{i}.down"] = flat(silu * up).T @ flat(grad)
        d = grad @ p[f"{i}.down"].T
        d_up, d_gate = d * silu, d * up * (share + silu * (1 - share))
        grads[f"{i}.up"], grads[f"{i}.gate"] = flat(h).T @ flat(d_up), flat(h).T @ flat(d_gate)
        d_h = d_up @ p[f"{i}.up"].T + d_gate @ p[f"{i}.gate"].T
        d_x, grads[f"{i}.norm2"] = rms_norm_back(x, p[f"{i}.norm2"], inverse, d_h)
        return d_x


def loss_of(logits, targets):
    """The mean cross-entropy in nats, and its gradient, which overwrites the logits."""
    logits = flat(logits)
    logits -= logits.max(-1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(-1, keepdims=True)
    rows = np.arange(len(logits)), targets.ravel()
    loss = -np.log(logits[rows] + f4(1e-30)).mean()
    logits[rows] -= 1
    logits /= f4(len(logits))
    return loss, logits.reshape(*targets.shape, -1)


def train():
    stream = token_stream(SEED, TEXTS)
    # Texts that begin with a story: what it draws once, the model has seen when it returns.
    begins = np.flatnonzero(stream == 0)[:-LENGTH] + 1
    net = Network(np.random.default_rng(SEED))
    print(f"{len(stream)} tokens, {sum(p.size for p in net.params.values())} parameters", flush=True)
    for phase, (steps, rate, n_begins) in enumerate(PHASES):
        rng, adam = np.random.default_rng([SEED, phase]), training.Adam(net.params)
        for step in range(steps):
            places = rng.integers(0, len(stream) - LENGTH - 1, BATCH)
            places[:n_begins] = rng.choice(begins, n_begins)
            text = stream[places[:, None] + np.arange(LENGTH + 1)]
            logits, saved = net.forward(text[:, :-1])
            loss, grad = loss_of(logits, text[:, 1:])
            grads = net.backward(saved, grad)
            norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
            now = rate * min(1, (step + 1) / WARM_UP) * training.cosine(step, steps)
            adam.step({name: g * min(f4(1), f4(1 / norm)) for name, g in grads.items()}, now)
            if step % 50 == 0:
                print(f"step {step}: loss {loss:.3f}", flush=True)
    return net.params


# ---- ONNX, with the names and in the operators of Hugging Face's exporters ----

class Graph:
    """Nodes and constants; op() returns the name of its output."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def op(self, kind, *inputs, out=None, **attributes):
        names = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        out = out or f"{kind}_{len(self.nodes)}"
        self.nodes.append(node(kind, names, [out], **attributes))
        return out

    def constant(self, value):
        array = np.asarray(value)
        if array.dtype != f4:
            array = array.astype(np.int64)
        name = next((n for n, c in self.constants.items() if c.dtype == array.dtype and np.array_equal(c, array)), None)
        if name is None:
            name = f"constant_{len(self.constants)}"
            self.constants[name] = array
        return name

    def weight(self, name, array):
        """A matrix in 8 bits with a scale for each column; the runtime widens it when it loads the model."""
        scale = np.abs(array).max(0) / 127
        self.constants[name], self.constants[name + ".scale"] = np.rint(array / scale).astype(np.int8), scale.astype(f4)
        return self.op("Mul", self.op("Cast", name, to=1), name + ".scale")


def size(graph, x, axis):
    return graph.op("Gather", graph.op("Shape", x), axis, axis=0)


def add_mask(g):
    """[batch, 1, sequence, total]: 0 where a token may see a key, else the lowest float."""
    past, new = size(g, "past_key_values.0.key", 2), size(g, "input_ids", 1)
    total = g.op("Add", past, new)
    tokens, keys = g.op("Range", past, total, 1), g.op("Range", 0, total, 1)
    is_before = g.op("LessOrEqual", keys, g.op("Unsqueeze", tokens, [1]))
    is_text = g.op("Unsqueeze", g.op("Cast", "attention_mask", to=9), [1, 2])
    return g.op("Where", g.op("And", is_before, is_text), f4(0), np.finfo(f4).min)


def add_turns(g):
    """Cosines and sines [batch, 1, sequence, HEAD] of the positions."""
    places = g.op("Unsqueeze", g.op("Cast", "position_ids", to=1), [2])
    angles = g.op("Mul", places, frequencies())
    angles = g.op("Unsqueeze", g.op("Concat", angles, angles, axis=-1), [1])
    return g.op("Cos", angles), g.op("Sin", angles)


def add_norm(g, x, gain):
    mean = g.op("ReduceMean", g.op("Pow", x, f4(2)), axes=[-1], keepdims=1)
    root = g.op("Sqrt", g.op("Add", mean, f4(EPSILON)))
    return g.op("Mul", g.op("Div", x, root), gain)


def add_rotary(g, x, turns):
    first = g.op("Slice", x, [0], [HEAD // 2], [3])
    second = g.op("Slice", x, [HEAD // 2], [HEAD], [3])
    turned = g.op("Concat", g.op("Neg", second), first, axis=-1)
    return g.op("Add", g.op("Mul", x, turns[0]), g.op("Mul", turned, turns[1]))


def add_repeat(g, x):
    """The keys, or values, of a group for each of its heads."""
    wide = g.op("Expand", g.op("Unsqueeze", x, [2]), [1, 1, HEADS // GROUPS, 1, 1])
    return g.op("Reshape", wide, [0, HEADS, -1, HEAD])


def add_attention(g, h, i, weights, mask, turns):
    def heads(name, n):
        return g.op("Transpose", g.op("Reshape", g.op("MatMul", h, weights[f"{i}.{name}"]), [0, 0, n, HEAD]), perm=[0, 2, 1, 3])
    q, k, v = add_rotary(g, heads("q", HEADS), turns), add_rotary(g, heads("k", GROUPS), turns), heads("v", GROUPS)
    k = g.op("Concat", f"past_key_values.{i}.key", k, out=f"present.{i}.key", axis=2)
    v = g.op("Concat", f"past_key_values.{i}.value", v, out=f"present.{i}.value", axis=2)
    scores = g.op("MatMul", q, g.op("Transpose", add_repeat(g, k), perm=[0, 1, 3, 2]))
    scores = g.op("Add", g.op("Mul", scores, f4(HEAD**-0.5)), mask)
    out = g.op("MatMul", g.op("Softmax", scores, axis=-1), add_repeat(g, v))
    out = g.op("Reshape", g.op("Transpose", out, perm=[0, 2, 1, 3]), [0, 0, WIDTH])
    return g.op("MatMul", out, weights[f"{i}.o"])


def add_feed_forward(g, h, i, weights):
    gate = g.op("MatMul", h, weights[f"{i}.gate"])
    silu = g.op("Mul", gate, g.op("Sigmoid", gate))
    return g.op("MatMul", g.op("Mul", silu, g.op("MatMul", h, weights[f"{i}.up"])), weights[f"{i}.down"])


def write_model(params):
    g = Graph()
    weights = {name: g.weight(name, array) for name, array in params.items() if array.ndim == 2}
    x, mask, turns = g.op("Gather", weights["embedding"], "input_ids", axis=0), add_mask(g), add_turns(g)
    for i in range(LAYERS):
        x = g.op("Add", x, add_attention(g, add_norm(g, x, params[f"{i}.norm1"]), i, weights, mask, turns))
        x = g.op("Add", x, add_feed_forward(g, add_norm(g, x, params[f"{i}.norm2"]), i, weights))
    y = add_norm(g, x, params["norm"])
    g.op("MatMul", y, g.op("Transpose", weights["embedding"], perm=[1, 0]), out="logits")
    batch, new, past, total = "batch_size", "sequence_length", "past_sequence_length", "total_sequence_length"
    caches = [f"{i}.{kind}" for i in range(LAYERS) for kind in ("key", "value")]
    training.write_model(
        MODEL, g.nodes,
        [("input_ids", "int64", [batch, new]), ("attention_mask", "int64", [batch, total]), ("position_ids", "int64", [batch, new])]
        + [(f"past_key_values.{cache}", "float", [batch, GROUPS, past, HEAD]) for cache in caches],
        [("logits", "float", [batch, new, VOCABULARY])]
        + [(f"present.{cache}", "float", [batch, GROUPS, total, HEAD]) for cache in caches], g.constants)
    with open(SETTINGS, "w", encoding="utf-8") as file:
        json.dump({"bos_token_id": 0, "eos_token_id": 0}, file)
        file.write("\n")


def evaluate():
    """The loss on stories that training never saw, as LightNet computes it, and the lowest possible one."""
    import lightnet
    session = lightnet.InferenceSession(MODEL, threads=1)
    stream = token_stream(HELD_OUT_SEED, HELD_OUT_TEXTS)
    past = {f"past_key_values.{i}.{kind}": np.zeros((1, GROUPS, 0, HEAD), f4) for i in range(LAYERS) for kind in ("key", "value")}
    losses = []
    for begin in range(0, len(stream) - LENGTH, LENGTH):
        text = stream[None, begin:begin + LENGTH + 1]
        places = np.arange(LENGTH)[None]
        logits, = session.run(["logits"], {"input_ids": text[:, :-1], "attention_mask": np.ones_like(places), "position_ids": places, **past})
        losses.append(loss_of(logits, text[:, 1:])[0])
    print(f"{len(losses) * LENGTH} tokens: {np.mean(losses):.3f} nats per token, perplexity {np.exp(np.mean(losses)):.2f}")


def main():
    if sys.argv[1:] != ["--evaluate"]:
        train_tokenizer()
        write_model(train())
    evaluate()


if __name__ == "__main__":
    main()
