# SPDX-License-Identifier: Apache-2.0
"""A model for each operator of arch none that takes long, in a few hundred bytes of JSON IR.

A row is (optype, outputs, inputs by argument name, parameters, bodies, why it is quick). An input is a function that adds
its tensor to a model. Several rows of one operator take different kernels.
"""
import json
import math

ROWS = []


def slow(optype, outs="dst", *, bodies=None, quick="", **given):
    """A row: given are inputs (functions) and parameters (other values). A list of functions is an argument of many. With `quick`,
    the reason, no limit needs to stop the operator.
    """
    inputs = {key: value for key, value in given.items() if callable(value) or is_many(value)}
    params = {key: value for key, value in given.items() if key not in inputs}
    ROWS.append((optype, outs.split(), inputs, params, bodies or {}, quick))


def reason_of(row):
    """Why the operator cannot be slow, or nothing."""
    return row[5]


def is_many(value):
    return isinstance(value, list) and value and callable(value[0])


class Document:
    """The operators of a model, each output once."""

    def __init__(self):
        self.ops, self.n = [], 0

    def add(self, optype, ins, outs, params):
        names = [f"t{self.n + k}" for k in range(len(outs))]
        self.n += len(outs)
        op = {"name": f"op{len(self.ops)}", "optype": optype,
              "tensors_in": [{"arg_name": key, "name": name} for key, name in ins],
              "tensors_out": [{"arg_name": key, "name": name} for key, name in zip(outs, names)],
              "params": [{"arg_name": key, "value": value} for key, value in params.items()]}
        self.ops.append(op)
        return names

    def made(self):
        """The names of the operators before the last one."""
        return {op["name"] for op in self.ops[:-1]}


def model_of(row):
    """The document, whose last operator is the row's, and its text."""
    optype, outs, inputs, params, bodies, _ = row
    doc, ins = Document(), []
    for key, what in inputs.items():
        ins += [(f"{key}{i}", each(doc)) for i, each in enumerate(what)] if is_many(what) else [(key, what(doc))]
    outputs = doc.add(optype, ins, outs, params)
    return doc, json.dumps({"inputs": [], "outputs": outputs, "bodies": bodies, "ops": doc.ops})


# ---- inputs ----

def new(*dims, dtype="TL_FLOAT", low=0, high=1, most=1_000_000):
    """Random elements, other ones in each run; of more than `most`, one line that is repeated, which takes less time."""
    def add(doc):
        made = dims if math.prod(dims) <= most else (1,) * (len(dims) - 1) + dims[-1:]
        line, = doc.add("random", [], ["dst"], {"dtype": dtype, "dims": made, "distribution": "TL_UNIFORM", "a": low, "b": high, "seed": 1})
        return line if made == dims else doc.add("expand", [("src", line)], ["dst"], {"dims": dims})[0]
    return add


def same(value, *dims, dtype="TL_FLOAT"):
    """A constant."""
    def add(doc):
        one, = doc.add("source", [], ["dst"], {"dtype": dtype, "dims": [1] * len(dims), "data": [value]})
        return doc.add("expand", [("src", one)], ["dst"], {"dims": dims})[0] if dims else one
    return add


def data(values, *dims, dtype="TL_FLOAT"):
    return lambda doc: doc.add("source", [], ["dst"], {"dtype": dtype, "dims": dims, "data": list(values)})[0]


def of(optype, source, **params):
    """The output of an operator."""
    return lambda doc: doc.add(optype, [("src", source(doc))], ["dst"], params)[0]


def ints(high, *dims, dtype="TL_INT64", low=0):
    return new(*dims, dtype=dtype, low=low, high=high)


def text(doubled, *dims):
    """Strings of 2^doubled characters."""
    def add(doc):
        one = of("string_cast", new(1, dtype="TL_INT64", low=1, high=1.5), dtype="TL_STRING")(doc)
        for _ in range(doubled):
            one = doc.add("string_join", [("src1", one), ("src2", one)], ["dst"], {})[0]
        return doc.add("expand", [("src", one)], ["dst"], {"dims": dims})[0]
    return add


