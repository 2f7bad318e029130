// SPDX-License-Identifier: Apache-2.0
// Runs models with ONNX Runtime for fuzz_onnx.py. Each line of standard input is a request, each line of standard output
// its answer, both JSON: {"model": base64, "inputs": {name: [type, dims, base64]}, "level": "all" or another one}
// gives {"outputs": [[type, dims, base64]]} or {"error": text}; strings are a list in place of base64.
const ort = require('onnxruntime-node'), readline = require('readline');
const ARRAYS = {float32: Float32Array, float64: Float64Array, float16: Uint16Array, uint8: Uint8Array, int8: Int8Array,
  uint16: Uint16Array, int16: Int16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array,
  uint64: BigUint64Array, bool: Uint8Array};

function tensorOf([type, dims, data]) {
  if (type === 'string') return new ort.Tensor(type, data, dims);
  const bytes = Buffer.from(data, 'base64');
  const own = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  return new ort.Tensor(type, new ARRAYS[type](own), dims);
}

function rowOf(tensor) {
  const data = tensor.data;
  if (tensor.type === 'string') return [tensor.type, tensor.dims, data];
  if (!(tensor.type in ARRAYS)) throw new Error(`output of type ${tensor.type}`);
  return [tensor.type, tensor.dims, Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')];
}

async function answer(request) {
  const session = await ort.InferenceSession.create(Buffer.from(request.model, 'base64'), {
    intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: request.level, logSeverityLevel: 4});
  try {
    const names = session.inputNames.filter(name => name in request.inputs);
    const feeds = Object.fromEntries(names.map(name => [name, tensorOf(request.inputs[name])]));
    const results = await session.run(feeds);
    return {outputs: session.outputNames.map(name => rowOf(results[name]))};
  } finally {
    await session.release();
  }
}

(async () => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    let result;
    try { result = await answer(JSON.parse(line)); } catch (error) { result = {error: String(error.message || error)}; }
    process.stdout.write(JSON.stringify(result) + '\n');
  }
})();
