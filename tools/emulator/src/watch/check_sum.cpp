#include "watch/check_sum.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "decode/code.hpp"
#include "watch/check.hpp"
#include "watch/kernel_name.hpp"
#include "watch/old_values.hpp"
#include "watch/sums.hpp"

namespace emu {
namespace {

class SumsOfProgram final : public SumCheck {
 public:
  SumsOfProgram(Checker& checker, bool expected) : findings_(checker.findings()) {
    sums_.expected = expected;
    sums_.old = &old_;
    checker.give_older(old_);
  }

  void allocated(const Allocation& allocation) override {
    Sums::Region& r = sums_.regions[allocation.base];
    r.allocation = allocation;
    r.number = static_cast<std::uint32_t>(sums_.by_number.size());
    sums_.by_number.push_back(&r);
    if (r.host_can_write()) r.seen.resize(static_cast<std::size_t>(allocation.size));
    if (allocation.kind == Allocation::Kind::kDevice) r.first = Sums::kUnwritten;
  }
  void freed(const Allocation& allocation) override {
    settle();
    Sums::Region* const r = sums_.region(allocation.base);
    if (r == nullptr) return;
    if (r->host_can_write()) read_all(*r);
    judge();  // while it can be named
    r->words.clear();
    r->seen.clear();
    sums_.gone.push_back(std::move(*r));
    sums_.by_number[sums_.gone.back().number] = &sums_.gone.back();
    sums_.regions.erase(allocation.base);
  }

  void host_wrote(Address address, std::uint64_t bytes) override {
    judge();
    written_.push_back({address, bytes});
  }
  void host_set(Address address, std::uint64_t bytes) override {
    judge();
    settle();
    put(address, bytes, SumForms::kPlain);
  }
  void host_read(Address address, std::uint64_t bytes) override {
    settle();
    Sums::Region* const r = sums_.region(address);
    if (r) read(*r, address - r->allocation.base, bytes);
  }
  void host_copied(Address to, Address from, std::uint64_t bytes) override {
    settle();
    Sums::Region *const target = sums_.region(to), *const source = sums_.region(from);
    if (!target || !source) return put(to, bytes, SumForms::kPlain);
    if (source->words.empty()) return put(to, bytes, source->first);
    sums_.forms.maker = {};
    const std::uint64_t at = to - target->allocation.base, of = from - source->allocation.base;
    const unsigned step = at % 4 == 0 && of % 4 == 0 && bytes % 4 == 0 ? 4 : 1;
    std::vector<Sums::Node> values;  // all of them first: the ends may overlap
    for (std::uint64_t k = 0; k < bytes; k += step) {
      const bool unwritten =
          step == 4 && source->words[static_cast<std::size_t>((of + k) / 4)] == Sums::kUnwritten;
      values.push_back(unwritten ? Sums::kUnwritten : sums_.load(*source, of + k, step));
    }
    for (std::uint64_t k = 0; k < bytes; k += step) {
      const Sums::Node value = values[static_cast<std::size_t>(k / step)];
      if (value == Sums::kUnwritten) {
        put(to + k, step, value);
      } else {
        sums_.store(*target, at + k, step, value, true);
      }
    }
  }

  void started(const LaunchConfig& config) override {
    judge();
    settle();
    old_.clear();
    meet_the_hosts(config);
    for (auto& [base, r] : sums_.regions) {
      look_at_what_the_host_wrote(r);
      r.stored = r.stored_other_than_zero = false;
      r.used_since_filled = true;
    }
    const Kernel& kernel = *config.kernel;
    Sums::Launch l{.kernel = kernel.name,
                   .first_block = sums_.blocks,
                   .grid = config.grid,
                   .block = config.block,
                   .shared = {},
                   .static_shared = kernel.static_shared_bytes,
                   .numbers = {},
                   .arguments = {}};
    name_arguments(config, l);
    for (const Parameter& p : kernel.parameters) {
      std::uint64_t value = 0;
      if (p.size != 4 && p.size != 8) continue;
      std::memcpy(&value, config.parameters.data() + p.offset, static_cast<std::size_t>(p.size));
      l.numbers.push_back(value);
    }
    if (kernel.code) {
      for (const Code::SharedVariable& v : kernel.code->shared_variables) {
        l.shared.push_back({v.name, {v.offset, v.bytes}});
      }
    }
    sums_.blocks += static_cast<std::uint32_t>(config.grid.volume());
    sums_.launches.push_back(std::move(l));
  }
  std::unique_ptr<BlockObserver> watch(Block& block) override { return follow_sums(sums_, block); }
  void ended(const LaunchConfig&, const LaunchResult& result) override {
    sums_.launches.back().finished = !result.fault;
    for (auto& [base, r] : sums_.regions) {
      if (r.stored) take_what_was_stored(r);
      if (r.host_can_write()) remember(r);
    }
  }
  void finish() override {
    settle();
    judge();
    for (auto& [base, r] : sums_.regions) {
      if (r.host_can_write() || !judged_) read_all(r);
    }
    judge();
    for (const Sums::Launch& l : sums_.launches) {
      if (l.finished) continue;
      findings_.add({.check = "sum",
                     .what = "the kernel was stopped: nothing is said of what it has left",
                     .kernel = l.kernel,
                     .fault = false});
    }
    const auto finished = [](const Sums::Launch& l) { return l.finished; };
    if (!judged_ && std::ranges::any_of(sums_.launches, finished)) {
      findings_.add({.check = "sum",
                     .what = "the host has read nothing back that an element of its data is in",
                     .fault = false});
    }
  }

