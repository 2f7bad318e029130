# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: a test is a function that returns faults, texts of what is wrong.

    from checks import raises, run_tests, same, test

    @test
    def sums_are_right():
        return same(1 + 1, 2) + raises(ZeroDivisionError, lambda: 1 / 0, "division")

    if __name__ == "__main__":
        run_tests()
"""
import concurrent.futures

import numpy as np
from tap import Tap

tests = []


def test(function):
    """Adds a test."""
    tests.append(function)
    return function


def raises(kind, function, *texts):
    """Faults unless function() raises `kind` with these texts in its message."""
    try:
        function()
    except kind as error:
        return [f"'{text}' is not in: {error}" for text in texts if text not in str(error)]
    except BaseException as error:  # of another kind: that is the fault
        return [f"raised {type(error).__name__}: {error}"]
    return ["raised nothing"]


def same(seen, wanted):
    return [] if seen == wanted else [f"{seen!r}, expected {wanted!r}"]


def equal(a, b):
    """Faults unless both arrays have one type, shape and elements."""
    return [] if a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b) else [f"{a!r} is not {b!r}"]


def faults_of(function):
    try:
        return function()
    except BaseException as error:  # counts as a fault of this test
        return [f"{type(error).__name__}: {error}"]


def run_tests(beside=()):
    """Runs the tests in their order, those of `beside`, which wait for seconds, in threads beside all others, and leaves."""
    tap = Tap()
    with concurrent.futures.ThreadPoolExecutor(len(beside) or 1) as pool:
        waiting = {function: pool.submit(faults_of, function) for function in beside}
        for function in tests:
            if function not in waiting:
                tap.check(function.__name__, faults_of(function))
        for function, faults in waiting.items():
            tap.check(function.__name__, faults.result())
    tap.end()
