#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: ort_names.py PACKAGE LIGHTNET. Names that onnxruntime has for devices, memory, adapters, sparse tensors, compilation and
its lower layer, in the package in the folder PACKAGE."""
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [sys.argv[1], os.path.join(HERE, "../structure"), os.path.join(HERE, "../onnx")]
os.environ["LIGHTNET_COMMAND"] = os.path.abspath(sys.argv[2])

import numpy as np
from checks import equal, raises, run_tests, same, test
from tap import ROOT

import lightnet
import onnx_writer as w
from lightnet import OrtValue
from lightnet.capi import _pybind_state as C

DIGITS = os.path.join(ROOT, "examples/digits/digits.onnx")


def warnings_of(function):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function()
    return [str(warning.message) for warning in seen]


def scaled(size="n"):
    """The bytes of y = x * k, whose input k has the default 2."""
    whole = w.graph([w.node("Mul", ["x", "k"], ["y"], name="times")], [w.value("x", "float", [size]), w.value("k", "float", [])],
                    [w.value("y", "float", [size])], [w.tensor("k", "float", [], [2])])
    return w.model(whole, opset=17)


X = np.array([1, -2, 3], np.float32)


# ---- names ----

# Of onnxruntime 1.24: what its top level and its lower layer define for inference on a CPU.
TOP_LEVEL = """AdapterFormat ExecutionMode ExecutionOrder GraphOptimizationLevel IOBinding InferenceSession LoraAdapter ModelCompiler
ModelMetadata NodeArg OrtAllocatorType OrtArenaCfg OrtCompileApiFlags OrtDevice OrtDeviceMemoryType OrtEpAssignedNode
OrtEpAssignedSubgraph OrtEpDevice OrtHardwareDevice OrtHardwareDeviceType OrtMemType OrtMemoryInfo OrtMemoryInfoDeviceType
OrtSparseFormat OrtValue RunOptions SessionIOBinding SessionOptions SparseTensor __author__ __version__ capi copy_tensors
create_and_register_allocator create_and_register_allocator_v2 cuda_version disable_telemetry_events enable_telemetry_events
get_all_providers get_available_providers get_build_info get_device get_ep_devices get_version_string has_collective_ops
package_name preload_dlls print_debug_info set_default_logger_severity set_default_logger_verbosity
set_global_thread_pool_sizes set_seed version""".split()
STATE = """EPFail EngineError Fail InvalidArgument InvalidGraph InvalidProtobuf ModelLoadCanceled ModelLoaded
ModelRequiresCompilation NoModel NoSuchFile NotFound NotImplemented OrtValueVector RuntimeException get_all_operator_schema
get_all_opkernel_def get_default_session_options is_dlpack_uint8_tensor quantize_matmul_2bits quantize_matmul_4bits quantize_matmul_8bits""".split()
METHODS = {
    "InferenceSession": """disable_fallback enable_fallback end_profiling get_input_epdevices get_input_memory_infos get_inputs
        get_modelmeta get_output_memory_infos get_outputs get_overridable_initializers get_profiling_start_time_ns
        get_provider_graph_assignment_info get_provider_options get_providers get_session_options get_tuning_results io_binding run
        run_async run_with_iobinding run_with_ort_values run_with_ortvaluevector set_ep_dynamic_options set_providers
        set_tuning_results _sess _model_path _model_bytes _sess_options _inputs_meta _outputs_meta _overridable_initializers
        _model_meta _providers _provider_options _profiling_start_time_ns""",
    "IOBinding": """bind_cpu_input bind_input bind_ortvalue_input bind_ortvalue_output bind_output clear_binding_inputs
        clear_binding_outputs copy_outputs_to_cpu get_outputs get_outputs_as_ortvaluevector synchronize_inputs synchronize_outputs
        _iobinding""",
    "OrtValue": """ort_value_from_sparse_tensor ortvalue_from_numpy ortvalue_from_numpy_with_onnx_type ortvalue_from_shape_and_type
        _get_c_value as_sparse_tensor data_ptr data_type device_name element_type has_value is_sparse_tensor is_tensor
        is_tensor_sequence numpy shape tensor_size_in_bytes update_inplace _ortvalue __dlpack__ to_dlpack""",
    "OrtDevice": """make device_id device_type device_vendor_id device_mem_type _get_c_device cpu cuda gpu npu dml cann fpga webgpu
        default_memory vendor_id mem_type""",
    "SparseTensor": """sparse_coo_from_numpy sparse_csr_from_numpy as_blocksparse_view as_coo_view as_csrc_view data_type dense_shape
        device_name format to_cuda values _get_c_tensor""",
    "SessionOptions": """add_external_initializers add_external_initializers_from_files_in_memory
        add_free_dimension_override_by_denotation add_free_dimension_override_by_name add_initializer add_provider
        add_session_config_entry get_session_config_entry has_providers register_custom_ops_library set_load_cancellation_flag
        enable_cpu_mem_arena enable_mem_pattern enable_mem_reuse enable_profiling execution_mode execution_order
        graph_optimization_level inter_op_num_threads intra_op_num_threads log_severity_level log_verbosity_level logid
        optimized_model_filepath profile_file_prefix use_deterministic_compute use_per_session_threads""",
    "RunOptions": """add_active_adapter add_run_config_entry get_run_config_entry log_severity_level log_verbosity_level logid
        only_execute_path_to_fetches terminate""",
    "ModelCompiler": "compile_to_file compile_to_bytes compile_to_stream",
    "AdapterFormat": """read_adapter export_adapter get_adapter_version get_format_version get_model_version get_parameters
        set_adapter_version set_model_version set_parameters""",
}


@test
def names_of_the_api_exist():
    state = __import__("lightnet.capi.onnxruntime_pybind11_state", fromlist=["x"])
    faults = [f"no lightnet.{name}" for name in TOP_LEVEL if not hasattr(lightnet, name)]
    faults += [f"no state.{name}" for name in STATE if not hasattr(state, name)]
    faults += [f"no {name} in both" for name in STATE if getattr(C, name) is not getattr(state, name)]
    made = {"InferenceSession": lightnet.InferenceSession(scaled()), "SessionOptions": lightnet.SessionOptions()}
    for name, methods in METHODS.items():
        owner = made.get(name, getattr(lightnet, name))
        faults += [f"no {name}.{method}" for method in methods.split() if not hasattr(owner, method)]
    return faults


SLOW_MODULES = ("numpy", "asyncio", "difflib", "email", "importlib.metadata", "inspect", "logging", "pathlib", "pickle", "subprocess", "tempfile")


@test
def names_are_imported_when_they_are_used():
    code = "import sys; before = set(sys.modules); import lightnet; print(*sorted(set(sys.modules) - before))"
    env = {**os.environ, "PYTHONPATH": sys.argv[1]}
    loaded = subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True).stdout.split()
    lazy = [name for name in loaded if name in SLOW_MODULES or name in [f"lightnet.{module}" for module in lightnet._LAZY]]
    return same(lazy, []) + ([] if "lightnet._session" in loaded and len(loaded) <= 70 else [f"{len(loaded)} modules: {loaded}"]) + \
        raises(AttributeError, lambda: lightnet.nothing, "no attribute 'nothing'")


# ---- devices, memory, providers ----

@test
def devices_and_memory_have_the_numbers_of_onnxruntime():
    device = C.OrtDevice(C.OrtDevice.cpu(), C.OrtDevice.default_memory(), 0)
    info = lightnet.OrtMemoryInfo("Cpu", lightnet.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, lightnet.OrtMemType.DEFAULT)
    arena = lightnet.OrtArenaCfg({"max_mem": 1 << 20})
    lightnet.create_and_register_allocator(info, arena)
    faults = same((lightnet.OrtDevice.cuda(), lightnet.OrtDevice.npu(), int(lightnet.OrtMemType.CPU), arena.max_mem), (1, 3, -1, 1 << 20))
    faults += same((info.name, info.device_id, info.mem_type), ("Cpu", 0, lightnet.OrtMemType.DEFAULT))
    faults += same(C.OrtDevice(device)._get_c_device().device_id(), 0)
    faults += raises(lightnet.InvalidArgument, lambda: C.OrtDevice(C.OrtDevice.cuda(), 0, 0), "expected 'cpu'")
    faults += raises(lightnet.InvalidArgument, lambda: lightnet.OrtArenaCfg({"chunks": 1}), "'chunks'", "max_mem")
    faults += raises(TypeError, lambda: lightnet.OrtArenaCfg(1, 2), "4 numbers")
    session = lightnet.InferenceSession(scaled())
    faults += same([m.name for m in session.get_input_memory_infos() + session.get_output_memory_infos()], ["Cpu"] * 2)
    return faults + same([d.ep_name for d in session.get_input_epdevices()], ["CPUExecutionProvider"]) + \
        same(lightnet.get_ep_devices()[0].device.type, lightnet.OrtHardwareDeviceType.CPU)


@test
def nodes_are_recorded_on_request():
    options = lightnet.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    rows = lightnet.InferenceSession(scaled(), options).get_provider_graph_assignment_info()
    seen = [(row.ep_name, [tuple(node) for node in row.get_nodes()]) for row in rows]
    return same(seen, [("CPUExecutionProvider", [("times", "", "Mul")])]) + \
        raises(lightnet.Fail, lightnet.InferenceSession(scaled()).get_provider_graph_assignment_info, "record_ep_graph_assignment_info")


@test
def keywords_that_are_no_options_are_ignored():
    told = warnings_of(lambda: lightnet.InferenceSession(scaled(), nonsense=1, threads=1))
    return ([] if "nonsense" in str(told) else [str(told)]) + \
        raises(lightnet.InvalidArgument, lambda: lightnet.InferenceSession(scaled(), provider=["CPUExecutionProvider"]), "providers")


@test
def options_without_effect_say_so():
    session, options = lightnet.InferenceSession(scaled()), lightnet.SessionOptions()
    options.add_provider("NoExecutionProvider", {})
    faults = same(["dynamic options" in text for text in warnings_of(lambda: session.set_ep_dynamic_options({"a": "b"}))], [True])
    faults += raises(lightnet.InvalidArgument, lambda: session.set_ep_dynamic_options({}), "no options")
    faults += same((session.get_tuning_results(), len(warnings_of(lambda: session.set_tuning_results([{"ep": 1}])))), ([], 1))
    faults += raises(lightnet.Fail, lambda: session.set_tuning_results([1], error_on_invalid=True), "not tuned")
    seen = warnings_of(lambda: lightnet.InferenceSession(scaled(), options))
    return faults + same((options.has_providers(), lightnet.SessionOptions().has_providers()), (True, False)) + \
        same(["NoExecutionProvider" in text for text in seen], [True])


# ---- options that change a session ----

@test
def threads_of_the_process_are_those_of_sessions_that_share_them():
    def threads(**values):
        options = lightnet.SessionOptions()
        for name, value in values.items():
            setattr(options, name, value)
        return dict(options._pairs()).get("threads")
    try:
        lightnet.set_global_thread_pool_sizes(2, 1)
        seen = [threads(), threads(use_per_session_threads=False), threads(use_per_session_threads=False, intra_op_num_threads=5),
                threads(intra_op_num_threads=5)]
    finally:
        lightnet.set_global_thread_pool_sizes(0)
    return same(seen, [None, "2", "2", "5"]) + same(threads(use_per_session_threads=False), None) + \
        raises(lightnet.InvalidArgument, lambda: lightnet.set_global_thread_pool_sizes(-1), "-1 threads")


@test
def opening_is_cancelled_by_a_flag():
    options = lightnet.SessionOptions()
    options.set_load_cancellation_flag(True)
    faults = raises(C.ModelLoadCanceled, lambda: lightnet.InferenceSession(scaled(), options), "set_load_cancellation_flag")
    options.set_load_cancellation_flag(False)
    return faults + equal(lightnet.InferenceSession(scaled(), options).run(None, {"x": X})[0], 2 * X)


def external(name, dtype, dims, location, offset=None, length=None):
    """A TensorProto whose bytes lie in a file."""
    pairs = [("location", location)] + [(k, str(v)) for k, v in (("offset", offset), ("length", length)) if v is not None]
    entries = b"".join(w.field(13, w.field(1, key) + w.field(2, value)) for key, value in pairs)
    return w.Tensor(w.repeated(1, dims) + w.field(2, w.DTYPES[dtype][0]) + w.field(8, name) + entries + w.field(14, 1))


def with_external(offset, length):
    branch = w.graph([w.node("Identity", ["b"], ["t"])], [], [w.value("t", "float", [2])], [external("b", "float", [2], "w.bin", 0, 8)])
    other = w.graph([w.node("Identity", ["a"], ["e"])], [], [w.value("e", "float", [2])])
    nodes = [w.node("If", ["c"], ["z"], then_branch=branch, else_branch=other), w.node("Add", ["x", "z"], ["y"])]
    return w.model(w.graph(nodes, [w.value("x", "float", [2]), w.value("c", "bool", [])], [w.value("y", "float", [2])],
                           [external("a", "float", [2], "w.bin", offset, length)]), opset=17)


@test
def files_of_initializers_may_be_in_memory():
    content = np.array([10, 20, 30, 40], np.float32).tobytes()

    def opened(offset, length, name="w.bin", size=16, given=content):
        options = lightnet.SessionOptions()
        options.add_external_initializers_from_files_in_memory([name], [bytearray(given)], [size])
        return lightnet.InferenceSession(with_external(offset, length), options)
    x, faults = np.array([1, 2], np.float32), []
    for offset, length in ((8, 8), (8, None)):
        session = pickle.loads(pickle.dumps(opened(offset, length)))
        faults += equal(session.run(None, {"x": x, "c": np.array(False)})[0], np.array([31, 42], np.float32))
        faults += equal(session.run(None, {"x": x, "c": np.array(True)})[0], np.array([11, 22], np.float32))
    faults += raises(lightnet.InvalidArgument, lambda: opened(12, 8), "initializer 'a'", "bytes 12 to 20", "has 16")
    faults += raises(lightnet.InvalidArgument, lambda: opened(0, 8, "other.bin"), "no tensors in a file 'other.bin'")
    faults += raises(lightnet.InvalidArgument, lambda: opened(0, 8, size=17), "has 16 bytes, not 17")
    return faults + raises(lightnet.InvalidGraph, lambda: opened("x", 8), "offset 'x'", "expected numbers")


# ---- adapters ----

def read_flatbuffer(data):
    """{name: (data type, dims, bytes)}, and the three versions, of an adapter: a second reader of the format."""
    def u32(at):
        return struct.unpack_from("<I", data, at)[0]

    def field(table, i):
        vtable = table - struct.unpack_from("<i", data, table)[0]
        offset = struct.unpack_from("<H", data, vtable + 4 + 2 * i)[0] if 4 + 2 * i < struct.unpack_from("<H", data, vtable)[0] else 0
        return table + offset if offset else None

    def vector(table, i):
        at = field(table, i)
        start = at + u32(at)
        return start + 4, u32(start)
    root = u32(0)
    start, n = vector(root, 3)
    found = {}
    for k in range(n):
        table = start + 4 * k + u32(start + 4 * k)
        text, length = vector(table, 0)
        assert data[text + length] == 0
        dims, ndim = vector(table, 1)
        raw, size = vector(table, 3)
        assert dims % 8 == 0 and raw % 8 == 0
        found[data[text:text + length].decode()] = (u32(field(table, 2)), list(struct.unpack_from(f"<{ndim}q", data, dims)), data[raw:raw + size])
    return found, [u32(field(root, i)) for i in range(3)]


def shared_names(n, length):
    """The bytes of an adapter whose n parameters are one table, with a name of that length: a small file, many long names."""
    vtable, vector = struct.pack("<6H", 12, 20, 4, 8, 12, 16), 40
    table = vector + 4 + 4 * n + len(vtable)
    name, dims = table + 20, table + 20 + 4 + length
    offsets = [table - (vector + 4 + 4 * k) for k in range(n)]
    parameter = struct.pack("<i4I", len(vtable), name - table - 4, dims - table - 8, 1, dims + 4 - table - 16)
    return struct.pack("<I4s", 20, b"TORT") + vtable + struct.pack("<i4I", 12, 1, 0, 0, 4) + struct.pack(f"<I{n}I", n, *offsets) + \
        vtable + parameter + struct.pack("<I", length) + b"x" * length + struct.pack("<IIf", 0, 4, 1.5)


def adapter_file(path, **arrays):
    made = lightnet.AdapterFormat()
    made.set_adapter_version(3)
    made.set_model_version(7)
    made.set_parameters({name: OrtValue.ortvalue_from_numpy(array) for name, array in arrays.items()})
    made.export_adapter(path)
    return path


@test
def adapters_are_files_of_flatbuffers():
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.array(5, np.int64)
    with tempfile.TemporaryDirectory() as folder:
        path = adapter_file(os.path.join(folder, "a.onnx_adapter"), first=a, **{"zw\u00f6lf": b})
        with open(path, "rb") as file:
            data = file.read()
        found, versions = read_flatbuffer(data)
        faults = same(found, {"first": (1, [2, 3], a.tobytes()), "zw\u00f6lf": (7, [], b.tobytes())}) + same(versions, [1, 3, 7])
        again = lightnet.AdapterFormat.read_adapter(path)
        faults += same((again.get_format_version(), again.get_adapter_version(), again.get_model_version()), (1, 3, 7))
        faults += equal(again.get_parameters()["first"].numpy(), a) + equal(again.get_parameters()["zw\u00f6lf"].numpy(), b)
        none = adapter_file(os.path.join(folder, "none.onnx_adapter"), none=np.zeros((0, 768), np.float32))
        faults += same(lightnet.AdapterFormat.read_adapter(none).get_parameters()["none"].shape(), [0, 768])
        for at in range(len(data)):  # any damage is an error of the library, or changes a value
            for kept in (data[:at], data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:]):
                with open(path, "wb") as file:
                    file.write(kept)
                try:
                    lightnet.AdapterFormat.read_adapter(path)
                except lightnet.InvalidGraph:
                    continue
                except Exception as error:
                    faults.append(f"byte {at}: {error!r}")
        for n, text in ((1, None), (2, "names share bytes")):
            with open(path, "wb") as file:
                file.write(shared_names(n, 4000))
            faults += raises(lightnet.InvalidGraph, lambda: lightnet.AdapterFormat.read_adapter(path), path, text) if text else \
                same(list(lightnet.AdapterFormat.read_adapter(path).get_parameters()), ["x" * 4000])
    return faults[:3] + same(data[4:8], b"TORT") + \
        raises(lightnet.NoSuchFile, lambda: lightnet.LoraAdapter().Load("none.onnx_adapter"), "none.onnx_adapter") + \
        raises(lightnet.InvalidGraph, lambda: lightnet.LoraAdapter().Load(DIGITS), DIGITS, "not an adapter") + \
        raises(lightnet.InvalidArgument, lambda: lightnet.AdapterFormat().set_adapter_version(1 << 31), "2147483648", "32 bits") + \
        raises(TypeError, lambda: lightnet.AdapterFormat().set_parameters({"k": a}), "'k'", "OrtValue")


@test
def runs_take_inputs_from_active_adapters():
    session, options, adapter = lightnet.InferenceSession(scaled()), lightnet.RunOptions(), lightnet.LoraAdapter()
    with tempfile.TemporaryDirectory() as folder:
        adapter.Load(adapter_file(os.path.join(folder, "k"), k=np.array(5, np.float32)))
        wrong = lightnet.LoraAdapter()
        wrong.Load(adapter_file(os.path.join(folder, "z"), z=np.array(5, np.float32)))
    options.add_active_adapter(adapter)
    faults = equal(session.run(None, {"x": X}, options)[0], 5 * X) + equal(session.run(None, {"x": X})[0], 2 * X)
    faults += equal(session.run(["y"], {"x": X, "k": np.array(3, np.float32)}, options)[0], 3 * X)
    binding = session.io_binding()
    binding.bind_cpu_input("x", X)
    for used, factor in ((options, 5), (None, 2), (options, 5)):
        binding.bind_output("y")
        session.run_with_iobinding(binding, used)
        faults += equal(binding.copy_outputs_to_cpu()[0], factor * X)
    options.add_active_adapter(wrong)
    return faults + raises(lightnet.InvalidArgument, lambda: session.run(None, {"x": X}, options), "'z'")


# ---- values ----

@test
def sparse_tensors_keep_values_and_places():
    dense = np.array([[0, 1.5, 0], [2, 0, -3]], np.float32)
    rows, columns = dense.nonzero()
    values, device = dense[rows, columns], lightnet.OrtDevice.make("cpu", 0)
    places = np.stack([rows, columns], 1)
    faults = []
    for indices in (rows * 3 + columns, places):
        made = lightnet.SparseTensor.sparse_coo_from_numpy([2, 3], values, indices, device)
        back = np.zeros(6, np.float32)
        found = made.as_coo_view().indices()
        back[found if found.ndim == 1 else found[:, 0] * 3 + found[:, 1]] = made.values()
        faults += equal(back.reshape(made.dense_shape()), dense) + equal(found, indices.astype(np.int64))
    outer = np.array([0, 1, 3], np.int64)
    made = lightnet.SparseTensor.sparse_csr_from_numpy([2, 3], values, columns, outer, device)
    view, back = made.as_csrc_view(), np.zeros((2, 3), np.float32)
    for row in range(2):
        part = slice(view.outer()[row], view.outer()[row + 1])
        back[row, view.inner()[part]] = made.values()[part]
    value = OrtValue.ort_value_from_sparse_tensor(made)
    faults += equal(back, dense) + same((made.data_type(), made.format().name), ("sparse_tensor(float)", "ORT_SPARSE_CSRC"))
    faults += same((value.is_sparse_tensor(), value.is_tensor(), value.data_type(), value.shape()), (True, False, "sparse_tensor(float)", [2, 3]))
    faults += same(value.as_sparse_tensor() is made, True)
    session, coo, csr = lightnet.InferenceSession(scaled()), lightnet.SparseTensor.sparse_coo_from_numpy, lightnet.SparseTensor.sparse_csr_from_numpy
    cases = [(lightnet.NotImplemented, lambda: session.run(None, {"x": value}), "dense array"),
             (lightnet.NotImplemented, value.numpy, "dense array"),
             (lightnet.InvalidArgument, OrtValue.ortvalue_from_numpy(X).as_sparse_tensor, "tensor(float)"),
             (lightnet.InvalidArgument, made.as_coo_view, "ORT_SPARSE_CSRC"),
             (lightnet.InvalidArgument, made.as_blocksparse_view, "ORT_SPARSE_CSRC"),
             (lightnet.InvalidArgument, lambda: made.to_cuda(device), "'cuda'"),
             (lightnet.InvalidArgument, lambda: coo([2, 3], values, [0, 1, 6], device), "within 0 .. 5"),
             (lightnet.InvalidArgument, lambda: coo([2, 3], values, [0, 1], device), "for 3 values"),
             (lightnet.InvalidArgument, lambda: coo([2, 3], values, places[:, ::-1], device), "axis 0"),
             (lightnet.InvalidArgument, lambda: coo([2, 3], values, [0., 1, 2], device), "expected int64"),
             (lightnet.InvalidArgument, lambda: coo([2, -3], values, [0, 1, 2], device), "negative size"),
             (lightnet.InvalidArgument, lambda: csr([2, 3], values, columns, [0, 3], device), "for 2 rows"),
             (lightnet.InvalidArgument, lambda: csr([2, 3], values, columns, [0, 4, 3], device), "do not ascend"),
             (TypeError, lambda: lightnet.SparseTensor(values), "ndarray")]
    faults += same(coo([2, 3], values[:0], [], device).as_coo_view().indices().dtype.name, "int64")
    return faults + [f"case {i}: {f}" for i, (kind, call, *texts) in enumerate(cases) for f in raises(kind, call, *texts)]


@test
def values_are_made_by_the_signatures_of_the_lower_layer():
    device = C.OrtDevice(C.OrtDevice.cpu(), C.OrtDevice.default_memory(), 0)
    value = C.OrtValue.ortvalue_from_numpy(X, device)
    other = OrtValue(value._ortvalue)
    faults = same(other.data_ptr(), X.ctypes.data) + same(value._get_c_value() is value, True)
    made = C.OrtValue.ortvalue_from_shape_and_onnx_type([3], 1, device)
    lightnet.copy_tensors([value], [made])
    faults += equal(made.numpy(), X)
    vector = C.OrtValueVector()
    vector.push_back(value)
    vector.push_back(OrtValue(np.array([True, False])))
    vector.push_back_batch([X], [X.ctypes.data], [np.float32], [[3]], [device])
    faults += same((len(vector), vector.element_type_at(0), vector.bool_tensor_indices(), vector[2].data_ptr()), (3, 1, [1], X.ctypes.data))
    arrays = [np.from_dlpack(v) for v in (vector[0], vector[2])]
    capsule = vector.dlpack_at(1)
    faults += same((C.is_dlpack_uint8_tensor(capsule), C.OrtValue.from_dlpack(capsule, True).numpy().tolist()), (True, [True, False]))
    faults += same([C.is_dlpack_uint8_tensor(np.zeros(2, kind)) for kind in ("u1", "i1", "f4", "u2")], [True, False, False, False])
    faults += raises(TypeError, lambda: C.is_dlpack_uint8_tensor(capsule), "still to be read") + raises(TypeError, lambda: C.is_dlpack_uint8_tensor(3), "int")
    return faults + equal(arrays[0], X) + equal(arrays[1], X) + same(C.is_dlpack_uint8_tensor(vector.dlpack_at(1)), True) + \
        same(C.is_dlpack_uint8_tensor(vector.to_dlpacks()[0]), False) + \
        raises(ValueError, lambda: lightnet.copy_tensors([value], [OrtValue(np.zeros(2, np.float32))]), "(3,)", "(2,)") + \
        raises(lightnet.InvalidArgument, lambda: lightnet.copy_tensors([value], []), "1 sources, and 0 destinations")


@test
def the_lower_layer_opens_binds_and_runs():
    session = C.InferenceSession(C.get_default_session_options(), scaled(), False, False)
    faults = raises(lightnet.InvalidArgument, lambda: session.run(None, {"x": X}), "initialize_session")
    session.initialize_session(["CPUExecutionProvider"], [{}], set())
    faults += same(([i.name for i in session.inputs_meta], [i.name for i in session.overridable_initializers]), (["x"], ["k"]))
    faults += equal(session.run(["y"], {"x": X}, None)[0], 2 * X)
    faults += equal(session.run_with_ort_values({"x": OrtValue(X)}, ["y"], None)[0].numpy(), 2 * X)
    public, out, device = lightnet.InferenceSession(scaled()), np.zeros(3, np.float32), C.OrtDevice(0, 0, 0)
    for binding in (C.SessionIOBinding(public._sess), lightnet.IOBinding(public)._iobinding, C.SessionIOBinding(session)):
        binding.bind_input("x", X)
        binding.bind_output("y", device)
        binding._owner.run_with_iobinding(binding)
        faults += equal(binding.get_outputs()[0].numpy(), 2 * X) + same(type(binding.get_outputs()), C.OrtValueVector)
        binding.bind_input("x", device, np.float32, [3], X.ctypes.data)
        binding.bind_output("y", device, np.float32, [3], out.ctypes.data)
        binding._owner.run_with_iobinding(binding)
        faults += equal(out, 2 * X)
        out[:] = 0
    faults += raises(lightnet.InvalidArgument, lambda: binding.bind_input("x", device), "without element_type")
    fetches = C.OrtValueVector()
    for _ in range(2):  # the second time in place
        public.run_with_ortvaluevector(lightnet.RunOptions(), ["x"], [OrtValue(X)], ["y"], fetches, [device])
        faults += equal(fetches[0].numpy(), 2 * X)
    return faults + raises(lightnet.InvalidArgument, lambda: public.run_with_ortvaluevector(None, ["x"], [], ["y"], fetches, [device]), "1 names of 0")


@test
def an_empty_dict_of_output_names_is_all_outputs():
    return equal(lightnet.InferenceSession(scaled()).run({}, {"x": X})[0], 2 * X) + \
        raises(TypeError, lambda: lightnet.InferenceSession(scaled()).run({"y": 1}, {"x": X}), "output_names, input_feed")


@test
def zipmap_of_a_declared_type_gives_lists_of_dicts():
    """As skl2onnx writes it: the output's type is a sequence of maps."""
    kind = w.Type(w.field(4, w.field(1, w.field(5, w.field(1, 7) + w.field(2, w.tensor_type("float"))))))
    faults = []
    for rows in (2, "n"):
        whole = w.graph([w.node("ZipMap", ["x"], ["p"], domain="ai.onnx.ml", classlabels_int64s=[4, 5])],
                        [w.value("x", "float", [rows, 2])], [w.typed("p", kind)])
        session = lightnet.InferenceSession(w.model(whole, opset={"": 17, "ai.onnx.ml": 1}))
        p, = session.run(None, {"x": np.array([[0.5, 1], [2, -3]], np.float32)})
        faults += same(p, [{4: 0.5, 5: 1.0}, {4: 2.0, 5: -3.0}]) + same(session.get_outputs()[0].type, "seq(map(int64,tensor(float)))")
    return faults


