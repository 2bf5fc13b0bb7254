// Every kernel of a chapter × blocks × sizes, each result checked: the chapter's own program,
// called again and again in one process. Linked with the objects of each chapter's program, whose
// `main` is renamed in a copy. With the name of a file it runs that file's cases instead, one line
// of arguments each, so that a profiler starts once for all of them. With --go-on behind it, a
// wrong result ends nothing: a checker is to see what comes after it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "book/embedded.hpp"
#include "book/input.hpp"

/// The chapter's `main`.
extern "C" int chapter_main(int argc, char** argv);

namespace {

constexpr unsigned kBlocks[] = {1, 2, 31, 32, 33, 64, 100, 128, 256, 1023, 1024};
constexpr std::size_t kSizes[] = {
    0,    1,    2,    31,   32,    33,    63,     65,     255,           257,          1023,
    1024, 1025, 4095, 4097, 65537, 99999, 131071, 131073, (1 << 19) - 1, (1 << 20) + 1};
/// The embedded device steps a whole warp for a block of one thread or two, so that their largest
/// sizes took most of the matrix's time. There these sizes end at one that has more blocks than 16
/// bits count, and more than a capped grid has, so that its threads go round. Larger ones go round
/// again. Blocks of 31 threads and more take every size up to the last two, which are as much work
/// as all others and new to no block: one block takes them. On a GPU all blocks take all sizes.
constexpr unsigned kTinyBlock = 2, kLargestBlock = 256;
constexpr std::size_t kTinySizes = 1025, kTinyLargest = 65537, kLargest = (1 << 19) - 1;
/// Past 2^31 elements an int cannot index the input; checked on a GPU, where memory allows.
constexpr std::size_t kHuge = (std::size_t{1} << 31) + 12345;
constexpr const char* kHugeBlocks[] = {"32", "256", "1024"};
/// What a matrix should take on a GPU. It is printed and no condition: a slow machine isn't wrong.
constexpr int kBudgetSeconds = 25;

struct Outcome {
  int status;
  std::string out, error;
};

bool left_out(unsigned block, std::size_t n) {
  if (!book::on_embedded_device()) return false;
  if (block <= kTinyBlock) return n > kTinySizes && n != kTinyLargest;
  return n >= kLargest && block != kLargestBlock;
}

/// Runs the chapter's program with these arguments.
Outcome run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "matrix");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::ostringstream out, error;
  std::streambuf* const cout = std::cout.rdbuf(out.rdbuf());
  std::streambuf* const cerr = std::cerr.rdbuf(error.rdbuf());
  const int status = chapter_main(static_cast<int>(argv.size()), argv.data());
  std::cout.rdbuf(cout);
  std::cerr.rdbuf(cerr);
  return {status, out.str(), error.str()};
}

void show(const std::vector<std::string>& arguments, const Outcome& outcome) {
  std::printf("exit %d from:", outcome.status);
  for (const std::string& argument : arguments) std::printf(" %s", argument.c_str());
  std::printf("\n%s%s", outcome.out.c_str(), outcome.error.c_str());
}

/// The variants as `--list` has them, a number and a name on each line, and whether each is legacy.
std::map<std::string, bool> listed() {
  std::map<std::string, bool> legacy;
  std::istringstream lines(run({"--list"}).out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, name;
    words >> number >> name;
    legacy[name] = line.ends_with("legacy");
  }
  return legacy;
}

/// Runs the cases in a file up to the first that can't be, whose exit status it gives back. A wrong
/// result of a legacy form is only told: it has counts too, and a profiler may keep none for a
/// failure.
int run_cases(const char* path, bool go_on) {
  std::ifstream file(path);
  if (!file) {
    std::printf("%s can't be read\n", path);
    return 2;
  }
  const std::map<std::string, bool> legacy = listed();
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    const std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
    const Outcome outcome = run(arguments);
    if (outcome.status == 0) continue;
    // There is always a device then: the variant lacks something else that it needs.
    if (outcome.status == 77 && book::on_embedded_device()) continue;
    show(arguments, outcome);
    const auto named = std::ranges::find(arguments, "--variant");
    const bool faulty =
        arguments.end() - named > 1 && legacy.contains(named[1]) && legacy.at(named[1]);
    if (outcome.status != 1 || !(faulty || go_on)) return outcome.status;
  }
  return 0;
}

class Matrix {
 public:
  /// The legacy variants run only by name, and elsewhere.
  Matrix() {
    for (const auto& [name, legacy] : listed()) {
      if (!legacy) ran_[name] = 0;
    }
  }

