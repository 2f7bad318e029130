#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the text generation of examples/generate with ONNX Runtime: the same tokens, and tokens per second.

usage: generation.py --generate PROGRAM [--threads N] [--rounds N] [--tokens N] [MODEL-DIR [PROMPT...]]

PROGRAM is examples/generate/generate.c, built by its README. Both continue each prompt greedily by N tokens
(default 200), also beyond the end of the text, in turns. Prints the best round of each, and the ratio
LightNet / ONNX Runtime of tokens per second (above 1: LightNet is faster).
Needs node, and the npm package onnxruntime-node where NODE_PATH has it (default ~/.cache/lightnet-bench/node_modules).
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "..", "..", "examples", "generate")
sys.path.append(EXAMPLE)

import tokenizer

PROMPTS = ["Once upon a time", "There was once a brave hen named Lily, who lived in an old barn.", "The fox", "Max was afraid"]
NODE_PATH = os.environ.get("NODE_PATH", os.path.expanduser("~/.cache/lightnet-bench/node_modules"))


def lightnet(program, folder, prompt, threads, tokens):
    """The ids, and seconds per token of the prompt and of the rest."""
    done = subprocess.run([program, "--ids", "--ignore-end", "--max-tokens", str(tokens), "--threads", str(threads), folder, prompt],
                          check=True, capture_output=True, text=True)
    speeds = [int(speed) for speed in re.findall(r"(\d+) tokens/s", done.stderr)]
    return [int(line) for line in done.stdout.split()], *(1 / speed for speed in speeds)


def onnx_runtime(model, prompt_ids, threads, tokens):
    done = subprocess.run(["node", os.path.join(HERE, "ort_generate.js"), model, str(threads), str(tokens), *map(str, prompt_ids)],
                          check=True, capture_output=True, text=True, env=dict(os.environ, NODE_PATH=NODE_PATH))
    result = json.loads(done.stdout)
    return result["ids"], result["prompt_s"] / len(prompt_ids), result["rest_s"] / (tokens - 1)


def compare(given, prompt):
    """Tokens per second of both, for the prompt and for the rest; whether the ids are equal."""
    tokens = tokenizer.Tokenizer(os.path.join(given.folder, "tokenizer.json"))
    model = os.path.join(given.folder, "model.onnx")
    ours, theirs = [], []
    for _ in range(given.rounds):
        ours.append(lightnet(given.generate, given.folder, prompt, given.threads, given.tokens))
        theirs.append(onnx_runtime(model, tokens.encode(prompt.encode()), given.threads, given.tokens))
    is_same = all(run[0] == ours[0][0] for run in ours + theirs)
    return [[1 / min(run[k] for run in runs) for k in (1, 2)] for runs in (ours, theirs)], is_same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generate", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("folder", nargs="?", default=os.path.join(EXAMPLE, "model"))
    parser.add_argument("prompts", nargs="*")
    given = parser.parse_args()
    ratios, are_same = [], True
    print(f"{'tokens/s':24} {'LightNet':>18} {'ONNX Runtime':>18} {'ratio':>12}")
    for prompt in given.prompts or PROMPTS:
        (ours, theirs), is_same = compare(given, prompt)
        are_same &= is_same
        ratios.append(ours[1] / theirs[1])
        print(f"{prompt[:24]:24} {ours[0]:8.0f} {ours[1]:9.0f} {theirs[0]:8.0f} {theirs[1]:9.0f} {ours[0] / theirs[0]:6.2f} {ratios[-1]:5.2f}"
              f"{'' if is_same else '  OTHER TOKENS'}", flush=True)
    print(f"(prompt, then one by one) geometric mean: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    return 0 if are_same else 1


if __name__ == "__main__":
    sys.exit(main())
