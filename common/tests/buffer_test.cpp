// Device memory is freed with its buffer, and none is taken for nothing.
#include "book/buffer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace {

/// What is allocated now, by address, and the most bytes that ever were at once.
std::map<void*, std::size_t> allocated;
std::size_t most = 0;

std::size_t now() {
  std::size_t bytes = 0;
  for (const auto& [address, size] : allocated) bytes += size;
  return bytes;
}

/// A device of 1000 bytes.
class Memory : public testing::Test {
 protected:
  void SetUp() override { most = 0; }
  void TearDown() override { EXPECT_EQ(now(), 0u) << "a buffer has left its memory"; }
};

}  // namespace

// In the place of the runtime's, which would want a device.
extern "C" cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  if (now() + bytes > 1000) return cudaErrorMemoryAllocation;
  *data = std::malloc(bytes);
  allocated[*data] = bytes;
  most = std::max(most, now());
  return cudaSuccess;
}

extern "C" cudaError_t cudaFree(void* data) {
  EXPECT_NE(data, nullptr) << "an empty buffer would start the runtime";
  if (allocated.erase(data) != 1) return cudaErrorInvalidValue;
  std::free(data);
  return cudaSuccess;
}

namespace {

TEST_F(Memory, IsFreedWithItsBuffer) {
  {
    const book::Buffer<int> buffer(10);
    EXPECT_EQ(now(), 40u);
    EXPECT_EQ(buffer.bytes(), 40u);
  }
  EXPECT_EQ(now(), 0u);
}

TEST_F(Memory, NoneForNothing) {
  const book::Buffer<int> buffer(0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(most, 0u);
}

TEST_F(Memory, GrowsByFreeingFirst) {
  book::Buffer<int> buffer;
  buffer.grow(100);
  const int* first = buffer.data();
  buffer.grow(100);
  buffer.grow(30);
  EXPECT_EQ(buffer.data(), first) << "what is large enough stays";
  EXPECT_EQ(buffer.size(), 100u);
  buffer.grow(200);
  EXPECT_EQ(buffer.size(), 200u);
  EXPECT_EQ(most, 800u) << "the old one was kept while the new one was asked for";
}

TEST_F(Memory, IsEmptyAfterItCouldNotGrow) {
  book::Buffer<int> buffer(100);
  EXPECT_THROW(buffer.grow(1000), book::Error);
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(buffer.data(), nullptr);
}

}  // namespace
