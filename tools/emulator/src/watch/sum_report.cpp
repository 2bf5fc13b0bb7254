// What the host has read back, held to hold each element of the data once.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "watch/sum_judge.hpp"

namespace emu::sum_parts {

namespace {

constexpr std::uint64_t kMostVisited = 60'000'000;  // nodes, of all outputs together

}  // namespace

Judge::Judge(const Sums& sums, SumWalks& walks, std::vector<SumOutput> outputs,
             const std::string& spoiled, Findings& findings)
    : sums_(sums),
      forms_(sums.forms),
      spoiled_(spoiled),
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

void Judge::say() {
  // What a kernel leaves that was stopped on the way means nothing.
  if (std::ranges::any_of(launches_, [&](std::size_t l) { return !sums_.launches[l].finished; })) {
    return;
  }
  accuse_undefined();
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

void Judge::take(const SumOutput& output) {
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
  Node lowest = output.node;
  ++now_;
  const auto reach = [&](Node n) {
    if (n == 0 || stamp_[n] == now_) return;
    stamp_[n] = now_;
    factor_[n] = 0;
    nodes.push_back(n);
    lowest = std::min(lowest, n);
  };
  stamp_[output.node] = now_;
  factor_[output.node] = 1;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto [a, b] = forms_.parts(nodes[i]);
    reach(a);
    reach(b);
  }
  visited_ += nodes.size();
  // Those that are made last first. Where they lie close their marks have that order already.
  if ((output.node - lowest) / 8 < nodes.size()) {
    nodes.clear();
    for (Node n = output.node; n >= lowest; --n) {
      if (stamp_[n] == now_) nodes.push_back(n);
    }
  } else {
    std::ranges::sort(nodes, std::greater<>());
  }
  std::vector<std::pair<Node, double>> undefined;
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
      case Kind::kTerm: take_term(e, f, form, by_region); break;
      case Kind::kUndefined: undefined.emplace_back(n, f); break;
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
      case Kind::kLost: lose(form, e.site, static_cast<SumForms::Why>(e.size)); break;
      default: lose(form, e.site);
    }
  }
  for (const auto& [n, times] : undefined) {
    if (!form.is_sum || times != 0) undefined_[number].insert(n);
  }
  if (form.is_sum) {
    for (auto& [region, leaves] : by_region) {
      std::ranges::copy(leaves, std::back_inserter(leaves_[region]));
    }
  }
  parts_.push_back(form);
}

void Judge::put_together(Node n, std::vector<Piece>& pieces, Form& form) {
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
  if (!all) return lose(form, pieces.back().site, SumForms::Why::kNarrowed, at);
  factor_[n] += unit;
}

void Judge::lose(Form& form, std::uint32_t site, SumForms::Why why, unsigned bits) {
  if (form.is_sum) {
    form.lost_at = site;
    form.why = why;
    form.bits = bits;
  }
  form.is_sum = false;
}

std::size_t Judge::launch_of(std::uint32_t block) const {
  const auto after =
      std::upper_bound(sums_.launches.begin(), sums_.launches.end(), block,
                       [](std::uint32_t b, const Sums::Launch& l) { return b < l.first_block; });
  return after == sums_.launches.begin()
             ? 0
             : static_cast<std::size_t>(after - sums_.launches.begin()) - 1;
}

void Judge::note_launch(std::uint32_t block, Kind kind) {
  if (kind == Kind::kInput || kind == Kind::kUndefined || block == last_block_) return;
  last_block_ = block;
  launches_.insert(launch_of(block));
}

void Judge::describe_others() {
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> others;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!parts_[i].is_sum) ++others[{outputs_[i].region, reason(parts_[i])}];
  }
  for (const auto& [where, count] : others) {
    std::vector<std::string> details;
    if (!where.second.empty()) details.push_back(where.second);
    add(false,
        plural(count, "value") + " of " + name(where.first) + " that the host reads " +
            (count == 1 ? "isn't" : "aren't") + " made of its data by additions alone" +
            (cut_ ? ", or too large to be looked at" : ""),
        details);
  }
}

