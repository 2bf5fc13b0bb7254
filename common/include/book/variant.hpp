/// \file
/// One way to solve a problem: its kernel, how it is launched, and all that tools ask about it.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "book/problem.hpp"
#include "book/report.hpp"
#include "book/timer.hpp"

namespace book {

/// Which blocks a variant takes: sizes from `low` to `high` that are multiples of `multiple_of`
/// and, where it says so, powers of two.
struct Blocks {
  unsigned low = 1, high = 1024;
  bool powers_of_two = false;
  unsigned multiple_of = 1;

  /// Whether it runs with this many threads per block.
  bool takes(unsigned block) const;
  /// The same in words, completing "takes …" in a message.
  std::string text() const;
  /// The size it gets where the user chose none: the nearest it takes that is no larger than
  /// `wanted`, else the smallest. Throws std::logic_error where it takes none from 1 to 1024.
  unsigned nearest(unsigned wanted) const;
};
Blocks any_block(unsigned low = 1, unsigned high = 1024);      ///< every size in [low, high]
Blocks powers_of_two(unsigned low = 1, unsigned high = 1024);  ///< 2^k in [low, high]
Blocks whole_warps();                                          ///< multiples of 32

/// Something that `--sweep` can go over: `n`, `block`, or a parameter. No values for n or block
/// mean the chapter's own (Defaults).
struct Axis {
  std::string name;
  std::vector<std::size_t> values = {};
};
/// 2^first, 2^(first + 1), … 2^last.
std::vector<std::size_t> powers(unsigned first, unsigned last);
/// The axes of a variant that no page shows along n or block: 2^28 elements, beside the others.
std::vector<Axis> at_large_n();

/// An n and a block at which a tool looks.
struct Point {
  std::size_t n = 0;
  unsigned block = 0;
};

/// What a variant's hardware counters can be held to.
enum class Counters {
  kExact,            ///< two launches count alike
  kLessArbitration,  ///< they do, once conflicts between warps that met by chance are taken off
  kNone              ///< not even then, so that nothing is counted
};

/// The n of a variant that counts something else than the book's elements: the rows of a matrix,
/// say, where twice the n is eight times the work.
struct Sizes {
  std::vector<std::size_t> usual = powers(24, 24);    ///< of a run that names no n, on a GPU
  std::size_t usual_embedded = std::size_t{1} << 20;  ///< and on the embedded device
  std::size_t most = ~std::size_t{0};                 ///< largest n on a GPU
  std::size_t most_embedded = ~std::size_t{0};        ///< and on the embedded device
};

/// As many blocks of this size as the current device holds at once by its thread count, and no more
/// than n elements need: the grid of a grid-stride loop.
unsigned resident_grid(std::size_t n, unsigned block);

/// How many blocks cover n elements when each takes `block * factor` of them.
/// Throws Error(kBadArgument) past 2^31 - 1, the largest grid.
unsigned grid_for(std::size_t n, unsigned block, std::size_t factor = 1);

/// The grid of a kernel that is launched with one block, whatever the n.
unsigned one_block(std::size_t n, unsigned block);
/// The grid of a library that launches kernels of its own: 0 blocks, and tables show neither blocks
/// nor threads.
unsigned library_grid(std::size_t n, unsigned block);

/// The kernel that a variant launches, by block (a template may differ with it); null for none.
using KernelFor = std::function<const void*(unsigned block)>;
/// A variant with one kernel, whatever the block.
template <class... Args>
KernelFor kernel(void (*function)(Args...)) {
  return [function](unsigned) { return reinterpret_cast<const void*>(function); };
}

/// What a variant queues, and the problem for which it does. Made by `launch`.
struct Launch {
  std::type_index type = typeid(void);             // of the problem …
  std::function<std::shared_ptr<Problem>()> make;  // … which a chapter makes once for each type
  std::function<void(Problem&, const Shape&)> queue;  // on the default stream, nothing else
  std::shared_ptr<Problem> problem = {};              // set where the problem is not shared
};

/// A launch on problem P: `queue` is called with a `P::Launch`. All variants of a chapter that say
/// the same P share one, and so its memory.
template <class P, class Queue>
Launch launch(Queue queue) {
  return {.type = typeid(P),
          .make = [] { return std::make_shared<P>(); },
          .queue =
              [queue = std::move(queue)](Problem& problem, const Shape& shape) {
                queue(static_cast<const P&>(problem).launch(shape));
              }};
}
/// The same on a problem of the variant's own.
template <class P, class Queue>
Launch launch(std::shared_ptr<P> problem, Queue queue) {
  Launch made = launch<P>(std::move(queue));
  made.problem = std::move(problem);
  return made;
}

/// One way to solve a problem: a kernel and how it is launched.
struct Variant {
  std::string name;         ///< as `--variant` takes it
  std::string from = {};    ///< chapter that teaches the kernel; empty for this one
  std::string region = {};  ///< marker of its listing; empty when it is `name`
  KernelFor kernel = {};    ///< for registers and local bytes; empty for several kernels
  Blocks blocks = {};       ///< the blocks it takes
  /// The block it gets unless you choose one; empty for the chapter's.
  std::optional<unsigned> block = {};
  std::size_t factor = 1;  ///< elements of a block: factor × block
  /// Overrides `factor` where the grid isn't n / (block × factor), as in a grid-stride loop.
  std::function<unsigned(std::size_t n, unsigned block)> grid = {};
  /// Dynamic shared memory in bytes; empty for none.
  std::function<std::size_t(unsigned block)> shared_bytes = {};
  bool destroys_input = false;             ///< the input must be filled again before each launch
  bool legacy = false;                     ///< classic faulty form: only by name, one per process
  std::vector<std::string> findings = {};  ///< what compute-sanitizer must report: tool names
  Params params = {};                      ///< whatever else tells its runs apart
  Timing timing = {};                      ///< how it is timed, where that is the point
  bool fixed_cache = false;                ///< timing.cache holds whatever `--warm` says
  std::optional<Sizes> sizes = {};         ///< the n that it takes; empty for the book's
  int capability = 0;  ///< 90 if it needs compute capability 9.0: left out on what has less
  /// Devices that it runs on: left out where there are fewer. Of several processes each brings one,
  /// and what runs on another number is left out.
  unsigned devices = 1;
  /// Why it can't run here, asked once the device is chosen; empty where it can.
  std::function<std::string()> missing = {};
  bool embedded = true;  ///< false where it needs what the embedded device hasn't got
  std::vector<Axis> axes = {{"n"}, {"block"}};  ///< what `--sweep` takes it over
  Counters counters = Counters::kExact;         ///< what its hardware counters can be held to
  /// False where the embedded device counts otherwise: it stops the launch at a fault, or the code
  /// is none of the book's.
  bool compared = true;
  /// False where profilers need not look: another variant has the same kernels in the same way.
  bool profiled = true;
  std::vector<Point> counted = {};    ///< where profilers look; empty for the chapter's points
  std::optional<Point> checked = {};  ///< where compute-sanitizer does; empty for the chapter's
  Launch launch;                      ///< made by `book::launch`

