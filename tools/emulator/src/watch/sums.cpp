#include "watch/sums.hpp"

#include <algorithm>

#include "decode/code.hpp"
#include "watch/check.hpp"

namespace emu {
namespace {

constexpr std::size_t kMostLogged = 6'000'000;  // 144 megabytes
constexpr std::size_t kMostDecided = 1000;

}  // namespace

Sums::Region* Sums::region(Address address) {
  auto at = regions.upper_bound(address);
  if (at == regions.begin()) return nullptr;
  Region& r = (--at)->second;
  return address - r.allocation.base < r.allocation.size ? &r : nullptr;
}

std::uint32_t Sums::site(const Code& code, std::uint32_t pc) {
  const auto [at, fresh] =
      site_numbers_.try_emplace({&code, pc}, static_cast<std::uint32_t>(sites.size()));
  if (fresh) {
    sites.push_back(source_line(code, pc));
    places.push_back(source_place(code, pc));
  }
  return at->second;
}

void Sums::note(Stored stored) {
  if (log.size() >= kMostLogged) {
    log.erase(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(kMostLogged / 2));
  }
  log.push_back(stored);
}

void Sums::add_once(std::vector<Decided>& list, std::uint32_t from, std::uint32_t site,
                    Node undefined) const {
  const auto launch = static_cast<std::uint32_t>(launches.size() - 1);
  if (list.size() >= kMostDecided) return;
  const bool known = std::ranges::any_of(list, [&](const Decided& d) {
    return d.site == site && d.launch == launch && (d.from | from) == d.from;
  });
  if (!known) list.push_back({from, site, launch, undefined});
}

SumForms::Node load_words(SumForms& forms, const SumForms::Node* words, std::uint64_t offset,
                          unsigned bytes) {
  const std::uint64_t first = offset / 4;
  const auto within = static_cast<unsigned>(offset % 4);
  if (bytes == 4 && within == 0) return forms.alone(words[first]);
  if (within + bytes <= 4) return forms.piece(words[first], within, bytes);
  unsigned k = (within + bytes + 3) / 4 - 1;
  SumForms::Node all = words[first + k];
  while (k-- > 0) all = forms.join(words[first + k], all, 4);
  return within ? forms.piece(all, within, bytes) : all;
}

void store_words(SumForms& forms, SumForms::Node* words, std::uint64_t offset, unsigned bytes,
                 SumForms::Node node) {
  const std::uint64_t first = offset / 4;
  const auto within = static_cast<unsigned>(offset % 4);
  if (within + bytes > 4) {  // of whole words
    for (unsigned k = 0; k < bytes / 4; ++k) words[first + k] = forms.word(node, k);
    return;
  }
  if (bytes == 4) {
    const SumForms::Kind kind = forms[node].kind;
    const bool wide = kind == SumForms::Kind::kInput || kind == SumForms::Kind::kJoin;
    words[first] = wide ? forms.piece(node, 0, 4) : node;
  } else {
    words[first] = forms.insert(words[first], forms.piece(node, 0, bytes), within, bytes, 4);
  }
}

void Sums::unfold(Region& region) {
  if (!region.words.empty()) return;
  region.words.resize(static_cast<std::size_t>((region.allocation.size + 3) / 4), region.first);
}

/// A word as a value, which it is from here on.
Sums::Node Sums::node_of(Region& region, std::uint64_t word, bool whole, std::uint32_t in_part) {
  Node& held = region.words[static_cast<std::size_t>(word)];
  const auto number = static_cast<std::uint32_t>(word);
  const auto is_in_part = [&] {
    const SumForms::Entry& e = forms[held];
    return e.kind == SumForms::Kind::kInput && e.site == kReadInPart;
  };
  if (held == kInput || (whole && is_node(held) && is_in_part())) {
    const std::uint32_t site = forms.maker.site;
    if (!whole) forms.maker.site = kReadInPart;
    held = forms.input(region.number, 4 * number, 4);
    forms.maker.site = site;
  }
  if (held == kUnwritten) {
    held = forms.undefined(SumForms::Undefined::kGlobal, region.number, number | in_part);
  }
  return held == kStored ? SumForms::kPlain : held;
}

Sums::Node Sums::load(Region& region, std::uint64_t offset, unsigned bytes) {
  if (region.words.empty()) {
    if (region.first == SumForms::kPlain) return SumForms::kPlain;
    unfold(region);
  }
  const std::uint64_t first = offset / 4, last = (offset + bytes - 1) / 4;
  std::array<Node, kMostBytes / 4 + 1> held{};
  bool any = false;
  for (std::uint64_t w = first; w <= last; ++w) {
    const Node node = held[static_cast<std::size_t>(w - first)] = node_of(region, w, bytes >= 4);
    any |= node != SumForms::kPlain;
  }
  return any ? load_words(forms, held.data(), offset % 4, bytes) : SumForms::kPlain;
}

void Sums::store(Region& region, std::uint64_t offset, unsigned bytes, Node node, bool zero) {
  unfold(region);
  const std::uint64_t first = offset / 4, last = (offset + bytes - 1) / 4;
  std::array<Node, kMostBytes / 4 + 1> held{};
  for (std::uint64_t w = first; w <= last; ++w) {
    const Node word = region.words[static_cast<std::size_t>(w)];
    held[static_cast<std::size_t>(w - first)] = bytes < 4 ? node_of(region, w, false, forms.kInPart)
                                                : is_node(word) ? word
                                                                : SumForms::kPlain;
  }
  const auto before = held;
  store_words(forms, held.data(), offset % 4, bytes, node);
  if (!node) {
    region.stored = true;
    region.stored_other_than_zero |= !zero;
  }
  for (std::uint64_t w = first; w <= last; ++w) {
    const Node now = held[static_cast<std::size_t>(w - first)];
    if (now || before[static_cast<std::size_t>(w - first)]) {
      note({in_region(region.number, w), now, forms.maker.site, block});
    }
    region.words[static_cast<std::size_t>(w)] = now ? now : kStored;
  }
}

}  // namespace emu
