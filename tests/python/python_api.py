#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_api.py PACKAGE. The names of onnxruntime, annotations, arrays, options, plans and quantization of the package."""
import glob
import importlib
import inspect
import io
import json
import os
import pickle
import sys
import tempfile
import threading
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [sys.argv[1], os.path.join(HERE, "../structure"), os.path.join(HERE, "../onnx")]

import numpy as np
from checks import equal, raises, run_tests, same, test
from tap import ROOT

import lightnet
import onnx_writer as w
from lightnet import OrtValue, _profile

DIGITS = os.path.join(ROOT, "examples/digits/digits.onnx")
BFLOAT16 = 16  # of onnx.TensorProto


def unary(op="Abs", dtype="float", shape=(2, "n"), x="x", y="y"):
    """The bytes of y = op(x)."""
    whole = w.graph([w.node(op, [x], [y])], [w.value(x, dtype, list(shape))], [w.value(y, dtype, list(shape))])
    return w.model(whole, opset=17)


def scaled():
    """The bytes of y = x * k, with the initializer k = 2."""
    whole = w.graph([w.node("Mul", ["x", "k"], ["y"])], [w.value("x", "float", [2])], [w.value("y", "float", [2])],
                    [w.tensor("k", "float", [], [2])])
    return w.model(whole, opset=17)


def image(seed=0):
    return np.random.default_rng(seed).random((1, 1, 28, 28), np.float32)


# ---- names ----

@test
def names_of_onnxruntime_exist():
    state = importlib.import_module("lightnet.capi.onnxruntime_pybind11_state")
    errors = ("Fail InvalidArgument NoSuchFile NoModel EngineError RuntimeException InvalidProtobuf ModelLoaded NotImplemented "
              "InvalidGraph EPFail NotFound ModelLoadCanceled ModelRequiresCompilation").split()
    faults = [f"no {name}" for name in [*errors, *state.__all__] if not hasattr(state, name)]
    faults += [f"{name} is another" for name in state.__all__
               if name != "InferenceSession" and hasattr(lightnet, name) and getattr(lightnet, name) is not getattr(state, name)]
    faults += [f"{name} is no exception" for name in errors if not issubclass(getattr(state, name), Exception)]
    lightnet.set_default_logger_verbosity(1)
    lightnet.set_default_logger_severity(3)
    return faults + same(lightnet.get_version_string(), lightnet.__version__) + \
        same(lightnet.capi.onnxruntime_pybind11_state.Fail, lightnet.Fail) + \
        ([] if "formats" in lightnet.get_build_info() else [lightnet.get_build_info()])


@test
def devices_are_the_cpu():
    device = lightnet.OrtDevice.make("cpu", 0)
    binding = lightnet.InferenceSession(unary()).io_binding()
    return same((device.device_type(), device.device_id(), lightnet.OrtDevice.cpu()), (0, 0, 0)) + \
        raises(lightnet.InvalidArgument, lambda: lightnet.OrtDevice.make("cuda", 0), "'cuda'", "expected 'cpu'") + \
        raises(ValueError, lambda: binding.bind_output("y", "cuda"), "'cuda'")


def public_functions(owner, prefix):
    """(name, function) of what callers may call, also in public classes."""
    for name, member in vars(owner).items():
        function = member.__func__ if isinstance(member, staticmethod) else getattr(member, "fget", None) or member
        is_public = not name.startswith("_") or name in ("__init__", "__call__")
        if inspect.isfunction(function) and is_public and function.__module__.startswith("lightnet"):
            yield f"{prefix}.{name}", function
        elif inspect.isclass(member) and is_public and member.__module__.startswith("lightnet") and owner is lightnet:
            yield from public_functions(member, f"{prefix}.{name}")


@test
def everything_public_is_annotated_and_described():
    faults, n = [], 0
    for name, function in public_functions(lightnet, "lightnet"):
        n += 1
        signature = inspect.signature(function)
        lacking = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")]
        if lacking or signature.return_annotation is signature.empty:
            faults.append(f"{name} lacks annotations of {lacking or 'its result'}")
        if not (function.__doc__ or name.endswith("__init__")):
            faults.append(f"{name} has no docstring")
    faults += [f"{name} has no docstring" for name in lightnet.__all__ if not getattr(lightnet, name).__doc__]
    faults += [] if os.path.exists(os.path.join(os.path.dirname(lightnet.__file__), "py.typed")) else ["no py.typed"]
    return faults + ([] if n > 100 else [f"found {n} functions, expected more than 100"])


@test
def names_that_are_not_utf8_work():
    name = b"x\xff\xe9".decode("utf-8", "surrogateescape")
    given = unary(x="x__").replace(b"x__", b"x\xff\xe9")
    s = lightnet.InferenceSession(given)
    x = np.array([[-1, 2], [3, -4]], np.float32)
    binding = s.io_binding()
    binding.bind_cpu_input(name, x)
    binding.bind_output("y")
    s.run_with_iobinding(binding)
    return same(s.get_inputs()[0].name, name) + equal(s.run(None, {name: x})[0], np.abs(x)) + \
        equal(binding.copy_outputs_to_cpu()[0], np.abs(x)) + \
        raises(lightnet.InvalidArgument, lambda: s.run(None, {name: x, "z": x}))


# ---- options ----

@test
def lists_of_numbers_have_the_type_of_the_input():
    s, x = lightnet.InferenceSession(unary()), [[-1.5, 2], [3, -4]]
    wanted = np.array([[1.5, 2], [3, 4]], np.float32)
    return equal(s.run(None, {"x": x})[0], wanted) + equal(s.run(None, {"x": x}, lightnet.RunOptions())[0], wanted) + \
        raises(lightnet.InvalidArgument, lambda: s.run(None, {"x": [1.0]}), "[1]") + \
        raises(lightnet.InvalidArgument, lambda: s.run(None, {"z": x, "x": x}), "'z'", "it has: x") + \
        raises(ValueError, lambda: s.run(None, {"x": [[1], [2, 3]]}))


@test
def wrong_kinds_of_arguments_are_named():
    s, x = lightnet.InferenceSession(unary()), np.zeros((2, 1), np.float32)
    options, run = lightnet.SessionOptions(), lightnet.RunOptions()
    return raises(TypeError, lambda: s.run(None, [x]), "list", "dict of arrays") + \
        raises(TypeError, lambda: s.run(None, {"x": None}), "the value is None") + \
        raises(TypeError, lambda: s.run(None, {"x": x}, {"a": 1}), "dict", "RunOptions") + \
        raises(TypeError, lambda: lightnet.InferenceSession(None), "NoneType", "path or bytes") + \
        raises(TypeError, lambda: lightnet.InferenceSession(unary(), {"a": 1}), "dict", "SessionOptions") + \
        raises(AttributeError, lambda: setattr(options, "intra_op_num_thread", 2), "intra_op_num_thread") + \
        raises(AttributeError, lambda: setattr(run, "no_such", 2), "no_such") + \
        raises(lightnet.InvalidArgument, lambda: lightnet.InferenceSession(unary(), shape="m=1"), "no open size 'm'") + \
        raises(lightnet.NoSuchFile, lambda: lightnet.verify("no_such.onnx"), "no_such.onnx") + \
        raises(lightnet.InvalidArgument, lambda: lightnet.quantize(DIGITS, "q.json", []), ".json", ".safetensors or .onnx") + \
        raises(TypeError, lambda: lightnet.quantize(DIGITS, "q.safetensors", [x]), "sample 0", "ndarray") + \
        raises(lightnet.InvalidArgument, lambda: lightnet.quantize(DIGITS, "q.safetensors", [], max_err=1), "max_error")


