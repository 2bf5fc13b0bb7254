// Whatever address a kernel comes up with, it reaches its own allocations, shared, local and
// parameter memory, or faults: never the host program's memory. And launches that no program should
// make end as faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "decode/code.hpp"
#include "interp_support.hpp"

namespace {

using emu::Address;
using emu::Fault;
using emu::test::Device;
using emu::test::module_text;

constexpr unsigned kBufferBytes = 104;
constexpr unsigned kSharedBytes = 48;
constexpr unsigned kLocalBytes = 16;
constexpr unsigned kParameterBytes = 24;

struct Access {
  const char* text;  ///< with its address in %rd0, or in %r0 where it is narrow
  unsigned bytes;
  enum class Space { kGlobal, kGeneric, kShared, kLocal } space;
  bool load;  ///< reads only: may touch parameters
  bool narrow = false;
  std::int64_t offset = 0;
};

constexpr auto kGlobal = Access::Space::kGlobal;
constexpr auto kGeneric = Access::Space::kGeneric;
constexpr auto kShared = Access::Space::kShared;
constexpr auto kLocal = Access::Space::kLocal;

const Access kAccesses[] = {
    {"ld.global.u8 %rs0, [%rd0];", 1, kGlobal, true},
    {"ld.global.u32 %r1, [%rd0];", 4, kGlobal, true},
    {"ld.global.u32 %r1, [%rd0+-12];", 4, kGlobal, true, false, -12},
    {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0];", 16, kGlobal, true},
    {"ld.global.v2.u64 {%rd1, %rd2}, [%rd0+16];", 16, kGlobal, true, false, 16},
    {"ld.volatile.global.u32 %r1, [%rd0];", 4, kGlobal, true},
    {"ld.global.nc.u64 %rd1, [%rd0];", 8, kGlobal, true},
    {"st.global.u8 [%rd0], 255;", 1, kGlobal, false},
    {"st.global.u64 [%rd0], -1;", 8, kGlobal, false},
    {"st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};", 16, kGlobal, false},
    {"atom.global.add.u32 %r1, [%rd0], 1;", 4, kGlobal, false},
    {"atom.global.exch.b64 %rd1, [%rd0], -1;", 8, kGlobal, false},
    {"atom.global.cas.b32 %r1, [%rd0], 0, 1;", 4, kGlobal, false},
    {"red.global.add.f32 [%rd0], 0f3F800000;", 4, kGlobal, false},
    {"ld.u16 %rs0, [%rd0];", 2, kGeneric, true},
    {"ld.u64 %rd1, [%rd0+8];", 8, kGeneric, true, false, 8},
    {"ld.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0];", 16, kGeneric, true},
    {"st.u32 [%rd0], -1;", 4, kGeneric, false},
    {"st.v2.u32 [%rd0+-8], {%r1, %r2};", 8, kGeneric, false, false, -8},
    {"atom.add.u32 %r1, [%rd0], 1;", 4, kGeneric, false},
    {"red.max.u64 [%rd0], -1;", 8, kGeneric, false},
    {"ld.shared.u32 %r1, [%rd0];", 4, kShared, true},
    {"ld.shared.u64 %rd1, [%r0];", 8, kShared, true, true},
    {"ld.shared.u32 %r1, [%r0+-4];", 4, kShared, true, true, -4},
    {"st.shared.v4.u32 [%r0], {%r1, %r2, %r3, %r4};", 16, kShared, false, true},
    {"st.shared.u8 [%rd0], 255;", 1, kShared, false},
    {"atom.shared.add.u32 %r1, [%r0], 1;", 4, kShared, false, true},
    {"ld.local.u32 %r1, [%rd0];", 4, kLocal, true},
    {"st.local.u64 [%rd0], -1;", 8, kLocal, false},
};

/// Every lane at `good`, and then, by the same instruction, which may remember where that was, lane
/// t at base + t * stride.
std::string kernel(const std::string& access) {
  return module_text(R"(
.visible .entry k(.param .u64 base, .param .u64 stride, .param .u64 good) {
  .reg .b16 %rs<2>; .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .pred %p;
  .shared .align 16 .b8 tile[48];
  .local .align 16 .b8 own[16];
  ld.param.u64 %rd5, [base];
  ld.param.u64 %rd3, [stride];
  mov.u32 %r5, %tid.x;
  cvt.u64.u32 %rd4, %r5;
  mad.lo.u64 %rd5, %rd4, %rd3, %rd5;
  ld.param.u64 %rd0, [good];
  setp.ne.u32 %p, %r5, %r5;
again:
  cvt.u32.u64 %r0, %rd0;
  )" + access +
                     R"(
  mov.u64 %rd0, %rd5;
  not.pred %p, %p;
  @%p bra again;
  ret;
})");
}

