// Runs what a page asks for on the device: page_device.cpp as WebAssembly, in a worker of its own.
// A request and its result are described in docs/_static/device/client.js.
((self) => {
  // What a trace may have: a page shows one block, and an instruction is a kilobyte and a half.
  const MOST_TRACED = 20000;
  const PROGRESS_MS = 50;

  /** A sentence for the reader; anything else that is thrown is a mistake of ours. */
  class Refused extends Error {}

  const encoder = new TextEncoder();
  const decoder = new TextDecoder();

  /** The entries of the device, and what they need of the host: next to nothing. */
  const openDevice = async (wasm) => {
    let progress = () => {};
    let memory = null;
    const view = () => new DataView(memory.buffer);
    const { instance } = await WebAssembly.instantiate(wasm, {
      env: {
        page_progress: (blocks) => progress(blocks),
        emscripten_notify_memory_growth: () => {},
      },
      wasi_snapshot_preview1: {
        proc_exit: (code) => {
          throw new Error(`the device ended with ${code}`);
        },
        environ_sizes_get: (count, bytes) => {
          view().setUint32(count, 0, true);
          view().setUint32(bytes, 0, true);
          return 0;
        },
        environ_get: () => 0,
        // Newer emscriptens ask for files, of which there are none: "bad file descriptor".
        fd_close: () => 8,
        fd_seek: () => 8,
        fd_write: () => 8,
      },
    });
    const device = instance.exports;
    memory = device.memory;
    device._initialize();

    const bytesAt = (at, size) => new Uint8Array(memory.buffer, at, size);
    const outBox = () => decoder.decode(bytesAt(device.page_out_box(), device.page_out_box_bytes()));
    /** What an entry answers, or its refusal thrown. */
    const must = (answer) => {
      if (!answer || answer < 0) throw new Refused(outBox());
      return answer;
    };
    const put = (content) => {
      const bytes = typeof content === "string" ? encoder.encode(content) : content;
      bytesAt(must(device.page_in_box(bytes.length)), bytes.length).set(bytes);
    };

    const addBuffer = ({ name, bytes, data, sets = [] }) => {
      put(name ?? "");
      const number = device.page_buffer(bytes);
      if (number < 0) must(0);
      if (data) bytesAt(must(device.page_write(number, 0, data.length)), data.length).set(data);
      for (const set of sets) must(device.page_set(number, set.offset, set.bytes, set.value));
    };

    const addArgument = (argument) => {
      if ("buffer" in argument) {
        must(device.page_argument_buffer(argument.buffer, argument.offset ?? 0));
      } else {
        put(argument.bytes);
        must(device.page_argument());
      }
    };

    /** False where the kernel stopped by a fault, which the result tells. */
    const launch = (step, trace) => {
      put(step.kernel);
      must(device.page_kernel());
      step.args.forEach(addArgument);
      if (trace) must(device.page_trace(...trace.block, Math.min(trace.limit, MOST_TRACED)));
      put("");
      const ran = device.page_launch(
        ...step.grid, ...step.block, step.shared ?? 0, step.cooperative ? 1 : 0);
      if (!ran && device.page_out_box_bytes() > 0) must(0);
      return Boolean(ran);
    };

    const blocksOf = (step) => (step.kind === "launch" ? step.grid.reduce((a, b) => a * b, 1) : 0);

    const perform = (request, tell) => {
      put(request.checks ?? "");
      must(device.page_begin(request.apart ?? -1, request.limit ?? 0, request.lines ? 1 : 0));
      put(request.ptx);
      must(device.page_module());
      request.buffers.forEach(addBuffer);

      const all = request.steps.map(blocksOf).reduce((a, b) => a + b, 0);
      let over = 0;
      let told = -Infinity;
      progress = (blocks) => {
        const now = performance.now();
        if (now - told < PROGRESS_MS) return;
        told = now;
        tell(over + blocks, all);
      };
      let whole = true;
      for (const [number, step] of request.steps.entries()) {
        if (step.kind === "set") {
          must(device.page_set(step.buffer, step.offset, step.bytes, step.value));
        } else {
          whole = launch(step, request.trace?.step === number ? request.trace : null);
          if (!whole) break;
          over += blocksOf(step);
        }
      }
      // After a fault nothing can be read, as on a GPU.
      const read = !whole ? [] : request.read.map(({ buffer, offset, bytes }) =>
        bytesAt(must(device.page_read(buffer, offset, bytes)), bytes).slice());
      must(device.page_result());
      return { ...JSON.parse(outBox()), read, stopped: false };
    };

    return {
      run(request, tell = () => {}) {
        try {
          return perform(request, tell);
        } catch (error) {
          if (error instanceof Refused) return { error: error.message };
          throw error;
        } finally {
          device.page_end();
        }
      },
    };
  };
  self.openDevice = openDevice;

  if (typeof self.postMessage !== "function") return; // in a test, on its own

  /** From gzip in base64, as device.js has it. */
  const unpack = (text) => {
    const packed = new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
    return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  };
  let device = null;
  self.onmessage = async ({ data }) => {
    try {
      if (data.wasm) {
        device = await openDevice(await unpack(data.wasm));
        self.postMessage({ ready: true });
      } else {
        const tell = (over, all) => self.postMessage({ progress: [over, all] });
        const result = device.run(data.request, tell);
        self.postMessage({ result }, (result.read ?? []).map((bytes) => bytes.buffer));
      }
    } catch (error) {
      self.postMessage({ failed: String(error?.message ?? error) });
    }
  };
})(self);