@test
def missing_providers_are_warnings():
    faults = []
    for providers, text in ((["CUDAExecutionProvider", "CPUExecutionProvider"], "CUDAExecutionProvider"), (["CPUExecutionProvider"], None)):
        seen = warnings_of(lambda: lightnet.InferenceSession(unary(), None, providers))  # pylint: disable=cell-var-from-loop
        faults += same([text in warning for warning in seen], [True] if text else [])
    return faults


@test
def optimizers_of_onnxruntime_cannot_be_disabled():
    seen = warnings_of(lambda: lightnet.InferenceSession(unary(), disabled_optimizers=["ConstantFolding"]))
    return same(["disabled_optimizers has no effect" in warning for warning in seen], [True])


@test
def the_default_seed_is_that_of_models_without_one():
    whole = w.model(w.graph([w.node("RandomNormal", [], ["y"], shape=[8])], [], [w.value("y", "float", [8])]), opset=17)

    def drawn(**options):
        return lightnet.InferenceSession(whole, **options).run(None, {})[0].tolist()
    try:
        lightnet.set_seed(-3)
        first, again, other = drawn(), drawn(), drawn(seed=5)
        lightnet.set_seed(5)
        faults = same(again, first) + same(drawn(), other) + same(first == other, False)
    finally:
        sys.modules["lightnet._session"].default_options.clear()
    return faults + same(drawn() == drawn(), False)


@test
def metadata_is_that_of_the_file():
    graph = w.graph([w.node("Abs", ["x"], ["y"])], [w.value("x", "float", [2])], [w.value("y", "float", [2])]) + w.field(10, "of g")
    whole = w.model(graph, opset=17) + w.field(2, "a producer") + w.field(4, "org.x") + w.field(5, 7) + w.field(6, "of m") + \
        w.field(14, w.field(1, "key") + w.field(2, "value"))
    meta = lightnet.InferenceSession(whole).get_modelmeta()
    return same((meta.producer_name, meta.domain, meta.version, meta.description, meta.graph_name, meta.graph_description),
                ("a producer", "org.x", 7, "of m", "graph", "of g")) + same(meta.custom_metadata_map, {"key": "value"})


@test
def entries_of_options_are_returned():
    session, run = lightnet.SessionOptions(), lightnet.RunOptions()
    session.add_session_config_entry("a", "1")
    run.add_run_config_entry("b", "2")
    return same((session.get_session_config_entry("a"), run.get_run_config_entry("b")), ("1", "2")) + \
        raises(lightnet.InvalidArgument, lambda: session.get_session_config_entry("c"), "'c'", "they have: a") + \
        raises(lightnet.InvalidArgument, lambda: run.get_run_config_entry("c"), "'c'", "they have: b")


@test
def initializers_are_replaced():
    options, x = lightnet.SessionOptions(), np.array([1, 2], np.float32)
    options.add_initializer("k", OrtValue.ortvalue_from_numpy(np.array(5, np.float32)))
    s = lightnet.InferenceSession(scaled(), options)
    wrong = lightnet.SessionOptions()
    wrong.add_initializer("nothing", OrtValue.ortvalue_from_numpy(x))
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(scaled())
        file.flush()
        faults = equal(lightnet.InferenceSession(file.name, options).run(None, {"x": x})[0], 5 * x)
    return faults + equal(s.run(None, {"x": x})[0], 5 * x) + \
        equal(pickle.loads(pickle.dumps(s)).run(None, {"x": x})[0], 5 * x) + \
        raises(lightnet.InvalidArgument, lambda: lightnet.InferenceSession(scaled(), wrong), "'nothing'") + \
        raises(lightnet.InvalidGraph, lambda: lightnet.InferenceSession(b"{}", options), "not an ONNX model") + \
        raises(TypeError, lambda: options.add_initializer("k", x), "OrtValue")


@test
def sizes_are_fixed_by_denotation():
    dim = w.field(2, "n")
    shape = w.field(2, w.repeated(1, [w.field(1, 2), dim + w.field(3, "DATA_BATCH")]))
    port = [w.field(1, name) + w.field(2, w.field(1, w.field(1, 1) + shape)) for name in "xy"]
    given = w.model(w.graph([w.node("Abs", ["x"], ["y"])], port[:1], port[1:]), opset=17)
    options = lightnet.SessionOptions()
    options.add_free_dimension_override_by_denotation("DATA_BATCH", 3)
    s = lightnet.InferenceSession(given, options)
    faults, other = [], lightnet.SessionOptions()
    for size in (-1, 1.5, 1 << 63, "3"):
        other.add_free_dimension_override_by_denotation("DATA_BATCH", size)
        faults += raises(lightnet.InvalidArgument, lambda: lightnet.InferenceSession(given, other), "'DATA_BATCH'", repr(size))
    other = lightnet.SessionOptions()
    other.add_free_dimension_override_by_denotation("DATA_CHANNEL", np.int64(3))
    return faults + same(s.get_inputs()[0].shape, [2, 3]) + same(lightnet.InferenceSession(given).get_inputs()[0].shape, [2, "n"]) + \
        ([] if "DATA_CHANNEL" in str(warnings_of(lambda: lightnet.InferenceSession(given, other))) else ["no warning"])


@test
def bytes_that_are_no_onnx_model_are_invalid():
    options, faults = lightnet.SessionOptions(), []
    options.add_initializer("k", OrtValue.ortvalue_from_numpy(np.array(5, np.float32)))
    whole = scaled()
    for size in range(len(whole)):
        try:
            lightnet.InferenceSession(whole[:size], options).run(None, {"x": np.ones(2, np.float32)})
        except (lightnet.Error, ValueError):
            continue
        faults.append(f"{size} of {len(whole)} bytes were a model")
    # A model may end between its last fields.
    return faults[:1] if len(faults) > 2 else []


@test
def libraries_of_operators_are_plug_ins():
    options = lightnet.SessionOptions()
    return raises(lightnet.NotImplemented, lambda: options.register_custom_ops_library("none.so"), "none.so") + \
        raises(lightnet.NotImplemented, lambda: options.register_custom_ops_library(DIGITS), "digits.onnx")


