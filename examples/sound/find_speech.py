#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: find_speech.py MODEL FILE.wav. Prints segments of speech, as lines of START END in seconds.

FILE is 16-bit mono of 16 kHz, which is read and analysed piece by piece, as from a microphone.
"""
import sys
import wave

import lightnet
import numpy as np

RATE = 16000
HOP = 256  # samples of a frame: the model returns a probability for each
CHUNK = 5  # frames of a run, 80 ms
HOLD = 20  # frames of silence that end a segment, 0.32 s
SHORT = 6  # frames of the shortest segment, 0.1 s
HIDDEN = 32  # elements of the state


class Segments:
    """Frames in, segments out."""

    def __init__(self):
        self.frame, self.first, self.last = 0, None, 0  # first is None outside of a segment

    def add(self, probability):
        if probability > 0.5:
            self.first = self.frame if self.first is None else self.first
            self.last = self.frame
        elif self.first is not None and self.frame - self.last >= HOLD:
            self.end()
        self.frame += 1

    def end(self):
        if self.first is not None and self.last - self.first + 1 >= SHORT:
            print(f"{self.first * HOP / RATE:6.2f} {(self.last + 1) * HOP / RATE:6.2f}", flush=True)
        self.first = None


def chunks(path):
    """The samples of a WAV file in pieces [1, CHUNK * HOP] of -1 to 1; zeros fill the last one."""
    with wave.open(path) as file:
        if (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, RATE):
            sys.exit(f"{path}: expected samples of 16 bits, mono, 16 kHz")
        while data := file.readframes(CHUNK * HOP):
            chunk = np.zeros((1, CHUNK * HOP), np.float32)
            chunk[0, :len(data) // 2] = np.frombuffer(data, "<i2") / np.float32(32768)
            yield chunk


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model, path = sys.argv[1:]
    session = lightnet.InferenceSession(model, threads=1)
    # The states are the model's memory of the sound so far: what one run returns, the next gets.
    tail, state = np.zeros((1, HOP), np.float32), np.zeros((1, 1, HIDDEN), np.float32)
    segments = Segments()
    for samples in chunks(path):
        speech, tail, state = session.run(["speech", "next_tail", "next_state"],
                                          {"samples": samples, "tail": tail, "state": state})
        for probability in speech:
            segments.add(probability)
    segments.end()


if __name__ == "__main__":
    main()
