// Values that nothing has made: which results have them, what they have decided, and where they
// come from.
#include <algorithm>
#include <tuple>

#include "watch/sum_judge.hpp"

namespace emu::sum_parts {
namespace {

using Undefined = SumForms::Undefined;

const std::string kNeverWritten = "memory that was never written";
const std::string kUndefined = "an undefined value";

Undefined why(const SumForms::Entry& e) {
  return static_cast<Undefined>(e.size);
}
bool is_memory(const SumForms::Entry& e) {
  return why(e) < Undefined::kRegister;
}

}  // namespace

void Judge::accuse_undefined() {
  std::map<std::uint32_t, std::set<std::uint32_t>> by_region;
  for (const auto& [output, values] : undefined_) {
    if (!values.empty()) by_region[outputs_[output].region].insert(output);
  }
  for (const auto& [region, outputs] : by_region) {
    ill_defined_.insert(region);
    if (sums_.unfollowed) {  // which may have written it
      add(false, places_of_outputs(outputs) + " can't be followed", {kUnfollowed});
    } else {
      accuse_undefined(outputs);
    }
  }
  if (!sums_.unfollowed) accuse_decisions();
}

void Judge::accuse_undefined(const std::set<std::uint32_t>& outputs) {
  std::set<Node> values;
  for (const std::uint32_t o : outputs) values.insert(undefined_[o].begin(), undefined_[o].end());
  const bool memory =
      std::all_of(values.begin(), values.end(), [&](Node n) { return is_memory(forms_[n]); });
  std::set<std::string> places;
  std::vector<std::string> details = sources_of(values, places);
  add(true, (memory ? kNeverWritten : kUndefined) + " is in " + places_of_outputs(outputs),
      std::move(details), {places.begin(), places.end()});
}

void Judge::accuse_decisions() {
  for (const Sums::Decided& d : sums_.decided) {
    if (!d.node || !launches_.contains(d.launch)) continue;
    std::set<Node> values;
    std::vector<Node> nodes{d.node};
    ++now_;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (forms_[nodes[i]].kind == Kind::kUndefined) values.insert(nodes[i]);
      const auto [a, b] = forms_.parts(nodes[i]);
      for (const Node n : {a, b}) {
        if (n == 0 || stamp_[n] == now_) continue;
        stamp_[n] = now_;
        nodes.push_back(n);
      }
    }
    std::set<std::string> places{sums_.places[d.site]};
    std::vector<std::string> details = sources_of(values, places);
    const bool memory =
        std::all_of(values.begin(), values.end(), [&](Node n) { return is_memory(forms_[n]); });
    add(true,
        "what " + sums_.sites[d.site] + " does depends on " + (memory ? kNeverWritten : kUndefined),
        std::move(details), {places.begin(), places.end()});
  }
}

std::vector<std::string> Judge::sources_of(const std::set<Node>& undefined,
                                           std::set<std::string>& places) const {
  std::map<std::tuple<std::uint32_t, std::uint8_t, std::uint32_t, std::uint32_t>, std::vector<Node>>
      alike;
  for (const Node n : undefined) {
    const SumForms::Entry& e = forms_[n];
    const auto kind = static_cast<std::uint8_t>(e.size | (e.b & SumForms::kInPart) >> 24);
    alike[{e.site, kind, why(e) == Undefined::kShared ? e.block : 0, e.a}].push_back(n);
  }
  std::vector<std::string> lines;
  std::uint64_t further = 0;
  for (auto& [key, nodes] : alike) {
    if (lines.size() == kMostStories) {
      further += nodes.size();
      continue;
    }
    const auto [first, last] = std::minmax_element(
        nodes.begin(), nodes.end(), [&](Node a, Node b) { return forms_[a].b < forms_[b].b; });
    if (const std::uint32_t site = forms_[*first].site) places.insert(sums_.places[site]);
    lines.push_back(source_of(forms_[*first], forms_[*last]) +
                    (nodes.size() > 1 ? " (" + plural(nodes.size(), "value") + ")" : ""));
  }
  if (further) lines.push_back("and " + plural(further, "other"));
  return lines;
}

std::string Judge::source_of(const SumForms::Entry& first, const SumForms::Entry& last) const {
  const std::string& site = sums_.sites[first.site];
  const std::string read = first.b & SumForms::kInPart
                               ? ": nothing has written all of it, a part is written at " + site
                           : first.site ? ": nothing had written it when it was read at " + site
                                        : ": nothing had written it when the host read it";
  const std::uint32_t from = first.b & ~SumForms::kInPart, to = last.b & ~SumForms::kInPart;
  const auto at = [&](std::uint64_t where, std::uint64_t end) {
    return memory({.where = where, .site = first.site, .block = first.block}, end) + read;
  };
  switch (why(first)) {
    case Undefined::kGlobal:
      return at(Sums::in_region(first.a, from), Sums::in_region(first.a, to));
    case Undefined::kShared: return at(Sums::in_shared(from), Sums::in_shared(to));
    case Undefined::kLocal: return at(Sums::in_local(0, from), Sums::in_local(0, to));
    case Undefined::kRegister: return "a register that nothing had set when it was used at " + site;
    case Undefined::kLane:
      return "what the shuffle at " + site + " takes from lane" +
             (first.b == last.b ? " " + std::to_string(first.b)
                                : "s " + std::to_string(first.b) + " … " + std::to_string(last.b)) +
             ", which its mask leaves out or which has exited";
    case Undefined::kIllegal: return "what " + site + " reads outside all memory";
    default: return "the result of " + site + ", which PTX leaves undefined";
  }
}

}  // namespace emu::sum_parts