# ---- compilation, weights of few bits ----

@test
def a_compiled_model_is_a_file_bytes_or_a_stream():
    image, parts = {"image": np.random.default_rng(1).random((1, 1, 28, 28), np.float32)}, []
    wanted = lightnet.InferenceSession(DIGITS).run(None, image)[0]
    compiler = lightnet.ModelCompiler(lightnet.SessionOptions(), DIGITS, flags=lightnet.OrtCompileApiFlags.ERROR_IF_OUTPUT_FILE_EXISTS)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "digits_ctx.onnx")
        neighbour = f"{path}.safetensors"
        with open(neighbour, "w", encoding="utf-8") as file:
            file.write("stays")
        compiler.compile_to_file(path)
        compiler.compile_to_stream(parts.append)
        faults = same((sorted(os.listdir(folder)), os.path.getsize(neighbour)), (["digits_ctx.onnx", "digits_ctx.onnx.safetensors"], 5))
        faults += raises(lightnet.NoSuchFile, lambda: compiler.compile_to_file(os.path.join(folder, "none/x.onnx")), "none/x.onnx")
        faults += raises(lightnet.InvalidArgument, lambda: compiler.compile_to_file(path), "exists already")
        for source in (path, compiler.compile_to_bytes(), b"".join(parts)):
            session = lightnet.InferenceSession(source)
            off = np.abs(session.run(None, image)[0] - wanted).max()
            faults += [] if off < 1e-6 else [f"differs by {off}"]
            faults += [] if session._model.metadata["format"] != "ONNX" else ["the result is the ONNX model"]
        with open(DIGITS, "rb") as file:
            unnamed = lightnet.ModelCompiler(lightnet.SessionOptions(), file.read())
    options = lightnet.SessionOptions()
    options.graph_optimization_level = level = lightnet.GraphOptimizationLevel.ORT_DISABLE_ALL
    for arguments in ((options, DIGITS), (lightnet.SessionOptions(), DIGITS, False, None, 1024, 0, level)):
        made = []
        faults += same(warnings_of(lambda: made.append(lightnet.ModelCompiler(*arguments).compile_to_bytes())),  # pylint: disable=cell-var-from-loop
                       ["ORT_DISABLE_ALL has no effect: compiled models are optimized"]) + same(made == [compiler.compile_to_bytes()], True)
    return faults + raises(lightnet.InvalidArgument, unnamed.compile_to_file, "pass output_model_path") + \
        raises(TypeError, lambda: lightnet.ModelCompiler({}, DIGITS), "SessionOptions")