 private:
  struct Written {
    Address address;
    std::uint64_t bytes;
  };

  /// Sets what words hold, those that a range touches in part too.
  void put(Address address, std::uint64_t bytes, Sums::Node what) {
    Sums::Region* const r = sums_.region(address);
    if (r == nullptr || bytes == 0) return;
    if (r->words.empty()) {
      if (what == r->first) return;
      Sums::unfold(*r);
    }
    const std::uint64_t at = address - r->allocation.base;
    const auto first = r->words.begin() + static_cast<std::ptrdiff_t>(at / 4);
    const auto last = r->words.begin() + static_cast<std::ptrdiff_t>((at + bytes + 3) / 4);
    if (was_read(*r, first, std::min(last, r->words.end()))) renew(*r);
    std::fill(first, std::min(last, r->words.end()), what);
    if (what == Sums::kInput) fill(*r, at, at + bytes);
  }

  /// Whether kernels have read data there that no result has been told of yet.
  bool was_read(const Sums::Region& r, std::vector<Sums::Node>::const_iterator first,
                std::vector<Sums::Node>::const_iterator last) const {
    return std::any_of(first, last, [&](Sums::Node n) {
      const SumForms::Kind kind = Sums::is_node(n) ? sums_.forms[n].kind : SumForms::Kind::kPlain;
      return kind == SumForms::Kind::kInput && sums_.forms[n].a == r.number;
    });
  }
  /// Other data come to lie there: what has been read is no part of them.
  void renew(Sums::Region& r) {
    Sums::Region& before = sums_.gone.emplace_back(r);
    before.words.clear();
    before.seen.clear();
    before.replaced = true;
    sums_.by_number[before.number] = &before;
    r.number = static_cast<std::uint32_t>(sums_.by_number.size());
    sums_.by_number.push_back(&r);
    r.filled.clear();
  }

  /// The range is data of the program's.
  void fill(Sums::Region& r, std::uint64_t from, std::uint64_t to) const {
    if (r.used_since_filled) r.filled.clear();
    r.used_since_filled = false;
    r.since = sums_.forms.size();
    std::erase_if(r.filled, [&](const auto& f) { return f.first >= from && f.second <= to; });
    if (!r.filled.empty() && r.filled.back().second == from) {
      r.filled.back().second = to;
    } else {
      r.filled.emplace_back(from, to);
    }
  }

  /// What the host has copied to the device is data, but zeros are where a sum begins.
  void settle() {
    for (const Written& w : std::exchange(written_, {})) {
      const Sums::Region* const r = sums_.region(w.address);
      if (r == nullptr || w.address - r->allocation.base + w.bytes > r->allocation.size) continue;
      const std::byte* const from = r->allocation.host + (w.address - r->allocation.base);
      const bool zeros =
          std::all_of(from, from + w.bytes, [](std::byte b) { return b == std::byte{0}; });
      put(w.address, w.bytes, zeros ? SumForms::kPlain : Sums::kInput);
      if (zeros) {
        Sums::Region& mine = *sums_.region(w.address);
        fill_zeros(mine, w.address - r->allocation.base, w.bytes);
      }
      if (Sums::Region& mine = *sums_.region(w.address); mine.host_can_write()) remember(mine);
    }
  }
  /// Zeros behind data that came in pieces are data too.
  void fill_zeros(Sums::Region& r, std::uint64_t from, std::uint64_t bytes) {
    if (r.used_since_filled || r.filled.empty() || r.filled.back().second != from) return;
    put(r.allocation.base + from, bytes, Sums::kInput);
  }

