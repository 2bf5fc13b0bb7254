/// \file
/// The driver: a chapter names its variants and their launches; the driver checks, times, sweeps
/// and reports them. It knows nothing of sums: a Problem says what is prepared and what is right.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "book/check.hpp"
#include "book/device.hpp"
#include "book/input.hpp"
#include "book/report.hpp"
#include "book/timer.hpp"

namespace book {

/// One case of one variant: how much, and in what shape it is launched.
struct Shape {
  std::size_t n = 0;             ///< elements
  unsigned block = 0;            ///< threads a block
  unsigned grid = 0;             ///< blocks
  std::size_t shared_bytes = 0;  ///< dynamic shared memory, bytes a block
};

/// Useful bytes of one launch: what the method must read and write, not what the memory moved.
struct UsefulBytes {
  std::size_t read = 0;
  std::size_t written = 0;
};

/// Something to compute: its memory, its answer, its useful bytes.
///
/// The driver calls `prepare` for a shape, then any number of launches, with `poison` and, for
/// variants that destroy their input, `restore` before each one that is checked. Of several
/// problems one at a time holds device memory.
class Problem {
 public:
  virtual ~Problem() = default;
  /// Device memory that `prepare` will take, in bytes.
  virtual std::size_t device_bytes(const Shape& shape) const = 0;
  /// Refuses a shape whose result could not be right (throws Error, kBadArgument).
  virtual void accept(const Shape& shape) const = 0;
  /// Allocates and fills. Called again for every shape; may keep what fits.
  virtual void prepare(const Shape& shape, std::uint64_t seed, Fill fill) = 0;
  /// Frees the device memory, for another problem's turn; `prepare` is called again before use.
  virtual void release() {}
  /// Puts back an input that a launch destroyed.
  virtual void restore() = 0;
  /// Makes every output unmistakably wrong.
  virtual void poison() = 0;
  /// Compares the outputs of the last launch with the reference.
  virtual Verdict check() = 0;
  /// What the method must move for this shape.
  virtual UsefulBytes useful_bytes(const Shape& shape) const = 0;
};

/// Which blocks a variant takes. `text` completes "takes …" in a message.
struct Blocks {
  std::function<bool(unsigned)> takes;
  std::string text;
};
Blocks any_block(unsigned low = 1, unsigned high = 1024);      ///< every size in [low, high]
Blocks powers_of_two(unsigned low = 1, unsigned high = 1024);  ///< 2^k in [low, high]

/// As many blocks of this size as the current device holds at once by its thread count, and no more
/// than n elements need: the grid of a grid-stride loop.
unsigned resident_grid(std::size_t n, unsigned block);

/// How many blocks cover n elements when each takes `block * factor` of them.
/// Throws Error(kBadArgument) past 2^31 - 1, the largest grid.
unsigned grid_for(std::size_t n, unsigned block, std::size_t factor = 1);

/// The kernel that a variant launches, by block (a template may differ with it); null for none.
using KernelFor = std::function<const void*(unsigned block)>;
/// A variant with one kernel, whatever the block.
template <class... Args>
KernelFor kernel(void (*function)(Args...)) {
  return [function](unsigned) { return reinterpret_cast<const void*>(function); };
}

/// The n of a variant that does not go with the book's: rows of a matrix, say, where twice the n is
/// eight times the work. Sweeps leave it out; other n are taken up to the most.
struct Sizes {
  std::vector<std::size_t> usual;    ///< what a run takes that names no n; on a GPU
  std::size_t usual_embedded = 0;    ///< and on the embedded device
  std::size_t most = 0;              ///< largest n on a GPU
  std::size_t most_embedded = 0;     ///< and on the embedded device
  std::vector<std::size_t> counted;  ///< where profilers look; the last is small
};

namespace detail {
/// A Variant whose problem's type is forgotten.
struct AnyVariant {
  std::string name, from, region;
  KernelFor kernel;
  Blocks blocks;
  std::function<unsigned(std::size_t n, unsigned block)> grid;
  std::function<std::size_t(unsigned block)> shared_bytes;
  bool destroys_input = false;
  bool legacy = false;
  std::vector<std::string> findings;
  Params params;
  Timing timing;
  bool fixed_cache = false;
  bool sized = true;
  bool shaped = true;
  bool profiled = true;
  bool steady = true;
  std::optional<Sizes> sizes;
  Problem* problem = nullptr;
  std::function<void(const Shape&)> launch;
};
}  // namespace detail

/// One way to solve problem P: a kernel and how it is launched.
template <class P>
struct Variant {
  std::string name;         ///< as `--variant` takes it
  std::string from = {};    ///< chapter that teaches the kernel; empty for this one
  std::string region = {};  ///< marker of its listing; empty when it is `name`
  KernelFor kernel = {};    ///< for registers and local bytes
  Blocks blocks = any_block();
  std::size_t factor = 1;  ///< elements of a block: factor × block
  /// Overrides `factor` where the grid isn't n / (block × factor), as in a grid-stride loop. 0
  /// blocks where a library launches kernels of its own: the table shows neither blocks nor
  /// threads.
  std::function<unsigned(std::size_t n, unsigned block)> grid = {};
  /// Dynamic shared memory in bytes; empty for none.
  std::function<std::size_t(unsigned block)> shared_bytes = {};
  bool destroys_input = false;             ///< the input must be filled again before each launch
  bool legacy = false;                     ///< classic faulty form: only by name, one a process
  std::vector<std::string> findings = {};  ///< what compute-sanitizer must report: tool names
  Params params = {};                      ///< whatever else tells its runs apart
  Timing timing = {};                      ///< how it is timed, where that is the point
  bool fixed_cache = false;                ///< timing.cache holds whatever `--warm` says
  bool sized = true;                       ///< `--sweep n` takes it, too
  bool shaped = true;                      ///< and so does `--sweep block`
  /// False where profilers need not look: another variant has the same kernels in the same way.
  bool profiled = true;
  bool steady = true;  ///< false where two launches need not count alike: nothing is counted then
  std::optional<Sizes> sizes = {};                        ///< where its n are its own
  std::function<void(const typename P::Launch&)> launch;  ///< queues the work, nothing else
};

/// What a chapter's program does unless told otherwise.
struct Defaults {
  unsigned block = 256;                        ///< threads a block
  std::size_t first_n = std::size_t{1} << 10;  ///< where `--sweep n` begins
};

/// A chapter's program: `add` its variants, then `run`.
class Chapter {
 public:
  /// \param name   the folder's name, e.g. "chapter02_smem"
  /// \param title  one line
  /// \param next   what to look at next, printed under the table
  Chapter(std::string name, std::string title, std::string next = {}, Defaults defaults = {});