  /// The values of the axis of that name; null where it has none.
  const Axis* axis(const std::string& axis_name) const;
};

/// One variant for each value of an axis that is a parameter: whatever `make` makes of the value,
/// with the value in its params.
template <class Make>
std::vector<Variant> family(const Axis& axis, const Make& make) {
  std::vector<Variant> variants;
  for (const std::size_t value : axis.values) {
    Variant v = make(static_cast<unsigned>(value));
    v.params.insert(v.params.begin(), {axis.name, static_cast<std::int64_t>(value)});
    v.axes.push_back(axis);
    variants.push_back(std::move(v));
  }
  return variants;
}
/// The same where the value is an argument of a template: `decltype(value)::value` in
/// `make(auto value)`.
template <unsigned... Values, class Make>
std::vector<Variant> family(const std::string& name, const Make& make) {
  std::vector<Variant> made;
  (made.push_back(make(std::integral_constant<unsigned, Values>{})), ...);
  std::size_t next = 0;
  return family(Axis{name, {Values...}}, [&](unsigned) { return std::move(made[next++]); });
}

/// The same where the value is the size of a type in bytes: `decltype(type)::type` in
/// `make(auto type)`.
template <class... Types, class Make>
std::vector<Variant> family_of_types(const std::string& name, const Make& make) {
  std::vector<Variant> made;
  (made.push_back(make(std::type_identity<Types>{})), ...);
  std::size_t next = 0;
  return family(Axis{name, {sizeof(Types)...}}, [&](unsigned) { return std::move(made[next++]); });
}

}  // namespace book
