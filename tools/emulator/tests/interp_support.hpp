/// \file
/// Runs PTX from a test: a kernel's text, its arguments, its launch.
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cudart/host_threads.hpp"
#include "emu/launch.hpp"
#include "emu/memory.hpp"
#include "emu/module.hpp"
#include "machine/host.hpp"

namespace emu::test {

/// Sanitizers find in a long loop what they find in a short one, and are some twenty times slower.
#ifdef EMU_SANITIZED
constexpr unsigned kShorter = 20;
#else
constexpr unsigned kShorter = 1;
#endif
/// How often a test's loop goes round, as PTX writes it.
inline std::string rounds(unsigned usual) {
  return std::to_string(usual / kShorter);
}

inline std::string module_text(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n" + body;
}

/// A device and one kernel on it. Buffers are named in the order that they are made.
class Device {
 public:
  explicit Device(const std::string& text, const std::string& kernel = "k",
                  Observer* observer = nullptr)
      : Device(parse_ptx(text, "test"), kernel, observer) {}
  Device(std::shared_ptr<Module> module, const std::string& kernel, Observer* observer = nullptr)
      : memory_(1 << 28, observer), observer_(observer), module_(std::move(module)) {
    for (auto& [name, v] : module_->variables) v.address = *memory_.allocate(v.size, name);
    link_module(*module_);
    for (auto& [name, v] : module_->variables) {
      if (v.initial.empty()) continue;
      std::memcpy(memory_.find(v.address, v.size)->host, v.initial.data(), v.size);
    }
    kernel_ = &module_->kernels.at(kernel);
  }

  /// The seed of the schedule that runs lanes apart, for the launches to come.
  void apart(std::optional<std::uint64_t> seed) { apart_ = seed; }

  bool may_be_unsupported = false;  ///< the kernel has something that the device hasn't got
  bool goes_on = false;             ///< LaunchConfig's
  const Kernel& kernel() const { return *kernel_; }
  const Module& module() const { return *module_; }
  GlobalMemory& memory() { return memory_; }

  template <class T>
  Address buffer(const std::vector<T>& values) {
    const Address a = *memory_.allocate(values.size() * sizeof(T), "buffer");
    if (!values.empty()) {
      std::memcpy(memory_.find(a, 1)->host, values.data(), values.size() * sizeof(T));
    }
    return a;
  }
  template <class T>
  std::vector<T> read(Address a, std::size_t n) const {
    std::vector<T> out(n);
    std::memcpy(out.data(), memory_.find(a, n * sizeof(T))->host, n * sizeof(T));
    return out;
  }

  template <class T>
  Device& argument(T value) {
    const Parameter& p = kernel_->parameters.at(arguments_++);
    if (p.size != sizeof value) ADD_FAILURE() << "argument of another size";
    bytes_.resize(kernel_->parameter_bytes);
    std::memcpy(bytes_.data() + p.offset, &value, sizeof value);
    return *this;
  }

  LaunchResult run(Dim3 grid, Dim3 block, std::size_t dynamic_shared = 0,
                   std::uint64_t limit = 10'000'000, unsigned threads = 2) {
    HostThreads pool(threads);
    LaunchConfig config;
    config.grid = grid;
    config.block = block;
    config.dynamic_shared_bytes = dynamic_shared;
    config.pool = &pool;
    config.max_warp_instructions = limit;
    config.apart = apart_;
    return run(config);
  }

  /// As `config` says; the kernel, its arguments and memory are put in.
  LaunchResult run(LaunchConfig config) {
    if (!may_be_unsupported) EXPECT_EQ(kernel_->unsupported, "");
    config.module = module_.get();
    config.kernel = kernel_;
    config.parameters = bytes_;
    config.memory = &memory_;
    config.goes_on = goes_on;
    if (observer_ != nullptr) config.observers = {&observer_, 1};
    arguments_ = 0;
    return launch(config);
  }