@test
def the_model_is_written_to_the_path_of_the_options():
    options = lightnet.SessionOptions()
    faults, image = [], {"image": np.random.default_rng(1).random((1, 1, 28, 28), np.float32)}
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "w.onnx")
        with open(data, "wb") as file:
            file.write(with_external(8, 8))
        with open(os.path.join(folder, "w.bin"), "wb") as file:
            file.write(np.array([10, 20, 30, 40], np.float32).tobytes())
        os.mkdir(os.path.join(folder, "other"))
        with open(os.path.join(folder, "d.onnx~"), "w", encoding="utf-8") as file:
            file.write("stays")
        pair = {"x": np.array([1, 2], np.float32), "c": np.array(True)}
        for source, feed, name in ((DIGITS, image, "d.onnx"), (scaled(), {"x": X}, "s.bin"), (scaled(), {"x": X}, "s.bin"), (data, pair, "other/w.onnx")):
            options.optimized_model_filepath = os.path.join(folder, name)
            opened = []
            seen = warnings_of(lambda: opened.append(lightnet.InferenceSession(source, options)))  # pylint: disable=cell-var-from-loop
            faults += same(["without optimizations" in text for text in seen], [True])
            session = opened[0]
            again = lightnet.InferenceSession(options.optimized_model_filepath)
            faults += [] if np.allclose(again.run(None, feed)[0], session.run(None, feed)[0], atol=1e-6) else [f"{name} differs"]
            faults += same([(i.name, i.shape) for i in again.get_inputs()], [(i.name, i.shape) for i in session.get_inputs()])
            faults += same(again._model.metadata["format"], "ONNX")
        faults += same(os.path.getsize(os.path.join(folder, "d.onnx~")), 5)
        options.optimized_model_filepath = data  # the model's own file
        warnings_of(lambda: lightnet.InferenceSession(data, options))
        faults += equal(lightnet.InferenceSession(data).run(None, pair)[0], np.array([11, 22], np.float32))
        outside = w.graph([w.node("Abs", ["x"], ["y"])], [w.value("x", "float", [2])], [w.value("y", "float", [2])],
                          [external("a", "float", [2], "../secret", 0, 8)])
        options.optimized_model_filepath = os.path.join(folder, "out.onnx")
        faults += raises(lightnet.InvalidGraph, lambda: lightnet.InferenceSession(w.model(outside, opset=17), options), "'../secret'")
        options.optimized_model_filepath = os.path.join(folder, "none/x.onnx")
        faults += raises(FileNotFoundError, lambda: lightnet.InferenceSession(scaled(), options), "none/x.onnx")
        lightnet.compile_model(DIGITS, os.path.join(folder, "c.safetensors"))
        faults += raises(lightnet.NotImplemented, lambda: lightnet.InferenceSession(os.path.join(folder, "c.safetensors"), options), "expected ONNX")
    return faults


