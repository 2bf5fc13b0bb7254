#include "decode/merge.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>

namespace emu {
namespace {

using FixedAddress = std::function<std::optional<std::uint64_t>(const Operand&, int)>;

bool has(const Instruction& in, std::string_view modifier) {
  return std::ranges::find(in.modifiers, modifier) != in.modifiers.end();
}

/// Low bits of registers that are zero in every value they can have, from what defines them.
class Alignment {
 public:
  Alignment(const Function& f, const std::vector<const Row*>& rows, const FixedAddress& fixed)
      : fixed_(fixed) {
    for (std::size_t i = 0; i < f.body.size(); ++i) {
      const Instruction& in = f.body[i];
      if (!in.operands.empty() && in.operands[0].kind == Operand::Kind::kName) {
        definitions_[in.operands[0].name].push_back({&in, rows[i]});
      } else if (!in.operands.empty() && in.operands[0].kind == Operand::Kind::kList) {
        for (const Operand& o : in.operands[0].elements)
          definitions_[o.name].push_back({&in, rows[i]});
      }
    }
  }

  unsigned zeros(std::string_view name, int depth = 0) {
    if (const auto it = known_.find(name); it != known_.end()) return it->second;
    const auto it = definitions_.find(name);
    if (it == definitions_.end() || depth > 64) return 0;
    known_[name] = kMany;  // a loop that adds to it: what comes from elsewhere decides
    unsigned least = kMany;
    for (const Definition& d : it->second) least = std::min(least, of(d, depth + 1));
    return known_[name] = least;
  }

 private:
  struct Definition {
    const Instruction* instruction;
    const Row* row;
  };
  static constexpr unsigned kMany = 32;

  unsigned of(const Operand& o, const Instruction& in, int depth) {
    if (o.kind == Operand::Kind::kInteger) {
      return o.bits ? static_cast<unsigned>(std::countr_zero(o.bits)) : kMany;
    }
    if (o.kind != Operand::Kind::kName) return 0;
    if (definitions_.contains(o.name)) return zeros(o.name, depth);
    const auto address = fixed_(o, in.scope);
    if (!address) return 0;
    return *address ? static_cast<unsigned>(std::countr_zero(*address)) : kMany;
  }

  unsigned of(const Definition& definition, int depth) {
    const Instruction& in = *definition.instruction;
    const auto part = [&](std::size_t i) {
      return i < in.operands.size() ? of(in.operands[i], in, depth) : 0;
    };
    using Zeros = Traits::LowZeros;
    switch (definition.row->traits.low_zeros) {
      case Zeros::kOfFirst: return part(1);
      case Zeros::kLeast: return std::min(part(1), part(2));
      case Zeros::kMost: return std::max(part(1), part(2));
      case Zeros::kShifted:
        if (in.operands.size() != 3 || in.operands[2].kind != Operand::Kind::kInteger) return 0;
        return std::min<unsigned>(kMany, part(1) + static_cast<unsigned>(in.operands[2].bits & 63));
      case Zeros::kSum: return std::min(kMany, part(1) + part(2));
      case Zeros::kSumOrThird: return std::min({kMany, part(1) + part(2), part(3)});
      case Zeros::kUnknown: break;
    }
    return 0;
  }

