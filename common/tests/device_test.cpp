// What of device.hpp needs no GPU.
#include "book/device.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Device, PeakIsClockTimesWidthTimesTwoOverEight) {
  book::Device h200;
  h200.memory_clock_khz = 3201000;
  h200.memory_bus_bits = 6144;
  // 3.201e9 cycles/s * 6144 bit * 2 / 8 bit/byte = 4916.736e9 byte/s
  EXPECT_NEAR(h200.peak_gb_per_s(), 4916.736, 1e-9);

  book::Device gtx_1050_ti;
  gtx_1050_ti.memory_clock_khz = 3504000;
  gtx_1050_ti.memory_bus_bits = 128;
  EXPECT_NEAR(gtx_1050_ti.peak_gb_per_s(), 112.128, 1e-9);  // 3.504 * 128 * 2 / 8

  EXPECT_EQ(book::Device{}.peak_gb_per_s(), 0);
}

TEST(VersionText, ReadsCudasNumbers) {
  EXPECT_EQ(book::version_text(13000), "13.0");
  EXPECT_EQ(book::version_text(12090), "12.9");
  EXPECT_EQ(book::version_text(11080), "11.8");
}

TEST(BuiltFor, NamesArchitectures) {
  EXPECT_NE(book::built_for(), "");
}

}  // namespace
