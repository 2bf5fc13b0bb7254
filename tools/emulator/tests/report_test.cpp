// Kernels' names and columns as ncu writes them.
#include "cudart/report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cudart/profile.hpp"
#include "watch/kernel_name.hpp"

namespace {

// Names as ncu 2025.3 printed them on an H200.
TEST(Report, SpellsNamesAsNcuDoes) {
  EXPECT_EQ(emu::kernel_name("_ZN12_GLOBAL__N_15storeEPii"), "<unnamed>::store(int *, int)");
  EXPECT_EQ(emu::kernel_name("_ZN9chapter026smem_oEPKiPim"),
            "chapter02::smem_o(const int *, int *, unsigned long)");
  EXPECT_EQ(emu::kernel_name("_ZN9chapter056unrollILj4EEEvPKiPim"),
            "void chapter05::unroll<(unsigned int)4>(const int *, int *, unsigned long)");
  EXPECT_EQ(emu::kernel_name("_Z1kILin3ELb1EEvPf"), "void k<(int)-3, (bool)1>(float *)");
  EXPECT_EQ(emu::kernel_name("_Z1kPVKiPVj"), "k(const volatile int *, volatile unsigned int *)");
  EXPECT_EQ(emu::kernel_name("_ZN12_GLOBAL__N_111global_loadIcEEvPKT_PS1_jj"),
            "void <unnamed>::global_load<char>(const T1 *, T1 *, unsigned int, unsigned int)");
  EXPECT_EQ(emu::kernel_name("_ZN12_GLOBAL__N_112shared_storeI4int2EEvT_NS_4SlotEjjj"),
            "void <unnamed>::shared_store<int2>(T1, <unnamed>::Slot, unsigned int, unsigned int, "
            "unsigned int)");
  EXPECT_EQ(emu::kernel_name("plain_c"), "plain_c");
  const std::string endless(1 << 20, 'a');
  EXPECT_EQ(emu::kernel_name(endless), endless);
}

TEST(Report, NamesTheTemplatesParametersOnly) {
  // `T_` within a name, an enumerator's value before one, the second parameter, one in another's
  // arguments, a lambda's own.
  EXPECT_EQ(emu::kernel_name("_Z5FOO_TIiEvPT_"), "void FOO_T<int>(T1 *)");
  EXPECT_EQ(emu::kernel_name("_Z1kILN1a1EE113EiEvT0_PKS2_"),
            "void k<(a::E)113, int>(T2, const T2 *)");
  EXPECT_EQ(emu::kernel_name("_Z1kIiLi4EEv3BoxIT_XT0_EES0_IPS1_Li5EE"),
            "void k<int, (int)4>(Box<T1, T2>, Box<T1 *, (int)5>)");
  EXPECT_EQ(emu::kernel_name("_Z3lamIZ4mainEUliE_EvT_PKS1_"),
            "void lam<main::[lambda(int) (instance 1)]>(T1, const T1 *)");
  EXPECT_EQ(emu::kernel_name("_Z3lamIZ4mainEUlT_E_EvS0_"),
            "void lam<main::[lambda(auto:1) (instance 1)]>(main::[lambda(auto:1) (instance 1)])");
  EXPECT_EQ(emu::kernel_name("_Z1kI3BoxIS0_IiEEEvv"), "void k<Box<Box<int>>>()");
  EXPECT_EQ(emu::kernel_name("_Z1kI5PlainVfEvv"), "void k<Plain, volatile float>()");
}

/// Of the book's and CUB's templates: the mangled name, and in the next line the plain one.
TEST(Report, SpellsRealKernelsNames) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "kernel_names.txt");
  int names = 0;
  for (std::string mangled, name; std::getline(file, mangled) && std::getline(file, name);) {
    EXPECT_EQ(emu::kernel_name(mangled), name);
    ++names;
  }
  EXPECT_GT(names, 20);
}

TEST(Report, TakesAnyTextForAName) {
  const std::string name =
      "_ZN12_GLOBAL__N_11kIZ4mainEUliE_LN1a1EE113EA4_iLj4EEEvPKT_PS1_XT0_EST1_";
  for (std::size_t i = 0; i < name.size(); ++i) {
    EXPECT_FALSE(emu::kernel_name(name.substr(0, i) + "T_").empty());
    for (const char c : {'I', 'N', 'E', 'L', 'S', 'T', '9', '_', 'Z', 'U', 'A', 'D'}) {
      std::string other = name;
      other[i] = c;
      EXPECT_FALSE(emu::kernel_name(other).empty());
    }
  }
  EXPECT_FALSE(emu::kernel_name("_Z" + std::string(10'000, 'N')).empty());
  EXPECT_FALSE(emu::kernel_name("_Z99999999999999999999T_").empty());
}

TEST(Report, WritesNcusColumns) {
  const std::string heading = emu::csv_heading();
  EXPECT_TRUE(heading.starts_with(
      R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","l1tex__data_bank)"));
  emu::Counters counters;
  counters.global_load_sectors = 2097152;
  const std::string row = emu::csv_row(
      {.id = 3, .kernel = "_Z1kPi", .grid = {2, 3, 4}, .block = {32, 1, 1}, .major = 9}, counters);
  EXPECT_TRUE(row.starts_with("\"3\",\"")) << row;
  EXPECT_NE(row.find(R"x("k(int *)","1","7","(32, 1, 1)","(2, 3, 4)","0","9.0",)x"),
            std::string::npos)
      << row;
  EXPECT_NE(row.find("\"2097152\""), std::string::npos);
}

TEST(Profile, HasTheNamedDevices) {
  for (const auto name : emu::profile_names()) {
    const auto profile = emu::find_profile(name);
    ASSERT_TRUE(profile) << name;
    EXPECT_EQ(profile->key, name);
  }
  EXPECT_EQ(emu::find_profile("h200")->architecture(), 90);
  EXPECT_EQ(emu::find_profile("t4")->architecture(), 75);
  EXPECT_EQ(emu::find_profile("gtx1050ti")->architecture(), 61);
  EXPECT_FALSE(emu::find_profile("h300"));
}

}  // namespace
