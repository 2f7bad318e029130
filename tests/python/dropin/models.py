# SPDX-License-Identifier: Apache-2.0
"""Small models with the inputs and outputs of those that libraries run, and what they compute, in NumPy."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../onnx"))

import numpy as np
import onnx_writer as w

INT32, INT64 = 6, 7  # of TensorProto.DataType


def constant(name, array):
    """An initializer."""
    kind = {"float32": "float", "int64": "int64", "bool": "bool"}[array.dtype.name]
    return w.tensor(name, kind, list(array.shape), array.ravel().tolist())


def metadata(**entries):
    """The field metadata_props of a model."""
    return b"".join(w.field(14, w.field(1, key) + w.field(2, value)) for key, value in entries.items())


def save(path, content):
    with open(path, "wb") as file:
        file.write(content)
    return path


def weights(seed, *shape):
    return (np.random.default_rng(seed).standard_normal(shape) * 0.3).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


CHARACTERS = ["blank", "a", "b", "c", "\u4e2d"]


def text_recognition(path):
    """A column of pixels of brightness c is character c: probabilities [n, width, characters]."""
    c = np.arange(len(CHARACTERS), dtype=np.float32)
    nodes = [w.node("ReduceMean", ["x"], ["m"], axes=[1, 2], keepdims=0), w.node("Unsqueeze", ["m", "last"], ["u"]),
             w.node("Mul", ["u", "slope"], ["s"]), w.node("Add", ["s", "bias"], ["z"]), w.node("Softmax", ["z"], ["y"], axis=-1)]
    whole = w.graph(nodes, [w.value("x", "float", ["n", 3, 48, "width"])], [w.value("y", "float", ["n", "width", len(c)])],
                    [constant("last", np.array([2])), constant("slope", 2 * c), constant("bias", -c * c)])
    return save(path, w.model(whole, opset=13) + metadata(character="\n".join(CHARACTERS[1:])))


def face_embedding(path):
    """The means of 28 x 28 pixels, [n, 48]."""
    nodes = [w.node("AveragePool", ["data"], ["p"], kernel_shape=[28, 28], strides=[28, 28]), w.node("Flatten", ["p"], ["fc1"])]
    whole = w.graph(nodes, [w.value("data", "float", ["None", 3, 112, 112])], [w.value("fc1", "float", ["None", 48])])
    return save(path, w.model(whole, opset=11))


def voice_activity(path):
    """state' = state / 2 + the mean absolute sample; speech = sigmoid(a * mean of state'), a of the sampling rate."""
    def factor(value):
        return w.graph([w.node("Constant", [], ["f"], value=constant("", np.array(value, np.float32)))], [], [w.value("f", "float", [])])
    nodes = [w.node("Abs", ["input"], ["a"]), w.node("ReduceMean", ["a"], ["m"], axes=[1], keepdims=1),
             w.node("Mul", ["state", "half"], ["h"]), w.node("Add", ["h", "m"], ["stateN"]),
             w.node("ReduceMean", ["stateN"], ["r"], axes=[0, 2], keepdims=0), w.node("Unsqueeze", ["r", "one"], ["c"]),
             w.node("Equal", ["sr", "rate"], ["wide"]), w.node("If", ["wide"], ["k"], then_branch=factor(4.0), else_branch=factor(2.0)),
             w.node("Mul", ["c", "k"], ["z"]), w.node("Sigmoid", ["z"], ["output"])]
    whole = w.graph(nodes, [w.value("input", "float", ["batch", "samples"]), w.value("state", "float", [2, "batch", 128]), w.value("sr", "int64", [])],
                    [w.value("output", "float", ["batch", 1]), w.value("stateN", "float", [2, "batch", 128])],
                    [constant("half", np.array(0.5, np.float32)), constant("one", np.array([1])), constant("rate", np.array(16000))])
    return save(path, w.model(whole, opset=16))


def expected_voice(x, state, rate):
    state = state * np.float32(0.5) + np.abs(x).mean(1, keepdims=True)
    return sigmoid((4 if rate == 16000 else 2) * state.mean((0, 2)))[:, None], state


HIDDEN = 128


def lstm_weights():
    return weights(1, 1, 4 * HIDDEN, 1), weights(2, 1, 4 * HIDDEN, HIDDEN) / 3, weights(3, 1, 8 * HIDDEN)


def recurrent_voice(path):
    """Speech of each window of samples: an LSTM of its mean absolute sample."""
    W, R, B = lstm_weights()
    nodes = [w.node("Abs", ["input"], ["a"]), w.node("ReduceMean", ["a"], ["m"], axes=[1], keepdims=1), w.node("Unsqueeze", ["m", "one"], ["s"]),
             w.node("LSTM", ["s", "W", "R", "B", "", "h", "c"], ["all", "hn", "cn"], hidden_size=HIDDEN),
             w.node("ReduceMean", ["all"], ["r"], axes=[1, 3], keepdims=0), w.node("Sigmoid", ["r"], ["speech_probs"])]
    state = [1, 1, HIDDEN]
    whole = w.graph(nodes, [w.value("input", "float", ["windows", 576]), w.value("h", "float", state), w.value("c", "float", state)],
                    [w.value("speech_probs", "float", ["windows", 1]), w.value("hn", "float", state), w.value("cn", "float", state)],
                    [constant("W", W), constant("R", R), constant("B", B), constant("one", np.array([1]))])
    return save(path, w.model(whole, opset=16))


def expected_recurrent(x, h, c):
    """Gates in ONNX's order: input, output, forget, cell."""
    W, R, B = (array[0].astype(np.float64) for array in lstm_weights())
    h, c, out = h[0, 0].astype(np.float64), c[0, 0].astype(np.float64), []
    for value in np.abs(x).mean(1):
        gates = np.split(W[:, 0] * value + R @ h + B[:4 * HIDDEN] + B[4 * HIDDEN:], 4)
        i, o, f, g = sigmoid(gates[0]), sigmoid(gates[1]), sigmoid(gates[2]), np.tanh(gates[3])
        c = f * c + i * g
        h = o * np.tanh(c)
        out.append(sigmoid(h.mean()))
    return np.array(out)[:, None], h, c