@test
def pickles_keep_session_options():
    options = lightnet.SessionOptions()
    options.enable_profiling, options.logid, options.intra_op_num_threads = True, "mine", 1
    s = pickle.loads(pickle.dumps(lightnet.InferenceSession(unary(), options)))
    kept = s.get_session_options()
    return same((kept.enable_profiling, kept.logid, kept.intra_op_num_threads), (True, "mine", 1)) + \
        ([] if s.get_profiling_start_time_ns() > 0 else ["not profiling"])


# ---- arrays ----

@test
def bfloat16_stays_bfloat16():
    s = lightnet.InferenceSession(unary("Neg", "bfloat16", (2,)))
    bits = np.array([0x3f80, 0xc040], np.uint16)  # 1, -3
    value = OrtValue.ortvalue_from_numpy_with_onnx_type(bits, BFLOAT16)
    binding = s.io_binding()
    binding.bind_ortvalue_input("x", value)
    binding.bind_output("y")
    s.run_with_iobinding(binding)
    out = binding.get_outputs()[0]
    faults = same((out.data_type(), out.element_type()), ("tensor(bfloat16)", BFLOAT16))
    faults += same(np.asarray(out).astype(np.float32).tolist(), [-1, 3]) + same(np.array(out, np.float64).tolist(), [-1, 3])
    faults += same(s.run_with_ort_values(None, {"x": value})[0].data_type(), "tensor(bfloat16)")
    return faults + raises(BufferError, out.__dlpack__, "bfloat16") + raises(AttributeError, lambda: out.__array_interface__)


SMALL = {"float8e4m3fn": (17, np.uint8, [1.75, -448], [0x3e, 0xfe]), "float8e4m3fnuz": (18, np.uint8, [1.75, -240], [0x46, 0xff]),
         "float8e5m2": (19, np.uint8, [1.75, -np.inf], [0x3f, 0xfc]), "float8e5m2fnuz": (20, np.uint8, [1.75, np.nan], [0x43, 0x80]),
         "float8e8m0": (24, np.uint8, [4, np.nan], [129, 255]), "float4e2m1": (23, np.uint8, [0.5, -6], [1, 15]),
         "int4": (22, np.int8, [7, -8], [7, -8]), "uint4": (21, np.uint8, [15, 0], [15, 0]),
         "int2": (26, np.int8, [1, -2], [1, -2]), "uint2": (25, np.uint8, [3, 0], [3, 0])}


@test
def types_of_8_bits_and_less_stay_as_they_are():
    """Without ml_dtypes: floats as bits, integers as values."""
    faults = []
    for name, (code, kind, numbers, elements) in SMALL.items():
        s = lightnet.InferenceSession(unary("Identity", name, (2,)))
        faults += same((s.get_inputs()[0].type, s.get_outputs()[0].type), (f"tensor({name})", f"tensor({name})"))
        given = np.array(elements, kind)
        value = OrtValue.ortvalue_from_numpy_with_onnx_type(given, code)
        faults += same((value.data_type(), value.element_type()), (f"tensor({name})", code))
        out, = s.run_with_ort_values(None, {"x": value})
        faults += same((out.data_type(), out.element_type(), out.shape()), (f"tensor({name})", code, [2]))
        faults += [] if np.array_equal(np.asarray(out).astype(float), numbers, equal_nan=True) else [f"{name}: {np.asarray(out)}"]
        plain, = s.run(None, {"x": value})
        faults += same((plain.dtype, plain.view(kind).tolist()), (np.dtype(kind), elements))
        faults += raises(lightnet.InvalidArgument, lambda: s.run(None, {"x": np.zeros(2, np.int16)}), "int16")
        faults += raises(BufferError, out.__dlpack__, "by DLPack") + raises(AttributeError, lambda: out.__array_interface__)
        faults += raises(lightnet.InvalidArgument, lambda: OrtValue.ortvalue_from_numpy_with_onnx_type(np.zeros(2, np.int16), code),
                         "have 1 bytes")
        made = OrtValue.ortvalue_from_shape_and_type([2], code)
        faults += same((made.data_type(), made.tensor_size_in_bytes()), (f"tensor({name})", 2))
    return faults


@test
def initializers_of_4_bits_are_packed():
    """From a session option, into the model's bytes."""
    options = lightnet.SessionOptions()
    value = OrtValue.ortvalue_from_numpy_with_onnx_type(np.array([7, -8, -1], np.int8), 22)
    options.add_initializer("c", value)
    whole = w.graph([w.node("Cast", ["c"], ["y"], to=1)], [], [w.value("y", "float", [3])], [w.tensor("c", "int4", [3], [0, 0, 0])])
    s = lightnet.InferenceSession(w.model(whole, opset=21), options)
    return same(s.run(None, {})[0].tolist(), [7, -8, -1])


@test
def arrays_of_ml_dtypes_keep_their_types():
    try:
        import ml_dtypes
    except ImportError:
        return []
    faults = []
    for name in ("float8_e4m3fn", "float8_e5m2", "int4", "uint4"):
        s = lightnet.InferenceSession(unary("Identity", name.replace("_", ""), (2,)))
        given = np.array([1, 2], getattr(ml_dtypes, name))
        out, = s.run_with_ort_values(None, {"x": OrtValue.ortvalue_from_numpy(given)})
        faults += same((out.numpy().dtype, out.numpy().astype(float).tolist()), (given.dtype, [1, 2]))
        faults += same(s.run(None, {"x": given})[0].astype(float).size, 2)
    return faults


@test
def arrays_follow_the_protocol_of_numpy_2():
    x = np.arange(3, dtype=np.float32)
    value = OrtValue.ortvalue_from_numpy(x)
    shared = [value.__array__(), value.__array__(None, copy=False), value.__array__(np.float32, copy=None)]
    copied = [value.__array__(copy=True), value.__array__(np.float64)]
    faults = [f"shared {i} is a copy" for i, a in enumerate(shared) if not np.shares_memory(a, x)]
    faults += [f"copy {i} is shared" for i, a in enumerate(copied) if np.shares_memory(a, x)]
    bf16 = OrtValue.ortvalue_from_shape_and_type([2], "bfloat16")
    needs = [] if bf16.numpy().dtype != np.uint16 else raises(ValueError, lambda: bf16.__array__(copy=False), "needs a copy")
    return faults + needs + raises(ValueError, lambda: value.__array__(np.float64, copy=False), "needs a copy") + \
        same(copied[1].dtype, np.dtype(np.float64))


class Foreign:
    """A tensor on another device."""

    def __dlpack__(self, **options):
        raise AssertionError("was read")

    def __dlpack_device__(self):
        return 2, 1


