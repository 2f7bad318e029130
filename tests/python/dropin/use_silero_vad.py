# SPDX-License-Identifier: Apache-2.0
"""As silero-vad uses onnxruntime: one thread, a state from run to run, and the sampling rate as a scalar input.
usage: use_silero_vad.py MODEL"""
import sys

import numpy as np
from models import expected_voice


class Detector:
    def __init__(self, path, force_cpu=False):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        if force_cpu and "CPUExecutionProvider" in onnxruntime.get_available_providers():
            self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"], sess_options=options)
        else:
            self.session = onnxruntime.InferenceSession(path, sess_options=options)
        self.reset()

    def reset(self, batch=1):
        self.state, self.context = np.zeros((2, batch, 128), np.float32), np.zeros((batch, 0), np.float32)

    def __call__(self, x, rate):
        size = 64 if rate == 16000 else 32
        if not self.context.size:
            self.context = np.zeros((len(x), size), np.float32)
        x = np.concatenate([self.context, x], 1)
        out, self.state = self.session.run(None, {"input": x, "state": self.state, "sr": np.array(rate, dtype="int64")})
        self.context = x[..., -size:]
        return out, x


for force_cpu in (True, False):
    detector = Detector(sys.argv[1], force_cpu)
    rng = np.random.default_rng(2)
    for rate, batch, samples in ((16000, 1, 512), (8000, 1, 256), (16000, 3, 512)):
        detector.reset(batch)
        state = detector.state
        for _ in range(4):
            speech, x = detector(rng.standard_normal((batch, samples)).astype(np.float32), rate)
            wanted, state = expected_voice(x, state, rate)
            assert speech.shape == (batch, 1) and np.allclose(speech, wanted, atol=1e-5), (speech, wanted)
            assert np.allclose(detector.state, state, atol=1e-5)