  /// Adds one way to solve problem P. All variants of one problem share its memory.
  template <class P>
  void add(Variant<P> v) {
    std::unique_ptr<Problem>& owned = problems_[typeid(P)];
    if (!owned) owned = std::make_unique<P>();
    P& problem = static_cast<P&>(*owned);
    add_any(
        {.name = v.name,
         .from = v.from,
         .region = v.region.empty() ? v.name : v.region,
         .kernel = std::move(v.kernel),
         .blocks = std::move(v.blocks),
         .grid = v.grid ? std::move(v.grid)
                        : [factor = v.factor](
                              std::size_t n, unsigned block) { return grid_for(n, block, factor); },
         .shared_bytes = std::move(v.shared_bytes),
         .destroys_input = v.destroys_input,
         .legacy = v.legacy,
         .findings = std::move(v.findings),
         .params = std::move(v.params),
         .timing = v.timing,
         .fixed_cache = v.fixed_cache,
         .sized = v.sized,
         .shaped = v.shaped,
         .profiled = v.profiled,
         .steady = v.steady,
         .sizes = std::move(v.sizes),
         .problem = &problem,
         .launch = [&problem, launch = std::move(v.launch)](
                       const Shape& shape) { launch(problem.launch(shape)); }});
  }

  /// The whole program: reads the command line, runs, reports. Returns the exit status and never
  /// throws; every failure is one line on standard error.
  int run(int argc, const char* const* argv);

 private:
  void add_any(detail::AnyVariant variant);
  std::string name_, title_, next_;
  Defaults defaults_;
  std::map<std::type_index, std::unique_ptr<Problem>> problems_;  // one of each type
  std::vector<detail::AnyVariant> variants_;
};

}  // namespace book
