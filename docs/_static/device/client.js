// The embedded device in a page: LadderDevice.open(folder) gives it, and device.run(request) has it
// run kernels, in a worker. device.js beside this file holds the device itself, and device_sums.js the
// one that also follows sums; each is loaded when it is first opened. It works from file://, where a page may fetch nothing: hence a script that holds
// the WebAssembly as text, and a worker that is made of text.
//
// request = {
//   ptx,                                  a module's text, read once for each different text
//   buffers: [{name, bytes, data?, sets?}],    allocations in this order: data is a Uint8Array, else
//                                         zeros; sets, [{offset, bytes, value}], come after it
//   steps: [{kind: "launch", kernel, grid: [x, y, z], block: [x, y, z], shared, cooperative?,
//            args: [{buffer, offset} | {bytes: Uint8Array}]}
//           | {kind: "set", buffer, offset, bytes, value}],
//   read: [{buffer, offset, bytes}],      what is wanted back
//   checks: "" | "race,init" | "all",     as tools/emulate --check has them; "sum" of device_sums alone
//   apart: null | seed,                   tools/emulate --schedule apart:SEED
//   limit,                                warp instructions of a launch; 0 for 2^31
//   lines,                                whether to count by source line
//   trace: null | {step, block: [x, y, z], limit}
// }
// result = {launches, counters, fault, warnings, printed, findings, lines, trace, read, stopped},
// or {error: "one sentence"}, or {stopped: true}. onProgress(done, all) counts blocks.
(() => {
  const plain = (error) => ({ error });

  /** What is missing here, as a sentence; empty where nothing is. */
  const lacking = () => {
    if (typeof WebAssembly !== "object") return "This browser has no WebAssembly, and the device is made of it.";
    if (typeof Worker !== "function") return "This browser has no workers, and the device runs in one.";
    return "";
  };

  const loadScript = (source) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = resolve;
      script.onerror = () => reject(new Error("The device could not be loaded."));
      document.head.append(script);
    });

  class Device {
    #worker = null;
    #ready = null;
    #current = null; // the job that runs
    #last = Promise.resolve();
    #jobs = new WeakMap(); // of what run() has given

    constructor(parts) {
      this.parts = parts;
    }

    /** Starts a worker where there is none; resolves once the device is in it. */
    start() {
      if (this.#worker) return this.#ready;
      const url = URL.createObjectURL(new Blob([this.parts.glue], { type: "text/javascript" }));
      const worker = new Worker(url);
      this.#worker = worker;
      this.#ready = new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => {
          URL.revokeObjectURL(url);
          if (data.ready) resolve();
          else reject(new Error("This browser is too old for the device: it needs WebAssembly with vectors and exceptions."));
        };
        worker.onerror = (event) => {
          event.preventDefault();
          reject(new Error("This browser did not start the device's worker."));
        };
      });
      worker.postMessage({ wasm: this.parts.wasm });
      return this.#ready;
    }

    #drop() {
      this.#worker?.terminate();
      this.#worker = null;
    }

    async #run(request, onProgress, job) {
      let over;
      const ended = new Promise((resolve) => (over = resolve));
      job.over = over;
      this.#current = job;
      try {
        await Promise.race([this.start(), ended]);
        const worker = this.#worker;
        if (worker && this.#current === job) {
          worker.onmessage = ({ data }) => {
            if (data.progress) onProgress?.(...data.progress);
            else if (data.result) over(data.result);
            else over({ ...plain(`The device stopped: ${data.failed}.`), lost: true });
          };
          worker.onerror = (event) => {
            event.preventDefault();
            over({ ...plain(`The device stopped: ${event.message}.`), lost: true });
          };
          worker.postMessage({ request });
        }
      } catch (error) {
        over({ ...plain(error.message), lost: true });
      }
      const { lost, ...result } = await ended;
      // What went wrong inside may have left anything behind.
      if (lost) this.#drop();
      if (this.#current === job) this.#current = null;
      return result;
    }

    /** One at a time: a second waits for the first. */
    run(request, onProgress) {
      const job = { stopped: false };
      const cancelled = new Promise((resolve) => (job.cancel = resolve));
      this.#last = this.#last.then(() => (job.stopped ? null : this.#run(request, onProgress, job)));
      const turn = Promise.race([this.#last, cancelled]);
      this.#jobs.set(turn, job);
      return turn;
    }

    /**
     * Ends what a call of run() gave, whether it runs or waits for its turn; without one, what runs.
     * A launch ends with its worker: the next begins in a fresh one.
     */
    stop(turn) {
      const job = turn ? this.#jobs.get(turn) : this.#current;
      if (!job || job.stopped) return;
      job.stopped = true;
      job.cancel({ stopped: true });
      if (job !== this.#current) return;
      this.#current = null;
      this.#drop();
      job.over({ stopped: true });
    }
  }

  const unable = (error) => ({ run: async () => plain(error), stop() {} });

  const shared = {};
  const open = async (base, name) => {
    const missing = lacking();
    if (missing) return unable(missing);
    const parts = () => window[`LADDER_${name.toUpperCase()}`];
    try {
      if (!parts()) await loadScript(new URL(`${name}.js`, new URL(base, document.baseURI)));
      const device = new Device(parts());
      await device.start();
      return device;
    } catch (error) {
      delete shared[name]; // it may be there the next time
      return unable(error.message);
    }
  };

  window.LadderDevice = {
    /**
     * The page's device, or the one that follows sums: "device" or "device_sums". `base` is the URL of
     * the folder that this file is in.
     */
    open: (base, name = "device") => (shared[name] ??= open(base, name)),
  };
})();
