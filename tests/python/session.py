#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: session.py PACKAGE. Models and sessions of the Python package, in the folder PACKAGE, against NumPy."""
import ctypes
import multiprocessing
import os
import pickle
import re
import signal
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree

sys.path[:0] = [sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../structure"),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "../onnx")]

import numpy as np
from checks import equal, raises, run_tests, test
from tap import ROOT

import lightnet
import onnx_writer as w
from lightnet._html import ProfileRows, model_html, nodes_text
from lightnet._profile import shortest

DIGITS = os.path.join(ROOT, "examples/digits/digits.onnx")


def digits(**options):
    return lightnet.InferenceSession(DIGITS, **options)


def image(seed=0):
    return np.random.default_rng(seed).random((1, 1, 28, 28), np.float32)


def tiny(dtype="float", shape=(2, "n"), op="Abs"):
    """The bytes of y = op(x)."""
    whole = w.graph([w.node(op, ["x"], ["y"])], [w.value("x", dtype, list(shape))], [w.value("y", dtype, list(shape))])
    return w.model(whole, opset=17)


def joining():
    """The bytes of y = x x, joined, and z = x, of strings."""
    whole = w.graph([w.node("StringConcat", ["x", "x"], ["y"]), w.node("Identity", ["x"], ["z"])], [w.value("x", "string", ["n", 2])],
                    [w.value("y", "string", ["n", 2]), w.value("z", "string", ["n", 2])])
    return w.model(whole, opset=20)


def slow():
    """The bytes of a model that runs for minutes: a loop of products of matrices."""
    body = w.graph([w.node("MatMul", ["a", "m"], ["b"]), w.node("Identity", ["c"], ["d"])],
                   [w.value("i", "int64", []), w.value("c", "bool", []), w.value("a", "float", [256, 256])],
                   [w.value("d", "bool", []), w.value("b", "float", [256, 256])])
    whole = w.graph([w.node("Loop", ["count", "", "m"], ["y"], body=body)],
                    [w.value("count", "int64", []), w.value("m", "float", [256, 256])], [w.value("y", "float", [256, 256])])
    return w.model(whole, opset=17)


def slow_feed():
    return {"count": np.array(10**9, np.int64), "m": np.zeros((256, 256), np.float32)}


# ---- one call ----

@test
def strings_are_arrays_of_str():
    session = lightnet.InferenceSession(joining())
    faults = [] if session.get_inputs()[0].type == "tensor(string)" else [session.get_inputs()[0].type]
    x = np.array([["a", "\u00e4\0b"], ["", "\u4e2d\u6587"]], object)
    wanted = np.array([[text * 2 for text in row] for row in x.tolist()], object)
    for given in (x, np.array([["a", "b"]]), x.tolist(), np.char.encode(np.array([["a", "b"]])), x.T.copy().T, np.zeros((0, 2), object)):
        y, z = session.run(None, {"x": given})
        as_text = np.array(np.char.decode(given) if getattr(given, "dtype", x.dtype).kind == "S" else given, object).reshape(-1, 2)
        faults += equal(z, as_text) + ([] if y.dtype == object else [f"{y.dtype}"])
    y, z = session.run(None, {"x": x})
    value = lightnet.OrtValue.ortvalue_from_numpy(x)
    faults += [value.data_type()] if value.data_type() != "tensor(string)" else []
    of_value = session.run_with_ort_values(["y"], {"x": value})[0]
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    bound = binding.copy_outputs_to_cpu()[0]
    return faults + equal(y, wanted) + equal(of_value.numpy(), wanted) + equal(bound, wanted)


@test
def other_objects_are_no_strings():
    session = lightnet.InferenceSession(joining())
    return (raises(TypeError, lambda: session.run(None, {"x": np.array([["a", 1]], object)}), "expected str") +
            raises(lightnet.InvalidArgument, lambda: session.run(None, {"x": np.array([["a", "\ud800"]], object)}), "not UTF-8")
            + raises(lightnet.InvalidArgument, lambda: session.run(None, {"x": np.zeros((1, 2), np.float32)}), "expected str"))


@test
def describes_inputs_and_outputs():
    s = lightnet.InferenceSession(tiny())
    node = s.get_inputs()[0]
    seen = (node.name, node.type, node.shape, s.get_outputs()[0].name, s.get_providers())
    wanted = ("x", "tensor(float)", [2, "n"], "y", ["CPUExecutionProvider"])
    return [] if seen == wanted else [f"{seen}, expected {wanted}"]


@test
def digits_have_the_probabilities_of_the_reference():
    expected = np.load(os.path.join(ROOT, "examples/digits/expected_seven.npy")).ravel()
    with open(os.path.join(ROOT, "examples/digits/seven.pgm"), "rb") as file:
        pixels = np.frombuffer(file.read()[-784:], np.uint8).astype(np.float32).reshape(1, 1, 28, 28)
    best = [int(np.argmax(digits().run(None, {"image": scale * pixels})[0])) for scale in (1 / 255, 1)]
    return [] if int(np.argmax(expected)) in best else [f"{best}, expected {np.argmax(expected)}"]


@test
def all_types_and_shapes_agree_with_numpy():
    faults = []
    for name, kind in (("float", np.float32), ("double", np.float64), ("int32", np.int32), ("int64", np.int64),
                       ("int8", np.int8), ("int16", np.int16), ("uint8", np.uint8), ("uint32", np.uint32),
                       ("uint64", np.uint64), ("uint16", np.uint16), ("float16", np.float16)):
        s = lightnet.InferenceSession(tiny(name))
        for n in (0, 1, 3, 1000, 20000):
            x = (np.arange(2 * n).reshape(2, n) % 100 - (50 if np.dtype(kind).kind != "u" else 0)).astype(kind)
            faults += [f"{name} {n}: {f}" for f in equal(s.run(["y"], {"x": x})[0], np.abs(x))]
    x = np.array([[True, False], [False, True]])
    return faults + equal(lightnet.InferenceSession(tiny("bool", op="Not")).run(None, {"x": x})[0], ~x)


@test
def arrays_of_any_layout_are_read():
    s = lightnet.InferenceSession(tiny())
    x = np.arange(24, dtype=np.float32).reshape(4, 6) - 7
    views = {"transposed": x.T[:2], "reversed": x[1::-1], "columns": x[:2, ::2], "big endian": x[:2].astype(">f4"),
             "read only": np.frombuffer(x[:2].tobytes(), np.float32).reshape(2, 6),
             "not aligned": np.frombuffer(b"x" + x[:2].tobytes(), np.float32, offset=1).reshape(2, 6)}
    return [f"{name}: {f}" for name, v in views.items() for f in equal(s.run(None, {"x": v})[0], np.abs(v).astype(np.float32))]


@test
def the_buffer_protocol_and_array_interface_are_read():
    s = lightnet.InferenceSession(tiny("double", (3,)))
    memory = (ctypes.c_double * 3)(-1, 2, -3)
    class Shaped:
        __array_interface__ = np.array([-1.0, 2, -3]).__array_interface__
        keep = np.array([-1.0, 2, -3])
    holder = Shaped()
    holder.__class__.__array_interface__ = holder.keep.__array_interface__
    sources = {"ctypes": memory, "memoryview": memoryview(memory), "list": [-1.0, 2.0, -3.0], "interface": holder,
               "OrtValue": lightnet.OrtValue.ortvalue_from_numpy(np.array([-1.0, 2, -3]))}
    return [f"{name}: {f}" for name, x in sources.items() for f in equal(s.run(None, {"x": x})[0], np.array([1.0, 2, 3]))]


@test
def dlpack_goes_in_and_out_without_a_copy():
    value = lightnet.OrtValue.ortvalue_from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    back = np.from_dlpack(value)
    again = lightnet.OrtValue.from_dlpack(value)
    shared = value.data_ptr() == back.ctypes.data == again.data_ptr()
    return ([] if shared else ["copied"]) + equal(lightnet.InferenceSession(tiny()).run(None, {"x": again})[0], back)


@test
def large_inputs_and_outputs_are_not_copied():
    s = lightnet.InferenceSession(tiny(shape=(25_000_000,)))
    x = np.ones(25_000_000, np.float32)
    s.run(None, {"x": x})
    def peak():
        with open("/proc/self/status", encoding="ascii") as file:
            return int(next(line.split()[1] for line in file if line.startswith("VmHWM")))
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    before = peak()
    y = s.run(None, {"x": x})[0]
    grown = (peak() - before) / 1024
    return ([] if grown < 110 else [f"{grown:.0f} MB more, expected the output's 95"]) + ([] if y[7] == 1 else ["wrong"])


@test
def an_output_may_be_named_twice():
    s = lightnet.InferenceSession(tiny(shape=(50000,)))
    x = np.arange(50000, dtype=np.float32) - 7
    first, second = s.run(["y", "y"], {"x": x})
    return equal(first, np.abs(x)) + equal(second, np.abs(x))


def growing(width):
    """The bytes of present = past and new, joined, as the cache of a decoder."""
    whole = w.graph([w.node("Concat", ["past", "new"], ["present"], axis=1)],
                    [w.value("past", "float", [4, "p", width]), w.value("new", "float", [4, "s", width])],
                    [w.value("present", "float", [4, "t", width])])
    return w.model(whole, opset=17)


@test
def caches_are_written_to_their_arrays():
    """Without a copy, though a program for many lengths expects more memory; but an array keeps at most 1 MB that it does not use,
    or as much as it uses."""
    faults, random = [], np.random.default_rng(3)
    for width, copies in ((64, False), (4000, True)):
        s = lightnet.InferenceSession(growing(width))
        past = np.zeros((4, 20, width), np.float32)
        for step in range(20):
            new = random.random((4, 1, width), np.float32)
            present = s.run(None, {"past": past, "new": new})[0]
            faults += equal(present, np.concatenate([past, new], axis=1))
            kept = present if present.base is None else present.base
            faults += [] if kept.nbytes - present.nbytes <= max(present.nbytes, 1 << 20) else [f"an array of {kept.nbytes} bytes is kept"]
            past = present
        if (present.base is None) != copies:
            faults.append(f"{width} floats: {'no copy' if copies else 'a copy'}")
    return faults


@test
def errors_name_what_is_wrong():
    s = digits()
    x = image()
    cases = [
        (ValueError, lambda: s.run(None, {}), "Required inputs (['image']) are missing"),
        (lightnet.InvalidArgument, lambda: s.run(None, {"image": x.astype(np.float64)}), "float64", "expected float32"),
        (lightnet.InvalidArgument, lambda: s.run(None, {"image": x[0]}), "[1, 28, 28]"),
        (lightnet.InvalidArgument, lambda: s.run(None, {"picture": x}), "no input 'picture'; it has: image"),
        (lightnet.InvalidArgument, lambda: s.run(["y"], {"image": x}), "no output 'y'; it has: probabilities"),
        (lightnet.NoSuchFile, lambda: lightnet.InferenceSession("no.onnx"), "no.onnx"),
        (lightnet.InvalidGraph, lambda: lightnet.InferenceSession(b"nothing at all"), ""),
        (lightnet.NotImplemented, lambda: lightnet.InferenceSession(tiny(op="Foo")), "operators that are not supported: Foo (1 node)"),
        (lightnet.InvalidArgument, lambda: lightnet.Model(DIGITS, nonsense=1), "nonsense"),
        (TypeError, lambda: s.run("probabilities", {"image": x}), "list of names"),
        (TypeError, lambda: lightnet.InferenceSession(5), ""),
        (ValueError, lambda: s.run(None, {"image\0": x}), "null"),
        (TypeError, lambda: s.run(None, {"image": np.array([object()])}), "not supported"),
        (TypeError, lambda: s.run(None, {1: x}), "expected str"),
    ]
    faults = [f"case {i}: {f}" for i, (kind, call, *texts) in enumerate(cases) for f in raises(kind, call, *texts)]
    return faults + equal(s.run(None, {"image": x})[0], digits().run(None, {"image": x})[0])


# ---- options, limits, interrupts ----

@test
def session_options_reach_the_model():
    options = lightnet.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = lightnet.GraphOptimizationLevel.ORT_DISABLE_ALL
    plain = lightnet.InferenceSession(DIGITS, options, providers=["CPUExecutionProvider"])
    x = image()
    off = np.abs(plain.run(None, {"image": x})[0] - digits().run(None, {"image": x})[0]).max()
    fixed = lightnet.SessionOptions()
    fixed.add_free_dimension_override_by_name("n", 3)
    s = lightnet.InferenceSession(tiny(), fixed)
    return ([] if off < 1e-5 else [f"differs by {off}"]) + \
        raises(lightnet.InvalidArgument, lambda: s.run(None, {"x": np.ones((2, 4), np.float32)}))


@test
def a_deadline_ends_a_run_and_the_next_is_right():
    s = lightnet.InferenceSession(slow(), deadline=0.2)
    start = time.monotonic()
    faults = raises(lightnet.LimitReached, lambda: s.run(None, slow_feed()))
    took = time.monotonic() - start
    short = dict(slow_feed(), count=np.array(2, np.int64))
    return faults + ([] if took < 20 else [f"took {took:.1f} s"]) + equal(s.run(None, short)[0], short["m"])


@test
def cancel_ends_runs_of_other_threads():
    s = lightnet.InferenceSession(slow())
    timer = threading.Timer(0.2, s.cancel)
    timer.start()
    faults = raises(lightnet.Cancelled, lambda: s.run(None, slow_feed()))
    options = lightnet.RunOptions()
    threading.Timer(0.2, lambda: setattr(options, "terminate", True)).start()
    faults += raises(lightnet.Cancelled, lambda: s.run(None, slow_feed(), options))
    short = dict(slow_feed(), count=np.array(2, np.int64))
    return faults + equal(s.run(None, short)[0], short["m"])


@test
def an_interrupt_ends_a_run():
    s = lightnet.InferenceSession(slow())
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    faults = raises(KeyboardInterrupt, lambda: s.run(None, slow_feed()))
    short = dict(slow_feed(), count=np.array(2, np.int64))
    handler = signal.getsignal(signal.SIGINT)
    return faults + equal(s.run(None, short)[0], short["m"]) + \
        ([] if handler is signal.default_int_handler else [f"the handler is {handler}"])


@test
def interrupts_between_and_within_runs_leave_the_session_right():
    s, x, seen = digits(), image(), []
    wanted = s.run(None, {"image": x})[0]
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    stop = threading.Event()
    def storm():
        while not stop.wait(0.0007):
            os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=storm)
    thread.start()
    faults, cancelled = [], 0
    for _ in range(2000):
        try:
            faults += equal(s.run(None, {"image": x})[0], wanted)
        except lightnet.Cancelled:
            cancelled += 1
    stop.set()
    thread.join()
    signal.signal(signal.SIGINT, before)
    return faults[:3] + ([] if seen else ["no signal arrived"]) + equal(s.run(None, {"image": x})[0], wanted)


