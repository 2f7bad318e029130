#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: decoder_forms.py PACKAGE. Decoders in the forms of exporters need two programs, for a prompt and for all steps.

Each has one layer with rotary positions, and a cache. The forms differ in how they compute the mask and positions, in the
names of sizes, and in the cache. The logits of a prompt and of steps with linked states are those of runs on all tokens.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "..", "structure"), sys.argv[1]]

import numpy as np
import lightnet
from onnx_writer import graph, model, node, value
from open_networks import FEATURES, HEADS, WORDS, Graph, llama_layer, rms_norm
from tap import Tap

HEAD, LONGEST, TOLERANCE = FEATURES // HEADS, 512, 1e-4
PAST = ["past_key_values.0.key", "past_key_values.0.value"]


class Exported(Graph):
    """A network of open_networks.py with the names of exporters."""

    NAMES = {"past.key": PAST[0], "past.value": PAST[1], "present.key": "present.0.key", "present.value": "present.0.value"}

    def op(self, optype, inputs, output=None, **attributes):
        return super().op(optype, [self.NAMES.get(name, name) for name in inputs], self.NAMES.get(output, output), **attributes)


def angles(g, places, *unsqueezed):
    """The cosines and sines of positions, [.., tokens, HEAD]."""
    waves = g.constant("float", [1, HEAD // 2], [10.0**-i for i in range(HEAD // 2)])
    turns = g.op("MatMul", [g.op("Unsqueeze", [g.op("Cast", [places], to=1), g.ints(*unsqueezed)]), waves])
    both = g.op("Concat", [turns, turns], axis=-1)
    return [g.op(name, [both]) for name in ("Cos", "Sin")]


def finish(g, x, mask, cos, sin):
    x = llama_layer(g, x, ["past.key", "past.value"], cos, sin, mask)
    g.op("MatMul", [rms_norm(g, x), g.weight(FEATURES, WORDS)], "logits")


def written(g, sizes, more):
    """sizes: the names of the batch, the tokens, the cache and both together. more: other inputs, (name, shape)."""
    batch, tokens, past, total = sizes
    cache = [batch, HEADS, past, HEAD]
    inputs = [value("input_ids", "int64", [batch, tokens])] + [value(name, "int64", shape) for name, shape in more]
    outputs = [value("logits", "float", [batch, tokens, WORDS])]
    outputs += [value(name, "float", [batch, HEADS, total, HEAD]) for name in ("present.0.key", "present.0.value")]
    return model(graph(g.nodes, inputs + [value(name, "float", cache) for name in PAST], outputs, g.constants), opset=17)


def words_of(g):
    return g.op("Gather", [g.weight(WORDS, FEATURES), "input_ids"], axis=0)


def optimum():
    """torch.onnx by TorchScript, as optimum: the mask is expanded and inverted, positions are an input."""
    g = Exported()
    names = "batch_size", "sequence_length", "past_sequence_length", "past_sequence_length + sequence_length"
    n, s = g.size("input_ids", 0), g.size("input_ids", 1)
    total = g.op("Add", [g.size("past.key", 2), s])
    one = g.constant("int64", [], [1])
    keys = g.op("Range", [g.constant("int64", [], [0]), total, one])
    rows = g.op("Range", [g.size("past.key", 2), total, one])
    later = g.op("Greater", [keys, g.op("Reshape", [rows, g.shape(s, 1)])])
    causal = g.op("Expand", [g.op("Unsqueeze", [g.op("Where", [later, g.number(-3e38), g.number(0.0)]), g.ints(0, 1)]),
                             g.shape(n, 1, s, total)])
    padding = g.op("Sub", [g.number(1.0), g.op("Cast", [g.op("Unsqueeze", ["attention_mask", g.ints(1, 2)])], to=1)])
    padded = g.op("Where", [g.op("Cast", [padding], to=9), g.number(-3e38), causal])
    cos, sin = (g.op("Unsqueeze", [x, g.ints(1)]) for x in angles(g, "position_ids", 2))
    finish(g, words_of(g), padded, cos, sin)
    return written(g, names, [("attention_mask", [names[0], names[3]]), ("position_ids", list(names[:2]))])


def dynamo():
    """torch.onnx by dynamo: sizes s0 .. s3, positions from the length of the cache, the mask from a Gather of all tokens."""
    g = Exported()
    one, zero = g.constant("int64", [], [1]), g.constant("int64", [], [0])
    total = g.size("attention_mask", 1)
    places = g.op("Range", [g.size("past.key", 2), g.op("Add", [g.size("past.key", 2), g.size("input_ids", 1)]), one])
    keys = g.op("Range", [zero, total, one])
    seen = g.op("LessOrEqual", [g.op("Unsqueeze", [keys, g.ints(0)]), g.op("Unsqueeze", [places, g.ints(1)])])
    whole = g.op("Cast", [g.op("Gather", ["attention_mask", keys], axis=1)], to=9)
    seen = g.op("And", [g.op("Unsqueeze", [seen, g.ints(0, 1)]), g.op("Unsqueeze", [whole, g.ints(1, 2)])])
    mask = g.op("Where", [seen, g.number(0.0), g.number(float(np.finfo(np.float32).min))])
    cos, sin = (g.op("Unsqueeze", [x, g.ints(0, 1)]) for x in angles(g, places, 1))
    finish(g, words_of(g), mask, cos, sin)
    return written(g, ("s0", "s1", "s2", "s3"), [("attention_mask", ["s0", "s3"])])


def genai():
    """onnxruntime-genai: GroupQueryAttention, whose lengths are computed from the mask."""
    g = Exported()
    names = "batch_size", "sequence_length", "past_sequence_length", "total_sequence_length"
    lens = g.op("Cast", [g.op("Sub", [g.op("ReduceSum", ["attention_mask", g.ints(1)], keepdims=0), g.ints(1)])], to=6)
    total = g.op("Cast", [g.op("Gather", [g.op("Shape", ["attention_mask"]), g.constant("int64", [], [1])], axis=0)], to=6)
    waves = [10.0**-i for i in range(HEAD // 2)]
    turns = np.outer(np.arange(LONGEST), waves)
    cos, sin = (g.constant("float", [LONGEST, HEAD // 2], list(f(turns).ravel())) for f in (np.cos, np.sin))
    x = words_of(g)
    h = rms_norm(g, x)
    q, k, v = (g.op("MatMul", [h, g.weight(FEATURES, heads * HEAD)]) for heads in (2 * HEADS, HEADS, HEADS))
    outputs = ["attended", "present.0.key", "present.0.value"]
    g.nodes.append(node("GroupQueryAttention", [q, k, v, *PAST, lens, total, cos, sin], outputs, domain="com.microsoft",
                        num_heads=2 * HEADS, kv_num_heads=HEADS, do_rotary=1))
    x = g.op("Add", [x, g.op("MatMul", ["attended", g.weight(2 * HEADS * HEAD, FEATURES)])])
    g.op("MatMul", [rms_norm(g, x), g.weight(FEATURES, WORDS)], "logits")
    return written(g, names, [("attention_mask", [names[0], names[3]])])


def feeds_of(session, ids, n_past):
    n = len(ids)
    given = {"input_ids": [ids], "attention_mask": [[1] * (n_past + n)], "position_ids": [range(n_past, n_past + n)]}
    names = {i.name for i in session.get_inputs()}
    return {name: np.array(numbers, np.int64) for name, numbers in given.items() if name in names}


def check_logits(whole, ids, logits):
    """Those of the last token, against a run on all tokens."""
    empty = {name: np.zeros((1, HEADS, 0, HEAD), np.float32) for name in PAST}
    expected, = whole.run(["logits"], {**feeds_of(whole, ids, 0), **empty})
    off = float(np.abs(logits[0, -1] - expected[0, -1]).max())
    if not off < TOLERANCE:
        yield f"{len(ids)} tokens: the logits differ by {off}"


def check_form(data, prompt):
    """Two prompts of a length and their steps, against runs on all tokens so far."""
    whole = lightnet.InferenceSession(data, threads=1)
    steps = lightnet.Model(data, threads=1)
    session, rng = lightnet.StatefulSession(steps), np.random.default_rng(7)
    for _ in range(2):
        ids = [int(i) for i in rng.integers(0, WORDS, prompt)]
        session.reset()
        new = list(ids)
        for _ in range(20):
            logits, = session.run(["logits"], feeds_of(whole, new, len(ids) - len(new)))
            yield from check_logits(whole, ids, logits)
            new = [int(rng.integers(0, WORDS))]
            ids += new
    if steps.num_programs != 2:
        yield f"{steps.num_programs} programs, expected one for prompts and one for steps"


def check_shared():
    """As onnxruntime-genai binds caches: past and present are one buffer, of the longest sequence."""
    data, rng = genai(), np.random.default_rng(3)
    whole, steps = lightnet.InferenceSession(data, threads=1), lightnet.Model(data, threads=1)
    session = steps.session()
    buffers = [lightnet.OrtValue.ortvalue_from_numpy(np.full((1, HEADS, LONGEST, HEAD), np.nan, np.float32)) for _ in PAST]
    addresses = [buffer.data_ptr() for buffer in buffers]
    binding = session.io_binding()
    for name, buffer in zip(PAST, buffers):
        binding.bind_ortvalue_input(name, buffer)
        binding.bind_ortvalue_output(name.replace("past_key_values", "present"), buffer)
    ids = [int(i) for i in rng.integers(0, WORDS, 9)]
    new = list(ids)
    for _ in range(20):
        for name, array in feeds_of(whole, new, len(ids) - len(new)).items():
            binding.bind_cpu_input(name, array)
        binding.bind_output("logits")
        session.run_with_iobinding(binding)
        logits = next(v.numpy() for v in binding.get_outputs() if v.data_ptr() not in addresses)
        yield from check_logits(whole, ids, logits)
        new = [int(rng.integers(0, WORDS))]
        ids += new
    if not np.isnan(buffers[0].numpy()[0, :, len(ids):]).all() or np.isnan(buffers[0].numpy()[0, :, :len(ids) - 1]).any():
        yield "the buffer has other rows than those of the tokens"
    if steps.num_programs != 2:
        yield f"{steps.num_programs} programs, expected one for the prompt and one for steps"


def main():
    tap = Tap()
    for form in optimum, dynamo, genai:
        source = form.__doc__.split(':')[0].split(', as ')[-1]
        tap.check(f"a decoder as {source}", check_form(form(), 9))
        tap.check(f"a decoder as {source}, prompts of a power of two", check_form(form(), 256))
    tap.check("a decoder whose past and present are one buffer", check_shared())
    tap.end()


if __name__ == "__main__":
    main()
