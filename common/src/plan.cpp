#include "book/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace book {
namespace {

constexpr std::size_t kDefaultN = std::size_t{1} << 24;
constexpr std::size_t kEmbeddedDefaultN = std::size_t{1} << 20;
/// The n of `--sweep block`, and how far it is halved where memory is short.
constexpr std::size_t kSweepBlockN = std::size_t{1} << 28;
constexpr std::size_t kLeastSweepBlockN = std::size_t{1} << 10;

Shape shape_of(const Variant& v, std::size_t n, unsigned block) {
  return {.n = n,
          .block = block,
          .grid = v.grid(n, block),
          .shared_bytes = v.shared_bytes ? v.shared_bytes(block) : 0};
}

/// Why a variant does not run with a block.
std::string refusal(const Variant& v, unsigned block) {
  return fmt::format("--block {}: {} takes {}", block, v.name, v.blocks.text());
}

/// One plan while it is made.
class Planner {
 public:
  Planner(const std::vector<const Variant*>& chosen, const Options& options,
          const Defaults& defaults, const Device& device, std::size_t free_bytes, unsigned ranks)
      : chosen_(chosen),
        options_(options),
        defaults_(defaults),
        device_(device),
        free_bytes_(free_bytes),
        ranks_(ranks) {}

  Plan made() {
    const bool some = !chosen_.empty();
    leave_out_newer();
    leave_out_by_devices();
    leave_out_missing();
    if (some && chosen_.empty()) {
      throw not_available(fmt::format("{}", fmt::join(plan_.notes, "; ")));
    }
    const bool rest = options_.sweep == kOtherShapes;
    const bool all = rest || options_.sweep == kEveryShape;
    if (all || (options_.sweep != "n" && options_.sweep != "block")) as_usual();
    const auto usual = static_cast<std::ptrdiff_t>(plan_.cases.size());
    if (all || options_.sweep == "n") over_n();
    if (all || options_.sweep == "block") over_blocks();
    if (rest) plan_.cases.erase(plan_.cases.begin(), plan_.cases.begin() + usual);
    if (plan_.cases.empty()) {
      throw bad_argument(plan_.notes.empty() ? "no variant can run so"
                                             : fmt::format("{}", fmt::join(plan_.notes, "; ")));
    }
    return std::move(plan_);
  }

 private:
  /// Leaves out what this device is too old for, and says so.
  void leave_out_newer() {
    const int here = 10 * device_.major + device_.minor;
    std::map<int, std::vector<std::string>> newer;
    std::erase_if(chosen_, [&](const Variant* v) {
      if (v->capability > here) newer[v->capability].push_back(v->name);
      return v->capability > here;
    });
    for (const auto& [needed, names] : newer) {
      const std::string more =
          names.size() == 1 ? " needs" : fmt::format(" and {} more need", names.size() - 1);
      note(fmt::format("left out: {}{} compute capability {}.{}; {} has {}.{}", names[0], more,
                       needed / 10, needed % 10, device_.name, device_.major, device_.minor));
    }
  }

  /// Leaves out what runs on more devices than there are, or on another number than ranks brought.
  void leave_out_by_devices() {
    const auto here = static_cast<unsigned>(device_.count);
    std::vector<std::string> names;
    std::erase_if(chosen_, [&](const Variant* v) {
      const bool out = ranks_ > 1 ? v->devices != ranks_ : v->devices > here;
      if (out) names.push_back(v->name);
      return out;
    });
    if (names.empty()) return;
    const std::string which =
        names.size() == 1 ? names[0] : fmt::format("{} and {} more", names[0], names.size() - 1);
    note(ranks_ > 1 ? fmt::format("left out: {}: not for the GPUs of {} processes", which, ranks_)
                    : fmt::format("left out: {}: for more GPUs than the {} here", which, here));
  }

  /// Leaves out what says that something is missing.
  void leave_out_missing() {
    std::map<std::string, std::vector<std::string>> by_reason;
    std::erase_if(chosen_, [&](const Variant* v) {
      const std::string why = v->missing ? v->missing() : "";
      if (!why.empty()) by_reason[why].push_back(v->name);
      return !why.empty();
    });
    for (const auto& [why, names] : by_reason) {
      const std::string more =
          names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1);
      note(fmt::format("left out: {}{}: {}", names[0], more, why));
    }
  }