@test
def a_cancel_after_a_run_does_not_end_the_next():
    s, x = digits(), image()
    wanted = s.run(None, {"image": x})[0]
    faults, stop = [], threading.Event()
    def cancel():
        while not stop.is_set():
            s.cancel()
    thread = threading.Thread(target=cancel)
    thread.start()
    for _ in range(300):
        try:
            faults += equal(s.run(None, {"image": x})[0], wanted)
        except lightnet.Cancelled:
            pass
    stop.set()
    thread.join()
    return faults[:3] + equal(s.run(None, {"image": x})[0], wanted)


# ---- threads, processes, pickles ----

@test
def threads_share_a_session():
    s = digits(threads=1)
    inputs = [image(i) for i in range(8)]
    wanted = [s.run(None, {"image": x})[0] for x in inputs]
    faults = []
    def work(i):
        for _ in range(200):
            faults.extend(equal(s.run(None, {"image": inputs[i]})[0], wanted[i]))
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults[:3]


def run_in_child(arguments):
    session, x = arguments
    return session.run(None, {"image": x})[0]


@test
def sessions_go_to_other_processes():
    s, x = digits(), image()
    wanted = s.run(None, {"image": x})[0]
    faults = equal(pickle.loads(pickle.dumps(s)).run(None, {"image": x})[0], wanted)
    small = lightnet.InferenceSession(tiny())
    y = np.ones((2, 2), np.float32)
    faults += equal(pickle.loads(pickle.dumps(small)).run(None, {"x": y})[0], y)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            for result in pool.map(run_in_child, [(s, x)] * 3):
                faults += [f"{method}: {f}" for f in equal(result, wanted)]
    return faults


