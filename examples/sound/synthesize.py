# SPDX-License-Identifier: Apache-2.0
"""Sound for training and tests: speech-like syllables with pauses, noises, tones and music, 16 kHz, from a random generator.

Voiced sounds are sums of harmonics whose strengths follow three formants; consonants are filtered noise and short silence.
"""
import wave

import numpy as np

RATE = 16000
HOP = 256  # samples of a label
# F1, F2, F3 in Hz of vowels and of voiced consonants (m, l), about those of Peterson and Barney (1952).
VOICED = np.array([(270, 2290, 3010), (390, 1990, 2550), (530, 1840, 2480), (660, 1720, 2410), (730, 1090, 2440), (570, 840, 2410),
                   (440, 1020, 2240), (300, 870, 2240), (640, 1190, 2390), (490, 1350, 1690), (280, 1100, 2200), (360, 1300, 2700)])
# Low and high end in Hz of the noise of s, sh, f, h.
FRICATIVES = [(4000, 7900), (2000, 6000), (1500, 7500), (600, 4000)]


def filtered_noise(rng, n, low, high, slope=0.0):
    """Noise between two frequencies; its power falls with frequency to the `slope`."""
    spectrum = np.fft.rfft(rng.normal(size=n))
    hertz = np.fft.rfftfreq(n, 1 / RATE)
    spectrum *= 1 / (1 + np.exp((low - hertz) / (0.1 * low + 20))) / (1 + np.exp((hertz - high) / (0.05 * high + 20)))
    noise = np.fft.irfft(spectrum * np.maximum(hertz, 50) ** (-slope / 2), n)
    return noise / (noise.std() + 1e-9)


def smooth(values, n):
    """Values at equal distances as a curve of n samples."""
    return np.interp(np.linspace(0, len(values) - 1, n), np.arange(len(values)), values)


def harmonics(pitch, strength):
    """The sum of the harmonics of `pitch` [n] in Hz; strength(hertz [k, n]) is their amplitude."""
    k = np.arange(1, min(40, int(7600 / pitch.min())) + 1)[:, None]
    hertz = k * pitch
    phase = 2 * np.pi * k * np.cumsum(pitch) / RATE + (k * k % 7)  # not all in phase
    return (np.sin(phase) * strength(hertz) * (hertz < 7800)).sum(0)


