// Runs one kernel out of a PTX file, gives back what it has written, and times it by the book's
// timer. Nothing of the file but the kernel runs, so that no host code can take a hand in the time.
//
//   time_kernel PTX KERNEL GRID_X GRID_Y BLOCK_X BLOCK_Y SHARED ARGUMENT...
//
// An argument is value:HEX (its bytes), or ROLE:BEGINS:FILE, the first bytes of a buffer that
// begins BEGINS bytes behind a multiple of 256. After one launch each file of an `out` or a `sum`
// holds what the kernel has left. Prints "embedded", or "MEDIAN LOW HIGH SAMPLES" in microseconds.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "book/buffer.hpp"
#include "book/check.hpp"
#include "book/device.hpp"
#include "book/stats.hpp"
#include "book/timer.hpp"

namespace {

using Bytes = std::vector<unsigned char>;

struct Argument {
  std::string role, file = {};
  Bytes bytes = {};        // a value's, or those that a buffer begins with
  std::size_t begins = 0;  // bytes of the buffer before them
  book::Buffer<unsigned char> buffer = {};
  book::Buffer<unsigned char> first = {};  // what a launch may destroy, as it was
  void* pointer = nullptr;                 // what the kernel is given

  bool is_value() const { return role == "value"; }
  bool is_result() const { return role == "out" || role == "sum"; }
  void write() {
    if (bytes.empty()) return;
    BOOK_CUDA(cudaMemcpy(pointer, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  }
};

Bytes read(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw book::bad_argument(name + ": can't be read");
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

Argument argument(const std::string& text) {
  const std::size_t first = text.find(':');
  Argument made{.role = text.substr(0, first)};
  std::string rest = text.substr(first + 1);
  if (made.is_value()) {
    for (std::size_t at = 0; at + 1 < rest.size(); at += 2) {
      made.bytes.push_back(static_cast<unsigned char>(std::stoul(rest.substr(at, 2), nullptr, 16)));
    }
    return made;
  }
  const std::size_t second = rest.find(':');
  made.begins = std::stoul(rest.substr(0, second));
  made.file = rest.substr(second + 1);
  made.bytes = read(made.file);
  made.buffer = book::Buffer<unsigned char>(made.begins + made.bytes.size() + 1);
  made.pointer = made.buffer.data() + made.begins;
  return made;
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 8) throw book::bad_argument("time_kernel: see its first lines");
  const book::Device device = book::choose_device({});
  cudaLibrary_t library = nullptr;
  BOOK_CUDA(cudaLibraryLoadFromFile(&library, words[0].c_str(), nullptr, nullptr, 0, nullptr,
                                    nullptr, 0));
  cudaKernel_t kernel = nullptr;
  BOOK_CUDA(cudaLibraryGetKernel(&kernel, library, words[1].c_str()));
  const auto number = [&](std::size_t i) { return static_cast<unsigned>(std::stoul(words[i])); };
  const dim3 grid(number(2), number(3)), block(number(4), number(5));
  const std::size_t shared = number(6);

  std::vector<Argument> arguments;
  for (std::size_t i = 7; i < words.size(); ++i) arguments.push_back(argument(words[i]));
  std::vector<void*> pointers;
  for (Argument& each : arguments) {
    pointers.push_back(each.is_value() ? static_cast<void*>(each.bytes.data()) : &each.pointer);
  }
  const auto launch = [&] {
    BOOK_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers.data(),
                               shared, nullptr));
  };
  for (Argument& each : arguments) {
    if (!each.is_value()) each.write();
  }
  launch();
  BOOK_CUDA(cudaDeviceSynchronize());
  for (Argument& each : arguments) {
    if (!each.is_result()) continue;
    Bytes got(each.bytes.size());
    if (!got.empty()) {
      BOOK_CUDA(cudaMemcpy(got.data(), each.pointer, got.size(), cudaMemcpyDeviceToHost));
    }
    std::ofstream(each.file, std::ios::binary)
        .write(reinterpret_cast<const char*>(got.data()), static_cast<std::streamsize>(got.size()));
  }
  if (device.embedded) {
    std::puts("embedded");
    return 0;
  }
  for (Argument& each : arguments) {
    if (each.bytes.empty() || (each.role != "work" && each.role != "sum")) continue;
    each.write();
    each.first = book::Buffer<unsigned char>(each.bytes.size());
    BOOK_CUDA(
        cudaMemcpy(each.first.data(), each.pointer, each.bytes.size(), cudaMemcpyDeviceToDevice));
  }
  book::Timer timer(device);
  const auto restore = [&] {  // queued: the timer holds the stream meanwhile
    for (Argument& each : arguments) {
      if (each.first.size() == 0) continue;
      BOOK_CUDA(cudaMemcpyAsync(each.pointer, each.first.data(), each.first.size(),
                                cudaMemcpyDeviceToDevice));
    }
  };
  const book::Measurement measured = timer.measure({}, {}, restore, launch);
  const book::Summary summary = book::summarize(measured.samples_us);
  const auto [low, high] = summary.median_ci.value_or(std::pair{summary.min, summary.median});
  std::printf("%.3f %.3f %.3f %zu\n", summary.median, low, high, summary.count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const book::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
