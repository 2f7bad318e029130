// SPDX-License-Identifier: Apache-2.0
// Runs an ONNX model with ONNX Runtime, for beside.py.
//
//   node ort.js load MODEL THREADS - IN.npy...            prints {"load_ms": ..}: session and first run
//   node ort.js time MODEL THREADS SECONDS IN.npy...      prints {"min_ms": ..}
//   node ort.js run MODEL THREADS PREFIX IN.npy...        writes PREFIX0.npy, PREFIX1.npy, ...
const fs = require('fs');
const ort = require('onnxruntime-node');

const TYPES = {
  '<f4': ['float32', Float32Array],
  '<f8': ['float64', Float64Array],
  '<i8': ['int64', BigInt64Array],
  '<i4': ['int32', Int32Array],
  '|u1': ['uint8', Uint8Array],
  '|i1': ['int8', Int8Array],
  '|b1': ['bool', Uint8Array],
};

function readNpy(file) {
  const bytes = fs.readFileSync(file);
  const length = bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, 10 + length);
  const [type, Elements] = TYPES[/'descr': *'([^']+)'/.exec(header)[1]];
  const shape = /'shape': *\(([^)]*)\)/.exec(header)[1].split(',');
  const dims = shape.map((text) => text.trim()).filter(Boolean).map(Number);
  const data = bytes.subarray(10 + length);
  const copy = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  return new ort.Tensor(type, new Elements(copy), dims);
}

function writeNpy(file, tensor) {
  const descr = Object.keys(TYPES).find((key) => TYPES[key][0] === tensor.type);
  const dims = tensor.dims.map((dim) => `${dim}, `).join('');
  let header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${dims}), }`;
  header += ' '.repeat(63 - (10 + header.length) % 64) + '\n';
  const start = Buffer.alloc(10);
  start.write('\x93NUMPY\x01\x00', 'latin1');
  start.writeUInt16LE(header.length, 8);
  const { buffer, byteOffset, byteLength } = tensor.data;
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(header), Buffer.from(buffer, byteOffset, byteLength)]));
}

async function time(session, feeds, seconds) {
  const start = performance.now();
  let least = Infinity;
  for (let runs = 0; runs < 5 || performance.now() - start < 1000 * seconds; runs++) {
    const before = performance.now();
    await session.run(feeds);
    least = Math.min(least, performance.now() - before);
  }
  console.log(JSON.stringify({ min_ms: least }));
}

async function main() {
  const [mode, model, threads, argument, ...inputs] = process.argv.slice(2);
  const start = performance.now();
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
  const feeds = Object.fromEntries(session.inputNames.map((name, k) => [name, readNpy(inputs[k])]));
  if (mode === 'time') return time(session, feeds, Number(argument));
  const results = await session.run(feeds);
  if (mode === 'load') return console.log(JSON.stringify({ load_ms: performance.now() - start }));
  session.outputNames.forEach((name, k) => writeNpy(`${argument}${k}.npy`, results[name]));
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