  /// Each variant at its usual size; of a sweep over a parameter those that have it.
  void as_usual() {
    for (const Variant* v : chosen_) {
      const bool by_parameter = !options_.sweep.empty() && options_.sweep != kEveryShape &&
                                options_.sweep != kOtherShapes;
      if (by_parameter && v->axis(options_.sweep) == nullptr) continue;
      const unsigned block = block_of(*v);
      if (!takes(*v, block)) continue;
      for (const std::size_t n : sizes_of(*v)) {
        if (!takes_n(*v, n)) continue;
        const Shape shape = shape_of(*v, n, block);
        if (!shared_fits(*v, shape)) continue;
        if (!fits(*v, shape)) {
          throw bad_argument(fmt::format("--n {}: needs {} of device memory, and {} are free on {}",
                                         count_text(n), bytes_text(problem(*v).device_bytes(shape)),
                                         bytes_text(free_bytes_), device_.name));
        }
        problem(*v).accept(shape);
        plan_.cases.push_back({v, shape});
      }
    }
  }

  void over_n() {
    for (const std::size_t n : values("n")) {
      for (const Variant* v : chosen_) {
        if (!has(*v, "n", n)) continue;
        const unsigned block = block_of(*v);
        if (takes(*v, block)) add_if_fits(*v, n, block);
      }
    }
  }

  void over_blocks() {
    const std::size_t n = options_.n.value_or(largest_n());
    for (const std::size_t value : values("block")) {
      const auto block = static_cast<unsigned>(value);
      for (const Variant* v : chosen_) {
        if (has(*v, "block", value) && v->blocks.takes(block)) add_if_fits(*v, n, block);
      }
    }
  }

  /// Every value that some chosen variant's axis has, in order.
  std::set<std::size_t> values(const std::string& name) const {
    std::set<std::size_t> all;
    for (const Variant* v : chosen_) {
      if (const Axis* axis = v->axis(name)) all.insert(axis->values.begin(), axis->values.end());
    }
    return all;
  }

  static bool has(const Variant& v, const std::string& name, std::size_t value) {
    const Axis* axis = v.axis(name);
    return axis != nullptr && std::ranges::find(axis->values, value) != axis->values.end();
  }

  static const Problem& problem(const Variant& v) { return *v.launch.problem; }

  unsigned usual_block(const Variant& v) const {
    return v.blocks.nearest(v.block.value_or(defaults_.block));
  }
  unsigned block_of(const Variant& v) const { return options_.block.value_or(usual_block(v)); }

  void note(const std::string& text) {
    if (std::ranges::find(plan_.notes, text) == plan_.notes.end()) plan_.notes.push_back(text);
  }

  /// Whether v runs with a block; where not, the notes say so.
  bool takes(const Variant& v, unsigned block) {
    if (v.blocks.takes(block)) return true;
    note(refusal(v, block));
    return false;
  }

  /// The n at which a variant runs: what was asked for, else its own.
  std::vector<std::size_t> sizes_of(const Variant& v) const {
    if (options_.n) return {*options_.n};
    return device_.embedded ? std::vector{v.sizes->usual_embedded} : v.sizes->usual;
  }

  /// Whether v runs with so large an n here; where not, the notes say so.
  bool takes_n(const Variant& v, std::size_t n) {
    const std::size_t most = device_.embedded ? v.sizes->most_embedded : v.sizes->most;
    if (n <= most) return true;
    note(fmt::format("--n {}: {} takes n up to {} on {}", count_text(n), v.name, count_text(most),
                     device_.name));
    return false;
  }

  /// Whether a block may have so much shared memory here; where not, the notes say so.
  bool shared_fits(const Variant& v, const Shape& shape) {
    if (shape.shared_bytes <= std::max(device_.shared_optin, device_.shared_per_block)) return true;
    note(fmt::format("left out: {} needs {} of shared memory per block; {} has {}", v.name,
                     bytes_text(shape.shared_bytes), device_.name,
                     bytes_text(device_.shared_optin)));
    return false;
  }

  bool fits(const Variant& v, const Shape& shape) const {
    return problem(v).device_bytes(shape) <= free_bytes_;
  }

  /// Whether the plan has that shape already: axes cross, and they pass the usual run.
  bool planned(const Variant& v, std::size_t n, unsigned block) const {
    return std::ranges::any_of(plan_.cases, [&](const Case& c) {
      return c.variant == &v && c.shape.n == n && c.shape.block == block;
    });
  }

