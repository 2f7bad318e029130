#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the voice activity detector of this example on synthetic sound, and measures it: NumPy only.

usage: train_sound.py [--evaluate]     trains, writes speech.onnx and talk.wav, measures; --evaluate: only measures, with LightNet
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "common"))

import numpy as np

import synthesize
import training
from onnx_writer import node

MODEL, SAMPLE = os.path.join(HERE, "speech.onnx"), os.path.join(HERE, "talk.wav")

FRAME, HOP, MELS, HIDDEN = 512, synthesize.HOP, 24, 32  # samples, samples, features of a frame, width of the GRU
FLOOR = 1e-5  # below it, the power of a band counts as silence
TRAINING_SEED, HELD_OUT_SEED, SAMPLE_SEED = 1, 2, 11
CLIPS, SECONDS, STEPS, BATCH, RATE = 1200, 6, 1600, 64, 5e-3
HELD_OUT_CLIPS = 100

WINDOW = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)).astype(np.float32)


def mel_matrix(low=80, high=7600):
    """[FRAME / 2 + 1, MELS]: overlapping triangles, equally wide on the mel scale."""
    def mel(hertz):
        return 2595 * np.log10(1 + hertz / 700)
    edges = np.linspace(mel(low), mel(high), MELS + 2)
    bins = mel(np.fft.rfftfreq(FRAME, 1 / synthesize.RATE))[:, None]
    rise, fall = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.maximum(0, np.minimum(rise, fall)).astype(np.float32)


def mel_powers(samples):
    """[n / HOP, MELS]: each frame is a hop and the hop before it."""
    padded = np.concatenate([np.zeros(FRAME - HOP, np.float32), samples])
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP]
    return (np.abs(np.fft.rfft(frames * WINDOW)) ** 2 @ mel_matrix()).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Network:
    """log of mel powers -> GRU -> probability of speech, as ONNX computes it: gates z, r, h; linear_before_reset 0."""

    def __init__(self, rng):
        def normal(*dims):
            return (rng.normal(size=dims) / np.sqrt(dims[0])).astype(np.float32)
        self.params = {"w": normal(MELS, 3 * HIDDEN), "r": normal(HIDDEN, 3 * HIDDEN), "b": np.zeros(3 * HIDDEN, np.float32),
                       "out": normal(HIDDEN, 1), "bias": np.zeros(1, np.float32)}

    def forward(self, x):
        """x [time, batch, MELS] -> logits [time, batch]."""
        p, H = self.params, HIDDEN
        xw = x @ p["w"] + p["b"]
        h, kept = np.zeros((x.shape[1], H), np.float32), []
        for t in range(len(x)):
            zr = sigmoid(xw[t, :, :2 * H] + h @ p["r"][:, :2 * H])
            z, r = zr[:, :H], zr[:, H:]
            c = np.tanh(xw[t, :, 2 * H:] + (r * h) @ p["r"][:, 2 * H:])
            kept.append((h, zr, c))
            h = c + z * (h - c)
        states = np.stack([k[0] for k in kept[1:]] + [h])
        return (states @ p["out"])[..., 0] + p["bias"], (x, kept, states)

    def backward(self, saved, d_logits):
        p, H, (x, kept, states) = self.params, HIDDEN, saved
        d_xw, d_r = np.zeros(x.shape[:2] + (3 * H,), np.float32), np.zeros_like(p["r"])
        d_states = d_logits[..., None] * p["out"][:, 0]
        d_h = np.zeros_like(kept[0][0])
        for t in range(len(x) - 1, -1, -1):
            h, zr, c = kept[t]
            z, r = zr[:, :H], zr[:, H:]
            d_h = d_h + d_states[t]
            d_c = d_h * (1 - z) * (1 - c * c)
            d_rh = d_c @ p["r"][:, 2 * H:].T
            d_zr = np.concatenate([d_h * (h - c), d_rh * h], 1) * zr * (1 - zr)
            d_r[:, :2 * H] += h.T @ d_zr
            d_r[:, 2 * H:] += (r * h).T @ d_c
            d_xw[t, :, :2 * H], d_xw[t, :, 2 * H:] = d_zr, d_c
            d_h = d_h * z + d_rh * r + d_zr @ p["r"][:, :2 * H].T
        flat = d_xw.reshape(-1, 3 * H)
        return {"w": x.reshape(-1, MELS).T @ flat, "r": d_r, "b": flat.sum(0), "bias": d_logits.sum(keepdims=True).reshape(1),
                "out": states.reshape(-1, H).T @ d_logits.reshape(-1, 1)}


