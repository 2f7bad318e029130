# SPDX-License-Identifier: Apache-2.0
"""Models in LightNet IR with the results that are expected of them, run by the command line."""
import json
import os
import subprocess

import numpy as np

from dtypes import FLT, bfloat16_bits, bits_of

SAFETENSORS = {
    "TL_DOUBLE": "F64", "TL_FLOAT": "F32", "TL_FLOAT16": "F16", "TL_BFLOAT16": "BF16", "TL_BOOL": "BOOL",
    "TL_INT64": "I64", "TL_INT32": "I32", "TL_INT16": "I16", "TL_INT8": "I8",
    "TL_UINT64": "U64", "TL_UINT32": "U32", "TL_UINT16": "U16", "TL_UINT8": "U8",
}


class Model:
    """Operators that make tensors, and their expected values; `check` writes, runs and compares."""

    def __init__(self, suffix=""):
        self.suffix = suffix   # of every optype: "_cpu" for a model of concrete operators
        self.ops, self.inputs, self.weights, self.expected = [], {}, {}, []
        self.n = 0

    def name(self):
        self.n += 1
        return f"t{self.n}"

    def op(self, optype, ins=(), outs=("dst",), /, **params):
        """Adds an operator with inputs (arg_name, tensor name); returns the names of its outputs."""
        names = [self.name() for _ in outs]
        self.ops.append({
            "name": f"op{len(self.ops)}", "optype": optype + self.suffix,
            "tensors_in": [{"arg_name": arg, "name": name} for arg, name in ins],
            "tensors_out": [{"arg_name": arg, "name": name} for arg, name in zip(outs, names)],
            "params": [{"arg_name": key, "value": value} for key, value in params.items()],
        })
        return names

    def create(self, dtype, array, const=False):
        """Adds a tensor with the elements of `array`: an input of the model, or a constant."""
        array = np.asarray(array)
        const = const or (dtype == "TL_BFLOAT16" and not array.size)  # which has raw files only, and those are not empty
        # The catalogue's `create` makes elements, along axes.
        made = ("create", {"ran": [0, 0], "data": [0]}) if array.size and array.ndim else ("source", {})
        name, = self.op(made[0], dtype=dtype, dims=list(array.shape), from_file=const, **made[1])
        (self.weights if const else self.inputs)[name] = (dtype, array.copy())
        return name

    def expect(self, name, dtype, array, bound=None, label=""):
        """An output and its elements: the same to the bit (any NaN for a NaN), or not farther away than `bound`."""
        if dtype == "TL_BFLOAT16" and np.size(array):
            name = self.as_float(name, np.size(array))
        elif dtype == "TL_BFLOAT16":
            name, = self.op("cast", [("src", name)], dtype="TL_FLOAT")
        self.expected.append((name, dtype, np.asarray(array), bound, label))

    def as_float(self, name, n):
        """Adds operators that convert a bfloat16 tensor to floats, which npy files cannot hold: `submean` is the operator that
        converts, images [H, W, 3] to [3, H, W]."""
        line, = self.op("reshape", [("src", name)], dims=[n])
        missing = -n % 3
        if missing:
            padding = self.create("TL_BFLOAT16", np.zeros(missing, np.float32), const=True)
            line, = self.op("concat", [("src1", line), ("src2", padding)], axis=0)
        image, = self.op("reshape", [("src", line)], dims=[1, (n + missing) // 3, 3])
        return self.op("submean", [("src", image)], mean=[0, 0, 0], dtype="TL_FLOAT")[0]

    def document(self):
        return {"inputs": list(self.inputs), "outputs": [name for name, *_ in self.expected], "ops": self.ops}

    def write(self, folder):
        """Writes the model and its tensors; returns the arguments that name them."""
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "model.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.document(), file, indent=1)
        arguments = [path]
        if self.weights:
            arguments += ["-f", write_weights(os.path.join(folder, "weights.safetensors"), self.weights)]
        for name, (dtype, array) in self.inputs.items():
            arguments += ["-i", f"{name}={write_tensor(os.path.join(folder, name), dtype, array)}"]
        return arguments

    def check(self, lightnet, folder, rtol=1e-3, atol=1e-5, options=()):
        """Errors as lines: in the optimized program's results, or in its agreement with the
        reference program within `rtol` and `atol`."""
        arguments = self.write(folder)
        out = os.path.join(folder, "out")
        done = call([lightnet, "run", *arguments, "-O", out, *options])
        faults = failure(done) or self.compare(out)
        self.printed = done.stdout
        return faults + failure(call([lightnet, "verify", *arguments, "--reference", "--rtol", repr(rtol), "--atol",
                                      repr(atol), *options]))

    def compare(self, out):
        faults = []
        for k, (name, dtype, array, bound, label) in enumerate(self.expected):
            got = np.load(os.path.join(out, f"output_{k}.npy"))
            if dtype == "TL_BFLOAT16" and np.size(array):
                got = from_image(got, array.shape)
            fault = difference(dtype, got, array, bound)
            if fault:
                faults.append(f"tensor {name} ({dtype}) {label}: {fault}")
        return faults


def call(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False)


def failure(done):
    if done.returncode == 0:
        return []
    last = (done.stdout.splitlines() + done.stderr.splitlines())[-3:]
    return [f"{' '.join(done.args[:3])}: exit status {done.returncode}", *last]


def write_tensor(path, dtype, array):
    if dtype == "TL_BFLOAT16":
        bfloat16_bits(array).tofile(path + ".bin")
        return path + ".bin"
    np.save(path + ".npy", array)
    return path + ".npy"


def write_weights(path, tensors):
    """A safetensors file: the size of the header, the header, all elements."""
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        elements = (bfloat16_bits(array) if dtype == "TL_BFLOAT16" else array).tobytes()
        header[name] = {"dtype": SAFETENSORS[dtype], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(elements)]}
        data += elements
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)
    return path


def from_image(image, shape):
    """The inverse of `as_float`, which saturates infinities to values that bfloat16 does not have."""
    line = np.moveaxis(image, 0, 2).ravel()[:int(np.prod(shape))].reshape(shape)
    beyond = np.abs(line) == np.finfo(np.float32).max
    return np.where(beyond, np.copysign(np.float32(np.inf), line), line)


def difference(dtype, got, expected, bound):
    """The first difference, or None."""
    if got.shape != expected.shape:
        return f"shape {list(got.shape)}, expected {list(expected.shape)}"
    if got.dtype != expected.dtype:
        return f"type {got.dtype}, expected {expected.dtype}"
    same = bits_of(dtype, got) == bits_of(dtype, expected)
    if dtype in FLT:
        same |= np.isnan(got) & np.isnan(expected)
    if bound is not None:
        with np.errstate(invalid="ignore"):
            same |= np.abs(got.astype(np.longdouble) - expected.astype(np.longdouble)) <= bound
    if same.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    limit = "" if bound is None else f" within {np.broadcast_to(bound, same.shape)[at]:.3g}"
    return f"{(~same).sum()} of {same.size} differ, at {list(at)} {got[at]!r}, expected {expected[at]!r}{limit}"