  /// Sweeps go as far as the device does, and say where they stopped.
  void add_if_fits(const Variant& v, std::size_t n, unsigned block) {
    if (planned(v, n, block) || !takes_n(v, n)) return;
    const Shape shape = shape_of(v, n, block);
    if (!shared_fits(v, shape)) return;
    if (!fits(v, shape)) {
      note(fmt::format("left out: n = {} needs more memory than is free", count_text(n)));
      return;
    }
    try {
      problem(v).accept(shape);
    } catch (const Error& refused) {
      note(fmt::format("left out: {}: {}", v.name, refused.what()));
      return;
    }
    plan_.cases.push_back({&v, shape});
  }

  /// The block sweep's n: 2^28, or the largest smaller power of two that every variant fits in.
  std::size_t largest_n() const {
    std::size_t n = kSweepBlockN;
    const auto all_fit = [&] {
      return std::ranges::all_of(chosen_, [&](const Variant* v) {
        return v->axis("block") == nullptr || fits(*v, shape_of(*v, n, usual_block(*v)));
      });
    };
    while (n > kLeastSweepBlockN && !all_fit()) n /= 2;
    return n;
  }

  std::vector<const Variant*> chosen_;
  const Options& options_;
  const Defaults& defaults_;
  const Device& device_;
  std::size_t free_bytes_;
  unsigned ranks_;
  Plan plan_;
};

/// The chapter's points with a block that the variant takes: its only one in the place of any.
std::vector<Point> counted_points(const Blocks& blocks, const std::vector<Point>& chapters) {
  std::vector<Point> points;
  for (Point p : chapters) {
    if (blocks.low == blocks.high) p.block = blocks.low;
    const bool again = std::ranges::any_of(
        points, [&p](const Point& q) { return q.n == p.n && q.block == p.block; });
    if (blocks.takes(p.block) && !again) points.push_back(p);
  }
  return points;
}

}  // namespace

Variant completed(Variant v, const std::string& chapter, const Defaults& defaults) {
  if (!v.launch.queue) throw std::logic_error(fmt::format("{} launches nothing", v.name));
  const unsigned checked = v.blocks.nearest(defaults.checked.block);  // throws where it takes none
  if (v.from.empty()) v.from = chapter;
  if (v.region.empty()) v.region = v.name;
  if (!v.grid) {
    v.grid = [factor = v.factor](std::size_t n, unsigned block) {
      return grid_for(n, block, factor);
    };
  }
  for (Axis& axis : v.axes) {
    if (axis.values.empty() && axis.name == "n") axis.values = defaults.n;
    if (axis.name != "block") continue;
    if (axis.values.empty()) axis.values = defaults.blocks;
    std::erase_if(axis.values, [&v](std::size_t block) {
      return !v.blocks.takes(static_cast<unsigned>(block));
    });
  }
  std::erase_if(v.axes, [](const Axis& axis) { return axis.values.empty(); });
  if (v.counted.empty()) v.counted = counted_points(v.blocks, defaults.counted);
  if (!v.sizes) v.sizes = Sizes{};
  if (!v.checked) v.checked = Point{defaults.checked.n, checked};
  return v;
}

std::vector<std::string> axes_of(const std::vector<Variant>& variants) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const char* first : {"n", "block"}) {
    const auto has = [first](const Variant& v) { return v.axis(first) != nullptr; };
    if (std::ranges::any_of(variants, has)) add(first);
  }
  for (const Variant& v : variants) {
    for (const Axis& axis : v.axes) add(axis.name);
  }
  return names;
}

std::vector<const Variant*> choose(const std::vector<Variant>& variants, const Options& options) {
  std::vector<const Variant*> chosen;
  if (options.variants.empty()) {
    for (const Variant& v : variants) {
      if (!v.legacy) chosen.push_back(&v);
    }
    return chosen;
  }
  for (const std::string& name : options.variants) {
    // The command line has refused names that aren't there.
    chosen.push_back(&*std::ranges::find(variants, name, &Variant::name));
  }
  for (const Variant* v : chosen) {
    if (v->legacy && chosen.size() > 1) {
      throw bad_argument(fmt::format(
          "--variant {}: a legacy form may spoil what runs after it; name it alone", v->name));
    }
  }
  if (options.block) {
    for (const Variant* v : chosen) {
      if (!v->blocks.takes(*options.block)) throw bad_argument(refusal(*v, *options.block));
    }
  }
  return chosen;
}

Plan make_plan(const std::vector<const Variant*>& chosen, const Options& options,
               const Defaults& defaults, const Device& device, std::size_t free_bytes,
               unsigned ranks) {
  return Planner(chosen, options, defaults, device, free_bytes, ranks).made();
}

std::size_t default_n(const Device& device) {
  return device.embedded ? kEmbeddedDefaultN : kDefaultN;
}

}  // namespace book
