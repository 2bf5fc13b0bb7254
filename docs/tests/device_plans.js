// Reads cases from a file, makes their plans with docs/_static/device/plans.js, and writes them as
// test_device_plans.py compares them: node device_plans.js CASES PLANS SCRIPT...
"use strict";
const fs = require("node:fs");
const vm = require("node:vm");
const zlib = require("node:zlib");

const [asked, ...scripts] = process.argv.slice(2);
for (const file of scripts) {
  vm.runInThisContext(fs.readFileSync(file, "utf8"), { filename: file });
}

const TABLE = Int32Array.from({ length: 256 }, (_, i) => {
  for (let bit = 0; bit < 8; ++bit) i = i & 1 ? (i >>> 1) ^ 0xedb88320 : i >>> 1;
  return i;
});
function crc32(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);
  let crc = -1;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}
const bytesOf = (text) => Uint8Array.from(Buffer.from(text, "hex"));
function content({ bytes, data, sets }) {
  if (!sets) return data;
  const all = new Uint8Array(bytes);
  for (const { offset, bytes: count, value } of sets) all.fill(value, offset, offset + count);
  return all;
}
const hex = (bytes) => Buffer.from(bytes).toString("hex");

function written(step) {
  if (step.kind === "set") {
    return { set: step.buffer, offset: step.offset, bytes: step.bytes, value: step.value };
  }
  const { kernel, grid, block, shared, cooperative, args } = step;
  return {
    kernel, grid, block, shared, cooperative,
    arguments: args.map((each) => ("bytes" in each ? { bytes: hex(each.bytes) } : each)),
  };
}

function answer({ chapter, variant, n, block, seed, read }) {
  const plan = LadderPlans.plan(chapter, variant, { n, block, seed });
  if (!plan.request) return plan;
  const { ptx, buffers, steps, read: reads } = plan.request;
  return {
    buffers: buffers.map((buffer) => {
      const data = content(buffer);
      return { bytes: buffer.bytes, crc32: data ? crc32(data) : null };
    }),
    steps: steps.map(written),
    read: reads,
    entries: [...ptx.matchAll(/\.entry (\w+)/g)].map((match) => match[1]),
    verdict: read ? plan.expect(read.map(bytesOf)) : null,
  };
}

const cases = JSON.parse(fs.readFileSync(asked, "utf8"));
process.stdout.write(JSON.stringify(cases.map(answer)));
