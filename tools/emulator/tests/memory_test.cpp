// Global memory: what lies in an allocation is found, and no address is given twice.
#include "emu/memory.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace {

using emu::Address;
using emu::Allocation;
using emu::GlobalMemory;

TEST(GlobalMemory, GivesAlignedZeroedBytesAtStableAddresses) {
  Address first[2];
  for (Address& address : first) {
    GlobalMemory memory(1 << 20);
    address = memory.allocate(1000, "a").value();
    EXPECT_EQ(address % emu::kAllocationAlignment, 0u);
    const Allocation* a = memory.find(address, 1000);
    ASSERT_NE(a, nullptr);
    EXPECT_EQ(a->what, "a");
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(a->host[i], std::byte{0});
  }
  EXPECT_EQ(first[0], first[1]);
}

TEST(GlobalMemory, FindsWhatLiesWholeInOneAllocation) {
  GlobalMemory memory(1 << 20);
  const Address a = memory.allocate(256, "a").value();
  const Address b = memory.allocate(10, "b").value();
  EXPECT_EQ(memory.find(a + 252, 4)->what, "a");
  EXPECT_EQ(memory.find(a + 253, 4), nullptr);
  EXPECT_EQ(memory.find(a + 256, 1), nullptr) << "no two allocations touch";
  EXPECT_EQ(memory.find(b + 10, 1), nullptr) << "an allocation ends where it was asked to";
  EXPECT_EQ(memory.find(a - 1, 1), nullptr);
  EXPECT_EQ(memory.find(0, 1), nullptr);
  EXPECT_EQ(memory.find(~Address{0}, 1), nullptr);
  EXPECT_EQ(memory.find(a + 1, ~std::size_t{0}), nullptr);
  EXPECT_EQ(memory.nearest(a + 300)->what, "a");
  EXPECT_EQ(memory.nearest(b + 300)->what, "b");
  EXPECT_EQ(memory.nearest(0)->what, "a");
}

TEST(GlobalMemory, NeverGivesAnAddressTwice) {
  GlobalMemory memory(1 << 20);
  const Address a = memory.allocate(1 << 20, "a").value();
  EXPECT_FALSE(memory.allocate(1, "full"));
  EXPECT_EQ(memory.free_bytes(), 0u);
  EXPECT_FALSE(memory.free(a + 1));
  EXPECT_TRUE(memory.free(a));
  EXPECT_FALSE(memory.free(a));
  EXPECT_EQ(memory.free_bytes(), std::size_t{1} << 20);
  EXPECT_NE(memory.allocate(1 << 20, "b"), a);
  EXPECT_EQ(memory.find(a, 1), nullptr);
  EXPECT_FALSE(memory.allocate(0, "nothing"));
  EXPECT_FALSE(memory.allocate(~std::size_t{0}, "everything"));
}

TEST(GlobalMemory, MapsHostMemoryAtItsOwnAddress) {
  GlobalMemory memory(1 << 20);
  int values[8] = {};
  const auto address = memory.map(values, sizeof values, "mine");
  ASSERT_EQ(address, reinterpret_cast<Address>(values));
  EXPECT_EQ(memory.find(*address + 4, 4)->host, reinterpret_cast<std::byte*>(values));
  EXPECT_FALSE(memory.map(values + 7, 8, "overlaps"));
  EXPECT_FALSE(memory.map(values, sizeof values, "again"));
  EXPECT_EQ(memory.free_bytes(), std::size_t{1} << 20) << "it is the host's";
  EXPECT_TRUE(memory.free(*address));
  // Where the device has addresses of its own a host's would be taken for them.
  EXPECT_FALSE(memory.map(reinterpret_cast<void*>(emu::kGlobalBase + 4096), 64, "global"));
  EXPECT_FALSE(memory.map(reinterpret_cast<void*>(emu::kSharedWindow - 8), 16, "shared"));
}

}  // namespace
