# SPDX-License-Identifier: Apache-2.0
"""As sentence-transformers uses onnxruntime: the first available provider, a session of tokens, means of what the mask keeps.
usage: use_sentence_transformers.py MODEL"""
import sys

import numpy as np
import onnxruntime as ort
from models import WIDTH, weights


class Encoder:
    def __init__(self, path, **model_args):
        model_args["provider"] = model_args.pop("provider", ort.get_available_providers()[0])
        options = model_args.pop("session_options", None)
        self.session = ort.InferenceSession(path, providers=[model_args["provider"]], sess_options=options)
        self.names = {value.name: i for i, value in enumerate(self.session.get_inputs())}

    def encode(self, sentences):
        """Unit vectors of lists of tokens."""
        longest = max(map(len, sentences))
        features = {"input_ids": np.array([s + [0] * (longest - len(s)) for s in sentences]),
                    "attention_mask": np.array([[1] * len(s) + [0] * (longest - len(s)) for s in sentences])}
        if "token_type_ids" in self.names:
            features["token_type_ids"] = np.zeros_like(features["input_ids"])
        hidden = self.session.run(None, {name: features[name] for name in self.names})[0]
        mask = features["attention_mask"][..., None].astype(np.float32)
        means = (hidden * mask).sum(1) / np.clip(mask.sum(1), 1e-9, None)
        return means / np.linalg.norm(means, axis=1, keepdims=True)


options = ort.SessionOptions()
options.intra_op_num_threads = 1
sentences = [[1, 2, 3], [3, 2, 1], [7, 8, 9, 10, 4]]
E, K = weights(5, 11, WIDTH), weights(6, 2, WIDTH)
means = np.stack([E[s].mean(0) + K[0] for s in sentences])
wanted = means / np.linalg.norm(means, axis=1, keepdims=True)
for arguments in ({}, {"provider": "CPUExecutionProvider", "session_options": options}):
    vectors = Encoder(sys.argv[1], **arguments).encode(sentences)
    assert vectors.shape == (3, WIDTH) and np.allclose(vectors, wanted, atol=1e-5)
    similarities = vectors @ vectors.T
    assert abs(similarities[0, 1] - 1) < 1e-5 and similarities[0, 2] < 0.999