bool within(Address at, unsigned bytes, Address base, std::size_t size) {
  return at >= base && at - base <= size && bytes <= size - (at - base);
}

/// Said again, apart from the interpreter: may a lane access this?
bool allowed(const Access& access, Address at, Address buffer) {
  const unsigned n = access.bytes;
  switch (access.space) {
    case kGlobal: return within(at, n, buffer, kBufferBytes);
    case kShared: return within(at, n, 0, kSharedBytes);
    case kLocal: return within(at, n, 0, kLocalBytes);
    case kGeneric:
      return within(at, n, buffer, kBufferBytes) ||
             within(at, n, emu::kSharedWindow, kSharedBytes) ||
             within(at, n, emu::kLocalWindow, kLocalBytes) ||
             (access.load && within(at, n, emu::kParameterWindow, kParameterBytes));
  }
  return false;
}

/// Addresses at which something could go wrong, and any others.
class Addresses {
 public:
  Addresses(Address buffer, std::vector<Address> edges) : edges_(std::move(edges)) {
    edges_.insert(edges_.end(),
                  {0, buffer, buffer, buffer + kBufferBytes, emu::kSharedWindow,
                   emu::kSharedWindow + kSharedBytes, emu::kLocalWindow,
                   emu::kLocalWindow + kLocalBytes, emu::kParameterWindow,
                   emu::kParameterWindow + kParameterBytes, emu::kGlobalBase, emu::kGlobalEnd,
                   emu::kSharedWindow + emu::kWindowBytes, emu::kLocalWindow + emu::kWindowBytes});
  }
  Address next() {
    const Address any = random_();
    Address at = edges_[any % edges_.size()];
    if (any % 7 == 0) at = Address{1} << (any >> 32) % 64;
    if (any % 11 == 0) at = random_();
    at += random_() % 64 - 32;
    return any % 3 == 0 ? at : at & ~Address{15};
  }
  Address stride() {
    constexpr std::array<Address, 9> kStrides{
        0, 1, 4, 8, 16, Address{1} << 31, Address{1} << 59, Address{1} << 63, ~Address{3}};
    const Address any = random_();
    return any % 5 == 0 ? random_() : kStrides[any % kStrides.size()];
  }

 private:
  std::mt19937_64 random_{2018};
  std::vector<Address> edges_;
};

