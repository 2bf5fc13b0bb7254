// The sums of one block, instruction by instruction.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "machine/block.hpp"
#include "machine/lanes.hpp"
#include "machine/observer.hpp"
#include "watch/old_values.hpp"
#include "watch/sums.hpp"

namespace emu {
namespace {

class BlockSums final : public BlockObserver {
 public:
  using Node = SumForms::Node;
  using Undefined = SumForms::Undefined;
  using Flow = Code::Flow;
  using Sum = Flow::Sum;
  using Lanes = std::array<Node, kLanes>;

  BlockSums(Sums& sums, Block& block)
      : sums_(sums),
        forms_(sums.forms),
        block_(block),
        code_(block.code()),
        local_words_((code_.local_bytes + 3) / 4),
        shared_(static_cast<std::size_t>((block.shared_bytes() + 3) / 4)),
        site_of_(code_.ops.size()) {
    const std::uint64_t threads = block.launch().config.block.volume();
    warps_.resize(static_cast<std::size_t>((threads + kLanes - 1) / kLanes));
    several_blocks_ = block.launch().config.grid.volume() > 1;
    sums_.shared_of[&block] = &shared_;
  }
  BlockSums(const BlockSums&) = delete;
  BlockSums& operator=(const BlockSums&) = delete;
  ~BlockSums() override { sums_.shared_of.erase(&block_); }

  bool steps() const override { return true; }

  void begin(std::uint64_t block) override {
    number_ = sums_.launches.back().first_block + static_cast<std::uint32_t>(block);
    for (Registers& r : warps_) begin(r);
    std::fill(shared_.begin(), shared_.end(), Sums::kUnwritten);
    std::fill_n(shared_.begin() + static_cast<std::ptrdiff_t>(code_.driver_shared / 4),
                code_.driver_shared_bytes / 4, SumForms::kPlain);
    std::fill(local_.begin(), local_.end(), Sums::kUnwritten);
    copies_.clear();
    outside_ = 0;
    std::erase_if(sums_.sent, [&](const auto& each) { return each.first.first == &block_; });
  }

  void instruction(Warp& warp, const Op& op, Mask lanes) override {
    const std::uint32_t pc = at(warp, op);
    outside_ = 0;
    if (op.guarded) decides(warp, {op.guard, 1}, warp.here());
    if (lanes == 0) return;
    const std::uint32_t flow = code_.places[pc].flow;
    if (flow == 0) {
      sums_.unfollowed = true;
      return;
    }
    flow_ = &code_.flows[flow];
    forms_.maker.floating = flow_->floating;
    for (const Flow::Register& r : reads()) {
      if (r.address) decides(warp, r, lanes);
    }
    switch (op.control) {
      case Control::kTogether: return;  // once all are here: met
      case Control::kStraight: break;
      case Control::kCall:  // with results in registers
        if (!writes().empty()) sums_.unfollowed = true;
        return;
      case Control::kClock:
        for (const Flow::Register& r : writes()) by_order(warp, r, lanes);
        return;
      default:
        for (const Flow::Register& r : reads()) decides(warp, r, lanes);
        for (const Flow::Register& r : writes()) clear(warp, r, lanes);
        sources_.assign(1, {});  // a look at an mbarrier, which may follow, leaves nothing in it
        return;
    }
    if (flow_->kind == Flow::Kind::kUses || flow_->kind == Flow::Kind::kHands) {
      // An access follows. Results may replace what it reads.
      sources_.clear();
      for (const Flow::Register& r : reads()) {
        if (!r.address) sources_.push_back(read(warp, r, lanes));
      }
      for (const Flow::Register& r : writes()) clear(warp, r, lanes);
    } else if (flow_->kind == Flow::Kind::kLoads) {
      for (const Flow::Register& r : writes()) clear(warp, r, lanes);
    } else {
      compute(warp, lanes);
    }
  }

  void met(Warp& warp, const Op& op, Mask lanes) override {
    const std::uint32_t pc = at(warp, op);
    const std::uint32_t flow = code_.places[pc].flow;
    if (flow == 0) return;
    flow_ = &code_.flows[flow];
    forms_.maker.floating = false;
    // Each lane has the registers of the instruction by which it came.
    const auto flow_of = [&](unsigned i) -> const Flow& {
      const Op& own = warp.op_of(op, i);
      return code_.flows[code_.places[static_cast<std::size_t>(&own - code_.ops.data())].flow];
    };
    if (flow_->sum == Sum::kHands) {
      for_each_lane(lanes, [&](unsigned i) {
        const Flow& own = flow_of(i);
        for (std::size_t k = 1; k < own.reads; ++k) decides_by(warp, own.slots[k], i);
      });
      return;  // handed follows
    }
    const bool adds = flow_->sum == Sum::kAddsLanes;
    Node all = SumForms::kPlain;
    double plain = 0;
    for_each_lane(lanes, [&](unsigned i) {
      const Flow& own = flow_of(i);
      for (std::size_t k = 0; k < own.reads; ++k) {
        const Node n = node(warp, own.slots[k], i);
        if (adds && k > 0) {
          decides_by(warp, own.slots[k], i);
        } else if (adds && n != SumForms::kOfOrder) {
          all = forms_.add(all, n);
          if (!n) plain += value(warp, own.slots[0], i);
        } else if (adds) {
          sums_.order(forms_.maker.site);
          plain += value(warp, own.slots[0], i);
        } else if (n) {
          all = forms_.lost(n, all);
        }
      }
    });
    if (adds) all = forms_.plus(all, plain);
    for_each_lane(lanes, [&](unsigned i) {
      const Flow& own = flow_of(i);
      for (std::size_t k = own.reads; k < own.slots.size(); ++k) set(warp, own.slots[k], i, all);
    });
  }