@test
def a_model_is_shared():
    model = lightnet.Model(DIGITS)
    sessions = [model.session() for _ in range(3)]
    x = image()
    results = [s.run(None, {"image": x})[0] for s in sessions]
    return equal(results[0], results[1]) + equal(results[0], results[2]) + \
        ([] if model.metadata["format"] == "ONNX" else [str(model.metadata)])


@test
def sessions_leave_no_memory_behind():
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        return []  # the sanitizer keeps freed memory, which grows; it finds leaks itself when the process ends
    source, x = tiny(shape=(2, 3)), np.ones((2, 3), np.float32)
    def rounds(n):
        for _ in range(n):
            lightnet.InferenceSession(source, threads=1).run(None, {"x": x})
    rounds(300)
    before = resident()
    rounds(2000)
    grown = (resident() - before) / 2000
    return [] if grown < 100 else [f"{grown:.0f} bytes for each session"]


# ---- bindings, profiles ----

@test
def bindings_stay_from_run_to_run():
    s = lightnet.InferenceSession(tiny())
    x, y = np.array([[-1, 2], [3, -4]], np.float32), np.zeros((2, 2), np.float32)
    binding = s.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_ortvalue_output("y", lightnet.OrtValue.ortvalue_from_numpy(y))
    faults = []
    for scale in (1, 2):
        x *= scale
        s.run_with_iobinding(binding)
        faults += equal(y, np.abs(x))
    binding.clear_binding_outputs()
    binding.bind_output("y")
    s.run_with_iobinding(binding)
    faults += equal(binding.copy_outputs_to_cpu()[0], np.abs(x)) + equal(binding.get_outputs()[0].numpy(), np.abs(x))
    binding.bind_input("x", "cpu", 0, np.float32, (2, 2), y.ctypes.data)
    s.run_with_iobinding(binding)
    faults += equal(binding.copy_outputs_to_cpu()[0], y)
    binding.clear_binding_inputs()
    return faults + raises(lightnet.InvalidArgument, lambda: s.run_with_iobinding(binding)) + \
        raises(TypeError, lambda: s.io_binding().bind_ortvalue_output("y", lightnet.OrtValue(y[:, ::-1])))


