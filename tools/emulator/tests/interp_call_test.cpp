// Calls through pointers, functions that call themselves, memory on the stack, and the functions
// that the driver has.
#include <gmock/gmock.h>

#include "interp_support.hpp"

namespace emu::test {
namespace {

using testing::HasSubstr;
using u32 = std::uint32_t;

/// Runs a kernel that stores %r1 at out[thread]; `functions` stand before it.
struct Ran {
  std::vector<u32> out;
  LaunchResult result;
};
Ran run(const std::string& functions, const std::string& body, unsigned threads,
        unsigned blocks = 1) {
  Device device(module_text(functions + R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<10>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
  .local .align 8 .b8 mine[64];
  mov.u32 %r0, %tid.x;
)" + body + R"(
  ld.param.u64 %rd19, [out]; mov.u32 %r18, %ctaid.x; mov.u32 %r19, %ntid.x;
  mad.lo.s32 %r19, %r18, %r19, %r0; mad.wide.u32 %rd19, %r19, 4, %rd19;
  st.global.u32 [%rd19], %r1; ret;
})"));
  const Address out = device.buffer(std::vector<u32>(threads * blocks, 0xdead));
  device.argument(out);
  Ran r;
  r.result = device.run({blocks, 1, 1}, {threads, 1, 1});
  r.out = device.read<u32>(out, threads * blocks);
  return r;
}

const std::string kFibonacci = R"(
.func (.param .b32 r) fib(.param .b32 n);
.func (.param .b32 r) fib(.param .b32 n) {
  .reg .pred %p; .reg .b32 %a, %b, %n, %m;
  ld.param.u32 %n, [n]; setp.lt.u32 %p, %n, 2; @%p bra BASE;
  sub.u32 %m, %n, 1;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], %m; call (y), fib, (x); ld.param.b32 %a, [y]; }
  sub.u32 %m, %n, 2;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], %m; call (y), fib, (x); ld.param.b32 %b, [y]; }
  add.u32 %a, %a, %b; st.param.b32 [r], %a; ret;
BASE: st.param.b32 [r], %n; ret;
}
)";
const std::string kCallFibonacci =
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call (y), fib, (x);"
    " ld.param.b32 %r1, [y]; }\n";

TEST(Call, AFunctionThatCallsItself) {
  // Each lane goes to a depth of its own; several blocks, so that a second one starts afresh.
  const Ran r = run(kFibonacci, "rem.u32 %r2, %r0, 11;" + kCallFibonacci, 70, 3);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  const u32 fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
  for (unsigned i = 0; i < 210; ++i) EXPECT_EQ(r.out[i], fib[i % 70 % 11]) << i;
}

TEST(Call, LanesMeetBehindARecursiveCall) {
  // Were they apart, the mask would name fewer.
  const Ran r =
      run(kFibonacci, "rem.u32 %r2, %r0, 7;" + kCallFibonacci + "activemask.b32 %r1;", 32);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  for (const u32 mask : r.out) EXPECT_EQ(mask, 0xffffffff);
}

TEST(Call, VariablesOfOuterCallsAreKept) {
  // Each call hands the address of its own variable to the next, which adds its depth to it.
  const std::string functions = R"(
.func (.param .b32 r) down(.param .b32 n, .param .b64 p);
.func (.param .b32 r) down(.param .b32 n, .param .b64 p) {
  .reg .pred %p; .reg .b32 %a, %n, %m, %v; .reg .b64 %q, %mine;
  .local .align 4 .b8 own[8];
  ld.param.u32 %n, [n]; ld.param.u64 %q, [p];
  st.local.u32 [own], %n; st.local.u32 [own+4], 1000;
  ld.u32 %a, [%q]; add.u32 %a, %a, %n; st.u32 [%q], %a;
  setp.eq.u32 %p, %n, 0; @%p bra END;
  sub.u32 %m, %n, 1; mov.u64 %mine, own; cvta.local.u64 %mine, %mine; add.u64 %mine, %mine, 4;
  { .param .b32 x; .param .b64 z; .param .b32 y; st.param.b32 [x], %m; st.param.b64 [z], %mine;
    call (y), down, (x, z); ld.param.b32 %v, [y]; }
  ld.local.u32 %a, [own+4]; ld.local.u32 %m, [own];
  mad.lo.u32 %v, %v, 3, %a; add.u32 %v, %v, %m;
  st.param.b32 [r], %v; ret;
END: st.param.b32 [r], 5; ret;
}
)";
  const Ran r = run(functions, R"(
  mov.u64 %rd1, mine; cvta.local.u64 %rd1, %rd1; rem.u32 %r2, %r0, 9;
  { .param .b32 x; .param .b64 z; .param .b32 y; st.param.b32 [x], %r2; st.param.b64 [z], %rd1;
    call (y), down, (x, z); ld.param.b32 %r1, [y]; })",
                    40);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  const std::function<u32(u32)> down = [&](u32 n) {
    return n == 0 ? 5 : down(n - 1) * 3 + 1000 + (n - 1) + n;
  };
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(r.out[i], down(i % 9)) << i;
}

