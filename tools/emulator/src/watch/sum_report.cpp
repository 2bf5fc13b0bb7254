// What the host has read back, held to hold each element of the data once.
#include <cxxabi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "watch/check.hpp"
#include "watch/kernel_name.hpp"
#include "watch/sums.hpp"

namespace emu {
namespace {

using Node = Sums::Node;
using Kind = SumForms::Kind;

constexpr std::uint64_t kMostVisited = 60'000'000;  // nodes, of all outputs together
constexpr std::size_t kMostStories = 3;

std::string plural(std::uint64_t n, const std::string& thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

/// A run of numbers: from `first` on, `count` of them, each `step` after the one before.
struct Run {
  std::uint64_t first = 0, count = 0, step = 1;
  std::uint64_t last() const { return first + (count - 1) * step; }
};

/// Numbers in order as runs, which may have steps where they are long.
std::vector<Run> runs_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i + 1;
    const std::uint64_t step = j < numbers.size() ? numbers[j] - numbers[i] : 1;
    while (j < numbers.size() && numbers[j] - numbers[j - 1] == step) ++j;
    if (step != 1 && j - i < 4) j = i + 1;
    runs.push_back({numbers[i], j - i, j - i == 1 ? 1 : step});
    i = j;
  }
  return runs;
}

std::string text_of(const Run& run) {
  if (run.count == 1) return std::to_string(run.first);
  if (run.step == 1) {
    return std::to_string(run.first) + (run.count == 2 ? ", " : " … ") + std::to_string(run.last());
  }
  return std::to_string(run.first) + ", " + std::to_string(run.first + run.step) + " … " +
         std::to_string(run.last());
}

/// "element 7", "elements 96 … 127, 200 and 45 others".
std::string elements_in_words(const std::vector<std::uint64_t>& numbers) {
  const std::vector<Run> runs = runs_of(numbers);
  std::string text = numbers.size() == 1 ? "element " : "elements ";
  std::uint64_t told = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(runs.size(), 4); ++i) {
    text += (i ? ", " : "") + text_of(runs[i]);
    told += runs[i].count;
  }
  if (told < numbers.size()) text += " and " + plural(numbers.size() - told, "other");
  return text;
}

std::string times_in_words(double times) {
  if (times == 2) return "twice";
  char text[32];
  std::snprintf(text, sizeof text, "%g times", times);
  return text;
}

/// One number as a linear form.
struct Form {
  bool is_sum = true;
  std::uint32_t lost_at = 0;  ///< a site, where it is none
  double constant = 0;
  bool floating = false, widened = false;
  std::uint64_t elements = 0;
};

/// An element's part in an output.
struct Leaf {
  std::uint32_t output, offset;
  std::uint8_t bytes;
  double factor;
};

class Judge {
 public:
  Judge(const Sums& sums, SumWalks& walks, std::vector<SumOutput> outputs, bool raced,
        Findings& findings)
      : sums_(sums),
        forms_(sums.forms),
        raced_(raced),
        findings_(findings),
        factor_(walks.factor),
        stamp_(walks.stamp),
        now_(walks.now) {
    factor_.resize(sums.forms.size());
    stamp_.resize(sums.forms.size());
    const std::uint32_t before = now_;
    // Those that are made last may hold others, which are then no results of their own.
    std::stable_sort(outputs.begin(), outputs.end(),
                     [](const SumOutput& a, const SumOutput& b) { return a.node > b.node; });
    for (const SumOutput& o : outputs) {
      if (forms_[o.node].from && stamp_[o.node] <= before) take(o);
    }
    // What is read back as it was put there was copied by the last kernel.
    if (launches_.empty() && !sums.launches.empty()) launches_.insert(sums.launches.size() - 1);
  }