@test
def dlpack_errors_name_the_reason():
    x = np.arange(4, dtype=np.uint8)
    constant = np.frombuffer(b"1234", np.uint8)
    return raises(TypeError, lambda: OrtValue.from_dlpack([1]), "list", "__dlpack__") + \
        raises(lightnet.InvalidArgument, lambda: OrtValue.from_dlpack(Foreign()), "(2, 1)", "expected the CPU") + \
        raises(lightnet.InvalidArgument, lambda: OrtValue.from_dlpack(np.arange(3.0), True), "float64", "uint8") + \
        raises(lightnet.InvalidArgument, lambda: OrtValue.from_dlpack(constant), "ndarray") + \
        equal(OrtValue.from_dlpack(x.__dlpack__()).numpy(), x) + \
        same(OrtValue.from_dlpack(x, True).data_type(), "tensor(bool)") + \
        raises(ValueError, lambda: OrtValue.ortvalue_from_numpy_with_onnx_type(x, BFLOAT16), "2 bytes")


# ---- profiles, plans ----

@test
def each_profile_has_its_own_file():
    options = lightnet.SessionOptions()
    options.enable_profiling = True
    x = np.ones((2, 3), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = os.path.join(folder, "p_")
        model = lightnet.Model(unary())  # shared models are profiled, too
        sessions = [lightnet.InferenceSession(model, options) for _ in range(4)]
        for n, s in enumerate(sessions):
            for _ in range(n):
                s.run(None, {"x": x})
        paths = [s.end_profiling() for s in sessions]
        counts = []
        for path in paths:
            with open(path, encoding="utf-8") as file:
                events = json.load(file)
            counts.append(len(events))
            wanted = all(event["cat"] == "Node" and event["args"]["op_name"] and event["dur"] >= 0 for event in events)
            assert wanted, events
        faults = same(len(set(paths)), 4) + same(sorted(paths), sorted(glob.glob(options.profile_file_prefix + "*")))
        faults += same([count // max(1, counts[1]) for count in counts], [0, 1, 2, 3])
        return faults + raises(lightnet.InvalidArgument, sessions[0].end_profiling, "profiling is off") + \
            same(sessions[0].get_profiling_start_time_ns(), 0)


@test
def profiles_have_a_max_number_of_events():
    profile, rows = _profile.Profile(), [("name", "type", 1)] * (_profile.MAX_EVENTS // 2 - 1)
    for _ in range(4):
        profile.add(0, rows)
        profile.add(0, rows[:1])
    events = sum(len(run.rows) for run in profile._runs)
    return [] if _profile.MAX_EVENTS - 2 <= events <= _profile.MAX_EVENTS else [f"{events} events, at most {_profile.MAX_EVENTS} expected"]


@test
def profiling_ends_while_others_run():
    options, faults = lightnet.SessionOptions(), []
    options.enable_profiling = True
    x = np.ones((2, 3), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = os.path.join(folder, "p")
        for _ in range(20):
            s = lightnet.InferenceSession(unary(), options)
            def work(session=s):
                try:
                    for _ in range(50):
                        session.run(None, {"x": x})
                except BaseException as error:
                    faults.append(repr(error))
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            with open(s.end_profiling(), encoding="utf-8") as file:
                json.load(file)
            for thread in threads:
                thread.join()
    return faults[:3]


@test
def options_of_a_model_do_not_belong_to_its_sessions():
    model, options = lightnet.Model(unary()), lightnet.SessionOptions()
    options.intra_op_num_threads = 1
    return raises(ValueError, lambda: lightnet.InferenceSession(model, options), "belong to the Model") + \
        raises(ValueError, lambda: lightnet.InferenceSession(model, threads=1), "belong to the Model")


@test
def memory_plans_list_blocks():
    plan = lightnet.InferenceSession(DIGITS).memory_plan()
    names = {block.name for block in plan}
    live = max(sum(b.bytes for b in plan if b.reuses is None and b.first <= time <= b.last)
               for time in range(min(b.first for b in plan), 1 + max(b.last for b in plan)))
    faults = same(live, plan.lower_bound) + same(len(plan), len(plan.blocks))
    faults += [] if {"image", "probabilities"} <= names else [f"no image or probabilities in {names}"]
    faults += [] if plan.lower_bound <= plan.total <= 2 * plan.lower_bound else [repr(plan)]
    faults += [str(b) for b in plan if b.offset + b.bytes > plan.total or b.first > b.last or b.memory != "LN_MEM_CPU"]
    faults += [] if any(b.first_operator and b.last_operator for b in plan) else ["no operators"]
    for i, a in enumerate(plan.blocks):
        faults += [f"{a} and {b} overlap" for b in plan.blocks[:i]
                   if a.reuses is None and b.reuses is None and a.first <= b.last and b.first <= a.last and
                   a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes]
    return faults[:3]


@test
def tensors_of_reference_programs_share_no_memory():
    blocks = sorted(lightnet.InferenceSession(DIGITS, reference=True).memory_plan(), key=lambda block: block.offset)
    return [f"{a} and {b} overlap" for a, b in zip(blocks, blocks[1:]) if a.offset + a.bytes > b.offset]


@test
def results_of_open_sizes_stay_when_later_runs_reuse_memory():
    session, faults = lightnet.InferenceSession(unary(), threads=1), []
    given = [np.random.default_rng(n).standard_normal((2, n), np.float32) for n in [20000 + 500 * i for i in range(8)] * 2]
    kept = [session.run(None, {"x": x})[0] for x in given[:8]]
    for x in given[8:]:  # dropped at once, so that arrays are used in turn
        faults += [] if np.array_equal(session.run(None, {"x": x})[0], np.abs(x)) else ["a result is wrong"]
    return faults + ["a result has changed" for x, y in zip(given, kept) if not np.array_equal(y, np.abs(x))]


@test
def memory_plans_of_open_sizes_need_inputs():
    model = lightnet.Model(unary())
    sizes = [next(b.bytes for b in model.memory_plan({"x": np.ones((2, n), np.float32)}) if b.name == "y") for n in (10, 1000)]
    return same(sizes, [80, 8000]) + raises(lightnet.InvalidArgument, model.memory_plan, "input 'x' has open sizes")


# ---- quantization ----

def difference(path):
    a, b = (lightnet.InferenceSession(file).run(None, {"image": image(99)})[0] for file in (DIGITS, path))
    return float(np.abs(a - b).max())


@test
def quantize_reports_and_writes_a_model():
    steps = []
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, "q.safetensors")
        report = lightnet.quantize(DIGITS, to, ({"image": image(i)} for i in range(8)), lambda *step: steps.append(step),
                                   max_error=0.05, any_speed=True, seconds=0.01)
        off = difference(to)
    faults = [] if off < 0.05 else [f"differs by {off}"]
    faults += same(report.n_quantized, sum(layer.precision == "int8" for layer in report.layers))
    faults += [] if report.n_quantized and 0 <= report.error <= 0.05 and report.ns_before > 0 else [repr(report)]
    texts = "layer ", "of 4 in 8 bits", "error   0.0"
    faults += [f"'{text}' is not in: {report}" for text in texts if text not in str(report)]
    names = [step[0] for step in steps]
    return faults + same(names[:8], ["calibrate"] * 8) + \
        same([step[1:] for step in steps if step[0] == "layers"], [(i, 4) for i in range(4)])


@test
def the_report_says_why_a_model_stays_float32():
    with tempfile.TemporaryDirectory() as folder:
        reasons = [str(lightnet.quantize(DIGITS, os.path.join(folder, "q.onnx"), [{"image": image(3)}], max_error=0, seconds=0, any_speed=any_speed))
                   .splitlines()[-1] for any_speed in (False, True)]
    return same(reasons, ["The model stays float32: no faster mix of layers keeps the budget.",
                          "The model stays float32: no mix of layers keeps the budget."])


@test
def progress_ends_quantize_and_other_threads_run():
    seen = []
    def stop(step, done, total):
        seen.append(step)
        if step == "layers":
            raise KeyboardInterrupt("enough")
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, "q.safetensors")
        samples = [{"image": image(i)} for i in range(4)]
        faults = raises(KeyboardInterrupt, lambda: lightnet.quantize(DIGITS, to, samples, stop, seconds=0.01), "enough")
        ticks, done = [], threading.Event()
        def tick():
            while not done.wait(0.005):
                ticks.append(1)
        thread = threading.Thread(target=tick)
        thread.start()
        lightnet.quantize(DIGITS, to, samples, seconds=0.1)
        done.set()
        thread.join()
        return faults + same(seen[-1], "layers") + ([] if len(ticks) > 10 else [f"another thread ran {len(ticks)} times"])


@test
def a_quantizer_has_no_result_during_a_run():
    quantizer = lightnet._lightnet.Quantizer(lightnet.Model(DIGITS)._model)
    quantizer.add_sample((image(),))
    return raises(RuntimeError, lambda: quantizer.run(lambda *step: quantizer.result()), "has not returned")


@test
def samples_of_quantize_may_be_files():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "samples"))
        for i in range(4):
            np.save(os.path.join(folder, "samples", f"{i}.npy"), image(i))
        np.save(os.path.join(folder, "all.npy"), np.concatenate([image(i) for i in range(4)]))
        lists = {"folder": os.path.join(folder, "samples"), "array": os.path.join(folder, "all.npy"),
                 "list": [{"image": image(i)} for i in range(4)]}
        errors = {}
        for name, samples in lists.items():
            report = lightnet.quantize(DIGITS, os.path.join(folder, "q.safetensors"), samples, any_speed=True,
                                       seconds=0.01, max_error=1)
            errors[name] = [layer.error for layer in report.layers]
        with open(os.path.join(folder, "samples", "x.png"), "wb") as file:
            file.write(b"x")
        faults = same(errors["folder"], errors["list"]) + same(errors["array"], errors["list"])
        to, one = os.path.join(folder, "r.safetensors"), [{"image": image()}]
        cases = [(lambda: lightnet.quantize(DIGITS, to, lists["folder"]), "x.png", "npy"),
                 (lambda: lightnet.quantize(DIGITS, to, []), "no samples"),
                 (lambda: lightnet.quantize(DIGITS, to, [{"x": image()}]), "sample 0", "['image']"),
                 (lambda: lightnet.quantize(DIGITS, to, [{"image": image()[0]}]), "[1, 28, 28]"),
                 (lambda: lightnet.quantize(DIGITS, to, one, max_error=-1), "max_error"),
                 (lambda: lightnet.quantize(DIGITS, to, one, nonsense=1), "nonsense"),
                 (lambda: lightnet.quantize(lightnet.Model(DIGITS), to, one, threads=1), "belong to the Model")]
        faults += [f"case {i}: {f}" for i, (call, *texts) in enumerate(cases) for f in raises(lightnet.InvalidArgument, call, *texts)]
        return faults + raises(lightnet.NoSuchFile, lambda: lightnet.quantize(DIGITS, to, folder + "/none"), "none")


# ---- sequences and optional values ----

FLOATS = w.sequence_type(w.tensor_type("float"))


def sequence_model(path=None):
    """From a sequence s, a tensor x and an optional tensor o: s with x at its end, the length of that, o, and the last of s."""
    nodes = [w.node("SequenceInsert", ["s", "x"], ["t"]), w.node("SequenceLength", ["t"], ["n"]), w.node("Identity", ["o"], ["p"]),
             w.node("Constant", [], ["last"], value_int=-1), w.node("SequenceAt", ["s", "last"], ["e"])]
    inputs = [w.typed("s", FLOATS), w.value("x", "float", ["n"]), w.typed("o", w.optional_type(w.tensor_type("float", [2, "m"])))]
    outputs = [w.typed("t", FLOATS), w.value("n", "int64", []), w.typed("p", w.optional_type(w.tensor_type("float"))),
               w.value("e", "float")]
    content = w.model(w.graph(nodes, inputs, outputs), opset=18)
    if path is None:
        return content
    with open(path, "wb") as file:
        file.write(content)
    return path


S = [np.arange(3, dtype=np.float32), np.ones((2, 2), np.float32)]
X, O = np.array([7, 8], np.float32), np.zeros((2, 5), np.float32)


def same_lists(seen, wanted):
    if not isinstance(seen, list) or len(seen) != len(wanted):
        return [f"{seen!r}, expected {wanted!r}"]
    return [fault for a, b in zip(seen, wanted) for fault in equal(a, b)]


@test
def sequences_are_lists_and_absent_values_none():
    session = lightnet.InferenceSession(sequence_model())
    faults = []
    for s, o in ((S, O), (S[:1], None), (S * 3, O), (S, O)):
        t, n, p, e = session.run(None, {"s": s, "x": X, "o": o})
        faults += same_lists(t, [*s, X]) + equal(n, np.array(len(s) + 1)) + equal(e, s[-1])
        faults += same(p, None) if o is None else equal(p, o)
    n, t = session.run(["n", "t"], {"s": S, "x": X})
    return faults + equal(n, np.array(3)) + same_lists(t, [*S, X])


@test
def their_types_are_those_of_onnxruntime():
    with tempfile.TemporaryDirectory() as folder:
        session = lightnet.InferenceSession(sequence_model(os.path.join(folder, "model.onnx")))
        inputs = [(i.name, i.type, i.shape) for i in session.get_inputs()]
        outputs = [(o.name, o.type) for o in session.get_outputs()]
        t = session.run(["t"], {"s": S, "x": X})[0]
    wanted = [("s", "seq(tensor(float))", None), ("x", "tensor(float)", ["n"]), ("o", "optional(tensor(float))", [2, "m"])]
    return same(inputs, wanted) + same_lists(t, [*S, X]) + \
        same(outputs, [("t", "seq(tensor(float))"), ("n", "tensor(int64)"), ("p", "optional(tensor(float))"), ("e", "tensor(float)")])


@test
def wrong_values_of_sequences_are_named():
    session = lightnet.InferenceSession(sequence_model())
    feed = {"s": S, "x": X}
    return raises(ValueError, lambda: session.run(None, {"s": S}), "Required inputs (['x'])") + \
        raises(lightnet.InvalidArgument, lambda: session.run(None, {**feed, "y": X}), "no input 'y'; it has: o, s, x") + \
        raises(lightnet.InvalidArgument, lambda: session.run(["z"], feed), "no output 'z'") + \
        raises(lightnet.InvalidArgument, lambda: session.run(None, {**feed, "s": X}), "input 's' is ndarray, expected a list") + \
        raises(lightnet.Error, lambda: session.run(None, {**feed, "s": []}), "the sequence is empty") + \
        raises(lightnet.Error, lambda: session.run(None, {**feed, "o": np.zeros((3, 1), np.float32)}), "[3, 1]") + \
        raises(lightnet.InvalidArgument, lambda: session.run(None, {**feed, "s": [X.astype(np.int64)]}), "int64", "s[0]") + \
        raises(lightnet.NotImplemented, session.io_binding, "sequences or optional values") + \
        same_lists(session.run(["t"], feed)[0], [*S, X])


@test
def values_may_decide_shapes_of_models_with_sequences():
    nodes = [w.node("SplitToSequence", ["x", "lens"], ["t"])]
    model = w.model(w.graph(nodes, [w.value("x", "float", [6]), w.value("lens", "int64", [2])], [w.typed("t", FLOATS)]), opset=17)
    session, x = lightnet.InferenceSession(model), np.arange(6, dtype=np.float32)
    faults = []
    for k in (1, 4, 1):
        faults += same_lists(session.run(None, {"x": x, "lens": np.array([k, 6 - k])})[0], [x[:k], x[k:]])
    return faults + raises(lightnet.Error, lambda: session.run(None, {"x": x, "lens": np.array([4, 4])}), "do not add up to 6")


@test
def sessions_with_sequences_have_deadlines_copies_and_metadata():
    session = lightnet.InferenceSession(sequence_model(), deadline=60)
    copy = pickle.loads(pickle.dumps(session))
    results = []
    session.run_async(["n"], {"s": S, "x": X}, lambda outputs, data, error: results.append((outputs, error)), None)
    t = copy.run(["t"], {"s": S, "x": X}, deadline=30)[0]
    for _ in range(500):
        if results:
            break
        threading.Event().wait(0.01)
    return same_lists(t, [*S, X]) + same(results, [([np.array(3)], "")]) + same(lightnet.Model(sequence_model()).metadata["format"], "ONNX")


def writing_model():
    """JSON IR that writes x to tensor.txt in each run."""
    def arguments(**values):
        return [{"arg_name": name, "value": value} for name, value in values.items()]
    return json.dumps({"inputs": ["x"], "outputs": ["y"], "ops": [
        {"name": "x", "optype": "create", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "x"}],
         "params": arguments(dtype="TL_FLOAT", dims=[2], data=[0], ran=[0, 0], from_file=False)},
        {"name": "p", "optype": "fprint", "tensors_in": [{"arg_name": "src", "name": "x"}], "tensors_out": [],
         "params": arguments(msg="x:", file="tensor.txt")},
        {"name": "r", "optype": "relu", "tensors_in": [{"arg_name": "src", "name": "x"}],
         "tensors_out": [{"arg_name": "dst", "name": "y"}], "params": []}]}).encode()