TEST(Call, ARecursionWithoutEndOverflowsTheStack) {
  const Ran r = run(".func f();\n.func f() { call f; ret; }\n", "call f;", 32);
  ASSERT_TRUE(r.result.fault);
  EXPECT_EQ(r.result.fault->kind, Fault::Kind::kIllegalAddress);
  EXPECT_THAT(r.result.fault->message, HasSubstr("stack overflow"));
  const Ran large =
      run(".func f();\n.func f() { .local .b8 x[4096]; call f; ret; }\n", "call f;", 32);
  ASSERT_TRUE(large.result.fault);
  EXPECT_THAT(large.result.fault->message, HasSubstr("stack overflow"));
  // Registers take room, too, however small the frames are.
  std::string many = ".func f();\n.func f() { .reg .b64 %a<3000>; ";
  for (int k = 0; k < 3000; ++k) {
    const std::string number = std::to_string(k);
    many += "mov.u64 %a" + number + ", " + number + "; ";
  }
  const Ran wide = run(many + "call f; ret; }\n", "call f;", 32);
  ASSERT_TRUE(wide.result.fault);
  EXPECT_THAT(wide.result.fault->message, HasSubstr("registers that calls put aside"));
}

const std::string kTable = R"(
.func (.param .b32 r) twice(.param .b32 n) { .reg .b32 %n; ld.param.u32 %n, [n];
  shl.b32 %n, %n, 1; st.param.b32 [r], %n; ret; }
.func (.param .b32 r) plus(.param .b32 n) { .reg .b32 %n; ld.param.u32 %n, [n];
  add.u32 %n, %n, 100; st.param.b32 [r], %n; ret; }
.func other(.param .b64 n) { ret; }
.global .align 8 .u64 table[4] = {twice, plus, other, 0};
)";
std::string through_pointer(const std::string& index) {
  return "mov.u64 %rd1, table; " + index +
         "mad.wide.u32 %rd1, %r2, 8, %rd1; ld.global.u64 %rd2, [%rd1];\n"
         "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0;\n"
         "  proto : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
         "  call (y), %rd2, (x), proto; ld.param.b32 %r1, [y]; }\n";
}

TEST(Call, ARecursionThatTakesForEverStops) {
  // Never deep, and without a backward jump: 10^12 calls.
  const Ran r = run(kFibonacci, "mov.u32 %r2, 60;" + kCallFibonacci, 1);
  ASSERT_TRUE(r.result.fault);
  EXPECT_EQ(r.result.fault->kind, Fault::Kind::kTooLong);
}

TEST(Call, ThroughPointers) {
  const Ran r = run(kTable, through_pointer("and.b32 %r2, %r0, 1;"), 64);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(r.out[i], i % 2 ? i + 100 : 2 * i);
  // They meet again.
  const Ran met = run(kTable, through_pointer("and.b32 %r2, %r0, 1;") + "activemask.b32 %r1;", 32);
  for (const u32 mask : met.out) EXPECT_EQ(mask, 0xffffffff);
  // An address taken in the code, and .calltargets in place of a prototype.
  const Ran direct = run(kTable, R"(mov.u64 %rd2, plus;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; targets: .calltargets twice, plus;
    call (y), %rd2, (x), targets; ld.param.b32 %r1, [y]; })",
                         4);
  ASSERT_FALSE(direct.result.fault) << direct.result.fault->message;
  EXPECT_EQ(direct.out[3], 103u);
}

