#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: lightnet_child.py PACKAGE. Runs models with LightNet for fuzz_onnx.py: each request on standard input is a pickled
pair, the bytes of a model and {name: array}; each answer on standard output a pickled list of arrays, or an error's text."""
import os
import pickle
import resource
import sys

sys.path.insert(0, sys.argv[1])
import lightnet

MEMORY = 4 << 30  # bytes of address space


def answer(model, inputs):
    try:
        session = lightnet.InferenceSession(model, threads=1)
        names = {port.name for port in session.get_inputs()}
        return session.run(None, {name: array for name, array in inputs.items() if name in names})
    except Exception as error:  # a crash is not an exception: it ends the process
        return f"{type(error).__name__}: {error}"


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # operators that print must not disturb the answers
    while True:
        try:
            model, inputs = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(answer(model, inputs), answers)
        answers.flush()


if __name__ == "__main__":
    main()
