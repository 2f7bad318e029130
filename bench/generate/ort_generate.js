// SPDX-License-Identifier: Apache-2.0
// Generates tokens with ONNX Runtime, greedily, for generation.py: the prompt in one run, then one run for each token.
//
//   node ort_generate.js MODEL THREADS TOKENS ID...     prints {"ids": [..], "prompt_s": .., "rest_s": ..}
const ort = require('onnxruntime-node');

const int64 = (values) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);

function emptyCache(session) {
  const cache = {};
  session.inputNames.forEach((name, k) => {
    if (!name.startsWith('past')) return;
    const { type, shape } = session.inputMetadata[k];
    if (type !== 'float32') throw new Error(`input ${name} has elements of ${type}`);
    cache[name] = new ort.Tensor('float32', new Float32Array(0), shape.map((dim, axis) => (axis === 0 ? 1 : typeof dim === 'number' && dim >= 0 ? dim : 0)));
  });
  return cache;
}

function best(logits) {
  const vocabulary = logits.dims[logits.dims.length - 1];
  const row = logits.data.subarray(logits.data.length - vocabulary);
  let index = 0;
  for (let i = 1; i < vocabulary; i++) if (row[i] > row[index]) index = i;
  return index;
}

async function main() {
  const [model, threads, tokens, ...prompt] = process.argv.slice(2);
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
  const cache = emptyCache(session);
  const caches = Object.keys(cache).map((name) => [name, 'present' + name.slice(name.indexOf('.'))]);
  let past = 0;
  const run = async (ids) => {
    const given = {
      input_ids: () => int64(ids),
      position_ids: () => int64(ids.map((_, k) => past + k)),
      attention_mask: () => int64(new Array(past + ids.length).fill(1)),
    };
    const feeds = { ...cache };
    for (const name of session.inputNames) if (given[name]) feeds[name] = given[name]();
    const results = await session.run(feeds);
    for (const [name, present] of caches) cache[name] = results[present];
    past += ids.length;
    return best(results.logits);
  };
  const ids = [];
  const begin = performance.now();
  ids.push(await run(prompt.map(Number)));
  const first = performance.now();
  while (ids.length < Number(tokens)) ids.push(await run([ids[ids.length - 1]]));
  console.log(JSON.stringify({ ids, prompt_s: (first - begin) / 1000, rest_s: (performance.now() - first) / 1000 }));
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