  /// Each lane gets the first source of another.
  void handed(Warp& warp, const Op& op, Mask lanes, const std::uint32_t* from) override {
    const auto flow_of = [&](unsigned i) -> const Flow& {
      const Op& own = warp.op_of(op, i);
      return code_.flows[code_.places[static_cast<std::size_t>(&own - code_.ops.data())].flow];
    };
    if (code_.places[at(warp, op)].flow == 0) return;
    Lanes to{};
    for_each_lane(lanes, [&](unsigned i) {
      const unsigned lane = from[i];
      if (outside_ >> i & 1) {
        to[i] = forms_.undefined(Undefined::kLeftOpen);
      } else if (!(lanes >> lane & 1)) {
        to[i] = forms_.undefined(Undefined::kLane, 0, lane);
      } else {
        to[i] = node(warp, flow_of(lane).slots[0], lane);
      }
      // Where the value says from where, too.
      const Flow& own = flow_of(i);
      for (std::size_t k = 1; to[i] && k < own.reads; ++k) {
        if (node(warp, own.slots[k], i)) to[i] = forms_.lost(to[i]);
      }
    });
    for_each_lane(lanes, [&](unsigned i) {
      const Flow& own = flow_of(i);
      for (std::size_t k = own.reads; k < own.slots.size(); ++k) {
        set(warp, own.slots[k], i, own.slots[k].width == 1 ? SumForms::kPlain : to[i]);
      }
    });
  }

  /// What lanes get that a mask leaves out, or that read past all memory.
  void undefined(Warp& warp, const Op& op, Mask lanes, const std::string&) override {
    outside_ = lanes;
    nothing(warp, op, lanes, Undefined::kLeftOpen);
  }
  void illegal(Warp& warp, const Op& op, unsigned lane, const std::string&) override {
    nothing(warp, op, kBit[lane], Undefined::kIllegal);
  }
  /// Of a kernel's malloc.
  void given(Warp&, const Op&, unsigned, Address at, std::uint64_t bytes) override {
    Sums::Region* const r = region(at);
    if (!r) return;
    Sums::unfold(*r);
    std::fill_n(r->words.begin() + static_cast<std::ptrdiff_t>((at - r->allocation.base) / 4),
                (bytes + 3) / 4, Sums::kUnwritten);
  }

  void access(const Access& access) override {
    at(access.warp, access.op);
    const std::uint32_t flow =
        code_.places[static_cast<std::size_t>(&access.op - code_.ops.data())].flow;
    if (flow == 0) return;
    flow_ = &code_.flows[flow];
    forms_.maker.floating = flow_->floating;
    if (access.barrier) return set_barrier(access);
    const Space space = access.space == Space::kConstant ? Space::kGlobal : access.space;
    if (space == Space::kParameter) return;
    // What it reads may be there or not yet, as blocks take turns.
    if (space == Space::kGlobal && several_blocks_ && access.order != Order::kWeak &&
        access.direction == Direction::kLoad) {
      sums_.order(forms_.maker.site);
    }
    if (sums_.old && space == Space::kGlobal && several_blocks_) meet_older(access);
    switch (access.direction) {
      case Direction::kLoad: return load(access, space);
      case Direction::kStore: return store(access, space);
      case Direction::kAtomic: return update(access, space);
      default: return;
    }
  }

  void copy_began(const Copy& copy) override {
    at(copy.warp, copy.op);
    OnItsWay on{.to_space = copy.to_space,
                .to = copy.to,
                .from_space = copy.from_space,
                .from = copy.from,
                .bytes = copy.bytes,
                .site = forms_.maker.site,
                .nodes = {}};
    if (copy.from_space == Space::kGeneric) on.nodes = std::exchange(staged_[copy.lane], {});
    copies_.emplace(copy.number, on);
  }
  void copy_landed(std::uint64_t number) override { land(number); }
  void copy_landed_at(std::uint64_t number, Address) override { land(number); }
  void reached(Address, std::uint64_t, bool told) override { sums_.unfollowed |= !told; }
  void sent(Warp& warp, const Op& op, unsigned lane, Block& home, std::uint64_t number, Address to,
            unsigned bytes) override {
    at(warp, op);
    Sums::Sent& sent = sums_.sent[{&home, number}];
    sent = {.to = to,
            .bytes = bytes / static_cast<unsigned>(sources_.size()),
            .site = forms_.maker.site,
            .block = number_,
            .nodes = {}};
    for (const Lanes& source : sources_) sent.nodes.push_back(source[lane]);
  }

 private:
  struct Registers {
    std::vector<Node> nodes;  ///< at half of a register's place in the file, one for each lane
    std::vector<Mask> held;   ///< at a quarter of it: lanes whose node counts
    std::vector<Mask> set;    ///< there: lanes that something has given a value
    std::vector<Mask> open;   ///< there, of a predicate: lanes whose value isn't defined
  };
  struct OnItsWay {
    Space to_space;
    Address to;
    Space from_space;
    Address from;
    std::uint64_t bytes;
    std::uint32_t site;
    std::array<Node, kMostBytes / 4> nodes;
  };

  std::span<const Flow::Register> reads() const { return {flow_->slots.data(), flow_->reads}; }
  std::span<const Flow::Register> writes() const {
    return {flow_->slots.data() + flow_->reads, flow_->slots.size() - flow_->reads};
  }

  /// What is made from here on is this operation's.
  std::uint32_t at(const Warp&, const Op& op) {
    const auto pc = static_cast<std::uint32_t>(&op - code_.ops.data());
    if (!site_of_[pc]) site_of_[pc] = sums_.site(code_, pc);
    forms_.maker.site = site_of_[pc];
    forms_.maker.block = sums_.block = number_;
    return pc;
  }