@test
def a_model_writes_only_where_the_host_allows_it():
    feed, reason = {"x": np.array([1, 2], np.float32)}, "operator 'p' (fprint): writes files"
    with tempfile.TemporaryDirectory() as folder:
        options = lightnet.SessionOptions()
        options.add_session_config_entry("lightnet.allow_output", folder)
        faults = raises(lightnet.InvalidArgument, lambda: lightnet.InferenceSession(writing_model()), reason)
        faults += raises(lightnet.InvalidArgument, lambda: lightnet.Model(writing_model()), reason)
        faults += raises(lightnet.InvalidArgument, lambda: lightnet.Model(writing_model(), allow_output="-"), reason)
        faults += raises(lightnet.InvalidArgument, lambda: lightnet.quantize(writing_model(), os.path.join(folder, "q.safetensors"), [feed]),
                         reason)
        faults += same(os.listdir(folder), [])
        path = os.path.join(folder, "tensor.txt")
        for session in (lightnet.InferenceSession(writing_model(), options),
                        lightnet.InferenceSession(lightnet.Model(writing_model(), allow_output=folder))):
            session.run(None, feed)
            with open(path, encoding="utf-8") as file:
                faults += same(file.read(), "x:\n[1.000 2.000]\n")
            os.remove(path)
        return faults