std::string Judge::reason(const Form& form) const {
  if (form.lost_at == 0) return "";
  const std::string& site = sums_.sites[form.lost_at];
  switch (form.why) {
    case SumForms::Why::kNotFinite: return site + " adds infinity, or what is no number, to them";
    case SumForms::Why::kNarrowed:
      return site + " narrows them to " + std::to_string(form.bits) + " bits";
    default: return "what " + site + " does with them isn't an addition";
  }
}

double Judge::unit_of(const std::map<double, std::uint64_t>& factors, double usual) const {
  if (sums_.expected || factors.contains(1)) return 1;
  // Where most are in it twice or three times, the fewest say what once is.
  const auto smallest = factors.upper_bound(0);
  const double times = smallest == factors.end() ? 0 : usual / smallest->first;
  const bool whole = times >= 1 && times <= 16 && std::abs(times - std::round(times)) < 1e-6;
  return whole ? smallest->first : usual;
}

void Judge::describe_several(std::uint32_t from, const std::vector<Leaf>& leaves) {
  add(false,
      places_of(leaves) + " are made of elements of " + name(from) +
          ", many of which are in several of them: not one sum, so nothing is said of it",
      {});
}

bool Judge::say_of(std::uint32_t from, const std::vector<Leaf>& leaves, bool together) {
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
        places_of(leaves) +
            (parts_[of_output.begin()->first].terms.empty()
                 ? of_output.size() == 1 ? " is an element of " : " are elements of "
             : of_output.size() == 1 ? " is made of an element of "
                                     : " are made of one element each of ") +
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
  const double unit = unit_of(factors, usual == factors.end() ? 0 : usual->first);
  if (unit == 0 || (!sums_.expected && 2 * usual->second < once)) {
    add(false,
        places_of(leaves) + (of_output.size() == 1 ? " is a sum" : " are sums") +
            " of elements of " + name(from) + " with different weights: nothing more is said of it",
        {});
    return true;
  }
  double direction = 0;
  for (std::size_t e = 0; e < size; ++e) {
    if (times[e] == 1) direction += factor[e] > 0 ? 1 : -1;
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
    if (e.kind != Kind::kInput || e.a != from || e.site == Sums::kReadInPart) continue;
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
  // Nor of memory that has a lesser part in them, such as a workspace with what was in it before.
  const bool is_lesser = std::ranges::any_of(
      leaves_, [&](const auto& other) { return other.second.size() > leaves_.at(from).size(); });
  if (told || is_lesser || (!sums_.expected && 2 * unread.size() > expected)) unread.clear();
  SumElements in{.count = size, .times = one};
  while (in.count > 0 && times[static_cast<std::size_t>(in.count - 1)] == 0) --in.count;
  if (missing.empty() && unread.empty() && odd.empty()) {
    praise(from, leaves, held, std::move(in), of_output);
  } else if (sums_.unfollowed) {  // they may have gone where nothing is followed
    add(false,
        places_of(leaves) + (of_output.size() == 1 ? " holds" : " hold") + " elements of " +
            name(from) + ", and others may be in " + (of_output.size() == 1 ? "it" : "them") +
            " that can't be followed",
        {kUnfollowed});
  } else {
    accuse(from, leaves, bytes, missing, unread, odd, std::move(in));
  }
  return true;
}

void Judge::praise(std::uint32_t from, const std::vector<Leaf>& leaves, std::uint64_t held,
                   SumElements in, const std::map<std::uint32_t, std::uint64_t>& of_output) {
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  std::uint32_t chain = 0;
  bool floating = false, widened = false;
  double constant = 0;
  std::set<std::uint32_t> further;
  std::vector<std::uint32_t> outputs;
  for (const auto& [output, count] : of_output) {
    outputs.push_back(output);
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
  std::string what = places_of(leaves) + (one ? " is the sum" : " are sums") + " of " + name(from) +
                     ": each of " + plural(held, "element") + " is ";
  if (in.times < 0) {
    what += "subtracted" + (in.times == -1 ? "" : " " + times_in_words(-in.times));
  } else {
    what += (one ? "in it " : "in them ") + (in.times == 1 ? "once" : times_in_words(in.times));
  }
  std::vector<std::string> details;
  describe_terms(from, outputs, details);
  std::string shape = of_output.size() == 1 ? std::string()
                      : least == most       ? "each is the sum of " + plural(most, "element") + "; "
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
  in.proved = add_standing(from, outputs, floating, widened, details);
  add(false, what + (in.proved ? ", for all data" : ", in this run"), details, {}, std::move(in));
}

bool Judge::add_standing(std::uint32_t from, const std::vector<std::uint32_t>& outputs,
                         bool floating, bool widened, std::vector<std::string>& details) {
  std::vector<std::string> not_proved;
  std::set<std::string> given;
  for (const std::uint32_t output : outputs) {
    if (!ill_defined_.contains(outputs_[output].region)) continue;
    not_proved.push_back("there are undefined values in " + name(outputs_[output].region));
    break;
  }
  for (const Sums::Decided& d : sums_.decided) {
    if (!launches_.contains(d.launch)) continue;
    if (d.from & SumForms::kOfNothing) {
      not_proved.push_back("what " + sums_.sites[d.site] + " does depends on an undefined value");
    } else if (d.from & SumForms::bit_of(from)) {
      not_proved.push_back("what " + sums_.sites[d.site] + " does depends on them");
    }
    if (!not_proved.empty()) break;
    for (const Sums::Region* r : sums_.by_number) {
      if (d.from & SumForms::bit_of(r->number)) given.insert(name(r->number));
    }
  }
  for (const auto& [sites, older] : sums_.older) {
    if (older.open.empty()) continue;
    not_proved.push_back("an older value may be read at " + sums_.sites[sites.second] + " than " +
                         sums_.sites[sites.first] + " writes");
  }
  if (!spoiled_.empty()) not_proved.push_back(spoiled_);
  if (sums_.unfollowed) not_proved.emplace_back(kUnfollowed);
  if (forms_.full() || cut_)
    not_proved.emplace_back("there are too many additions to follow them all");
  if (!not_proved.empty()) {
    details.push_back("so it was with these data, and no more is proved: " + not_proved.front());
    return false;
  }
  // The first that this sum's launches have, or 0.
  const auto first_site = [&](const std::vector<Sums::Decided>& list) {
    const auto at = std::ranges::find_if(
        list, [&](const Sums::Decided& d) { return launches_.contains(d.launch); });
    return at == list.end() ? 0 : at->site;
  };
  const std::uint32_t gather_at = first_site(sums_.gathered);
  const std::uint32_t order_at = first_site(sums_.ordered);
  const std::string open =
      gather_at ? ", but for those at " + sums_.sites[gather_at] + ", which come in any order" : "";
  std::string text =
      floating
          ? "proved for all data of this size and launch that are finite, added in this order" +
                open + "; how they round is not looked at"
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

void Judge::add(bool fault, const std::string& what, std::vector<std::string> details,
                std::vector<std::string> places, std::optional<SumElements> in) {
  findings_.add({.check = "sum",
                 .what = what,
                 .kernel = kernel(),
                 .places = std::move(places),
                 .details = std::move(details),
                 .fault = fault,
                 .sum = in ? std::make_shared<const SumElements>(*std::move(in)) : nullptr});
}

}  // namespace emu::sum_parts

namespace emu {

void judge_sums(const Sums& sums, SumWalks& walks, std::vector<SumOutput> outputs,
                const std::string& spoiled, Findings& findings) {
  sum_parts::Judge(sums, walks, std::move(outputs), spoiled, findings).say();
}

}  // namespace emu
