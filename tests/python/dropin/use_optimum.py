# SPDX-License-Identifier: Apache-2.0
"""As optimum uses onnxruntime: availability by metadata, types by TypeHelper, and a decoder with buffers that are bound.
usage: use_optimum.py MODEL"""
import importlib.metadata
import importlib.util
import inspect
import sys
from pathlib import Path

import numpy as np
from models import expected_decoder


def is_available(name):
    """(found, version)"""
    if importlib.util.find_spec(name) is None:
        return False, "N/A"
    for candidate in (name, f"{name}-gpu", f"{name}-directml"):
        try:
            return True, importlib.metadata.version(candidate)
        except importlib.metadata.PackageNotFoundError:
            continue
    return False, "N/A"


found, version = is_available("onnxruntime")
assert found and tuple(map(int, version.split(".")[:2])) >= (1, 16), (found, version)

import onnxruntime as ort
from onnxruntime import InferenceSession, IOBinding, SessionOptions
from onnxruntime.capi.onnxruntime_inference_collection import OrtValue
from onnxruntime.transformers.io_binding_helper import TypeHelper

assert ort.__version__ == version and inspect.getsourcefile(ort)
assert importlib.util.find_spec("onnxruntime.training") is None


class Decoder:
    def __init__(self, session):
        self.session, self.path = session, Path(session._model_path)
        self.binding = IOBinding(session)
        self.shapes = {value.name: value.shape for value in [*session.get_inputs(), *session.get_outputs()]}
        self.types = {value.name: value.type for value in [*session.get_inputs(), *session.get_outputs()]}
        self.provider = session.get_providers()[0]
        self.options = session.get_provider_options()[self.provider]

    def forward(self, ids, past):
        feed = {"input_ids": ids, "past_key_values.0.key": past}
        feed = {name: array.astype(TypeHelper.ort_type_to_numpy_type(self.types[name])) for name, array in feed.items()}
        outputs = self.session.run(None, feed)
        return {value.name: array for value, array in zip(self.session.get_outputs(), outputs)}

    def forward_bound(self, ids, past):
        known, feed, buffers = {}, {"input_ids": ids, "past_key_values.0.key": past}, {}
        for name, array in feed.items():
            known.update({axis: size for axis, size in zip(self.shapes[name], array.shape) if isinstance(axis, str)})
            # An address of nothing is 0 or anything: the library passes any, with a size of 0.
            self.binding.bind_input(name=name, device_type="cpu", device_id=0, element_type=TypeHelper.ort_type_to_numpy_type(self.types[name]),
                                    shape=tuple(array.shape), buffer_ptr=array.ctypes.data)
        for value in self.session.get_outputs():
            shape = [sum(known[part] for part in axis.split(" + ")) if isinstance(axis, str) else axis for axis in self.shapes[value.name]]
            buffers[value.name] = np.empty(shape, TypeHelper.ort_type_to_numpy_type(value.type))
            self.binding.bind_output(value.name, "cpu", 0, buffers[value.name].dtype.type, tuple(shape), buffers[value.name].ctypes.data)
        self.binding.synchronize_inputs()
        self.session.run_with_iobinding(self.binding)
        self.binding.synchronize_outputs()
        return buffers


if "CPUExecutionProvider" not in ort.get_available_providers():
    raise ValueError("no provider")
decoder = Decoder(InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"], sess_options=SessionOptions(), provider_options=[{}]))
assert decoder.path == Path(sys.argv[1]).resolve() and decoder.options == {}
assert TypeHelper.get_io_numpy_type_map(decoder.session)["input_ids"] is np.int64
decoder.session.set_providers(["CPUExecutionProvider"], provider_options=[{}])
for forward in (decoder.forward, decoder.forward_bound):
    past, ids = np.zeros((2, 2, 0, 4), np.float32), np.array([[1, 2, 3], [4, 5, 6]])
    for _ in range(4):
        logits, present = expected_decoder(ids, past)
        seen = forward(ids, past)
        assert seen["logits"].shape == logits.shape and np.allclose(seen["logits"], logits, atol=1e-5)
        assert np.allclose(seen["present.0.key"], present, atol=1e-6)
        past, ids = np.array(seen["present.0.key"]), seen["logits"][:, -1].argmax(-1)[:, None]
value = OrtValue.ortvalue_from_numpy(past)
assert value.device_name().lower() == "cpu" and value.shape() == [2, 2, 6, 4] and value.data_ptr() == past.ctypes.data
