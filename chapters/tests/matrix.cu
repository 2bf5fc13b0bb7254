// Every kernel of a chapter × blocks × sizes, each result checked: the chapter's own program,
// called again and again in one process. Compiled once for each chapter, whose main.cu is
// CHAPTER_MAIN. With the name of a file it runs that file's cases instead, a line of arguments
// each, so that a profiler is started once for all of them.
#define main chapter_main
#include CHAPTER_MAIN
#undef main

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "book/embedded.hpp"

namespace {

constexpr unsigned kBlocks[] = {1, 2, 31, 32, 33, 64, 100, 128, 256, 1023, 1024};
constexpr std::size_t kSizes[] = {
    0,    1,    2,    31,   32,    33,    63,     65,     255,           257,          1023,
    1024, 1025, 4095, 4097, 65537, 99999, 131071, 131073, (1 << 20) - 1, (1 << 20) + 1};
/// Past 2^31 elements an int cannot index the input; checked on a GPU, where memory allows.
constexpr std::size_t kHuge = (std::size_t{1} << 31) + 12345;

/// Runs the chapter's program with these arguments; its own messages are shown when it fails.
int run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "matrix");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::ostringstream said;
  std::streambuf* out = std::cout.rdbuf(said.rdbuf());
  const int status = chapter_main(static_cast<int>(argv.size()), argv.data());
  std::cout.rdbuf(out);
  if (status != 0 && status != 77) {
    std::printf("exit %d from:", status);
    for (const std::string& argument : arguments) std::printf(" %s", argument.c_str());
    std::printf("\n%s", said.str().c_str());
  }
  return status;
}

/// Runs the cases in a file up to the first that can't be, whose exit status it gives back. A wrong
/// result is only told: a faulty kernel has counts too, and a profiler may keep none for a failure.
int run_cases(const char* path) {
  std::ifstream file(path);
  if (!file) {
    std::printf("%s can't be read\n", path);
    return 2;
  }
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    const int status = run({std::istream_iterator<std::string>(words), {}});
    if (status > 1) return status;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return run_cases(argv[1]);
  const auto start = std::chrono::steady_clock::now();
  int cases = 0;
  int failures = 0;
  for (const unsigned block : kBlocks) {
    for (const std::size_t n : kSizes) {
      const int status =
          run({"--once", "--block", std::to_string(block), "--n", std::to_string(n)});
      if (status == 77) return 77;
      ++cases;
      failures += status != 0;
    }
  }
  const char* huge = "not run: it would take the embedded device hours";
  if (!book::on_embedded_device()) {
    for (const char* block : {"32", "256", "1024"}) {
      const int status = run({"--once", "--block", block, "--n", std::to_string(kHuge)});
      ++cases;
      // 2: refused, for this device's memory or by the problem itself: no failure of a kernel.
      failures += status != 0 && status != 2;
      huge = status == 2 ? "not run: refused, as the line above says" : "run";
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%d cases, %d failed; n = %zu %s; %.1f s\n", cases, failures, kHuge, huge, seconds);
  return failures == 0 ? 0 : 1;
}