  Registers& of(const Warp& warp) {
    Registers& r = warps_[warp.number()];
    if (r.held.empty()) {
      r.nodes.resize(code_.file_bytes / 2 + kLanes);
      r.held.resize(code_.file_bytes / 4 + 1);
      r.set.resize(r.held.size());
      r.open.resize(r.held.size());
      begin(r);
    }
    return r;
  }
  void begin(Registers& r) const {
    std::fill(r.held.begin(), r.held.end(), 0);
    std::fill(r.set.begin(), r.set.end(), 0);
    if (r.held.empty()) return;
    for (const Code::Constant& c : code_.constants) r.set[c.slot / 4] = kAllLanes;
    for (const Code::SpecialSlot& s : code_.specials) {
      r.set[s.slot / 4] = kAllLanes;
      if (s.which != Special::kSmId) continue;
      r.held[s.slot / 4] = kAllLanes;
      std::fill_n(r.nodes.begin() + static_cast<std::ptrdiff_t>(s.slot / 2), kLanes,
                  SumForms::kOfOrder);
    }
  }
  /// Lanes that hold more than a number.
  Mask held(const Warp& warp, const Flow::Register& r) {
    const Registers& all = of(warp);
    return all.held[r.slot / 4] | (follows_all() ? ~all.set[r.slot / 4] : 0);
  }
  /// Registers that code has set which isn't followed look as if nothing had.
  bool follows_all() const { return !sums_.unfollowed; }
  /// Lanes of a predicate share a node, and those where it isn't defined another.
  static std::size_t place(const Registers& all, const Flow::Register& r, unsigned lane) {
    return r.slot / 2 + (r.width == 1 ? all.open[r.slot / 4] >> lane & 1 : lane);
  }
  bool is_open(Node n) const { return forms_[n].from & SumForms::kOfNothing; }
  Node node(const Warp& warp, const Flow::Register& r, unsigned lane) {
    Registers& all = of(warp);
    if (all.held[r.slot / 4] & kBit[lane]) return all.nodes[place(all, r, lane)];
    if (all.set[r.slot / 4] & kBit[lane] || !follows_all()) [[likely]]
      return SumForms::kPlain;
    const Node none = forms_.undefined(Undefined::kRegister);
    if (r.width != 1) set(warp, r, lane, none);
    return none;
  }
  void set(const Warp& warp, const Flow::Register& r, unsigned lane, Node node) {
    Registers& all = of(warp);
    Mask& held = all.held[r.slot / 4];
    held = node ? held | kBit[lane] : held & ~kBit[lane];
    all.set[r.slot / 4] |= kBit[lane];
    if (!node) return;
    if (r.width == 1) {
      Mask& open = all.open[r.slot / 4];
      open = is_open(node) ? open | kBit[lane] : open & ~kBit[lane];
    }
    all.nodes[place(all, r, lane)] = node;
  }
  void clear(const Warp& warp, const Flow::Register& r, Mask lanes) {
    Registers& all = of(warp);
    all.held[r.slot / 4] &= ~lanes;
    all.set[r.slot / 4] |= lanes;
  }
  void by_order(const Warp& warp, const Flow::Register& r, Mask lanes) {
    for_each_lane(lanes, [&](unsigned i) { set(warp, r, i, SumForms::kOfOrder); });
  }
  void nothing(Warp& warp, const Op& op, Mask lanes, Undefined why) {
    const std::uint32_t flow = code_.places[at(warp, op)].flow;
    if (flow == 0) return;
    const Flow& of_op = code_.flows[flow];
    for (std::size_t k = of_op.reads; k < of_op.slots.size(); ++k) {
      for_each_lane(lanes,
                    [&](unsigned i) { set(warp, of_op.slots[k], i, forms_.undefined(why)); });
    }
  }
  Lanes read(const Warp& warp, const Flow::Register& r, Mask lanes) {
    Lanes out{};
    for_each_lane(held(warp, r) & lanes, [&](unsigned i) { out[i] = node(warp, r, i); });
    return out;
  }

  /// The bits of a register, as they are now.
  static std::uint64_t bits(Warp& warp, const Flow::Register& r, unsigned lane) {
    switch (r.width) {
      case 1: return warp.predicate(r.slot) >> lane & 1;
      case 16: return warp.lanes<std::uint16_t>(r.slot)[lane];
      case 32: return warp.lanes<std::uint32_t>(r.slot)[lane];
      default: return warp.lanes<std::uint64_t>(r.slot)[lane];
    }
  }
  double value(Warp& warp, const Flow::Register& r, unsigned lane) {
    const std::uint64_t b = bits(warp, r, lane);
    if (flow_->floating) {
      return r.width == 32 ? double{std::bit_cast<float>(static_cast<std::uint32_t>(b))}
                           : std::bit_cast<double>(b);
    }
    switch (r.width) {
      case 16: return static_cast<std::int16_t>(b);
      case 32: return static_cast<std::int32_t>(b);
      default: return static_cast<double>(static_cast<std::int64_t>(b));
    }
  }

  void decides_by(const Warp& warp, const Flow::Register& r, unsigned lane) {
    decides(warp, r, kBit[lane]);
  }
  void decides_by(Node n) { decides_by_allocations(forms_[n].from, n); }
  void decides_by_allocations(std::uint32_t from, Node undefined) {
    if (from) {
      sums_.decide(from, forms_.maker.site, from & SumForms::kOfNothing ? undefined : 0);
    } else {
      sums_.order(forms_.maker.site);
    }
  }
  void decides(const Warp& warp, const Flow::Register& r, Mask lanes) {
    const Mask some = held(warp, r) & lanes;
    if (!some) return;
    std::uint32_t from = 0;
    Node undefined = SumForms::kPlain;
    for_each_lane(some, [&](unsigned i) {
      const Node n = node(warp, r, i);
      from |= forms_[n].from;
      if (!undefined && forms_[n].from & SumForms::kOfNothing) undefined = n;
    });
    decides_by_allocations(from, undefined);
  }

  void compute(Warp& warp, Mask lanes) {
    Mask some = 0;
    for (const Flow::Register& r : reads()) some |= held(warp, r);
    some &= lanes;
    if (flow_->sum == Sum::kAsTheyRun) {
      for (const Flow::Register& r : writes()) by_order(warp, r, lanes);
      return;
    }
    if (!some) {
      for (const Flow::Register& r : writes()) clear(warp, r, lanes);
      return;
    }
    if (flow_->kind == Flow::Kind::kSelects) decides(warp, reads()[2], lanes);
    if (flow_->sum == Sum::kSplits) return split(warp, lanes, some);
    Lanes out{};
    for_each_lane(some, [&](unsigned i) { out[i] = result(warp, i); });
    for (const Flow::Register& r : writes()) {
      clear(warp, r, lanes);
      if (r.width == 1) {
        set_predicate(warp, r, some, out);
      } else {
        for_each_lane(some, [&](unsigned i) { set(warp, r, i, out[i]); });
      }
    }
  }