WORDS, WIDTH, HEADS = 11, 8, 2


def decoder(path):
    """present = past and embeddings of the tokens, by heads; logits: the sum of present times the embeddings."""
    E = weights(5, WORDS, WIDTH)
    half = WIDTH // HEADS
    nodes = [w.node("Gather", ["E", "input_ids"], ["e"]), w.node("Reshape", ["e", "split"], ["s"]), w.node("Transpose", ["s"], ["t"], perm=[0, 2, 1, 3]),
             w.node("Concat", ["past_key_values.0.key", "t"], ["present.0.key"], axis=2),
             w.node("ReduceSum", ["present.0.key", "axis"], ["r"], keepdims=0), w.node("Reshape", ["r", "join"], ["j"]),
             w.node("MatMul", ["j", "T"], ["logits"])]
    inputs = [w.value("input_ids", "int64", ["batch_size", "sequence_length"]),
              w.value("past_key_values.0.key", "float", ["batch_size", HEADS, "past_sequence_length", half])]
    outputs = [w.value("logits", "float", ["batch_size", 1, WORDS]),
               w.value("present.0.key", "float", ["batch_size", HEADS, "past_sequence_length + sequence_length", half])]
    return save(path, w.model(w.graph(nodes, inputs, outputs, [
        constant("E", E), constant("T", np.ascontiguousarray(E.T)), constant("split", np.array([0, 0, HEADS, half])), constant("axis", np.array([2])),
        constant("join", np.array([0, 1, WIDTH]))]), opset=13))


def expected_decoder(ids, past):
    E = weights(5, WORDS, WIDTH)
    rows = E[ids].reshape(*ids.shape, HEADS, -1).transpose(0, 2, 1, 3)
    present = np.concatenate([past, rows], 2)
    return present.sum(2).reshape(len(ids), 1, WIDTH) @ E.T, present


def encoder(path):
    """Embeddings of tokens plus those of their kinds, times the mask."""
    nodes = [w.node("Gather", ["E", "input_ids"], ["e"]), w.node("Gather", ["K", "token_type_ids"], ["k"]), w.node("Add", ["e", "k"], ["s"]),
             w.node("Cast", ["attention_mask"], ["m"], to=1), w.node("Unsqueeze", ["m", "last"], ["u"]), w.node("Mul", ["s", "u"], ["last_hidden_state"])]
    inputs = [w.value(name, "int64", ["batch_size", "sequence_length"]) for name in ("input_ids", "attention_mask", "token_type_ids")]
    return save(path, w.model(w.graph(nodes, inputs, [w.value("last_hidden_state", "float", ["batch_size", "sequence_length", WIDTH])], [
        constant("E", weights(5, WORDS, WIDTH)), constant("K", weights(6, 2, WIDTH)), constant("last", np.array([2]))]), opset=13))


LABELS = ["python", "text", "binary"]


def content_type(path):
    """Softmax of the sums of weights of bytes, [n, labels]; 256 is padding."""
    nodes = [w.node("Gather", ["E", "bytes"], ["e"]), w.node("ReduceMean", ["e"], ["m"], axes=[1], keepdims=0), w.node("Softmax", ["m"], ["target_label"])]
    whole = w.graph(nodes, [w.value("bytes", "int32", ["batch", 64])], [w.value("target_label", "float", ["batch", len(LABELS)])],
                    [constant("E", 20 * weights(7, 257, len(LABELS)))])
    return save(path, w.model(whole, opset=13))


def expected_content(rows):
    z = (20 * weights(7, 257, len(LABELS)))[rows].mean(1)
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


MAKERS = {"rapidocr": text_recognition, "insightface": face_embedding, "silero_vad": voice_activity, "faster_whisper": recurrent_voice,
          "optimum": decoder, "sentence_transformers": encoder, "magika": content_type, "tutorial": None}