  /// Whether there is a device: all variants, with all blocks and sizes.
  bool run_all() {
    for (const unsigned block : kBlocks) {
      const Since since(*this);
      for (const std::size_t n : kSizes) {
        if (left_out(block, n)) continue;
        const std::vector<std::string> arguments{"--once", "--block", std::to_string(block), "--n",
                                                 std::to_string(n)};
        const Outcome outcome = run(arguments);
        if (outcome.status == 77) {
          show(arguments, outcome);
          return false;
        }
        if (outcome.status == 0) {
          count(outcome.out);
        } else {
          ++failures_;
          show(arguments, outcome);
        }
      }
      since.tell("block " + std::to_string(block));
    }
    run_others();
    return true;
  }

  /// What takes none of these blocks, with its own.
  void run_others() {
    std::vector<std::string> others;
    for (const auto& [name, times] : ran_) {
      if (times == 0) others.push_back(name);
    }
    if (others.empty()) return;
    const Since since(*this);
    for (const std::string& name : others) {
      for (const std::size_t n : kSizes) {
        if (left_out(kBlocks[std::size(kBlocks) - 1], n)) continue;
        const std::vector<std::string> arguments{"--once", "--variant", name, "--n",
                                                 std::to_string(n)};
        const Outcome outcome = run(arguments);
        if (outcome.status == 0) {
          count(outcome.out);
        } else if (outcome.status != 2 && outcome.status != 77) {  // more than it takes here
          ++failures_;
          show(arguments, outcome);
        }
      }
    }
    since.tell("blocks of their own");
  }

  /// Each variant at the largest n, filled and compared by kernels: on the host this takes minutes.
  void run_huge() {
    book::fill_of_once = book::Fill::kKernel;
    for (const auto& [name, ignored] : ran_) {
      const Since since(*this);
      std::string refused;
      for (const char* block : kHugeBlocks) {
        const std::vector<std::string> arguments{
            "--once", "--variant", name, "--block", block, "--n", std::to_string(kHuge)};
        const Outcome outcome = run(arguments);
        if (outcome.status == 0) {
          count(outcome.out);
        } else if (outcome.status == 77) {
          refused = "; not here: " + outcome.error.substr(0, outcome.error.find('\n'));
        } else if (outcome.status == 2) {  // by the device's memory or the problem: no wrong kernel
          refused = "; not run: " + outcome.error.substr(0, outcome.error.find('\n'));
        } else {
          ++failures_;
          show(arguments, outcome);
        }
      }
      since.tell("n = " + std::to_string(kHuge) + ", " + name, refused);
    }
  }

  /// Says what was run; whether all of it was right, and each variant among it, but for those that
  /// say that this machine hasn't got what they need.
  bool end() {
    std::size_t variants = 0;
    std::size_t not_here = 0;
    for (const auto& [name, cases] : ran_) {
      if (cases > 0) {
        ++variants;
      } else if (run({"--once", "--n", "1", "--variant", name}).status == 77) {
        ++not_here;
      } else {
        std::printf("%s was not run in any case\n", name.c_str());
      }
    }
    if (not_here > 0) std::printf("%zu variants need what is not on this machine\n", not_here);
    std::printf("%zu of %zu variants, %zu cases, %d runs failed; %.1f s (budget on a GPU: %d s)\n",
                variants, ran_.size(), cases_, failures_, seconds_since(start_), kBudgetSeconds);
    return failures_ == 0 && variants + not_here == ran_.size() && variants > 0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// Cases and seconds of a part of the matrix, told when it ends: it never runs without a word.
  class Since {
   public:
    explicit Since(const Matrix& matrix) : matrix_(matrix), cases_(matrix.cases_) {}
    void tell(const std::string& part, const std::string& more = "") const {
      std::printf("%s: %zu cases, %.1f s%s\n", part.c_str(), matrix_.cases_ - cases_,
                  seconds_since(start_), more.c_str());
      std::fflush(stdout);
    }

   private:
    const Matrix& matrix_;
    std::size_t cases_;
    Clock::time_point start_ = Clock::now();
  };

  /// Counts a run's variants: the first words of its table's rows.
  void count(const std::string& out) {
    const std::size_t table = std::min(out.size(), out.find("\nvariant "));
    std::istringstream lines(out.substr(table, out.find("\n\n", table) - table));
    for (std::string line; std::getline(lines, line);) {
      const auto variant = ran_.find(line.substr(0, line.find(' ')));
      if (variant == ran_.end()) continue;
      ++variant->second;
      ++cases_;
    }
  }

  std::map<std::string, std::size_t> ran_;  // by variant: in how many cases
  std::size_t cases_ = 0;
  int failures_ = 0;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

int main(int argc, char** argv) {
  const bool go_on = argc == 3 && std::string(argv[2]) == "--go-on";
  if (argc == 2 || go_on) return run_cases(argv[1], go_on);
  Matrix matrix;
  if (!matrix.run_all()) return 77;
  if (!book::on_embedded_device()) matrix.run_huge();  // which would take it hours
  return matrix.end() ? 0 : 1;
}