  /// Of whatever the lanes hold one node stands for all, and another where it isn't defined: a
  /// lane's comparison with what it never got says nothing of the others'.
  void set_predicate(Warp& warp, const Flow::Register& r, Mask lanes, const Lanes& out) {
    std::array<Node, 2> all{};
    std::array<std::uint32_t, 2> from{};
    for_each_lane(lanes, [&](unsigned i) {
      if (!out[i]) return;
      const bool k = is_open(out[i]);
      if (all[k] && (forms_[out[i]].from | from[k]) == from[k]) return;
      from[k] |= forms_[out[i]].from;
      all[k] = all[k] || out[i] != SumForms::kOfOrder ? forms_.lost(out[i], all[k]) : out[i];
    });
    const Registers& old = of(warp);
    for (const bool k : {false, true}) {
      const Mask open = old.open[r.slot / 4];
      if (all[k] && (old.held[r.slot / 4] & (k ? open : ~open))) {
        all[k] = forms_.lost(all[k], old.nodes[r.slot / 2 + k]);
      }
    }
    for_each_lane(lanes, [&](unsigned i) {
      if (out[i]) set(warp, r, i, all[is_open(out[i])]);
    });
  }

  /// What a lane's instruction makes of what it reads, of which something is a sum.
  Node result(Warp& warp, unsigned i) {
    const auto r = reads();
    std::array<Node, 4> in{};
    for (std::size_t k = 0; k < std::min<std::size_t>(r.size(), in.size()); ++k) {
      in[k] = node(warp, r[k], i);
    }
    if (flow_->kind == Flow::Kind::kSelects) {
      const bool first = (bits(warp, r[2], i) != 0) != flow_->negated;
      return in[first ? 0 : 1];
    }
    if (decided(warp, i, in)) return SumForms::kPlain;
    // What only the order of threads decides counts as a number, where sums are.
    bool sums = false, order = false;
    for (const Flow::Register& one : r) {
      const Node n = node(warp, one, i);
      (n == SumForms::kOfOrder ? order : sums) |= n != SumForms::kPlain;
    }
    if (!sums) return SumForms::kOfOrder;
    if (order) {
      sums_.order(forms_.maker.site);
      for (Node& n : in) n = n == SumForms::kOfOrder ? SumForms::kPlain : n;
    }
    const auto lost = [&] {
      Node all = SumForms::kPlain;
      if (!writes().empty() && writes()[0].width != 1) {
        if (const Node term = term_of(warp, i)) return term;
      }
      for (const Flow::Register& one : r) {
        if (const Node n = node(warp, one, i)) all = forms_.lost(n, all);
      }
      return all;
    };
    // A predicate is no number.
    if (!writes().empty() && writes()[0].width == 1) return lost();
    const auto plain = [&](std::size_t k) { return value(warp, r[k], i); };
    const auto sum = [&](Node a, std::size_t k) {
      return in[k] ? forms_.add(a, in[k]) : forms_.plus(a, plain(k));
    };
    const auto product = [&]() -> std::optional<Node> {
      if (in[0] && in[1]) return std::nullopt;
      if (!in[0] && !in[1]) return SumForms::kPlain;
      const double factor = plain(in[0] ? 1 : 0);
      const bool wide = writes()[0].width > r[0].width;
      if (wide && !flow_->floating && factor < 0) return std::nullopt;
      const Node n = in[0] ? in[0] : in[1];
      return forms_.scale(wide ? forms_.widen(n) : n, factor);
    };
    switch (flow_->sum) {
      case Sum::kMoves: return moved(in[0], r[0].width, writes()[0].width);
      case Sum::kAdds: return in[0] ? sum(in[0], 1) : forms_.plus(in[1], plain(0));
      case Sum::kSubtracts: {
        const Node b = forms_.scale(in[1], -1);
        if (!in[0]) return forms_.plus(b, plain(0));
        return in[1] ? forms_.add(in[0], b) : forms_.plus(in[0], -plain(1));
      }
      case Sum::kNegates: return forms_.scale(in[0], -1);
      case Sum::kMultiplies: {
        const std::optional<Node> p = product();
        return p ? *p : product_of(in);
      }
      case Sum::kMultipliesAndAdds: {
        const std::optional<Node> p = product();
        if (!p) return sum(product_of(in), 2);
        if (!*p && !in[0] && !in[1]) return forms_.plus(in[2], plain(0) * plain(1));
        return *p ? sum(*p, 2) : in[2];
      }
      case Sum::kDivides:
        if (in[1] || plain(1) == 0) return lost_of(in);
        return forms_.scale(in[0], 1 / plain(1));
      case Sum::kShiftsLeft: {
        if (in[1]) return lost_of(in);
        const auto by = static_cast<unsigned>(std::min<std::uint64_t>(bits(warp, r[1], i), 64));
        if (by >= r[0].width) return SumForms::kPlain;
        // What leaves at the top is known of what has a size.
        const SumForms::Entry& e = forms_[in[0]];
        const unsigned size = e.kind == SumForms::Kind::kInput   ? 8u * e.size
                              : e.kind == SumForms::Kind::kPiece ? e.size
                                                                 : 0;
        const Node kept = size + by > r[0].width ? forms_.bits(in[0], 0, r[0].width - by) : in[0];
        return forms_.scale(kept, std::ldexp(1.0, static_cast<int>(by)));
      }
      case Sum::kShiftsRight: {
        const std::uint64_t by = bits(warp, r[1], i);
        if (in[1]) return lost_of(in);
        if (by >= r[0].width) return forms_.lost(in[0]);
        return forms_.bits(in[0], static_cast<unsigned>(by), static_cast<unsigned>(r[0].width - by),
                           r[0].width);
      }
      case Sum::kMasks: return masked(warp, i, in);
      case Sum::kTakes: {
        const std::uint64_t from = bits(warp, r[1], i) & 0xff, count = bits(warp, r[2], i) & 0xff;
        if (in[1] || in[2] || from + count > r[0].width) return lost_of(in);
        return forms_.bits(in[0], static_cast<unsigned>(from), static_cast<unsigned>(count),
                           r[0].width);
      }
      case Sum::kFlips: {
        if (in[0] && in[1]) return lost_of(in);
        return forms_.flip(in[0] ? in[0] : in[1], bits(warp, r[in[0] ? 1 : 0], i));
      }
      case Sum::kSets: return with_bits(warp, i, in);
      case Sum::kPermutes: return permuted(warp, i, in);
      case Sum::kDots: return dotted(warp, i, in);
      case Sum::kJoins: {
        if (r.size() == 2 && !in[0]) {
          const Node high = forms_.scale(in[1], r[0].width == 32 ? 0x1p32 : 0x1p16);
          return forms_.plus(high, static_cast<double>(bits(warp, r[0], i)));
        }
        Node all = SumForms::kPlain;
        for (std::size_t k = r.size(); k-- > 0;) {
          const Node part = node(warp, r[k], i);
          all = k + 1 == r.size() ? part : forms_.join(part, all, r[k].width / 8);
        }
        return all;
      }
      default: return lost();
    }
  }

