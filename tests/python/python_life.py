#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_life.py PACKAGE. The package under garbage collection, signals and fork."""
import gc
import os
import signal
import sys
import threading
import time
import weakref

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [sys.argv[1], os.path.join(HERE, "../structure"), os.path.join(HERE, "../onnx")]

import numpy as np
from checks import equal, run_tests, test

import lightnet
import onnx_writer as w


def absolute():
    """The bytes of y = |x|."""
    whole = w.graph([w.node("Abs", ["x"], ["y"])], [w.value("x", "float", [2, 2])], [w.value("y", "float", [2, 2])])
    return w.model(whole, opset=17)


def looped():
    """The bytes of a model with `count` products of matrices."""
    body = w.graph([w.node("MatMul", ["a", "m"], ["b"]), w.node("Identity", ["c"], ["d"])],
                   [w.value("i", "int64", []), w.value("c", "bool", []), w.value("a", "float", [128, 128])],
                   [w.value("d", "bool", []), w.value("b", "float", [128, 128])])
    whole = w.graph([w.node("Loop", ["count", "", "m"], ["y"], body=body)],
                    [w.value("count", "int64", []), w.value("m", "float", [128, 128])], [w.value("y", "float", [128, 128])])
    return w.model(whole, opset=17)


def feed(count):
    return {"count": np.array(count, np.int64), "m": np.eye(128, dtype=np.float32)}


X = np.array([[-1, 2], [3, -4]], np.float32)


class Marked(np.ndarray):
    """An array that may refer to others."""


@test
def cycles_through_bound_arrays_are_collected():
    session = lightnet.InferenceSession(absolute())
    binding = session.io_binding()
    x = X.copy().view(Marked)
    binding.bind_cpu_input("x", x)
    x.binding = binding  # a cycle through the extension's session
    watched = weakref.ref(x)
    tracked = gc.is_tracked(binding._session)
    del x, binding, session
    gc.collect()
    return ([] if tracked else ["sessions are not tracked"]) + ([] if watched() is None else ["the array lives"])


@test
def bound_arrays_live_as_long_as_they_are_bound():
    session = lightnet.InferenceSession(absolute())
    binding = session.io_binding()
    first, second = (value * X.copy().view(Marked) for value in (1, 2))
    watched = [weakref.ref(first), weakref.ref(second)]
    binding.bind_cpu_input("x", first)
    binding.bind_output("y")
    del first
    gc.collect()
    faults = [] if watched[0]() is not None else ["the first died while it was bound"]
    binding.bind_cpu_input("x", second)
    del second
    faults += [] if watched[0]() is None else ["the first lives after it was replaced"]
    session.run_with_iobinding(binding)
    faults += equal(binding.copy_outputs_to_cpu()[0], np.abs(2 * X))
    binding.clear_binding_inputs()
    return faults + ([] if watched[1]() is None else ["the second lives after it was unbound"])


@test
def a_handler_that_does_not_raise_has_no_effect():
    session, seen = lightnet.InferenceSession(looped(), threads=1), []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        for count, after in ((20000, 0.02), (20000, 0.05)):
            timer = threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            result = session.run(None, feed(count))[0]
            timer.join()
            if not np.array_equal(result, np.eye(128, dtype=np.float32)):
                return ["a wrong result"]
    finally:
        signal.signal(signal.SIGINT, before)
    return [] if len(seen) == 2 else [f"{len(seen)} signals were handled, expected 2"]


@test
def a_handler_may_cancel_or_raise():
    session, faults = lightnet.InferenceSession(looped(), threads=1), []
    def exit_loop(*_):
        raise TimeoutError("enough")
    for handler, wanted in ((lambda *_: session.cancel(), lightnet.Cancelled), (exit_loop, TimeoutError)):
        before = signal.signal(signal.SIGINT, handler)
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            session.run(None, feed(10**9))
            faults.append(f"no {wanted.__name__}")
        except wanted:
            pass
        finally:
            signal.signal(signal.SIGINT, before)
        faults += equal(session.run(None, feed(2))[0], np.eye(128, dtype=np.float32))
    return faults


@test
def a_deadline_counts_once_under_signals():
    session = lightnet.InferenceSession(looped(), threads=1)
    before = signal.signal(signal.SIGINT, lambda *_: None)
    stop = threading.Event()
    def storm():
        while not stop.wait(0.05):
            os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=storm)
    thread.start()
    start, faults = time.monotonic(), []
    try:
        session.run(None, feed(10**9), deadline=0.4)
        faults.append("no LimitReached")
    except lightnet.LimitReached:
        pass
    finally:
        stop.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    took = time.monotonic() - start
    return faults + ([] if took < 20 else [f"took {took:.1f} s"]) + \
        equal(session.run(None, feed(2))[0], np.eye(128, dtype=np.float32))


def in_child(function):
    """Faults unless function() is [] in a child process, within a minute."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            faults = function()
        except BaseException as error:
            faults = [repr(error)]
        if faults:
            os.write(2, f"# child: {faults}\n".encode())
        os._exit(bool(faults))
    status = os.waitpid(child, 0)[1]
    return [] if status == 0 else [f"the child ended with status {status}"]


@test
def a_child_uses_sessions_whose_parent_runs_in_other_threads():
    session, options = lightnet.InferenceSession(looped(), threads=1), lightnet.RunOptions()
    def work():
        try:
            session.run(None, feed(10**9), options)
        except lightnet.Cancelled:
            pass
    def child():
        session.cancel()
        options.terminate = True
        options.terminate = False
        result = equal(session.run(None, feed(3))[0], np.eye(128, dtype=np.float32))
        binding = session.io_binding()
        for name, value in feed(3).items():
            binding.bind_cpu_input(name, value)
        session.run_with_iobinding(binding, options)
        session.__exit__()
        gc.collect()
        return result
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    faults = [f for _ in range(10) for f in in_child(child)]
    session.cancel()
    for thread in threads:
        thread.join(60)
    return faults + (["runs go on"] if any(thread.is_alive() for thread in threads) else [])


@test
def a_child_of_a_run_of_the_main_thread_has_the_handler_of_python():
    session, faults = lightnet.InferenceSession(looped(), threads=1), []
    def child():
        other = lightnet.InferenceSession(absolute())
        result = equal(other.run(None, {"x": X})[0], np.abs(X))
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)
        except KeyboardInterrupt:
            return result
        return result + ["no KeyboardInterrupt"]
    def fork():
        time.sleep(0.1)
        faults.extend(in_child(child))
        session.cancel()
    thread = threading.Thread(target=fork)
    thread.start()
    try:
        session.run(None, feed(10**9))
    except lightnet.Cancelled:
        pass
    thread.join()
    return faults


@test
def cancel_after_terminate_does_not_reach_other_runs():
    session, options = lightnet.InferenceSession(absolute()), lightnet.RunOptions()
    stop, faults = threading.Event(), []
    def toggle():
        while not stop.is_set():
            options.terminate = True
            options.terminate = False
    thread = threading.Thread(target=toggle)
    thread.start()
    for _ in range(500):
        try:
            session.run(None, {"x": X}, options)
        except lightnet.Cancelled:
            pass
        faults += equal(session.run(None, {"x": X})[0], np.abs(X))  # must not raise
    stop.set()
    thread.join()
    return faults[:3]


if __name__ == "__main__":
    run_tests()
