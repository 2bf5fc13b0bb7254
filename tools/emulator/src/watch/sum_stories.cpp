// Elements that are in a sum too often or not at all: which, where that happened, and in what
// names.
#include <cxxabi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "watch/kernel_name.hpp"
#include "watch/sum_judge.hpp"

namespace emu::sum_parts {

std::string Judge::name(std::uint32_t number) const {
  const Sums::Region* const r = region(number);
  const std::string& what = r->allocation.what;
  const std::string before = r->replaced ? " before the host put other data there" : "";
  if (r->allocation.kind == Allocation::Kind::kVariable) return what.substr(what.rfind(' ') + 1);
  // A session may have named it; the names that the runtime gives are those of its functions.
  if (!what.starts_with("cuda") && what.find(' ') == what.npos) return what;
  if (r->kernel.empty()) return what + " number " + std::to_string(number + 1);
  if (!launches_.empty()) {
    const auto& own = sums_.launches[*launches_.rbegin()].arguments;
    if (const auto at = own.find(number); at != own.end()) {
      return "argument " + std::to_string(at->second) + before;
    }
  }
  return "argument " + std::to_string(r->argument) + " of " + short_name(r->kernel) + before;
}

std::string Judge::kernel() const {
  return launches_.empty() ? "" : sums_.launches[*launches_.rbegin()].kernel;
}

std::string Judge::short_name(const std::string& mangled) {
  std::string whole = kernel_name(mangled);
  constexpr std::string_view kUnnamed = "<unnamed>::";
  while (whole.find(kUnnamed) != whole.npos) whole.erase(whole.find(kUnnamed), kUnnamed.size());
  whole.resize(std::min(whole.find('<'), whole.find('(')));
  return whole.substr(whole.find_last_of(": ") + 1);
}

std::string Judge::places_of(const std::vector<Leaf>& leaves) const {
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
            (runs.size() > 1 ? ", " + text_of(runs[1]) : "") + (runs.size() > 2 ? ", …" : "") + "]";
  }
  return text;
}

std::string Judge::places_of_outputs(const std::set<std::uint32_t>& outputs) const {
  std::vector<Leaf> some;
  for (const std::uint32_t o : outputs) some.push_back({o, 0, 4, 1});
  return places_of(some);
}

void Judge::accuse(std::uint32_t from, const std::vector<Leaf>& leaves, unsigned bytes,
                   const std::vector<std::uint64_t>& missing,
                   const std::vector<std::uint64_t>& unread,
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
    details.push_back(elements_in_words(elements_of(run)) + ": " + lost(from, run, bytes, places));
  }
  if (!spoiled_.empty())
    details.push_back(spoiled_ + ", too: what that has decided may be otherwise in another run");
  add(true, what, details, {places.begin(), places.end()}, std::move(in));
}

std::vector<Run> Judge::first_of(std::vector<Run> runs) {
  if (runs.size() > kMostStories) runs.resize(kMostStories);
  return runs;
}

std::vector<std::uint64_t> Judge::elements_of(const Run& run) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t k = 0; k < run.count; ++k) all.push_back(run.first + k * run.step);
  return all;
}

bool Judge::is_element(const SumForms::Entry& e, std::uint32_t from, std::uint64_t element,
                       unsigned bytes) const {
  if (e.kind == Kind::kTerm) {
    return is_element(forms_[e.a], from, element, bytes) ||
           (e.b && is_element(forms_[e.b], from, element, bytes));
  }
  return e.kind == Kind::kInput && e.site != Sums::kReadInPart && e.a == from &&
         e.b <= element * bytes && e.b + e.size > element * bytes;
}

std::string Judge::again(std::uint32_t from, std::uint64_t element, unsigned bytes,
                         const std::vector<Leaf>& leaves, double share,
                         std::set<std::string>& places) {
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

Judge::Last Judge::last_of(std::uint32_t from, std::uint64_t element, unsigned bytes) const {
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

std::string Judge::lost(std::uint32_t from, const Run& run, unsigned bytes,
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

std::string Judge::block_name(std::uint32_t block) const {
  const Sums::Launch& l = sums_.launches[launch_of(block)];
  const std::uint64_t n = block - l.first_block;
  return "(" + std::to_string(n % l.grid.x) + ", " + std::to_string(n / l.grid.x % l.grid.y) +
         ", " + std::to_string(n / l.grid.x / l.grid.y) + ")";
}

std::string Judge::memory(const Sums::Stored& s, std::uint64_t to) const {
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

std::string Judge::plain_name(const std::string& mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  const std::size_t at = name.rfind("::");
  return at == name.npos ? name : name.substr(at + 2);
}

}  // namespace emu::sum_parts