  /// One of the two decides, whatever the other is.
  bool decided(Warp& warp, unsigned i, const std::array<Node, 4>& in) {
    const bool ands = flow_->kind == Flow::Kind::kAnds;
    if (!ands && flow_->kind != Flow::Kind::kOrs) return false;
    const auto r = reads();
    for (const std::size_t k : {0, 1}) {
      if (in[k]) continue;
      const std::uint64_t ones = ~std::uint64_t{0} >> (64 - r[k].width);
      if (bits(warp, r[k], i) == (ands ? 0 : ones)) return true;
    }
    return false;
  }

  Node product_of(const std::array<Node, 4>& in) {
    const Node product = in[0] && in[1] ? forms_.product(in[0], in[1]) : SumForms::kPlain;
    return product ? product : lost_of({in[0], in[1]});
  }
  /// Something made of one element and numbers; 0 where it isn't.
  Node term_of(Warp& warp, unsigned i) {
    Node all = SumForms::kPlain;
    for (const Flow::Register& one : reads()) {
      const Node n = node(warp, one, i);
      if (n == SumForms::kOfOrder || one.width == 1) return SumForms::kPlain;
      if (n) all = all ? forms_.lost(n, all) : n;
    }
    return forms_.term(all);
  }

  Node lost_of(const std::array<Node, 4>& in) {
    Node all = SumForms::kPlain;
    for (const Node n : in) {
      if (n) all = forms_.lost(n, all);
    }
    return all;
  }

  Node moved(Node n, unsigned from, unsigned to) {
    const unsigned low = flow_->low ? std::min<unsigned>(flow_->low, from) : from;
    if (low < 32) return forms_.piece(n, 0, low / 8);
    if (flow_->floating) return to > from ? forms_.widen(n) : n;
    const SumForms::Kind kind = forms_[n].kind;
    if (to < from) {
      if (forms_[n].zeros >= to) return forms_.bits(n, 0, to);
      const bool parts = kind == SumForms::Kind::kInput || kind == SumForms::Kind::kJoin;
      return parts ? forms_.piece(n, 0, to / 8) : n;
    }
    return to > from ? forms_.widen(n) : n;
  }

  /// An `and` with ones one after another.
  Node masked(Warp& warp, unsigned i, const std::array<Node, 4>& in) {
    const auto r = reads();
    if (in[0] && in[1]) return lost_of(in);
    const std::size_t value = in[0] ? 0 : 1;
    const std::uint64_t ones = bits(warp, r[1 - value], i);
    if (ones == 0) return SumForms::kPlain;
    const unsigned width = static_cast<unsigned>(std::bit_width(ones));
    const auto low = static_cast<unsigned>(std::countr_zero(ones));
    if (std::popcount(ones) != static_cast<int>(width - low)) return lost_of(in);
    if (low == 0 && width >= r[value].width) return in[value];
    return forms_.scale(forms_.bits(in[value], low, width - low, r[value].width),
                        std::ldexp(1.0, static_cast<int>(low)));
  }

  /// An `or` of what has no bit in common.
  Node with_bits(Warp& warp, unsigned i, const std::array<Node, 4>& in) {
    const auto r = reads();
    const auto fits = [](std::uint64_t value, unsigned bits) { return value >> bits == 0; };
    for (const std::size_t k : {0, 1}) {
      const Node high = in[k], low = in[1 - k];
      if (!high) continue;
      const SumForms::Entry &h = forms_[high], &l = forms_[low];
      if (!low) {
        const std::uint64_t value = bits(warp, r[1 - k], i);
        if (value == 0 || (h.zeros && fits(value, h.zeros))) {
          return forms_.plus(high, static_cast<double>(value));
        }
      } else if ((l.kind == SumForms::Kind::kInput && 8 * l.size <= h.zeros) ||
                 (l.kind == SumForms::Kind::kPiece && l.size <= h.zeros)) {
        return forms_.add(high, low);
      }
    }
    return lost_of(in);
  }

  /// Bytes of two registers: those one behind the other of one, and zeros.
  Node permuted(Warp& warp, unsigned i, const std::array<Node, 4>& in) {
    const auto r = reads();
    if (in[2]) return lost_of(in);
    const std::uint64_t choice = bits(warp, r[2], i);
    Node all = SumForms::kPlain;
    for (unsigned k = 4; k-- > 0;) {
      const auto chosen = static_cast<unsigned>(choice >> 4 * k & 15);
      const unsigned byte = chosen & 7;
      const Node whole = in[byte / 4];
      if (chosen & 8) {  // the sign of a byte: of the one before, it extends that
        if (whole && k == 0) return lost_of(in);
        continue;
      }
      const Node part = forms_.piece(whole, byte % 4, 1);
      all = k == 3 ? part : forms_.join(part, all, 1);
    }
    return all;
  }

