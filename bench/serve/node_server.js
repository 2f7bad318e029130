// SPDX-License-Identifier: Apache-2.0
// A server with ONNX Runtime in Node, as people write it: one session, a run for each request.
//
//   node node_server.js MODEL PORT THREADS
//
// POST /infer with the bytes of the inputs, one after the other in the order of the model; the header
// X-Shapes has their types and shapes: float32:1x3x224x224,int64:1x128. Answers the bytes of the outputs.
const http = require('http');
const ort = require('onnxruntime-node');

const TYPES = { float32: Float32Array, int64: BigInt64Array };

function tensorsOf(names, shapes, body) {
  let at = 0;
  return Object.fromEntries(shapes.split(',').map((text, i) => {
    const [type, sizes] = text.split(':');
    const dims = sizes.split('x').map(Number);
    const length = dims.reduce((n, size) => n * size, 1);
    const Elements = TYPES[type];
    const bytes = body.subarray(at, (at += length * Elements.BYTES_PER_ELEMENT));
    const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    return [names[i], new ort.Tensor(type, new Elements(copy), dims)];
  }));
}

async function main() {
  const [model, port, threads] = process.argv.slice(2);
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
  const server = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', async () => {
      try {
        const results = await session.run(
            tensorsOf(session.inputNames, request.headers['x-shapes'], Buffer.concat(parts)));
        const outputs = session.outputNames.map((name) => results[name].data);
        response.end(Buffer.concat(outputs.map((data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))));
      } catch (error) {
        response.statusCode = 500;
        response.end(error.message);
      }
    });
  });
  server.listen(Number(port), '127.0.0.1', () => console.log('listening'));
}

main();