TEST(Call, PointersThatLeadNowhereAreFaults) {
  const Ran null = run(kTable, through_pointer("mov.u32 %r2, 3;"), 1);
  ASSERT_TRUE(null.result.fault);
  EXPECT_THAT(null.result.fault->message, HasSubstr("leads to no function"));
  const Ran other = run(kTable, through_pointer("mov.u32 %r2, 2;"), 1);
  ASSERT_TRUE(other.result.fault);
  EXPECT_THAT(other.result.fault->message, HasSubstr("other parameters"));
}

TEST(Call, MemoryOnTheStack) {
  const Ran r = run("", R"(
  stacksave.u64 %rd1; alloca.u64 %rd2, 64, 16; alloca.u64 %rd3, 8;
  st.local.u32 [%rd2], %r0; st.local.u32 [%rd3], 7; ld.local.u32 %r1, [%rd2];
  stackrestore.u64 %rd1; alloca.u64 %rd4, 16, 16; setp.eq.u64 %p1, %rd4, %rd2;
  selp.u32 %r2, 1000, 0, %p1; add.u32 %r1, %r1, %r2;)",
                    33);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  EXPECT_EQ(r.out[32], 1032u);
  const Ran large = run("", "alloca.u64 %rd2, 1000000; mov.u32 %r1, 0;", 1);
  ASSERT_TRUE(large.result.fault);
  EXPECT_THAT(large.result.fault->message, HasSubstr("stack overflow"));
}

/// A call of printf with a format and arguments that lie in `mine`.
std::string printed(const std::string& format, const std::string& stores, u32 threads = 1,
                    u32 blocks = 1, std::vector<u32>* returned = nullptr) {
  std::string bytes;
  for (const char c : format) bytes += std::to_string(static_cast<int>(c)) + ", ";
  const Ran r =
      run(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
          ".global .align 1 .b8 text[6] = {119, 111, 114, 100, 33, 0};\n"
          ".global .align 1 .b8 format[" +
              std::to_string(format.size() + 1) + "] = {" + bytes + "0};\n",
          stores + R"(
  mov.u64 %rd1, format; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, mine; cvta.local.u64 %rd2, %rd2;
  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], %rd2;
    call.uni (r), vprintf, (f, a); ld.param.b32 %r1, [r]; })",
          threads, blocks);
  EXPECT_FALSE(r.result.fault) << r.result.fault->message;
  if (returned) *returned = r.out;
  return r.result.printed;
}

TEST(Print, Conversions) {
  const auto host = [](const char* format, auto... values) {
    char text[200];
    std::snprintf(text, sizeof text, format, values...);
    return std::string(text);
  };
  EXPECT_EQ(printed("plain %% text\n", ""), "plain % text\n");
  const std::string minus = "st.local.u32 [mine], -42;";
  for (const char* f : {"%d", "%5i|", "%-6d|", "%+d", "%u", "%x", "%#X", "%o", "%08d", "%.4d"}) {
    EXPECT_EQ(printed(f, minus), host(f, -42)) << f;
  }
  const std::string wide = "mov.u64 %rd1, -1234567890123; st.local.u64 [mine], %rd1;";
  EXPECT_EQ(printed("%lld", wide), "-1234567890123");
  EXPECT_EQ(printed("%lx", wide), host("%lx", -1234567890123L));
  const std::string real = "mov.f64 %rd1, 0d400921FB54442D18; st.local.u64 [mine], %rd1;";
  for (const char* f : {"%f", "%8.3f|", "%e", "%G", "%a", "%-10.2e|"}) {
    EXPECT_EQ(printed(f, real), host(f, 3.141592653589793)) << f;
  }
  EXPECT_EQ(printed("%c%c", "st.local.u32 [mine], 65; st.local.u32 [mine+4], 66;"), "AB");
  EXPECT_EQ(printed("<%7s>", "mov.u64 %rd1, text; st.local.u64 [mine], %rd1;"), "<  word!>");
  EXPECT_EQ(printed("%p", "mov.u64 %rd1, 255; st.local.u64 [mine], %rd1;"), "0xff");
  // A double lies at a multiple of 8; the star takes an argument.
  std::vector<u32> count;
  EXPECT_EQ(printed("%*d %.1f",
                    "st.local.u32 [mine], 5; st.local.u32 [mine+4], 42;"
                    "mov.f64 %rd1, 0d3FF8000000000000; st.local.u64 [mine+8], %rd1;",
                    1, 1, &count),
            "   42 1.5");
  EXPECT_EQ(count[0], 3u);
  EXPECT_EQ(printed("100%", ""), "100%");
  EXPECT_EQ(printed("%y", ""), "%y");
}