  Node dotted(Warp& warp, unsigned i, const std::array<Node, 4>& in) {
    const auto r = reads();
    if (in[0] && in[1]) return lost_of(in);
    Node all = in[2];
    const std::size_t value = in[0] ? 0 : 1;
    const std::uint64_t factors = bits(warp, r[1 - value], i);
    if (in[value]) {
      for (unsigned k = 0; k < 4; ++k) {
        const auto factor = static_cast<double>(factors >> 8 * k & 0xff);
        if (factor > 127) return lost_of(in);  // or a number below zero
        all = forms_.add(all, forms_.scale(forms_.piece(in[value], k, 1), factor));
      }
    }
    return in[2] ? all : forms_.plus(all, this->value(warp, r[2], i));
  }

  void split(Warp& warp, Mask lanes, Mask some) {
    const Lanes whole = read(warp, reads()[0], some);
    unsigned at = 0;
    for (const Flow::Register& r : writes()) {
      clear(warp, r, lanes);
      for_each_lane(some,
                    [&](unsigned i) { set(warp, r, i, forms_.piece(whole[i], at, r.width / 8)); });
      at += r.width / 8;
    }
  }

  // --- memory --------------------------------------------------------------------------------

  std::vector<Node>& shared_of(const Block* home) {
    if (home == nullptr || home == &block_) return shared_;
    const auto other = sums_.shared_of.find(home);
    if (other != sums_.shared_of.end()) return *other->second;
    sums_.unfollowed = true;
    return shared_;
  }
  std::uint64_t in_local(const Warp& warp, unsigned lane, Address address) const {
    return (warp.number() * kLanes + lane) * local_words_ * 4 + address;
  }
  bool is_in_frame(Address address, unsigned bytes) const {
    return address + bytes > code_.local_bytes;
  }
  Sums::Region* region(Address address) {
    if (!last_ || address - last_->allocation.base >= last_->allocation.size) {
      last_ = sums_.region(address);
    }
    return last_;
  }

  Node get(Warp& warp, Space space, const Block* home, unsigned lane, Address at, unsigned bytes) {
    switch (space) {
      case Space::kShared: {
        std::vector<Node>& words = shared_of(home);
        return at + bytes > 4 * words.size() ? SumForms::kPlain
                                             : get_words(words, at, bytes, Undefined::kShared);
      }
      case Space::kLocal:
        if (is_in_frame(at, bytes)) return SumForms::kPlain;
        return get_words(local(), in_local(warp, lane, at), bytes, Undefined::kLocal);
      default: {
        Sums::Region* const r = region(at);
        return r ? sums_.load(*r, at - r->allocation.base, bytes) : SumForms::kPlain;
      }
    }
  }

  void put(Warp& warp, Space space, const Block* home, unsigned lane, Address at, unsigned bytes,
           Node node, bool zero) {
    switch (space) {
      case Space::kShared: {
        std::vector<Node>& words = shared_of(home);
        if (at + bytes > 4 * words.size()) return;
        put_words(words, at, bytes, node, Sums::in_shared(0));
        return;
      }
      case Space::kLocal:
        if (is_in_frame(at, bytes)) {
          if (node) sums_.unfollowed = true;
          return;
        }
        put_words(local(), in_local(warp, lane, at), bytes, node, Sums::in_local(0, 0));
        return;
      default:
        if (Sums::Region* const r = region(at)) {
          sums_.store(*r, at - r->allocation.base, bytes, node, zero);
        }
    }
  }

  std::vector<Node>& local() {
    if (local_.empty()) {
      local_.resize(static_cast<std::size_t>(warps_.size() * kLanes * local_words_),
                    Sums::kUnwritten);
    }
    return local_;
  }

  /// What nothing has written is a value of its own, from where it is looked at.
  void meet_unwritten(Node& word, std::uint64_t number, Undefined why, std::uint32_t in_part = 0) {
    if (word == Sums::kUnwritten) {
      word = forms_.undefined(why, 0, static_cast<std::uint32_t>(number) | in_part);
    }
  }
  Node get_words(std::vector<Node>& words, std::uint64_t at, unsigned bytes, Undefined why) {
    for (std::uint64_t w = at / 4; w <= (at + bytes - 1) / 4; ++w) {
      meet_unwritten(words[static_cast<std::size_t>(w)], w, why);
    }
    return load_words(forms_, words.data(), at, bytes);
  }

  void put_words(std::vector<Node>& words, std::uint64_t at, unsigned bytes, Node node,
                 std::uint64_t where) {
    const std::uint64_t first = at / 4, last = (at + bytes - 1) / 4;
    bool any = node != 0;
    for (std::uint64_t w = first; w <= last; ++w) {
      Node& word = words[static_cast<std::size_t>(w)];
      if (word == Sums::kUnwritten && bytes >= 4) word = SumForms::kPlain;
      meet_unwritten(word, w, where >> 63 ? Undefined::kShared : Undefined::kLocal,
                     SumForms::kInPart);
      any |= word != 0;
    }
    if (!any) return;
    store_words(forms_, words.data(), at, bytes, node);
    for (std::uint64_t w = first; w <= last; ++w) {
      sums_.note({where | w, words[static_cast<std::size_t>(w)], forms_.maker.site, number_});
    }
  }