def words(*dims, high=1e9):
    return of("string_cast", ints(high, *dims), dtype="TL_STRING")


LONG = 12_000_000  # elements of tensors that take little time each
LARGE = 8_000_000
VIEW = "copies nothing"
I64, I32, U8, I8 = "TL_INT64", "TL_INT32", "TL_UINT8", "TL_INT8"

# ---- what moves elements ----

slow("view", src=same(1, 5, LONG), dims=[2, -1], quick=VIEW)
slow("reshape_to", src=same(1, 5, LONG), shape=data([2, -1], 2, dtype=I64), dims=[2, 5 * LONG // 2])
slow("squeeze", src=same(1, 1, 5, LONG), axes=[0], quick=VIEW)
slow("unsqueeze", src=same(1, 5, LONG), axes=[0], quick=VIEW)
slow("flatten", src=same(1, 5, LONG), start=0, end=2, quick=VIEW)
slow("stride_slice", src=same(1, 5, LONG), axes=[1], starts=[-1], ends=[-LONG - 1], steps=[-1])
slow("slice_from", src=same(1, 5, LONG), start=data([0], 1, dtype=I64), axes=[1], lens=[LONG])
slow("join", src=[same(1, LARGE, 1)] * 8, axis=1)
slow("split", "dst0 dst1 dst2", src=same(1, LONG, 3), axis=1, lens=[1, 1, 1])
slow("expand", src=new(1, 1, 2, 1), dims=[2, 1000, 2, 40_000])
slow("tile", src=new(1, 1, 1, 2), repeats=[80, 1, 1_000_000, 1])
slow("pad", src=new(3, 3), before=[7_000, 7_000], after=[5_000, 5_000], mode="TL_PAD_WRAP")
slow("reverse_sequence", src=same(1, LONG, 2), lens=ints(LONG, 2), time_axis=0, batch_axis=1)
slow("trilu", src=same(1, 10_000, 10_000))
slow("transpose", src=same(1, 2, 2, 2, 2000, 2, 3000), axes=[5, 4, 3, 2, 1, 0])
slow("gather", src=[same(1, LARGE)] * 10)
slow("scatter", "dst0 dst1", src=same(1, 2, 3 * LONG))
slow("forward", src=same(1, 5, LONG), quick=VIEW)
slow("reshape", src=same(1, 5, LONG), dims=[2, 5 * LONG // 2], quick=VIEW)
slow("slice", src=same(1, LARGE, 10), axis=1, start=3, len=7)
slow("concat", src1=same(1, LARGE, 5), src2=same(1, LARGE, 4), axis=1)
slow("take", src=new(4, 100_000), index=ints(4, 2000), axis=0)
slow("take_along", src=new(3, 1_000_000), index=ints(3, 40, 1_000_000), axis=0)
slow("take_nd", src=new(3, 100_000), index=ints(3, 2000, 1))
slow("put_along", src=new(10), index=same(1, LARGE, dtype=I64), update=same(1, LARGE), axis=0, op="TL_PUT_MUL")
slow("put_nd", src=new(2, 10_000), index=ints(2, 15_000, 1), update=same(1, 15_000, 10_000), op="TL_PUT_SUM")
slow("put_range", src=same(1, 2, 1, 2 * LONG), update=same(1, 2, 1, LONG), first=ints(LONG, 2), axis=2, circular=True)
slow("onehot", src=same(1, LARGE, dtype=I64), values=data([0, 1], 2), depth=20, axis=1)
slow("pick1d", src=same(1, LARGE), src_index=same(1, 5 * LONG, dtype=I32), len=5 * LONG, stride=2)
slow("compress", src=same(1, LARGE, 8), condition=same(1, LARGE, dtype="TL_BOOL"), axis=0)
slow("nonzero", src=same(1, 2, 2, LARGE // 4, dtype=I64))
slow("shape", src=new(1000), start=0, end=1, quick="reads no elements")

# ---- what makes elements ----

slow("zeros", dtype="TL_FLOAT", dims=[20, LONG])
slow("create", dtype="TL_FLOAT", dims=[10, LONG], ran=[0, 1], data=[0], from_file=False)
slow("source", dtype="TL_FLOAT", dims=[20, LONG], data=[1])
slow("random", dtype="TL_DOUBLE", dims=[10, LONG], distribution="TL_NORMAL", a=0, b=1)
slow("arange", dtype="TL_INT64", start=0, stop=100_000_000, step=1)
slow("rearange", src=same(0, 100_000_000), start=0, stop=100_000_000, step=1)
slow("range", start=data([0]), delta=data([1]), len=100_000_000)
slow("range_to", start=data([0]), limit=data([1e8]), delta=data([1]), len=100_000_000)
slow("eye", dtype="TL_FLOAT", dims=[14_000, 14_000])

# ---- element by element ----

slow("relu", src=same(1, 5, LONG))
slow("sigmoid", src=same(1, 5, LONG))
slow("quantize_range", "scale zero", src=same(1, 20, LONG), quick="reads its input once, which takes less than to make it")
slow("lrelu", src=same(1, 5, LONG), negslope=0.1)
slow("elew", src1=same(1.5, 5, LONG), src2=same(1.5, 5, LONG), elew_op="TL_POW")
slow("binary", src1=same(1.5, 5, LONG), src2=same(1.5, 1, LONG), op="TL_BINARY_POW")
slow("compare", src1=same(1, 14_000, 1), src2=same(1, 1, 14_000), op="TL_COMPARE_LESS")
slow("where", cond=of("cast", same(1, 14_000, 1), dtype="TL_BOOL"), src1=same(1, 1, 14_000), src2=same(2, 1))
slow("unary", src=same(1.5, 5, LONG), func="TL_UNARY_ERF")
slow("unary", src=of("unary", of("unary", of("unary", new(LONG), func="TL_UNARY_SIN"), func="TL_UNARY_EXP"), func="TL_UNARY_TANH"),
     func="TL_UNARY_ATAN")
slow("classify", src=same(1, 5, LONG), nan=True)
slow("cast", src=same(1, 5, LONG), dtype="TL_FLOAT16")
slow("cast_float8", src=same(1, 5, LONG), dtype="TL_FLOAT8E4M3FN")
slow("bitcast", src=same(1, 5, LONG), dtype="TL_INT32", quick=VIEW)
slow("quantize", src=same(1, 5, LONG), scale=data([0.1]), dtype="TL_INT8")
slow("dequantize", src=same(1, 5, LONG, dtype=I8), scale=data([0.1]))
slow("round_blocks", src=same(1, 16, LONG // 16), block=16)
slow("unpack_bits", src=same(1, 2, LONG, dtype=U8), dtype=U8, dims=[8, LONG], bits=2)
slow("submean", src=same(1, 5000, 5000, 3), mean=[1, 2, 3], dtype="TL_FLOAT")
slow("transform_bboxSQD", src_delta=same(1, 1, 1, 1, LONG, 4), src_anchor=same(1, 1, 1, 1, LONG, 4), width=9, height=9,
     img_width=9, img_height=9, x_shift=0, y_shift=0)
slow("detect_yolov3", "box_centers box_sizes boxes confs probs", feature=same(1, 1, 2 * 50, 1000, 1000), anchors=same(1, 2, 2),
     img_width=9, img_height=9)
slow("affine", src=same(1, 2, 2, LONG), scale=same(1, 2), shift=same(1, 2), axis=1)
slow("batchnorm", src=same(1, 1, 2, 1, 3 * LONG), scale=same(1, 2), offset=same(1, 2), mean=same(1, 2), var=same(1, 2), epsilon=0.1)

# ---- lines ----

slow("softmax", src=same(1, 2, LONG * 2), axis=1)
slow("logsoftmax", src=same(1, LONG * 2, 2), axis=0)
slow("layernorm", "dst mean inv_std", src=same(1, 2, LONG * 2), axis=1, epsilon=0.1)
slow("rmsnorm", src=same(1, 2, LONG * 2), axis=1, epsilon=0.1)
slow("groupnorm", src=same(1, 1, 2, LONG * 2), scale=same(1, 2), bias=same(1, 2), groups=1, epsilon=0.1)
slow("lrn", src=same(1, 1, 3000, 100, 100), size=2999, alpha=1, beta=0.75, bias=1)
slow("maxreduce", src=same(1, 15, LONG), axis=1)
slow("maxreduce_arg", "dst arg", src=same(1, 15, LONG), axis=1)
slow("reduce", op="TL_REDUCE_LOG_SUM_EXP", src=same(1, 5, LONG), axes=[1])
slow("reduce", op="TL_REDUCE_PROD", src=same(1, LONG, 50, dtype=U8), axes=[0])
slow("argreduce", src=same(1, 5, LONG), axis=1)
slow("cumulate", src=same(1, 5, LONG), axis=1)
slow("dot_product", src1=same(1, 5, LONG), src2=same(1, 5, LONG))
slow("nllloss", src=same(1, 10, 2, LONG // 10), target=ints(2, 10, LONG // 10), reduction="TL_LOSS_SUM")

# ---- products ----

slow("matmul", src1=same(1, 7000, 7000), src2=same(1, 7000, 7000))
slow("matmul", src1=same(1, 6000, 6000, dtype=I64), src2=same(1, 6000, 6000, dtype=I64))
slow("matmul", src1=same(1, 16, 1, 1, LONG // 4), src2=same(1, 16, LONG // 4, 1))
slow("matmul", src1=same(1, 6000, 6000, dtype="TL_FLOAT16"), src2=same(1, 6000, 6000, dtype="TL_FLOAT16"))
slow("matmul_int", src1=ints(9, 6000, 6000, dtype=I8), src2=ints(9, 6000, 6000, dtype=I8))
slow("matmul_by", src=new(3000, 3000), index=ints(2, 3000), weight=new(2, 3000, 3000))
slow("det", src=new(4000, 4000, most=16_000_000))
slow("inverse", src=new(3000, 3000, most=LONG))
slow("distance", src1=new(9000, 2000), src2=new(2000, 9000))
slow("couple", src=new(1, 3000 * 2999 // 2))
slow("attention", q=new(1, 1, 20_000, 64), k=new(1, 1, 20_000, 64), v=new(1, 1, 20_000, 64))
slow("attention", q=same(1, 1, 8, 1, 16), k=same(1, 1, 1, LONG // 5, 16), v=same(1, 1, 1, LONG // 5, 16))
slow("linear_attention", "dst state", q=new(1, 3000, 1, 1000), k=new(1, 3000, 1, 1000), v=new(1, 3000, 1, 1000), delta=True)
slow("rotate", src=same(1, 5, LONG // 2, 2), cosines=same(1, 1), sines=same(1, 1), interleaved=True)

CONV2D = dict(group=1, stride=[1, 1], dilation=[1, 1], padding=[0, 0, 0, 0], autopad="NOTSET")
CONV_1 = dict(stride=[1], dilation=[1], padding=[0, 0])
slow("conv2d", src=new(1, 1, 2500, 2500), weight=new(1, 1, 1001, 1001), bias=same(1, 1), size=[1001, 1001], **CONV2D)
slow("conv2d", src=new(1, 64, 600, 600), weight=new(64, 64, 3, 3), bias=same(1, 64), size=[3, 3], **CONV2D)
slow("conv2d", src=new(1, 128, 400, 400), weight=new(128, 128, 9, 9), bias=same(1, 128), size=[9, 9], **CONV2D)
slow("conv2d", src=new(1, 512, 200, 200), weight=new(512, 1, 31, 31), bias=same(1, 512), size=[31, 31], **{**CONV2D, "group": 512})
slow("conv2d", src=new(1, 1, 1001, 1001), weight=new(30, 1, 1001, 1001), bias=same(1, 30), size=[1001, 1001],
     **{**CONV2D, "padding": [9, 9, 9, 9]})
DECONV2D = dict(**CONV2D, output_dims=[0, 0, 0, 0], output_padding=[0, 0])
slow("deconv2d", src=new(1, 1, 1500, 1500), weight=new(1, 1, 1001, 1001), bias=same(1, 1), size=[1001, 1001], **DECONV2D)
slow("deconv2d", src=new(1, 64, 200, 200), weight=new(64, 64, 15, 15), bias=same(1, 64), size=[15, 15], **DECONV2D)
slow("convnd", src=new(1, 1, 2_000_000), weight=new(1, 1, 1_000_001), size=[1_000_001], **CONV_1)
slow("convnd", src=new(1, 16, 100, 100, 100), weight=new(16, 16, 7, 7, 7), size=[7, 7, 7], stride=[1] * 3, dilation=[1] * 3,
     padding=[0] * 6)
slow("deconvnd", src=new(1, 1, 1_000_000), weight=new(1, 1, 1_000_001), size=[1_000_001], output_padding=[0], **CONV_1)
slow("conv_int", src=ints(9, 1, 1, 2500, 2500, dtype=U8), weight=ints(9, 1, 1, 1001, 1001, dtype=U8), size=[1001, 1001], stride=[1, 1],
     dilation=[1, 1], padding=[0] * 4)
slow("conv_int", src=ints(9, 1, 1, 2_000_000, dtype=U8), weight=ints(9, 1, 1, 1_000_001, dtype=U8), size=[1_000_001], **CONV_1)
slow("conv_int", src=ints(9, 1, 64, 40, 40, 40, dtype=U8), weight=ints(9, 64, 64, 7, 7, 7, dtype=U8), size=[7, 7, 7], stride=[1] * 3,
     dilation=[1] * 3, padding=[0] * 6)
slow("deform_columns", src=new(1, 64, 200, 200), offset=same(0.5, 1, 2 * 49, 194, 194), size=[7, 7], stride=[1, 1], dilation=[1, 1],
     padding=[0] * 4)
slow("col2im", src=same(1, 1, 20_000, 5_000), extents=[24_999], size=[20_000], **CONV_1)

# ---- windows and positions ----

POOL2D = dict(size=[1001, 1001], stride=[1, 1], padding=[0, 0, 0, 0], autopad="NOTSET")
ONE_AXIS = dict(size=[1_000_001], **CONV_1)
slow("maxpool2d", src=new(1, 1, 3000, 3000), **POOL2D)
slow("maxpool2d", src=new(1, 16, 2000, 2000), **POOL2D)
slow("maxpool2d", src=ints(9, 1, 1, 3000, 3000, dtype=U8), **POOL2D)
slow("avgpool2d", src=new(1, 1, 3000, 3000), **POOL2D)
slow("avgpool2d", src=new(1, 16, 2000, 2000), **POOL2D)
slow("poolnd", src=new(1, 1, 3_000_000), kind="TL_POOL_NORM", **ONE_AXIS)
slow("poolnd", src=new(1, 1, 3_000_000), kind="TL_POOL_MEAN", **ONE_AXIS)
slow("poolnd", src=new(1, 1, 3000, 3000), kind="TL_POOL_MAX", size=[1001, 1001], stride=[1, 1], dilation=[1, 1], padding=[0] * 4)
slow("poolnd", src=same(1, 1, 1, 60_000_001), kind="TL_POOL_MEAN", size=[60_000_001], **CONV_1)
slow("maxpoolnd_arg", "dst arg", src=new(1, 1, 3_000_000), **ONE_AXIS)
slow("maxpoolnd_arg", "dst arg", src=new(1, 1, 3000, 3000), size=[1001, 1001], stride=[1, 1], dilation=[1, 1], padding=[0] * 4)
for mode in ("NEAREST", "LINEAR", "CUBIC"):
    slow("resample", src=new(1, 1, 3000, 3000), mode="TL_RESAMPLE_" + mode, dims=[1, 1, 5001, 5001], shift=[0.5] * 4,
         span=[1, 1, 3000, 3000], steps=[1, 1, 5001, 5001], start=[-0.5] * 4, stretch=[1, 1, 1000, 1000])
slow("resize", src=new(1, 1, 100, 100), mode="TL_LINEAR", dims=[1, 1, 15_000, 15_000])
slow("upsample", src=new(1, 1, 100, 100), mode="TL_LINEAR", scales=[1, 1, 150, 150])
slow("grid_sample", src=new(1, 30, 10, 10), grid=same(0.3, 1, 2000, 2000, 2), mode="TL_RESAMPLE_CUBIC")
slow("roi_align", src=new(1, 1, 1000, 1000), rois=data([0, 0, 900, 900], 1, 4), batch=data([0], 1, dtype=I64), size=[200, 200],
     samples=1024)
slow("roi_maxpool", src=new(2, 1, 1500, 1500), rois=same(1, 10, 5), size=[5000, 5000])
slow("roi_maxpool", src=new(1, 1, 3000, 3000), scale=1, size=[1, 1],
     rois=lambda doc: doc.add("expand", [("src", data([0, 0, 0, 2999, 2999], 1, 5)(doc))], ["dst"], {"dims": [3000, 5]})[0])

# ---- signals and cells ----

slow("dft", src=new(1, 800_011, 1), axis=1)
slow("dft", src=new(100, 100_003, 2), axis=1)
slow("stft", src=new(1, 52_000, 1), step=1, len=50_021)
CELLS = {"TL_CELL_RNN": (1, 1), "TL_CELL_GRU": (3, 2), "TL_CELL_LSTM": (4, 3)}
for cell, (gates, acts) in CELLS.items():
    functions = ["TL_UNARY_SIGMOID"] * (acts - 1) + ["TL_UNARY_TANH"]
    how = dict(cell=cell, reverse=[False], acts=functions, alpha=[1] * acts, beta=[0] * acts)
    slow("recurrent", "dst last_h", src=new(1, 3, 2000, gates * 1000), recurrence=same(0.1, 1, gates, 1000, 1000), **how)
    slow("recurrent", "dst last_h", src=new(1, 3, 2000, gates * 1000), recurrence=new(1, gates, 1000, 1000), **how)
    slow("recurrent", "dst last_h", src=new(1, 30_000, 1, gates * 128), recurrence=same(0.1, 1, gates, 128, 128), **how)

# ---- order and choice ----

slow("sort1d", "dst_key", src_key=new(20_000_000), dir="TL_SORT_DIR_DESCENDING")
slow("sort1d_by_key", "dst_key dst_val", src_key=new(LARGE), src_val=ints(9, LARGE, dtype=I32), dir="TL_SORT_DIR_ASCENDING")
slow("topk", "values indices", src=new(20_000_000), k=10_000_000, axis=0)
slow("topk", "values indices", src=new(2, 5_000_000), k=5_000_000, axis=1, is_smallest=True)
slow("unique", "dst first inverse counts", src=new(LARGE), axis=0)
slow("unique", "dst first inverse counts", src=same(1, 3000, 3000), axis=0, sorted=False)
slow("nms", boxes=new(1, 50_000, 4), scores=same(0.5, 1, 1, 50_000), overlap=data([0.9999]))
slow("nms", boxes=new(1, 10_000, 4), scores=same(0.5, 1, 3000, 10_000), most=data([1], dtype=I64), overlap=data([0.5]))
slow("nms", boxes=new(1, 10_000, 4), scores=same(0, 1, 3000, 10_000), most=data([1], dtype=I64), score=data([0.5]))
slow("nms_rows", src=new(1, 100_000, 6), overlap=0.9999, box=2)

# ---- strings, n-grams, trees ----

slow("string_equal", src1=text(17, 50_000), src2=text(17, 50_000))
slow("string_join", src1=text(17, 2000), src2=text(17, 2000))
slow("string_cast", src=new(LARGE, dtype="TL_DOUBLE"), dtype="TL_STRING")
slow("string_cast", src=text(2, 5 * LONG), dtype="TL_DOUBLE")
slow("string_split", "dst counts", src=text(17, 100), delimiter="1", most=200_000)
slow("string_normalize", src=text(17, 2000), letters="TL_CASE_UPPER", stopwords=words(1000))
slow("string_normalize", src=words(1_000_000), stopwords=words(30_000))
slow("regex_match", src=text(17, 2000), pattern="(1|1)*2")
slow("regex_match", src=text(20, 20), pattern="(1{1,1000}){1,9}2")
slow("ngrams_order", pool=words(1_000_000))
slow("ngrams_order", pool=text(17, 500_000))
slow("lookup_key", src=text(17, 40_000), keys=text(17, 1), order=data([0], 1, dtype=I32), values=same(1, 1), deflt=same(1, 1))
slow("tfidf", src=same(1, 1, 200_000, dtype=I64), pool=same(1, 100, dtype=I64), order=data([0], 1, dtype=I32),
     index=data([0], 1, dtype=I32), weights=same(1, 1), starts=[0] * 100, least=100, most=100, max_skip=2000, mode="TL_TFIDF_TF",
     width=1)
slow("tree_ensemble", src=new(30_000, 2), split=data([0.5, 0, 0], 3), feature=data([0, -1, -1], 3, dtype=I32),
     child=data([1, 2, 0, 0, 1, 0], 3, 2, dtype=I32), root=same(0, 100_000, dtype=I32), weight=same(1, 2), targets=1)

# ---- bodies ----


def counting(last):
    """A body that adds 1 to its state, an element."""
    return {"inputs": ["i", "s"], "outputs": last, "ops": [
        {"name": name, "optype": optype, "params": params,
         "tensors_in": [{"arg_name": arg, "name": each} for arg, each in ins],
         "tensors_out": [{"arg_name": "dst", "name": out}]}
        for name, optype, ins, out, params in [
            ("i", "source", [], "i", [{"arg_name": "dtype", "value": I64}, {"arg_name": "dims", "value": []}]),
            ("s", "source", [], "s", [{"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [1]}]),
            ("t", "binary", [("src1", "s"), ("src2", "s")], "t", [{"arg_name": "op", "value": "TL_BINARY_ADD"}])]]}


def stateless():
    """A body of a branch that multiplies large matrices."""
    dims = [{"arg_name": "dims", "value": [6000, 6000]}]
    return {"inputs": ["m"], "outputs": ["t"], "ops": [
        {"name": "m", "optype": "source", "params": [{"arg_name": "dtype", "value": "TL_FLOAT"}, *dims], "tensors_in": [],
         "tensors_out": [{"arg_name": "dst", "name": "m"}]},
        {"name": "t", "optype": "matmul", "params": [], "tensors_in": [{"arg_name": arg, "name": "m"} for arg in ("src1", "src2")],
         "tensors_out": [{"arg_name": "dst", "name": "t"}]}]}


ENDLESS = 2**62
for kind in ("loop", "loop_dynamic"):
    slow(kind, "last0", trips=data([ENDLESS], dtype=I64), state=[new(1)], body="turn", bodies={"turn": counting(["t"])})
for kind in ("branch", "branch_dynamic"):
    slow(kind, "dst0", cond=of("cast", ints(1, dtype=I64), dtype="TL_BOOL"), src=[new(6000, 6000)], then_body="a", else_body="b",
         bodies={"a": stateless(), "b": stateless()})

# ---- what is no work by itself ----

WITHOUT_WORK = {"placeholder": "an input", "fail": "fails at once", "print": "is refused unless allowed, and ends with the output",
                "fprint": "is refused unless allowed"}