def quantized_block(values, bits, is_symmetric):
    """(elements, scale, zero point) of a block, one by one."""
    most, middle = (1 << bits) - 1, 1 << (bits - 1)
    if is_symmetric:
        largest = max(values, key=lambda v: (abs(v), v))
        scale, zero = np.float32(largest) / np.float32(-middle), middle
    else:
        low, high = min(0, *values), max(0, *values)
        scale = np.float32(np.float32(high) - np.float32(low)) / np.float32(most)
        zero = min(most, int(np.floor(np.float32(-low) / scale + 0.5))) if scale else 0
    factor = np.float32(1) / scale if scale else np.float32(0)
    return [int(min(max(np.floor(np.float64(np.float32(v) * factor + np.float32(zero)) + 0.5), 0), most)) for v in values], scale, zero


@test
def weights_of_few_bits_are_quantized_in_blocks():
    rng, faults = np.random.default_rng(3), []
    for bits, quantize in ((2, C.quantize_matmul_2bits), (4, C.quantize_matmul_4bits), (8, C.quantize_matmul_8bits)):
        for k, n, block, symmetric in ((32, 3, 16, True), (40, 2, 16, False), (64, 1, 32, True), (16, 2, 16, False)):
            matrix = rng.standard_normal((k, n)).astype(np.float32)
            matrix[:block, 0] = 0 if k == 16 else matrix[:block, 0]
            blocks, per_byte = -(-k // block), 8 // bits
            packed = np.zeros((n, blocks, block // per_byte), np.uint8)
            scales, zeros = np.zeros(n * blocks, np.float32), np.zeros((n, -(-blocks // per_byte)), np.uint8)
            quantize(packed, matrix, scales, zeros, block, n, k, symmetric)
            for column in range(n):
                for b in range(blocks):
                    values = [*matrix[b * block:(b + 1) * block, column].tolist()]
                    values += [0.0] * (block - len(values))
                    wanted, scale, zero = quantized_block(values, bits, symmetric)
                    row = packed[column, b]
                    got = [int(row[i // per_byte]) >> bits * (i % per_byte) & (1 << bits) - 1 for i in range(block)]
                    got_zero = int(zeros[column, b // per_byte]) >> bits * (b % per_byte) & (1 << bits) - 1
                    faults += same((got, scales[column * blocks + b], got_zero), (wanted, scale, zero))
    return faults[:3] + raises(lightnet.InvalidArgument, lambda: quantize(packed, matrix, scales, zeros, 10, 2, 16, True), "block_size is 10") + \
        raises(lightnet.InvalidArgument, lambda: quantize(packed, matrix, scales, zeros, 16, 3, 16, True), "[16, 2], expected [16, 3]") + \
        raises(lightnet.InvalidArgument, lambda: quantize(packed[:1], matrix, scales, zeros, 16, 2, 16, True), "packed weights") + \
        raises(lightnet.InvalidArgument, lambda: quantize(packed[:0], matrix, scales, zeros, 16, 2, 16, True), "packed weights", "0 elements") + \
        raises(lightnet.InvalidArgument, lambda: quantize(packed.astype("f4"), matrix, scales, zeros, 16, 2, 16, True), "float32", "uint8") + \
        raises(lightnet.InvalidArgument, lambda: quantize(packed, matrix, scales.astype("i4"), zeros, 16, 2, 16, True), "int32", "floats") + \
        raises(lightnet.InvalidArgument, lambda: quantize(packed, matrix, scales, None, 16, 2, 16, False), "zero points are missing")


@test
def the_operator_of_such_weights_reads_them():
    rng, k, n, block = np.random.default_rng(4), 64, 8, 32
    matrix, x = rng.standard_normal((k, n)).astype(np.float32), rng.standard_normal((5, k)).astype(np.float32)
    packed, scales = np.zeros((n, k // block, block // 2), np.uint8), np.zeros((n, k // block), np.float32)
    C.quantize_matmul_4bits(packed, matrix, scales, np.zeros((n, 1), np.uint8), block, n, k, True)
    elements = np.stack([packed & 15, packed >> 4], -1).reshape(n, k).astype(np.float32) - 8
    wanted = x @ (elements * np.repeat(scales, block, 1)).T
    node = w.node("MatMulNBits", ["x", "b", "s"], ["y"], domain="com.microsoft", K=k, N=n, bits=4, block_size=block)
    whole = w.graph([node], [w.value("x", "float", [5, k])], [w.value("y", "float", [5, n])],
                    [w.tensor("b", "uint8", list(packed.shape), packed.ravel().tolist()),
                     w.tensor("s", "float", list(scales.shape), scales.ravel().tolist())])
    y, = lightnet.InferenceSession(w.model(whole, opset={"": 17, "com.microsoft": 1})).run(None, {"x": x})
    return ([] if np.abs(y - wanted).max() < 1e-3 else [f"differs by {np.abs(y - wanted).max()}"]) + \
        ([] if np.abs(y - x @ matrix).max() < 4 else ["is far from the matrix"])


@test
def operators_are_listed():
    kernels = C.get_all_opkernel_def()
    names = {(kernel.op_name, kernel.domain) for kernel in kernels}
    faults = [f"no {name}" for name in (("Conv", ""), ("ZipMap", "ai.onnx.ml"), ("MatMulNBits", "com.microsoft")) if name not in names]
    faults += [f"{name} is listed" for name in (("Adam", "ai.onnx.preview.training"), ("Foo", "")) if name in names]
    faults += same(({kernel.provider for kernel in kernels}, len(names)), ({"CPUExecutionProvider"}, len(kernels)))
    try:
        from onnx import defs
    except ImportError:
        return faults
    schemas = C.get_all_operator_schema()
    newest = max(schema.since_version for schema in schemas if schema.name == "Clip" and schema.domain == "")
    return faults + same(newest, defs.get_schema("Clip").since_version) + same({(s.name, s.domain) for s in schemas}, names)


# ---- modules ----

@test
def validation_and_collection_are_modules():
    collection = __import__("lightnet.capi.onnxruntime_inference_collection", fromlist=["x"])
    validation = __import__("lightnet.capi.onnxruntime_validation", fromlist=["x"])
    normalize = collection.check_and_normalize_provider_args
    known = ["A", "B"]
    faults = same(normalize(["A", ("B", {"x": 1}), "A"], None, known), (["A", "B"], [{}, {"x": "1"}]))
    faults += same(normalize(["A", "B"], [{"x": 1}, {}], known), (["A", "B"], [{"x": "1"}, {}])) + same(normalize(None, None, []), ([], []))
    faults += same(normalize("A", None, known), (["A"], [{}]))
    faults += same(warnings_of(lambda: normalize(["B"], None, ["A"])), ["providers ['B'] are not available, expected some of ['A']"])
    for wrong in (3, ("A",), ("A", 1), ["A", {}]):
        faults += raises(lightnet.InvalidArgument, lambda: normalize([wrong], None, known), repr(wrong), "(name, options)")  # pylint: disable=cell-var-from-loop
    faults += raises(lightnet.InvalidArgument, lambda: normalize(["A"], [], []), "1 providers and 0 provider_options")
    faults += same(issubclass(lightnet.InferenceSession, collection.Session), True) + same(collection.get_ort_device_type("cpu"), 0)
    name, version, cuda = validation.get_package_name_and_version_info()
    return faults + same((name, version, cuda), (lightnet.package_name, lightnet.version, ""))


@test
def types_are_those_of_numpy():
    helper = __import__("lightnet.transformers.io_binding_helper", fromlist=["x"]).TypeHelper
    session = lightnet.InferenceSession(DIGITS)
    faults = same(helper.get_io_numpy_type_map(session), {"image": np.float32, "probabilities": np.float32})
    faults += same([helper.ort_type_to_numpy_type(f"tensor({t})") for t in ("int64", "bool", "float16", "string")],
                   [np.int64, np.bool_, np.float16, np.object_])
    return faults + same(helper.get_input_type(session, "image"), "tensor(float)") + \
        raises(lightnet.InvalidArgument, lambda: helper.get_output_type(session, "x"), "'x'", "probabilities") + \
        raises(lightnet.InvalidArgument, lambda: helper.numpy_type_to_torch_type(np.complex64), "'complex64'") + \
        raises(lightnet.InvalidArgument, lambda: helper.torch_type_to_numpy_type("torch.qint8"), "'qint8'") + \
        raises(lightnet.InvalidArgument, lambda: helper.ort_type_to_numpy_type("seq(tensor(float))"), "'seq(tensor(float))'")


@test
def the_backend_prepares_and_runs():
    try:
        import onnx
    except ImportError:
        return []
    backend = __import__("lightnet.backend", fromlist=["x"])
    model = onnx.load_model_from_string(scaled(3))
    faults = []
    for source in (model, scaled(3), lightnet.InferenceSession(scaled(3))):
        rep = backend.prepare(source, "CPU")
        faults += equal(rep.run(X)[0], 2 * X) + equal(rep.run([X])[0], 2 * X) + equal(backend.run(rep, X)[0], 2 * X)
    node = onnx.helper.make_node("Neg", ["x"], ["y"])
    faults += equal(backend.backend.OnnxRuntimeBackend.run_node(node, [X])[0], -X)
    return faults + same((backend.supports_device("CPU"), backend.supports_device("GPU")), (True, False)) + \
        raises(lightnet.InvalidArgument, lambda: backend.prepare(model, "GPU"), "'GPU'") + \
        raises(lightnet.InvalidArgument, lambda: rep.run([X, X]), "2 inputs are given, expected 1: x")


def two_inputs():
    """y = x + z of open sizes, with a branch that has the size, too."""
    shape = ["batch", 3, "w"]
    branches = {name: w.graph([w.node("Identity", ["s"], [name])], [], [w.value(name, "float", shape)]) for name in ("then_branch", "else_branch")}
    nodes = [w.node("Add", ["x", "z"], ["s"]), w.node("If", ["c"], ["y"], **branches)]
    return w.model(w.graph(nodes, [w.value("x", "float", shape), w.value("z", "float", shape), w.value("c", "bool", [])],
                           [w.value("y", "float", shape)]), opset=17)


@test
def tools_fix_sizes_of_models():
    try:
        import onnx
    except ImportError:
        return []
    utils = __import__("lightnet.tools.onnx_model_utils", fromlist=["x"])
    infer = __import__("lightnet.tools.symbolic_shape_infer", fromlist=["x"]).SymbolicShapeInference.infer_shapes

    def shapes(model):
        return [lightnet.InferenceSession(model.SerializeToString()).get_inputs()[i].shape for i in (0, 1)]
    faults = []
    by_name, by_input = (onnx.load_model_from_string(two_inputs()) for _ in range(2))
    utils.make_dim_param_fixed(by_name.graph, "batch", 2)
    utils.make_input_shape_fixed(by_input.graph, "x", [4, 3, 5])
    utils.fix_output_shapes(by_input)
    inner = by_name.graph.node[1].attribute[0].g.output[0].type.tensor_type.shape.dim[0]
    faults += same(shapes(by_name), [[2, 3, "w"]] * 2) + same(shapes(by_input), [[4, 3, 5]] * 2) + same(inner.dim_value, 2)
    faults += same((utils.is_fixed_size_tensor(by_input.graph.output[0]), utils.is_fixed_size_tensor(by_name.graph.output[0])), (True, False))
    faults += same(utils.get_opsets_imported(by_name), {"ai.onnx": 17})
    faults += same([info.name for info in infer(by_input).graph.value_info], ["s"])
    faults += raises(lightnet.InvalidArgument, lambda: utils.make_input_shape_fixed(by_name.graph, "q", [1]), "'q'", "x, z, c")
    faults += raises(lightnet.InvalidArgument, lambda: utils.make_input_shape_fixed(by_name.graph, "x", [2, 4, 1]), "axis 1", "length 3, not 4")
    faults += raises(lightnet.InvalidArgument, lambda: utils.make_input_shape_fixed(by_name.graph, "x", [2, 3, -1]), "axis 2", "-1")
    faults += raises(lightnet.InvalidArgument, lambda: utils.make_dim_param_fixed(by_name.graph, "w", -1), "'w'", "-1")
    faults += same(warnings_of(lambda: utils.make_dim_param_fixed(by_name.graph, "ww", 1)), ["the graph has no open size 'ww': fixing it has no effect"])
    by_name.graph.input[0].type.sequence_type.elem_type.tensor_type.elem_type = 1
    faults += raises(lightnet.InvalidArgument, lambda: utils.make_input_shape_fixed(by_name.graph, "x", [2]), "'x'", "sequence_type")
    with tempfile.TemporaryDirectory() as folder:
        old, new = os.path.join(folder, "old.onnx"), os.path.join(folder, "new.onnx")
        with open(old, "wb") as file:
            file.write(scaled())
        faults += same(utils.get_opsets_imported(utils.update_onnx_opset(old, 15, new)), {"ai.onnx": 15})
        with open(old, "wb") as file:
            file.write(two_inputs())
        warnings_of(lambda: utils.optimize_model(old, new))
        faults += same(lightnet.InferenceSession(new).get_inputs()[0].shape, ["batch", 3, "w"])
        code = ("import lightnet, runpy, sys; lightnet.as_onnxruntime(); sys.argv[0] = 'x'; "
                "runpy.run_module('onnxruntime.tools.make_dynamic_shape_fixed', run_name='__main__', alter_sys=True)")
        for arguments, status in ((["--dim_param", "w", "--dim_value", "7"], 0), (["--input_name", "x", "--input_shape", "1,3,7"], 0), ([], 2),
                                  (["--input_name", "x", "--input_shape", "1,3"], 2)):
            done = subprocess.run([sys.executable, "-c", code, *arguments, old, new], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": sys.argv[1]})
            faults += [] if done.returncode == status else [f"{arguments}: status {done.returncode}: {done.stderr}"]
            faults += same(lightnet.InferenceSession(new).get_inputs()[1].shape[2], 7)
    return faults


@test
def examples_are_files_of_the_process():
    datasets = __import__("lightnet.datasets", fromlist=["x"])
    code = ("import os, sys; from lightnet.datasets import get_example; path = get_example('mul_1.onnx'); child = os.fork()\n"
            "if child == 0: sys.exit()\nos.waitpid(child, 0); print(path if os.path.exists(path) else 'removed by the child')")
    env = {**os.environ, "PYTHONPATH": sys.argv[1]}
    path = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True).stdout.strip()
    return same(datasets.get_example("mul_1.onnx"), datasets.get_example("mul_1.onnx")) + \
        same((os.path.basename(path), os.path.exists(os.path.dirname(path))), ("mul_1.onnx", False)) + \
        raises(FileNotFoundError, lambda: datasets.get_example("x.onnx"), "'x.onnx'", "sigmoid.onnx")


@test
def debug_information_is_printed():
    done = subprocess.run([sys.executable, "-c", "import lightnet; lightnet.print_debug_info()"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": sys.argv[1]})
    return [f"'{text}' is not in: {done.stdout}{done.stderr}" for text in (lightnet.__version__, lightnet.version, "Python", "formats")
            if text not in done.stdout]


if __name__ == "__main__":
    run_tests()
