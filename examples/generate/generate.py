#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Continues a text with a language model. MODEL-DIR has the files of Hugging Face's exporters: model.onnx (or
onnx/model.onnx), tokenizer.json, generation_config.json. Speed goes to standard error."""
import argparse
import json
import os
import sys
import time

import lightnet
import numpy as np

import tokenizer


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-tokens", type=int, default=200, metavar="N", help="at most N tokens (default 200)")
    parser.add_argument("--temperature", type=float, default=0, metavar="T",
                        help="0 (default): always the most likely token; higher: more varied")
    parser.add_argument("--top-k", type=int, default=0, metavar="K", help="draws from the K most likely tokens (default 0: all)")
    parser.add_argument("--top-p", type=float, default=1, metavar="P",
                        help="draws from the most likely tokens, together at least P (default 1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws (default 0)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="(default 1)")
    parser.add_argument("--ids", action="store_true", help="prints ids of tokens, one per line, instead of text")
    parser.add_argument("--ignore-end", action="store_true", help="does not stop at the end of the text")
    parser.add_argument("folder", metavar="MODEL-DIR")
    parser.add_argument("prompt", metavar="PROMPT")
    return parser.parse_args()


class Decoder:
    """A model, and a session that keeps its cache: the keys and values of all layers."""

    def __init__(self, folder, threads):
        path = os.path.join(folder, "model.onnx")
        path = path if os.path.exists(path) else os.path.join(folder, "onnx", "model.onnx")
        model = lightnet.Model(path, threads=threads)
        # Links "present.0.key", an output, to "past_key_values.0.key" or "past.0.key", and so on.
        self._session = lightnet.StatefulSession(model)
        self._inputs = {i.name for i in model.inputs}
        self._first = {i.name: self._empty(i) for i in model.inputs if i.name in self._session.links.values()}
        self.n_past = 0

    @staticmethod
    def _empty(info):
        """A cache without tokens: the batch is 1, and another open size the number of tokens."""
        types = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
        dims = [1] + [dim if isinstance(dim, int) else 0 for dim in info.shape[1:]]
        return np.zeros(dims, types[info.type])

    def run(self, ids):
        """Runs the model on more tokens. Returns the logits of the token after them."""
        n = len(ids)
        tokens = {"input_ids": [ids], "position_ids": [range(self.n_past, self.n_past + n)],
                  "attention_mask": [[1] * (self.n_past + n)]}
        feeds = {name: np.array(value, np.int64) for name, value in tokens.items() if name in self._inputs}
        logits, = self._session.run(["logits"], feeds if self.n_past else {**feeds, **self._first})
        self.n_past += n
        return logits[0, -1]


class Sampler:
    def __init__(self, arguments):
        self._arguments, self._state = arguments, arguments.seed

    def _draw(self):
        """A number from 0 up to 1, by splitmix64 (Steele et al. 2014)."""
        mask = 2**64 - 1
        self._state = z = self._state + 0x9E3779B97F4A7C15 & mask
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        return ((z ^ z >> 31) >> 11) * 2.0**-53

    def sample(self, logits):
        given = self._arguments
        if given.temperature <= 0:
            return int(logits.argmax())
        order = np.argsort(-logits, kind="stable")  # the most likely first
        order = order[:given.top_k] if given.top_k > 0 else order
        logits = logits[order].astype(np.float64)
        weights = np.exp((logits - logits[0]) / given.temperature)
        so_far = np.cumsum(weights)
        # Those before which there is less than top_p, and at least one.
        taken = max(1, int((so_far - weights < given.top_p * so_far[-1]).sum()))
        chosen = int((so_far[:taken] <= self._draw() * so_far[taken - 1]).sum())
        return int(order[min(chosen, taken - 1)])


def read_ends(folder, tokens):
    """"eos_token_id" of generation_config.json: a number, or a list of them; else a usual token."""
    path = os.path.join(folder, "generation_config.json")
    ends = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            ends = json.load(file).get("eos_token_id")
    if ends is not None:
        return ends if isinstance(ends, list) else [ends]
    usual = (tokens.id_of(token) for token in ("<|endoftext|>", "<|im_end|>", "</s>"))
    return [i for i in usual if i is not None][:1]


def write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def main():
    given = read_arguments()
    tokens = tokenizer.Tokenizer(os.path.join(given.folder, "tokenizer.json"))
    ends = read_ends(given.folder, tokens)
    prompt = tokens.encode(os.fsencode(given.prompt)) or ends[:1]
    decoder, sampler = Decoder(given.folder, given.threads), Sampler(given)
    if not given.ids:
        write(os.fsencode(given.prompt))
    begin = time.perf_counter()
    logits = decoder.run(prompt)  # the prompt in one run, then one run for each token
    first = time.perf_counter() - begin
    for n in range(given.max_tokens):
        i = sampler.sample(logits)
        if i in ends and not given.ignore_end:
            break
        write(b"%d\n" % i if given.ids else tokens.decode([i]))
        if n + 1 < given.max_tokens:
            logits = decoder.run([i])
    rest, n_more = time.perf_counter() - begin - first, decoder.n_past - len(prompt)
    if not given.ids:
        write(b"\n")
    speed = f"; then {n_more} tokens, {n_more / rest:.0f} tokens/s" if n_more else ""
    print(f"prompt: {len(prompt)} tokens, {len(prompt) / first:.0f} tokens/s{speed}", file=sys.stderr)


if __name__ == "__main__":
    main()
