// How fast the interpreter is: warp instructions per second on one core (warp_instructions), and
// how many times the processor's time a sum takes that one thread of the host needs in a plain loop
// (times_native).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "cudart/host_threads.hpp"
#include "emu/launch.hpp"
#include "emu/module.hpp"

namespace {

/// A block's sum through shared memory, as nvcc compiles it.
constexpr const char* kSum = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry sum(.param .u64 in, .param .u64 partial, .param .u64 n) {
  .reg .pred %p<9>; .reg .b32 %r<29>; .reg .b64 %rd<19>;
  .shared .align 4 .b8 tile[4096];
  ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [partial]; ld.param.u64 %rd4, [n];
  mov.u32 %r8, %ctaid.x; mov.u32 %r27, %ntid.x; mul.wide.u32 %rd5, %r8, %r27;
  mov.u32 %r2, %tid.x; cvt.u64.u32 %rd6, %r2; add.s64 %rd1, %rd5, %rd6;
  setp.ge.u64 %p1, %rd1, %rd4; mov.u32 %r26, 0; @%p1 bra STORE;
  cvta.to.global.u64 %rd7, %rd2; shl.b64 %rd8, %rd1, 2; add.s64 %rd9, %rd7, %rd8;
  ld.global.u32 %r26, [%rd9];
STORE:
  shl.b32 %r10, %r2, 2; mov.u32 %r11, tile; add.s32 %r6, %r11, %r10;
  st.shared.u32 [%r6], %r26; bar.sync 0; setp.lt.u32 %p2, %r27, 2; @%p2 bra LAST;
STEP:
  add.s32 %r7, %r27, 1; shr.u32 %r9, %r7, 1; add.s32 %r12, %r9, %r2;
  setp.ge.u32 %p3, %r12, %r27; @%p3 bra NEXT;
  shl.b32 %r13, %r12, 2; add.s32 %r15, %r11, %r13; ld.shared.u32 %r16, [%r6];
  ld.shared.u32 %r17, [%r15]; add.s32 %r18, %r16, %r17; st.shared.u32 [%r6], %r18;
NEXT:
  bar.sync 0; setp.gt.u32 %p4, %r7, 3; mov.u32 %r27, %r9; @%p4 bra STEP;
LAST:
  setp.ne.s32 %p5, %r2, 0; @%p5 bra END;
  ld.shared.u32 %r19, [tile]; cvta.to.global.u64 %rd10, %rd3; mul.wide.u32 %rd11, %r8, 4;
  add.s64 %rd12, %rd10, %rd11; st.global.u32 [%rd12], %r19;
END:
  ret;
})";

constexpr const char* kArithmetic = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry arithmetic() {
  .reg .pred %p<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, 0; cvt.rn.f32.u32 %f1, %r1; cvt.u64.u32 %rd1, %r1;
LOOP:
  mad.lo.u32 %r1, %r1, 5, %r2; xor.b32 %r3, %r1, %r2; add.u32 %r1, %r1, %r3; shr.u32 %r3, %r1, 3;
  add.f32 %f1, %f1, 0f3f800000; mul.f32 %f2, %f1, %f1; add.u64 %rd1, %rd1, 3; min.u32 %r3, %r3, %r1;
  add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1000; @%p1 bra LOOP;
  ret;
})";

/// A warp's sum by shuffles, again and again.
constexpr const char* kShuffles = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry shuffles() {
  .reg .pred %p<9>; .reg .b32 %r<9>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
LOOP:
  shfl.sync.down.b32 %r3, %r1, 16, 31, -1; add.u32 %r1, %r1, %r3;
  shfl.sync.down.b32 %r3, %r1, 8, 31, -1; add.u32 %r1, %r1, %r3;
  shfl.sync.down.b32 %r3, %r1, 4, 31, -1; add.u32 %r1, %r1, %r3;
  shfl.sync.down.b32 %r3, %r1, 2, 31, -1; add.u32 %r1, %r1, %r3;
  shfl.sync.down.b32 %r3, %r1, 1, 31, -1; add.u32 %r1, %r1, %r3;
  add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1000; @%p1 bra LOOP;
  ret;
})";

/// Seconds of the processor that one thread of the host takes for the sum of n values: the best of
/// several tries.
double native_seconds(std::size_t n) {
  const std::vector<int> in(n, 3);
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const std::clock_t start = std::clock();
    for (int k = 0; k < 10; ++k) {
      benchmark::DoNotOptimize(std::accumulate(in.begin(), in.end(), 0));
    }
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / 10;
    best = std::min(best, took);
  }
  return best;
}

void run(benchmark::State& state, const char* text, const char* name, unsigned grid,
         bool divergent) {
  const auto module = emu::parse_ptx(text, "benchmark");
  emu::link_module(*module);
  const emu::Kernel& kernel = module->kernels.at(name);
  emu::GlobalMemory memory(std::size_t{1} << 30);
  const std::uint64_t n = std::uint64_t{grid} * 256 - (divergent ? 100 : 0);
  const auto in = memory.allocate(n * 4, "in");
  const auto partial = memory.allocate(grid * 4, "partial");
  std::vector<std::byte> parameters(kernel.parameter_bytes);
  if (parameters.size() == 24) {
    std::memcpy(parameters.data(), &*in, 8);
    std::memcpy(parameters.data() + 8, &*partial, 8);
    std::memcpy(parameters.data() + 16, &n, 8);
  }
  emu::LaunchConfig config;
  config.module = module.get();
  config.kernel = &kernel;
  config.grid = {grid, 1, 1};
  config.block = {256, 1, 1};
  config.parameters = parameters;
  config.memory = &memory;
  emu::HostThreads pool(static_cast<unsigned>(state.range(0)));
  config.pool = &pool;
  std::uint64_t instructions = 0;
  const std::clock_t start = std::clock();
  for (auto _ : state) {
    const emu::LaunchResult result = emu::launch(config);
    if (result.fault) state.SkipWithError(result.fault->message.c_str());
    instructions += result.counters.warp_instructions;
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  state.counters["warp_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
  state.SetItemsProcessed(static_cast<std::int64_t>(n) * state.iterations());
  if (parameters.size() == 24) {
    const double launches = static_cast<double>(state.iterations());
    state.counters["times_native"] = seconds / launches / native_seconds(n);
  }
}

void sum(benchmark::State& state) {
  run(state, kSum, "sum", 4096, true);
}
void arithmetic(benchmark::State& state) {
  run(state, kArithmetic, "arithmetic", 16, false);
}
void shuffles(benchmark::State& state) {
  run(state, kShuffles, "shuffles", 16, false);
}
// One thread by the processor's time, which other programs don't lengthen; two by the clock.
BENCHMARK(sum)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(sum)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(arithmetic)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(shuffles)->Arg(1)->Unit(benchmark::kMillisecond);

/// The same number of elements by the host: compare items a second.
void native_sum(benchmark::State& state) {
  const std::vector<int> in(4096 * 256, 3);
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::accumulate(in.begin(), in.end(), 0));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(in.size()) * state.iterations());
}
BENCHMARK(native_sum)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
