#include "report.hpp"

#include <gtest/gtest.h>

#include "profile.hpp"

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
  EXPECT_EQ(emu::kernel_name("plain_c"), "plain_c");
  const std::string endless(1 << 20, 'a');
  EXPECT_EQ(emu::kernel_name(endless), endless);
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
