// The chapter driver with a problem that is not a sum, on a real GPU. Exits 77 without one.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "book/array.hpp"
#include "book/chapter.hpp"
#include "book/sum.hpp"

namespace {

struct Triple {
  __host__ __device__ unsigned operator()(std::size_t i) const {
    return 3 * static_cast<unsigned>(i);
  }
};

/// out[i] = 3·i: no input, no seed, one output per element.
class Triples : public book::Problem {
 public:
  struct Launch {
    unsigned* out;
    unsigned n, grid, block;
  };
  Launch launch(const book::Shape& s) const {
    return {out_.data(), static_cast<unsigned>(s.n), s.grid, s.block};
  }
  std::size_t device_bytes(const book::Shape& s) const override { return s.n * sizeof(unsigned); }
  void prepare(const book::Shape& s, std::uint64_t, book::Fill fill) override {
    out_.resize(s.n, fill);
  }
  void poison() override { out_.poison(~0u); }
  book::Verdict check() override { return out_.compare(Triple{}, "every element is right"); }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = 0, .written = s.n * sizeof(unsigned)};
  }

 private:
  book::Array<unsigned> out_;
};

__global__ void triple(unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3 * i;
}
__global__ void triple_but_the_last(unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) out[i] = 3 * i;
}
__global__ void write_nothing(int*, int*, std::size_t) {}
__global__ void off_by_one(int*, int* partial, std::size_t) {
  partial[blockIdx.x] = 1;
}

int failures = 0;

void expect(const char* what, int found, int wanted) {
  std::printf("%s  %s: exit %d\n", found == wanted ? "ok  " : "FAIL", what, found);
  failures += found != wanted;
}

int run(std::vector<const char*> arguments) {
  book::Chapter chapter{"driver_gpu_test", "A chapter of wrong and right kernels"};
  chapter.add({
      .name = "triple",
      .kernel = book::kernel(triple),
      .launch =
          book::launch<Triples>([](const auto& l) { triple<<<l.grid, l.block>>>(l.out, l.n); }),
  });
  chapter.add({
      .name = "but_the_last",
      .legacy = true,
      .launch = book::launch<Triples>(
          [](const auto& l) { triple_but_the_last<<<l.grid, l.block>>>(l.out, l.n); }),
  });
  chapter.add({
      .name = "write_nothing",
      .legacy = true,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { write_nothing<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  chapter.add({
      .name = "off_by_one",
      .legacy = true,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { off_by_one<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  arguments.insert(arguments.begin(), {"driver_gpu_test", "--device", "gpu"});
  std::ostringstream said;
  std::streambuf* out = std::cout.rdbuf(said.rdbuf());
  const int status = chapter.run(static_cast<int>(arguments.size()), arguments.data());
  std::cout.rdbuf(out);
  return status;
}

}  // namespace

int main() {
  const int first = run({"--n", "1000", "--json", "driver_gpu_test.json"});
  if (first == 77) return 77;
  expect("a problem that is not a sum", first, 0);
  const auto record = nlohmann::json::parse(std::ifstream("driver_gpu_test.json"));
  expect("its record holds one verified run",
         record["runs"].size() == 1 && record["runs"][0]["verified"] == true, 1);
  std::remove("driver_gpu_test.json");
  expect("one element missing", run({"--n", "1000", "--variant", "but_the_last"}), 1);
  expect("one element missing, --once", run({"--n", "1000", "--once", "--variant", "but_the_last"}),
         1);
  expect("a kernel that writes nothing", run({"--n", "1000", "--variant", "write_nothing"}), 1);
  expect("a wrong sum", run({"--n", "1000", "--variant", "off_by_one"}), 1);
  expect("two legacy forms in one process",
         run({"--n", "10", "--variant", "off_by_one", "write_nothing"}), 2);
  expect("a sweep", run({"--sweep", "block", "--n", "4096", "--samples", "3"}), 0);
  expect("n past the device's memory", run({"--n", "2^45"}), 2);
  expect("a GPU that is not there", run({"--device", "gpu:99"}), 2);
  expect("nothing to do", run({"--n", "0"}), 0);
  return failures == 0 ? 0 : 1;
}
