// Sums of what is made of elements: of one each, or of two arrays' products.
#include <utility>

#include "watch/sum_judge.hpp"

namespace emu::sum_parts {

/// Of a product the element of the larger allocation is what is told of.
void Judge::take_term(const SumForms::Entry& term, double factor, Form& form,
                      std::map<std::uint32_t, std::vector<Leaf>>& by_region) {
  const SumForms::Entry* one = &forms_[term.a];
  if (term.b) {
    const SumForms::Entry* other = &forms_[term.b];
    const auto size = [&](const SumForms::Entry* e) { return region(e->a)->allocation.size; };
    if (size(other) > size(one) || (size(other) == size(one) && other->a < one->a)) {
      std::swap(one, other);
    }
    form.partner = other->a;
  }
  form.floating |= term.floating;
  form.terms.insert(term.site);
  const auto number = static_cast<std::uint32_t>(outputs_.size() - 1);
  by_region[one->a].push_back({number, one->b, one->size, factor});
  ++form.elements;
}

void Judge::describe_terms(std::uint32_t from, const std::vector<std::uint32_t>& outputs,
                           std::vector<std::string>& details) const {
  std::set<std::string> where;
  std::uint32_t partner = Form::kAlone;
  for (const std::uint32_t o : outputs) {
    for (const std::uint32_t site : parts_[o].terms) where.insert(sums_.sites[site]);
    partner = std::min(partner, parts_[o].partner);
  }
  if (where.empty()) return;
  std::string text = partner == Form::kAlone || partner == from
                         ? "not the elements themselves, but what is made of each"
                         : "each times an element of " + name(partner);
  for (const std::string& site : where) text += (&site == &*where.begin() ? " at " : ", ") + site;
  details.push_back(text);
}

}  // namespace emu::sum_parts