@test
def bindings_have_the_types_and_shapes_of_outputs():
    s = lightnet.InferenceSession(tiny())
    x = np.ones((2, 2), np.float32)
    binding = s.io_binding()
    binding.bind_cpu_input("x", x)
    faults = []
    for wrong in (np.zeros(5, np.int64), np.zeros((2, 3), np.float32)):
        binding.bind_ortvalue_output("y", lightnet.OrtValue(wrong))
        faults += raises(lightnet.InvalidArgument, lambda: s.run_with_iobinding(binding), "output 'y'")
    kept = wrong.copy()
    binding.bind_output("y")
    binding.bind_cpu_input("x", 3 * x)
    s.run_with_iobinding(binding)
    return faults + equal(wrong, kept) + equal(binding.copy_outputs_to_cpu()[0], 3 * x)


@test
def bindings_of_inputs_with_defaults_are_cleared():
    whole = w.graph([w.node("Add", ["x", "k"], ["y"])], [w.value("x", "float", [2]), w.value("k", "float", [])],
                    [w.value("y", "float", None)], [w.tensor("k", "float", [], [1])])
    s = lightnet.InferenceSession(w.model(whole, opset=17))
    binding, x = s.io_binding(), np.zeros(2, np.float32)
    results = []
    for k in (100, None):
        binding.clear_binding_inputs()
        binding.bind_cpu_input("x", x)
        if k:
            binding.bind_cpu_input("k", np.array(k, np.float32))
        binding.bind_output("y")
        s.run_with_iobinding(binding)
        results.append(binding.copy_outputs_to_cpu()[0])
    return equal(results[0], x + 100) + equal(results[1], x + 1) + \
        ([] if s.get_outputs()[0].shape in (None, [2]) else [str(s.get_outputs()[0])])