  void say() {
    // What a kernel leaves that was stopped on the way means nothing.
    if (std::ranges::any_of(launches_,
                            [&](std::size_t l) { return !sums_.launches[l].finished; })) {
      return;
    }
    describe_others();
    for (auto& [region, leaves] : leaves_) {
      std::set<std::uint32_t> targets;
      for (const Leaf& leaf : leaves) targets.insert(outputs_[leaf.output].region);
      const bool several = targets.size() > 1;
      if (say_of(region, leaves, !several)) continue;
      if (!several) {
        describe_several(region, leaves);
        continue;
      }
      for (const std::uint32_t target : targets) {  // sums of one thing, made several times
        std::vector<Leaf> its;
        for (const Leaf& leaf : leaves) {
          if (outputs_[leaf.output].region == target) its.push_back(leaf);
        }
        if (!say_of(region, its, true)) describe_several(region, its);
      }
    }
  }

 private:
  // --- forms ---------------------------------------------------------------------------------

  /// Walks from an output back to the elements.
  void take(const SumOutput& output) {
    const auto number = static_cast<std::uint32_t>(outputs_.size());
    outputs_.push_back(output);
    Form form;
    if (visited_ > kMostVisited) {
      form.is_sum = false;
      cut_ = true;
      parts_.push_back(form);
      return;
    }
    std::vector<Node> nodes{output.node};
    ++now_;
    const auto reach = [&](Node n) {
      if (n == 0 || stamp_[n] == now_) return;
      stamp_[n] = now_;
      factor_[n] = 0;
      nodes.push_back(n);
    };
    stamp_[output.node] = now_;
    factor_[output.node] = 1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto [a, b] = forms_.parts(nodes[i]);
      reach(a);
      reach(b);
    }
    visited_ += nodes.size();
    std::ranges::sort(nodes, std::greater<>());
    std::vector<Leaf> found;
    std::map<std::uint32_t, std::vector<Leaf>> by_region;
    std::map<Node, std::vector<Piece>> pieces;
    for (const Node n : nodes) {
      const SumForms::Entry& e = forms_[n];
      if (const auto cut = pieces.find(n); cut != pieces.end()) put_together(n, cut->second, form);
      const double f = factor_[n];
      note_launch(e.block, e.kind);
      switch (e.kind) {
        case Kind::kInput:
          by_region[e.a].push_back({number, e.b, e.size, f});
          ++form.elements;
          break;
        case Kind::kAdd:
          form.floating |= e.floating;
          factor_[e.a] += f;
          factor_[e.b] += f;
          break;
        case Kind::kScale:
          form.widened |= std::abs(forms_.constant(e.b)) < 1;
          factor_[e.a] += f * forms_.constant(e.b);
          break;
        case Kind::kPlus:
          form.constant += f * forms_.constant(e.b);
          factor_[e.a] += f;
          break;
        case Kind::kWiden:
          form.widened = true;
          factor_[e.a] += f;
          break;
        case Kind::kPiece: pieces[e.a].push_back({e.b, e.size, f, e.site}); break;
        case Kind::kJoin:
          if (e.a && e.b) lose(form, e.site);
          if (e.a) factor_[e.a] += f;
          if (e.b) {
            lose(form, e.site);
            factor_[e.b] += f;
          }
          break;
        default: lose(form, e.site);
      }
    }
    if (form.is_sum) {
      for (auto& [region, leaves] : by_region) {
        std::ranges::copy(leaves, std::back_inserter(leaves_[region]));
      }
    }
    parts_.push_back(form);
  }

  /// Pieces of a value, each times what its place is worth, are the value.
  struct Piece {
    unsigned offset, bits;
    double factor;
    std::uint32_t site;
  };
  void put_together(Node n, std::vector<Piece>& pieces, Form& form) {
    std::ranges::sort(pieces, {}, &Piece::offset);
    const double unit = pieces[0].factor;
    unsigned at = 0;
    for (const Piece& p : pieces) {
      if (p.offset != at || p.factor != std::ldexp(unit, static_cast<int>(at))) {
        return lose(form, p.site);
      }
      at += p.bits;
    }
    const SumForms::Entry& e = forms_[n];
    const bool all = at == 32 || at == 64 || (e.kind == Kind::kInput && at >= 8u * e.size);
    if (!all) return lose(form, pieces.back().site);
    factor_[n] += unit;
  }

  static void lose(Form& form, std::uint32_t site) {
    if (form.is_sum) form.lost_at = site;
    form.is_sum = false;
  }

  std::size_t launch_of(std::uint32_t block) const {
    const auto after =
        std::upper_bound(sums_.launches.begin(), sums_.launches.end(), block,
                         [](std::uint32_t b, const Sums::Launch& l) { return b < l.first_block; });
    return after == sums_.launches.begin()
               ? 0
               : static_cast<std::size_t>(after - sums_.launches.begin()) - 1;
  }
  void note_launch(std::uint32_t block, Kind kind) {
    if (kind == Kind::kInput || block == last_block_) return;
    last_block_ = block;
    launches_.insert(launch_of(block));
  }

  // --- names ---------------------------------------------------------------------------------

  const Sums::Region* region(std::uint32_t number) const { return sums_.by_number[number]; }
  std::string name(std::uint32_t number) const {
    const Sums::Region* const r = region(number);
    const std::string& what = r->allocation.what;
    if (r->allocation.kind == Allocation::Kind::kVariable) return what.substr(what.rfind(' ') + 1);
    // A session may have named it; the names that the runtime gives are those of its functions.
    if (!what.starts_with("cuda") && what.find(' ') == what.npos) return what;
    if (r->kernel.empty()) return what + " number " + std::to_string(number + 1);
    if (!launches_.empty()) {
      const auto& own = sums_.launches[*launches_.rbegin()].arguments;
      if (const auto at = own.find(number); at != own.end()) {
        return "argument " + std::to_string(at->second);
      }
    }
    return "argument " + std::to_string(r->argument) + " of " + short_name(r->kernel);
  }
  /// Of the last launch that had a part in the outputs.
  std::string kernel() const {
    return launches_.empty() ? "" : sums_.launches[*launches_.rbegin()].kernel;
  }
  static std::string short_name(const std::string& mangled) {
    std::string whole = kernel_name(mangled);
    constexpr std::string_view kUnnamed = "<unnamed>::";
    while (whole.find(kUnnamed) != whole.npos) whole.erase(whole.find(kUnnamed), kUnnamed.size());
    whole.resize(std::min(whole.find('<'), whole.find('(')));
    return whole.substr(whole.find_last_of(": ") + 1);
  }
  std::string places_of(const std::vector<Leaf>& leaves) const {
    std::map<std::uint32_t, std::set<std::uint64_t>> places;
    for (const Leaf& leaf : leaves) {
      const SumOutput& o = outputs_[leaf.output];
      places[o.region].insert(o.offset / o.bytes);
    }
    std::string text;
    for (const auto& [number, all] : places) {
      const std::vector<std::uint64_t> numbers(all.begin(), all.end());
      const std::vector<Run> runs = runs_of(numbers);
      text += (text.empty() ? "" : " and ") + name(number) + "[" + text_of(runs[0]) +
              (runs.size() > 1 ? ", " + text_of(runs[1]) : "") + (runs.size() > 2 ? ", …" : "") +
              "]";
    }
    return text;
  }

  // --- judging -------------------------------------------------------------------------------

  void describe_others() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> others;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!parts_[i].is_sum) ++others[{outputs_[i].region, parts_[i].lost_at}];
    }
    for (const auto& [where, count] : others) {
      std::vector<std::string> details;
      if (where.second)
        details.push_back("what " + sums_.sites[where.second] + " makes of them isn't a sum");
      add(false,
          plural(count, "value") + " of " + name(where.first) + " that the host reads " +
              (count == 1 ? "isn't a sum" : "aren't sums") + " of its data" +
              (cut_ ? ", or too large to be looked at" : ""),
          details);
    }
  }

  void describe_several(std::uint32_t from, const std::vector<Leaf>& leaves) {
    add(false,
        places_of(leaves) + " are made of elements of " + name(from) +
            ", many of which are in several of them: not one sum, so nothing is said of it",
        {});
  }

  /// False where these are nothing that should hold each element once. `together`: if anything
  /// should, then all of these.
  bool say_of(std::uint32_t from, const std::vector<Leaf>& leaves, bool together) {
    const Sums::Region* const r = region(from);
    if (leaves.empty()) return true;
    unsigned bytes = 16;
    for (const Leaf& leaf : leaves) bytes = std::min<unsigned>(bytes, leaf.bytes);
    const auto size = static_cast<std::size_t>(r->allocation.size / bytes);
    std::vector<std::uint32_t> times(size), last(size, ~std::uint32_t{0});
    std::vector<double> factor(size);
    std::map<std::uint32_t, std::uint64_t> of_output;
    for (const Leaf& leaf : leaves) {
      for (unsigned k = 0; k < leaf.bytes; k += bytes) {
        const std::size_t e = (leaf.offset + k) / bytes;
        if (e >= size) continue;
        factor[e] += leaf.factor;
        if (last[e] == leaf.output) continue;
        last[e] = leaf.output;
        ++times[e];
        ++of_output[leaf.output];
      }
    }
    std::uint64_t held = 0, once = 0, in_sums = 0, all = 0;
    std::map<double, std::uint64_t> factors;
    for (std::size_t e = 0; e < size; ++e) {
      held += times[e] > 0;
      once += times[e] == 1;
      if (times[e] == 1) ++factors[std::abs(factor[e])];
    }
    for (const auto& [output, count] : of_output) {
      all += count;
      if (count > 1) in_sums += count;
    }
    std::uint64_t filled = 0;
    for (const auto& [begin, end] : r->filled) filled += end - begin;
    if (!sums_.expected && 2 * in_sums < all && filled > bytes) {
      add(false,
          places_of(leaves) + (of_output.size() == 1 ? " is an element of " : " are elements of ") +
              name(from) + ", not sums",
          {});
      return true;
    }
    if ((2 * once < held || once == 0) && !(sums_.expected && together)) {
      // All of them as often in one sum is a multiple of it.
      return false;
    }
    const auto usual =
        std::max_element(factors.begin(), factors.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const double unit = sums_.expected ? 1 : usual->first;  // there may be no usual one
    if (unit == 0 || (!sums_.expected && 2 * usual->second < once)) {
      add(false,
          places_of(leaves) + (of_output.size() == 1 ? " is a sum" : " are sums") +
              " of elements of " + name(from) +
              " with different weights: nothing more is said of it",
          {});
      return true;
    }
    double direction = 0;
    for (std::size_t e = 0; e < size; ++e) {
      if (times[e] == 1 && std::abs(factor[e]) == unit) direction += factor[e] > 0 ? 1 : -1;
    }
    const double one = direction < 0 && !sums_.expected ? -unit : unit;

    // What should be there.
    std::vector<char> wanted(size), read(size);
    for (const auto& [begin, end] : r->filled) {
      for (std::uint64_t e = (begin + bytes - 1) / bytes; e < end / bytes && e < size; ++e) {
        wanted[static_cast<std::size_t>(e)] = 1;
      }
    }
    for (std::size_t n = r->since; n < forms_.size(); ++n) {
      const SumForms::Entry& e = forms_[static_cast<Node>(n)];
      if (e.kind != Kind::kInput || e.a != from) continue;
      for (unsigned k = 0; k < e.size; k += bytes) {
        if ((e.b + k) / bytes < size) read[(e.b + k) / bytes] = 1;
      }
    }
    std::vector<std::uint64_t> missing, unread;
    std::map<double, std::vector<std::uint64_t>> odd;
    std::uint64_t expected = 0, seen = 0;
    for (std::size_t e = 0; e < size; ++e) {
      expected += wanted[e];
      seen += wanted[e] && read[e];
      const double share = factor[e] / one;
      if (times[e] == 0 || share == 0) {
        if (wanted[e]) (read[e] ? missing : unread).push_back(e);
      } else if (share != 1) {
        odd[share].push_back(e);
      }
    }
    // Not the end of a larger buffer, if a kernel was told how much there is.
    const bool told = std::ranges::any_of(launches_, [&](std::size_t l) {
      return std::ranges::any_of(sums_.launches[l].numbers,
                                 [&](std::uint64_t n) { return n == seen; });
    });
    if (told || (!sums_.expected && 2 * unread.size() > expected)) unread.clear();
    SumElements in{.count = size, .times = one};
    while (in.count > 0 && times[static_cast<std::size_t>(in.count - 1)] == 0) --in.count;
    if (missing.empty() && unread.empty() && odd.empty()) {
      praise(from, leaves, held, std::move(in), of_output);
    } else {
      accuse(from, leaves, bytes, missing, unread, odd, std::move(in));
    }
    return true;
  }

  void praise(std::uint32_t from, const std::vector<Leaf>& leaves, std::uint64_t held,
              SumElements in, const std::map<std::uint32_t, std::uint64_t>& of_output) {
    std::uint64_t least = ~std::uint64_t{0}, most = 0;
    std::uint32_t chain = 0;
    bool floating = false, widened = false;
    double constant = 0;
    std::set<std::uint32_t> further;
    for (const auto& [output, count] : of_output) {
      least = std::min(least, count);
      most = std::max(most, count);
      const SumForms::Entry& e = forms_[outputs_[output].node];
      chain = std::max(chain, e.chain);
      floating |= parts_[output].floating;
      widened |= parts_[output].widened;
      if (parts_[output].constant != 0) constant = parts_[output].constant;
      if (parts_[output].elements > count) further.insert(output);
    }
    const bool one = of_output.size() == 1;
    std::string what = places_of(leaves) + (one ? " is the sum" : " are sums") + " of " +
                       name(from) + ": each of " + plural(held, "element") + " is ";
    if (in.times < 0) {
      what += "subtracted" + (in.times == -1 ? "" : " " + times_in_words(-in.times));
    } else {
      what += (one ? "in it " : "in them ") + (in.times == 1 ? "once" : times_in_words(in.times));
    }
    std::vector<std::string> details;
    std::string shape = of_output.size() == 1 ? std::string()
                        : least == most ? "each is the sum of " + plural(most, "element") + "; "
                                        : "each is the sum of " + std::to_string(least) + " to " +
                                              plural(most, "element") + "; ";
    shape += "at most " + plural(chain, "addition") + " one after another";
    details.push_back(shape);
    if (constant != 0) {
      char number[32];
      std::snprintf(number, sizeof number, "%g", constant);
      details.push_back(std::string("and ") + number + ", which no element has brought");
    }
    if (!further.empty()) {
      details.push_back(places_of_outputs(further) + " " + (further.size() == 1 ? "has" : "have") +
                        " elements of other memory too");
    }
    in.proved = add_standing(from, floating, widened, details);
    add(false, what + (in.proved ? ", for all data" : ", in this run"), details, {}, std::move(in));
  }

  std::string places_of_outputs(const std::set<std::uint32_t>& outputs) const {
    std::vector<Leaf> some;
    for (const std::uint32_t o : outputs) some.push_back({o, 0, 4, 1});
    return places_of(some);
  }

  /// Whether this holds for other data too.
  bool add_standing(std::uint32_t from, bool floating, bool widened,
                    std::vector<std::string>& details) {
    std::vector<std::string> not_proved;
    std::set<std::string> given;
    std::uint32_t order_at = 0;
    for (const Sums::Decided& d : sums_.decided) {
      if (!launches_.contains(d.launch)) continue;
      if (d.from & SumForms::bit_of(from)) {
        not_proved.push_back("what " + sums_.sites[d.site] + " does depends on them");
        break;
      }
      for (const Sums::Region* r : sums_.by_number) {
        if (d.from & SumForms::bit_of(r->number)) given.insert(name(r->number));
      }
    }
    for (const Sums::Decided& d : sums_.ordered) {
      if (launches_.contains(d.launch) && !order_at) order_at = d.site;
    }
    if (raced_) not_proved.emplace_back("there are races");
    if (sums_.unfollowed)
      not_proved.emplace_back(
          "some of the code isn't followed: recursion, calls by pointer, or copies into other "
          "blocks");
    if (forms_.full() || cut_)
      not_proved.emplace_back("there are too many additions to follow them all");
    if (!not_proved.empty()) {
      details.push_back("so it was with these data, and no more is proved: " + not_proved.front());
      return false;
    }
    std::string text =
        floating ? "in this order of additions for all data of this size and launch; how they "
                   "round is not looked at"
                 : "proved for all data of this size and launch, modulo the range of the type";
    if (widened && !floating)
      text =
          "proved for all data of this size and launch for which no sum overflows before it is "
          "made wider";
    if (!given.empty()) {
      text += ", with what is in ";
      bool first = true;
      for (const std::string& one : given) {
        text += (first ? "" : ", ") + one;
        first = false;
      }
    }
    if (order_at)
      text += ", and for the order in which blocks ran here, which " + sums_.sites[order_at] +
              " depends on";
    details.push_back(text);
    return true;
  }

  void accuse(std::uint32_t from, const std::vector<Leaf>& leaves, unsigned bytes,
              const std::vector<std::uint64_t>& missing, const std::vector<std::uint64_t>& unread,
              const std::map<double, std::vector<std::uint64_t>>& odd, SumElements in) {
    std::vector<std::string> said, details;
    const std::string where = places_of(leaves);
    std::uint64_t further = 0;
    for (const auto& [share, elements] : odd) {
      if (said.size() == kMostStories) {
        further += elements.size();
        continue;
      }
      const std::string verb = elements.size() == 1 ? " is" : " are";
      const bool all = elements.size() == in.count && in.count > 1;
      said.push_back((all ? "every element is" : elements_in_words(elements) + verb) +
                     (share == -1 ? " subtracted"
                      : share < 0 ? " subtracted " + times_in_words(-share)
                                  : " in it " + times_in_words(share)));
    }
    if (further) said.push_back(plural(further, "element") + " more often or less");
    std::vector<std::uint64_t> gone = missing;
    gone.insert(gone.end(), unread.begin(), unread.end());
    std::ranges::sort(gone);
    const auto keep = [&in](const std::vector<std::uint64_t>& elements, double share) {
      for (const Run& run : runs_of(elements)) {
        in.others.push_back({run.first, run.count, run.step, share});
        in.count = std::max(in.count, run.last() + 1);
      }
    };
    for (const auto& [share, elements] : odd) keep(elements, share);
    keep(gone, 0);
    if (!gone.empty())
      said.push_back(elements_in_words(gone) + (gone.size() == 1 ? " is" : " are") + " missing");
    std::string what;
    for (const std::string& s : said) what += (what.empty() ? "" : "; ") + s;
    details.push_back("in " + where + ", made of " + name(from));
    std::set<std::string> places;
    for (const auto& [share, elements] : odd) {
      if (details.size() > 2 * kMostStories) break;
      for (const Run& run : first_of(runs_of(elements))) {
        details.push_back(elements_in_words(elements_of(run)) + ": " +
                          again(from, run.first, bytes, leaves, share, places));
      }
    }
    for (const Run& run : first_of(runs_of(unread))) {
      details.push_back(elements_in_words(elements_of(run)) + ": no thread reads " +
                        (run.count == 1 ? "it" : "them"));
    }
    for (const Run& run : first_of(runs_of(missing))) {
      details.push_back(elements_in_words(elements_of(run)) + ": " +
                        lost(from, run, bytes, places));
    }
    if (raced_)
      details.emplace_back(
          "there are races, too: what a race has decided may be otherwise in another run");
    add(true, what, details, {places.begin(), places.end()}, std::move(in));
  }

  static std::vector<Run> first_of(std::vector<Run> runs) {
    if (runs.size() > kMostStories) runs.resize(kMostStories);
    return runs;
  }
  static std::vector<std::uint64_t> elements_of(const Run& run) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t k = 0; k < run.count; ++k) all.push_back(run.first + k * run.step);
    return all;
  }

  bool is_element(const SumForms::Entry& e, std::uint32_t from, std::uint64_t element,
                  unsigned bytes) const {
    return e.kind == Kind::kInput && e.a == from && e.b <= element * bytes &&
           e.b + e.size > element * bytes;
  }

  /// Where an element enters a sum in which it is already, or is turned round.
  std::string again(std::uint32_t from, std::uint64_t element, unsigned bytes,
                    const std::vector<Leaf>& leaves, double share, std::set<std::string>& places) {
    std::set<std::uint32_t> outputs;
    for (const Leaf& leaf : leaves) {
      if (leaf.offset <= element * bytes && leaf.offset + leaf.bytes > element * bytes)
        outputs.insert(leaf.output);
    }
    if (outputs.size() > 1) return "in " + places_of_outputs(outputs);
    std::vector<Node> nodes{outputs_[*outputs.begin()].node};
    ++now_;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto [a, b] = forms_.parts(nodes[i]);
      for (const Node n : {a, b}) {
        if (n == 0 || stamp_[n] == now_) continue;
        stamp_[n] = now_;
        nodes.push_back(n);
      }
    }
    std::ranges::sort(nodes);
    for (const Node n : nodes) {
      const SumForms::Entry& e = forms_[n];
      const auto [a, b] = forms_.parts(n);
      double f =
          is_element(e, from, element, bytes) ? 1 : (a ? factor_[a] : 0) + (b ? factor_[b] : 0);
      if (e.kind == Kind::kScale) f *= forms_.constant(e.b);
      if (e.kind == Kind::kPiece && e.b) f = 0;  // the lowest stands for all
      factor_[n] = f;
      const bool enters = share < 0 ? f < 0 : std::abs(f) > 1;
      if (!enters) continue;
      places.insert(sums_.places[e.site]);
      return (share < 0 ? "turned round at " : "added again at ") + sums_.sites[e.site];
    }
    return "in " + places_of_outputs(outputs);
  }

  /// The last place that held a missing element, and what became of it.
  struct Last {
    Node node = 0;
    std::size_t stored = 0;  ///< in the log, from 1; 0: in a register only
    std::size_t over = 0;
  };
  Last last_of(std::uint32_t from, std::uint64_t element, unsigned bytes) const {
    std::vector<bool> holds(forms_.size());
    Last last;
    for (std::size_t n = 1; n < forms_.size(); ++n) {
      const auto [a, b] = forms_.parts(static_cast<Node>(n));
      const SumForms::Entry& e = forms_[static_cast<Node>(n)];
      if ((a && holds[a]) || (b && holds[b]) || is_element(e, from, element, bytes)) {
        holds[n] = true;
        last.node = static_cast<Node>(n);
      }
    }
    for (std::size_t i = sums_.log.size(); i-- > 0;) {
      const Sums::Stored& s = sums_.log[i];
      if (!s.node || !holds[s.node]) continue;
      // What was made of it afterwards and stayed in registers tells more.
      if (s.node < last.node) break;
      last.stored = i + 1;
      for (std::size_t j = i + 1; j < sums_.log.size(); ++j) {
        const Sums::Stored& other = sums_.log[j];
        if (other.where == s.where && (s.where >> 62 == 0 || other.block == s.block)) {
          last.over = j + 1;
          break;
        }
      }
      break;
    }
    return last;
  }

  std::string lost(std::uint32_t from, const Run& run, unsigned bytes,
                   std::set<std::string>& places) {
    const Last first = last_of(from, run.first, bytes);
    if (!first.node) return "no thread reads " + std::string(run.count == 1 ? "it" : "them");
    const SumForms::Entry& e = forms_[first.node];
    if (!first.stored) {
      places.insert(sums_.places[e.site]);
      const std::string verb = e.kind == Kind::kInput ? "read at " : "last added at ";
      return verb + sums_.sites[e.site] + ", by a thread of block " + block_name(e.block) +
             ", and not used after that";
    }
    const Sums::Stored& s = sums_.log[first.stored - 1];
    std::uint64_t to = s.where;
    if (run.count > 1) {
      const Last end = last_of(from, run.last(), bytes);
      if (end.stored && sums_.log[end.stored - 1].site == s.site &&
          sums_.log[end.stored - 1].block == s.block &&
          sums_.log[end.stored - 1].where - s.where == run.last() - run.first) {
        to = sums_.log[end.stored - 1].where;
      }
    }
    places.insert(sums_.places[s.site]);
    std::string text =
        std::string(to == s.where && run.count > 1 ? "the first of them was last seen in "
                                                   : "last seen in ") +
        memory(s, to) + ", put there at " + sums_.sites[s.site];
    if (first.over) {
      const Sums::Stored& over = sums_.log[first.over - 1];
      places.insert(sums_.places[over.site]);
      text += ", overwritten at " + sums_.sites[over.site];
    } else {
      text += ", and added to nothing from there";
    }
    return text;
  }

  std::string block_name(std::uint32_t block) const {
    const Sums::Launch& l = sums_.launches[launch_of(block)];
    const std::uint64_t n = block - l.first_block;
    return "(" + std::to_string(n % l.grid.x) + ", " + std::to_string(n / l.grid.x % l.grid.y) +
           ", " + std::to_string(n / l.grid.x / l.grid.y) + ")";
  }

  /// "tile[96 … 127] of block (0, 0, 0)".
  std::string memory(const Sums::Stored& s, std::uint64_t to) const {
    const std::uint64_t word = s.where & 0xffff'ffff, last = to & 0xffff'ffff;
    const auto range = [](std::uint64_t a, std::uint64_t b) {
      return "[" + std::to_string(a) + (a == b ? "" : " … " + std::to_string(b)) + "]";
    };
    if (s.where >> 63) {
      const Sums::Launch& l = sums_.launches[launch_of(s.block)];
      const std::string of = " of block " + block_name(s.block);
      for (const auto& [mangled, place] : l.shared) {
        if (4 * word - place.first < place.second) {
          return plain_name(mangled) + range(word - place.first / 4, last - place.first / 4) + of;
        }
      }
      const std::uint64_t before = l.static_shared / 4;
      return "dynamic shared memory" + range(word - before, last - before) + of;
    }
    if (s.where >> 62) return "a thread's local memory";
    return name(static_cast<std::uint32_t>((s.where >> 32) - 1)) + range(word, last);
  }
  static std::string plain_name(const std::string& mangled) {
    int status = 0;
    char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string name = status == 0 ? text : mangled;
    std::free(text);
    const std::size_t at = name.rfind("::");
    return at == name.npos ? name : name.substr(at + 2);
  }

  void add(bool fault, const std::string& what, std::vector<std::string> details,
           std::vector<std::string> places = {}, std::optional<SumElements> in = std::nullopt) {
    findings_.add({.check = "sum",
                   .what = what,
                   .kernel = kernel(),
                   .places = std::move(places),
                   .details = std::move(details),
                   .fault = fault,
                   .sum = in ? std::make_shared<const SumElements>(*std::move(in)) : nullptr});
  }

  const Sums& sums_;
  const SumForms& forms_;
  bool raced_;
  Findings& findings_;
  std::vector<SumOutput> outputs_;
  std::vector<Form> parts_;                            ///< of each output
  std::map<std::uint32_t, std::vector<Leaf>> leaves_;  ///< by the allocation that they are of
  std::set<std::size_t> launches_;
  std::uint32_t last_block_ = ~std::uint32_t{0};
  std::vector<double>& factor_;
  std::vector<std::uint32_t>& stamp_;
  std::uint32_t& now_;
  std::uint64_t visited_ = 0;
  bool cut_ = false;
};

}  // namespace

void judge_sums(const Sums& sums, SumWalks& walks, std::vector<SumOutput> outputs, bool raced,
                Findings& findings) {
  Judge(sums, walks, std::move(outputs), raced, findings).say();
}

}  // namespace emu