def train():
    """The trained parameters, and the mean and deviation of the features."""
    rng = np.random.default_rng(TRAINING_SEED)
    clips = [synthesize.clip(rng, SECONDS) for _ in range(CLIPS)]
    powers = np.stack([mel_powers(samples) for samples, _ in clips], 1)
    labels = np.stack([is_speech for _, is_speech in clips], 1).astype(np.float32)
    features = np.log(powers + FLOOR)
    mean, deviation = features.mean((0, 1)), features.std((0, 1))
    net = Network(rng)
    adam = training.Adam(net.params)
    for step in range(STEPS):
        chosen = rng.integers(0, CLIPS, BATCH)
        gains = 10 ** rng.uniform(-1.5, 0.5, (BATCH, 1)).astype(np.float32)
        logits, saved = net.forward((np.log(powers[:, chosen] * gains + FLOOR) - mean) / deviation)
        probs = sigmoid(logits)
        grads = net.backward(saved, ((probs - labels[:, chosen]) / probs.size).astype(np.float32))
        norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
        adam.step({name: g * min(1, 0.5 / norm) for name, g in grads.items()}, RATE * training.cosine(step, STEPS))
        if step % 100 == 0:
            print(f"step {step}: {np.mean((probs > 0.5) == labels[:, chosen]):.3f} of the frames are right", flush=True)
    return net.params, mean, deviation


def write_model(params, mean, deviation):
    """ONNX: samples and two states in; probabilities and the states for the next chunk out."""
    order = np.concatenate([params["b"], np.zeros(3 * HIDDEN, np.float32)])[None]
    constants = {
        "hop": np.int64(HOP), "window": WINDOW, "length": np.int64(FRAME), "mel": mel_matrix(), "floor": np.float32(FLOOR),
        "mean": mean, "deviation": deviation, "w": params["w"].T[None], "r": params["r"].T[None], "b": order,
        "out": params["out"], "bias": params["bias"], "last": np.array([-1], np.int64), "first": np.array([0], np.int64),
        "all": np.array([-1], np.int64), "tail_begin": np.array([HOP - FRAME], np.int64), "end": np.array([2**31 - 1], np.int64),
        "one": np.array([1], np.int64), "frames_first": np.array([-1, 1, MELS], np.int64), "flat": np.array([-1, HIDDEN], np.int64)}
    nodes = [
        node("Concat", ["tail", "samples"], ["joined"], axis=1),
        node("Slice", ["joined", "tail_begin", "end", "one"], ["next_tail"]),
        node("Unsqueeze", ["joined", "last"], ["signal"]),
        node("STFT", ["signal", "hop", "window", "length"], ["spectrum"]),
        node("ReduceSumSquare", ["spectrum"], ["power"], axes=[-1], keepdims=0),
        node("MatMul", ["power", "mel"], ["bands"]),
        node("Add", ["bands", "floor"], ["bands_floor"]),
        node("Log", ["bands_floor"], ["loudness"]),
        node("Sub", ["loudness", "mean"], ["centred"]),
        node("Div", ["centred", "deviation"], ["features"]),
        node("Reshape", ["features", "frames_first"], ["sequence"]),
        node("GRU", ["sequence", "w", "r", "b", "", "state"], ["states", "next_state"], hidden_size=HIDDEN),
        node("Reshape", ["states", "flat"], ["rows"]),
        node("MatMul", ["rows", "out"], ["products"]),
        node("Add", ["products", "bias"], ["logits"]),
        node("Sigmoid", ["logits"], ["columns"]),
        node("Reshape", ["columns", "all"], ["speech"])]
    training.write_model(
        MODEL, nodes,
        [("samples", "float", [1, "samples"]), ("tail", "float", [1, FRAME - HOP]), ("state", "float", [1, 1, HIDDEN])],
        [("speech", "float", ["frames"]), ("next_tail", "float", [1, FRAME - HOP]), ("next_state", "float", [1, 1, HIDDEN])],
        constants)


def evaluate():
    """Precision and recall of the frames of clips that training never saw, as LightNet computes them."""
    import lightnet
    session = lightnet.InferenceSession(MODEL, threads=1)
    rng = np.random.default_rng(HELD_OUT_SEED)
    right = found = spoken = frames = 0
    for _ in range(HELD_OUT_CLIPS):
        samples, is_speech = synthesize.clip(rng, SECONDS)
        speech, = session.run(["speech"], {"samples": samples[None], "tail": np.zeros((1, FRAME - HOP), np.float32),
                                           "state": np.zeros((1, 1, HIDDEN), np.float32)})
        right += (is_speech & (speech > 0.5)).sum()
        found, spoken, frames = found + (speech > 0.5).sum(), spoken + is_speech.sum(), frames + len(speech)
    print(f"{frames} frames, {spoken / frames:.0%} of them speech: precision {right / found:.1%}, recall {right / spoken:.1%}")


def main():
    if sys.argv[1:] != ["--evaluate"]:
        write_model(*train())
        rng = np.random.default_rng(SAMPLE_SEED)
        synthesize.write_wav(SAMPLE, synthesize.clip(rng, SECONDS)[0])
    evaluate()


if __name__ == "__main__":
    main()