TEST(Isolation, NoAddressLeadsOutOfTheKernelsOwnMemory) {
  // What a kernel must never see or change: host memory beside, before and behind its own.
  std::vector<std::uint64_t> canary(4096, 0x5afe'5afe'5afe'5afe);
  const std::uint64_t on_stack = 0x5afe'5afe'5afe'5afe;
  int legal = 0;
  int refused = 0;
  for (const Access& access : kAccesses) {
    SCOPED_TRACE(access.text);
    Device device(kernel(access.text));
    ASSERT_EQ(device.kernel().unsupported, "");
    const Address buffer = device.buffer(std::vector<std::uint8_t>(kBufferBytes));
    Addresses addresses(buffer, {reinterpret_cast<Address>(canary.data()),
                                 reinterpret_cast<Address>(canary.data() + 100),
                                 reinterpret_cast<Address>(&on_stack)});
    for (int i = 0; i < 400; ++i) {
      const unsigned threads = i % 3 == 0 ? 1 : i % 3 == 1 ? 7 : 32;
      const Address base = addresses.next();
      const Address stride = addresses.stride();
      bool good = true;
      bool misaligned = false;
      for (unsigned t = 0; t < threads; ++t) {
        Address at = base + t * stride + static_cast<Address>(access.offset);
        if (access.narrow) at = static_cast<std::uint32_t>(at);
        misaligned = misaligned || at % access.bytes != 0;
        good = good && at % access.bytes == 0 && allowed(access, at, buffer);
      }
      const bool global = access.space == kGlobal || access.space == kGeneric;
      const Address first = (global ? buffer : 0) - static_cast<Address>(access.offset);
      device.argument(base).argument(stride).argument(first);
      const emu::LaunchResult r = device.run({1, 1, 1}, {threads, 1, 1}, 0, 1000, 1);
      ASSERT_EQ(r.fault.has_value(), !good) << std::hex << base << " + t * " << stride;
      if (good) {
        ++legal;
        continue;
      }
      ++refused;
      ASSERT_TRUE(r.fault->kind == Fault::Kind::kIllegalAddress ||
                  (misaligned && r.fault->kind == Fault::Kind::kMisalignedAddress))
          << r.fault->message;
    }
  }
  EXPECT_THAT(canary, testing::Each(0x5afe'5afe'5afe'5afe));
  EXPECT_EQ(on_stack, 0x5afe'5afe'5afe'5afe);
  // Neither answer is the only one that was asked for.
  EXPECT_GT(legal, 500);
  EXPECT_GT(refused, 5000);
}

TEST(Isolation, ConvertedAddressesStayInTheirSpace) {
  // cvta of a number that isn't an address of that space, and back.
  for (const char* text : {"cvta.shared.u64 %rd1, %rd0; st.u32 [%rd1], 1;",
                           "cvta.local.u64 %rd1, %rd0; st.u32 [%rd1], 1;",
                           "cvta.to.shared.u64 %rd1, %rd0; st.shared.u32 [%rd1], 1;",
                           "cvta.to.local.u64 %rd1, %rd0; st.local.u32 [%rd1], 1;"}) {
    SCOPED_TRACE(text);
    Device device(kernel(text));
    for (const Address at : {~Address{0} - 3, Address{1} << 63, Address{kSharedBytes},
                             Address{1} << 32, emu::kGlobalBase - 4}) {
      device.argument(at).argument(Address{0}).argument(at);
      const emu::LaunchResult r = device.run({1, 1, 1}, {1, 1, 1}, 0, 1000, 1);
      EXPECT_TRUE(r.fault.has_value()) << std::hex << at;
    }
  }
}

TEST(Isolation, FreedMemoryIsOutOfReach) {
  emu::GlobalMemory memory(1 << 20);
  const Address a = *memory.allocate(64, "first");
  ASSERT_TRUE(memory.free(a));
  const Address b = *memory.allocate(64, "second");
  EXPECT_NE(a, b);
  EXPECT_EQ(memory.find(a, 1), nullptr);
  EXPECT_EQ(memory.find(b, 64)->base, b);
  EXPECT_EQ(memory.find(b, 65), nullptr);
  EXPECT_EQ(memory.find(b, ~std::size_t{0}), nullptr);
  EXPECT_EQ(memory.find(b + 1, ~std::size_t{0}), nullptr);
}

/// A kernel without an access of its own, launched as a test likes.
emu::LaunchResult launch(const std::string& body, emu::Dim3 grid, emu::Dim3 block,
                         std::size_t shared, std::size_t parameter_bytes) {
  const auto module =
      emu::parse_ptx(module_text(".extern .shared .align 16 .b8 room[];\n"
                                 ".visible .entry k(.param .u64 a, .param .align 8 .b8 b[64]) {\n"
                                 ".reg .b32 %r<4>; .reg .b64 %rd<4>;\n" +
                                 body + "\nret;\n}\n"),
                     "test");
  emu::link_module(*module);
  emu::GlobalMemory memory(1 << 20);
  // On its own on the heap, so that a sanitizer sees what is read behind it.
  const std::vector<std::byte> parameters(parameter_bytes);
  emu::LaunchConfig config;
  config.module = module.get();
  config.kernel = &module->kernels.at("k");
  EXPECT_EQ(config.kernel->unsupported, "");
  config.grid = grid;
  config.block = block;
  config.dynamic_shared_bytes = shared;
  config.parameters = parameters;
  config.memory = &memory;
  emu::HostThreads pool(2);
  config.pool = &pool;
  config.max_warp_instructions = 10000;
  return emu::launch(config);
}

TEST(Isolation, ParametersAreNotReadPastTheirEnd) {
  const char* const last = "ld.param.u64 %rd0, [b+56];";
  EXPECT_FALSE(launch(last, {1, 1, 1}, {1, 1, 1}, 0, 72).fault);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{71}}) {
    EXPECT_TRUE(launch(last, {1, 1, 1}, {1, 1, 1}, 0, bytes).fault) << bytes;
  }
  const char* const past = "mov.u64 %rd1, b; ld.param.u64 %rd0, [%rd1+64];";
  EXPECT_TRUE(launch(past, {1, 1, 1}, {1, 1, 1}, 0, 72).fault);
}

TEST(Isolation, HugeLaunchesEnd) {
  const auto grid = launch("", {2147483647, 65535, 65535}, {32, 1, 1}, 0, 72);
  ASSERT_TRUE(grid.fault.has_value());
  EXPECT_EQ(grid.fault->kind, Fault::Kind::kTooLong);
// A sanitizer ends a program that asks for so much.
#ifndef EMU_SANITIZED
  const auto shared = launch("", {1, 1, 1}, {32, 1, 1}, std::size_t{1} << 50, 72);
  ASSERT_TRUE(shared.fault.has_value());
  EXPECT_THAT(shared.fault->message, testing::HasSubstr("memory"));
#endif
  // The last byte of what was asked for is there, the next is not.
  EXPECT_FALSE(launch("st.shared.u8 [room+99], 1;", {1, 1, 1}, {32, 1, 1}, 100, 72).fault);
  EXPECT_TRUE(launch("st.shared.u8 [room+100], 1;", {1, 1, 1}, {32, 1, 1}, 100, 72).fault);
}

}  // namespace