TEST(Print, InTheOrderOfBlocksAndThreads) {
  const std::string text = printed(
      "%u.%u ", "mov.u32 %r2, %ctaid.x; st.local.u32 [mine], %r2; st.local.u32 [mine+4], %r0;", 40,
      20);
  std::string want;
  for (int b = 0; b < 20; ++b) {
    for (int t = 0; t < 40; ++t) want += std::to_string(b) + "." + std::to_string(t) + " ";
  }
  EXPECT_EQ(text, want);
}

TEST(Driver, AssertSaysWhatCudaSays) {
  const Ran r = run(R"(
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 g, .param .b64 s);
.global .align 1 .b8 message[6] = {110, 32, 62, 32, 48, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 function[4] = {107, 40, 41, 0};
)",
                    R"(
  mov.u32 %r1, 0; setp.lt.u32 %p1, %r0, 30; @%p1 bra FINE;
  mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
  mov.u64 %rd3, function; cvta.global.u64 %rd3, %rd3;
  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 g; .param .b64 s;
    st.param.b64 [m], %rd1; st.param.b64 [f], %rd2; st.param.b32 [l], 12; st.param.b64 [g], %rd3;
    st.param.b64 [s], 1; call.uni __assertfail, (m, f, l, g, s); }
FINE:)",
                    32);
  ASSERT_TRUE(r.result.fault);
  EXPECT_EQ(r.result.fault->kind, Fault::Kind::kAssert);
  EXPECT_EQ(r.result.fault->message,
            "a.cu:12: k(): block: [0,0,0], thread: [30,0,0] Assertion `n > 0` failed.\n"
            "a.cu:12: k(): block: [0,0,0], thread: [31,0,0] Assertion `n > 0` failed.");
}

TEST(Driver, MallocAndFree) {
  const std::string functions =
      ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n";
  const auto malloc = [](const std::string& bytes) {
    return "{ .param .b64 n; .param .b64 r; st.param.b64 [n], " + bytes +
           "; call.uni (r), malloc, (n); ld.param.b64 %rd1, [r]; }\n";
  };
  const std::string release = "{ .param .b64 p; st.param.b64 [p], %rd1; call.uni free, (p); }\n";
  // All threads of several blocks at once: each has its own.
  const Ran r = run(functions,
                    malloc("40") +
                        "st.u32 [%rd1], %r0; st.u32 [%rd1+36], %r0; bar.sync 0;"
                        " ld.u32 %r1, [%rd1]; ld.u32 %r2, [%rd1+36]; add.u32 %r1, %r1, %r2;\n" +
                        release,
                    96, 5);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  for (unsigned i = 0; i < 480; ++i) EXPECT_EQ(r.out[i], 2 * (i % 96));
  const Ran large = run(functions, malloc("100000000") + "cvt.u32.u64 %r1, %rd1;", 1);
  EXPECT_EQ(large.out[0], 0u);
  const Ran twice = run(functions, malloc("8") + release + release + "mov.u32 %r1, 0;", 1);
  ASSERT_TRUE(twice.result.fault);
  EXPECT_THAT(twice.result.fault->message, HasSubstr("free of what malloc didn't give"));
}

}  // namespace
}  // namespace emu::test