  /// What a kernel has put somewhere of itself is data to those that follow, but zeros aren't.
  void take_what_was_stored(Sums::Region& r) {
    const Sums::Node now = r.stored_other_than_zero ? Sums::kInput : SumForms::kPlain;
    std::uint64_t first = r.words.size(), last = 0;
    for (std::size_t w = 0; w < r.words.size(); ++w) {
      if (r.words[w] != Sums::kStored) continue;
      r.words[w] = now;
      first = std::min<std::uint64_t>(first, w);
      last = w;
    }
    if (now == Sums::kInput && first <= last) {
      r.used_since_filled = true;
      fill(r, 4 * first, std::min(4 * last + 4, r.allocation.size));
    }
  }

  /// Host memory that the device sees is never told of: kernels are given its address.
  void meet_the_hosts(const LaunchConfig& config) {
    for (const auto& [number, value] : pointers(config)) {
      const bool known = sums_.region(value) != nullptr || !config.memory;
      if (const Allocation* const a = known ? nullptr : config.memory->find(value, 1))
        allocated(*a);
    }
  }

  void look_at_what_the_host_wrote(Sums::Region& r) {
    if (!r.host_can_write()) return;
    const std::byte* const now = r.allocation.host;
    const std::size_t bytes = r.seen.size();
    const auto [a, b] = std::mismatch(r.seen.begin(), r.seen.end(), now);
    if (a == r.seen.end()) return;
    const auto first = static_cast<std::size_t>(a - r.seen.begin()) / 4 * 4;
    std::size_t last = bytes;
    while (r.seen[last - 1] == now[last - 1]) --last;
    put(r.allocation.base + first, last - first,
        std::all_of(now + first, now + last, [](std::byte x) { return x == std::byte{0}; })
            ? SumForms::kPlain
            : Sums::kInput);
  }
  static void remember(Sums::Region& r) {
    std::memcpy(r.seen.data(), r.allocation.host, r.seen.size());
  }

  void forget_what_was_read(Sums::Region& r) const {
    r.since = sums_.forms.size();
    for (std::size_t w = 0; w < r.words.size(); ++w) {
      if (!Sums::is_node(r.words[w])) continue;
      const SumForms::Entry& e = sums_.forms[r.words[w]];
      const bool untouched = e.kind == SumForms::Kind::kInput && e.a == r.number && e.b == 4 * w;
      if (untouched) r.words[w] = Sums::kInput;
    }
  }

  /// What may be an address among a kernel's arguments, each with the argument's number, from 1.
  static std::vector<std::pair<unsigned, Address>> pointers(const LaunchConfig& config) {
    std::vector<std::pair<unsigned, Address>> all;
    unsigned number = 0;
    for (const Parameter& p : config.kernel->parameters) {
      ++number;
      for (std::uint64_t k = 0; k + sizeof(Address) <= p.size; k += sizeof(Address)) {
        Address value = 0;
        std::memcpy(&value, config.parameters.data() + p.offset + k, sizeof value);
        all.emplace_back(number, value);
      }
    }
    return all;
  }

  void name_arguments(const LaunchConfig& config, Sums::Launch& launch) {
    for (const auto& [number, value] : pointers(config)) {
      Sums::Region* const r = sums_.region(value);
      if (!r) continue;
      launch.arguments.emplace(r->number, number);
      if (!r->kernel.empty()) continue;
      r->kernel = config.kernel->name;
      r->argument = number;
    }
  }

  void read_all(const Sums::Region& r) { read(r, 0, r.allocation.size, false); }
  void read(const Sums::Region& r, std::uint64_t offset, std::uint64_t bytes, bool by_host = true) {
    if (r.words.empty() || bytes == 0) return;
    if (by_host) looked_at_.push_back({r.number, offset, bytes});
    const std::uint64_t end = std::min<std::uint64_t>((offset + bytes) / 4, r.words.size());
    for (std::uint64_t w = (offset + 3) / 4; w < end; ++w) {
      const Sums::Node node = r.words[static_cast<std::size_t>(w)];
      if (!Sums::is_node(node)) continue;
      const SumForms::Entry& e = sums_.forms[node];
      // What still lies where the host put it, or was there, and the upper half of a value.
      if (e.kind == SumForms::Kind::kInput && e.a == r.number && e.b == 4 * w) continue;
      const bool unwritten =
          e.kind == SumForms::Kind::kUndefined && e.a == r.number &&
          static_cast<SumForms::Undefined>(e.size) == SumForms::Undefined::kGlobal;
      if (unwritten && !by_host) continue;
      SumOutput out{.region = r.number, .offset = 4 * w, .bytes = 4, .node = node};
      const bool first = e.kind == SumForms::Kind::kPiece && e.b == 0;
      if (w + 1 < end && is_upper_half(r, w + 1, first ? e.a : node)) {
        out.bytes = 8;
        out.node = first ? e.a : node;
        ++w;
      }
      outputs_.push_back(out);
    }
  }

