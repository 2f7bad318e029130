# SPDX-License-Identifier: Apache-2.0
"""As faster-whisper uses onnxruntime, imported when it is needed: windows of audio in one run, with the state of an LSTM.
usage: use_faster_whisper.py MODEL"""
import sys

import numpy as np
from models import HIDDEN, expected_recurrent


class Detector:
    def __init__(self, path):
        try:
            import onnxruntime
        except ImportError as error:
            raise RuntimeError("detecting speech requires onnxruntime") from error
        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"], sess_options=options)

    def __call__(self, audio, samples=512, context=64):
        windows = audio.reshape(-1, samples)
        before = np.concatenate([np.zeros((1, context), np.float32), windows[:-1, -context:]])
        h = c = np.zeros((1, 1, HIDDEN), np.float32)
        batch = np.concatenate([before, windows], 1)
        out = []
        for start in range(0, len(batch), 5):  # batches of windows
            speech, h, c = self.session.run(None, {"input": batch[start:start + 5], "h": h, "c": c})
            out.append(speech)
        return np.concatenate(out), batch, h, c


audio = np.random.default_rng(3).standard_normal(512 * 13).astype(np.float32)
speech, batch, h, c = Detector(sys.argv[1])(audio)
zero = np.zeros((1, 1, HIDDEN), np.float32)
wanted, last_h, last_c = expected_recurrent(batch, zero, zero)
assert speech.shape == (13, 1) and np.allclose(speech, wanted, atol=1e-5)
assert np.allclose(h.ravel(), last_h, atol=1e-5) and np.allclose(c.ravel(), last_c, atol=1e-5)