@test
def sessions_of_threads_write_only_in_the_allowed_folder():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink("/dev/null", os.path.join(folder, "tensor.txt"))
        model, errors = lightnet.Model(writing_model(), allow_output=folder), []

        def run():
            for _ in range(20):
                try:
                    lightnet.InferenceSession(model).run(None, {"x": np.zeros(2, np.float32)})
                except lightnet.Error as error:
                    errors.append(str(error))
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return same(len([error for error in errors if "a link leads elsewhere" in error]), 80)


@test
def an_empty_model_of_sequences_runs():
    model = w.model(w.graph([w.node("Identity", ["s"], ["t"])], [w.typed("s", FLOATS)], [w.typed("t", FLOATS)]), opset=17)
    return same(lightnet.InferenceSession(model).run(None, {"s": []}), [[]])


# ---- strings, in each call that takes arrays ----

def of_strings(op, given, out_shape, *more):
    """The bytes of y = op(x, ..) of strings; `given`: the type of input x."""
    whole = w.graph([w.node(op, ["x", *[name for name, _ in more]], ["y"])], [w.typed("x", given)],
                    [w.value("y", "string", out_shape)], [tensor for _, tensor in more])
    return w.model(whole, opset=17)


WORDS = ["a", "b\u00f6"]
FORMS_OF_WORDS = {"U": np.array(WORDS), "object": np.array(WORDS, object), "S": np.array([word.encode() for word in WORDS]), "list": WORDS}