 private:
  GlobalMemory memory_;
  Observer* observer_;
  std::shared_ptr<Module> module_;
  const Kernel* kernel_ = nullptr;
  std::vector<std::byte> bytes_;
  std::size_t arguments_ = 0;
  std::optional<std::uint64_t> apart_;
};

/// Calls f() once for each kind of host that this one can pass for, the best last.
template <class F>
void on_each_host(F f) {
  for (const Host host : {Host::kPlain, Host::kAvx2, Host::kAvx512}) {
    if (!use_host(host)) continue;
    SCOPED_TRACE("host " + std::to_string(static_cast<int>(host)));
    f();
  }
}

/// What a kernel with `body` leaves at out[thread], on this host. See run_body.
inline std::vector<std::uint32_t> run_body_here(const std::string& body, unsigned threads,
                                                LaunchResult* result, unsigned blocks,
                                                std::size_t dynamic_shared);

/// What a kernel with `body` leaves at out[thread], the same on each kind of host, for one or more
/// warps of lanes. Registers: %r0 … %r9, %rd0 …, %f0 …, %p0 …; %r0 is the thread's number, and %r1
/// is what is stored.
inline std::vector<std::uint32_t> run_body(const std::string& body, unsigned threads,
                                           LaunchResult* result = nullptr, unsigned blocks = 1,
                                           std::size_t dynamic_shared = 0) {
  std::optional<std::vector<std::uint32_t>> before;
  std::optional<Counters> counted;
  on_each_host([&] {
    const auto out = run_body_here(body, threads, result, blocks, dynamic_shared);
    if (before) EXPECT_EQ(out, *before);
    before = out;
    if (!result) return;
    if (counted) {
      for (const CounterField& field : counter_fields()) {
        EXPECT_EQ(result->counters.*field.value, (*counted).*field.value) << field.name;
      }
    }
    counted = result->counters;
  });
  return *before;
}

inline std::vector<std::uint32_t> run_body_here(const std::string& body, unsigned threads,
                                                LaunchResult* result, unsigned blocks,
                                                std::size_t dynamic_shared) {
  Device device(module_text(R"(
.extern .shared .align 16 .b8 dynamic[];
.global .align 256 .b8 room[16384];
.const .align 4 .u32 fixed = 3;
.visible .entry k(.param .u64 out) {
  .reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<10>;
  .reg .f64 %fd<10>;
  .shared .align 16 .b8 tile[4096];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, 0;
)" + body + R"(
DONE:
  ld.param.u64 %rd19, [out];
  mov.u32 %r18, %ctaid.x;
  mov.u32 %r19, %ntid.x;
  mad.lo.s32 %r19, %r18, %r19, %r0;
  mad.wide.u32 %rd19, %r19, 4, %rd19;
  st.global.u32 [%rd19], %r1;
  ret;
})"));
  const Address out =
      device.buffer(std::vector<std::uint32_t>(std::size_t{threads} * blocks, 0xdead));
  device.argument(out);
  const LaunchResult r = device.run({blocks, 1, 1}, {threads, 1, 1}, dynamic_shared);
  if (result) {
    *result = r;
  } else {
    EXPECT_FALSE(r.fault) << r.fault->message;
  }
  return device.read<std::uint32_t>(out, std::size_t{threads} * blocks);
}

/// One instruction over the product of lists of operands: `instruction` is written with %a, %b,
/// %c and %d, and `expected` says in C++ what the ISA says in words.
struct Case {
  std::string instruction;
  unsigned result_bits;
  std::vector<unsigned> operand_bits;
  std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)> expected;
};

inline void check_case_here(const Case& c, const std::vector<std::vector<std::uint64_t>>& values,
                            bool nan_is_nan) {
  SCOPED_TRACE(c.instruction);
  const auto bits = [](unsigned n) { return std::to_string(n); };
  std::string text =
      ".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc,"
      " .param .u32 n) {\n.reg .pred %p<4>; .reg .b32 %i<4>; .reg .b64 %x<9>;\n"
      ".reg .b" +
      bits(c.result_bits) + " %d;\n";
  const char* names[] = {"a", "b", "c"};
  for (std::size_t k = 0; k < c.operand_bits.size(); ++k) {
    text += ".reg .b" + bits(c.operand_bits[k]) + " %" + names[k] + ";\n";
  }
  text +=
      "mov.u32 %i0, %tid.x; mov.u32 %i1, %ctaid.x; mov.u32 %i2, %ntid.x;\n"
      "mad.lo.u32 %i0, %i1, %i2, %i0; ld.param.u32 %i3, [n]; setp.ge.u32 %p0, %i0, %i3;\n"
      "@%p0 bra END;\nmul.wide.u32 %x0, %i0, 8;\n";
  for (std::size_t k = 0; k < c.operand_bits.size(); ++k) {
    text += std::string("ld.param.u64 %x1, [p") + names[k] +
            "]; add.u64 %x1, %x1, %x0; ld.global.b" + bits(c.operand_bits[k]) + " %" + names[k] +
            ", [%x1];\n";
  }
  text += c.instruction + "\nld.param.u64 %x1, [pd]; add.u64 %x1, %x1, %x0; st.global.b" +
          bits(c.result_bits) + " [%x1], %d;\nEND: ret;\n}";

  Device device(module_text(text));
  ASSERT_EQ(device.kernel().unsupported, "");
  std::vector<std::vector<std::uint64_t>> in(3);
  const auto& va = values.at(0);
  const std::vector<std::uint64_t> zero{0};
  const auto& vb = c.operand_bits.size() > 1 ? values.at(1) : zero;
  const auto& vc = c.operand_bits.size() > 2 ? values.at(2) : zero;
  for (const auto a : va) {
    for (const auto b : vb) {
      for (const auto e : vc) {
        in[0].push_back(a);
        in[1].push_back(b);
        in[2].push_back(e);
      }
    }
  }
  const std::size_t n = in[0].size();
  const Address out = device.buffer(std::vector<std::uint64_t>(n, 0));
  device.argument(out);
  for (const auto& list : in) device.argument(device.buffer(list));
  device.argument(static_cast<std::uint32_t>(n));
  const LaunchResult r = device.run({static_cast<unsigned>((n + 95) / 96), 1, 1}, {96, 1, 1});
  ASSERT_FALSE(r.fault) << r.fault->message;
  const auto got = device.read<std::uint64_t>(out, n);
  const std::uint64_t mask =
      c.result_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << c.result_bits) - 1;
  int shown = 0;
  for (std::size_t i = 0; i < n && shown < 5; ++i) {
    const std::uint64_t want = c.expected(in[0][i], in[1][i], in[2][i]) & mask;
    if (got[i] == want) continue;
    if (nan_is_nan) {
      const auto is_nan = [&](std::uint64_t v) {
        if (c.result_bits == 32) {
          const float f = std::bit_cast<float>(static_cast<std::uint32_t>(v));
          return f != f;
        }
        const double f = std::bit_cast<double>(v);
        return f != f;
      };
      if (is_nan(got[i]) && is_nan(want)) continue;
    }
    ADD_FAILURE() << std::hex << "a=0x" << in[0][i] << " b=0x" << in[1][i] << " c=0x" << in[2][i]
                  << ": got 0x" << got[i] << ", want 0x" << want;
    ++shown;
  }
}

inline void check_case(const Case& c, const std::vector<std::vector<std::uint64_t>>& values,
                       bool nan_is_nan = false) {
  on_each_host([&] { check_case_here(c, values, nan_is_nan); });
}

}  // namespace emu::test
