# SPDX-License-Identifier: Apache-2.0
"""As insightface uses onnxruntime: a session that is pickled by its path, private attributes, and routing by shapes.
usage: use_insightface.py MODEL"""
import pickle
import sys

import numpy as np
import onnxruntime


class PickledSession(onnxruntime.InferenceSession):
    def __init__(self, model_path, **kwargs):
        super().__init__(model_path, **kwargs)
        self.model_path = model_path

    def __getstate__(self):
        return {"model_path": self.model_path}

    def __setstate__(self, values):
        self.__init__(values["model_path"])


class Embedder:
    def __init__(self, path, session):
        self.path, self.session = path, session
        value = session.get_inputs()[0]
        self.input_name, self.size = value.name, tuple(value.shape[2:4][::-1])
        self.output_names = [output.name for output in session.get_outputs()]
        assert len(self.output_names) == 1

    def get(self, images):
        blob = np.stack([(image.astype(np.float32) - 127.5) / 127.5 for image in images]).transpose(0, 3, 1, 2)
        return self.session.run(self.output_names, {self.input_name: blob})[0]


onnxruntime.set_default_logger_severity(3)
session = PickledSession(sys.argv[1], providers=onnxruntime.get_available_providers(), provider_options=None)
print(f"providers {session._providers}, options {session._provider_options}")
assert session._providers == ["CPUExecutionProvider"] and session._provider_options == {"CPUExecutionProvider": {}}
shape = session.get_inputs()[0].shape
assert len(session.get_outputs()) < 5 and shape[2] == 112 and shape[3] == 112 and isinstance(shape[0], str)
faces = np.random.default_rng(0).integers(0, 256, (3, 112, 112, 3), np.uint8)
wanted = ((faces / 127.5 - 1).transpose(0, 3, 1, 2).reshape(3, 3, 4, 28, 4, 28).mean((3, 5))).reshape(3, 48)
again = pickle.loads(pickle.dumps(session))
assert type(again) is PickledSession and again.model_path == sys.argv[1]
for one in (session, again):
    embedder = Embedder(sys.argv[1], one)
    assert embedder.size == (112, 112)
    assert np.allclose(embedder.get(faces), wanted, atol=1e-5)
    assert np.allclose(embedder.get(faces[1:2]), wanted[1:2], atol=1e-5)