@test
def a_deadline_and_cancel_end_bound_runs():
    s = lightnet.InferenceSession(slow(), deadline=0.2)
    binding = s.io_binding()
    for name, value in slow_feed().items():
        binding.bind_cpu_input(name, value)
    faults = raises(lightnet.LimitReached, lambda: s.run_with_iobinding(binding))
    s._deadline = None
    threading.Timer(0.2, s.cancel).start()
    return faults + raises(lightnet.Cancelled, lambda: s.run_with_iobinding(binding))


def either(cond, inputs, before=(), constants=()):
    """The bytes of y = the sum of x if `cond` holds, otherwise the sums of x as rows of 5."""
    def sum_of(name, made, *nodes, **options):
        return w.graph([*nodes, w.node("ReduceSum", [name], [made], keepdims=0)], [], [w.value(made, "float", [])], **options)
    other = sum_of("r", "b", w.node("Reshape", ["x", "s"], ["r"], name="rows"), initializers=[w.tensor("s", "int64", [2], [-1, 5])])
    nodes = [*before, w.node("If", [cond], ["y"], then_branch=sum_of("x", "a"), else_branch=other)]
    return w.model(w.graph(nodes, [w.value("x", "float", [1, "n"]), *inputs], [w.value("y", "float", [])], constants), opset=16)


