// Runs requests on a built device.js, in node: node run.js DEVICE REQUESTS, each file JSON; bytes are
// in base64. Prints a JSON list of the results.
const fs = require("node:fs");
const zlib = require("node:zlib");

const [, , deviceFile, requestsFile] = process.argv;
const place = {};
new Function("self", fs.readFileSync(deviceFile, "utf8"))(place);
const [{ glue, wasm }] = Object.values(place);
new Function("self", glue)(place);

const fromBase64 = (text) => new Uint8Array(Buffer.from(text, "base64"));
const plain = (result) => ({
  ...result,
  ...(result.read && { read: result.read.map((bytes) => Buffer.from(bytes).toString("base64")) }),
});

(async () => {
  const device = await place.openDevice(zlib.gunzipSync(Buffer.from(wasm, "base64")));
  const results = [];
  for (const request of JSON.parse(fs.readFileSync(requestsFile, "utf8"))) {
    for (const buffer of request.buffers) if (buffer.data) buffer.data = fromBase64(buffer.data);
    for (const step of request.steps) {
      for (const argument of step.args ?? []) {
        if (argument.bytes) argument.bytes = fromBase64(argument.bytes);
      }
    }
    const progress = [];
    const result = plain(device.run(request, (done, all) => progress.push([done, all])));
    results.push({ ...result, progress });
  }
  process.stdout.write(JSON.stringify(results));
})();