  void load(const Access& access, Space space) {
    Warp& warp = access.warp;
    if (access.op.control == Control::kTogether ||
        (flow_->kind != Flow::Kind::kLoads && !writes().empty())) {
      return load_together(access, space);
    }
    if (flow_->kind != Flow::Kind::kLoads) {  // of a copy, which begins next
      for_each_lane(access.lanes, [&](unsigned i) {
        staged_[i] = {};
        for (unsigned k = 0; k + 4 <= access.bytes; k += 4) {
          staged_[i][k / 4] = get(warp, space, access.home, i, access.address[i] + k, 4);
        }
      });
      return;
    }
    const auto to = writes();
    const unsigned bytes = access.bytes / static_cast<unsigned>(to.size());
    for_each_lane(access.lanes, [&](unsigned i) {
      for (std::size_t k = 0; k < to.size(); ++k) {
        const Address at = access.address[i] + k * bytes;
        const OldValues::Given* const older =
            sums_.old && space == Space::kGlobal ? sums_.old->given_at(at) : nullptr;
        Node n = older ? older->write.node : get(warp, space, access.home, i, at, bytes);
        // Of an older value it is said that it is one, whatever was there.
        if (older && forms_[n].kind == SumForms::Kind::kUndefined) n = SumForms::kPlain;
        set(warp, to[k], i, n);
      }
    });
  }

  /// Of a texture, or of a matrix: what was read is in what all lanes get, somehow.
  void load_together(const Access& access, Space space) {
    Node all = SumForms::kPlain;
    for_each_lane(access.lanes, [&](unsigned i) {
      if (const Node n = get(access.warp, space, access.home, i, access.address[i], access.bytes)) {
        all = forms_.lost(n, all);
      }
    });
    if (!all) return;
    for (const Flow::Register& r : writes()) {
      const bool matrix = access.op.control == Control::kTogether;
      for_each_lane(matrix ? kAllLanes : access.lanes, [&](unsigned i) {
        const Node before = node(access.warp, r, i);
        set(access.warp, r, i, before ? forms_.lost(before, all) : all);
      });
    }
  }

  /// An mbarrier is a number, to which init gives a value.
  void set_barrier(const Access& access) {
    if (access.direction == Direction::kLoad || access.space != Space::kShared) return;
    for_each_lane(access.lanes, [&](unsigned i) {
      put(access.warp, Space::kShared, access.home, i, access.address[i], access.bytes,
          SumForms::kPlain, false);
    });
    if (access.direction != Direction::kAtomic || access.silent) return;
    for (const Flow::Register& r : writes()) by_order(access.warp, r, access.lanes);
  }

  /// What a call hands over, from one place in the thread's memory to another.
  void copy_local(const Access& access) {
    for_each_lane(access.lanes, [&](unsigned i) {
      for (unsigned k = 0; k < access.bytes; k += 4) {
        const unsigned bytes = std::min(4u, access.bytes - k);
        const Node n = get(access.warp, access.space, nullptr, i, access.from[i] + k, bytes);
        put(access.warp, access.space, nullptr, i, access.address[i] + k, bytes, n, false);
      }
    });
  }

  void store(const Access& access, Space space) {
    Warp& warp = access.warp;
    if (access.from) return copy_local(access);
    if (!access.op.counted) sums_.unfollowed = true;  // a register, to a call
    const unsigned count = access.element ? access.bytes / access.element : 1;
    const unsigned bytes = access.bytes / count;
    for_each_lane(access.lanes, [&](unsigned i) {
      for (unsigned k = 0; k < count; ++k) {
        const Node n = k < sources_.size() ? sources_[k][i] : SumForms::kPlain;
        const std::byte* const value =
            access.values ? access.values + i * access.bytes + k * bytes : nullptr;
        const bool zero = value && std::all_of(value, value + bytes,
                                               [](std::byte b) { return b == std::byte{0}; });
        put(warp, space, access.home, i, access.address[i] + k * bytes, bytes, n, zero);
      }
    });
  }

  /// Of writes that may be seen late: who is in what they replace. Of reads: who is given what is
  /// older than the latest, and hasn't looked again.
  void meet_older(const Access& access) {
    OldValues& old = *sums_.old;
    const bool reads = access.direction == Direction::kLoad;
    if (reads && access.order == Order::kWeak) return;
    OldValues::each_element(access, [&](unsigned i, Address at, unsigned bytes) {
      OldValues::Place* const place = old.find(at, bytes);
      if (!place) return;
      const auto now = [&] { return get(access.warp, Space::kGlobal, nullptr, i, at, bytes); };
      if (!reads) {
        OldValues::Write& latest = place->writes.back();
        if (latest.node == OldValues::kUnknown) latest.node = now();
        return;
      }
      const std::tuple who{number_, access.warp.number() * kLanes + i, at};
      if (const OldValues::Given* const given = old.given_at(at)) {
        if (forms_[now()].from) late(access, i, *given).open.insert(who);
      } else {
        for (auto& [sites, older] : sums_.older) older.open.erase(who);
      }
    });
  }

  Sums::Older& late(const Access& access, unsigned lane, const OldValues::Given& given) {
    const OldValues::Write& write = given.write;
    const std::uint32_t from = sums_.site(code_, write.pc), to = forms_.maker.site;
    const auto [at, fresh] = sums_.older.try_emplace({from, to});
    if (fresh) {
      const auto who = [&](std::uint64_t block, unsigned warp, unsigned i) {
        return block_.block_name(block) + ", " + block_.thread_name(warp, i);
      };
      const OldValues::By& by = write.by;
      at->second.where = block_.memory_at(given.at);
      at->second.written = who(by.block, by.warp, by.lane) + " writes it at " + sums_.sites[from];
      at->second.read =
          who(block_.number(), access.warp.number(), lane) + " reads it at " + sums_.sites[to];
    }
    return at->second;
  }

  /// Atomics: lanes one after another.
  void update(const Access& access, Space space) {
    Warp& warp = access.warp;
    const auto from = reads();
    const unsigned count = access.element ? access.bytes / access.element : 1;
    const unsigned bytes = access.bytes / count;
    if (from.empty() || sources_.empty()) return;
    if (flow_->sum == Sum::kSwaps) return swap(access, space);
    for_each_lane(access.lanes, [&](unsigned i) {
      for (unsigned k = 0; k < count; ++k) {
        const Address at = access.address[i] + k * bytes;
        const Node old = get(warp, space, access.home, i, at, bytes);
        Node given = k < sources_.size() ? sources_[k][i] : SumForms::kPlain;
        if (given == SumForms::kOfOrder) {
          sums_.order(forms_.maker.site);
          given = SumForms::kPlain;
        }
        if (old || given) {
          const bool zero = bits(warp, from[k], i) == 0;
          put(warp, space, access.home, i, at, bytes, updated(access, i, k, old, given, space),
              zero);
        }
        // What it was told of itself depends on who came before.
        if (!access.silent && k < writes().size()) {
          set(warp, writes()[k], i, old ? old : SumForms::kOfOrder);
        }
      }
    });
  }