def sums_of_branches(model, feed):
    """Faults of one session: for several sizes in turn, whether each branch runs for the sizes that it fits."""
    s, faults = lightnet.InferenceSession(model), []
    for size, takes_first in ((6, True), (6, False), (5, False), (7, True), (10, False), (8, False), (8, True), (15, False), (5, True)):
        x = np.arange(1, size + 1, dtype=np.float32).reshape(1, size) * (1 if takes_first else -1)
        run = lambda: s.run(None, feed(x, takes_first))
        if takes_first or size % 5 == 0:
            faults += equal(np.asarray(run()[0]), np.asarray(x.sum()))
        else:
            faults += raises(lightnet.Error, run, "'rows' (Reshape, opset 16): -1 in the new shape", f"to divide {size}")
    return faults


@test
def a_branch_that_does_not_fit_fails_only_runs_that_an_input_sends_there():
    return sums_of_branches(either("flag", [w.value("flag", "bool", [])]),
                            lambda x, takes_first: {"x": x, "flag": np.array(takes_first)})


@test
def or_that_a_computed_condition_sends_there():
    above = [w.node("ReduceSum", ["x"], ["t"], keepdims=0), w.node("Greater", ["t", "zero"], ["above"])]
    return sums_of_branches(either("above", [], above, [w.tensor("zero", "float", [], [0.0])]), lambda x, takes_first: {"x": x})


@test
def profiles_list_operators():
    rows = digits().profile({"image": image()})
    faults = [] if {"name", "type", "ns", "nodes"} == set(rows[0]) and any("conv2d" in row["type"] for row in rows) else [str(rows)]
    # Without the constants: each of these computes nodes of the model, of which each is computed.
    nodes = [node["type"] for row in rows for node in row["nodes"]]
    kinds = {"Conv": 5, "BatchNormalization": 2, "Relu": 3, "MaxPool": 2, "Softmax": 1}
    counts = {kind: nodes.count(kind) for kind in kinds}
    return faults + ([] if all(row["nodes"] for row in rows) and counts == kinds else [f"{counts}, expected {kinds}, in {rows}"])