  const FixedAddress& fixed_;
  std::map<std::string_view, std::vector<Definition>> definitions_;
  std::map<std::string_view, unsigned> known_;
};

struct Load {
  std::int64_t offset;  ///< from the base; for a variable, its address
  std::size_t instruction;
};

bool is_candidate(const Instruction& in, const Row& row) {
  return row.traits.merges && in.guard.empty() && in.operands.size() == 2 &&
         in.operands[0].kind == Operand::Kind::kName &&
         (has(in, "shared") || has(in, "shared::cta")) &&
         (has(in, "u32") || has(in, "s32") || has(in, "b32") || has(in, "f32")) &&
         in.modifiers.size() == 2 && in.operands[1].kind == Operand::Kind::kAddress &&
         !in.operands[1].name.empty();
}

/// Whether loads before it can't be put together with loads after it.
bool separates(const Instruction& in, const Row& row) {
  switch (row.traits.parts) {
    case Traits::Parts::kNothing: return false;
    case Traits::Parts::kSharedLoads: return true;
    case Traits::Parts::kIfShared: break;
  }
  return !has(in, "global") && !has(in, "local") && !has(in, "param");
}

/// Aligned runs of four, then of two. `zeros`: low bits of the base that are known to be zero.
void merge(std::vector<Load>& loads, unsigned zeros, bool certain, std::vector<Merge>& out) {
  std::ranges::sort(loads, {}, &Load::offset);
  for (const std::size_t n : {std::size_t{4}, std::size_t{2}}) {
    const auto bytes = static_cast<std::int64_t>(4 * n);
    if ((1LL << zeros) < bytes) continue;
    for (std::size_t i = 0; i + n <= loads.size();) {
      bool run = loads[i].offset % bytes == 0;
      for (std::size_t k = 1; k < n; ++k) {
        run = run && loads[i + k].offset == loads[i].offset + static_cast<std::int64_t>(4 * k);
      }
      if (!run) {
        ++i;
        continue;
      }
      const auto begin = loads.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = begin + static_cast<std::ptrdiff_t>(n);
      const auto first = std::min_element(
          begin, end, [](const Load& a, const Load& b) { return a.instruction < b.instruction; });
      for (auto load = begin; load != end; ++load) {
        out.push_back({load->instruction, load == first ? static_cast<unsigned>(bytes) : 0,
                       load->offset - begin->offset, certain});
      }
      loads.erase(begin, end);
    }
  }
}

}  // namespace

std::vector<Merge> merge_shared_loads(const Function& f, const std::vector<const Row*>& rows,
                                      const FixedAddress& fixed_address) {
  std::vector<Merge> out;
  std::vector<bool> candidates;
  for (std::size_t i = 0; i < f.body.size(); ++i) {
    candidates.push_back(is_candidate(f.body[i], *rows[i]));
  }
  if (std::ranges::count(candidates, true) < 2) return out;
  std::set<std::size_t> labels;
  for (const Scope& s : f.scopes) {
    for (const auto& [name, at] : s.labels) labels.insert(at);
  }
  Alignment alignment(f, rows, fixed_address);

  std::map<std::string_view, std::vector<Load>> by_register;
  std::vector<Load> fixed;
  const auto close = [&] {
    for (auto& [base, loads] : by_register) {
      if (loads.size() > 1) merge(loads, alignment.zeros(base), false, out);
    }
    merge(fixed, 32, true, out);
    by_register.clear();
    fixed.clear();
  };
  for (std::size_t i = 0; i < f.body.size(); ++i) {
    const Instruction& in = f.body[i];
    if (labels.contains(i) || separates(in, *rows[i])) close();
    if (candidates[i]) {
      Operand base = in.operands[1];
      base.kind = Operand::Kind::kName;
      base.offset = 0;
      if (const auto address = fixed_address(base, in.scope)) {
        fixed.push_back({static_cast<std::int64_t>(*address) + in.operands[1].offset, i});
      } else {
        by_register[base.name].push_back({in.operands[1].offset, i});
      }
    }
    // A base that gets a new value begins anew.
    if (!in.operands.empty()) {
      const auto renew = [&](std::string_view name) {
        const auto it = by_register.find(name);
        if (it == by_register.end()) return;
        if (it->second.size() > 1) merge(it->second, alignment.zeros(name), false, out);
        by_register.erase(it);
      };
      renew(in.operands[0].name);
      for (const Operand& o : in.operands[0].elements) renew(o.name);
    }
  }
  close();
  return out;
}

}  // namespace emu