@test
def strings_are_accepted_in_each_call():
    faults, pair = [], w.tensor_type("string", [2])
    plain = of_strings("Identity", pair, [2])
    element = of_strings("SequenceAt", w.sequence_type(w.tensor_type("string", ["n"])), ["n"], ("i", w.tensor("i", "int64", [], [0])))
    optional = of_strings("OptionalGetElement", w.optional_type(pair), [2])
    for name, words in FORMS_OF_WORDS.items():
        for what, model, feed in (("tensor", plain, words), ("sequence", element, [words, words]), ("optional", optional, words)):
            got = lightnet.InferenceSession(model).run(None, {"x": feed})[0]
            faults += [f"{what} of {name}: {fault}" for fault in same(list(got), WORDS)]
        session = lightnet.InferenceSession(plain)
        binding = session.io_binding()
        binding.bind_cpu_input("x", np.array(words))
        binding.bind_output("y")
        session.run_with_iobinding(binding)
        faults += [f"binding of {name}: {fault}" for fault in same(list(binding.copy_outputs_to_cpu()[0]), WORDS)]
    with tempfile.TemporaryDirectory() as folder:
        for words in FORMS_OF_WORDS.values():
            path = os.path.join(folder, "strings.onnx")
            with open(path, "wb") as file:
                file.write(plain)
            report = lightnet.quantize(path, os.path.join(folder, "q.safetensors"), [{"x": np.array(words)}, {"x": np.array(words)}])
            faults += same(len(report.layers), 0)
    faults += raises(lightnet.InvalidArgument, lambda: lightnet.InferenceSession(plain).run(None, {"x": np.array(["a", "b", "c"])}), "[3]")
    faults += raises(TypeError, lambda: lightnet.InferenceSession(plain).run(None, {"x": np.array([1, None], object)}), "int")
    return faults


@test
def a_text_is_an_initializer():
    whole = w.graph([w.node("StringConcat", ["x", "k"], ["y"])], [w.value("x", "string", [1])], [w.value("y", "string", [1])],
                    [w.tensor("k", "string", [], ["old"])])
    options = lightnet.SessionOptions()
    options.add_initializer("k", OrtValue.ortvalue_from_numpy(np.array("new")))
    return same(list(lightnet.InferenceSession(w.model(whole, opset=20), options).run(None, {"x": np.array(["a"])})[0]), ["anew"])


# ---- subclasses, interpreters, objects that are no models ----

class Pickled(lightnet.InferenceSession):
    """As insightface has it."""

    def __init__(self, model_path):
        super().__init__(model_path)
        self.model_path = model_path

    def __getstate__(self):
        return {"model_path": self.model_path}

    def __setstate__(self, values):
        self.__init__(values["model_path"])


class Opened(lightnet.InferenceSession):
    """With __setstate__ alone."""

    def __setstate__(self, values):
        self.__init__(DIGITS)
        self.__dict__.update(values)


class Tagged(lightnet.InferenceSession):
    """Without a protocol of its own."""


@test
def subclasses_of_sessions_are_pickled():
    tagged, opened = Tagged(DIGITS), Opened(DIGITS)
    tagged.tag = opened.tag = 3
    faults = []
    for made, name, value in ((Pickled(DIGITS), "model_path", DIGITS), (tagged, "tag", 3), (opened, "tag", 3)):
        again = pickle.loads(pickle.dumps(made))
        faults += same(type(again), type(made)) + same(getattr(again, name), value)
        faults += equal(again.run(None, {"image": image()})[0], made.run(None, {"image": image()})[0])
    session = pickle.loads(pickle.dumps(lightnet.InferenceSession(DIGITS)))
    return faults + same(type(session), lightnet.InferenceSession) + same(session._model_path, DIGITS) + \
        same([i.name for i in session._inputs_meta], ["image"]) + same(session._providers, ["CPUExecutionProvider"])


@test
def a_second_interpreter_does_not_disturb_the_first():
    interpreters = importlib.import_module("_xxsubinterpreters") if sys.version_info < (3, 12) else None
    if interpreters is None:  # later ones refuse such modules themselves
        return []
    session, other = lightnet.InferenceSession(unary(shape=[2])), interpreters.create()
    faults = raises(Exception, lambda: interpreters.run_string(other, f"import sys; sys.path.insert(0, {sys.argv[1]!r}); import lightnet"),
                    "in use in another interpreter")
    interpreters.destroy(other)
    faults += raises(lightnet.InvalidArgument, lambda: session.run(None, {"x": np.ones(3, np.float32)}), "[3]")
    return faults + equal(session.run(None, {"x": [-1, 2]})[0], np.array([1, 2], np.float32))


@test
def an_object_that_claims_to_be_a_model_is_rejected():
    class Claims:
        __class__ = property(lambda self: lightnet._lightnet.Model)
    return raises(TypeError, lambda: lightnet._lightnet.Session(Claims()), "expects a Model") + \
        raises(TypeError, lambda: lightnet._lightnet.Quantizer(Claims()), "expects a Model")


# ---- warnings, names, arguments ----

def warnings_of(function):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function()
    return [str(warning.message) if warning.filename == __file__ else f"at {warning.filename}" for warning in seen]


@test
def warnings_of_the_engine_are_warnings():
    newer = unary(shape=[2]).replace(w.field(8, w.opsets(17)[0]), w.field(8, w.opsets(40)[0]))
    options = lightnet.SessionOptions()
    lightnet.set_default_logger_severity(2)
    faults = same(["operator set 40" in text for text in warnings_of(lambda: lightnet.InferenceSession(newer))], [True])
    options.log_severity_level = 3
    faults += same(warnings_of(lambda: lightnet.InferenceSession(newer, options)), [])
    lightnet.set_default_logger_severity(4)
    faults += same(warnings_of(lambda: lightnet.InferenceSession(newer)), [])
    lightnet.set_default_logger_severity(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return faults + raises(UserWarning, lambda: lightnet.InferenceSession(newer), "operator set 40")


@test
def names_that_python_has_are_not_hidden():
    names = {}
    exec("from lightnet import *", names)  # pylint: disable=exec-used
    public = [name for name in dir(lightnet) if not name.startswith("_")]
    return same("NotImplemented" in names, False) + same([name for name in ("List", "kind_of", "message_of") if name in public], []) + \
        same(f"{lightnet.InvalidGraph.__module__}.{lightnet.InvalidGraph.__name__}", "lightnet.InvalidGraph") + \
        same(issubclass(lightnet.Cancelled, lightnet.Fail), True)


@test
def swapped_and_misspelled_arguments_are_named():
    session = lightnet.InferenceSession(DIGITS)

    class Proto:
        def SerializeToString(self):
            return b""
    return raises(TypeError, lambda: session.run({"image": image()}, None), "output_names, input_feed") + \
        raises(TypeError, lambda: session.run(None, None), "input_feed is None") + \
        raises(TypeError, lambda: lightnet.InferenceSession(Proto()), "pass its SerializeToString()") + \
        raises(TypeError, lambda: lightnet.InferenceSession(io.BytesIO(b"")), "pass its read()") + \
        raises(lightnet.InvalidArgument, lambda: lightnet.InferenceSession(DIGITS, provider=["CPUExecutionProvider"]), "did you mean 'providers'")


@test
def an_override_of_an_unknown_size_is_ignored_with_a_warning():
    options = lightnet.SessionOptions()
    options.add_free_dimension_override_by_name("n", 3)
    options.add_free_dimension_override_by_name("none", 5)
    shapes = []
    seen = warnings_of(lambda: shapes.append(lightnet.InferenceSession(unary(), options).get_inputs()[0].shape))
    return same(["'none'" in text for text in seen], [True]) + same(shapes, [[2, 3]])


# ---- maps, defaults, levels ----

@test
def zipmap_gives_lists_of_dicts():
    faults = []
    for name, keys, kind in (("classlabels_int64s", [4, 5], "int64"), ("classlabels_strings", ["a", "b"], "string")):
        whole = w.graph([w.node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **{name: keys}), w.node("Abs", ["x"], ["z"])],
                        [w.value("x", "float", ["n", 2])], [w.field(1, "y"), w.value("z", "float", ["n", 2])])
        session = lightnet.InferenceSession(w.model(whole, opset={"": 17, "ai.onnx.ml": 1}))
        x = np.array([[0.5, 1], [2, -3]], np.float32)
        y, z = session.run(None, {"x": x})
        faults += same(y, [{keys[0]: 0.5, keys[1]: 1.0}, {keys[0]: 2.0, keys[1]: -3.0}]) + equal(z, abs(x))
        faults += same([output.type for output in session.get_outputs()], [f"seq(map({kind},tensor(float)))", "tensor(float)"])
        faults += equal(session.run(["z"], {"x": x})[0], abs(x)) + equal(session.run(iter(["z", "y"]), {"x": x})[0], abs(x))
    return faults