def voiced(rng, voice, n, targets):
    """n samples that glide through the formants `targets` [m, 3]."""
    formants = np.stack([smooth(targets[:, i] * voice["size"], n) for i in range(3)])
    pitch = voice["pitch"] * smooth(rng.uniform(0.85, 1.2, 3), n) * (1 + 0.01 * smooth(rng.normal(size=n // 80 + 2), n))

    def strength(hertz):
        peaks = sum(gain / (1 + ((hertz - f) / width) ** 2) for f, width, gain in zip(formants, (70, 110, 170), (1, 0.6, 0.35)))
        return peaks * (200 / (hertz + 200)) ** voice["tilt"] + 0.002
    return harmonics(pitch, strength) * np.minimum(1, np.minimum(np.arange(n), np.arange(n)[::-1]) / 240)


def syllable(rng, voice):
    """An optional consonant, a vowel, an optional consonant."""
    parts = []
    if rng.random() < 0.6:
        n = int(rng.uniform(0.04, 0.12) * RATE)
        noise = filtered_noise(rng, n, *FRICATIVES[rng.integers(4)]) * np.hanning(n) * rng.uniform(0.02, 0.2)
        parts.append(noise if rng.random() < 0.6 else np.concatenate([np.zeros(n // 2), noise[:n // 3]]))
    n = int(rng.uniform(0.08, 0.26) * RATE / voice["speed"])
    vowel = voiced(rng, voice, n, VOICED[rng.integers(len(VOICED), size=rng.integers(2, 4))])
    parts.append(vowel / (np.abs(vowel).max() + 1e-9) * rng.uniform(0.5, 1))
    if rng.random() < 0.3:
        n = int(rng.uniform(0.04, 0.1) * RATE)
        parts.append(filtered_noise(rng, n, *FRICATIVES[rng.integers(4)]) * np.hanning(n) * rng.uniform(0.02, 0.15))
    return np.concatenate(parts)


def speech(rng, n):
    """Phrases with pauses: samples [n], and which samples are in a phrase [n]."""
    voice = {"pitch": rng.uniform(85, 260), "size": rng.uniform(0.9, 1.2), "tilt": rng.uniform(0.3, 1), "speed": rng.uniform(0.8, 1.3)}
    samples, is_speech = np.zeros(n), np.zeros(n, bool)
    at = int(rng.uniform(0, 2) * RATE)
    while at < n:
        phrase = np.concatenate([syllable(rng, voice) for _ in range(rng.integers(1, 9))])[:n - at]
        samples[at:at + len(phrase)], is_speech[at:at + len(phrase)] = phrase, True
        at += len(phrase) + int(rng.choice([rng.uniform(0.35, 0.8), rng.uniform(0.8, 3)]) * RATE)
    return samples, is_speech


def echo(rng, samples):
    """The same in a room."""
    n = int(rng.uniform(0.05, 0.25) * RATE)
    room = rng.normal(size=n) * np.exp(-6 * np.arange(n) / n) * rng.uniform(0, 0.06)
    room[0] = 1
    size = 2 ** int(np.ceil(np.log2(len(samples) + n)))
    return np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(room, size), size)[:len(samples)]


# ---- what is not speech: each returns n samples ----

def hiss(rng, n):
    """Noise of any colour, whose loudness changes slowly."""
    return filtered_noise(rng, n, rng.uniform(20, 400), rng.uniform(2000, 8000), rng.uniform(0, 2.5)) * smooth(rng.uniform(0.5, 1, 6), n)


def hum(rng, n):
    """Mains and engines: low harmonics of a constant pitch."""
    tilt, pitch = rng.uniform(0.5, 2), rng.uniform(40, 130)
    return harmonics(np.full(n, pitch), lambda hertz: (pitch / hertz) ** tilt) * smooth(rng.uniform(0.8, 1, 4), n)


def beeps(rng, n):
    """One tone, on and off, or a siren."""
    pitch = np.full(n, rng.uniform(300, 3500))
    if rng.random() < 0.4:
        pitch *= 1 + 0.3 * np.sin(2 * np.pi * rng.uniform(0.2, 3) * np.arange(n) / RATE)
    gate = np.arange(n) / RATE * rng.uniform(0.5, 5) % 1 < rng.uniform(0.2, 1)
    return np.sin(2 * np.pi * np.cumsum(pitch) / RATE) * gate


def music(rng, n):
    """Chords of notes that start suddenly, keep their pitch and die away."""
    samples, at, beat = np.zeros(n), 0, rng.uniform(0.15, 0.7) * RATE
    tilt, decay = rng.uniform(0.8, 2), rng.uniform(0.5, 6)
    while at < n:
        length = min(int(beat * rng.choice([1, 2, 3])), n - at)
        envelope = np.exp(-decay * np.arange(length) / RATE) * np.minimum(1, np.arange(length) / 80)
        for _ in range(rng.integers(1, 4)):
            pitch = 110 * 2 ** (rng.integers(0, 36) / 12)
            samples[at:at + length] += harmonics(np.full(length, pitch), lambda hertz: (pitch / hertz) ** tilt) * envelope
        at += max(length, 1)
    return samples


def knocks(rng, n):
    """Knocks, clicks, keys."""
    samples = np.zeros(n)
    for at in np.cumsum(rng.exponential(rng.uniform(0.1, 0.8), 200) * RATE).astype(int):
        length = min(int(rng.uniform(0.005, 0.08) * RATE), n - at)
        if length > 16:
            burst = filtered_noise(rng, length, rng.uniform(50, 1500), rng.uniform(2000, 7900))
            samples[at:at + length] += burst * np.exp(-6 * np.arange(length) / length) * rng.uniform(0.3, 1)
    return samples


def birds(rng, n):
    """Chirps."""
    samples = np.zeros(n)
    for at in np.cumsum(rng.exponential(0.5, 60) * RATE).astype(int):
        length = min(int(rng.uniform(0.03, 0.2) * RATE), n - at)
        if length > 64:
            pitch = smooth(rng.uniform(1800, 6000, 3), length)
            samples[at:at + length] += np.sin(2 * np.pi * np.cumsum(pitch) / RATE) * np.hanning(length)
    return samples


NOISES = [hiss, hum, beeps, music, knocks, birds]


def level(samples, decibels):
    """The samples scaled so that those that are not silent have an RMS of `decibels` dB below full scale."""
    loud = samples[np.abs(samples) > 1e-4 * np.abs(samples).max()]
    return samples * (10 ** (-decibels / 20) / (np.sqrt((loud * loud).mean()) + 1e-9) if len(loud) else 0)


def clip(rng, seconds, noises=NOISES):
    """Speech, or none, among one to three noises: samples [n] float32 in -1 .. 1, labels [n / HOP] of 0 and 1."""
    n = int(seconds * RATE) // HOP * HOP
    mixed, is_speech = level(filtered_noise(rng, n, 20, 7900), rng.uniform(55, 90)), np.zeros(n, bool)
    loudness = rng.uniform(12, 40)
    if rng.random() < 0.75:
        spoken, is_speech = speech(rng, n)
        mixed = mixed + level(echo(rng, spoken), loudness)
    for noise in rng.choice(len(noises), rng.integers(0, 3), replace=False):
        # Beside speech 3 to 35 dB softer, alone of any loudness.
        mixed = mixed + level(noises[noise](rng, n), rng.uniform(loudness + 3, loudness + 35) if is_speech.any() else rng.uniform(12, 60))
    return np.clip(mixed, -1, 1).astype(np.float32), is_speech.reshape(-1, HOP).mean(1) > 0.5


def write_wav(path, samples):
    """16-bit mono."""
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((samples * 32767).astype("<i2").tobytes())
