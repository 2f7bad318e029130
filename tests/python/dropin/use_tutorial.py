# SPDX-License-Identifier: Apache-2.0
"""As the examples of onnxruntime's documentation use it. usage: use_tutorial.py FOLDER, in which it writes a profile"""
import os
import sys

import numpy
import onnxruntime as rt
from onnxruntime import datasets
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument, NoSuchFile
from onnxruntime.datasets import get_example

# Load and predict
session = rt.InferenceSession(get_example("sigmoid.onnx"), providers=rt.get_available_providers())
value, output = session.get_inputs()[0], session.get_outputs()[0]
assert (value.name, value.shape, value.type) == ("x", [3, 4, 5], "tensor(float)")
assert (output.name, output.shape, output.type) == ("y", [3, 4, 5], "tensor(float)")
x = numpy.random.default_rng(0).random((3, 4, 5)).astype(numpy.float32)
assert numpy.allclose(session.run([output.name], {value.name: x})[0], 1 / (1 + numpy.exp(-x)), atol=1e-6)

# Common errors
session = rt.InferenceSession(datasets.get_example("logreg_iris.onnx"), providers=rt.get_available_providers())
name, label = session.get_inputs()[0].name, session.get_outputs()[0].name
for feed, outputs in (({name: numpy.zeros((3, 2))}, [label]), ({name: numpy.zeros((3, 2), numpy.float32)}, ["misspelled"]),
                      ({"misspelled": numpy.zeros((3, 2), numpy.float32)}, [label]), ({name: numpy.zeros((1, 6), numpy.float32)}, [label])):
    try:
        session.run(outputs, feed)
    except InvalidArgument as error:
        assert isinstance(error, rt.InvalidArgument if hasattr(rt, "InvalidArgument") else InvalidArgument), error
        continue
    raise AssertionError(f"no error for {outputs} of {list(feed)}")
try:
    rt.InferenceSession("missing.onnx", providers=rt.get_available_providers())
    raise AssertionError("no error for a missing file")
except NoSuchFile as error:
    print(error)

# A classifier: labels, and a list of dicts
flowers = numpy.array([[5.0, 3.4], [5.9, 2.7], [7.2, 3.1]], numpy.float32)
labels, probabilities = session.run(None, {name: flowers})
assert labels.tolist() == [0, 1, 2]
assert [max(row, key=row.get) for row in probabilities] == [0, 1, 2]
assert all(sorted(row) == [0, 1, 2] and abs(sum(row.values()) - 1) < 1e-5 for row in probabilities)
assert session.get_outputs()[1].type == "seq(map(int64,tensor(float)))"

# Bindings and values
session = rt.InferenceSession(get_example("mul_1.onnx"), providers=rt.get_available_providers())
x = numpy.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=numpy.float32)
on_device = rt.OrtValue.ortvalue_from_numpy(x, "cpu", 0)
binding = session.io_binding()
binding.bind_input(name="X", device_type=on_device.device_name(), device_id=0, element_type=numpy.float32, shape=on_device.shape(),
                   buffer_ptr=on_device.data_ptr())
binding.bind_output("Y", "cpu")
session.run_with_iobinding(binding)
assert numpy.array_equal(binding.copy_outputs_to_cpu()[0], x * x)
assert numpy.array_equal(session.run_with_ort_values(["Y"], {"X": on_device})[0].numpy(), x * x)

# Metadata and a profile
meta = session.get_modelmeta()
print(meta.custom_metadata_map, meta.description, meta.domain, meta.graph_name, meta.producer_name, meta.version)
os.chdir(sys.argv[1])
options = rt.SessionOptions()
options.enable_profiling = True
session = rt.InferenceSession(get_example("mul_1.onnx"), options, providers=rt.get_available_providers())
session.run(None, {"X": x})
assert os.path.exists(session.end_profiling())
