# SPDX-License-Identifier: Apache-2.0
"""As rapidocr uses onnxruntime: options, providers with options, names of inputs, and characters in the metadata.
usage: use_rapidocr.py MODEL"""
import os
import sys

import numpy as np
from onnxruntime import (GraphOptimizationLevel, InferenceSession, SessionOptions, get_available_providers,
                         get_device)

from models import CHARACTERS


class Recognizer:
    def __init__(self, path):
        options = SessionOptions()
        options.log_severity_level = 4
        options.enable_cpu_mem_arena = False
        options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = min(2, os.cpu_count())
        options.inter_op_num_threads = 1
        providers = [("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})]
        if get_device() == "GPU" and "CUDAExecutionProvider" in get_available_providers():
            providers.insert(0, ("CUDAExecutionProvider", {"device_id": 0}))
        self.session = InferenceSession(path, sess_options=options, providers=providers)
        assert self.session.get_providers()[0] == "CPUExecutionProvider"
        assert isinstance(self.session, InferenceSession)
        characters = self.session.get_modelmeta().custom_metadata_map
        assert "character" in characters.keys()
        self.characters = ["blank", *characters["character"].splitlines()]

    def __call__(self, image):
        names = [v.name for v in self.session.get_inputs()]
        outputs = [v.name for v in self.session.get_outputs()]
        return self.session.run(outputs, dict(zip(names, [image])))[0]

    def text(self, image):
        """The most likely characters, without repetitions and blanks, of each image."""
        rows = self(image).argmax(2)
        kept = [[c for c, before in zip(row, [-1, *row]) if c and c != before] for row in rows.tolist()]
        return ["".join(self.characters[c] for c in row) for row in kept]


recognizer = Recognizer(sys.argv[1])
assert recognizer.characters == CHARACTERS
wanted = [[1, 1, 0, 2, 3, 3, 0, 3, 4], [4, 0, 1, 2, 0, 2, 0, 0, 0]]
image = np.broadcast_to(np.array(wanted, np.float32)[:, None, None], (2, 3, 48, 9))
probabilities = recognizer(image)
z = 2.0 * np.array(wanted)[..., None] * np.arange(5) - np.arange(5) ** 2
assert np.allclose(probabilities, np.exp(z) / np.exp(z).sum(-1, keepdims=True), atol=1e-5)
assert recognizer.text(image) == ["abcc\u4e2d", "\u4e2dabb"]
assert recognizer(image[:1, :, :, :4]).shape == (1, 4, 5)  # another width