  bool is_upper_half(const Sums::Region& r, std::uint64_t word, Sums::Node of) const {
    const Sums::Node node = r.words[static_cast<std::size_t>(word)];
    if (!Sums::is_node(node)) return false;
    const SumForms::Entry& e = sums_.forms[node];
    return e.kind == SumForms::Kind::kPiece && e.a == of && e.b == 32;
  }

  void judge() {
    const auto undefined = [](const Sums::Decided& d) { return d.node != 0; };
    if (outputs_.empty() && std::none_of(sums_.decided.begin(), sums_.decided.end(), undefined))
      return;
    judged_ |= !outputs_.empty();
    take_the_unwritten();
    const std::size_t before = findings_.all().size();
    judge_sums(sums_, walks_, std::exchange(outputs_, {}), what_others_found(), findings_);
    say_what_is_older(before);
    sums_.decided.clear();
    sums_.ordered.clear();
    sums_.gathered.clear();
    // What comes next reads the data anew.
    for (auto& [base, r] : sums_.regions) forget_what_was_read(r);
  }

  /// What was never written, and is read back beside results.
  void take_the_unwritten() {
    std::set<std::uint32_t> with_results;
    for (const SumOutput& o : outputs_) {
      if (sums_.forms[o.node].from & ~SumForms::kOfNothing) with_results.insert(o.region);
    }
    sums_.forms.maker = {};
    for (const auto& [number, offset, bytes] : std::exchange(looked_at_, {})) {
      const Sums::Region& r = *sums_.by_number[number];
      if (!with_results.contains(number)) continue;
      const std::uint64_t end = std::min<std::uint64_t>((offset + bytes) / 4, r.words.size());
      for (std::uint64_t w = (offset + 3) / 4; w < end; ++w) {
        if (r.words[static_cast<std::size_t>(w)] != Sums::kUnwritten) continue;
        const auto word = static_cast<std::uint32_t>(w);
        outputs_.push_back(
            {.region = number,
             .offset = 4 * w,
             .bytes = 4,
             .node = sums_.forms.undefined(SumForms::Undefined::kGlobal, number, word)});
      }
    }
  }

  /// What keeps sums from being proved, in words; empty for nothing.
  std::string what_others_found() const {
    for (const Finding& f : findings_.all()) {
      if (f.check == "race") return "there are races";
    }
    for (const Finding& f : findings_.all()) {
      const bool of_a_leak = f.check == "memory" && f.kernel.empty();
      if (f.fault && f.check != "sum" && !of_a_leak) {
        return "the check " + f.check + " has found something (" + f.what + ")";
      }
    }
    return "";
  }

  /// A fault where a sum is wrong; else it keeps that from being proved.
  void say_what_is_older(std::size_t before) {
    const std::vector<Finding>& all = findings_.all();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(before);
    const bool wrong = std::any_of(first, all.end(), [](const Finding& f) { return f.fault; });
    for (const auto& [sites, older] : std::exchange(sums_.older, {})) {
      if (older.open.empty()) continue;
      findings_.add({.check = "sum",
                     .what = "an older value may be read: nothing orders the read after the write",
                     .kernel = sums_.launches.back().kernel,
                     .places = {sums_.places[sites.first], sums_.places[sites.second]},
                     .details = {older.where, older.written,
                                 older.read + ", and was given what was there before",
                                 "volatile and relaxed accesses do not race, but nothing orders "
                                 "them: put a fence (__threadfence), or a release, between the "
                                 "write and what tells other blocks of it; to read a value, "
                                 "change it and write it back takes one atomic"},
                     .fault = wrong});
    }
  }

  Findings& findings_;
  OldValues old_;
  Sums sums_;
  std::vector<Written> written_;  ///< by the host, and not looked at yet
  std::vector<SumOutput> outputs_;
  struct Range {
    std::uint32_t region;
    std::uint64_t offset, bytes;
  };
  std::vector<Range> looked_at_;  ///< by the host, as results are
  SumWalks walks_;
  bool judged_ = false;
};

}  // namespace

std::unique_ptr<SumCheck> make_sum_check(Checker& checker, bool expected) {
  return std::make_unique<SumsOfProgram>(checker, expected);
}

}  // namespace emu