@test
def metadata_of_the_model_makes_no_maps():
    faults = []
    for text in ("[1]", "no JSON", "{}"):
        whole = w.graph([w.node("Abs", ["x"], ["y"])], [w.value("x", "float", [2])], [w.value("y", "float", [2])])
        named = w.model(whole, opset=17) + w.field(14, w.field(1, "keys of y") + w.field(2, text))
        faults += equal(lightnet.InferenceSession(named).run(None, {"x": [-1, 2]})[0], np.array([1, 2], np.float32))
    return faults


@test
def inputs_with_a_default_are_overridable():
    whole = w.graph([w.node("Mul", ["x", "k"], ["y"])], [w.value("x", "float", [2]), w.value("k", "float", [])],
                    [w.value("y", "float", [2])], [w.tensor("k", "float", [], [2])])
    session = lightnet.InferenceSession(w.model(whole))
    return same([(i.name, i.type) for i in session.get_overridable_initializers()], [("k", "tensor(float)")]) + \
        same([i.name for i in session.get_inputs()], ["x"]) + same(lightnet.InferenceSession(scaled()).get_overridable_initializers(), [])


@test
def sessions_without_optimization_keep_fast_kernels():
    options, x = lightnet.SessionOptions(), {"image": image()}
    options.graph_optimization_level = lightnet.GraphOptimizationLevel.ORT_DISABLE_ALL
    programs = {}
    for name, session in (("all", lightnet.InferenceSession(DIGITS)), ("none", lightnet.InferenceSession(DIGITS, options)),
                          ("reference", lightnet.InferenceSession(DIGITS, reference=True))):
        programs[name] = [row["type"] for row in session.profile(x)], session.run(None, x)[0]
    faults = [] if np.allclose(programs["none"][1], programs["all"][1], 1e-5) else ["results differ"]
    fast, plain = (any("blocked" in kind for kind in programs[name][0]) for name in ("none", "reference"))
    return faults + same((fast, plain), (True, False))


# ---- states ----

def sums(state="total_in", dtype="float", dims=("n",)):
    """The bytes of total_out = x + state, and twice = 2 * x."""
    names = [("x", dtype), (state, "float")]
    nodes = [w.node("Cast", ["x"], ["f"], to=1), w.node("Add", ["f", state], ["total_out"]), w.node("Add", ["f", "f"], ["twice"])]
    return w.model(w.graph(nodes, [w.value(name, kind, list(dims)) for name, kind in names],
                           [w.value(name, "float", list(dims)) for name in ("total_out", "twice")]), opset=17)


FEED = {"x": np.ones(2, np.float32)}


def total(session, feed=FEED):
    return session.run(["total_out"], feed)[0].tolist()


@test
def states_are_linked_by_names_or_by_a_dict():
    faults = []
    for session in (lightnet.StatefulSession(sums(), threads=1), lightnet.StatefulSession(lightnet.Model(sums())),
                    lightnet.StatefulSession(sums("total")), lightnet.StatefulSession(sums("before"), {"total_out": "before"})):
        faults += same(list(session.links), ["total_out"]) + same([total(session) for _ in range(3)], [[1, 1], [2, 2], [3, 3]])
        faults += same([a.tolist() for a in session.run(None, FEED)], [[2, 2]])  # twice
        session.reset()
        faults += same(total(session, {"x": np.ones(3, np.float32)}), [1, 1, 1])
    return faults


@test
def values_of_inputs_replace_states():
    session = lightnet.StatefulSession(sums())
    session.run(None, FEED)
    faults = same(total(session, {**FEED, "total_in": np.array([5, 7], np.float32)}), [6, 8]) + same(total(session), [7, 9])
    return faults + raises(lightnet.InvalidArgument, lambda: total(session, {**FEED, "total_in": [5, 7]}), "total_in") + \
        same(total(session), [8, 10])


@test
def forks_continue_on_their_own():
    session = lightnet.StatefulSession(sums("before"), {"total_out": "before"})
    total(session)
    fork = session.fork()
    total(session)
    return same(fork.links, session.links) + same((total(fork), total(fork), total(session)), ([2, 2], [3, 3], [3, 3]))


@test
def failed_runs_leave_states():
    session, three = lightnet.StatefulSession(sums()), {"x": np.ones(3, np.float32)}
    total(session)
    return raises(lightnet.InvalidArgument, lambda: total(session, three), "'total_in' has 2 for 'n', but input 'x' has 3") + \
        raises(ValueError, lambda: total(session, {**FEED, "z": FEED["x"]}), "z") + same(total(session), [2, 2])


@test
def large_states_of_fixed_sizes_are_outputs():
    session = lightnet.StatefulSession(sums(dims=[1 << 15]))
    x = np.ones(1 << 15, np.float32)
    return same([session.run(None, {"x": x}) and session.run(["total_out"], {"x": x})[0][-1] for _ in range(2)], [2, 4])


@test
def links_that_do_not_fit_are_rejected():
    state = lightnet.StatefulSession
    return raises(ValueError, lambda: state(sums("before")), "no output is named after an input") + \
        raises(ValueError, lambda: state(sums(), {}), "pass links=") + \
        raises(lightnet.InvalidArgument, lambda: state(sums(dtype="int64"), {"total_out": "x"}), "int64", "'x'") + \
        raises(lightnet.InvalidArgument, lambda: state(sums(), {"total_out": "z"}), "no input 'z'") + \
        raises(lightnet.InvalidArgument, lambda: state(sums(), {"z": "x"}), "no output 'z'") + \
        raises(ValueError, lambda: state(lightnet.Model(sums()), threads=1), "belong to the Model") + \
        raises(TypeError, lambda: state(sums()).run("twice", FEED), "output_names is a list")


if __name__ == "__main__":
    run_tests()
