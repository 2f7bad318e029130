#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: generation_forms.py GENERATE TOKENIZE [PACKAGE]. The programs of examples/generate, in C and Python:

their tokenizers give the same ids for any bytes and settings, and models of several forms the same tokens; those of the
example's model are the tokens of runs without a cache. PACKAGE is the folder of the Python package; without it, only the
C programs run.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "..", "..", "examples", "generate")
sys.path += [EXAMPLE, os.path.join(HERE, "..", "structure"), os.path.join(HERE, "..", "onnx")] + sys.argv[3:]

import open_networks
import stories
import tokenizer
from onnx_writer import graph, model, value
from tap import Tap

SEED, N_TOKENS = 3, 24
LETTERS = [chr(code) for code in [*range(0x180), *range(0x2000, 0x2070), 0x661, 0x16a0, 0x2460, 0x3000, 0x4e00, 0x1d7ce, 0x1f600]]


# ---- Tokenizers ----

def settings_of(base):
    """tokenizer.json with each of the supported settings."""
    level, digits = base["pre_tokenizer"], {"type": "Digits", "individual_digits": True}
    bpe, more = base["model"], [{"id": 1024 + i, "content": text} for i, text in enumerate(["<|", "<|end", "fox", " a", "é"])]
    yield "as it is", base
    yield "a space before the text", dict(base, pre_tokenizer=dict(level, add_prefix_space=True))
    yield "single digits", dict(base, pre_tokenizer={"type": "Sequence", "pretokenizers": [digits, level]})
    yield "numbers", dict(base, pre_tokenizer={"type": "Sequence", "pretokenizers": [
        dict(digits, individual_digits=False), dict(level, add_prefix_space=True)]})
    yield "whole words", dict(base, model=dict(bpe, ignore_merges=True, merges=bpe["merges"][::-1]))
    yield "merges as pairs, more added tokens", dict(
        base, model=dict(bpe, merges=[merge.split(" ") for merge in bpe["merges"]]), added_tokens=base["added_tokens"] + more)


def any_text(rng):
    kind = rng.randrange(5)
    if kind == 0:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(60)))
    if kind == 1:
        return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(60))).encode()
    if kind == 2:
        return "".join(rng.choice(" \n\t'stdrevml1<|endoftext|>a") for _ in range(rng.randrange(60))).encode()
    if kind == 3:
        return (stories.story(rng) + "<|endoftext|>" * rng.randrange(3) + stories.story(rng)).encode()
    return (rng.choice(["a", " ", "fox", "aaab", "'s"]) * rng.randrange(200)).encode()


