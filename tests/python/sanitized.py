#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: sanitized.py BUILD. The Python tests with the extension module under the address and undefined sanitizers.

The module is compiled with Clang against the library in the build folder. The sanitizer's runtime, which is loaded first, replaces
malloc in the whole process: it also sees memory of the library that leaks, or is used after its end by the module.
"""
import glob
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../structure"))

from tap import ROOT, Tap, run

BUILT = os.path.abspath(sys.argv[1])
LIBRARIES = [os.path.join(BUILT, folder) for folder in ("lightnet", "tensorlight")]
TESTS = ["session", "python_api", "python_life", "python_values"]
FLAGS = ["-shared", "-fPIC", "-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
         "-shared-libasan", "-DPy_LIMITED_API=0x03080000", "-Wno-unused-command-line-argument"]
INCLUDES = ["python/src", "lightnet/include", "tensorlight/include", "lightnet", "tensorlight"]
# Python and NumPy keep objects until the process ends. Stacks of three calls are matched: what the library itself allocates counts.
SUPPRESSIONS = """leak:libpython
leak:python3
leak:_multiarray_umath
leak:ld-linux
"""
# Errors of memory that must be found, so that the tests can fail: {name: (code, text of the report)}
FINDINGS = {
    "leaks_of_the_library_are_found": (
        "import ctypes, lightnet._lightnet; make = ctypes.CDLL('liblightnet.so').ln_options_create; make.restype = None; make(); make()",
        "LeakSanitizer: detected memory leaks"),
    "uses_of_freed_memory_are_found": (
        "import ctypes; c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p; p = c.malloc(64); "
        "c.free(ctypes.c_void_p(p)); c.memset(ctypes.c_void_p(p), 0, 64)",
        "AddressSanitizer: heap-use-after-free"),
}


def runtime():
    """The shared runtime of Clang's address sanitizer, or None."""
    if shutil.which("clang") is None:
        return None
    name = f"libclang_rt.asan-{os.uname().machine}.so"
    path = subprocess.run(["clang", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
    return path if os.path.isabs(path) and os.path.exists(path) else None


def package(folder):
    """Compiles the module into a copy of the package. Returns the compiler's status and output."""
    shutil.copytree(os.path.join(ROOT, "python/lightnet"), os.path.join(folder, "lightnet"))
    sources = sorted(glob.glob(os.path.join(ROOT, "python/src/*.c")))
    folders = [os.path.join(root, name) for root in (ROOT, BUILT) for name in INCLUDES]
    includes = [f"-I{folder}" for folder in [*folders, sysconfig.get_paths()["include"]]]
    links = [word for path in LIBRARIES for word in (f"-L{path}", f"-Wl,-rpath,{path}")] + ["-llightnet", "-ltensorlight", "-lpthread"]
    return run(["clang", *FLAGS, *includes, *sources, "-o", os.path.join(folder, "lightnet/_lightnet.abi3.so"), *links])


def environment(folder, preloaded):
    """The variables of a Python under sanitizers. No symbols: the program that finds them outlives Python, and holds its output."""
    suppressions = os.path.join(folder, "suppressions")
    with open(suppressions, "w", encoding="utf-8") as file:
        file.write(SUPPRESSIONS)
    return {**os.environ, "LD_PRELOAD": preloaded, "PYTHONMALLOC": "malloc", "PYTHONPATH": folder,
            "LD_LIBRARY_PATH": ":".join(LIBRARIES), "LIGHTNET_COMMAND": os.path.join(BUILT, "cli/lightnet"),
            "UBSAN_OPTIONS": "print_stacktrace=1:symbolize=0", "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0",
            "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:intercept_tls_get_addr=0:malloc_context_size=3:symbolize=0"}


def faults_of_test(name, folder, env):
    """The findings of the sanitizers, or what the test says, of one file of tests."""
    status, output = run([sys.executable, os.path.join(HERE, f"{name}.py"), folder], env=env)
    lines = output.splitlines()
    failed = [line for line in lines if line.startswith("not ok") or "Sanitizer:" in line or "runtime error:" in line]
    return [] if status == 0 and not failed else [f"exit status {status}", *failed[:20], *lines[-60:]]


def faults_of_finding(code, text, env):
    status, output = run([sys.executable, "-c", code], env=env)
    return [] if status and text in output else [f"exit status {status}, expected '{text}'", *output.splitlines()[-20:]]


def main():
    tap = Tap()
    preloaded = runtime()
    if preloaded is None:
        tap.skip("python_tests_under_sanitizers", "no Clang with a shared runtime of the address sanitizer")
        tap.end()
    with tempfile.TemporaryDirectory(prefix="lightnet-test-sanitized-") as folder:
        status, output = package(folder)
        tap.check("the_module_compiles_with_sanitizers", [] if status == 0 else output.splitlines()[-20:])
        env = environment(folder, preloaded)
        for name, (code, text) in FINDINGS.items() if status == 0 else ():
            tap.check(name, faults_of_finding(code, text, env))
        for name in TESTS if status == 0 else ():
            tap.check(name, faults_of_test(name, folder, env))
    tap.end()


if __name__ == "__main__":
    main()