def cells(html):
    """The texts of each row of a table, and the widths of its bars."""
    root = ElementTree.fromstring(f"<x>{html}</x>")
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")], \
        [float(re.search(r"width:([0-9.]+)%", bar.get("style"))[1]) for bar in root.iter("div") if "width:1px" in (bar.get("style") or "")]


@test
def notebooks_show_profiles_as_bars():
    rows = digits().profile({"image": image()})
    table, bars = cells(rows._repr_html_())
    longest = max(rows, key=lambda row: row["ns"])
    faults = [] if rows == list(rows) and isinstance(rows, list) else ["no list"]
    if table[1][:2] != [nodes_text(longest), longest["type"]] or len(table) != len(rows) + 1:
        faults.append(f"{table}, expected first {longest}")
    expected = [100 * ns / longest["ns"] for ns in sorted((row["ns"] for row in rows), reverse=True)]
    return faults + [f"bar of {bar} %, expected {width}" for bar, width in zip(bars, expected) if abs(bar - width) > 0.06]


@test
def notebooks_sum_up_long_profiles():
    rows = ProfileRows({"name": f"<{i}>", "type": "t", "ns": 100 - i} for i in range(50))
    table, _ = cells(rows._repr_html_())
    return [] if len(table) == 42 and table[1][0] == "<0>" and table[-1][0] == "10 others" and table[-1][3] == "0.000555" else [str(table)]


@test
def profiles_name_nodes_by_types_and_the_first_name():
    nodes = [{"name": f"n{i}", "type": kind} for i, kind in enumerate(["Conv", "Relu", "Add", "Mul", "Div"])]
    cases = [([], "own"), (nodes[:1], "Conv n0"), (nodes[:3], "Conv + Relu + Add n0"), (nodes, "Conv + Relu + Add + 2 more n0"),
             ([{"name": "", "type": "Conv"}], "Conv")]
    return [f"{text}, expected {expected}" for given, expected in cases
            for text in [nodes_text({"name": "own", "nodes": given})] if text != expected]


@test
def profiles_have_the_shortest_of_several_runs():
    class Session:
        times = iter([[5, 9], [7, 2], [6, 8]])

        def run_bound(self, rows):
            rows += [(name, "t", ns) for name, ns in zip("ab", next(self.times))]

    rows = shortest(Session(), 3, 60)
    return [] if rows == [("a", "t", 5), ("b", "t", 2)] else [str(rows)]


@test
def notebooks_show_models_as_tables():
    model = lightnet.Model(DIGITS)
    table, _ = cells(model._repr_html_())
    expected = [["", "name", "type", "shape"], ["input", "image", "tensor(float)", "[1, 1, 28, 28]"],
                ["output", "probabilities", "tensor(float)", "[1, 10]"]]
    size = f"{os.path.getsize(DIGITS) / 1000:.3g} kB"
    return ([] if table == expected else [f"{table}, expected {expected}"]) + ([] if size in model._repr_html_() else [f"no {size}"])


@test
def models_with_many_ports_are_shown_in_part():
    port = lightnet.Model(DIGITS).inputs[0]
    table, _ = cells(model_html("many", None, [port] * 10, [port] * 9))
    return [] if len(table) == 1 + 8 + 1 + 9 and table[9] == ["input", "2 others", "", ""] else [str(table)]


@test
def models_have_a_short_text():
    with open(DIGITS, "rb") as file:
        data = file.read()
    texts = [repr(lightnet.Model(DIGITS)), repr(lightnet.Model(data))]
    expected = ["<lightnet.Model 'digits.onnx', 1 input, 1 output>", f"<lightnet.Model of {len(data)} bytes, 1 input, 1 output>"]
    return [] if texts == expected else [f"{texts}, expected {expected}"]


if __name__ == "__main__":
    # A shell ignores interrupts of what it starts in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run_tests()