def compare_tokenizers(program, data, folder):
    rng, path = random.Random(SEED), os.path.join(folder, "tokenizer.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file)
    tokens, texts = tokenizer.Tokenizer(path), [any_text(rng) for _ in range(300)]
    done = subprocess.run([program, path], input=b"".join(b"%d\n%s" % (len(text), text) for text in texts), capture_output=True)
    lines = done.stdout.decode().splitlines()
    if done.returncode or len(lines) != len(texts):
        yield f"exit status {done.returncode}, {len(lines)} lines: {done.stderr.decode()}"
    for text, line in zip(texts, lines):
        ids = tokens.encode(text)
        if [int(i) for i in line.split()] != ids:
            yield f"{text}: {line}, in Python {ids}"
        if tokens.decode(ids).replace(b" ", b"") != text.replace(b" ", b""):
            yield f"{text}: {ids} decodes to {tokens.decode(ids)}"


# ---- Models ----

class Renamed(open_networks.Graph):
    """A network of open_networks.py with the names of exporters."""

    def __init__(self, past):
        super().__init__()
        self._names = {"ids": "input_ids", "past.key": f"{past}.0.key", "past.value": f"{past}.0.value",
                       "present.key": "present.0.key", "present.value": "present.0.value"}

    def op(self, optype, inputs, output=None, **attributes):
        return super().op(optype, [self.named(name) for name in inputs], self.named(output), **attributes)

    def named(self, name):
        return self._names.get(name, name)


def decoder(past, has_mask, batch="batch_size"):
    """A decoder of one layer with learned positions; a mask that is an input only. batch: that of the cache."""
    g = Renamed(past)
    words = g.op("Gather", [g.weight(open_networks.WORDS, open_networks.FEATURES), "ids"], axis=0)
    begin = g.size("past.key", 2)
    end = g.op("Add", [begin, g.size("ids", 1)])
    places = g.slice(g.weight(open_networks.LONGEST, open_networks.FEATURES), g.line(begin), g.line(end))
    x = open_networks.layer(g, g.op("Add", [words, places]), ["past.key", "past.value"])
    if has_mask:
        tokens = g.op("ReduceSum", [g.op("Cast", ["attention_mask"], to=1)])
        x = g.op("Add", [x, g.op("Sub", [tokens, g.op("Cast", [end], to=1)])])  # 0 where all are 1
    g.op("MatMul", [g.norm(x), g.weight(open_networks.FEATURES, open_networks.WORDS)], "logits")
    cache = [batch, open_networks.HEADS, "past_sequence_length", open_networks.FEATURES // open_networks.HEADS]
    names = [g.named("past.key"), g.named("past.value")]
    inputs = [value("input_ids", "int64", ["batch_size", "sequence_length"])] + [value(name, "float", cache) for name in names]
    inputs += [value("attention_mask", "int64", ["batch_size", "total_sequence_length"])] * has_mask
    outputs = [value(name, "float") for name in ("logits", "present.0.key", "present.0.value")]
    return model(graph(g.nodes, inputs, outputs, g.constants), opset=17)


def ids_of(command, folder):
    """The ids of a prompt of one token: some of these models let a token see those after it."""
    done = subprocess.run([*command, "--ids", "--ignore-end", "--max-tokens", str(N_TOKENS), folder, "a"], capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    return [int(line) for line in done.stdout.split()]


def check_form(programs, folder, expected=None):
    found = [ids_of(program, folder) for program in programs]
    if len(found[0]) != N_TOKENS or len(set(found[0])) < 4:
        yield f"C: {found[0]}"
    for ids, name in (found[-1], "Python"), (expected or found[0], "without a cache"):
        if ids != found[0]:
            yield f"{name}: {ids}, in C {found[0]}"


def without_cache(folder, n):
    """The ids of the prompt "a" by a run on all tokens for each new one."""
    import lightnet
    import numpy as np
    session = lightnet.InferenceSession(os.path.join(folder, "model.onnx"), threads=1)
    feeds = {i.name: np.zeros([1] + [dim if isinstance(dim, int) else 0 for dim in i.shape[1:]], np.float32)
             for i in session.get_inputs() if i.name.startswith("past")}
    ids = tokenizer.Tokenizer(os.path.join(folder, "tokenizer.json")).encode(b"a")
    n_prompt = len(ids)
    while len(ids) < n_prompt + n:
        tokens = {"input_ids": [ids], "position_ids": [range(len(ids))], "attention_mask": [[1] * len(ids)]}
        logits, = session.run(["logits"], {**feeds, **{name: np.array(given, np.int64) for name, given in tokens.items()}})
        ids.append(int(logits[0, -1].argmax()))
    return ids[n_prompt:]


def main():
    generate, tokenize = sys.argv[1:3]
    programs, tap = [[generate]], Tap()
    if sys.argv[3:]:
        os.environ["PYTHONPATH"] = sys.argv[3]
        programs.append([sys.executable, os.path.join(EXAMPLE, "generate.py")])
    print(f"# seed {SEED}")
    with open(os.path.join(EXAMPLE, "model", "tokenizer.json"), encoding="utf-8") as file:
        base = json.load(file)
    with tempfile.TemporaryDirectory(prefix="lightnet-generate-") as folder:
        for name, data in settings_of(base):
            tap.check(f"tokenizers agree: {name}", compare_tokenizers(tokenize, data, folder))
    open_networks.WORDS = 1024
    with tempfile.TemporaryDirectory(prefix="lightnet-generate-") as folder:
        shutil.copy(os.path.join(EXAMPLE, "model", "tokenizer.json"), folder)
        for past in "past_key_values", "past":
            for has_mask in False, True:
                with open(os.path.join(folder, "model.onnx"), "wb") as file:
                    file.write(decoder(past, has_mask))
                tap.check(f"a decoder with {past}{' and a mask' * has_mask}", check_form(programs, folder))
        for batch in "past_batch", 1:
            with open(os.path.join(folder, "model.onnx"), "wb") as file:
                file.write(decoder("past", True, batch))
            tap.check(f"a decoder with a cache of batch {batch}", check_form(programs, folder))
    example = os.path.join(EXAMPLE, "model")
    tap.check("the model of the example", check_form(programs, example, without_cache(example, N_TOKENS) if sys.argv[3:] else None))
    tap.end()


if __name__ == "__main__":
    main()