  /// The device's own memory says which lanes' values are taken; those of lanes before are on top.
  void swap(const Access& access, Space space) {
    Warp& warp = access.warp;
    std::map<Address, std::uint64_t> now;
    for_each_lane(access.lanes, [&](unsigned i) {
      const Address at = access.address[i];
      const Node old = get(warp, space, access.home, i, at, access.bytes);
      const Node wanted = sources_[0][i], next = sources_[1][i];
      for (const Node n : {old, wanted}) {
        if (n) decides_by(n);
      }
      const auto there = now.try_emplace(at, bits_there(access, i, 0, space)).first;
      if (there->second == bits(warp, reads()[0], i)) {
        there->second = bits(warp, reads()[1], i);
        if (old || next) {
          put(warp, space, access.home, i, at, access.bytes, next, there->second == 0);
        }
      }
      if (!access.silent) set(warp, writes()[0], i, old ? old : SumForms::kOfOrder);
    });
  }

  Node updated(const Access& access, unsigned i, unsigned k, Node old, Node given, Space space) {
    Warp& warp = access.warp;
    switch (flow_->sum) {
      case Sum::kAdds:
        if (given) {
          // What is there of itself is where the sum begins: zero, or something that counts.
          if (!old) {
            return forms_.plus(given, held_there(access, i, k, space));
          }
          if (flow_->floating) sums_.gather(forms_.maker.site);
          return forms_.add(old, given);
        }
        return forms_.plus(old, value(warp, reads()[k], i));
      case Sum::kMoves: return given;
      default: return forms_.lost(old ? old : given, old ? given : SumForms::kPlain);
    }
  }

  std::uint64_t bits_there(const Access& access, unsigned i, unsigned k, Space space) {
    const unsigned bytes = access.element_bytes();
    const Address at = access.address[i] + k * bytes;
    const std::byte* from = nullptr;
    if (space == Space::kShared) {
      Block* const home = access.home ? access.home : &block_;
      from = home->shared() + at;
    } else if (const Sums::Region* const r = region(at)) {
      from = r->allocation.host + (at - r->allocation.base);
    }
    std::uint64_t value = 0;
    if (from) std::memcpy(&value, from, std::min<std::size_t>(bytes, sizeof value));
    return value;
  }
  double held_there(const Access& access, unsigned i, unsigned k, Space space) {
    const unsigned bytes = access.element_bytes();
    const std::uint64_t b = bits_there(access, i, k, space);
    if (flow_->floating && bytes == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(b));
    if (flow_->floating && bytes == 8) return std::bit_cast<double>(b);
    return bytes == 4 ? static_cast<double>(static_cast<std::int32_t>(b))
                      : static_cast<double>(static_cast<std::int64_t>(b));
  }

  void land(std::uint64_t number) {
    const auto found = copies_.find(number);
    if (found == copies_.end()) return land_sent(number);
    const OnItsWay copy = found->second;
    copies_.erase(found);
    forms_.maker = {.site = copy.site, .block = number_};
    sums_.block = number_;
    const Space global = Space::kGlobal;
    for (std::uint64_t k = 0; k + 4 <= copy.bytes; k += 4) {
      Node n = SumForms::kPlain;
      if (copy.from_space == Space::kGeneric) {
        n = copy.nodes[static_cast<std::size_t>(k / 4)];
      } else if (copy.from_space == Space::kShared) {
        if (copy.from + k + 4 <= 4 * shared_.size())
          n = get_words(shared_, copy.from + k, 4, Undefined::kShared);
      } else if (Sums::Region* const r = region(copy.from + k)) {
        n = sums_.load(*r, copy.from + k - r->allocation.base, 4);
      }
      if (copy.to_space == global) {
        if (Sums::Region* const r = region(copy.to + k)) {
          sums_.store(*r, copy.to + k - r->allocation.base, 4, n, false);
        }
      } else if (copy.to + k + 4 <= 4 * shared_.size()) {
        put_words(shared_, copy.to + k, 4, n, Sums::in_shared(0));
      }
    }
  }

  /// What another block of the cluster has sent.
  void land_sent(std::uint64_t number) {
    const auto found = sums_.sent.extract({&block_, number});
    if (!found) return;
    const Sums::Sent& sent = found.mapped();
    forms_.maker = {.site = sent.site, .block = sent.block};
    sums_.block = sent.block;
    Address to = sent.to;
    for (const Node n : sent.nodes) {
      if (to + sent.bytes <= 4 * shared_.size()) {
        put_words(shared_, to, sent.bytes, n, Sums::in_shared(0));
      }
      to += sent.bytes;
    }
  }

  Sums& sums_;
  SumForms& forms_;
  Block& block_;
  const Code& code_;
  std::uint64_t local_words_;
  std::vector<Node> shared_, local_;
  std::vector<std::uint32_t> site_of_;
  std::vector<Registers> warps_;
  std::uint32_t number_ = 0;
  bool several_blocks_ = false;
  Mask outside_ = 0;  ///< lanes that the instruction's own mask leaves out
  const Flow* flow_ = nullptr;
  std::vector<Lanes> sources_;  ///< what an access puts into memory
  std::array<std::array<Node, kMostBytes / 4>, kLanes> staged_{};
  std::unordered_map<std::uint64_t, OnItsWay> copies_;
  Sums::Region* last_ = nullptr;
};

}  // namespace

std::unique_ptr<BlockObserver> follow_sums(Sums& sums, Block& block) {
  return std::make_unique<BlockSums>(sums, block);
}

}  // namespace emu
