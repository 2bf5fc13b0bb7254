#include "cudart/fidelity.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "decode/code.hpp"
#include "watch/kernel_name.hpp"

namespace emu {
namespace {

constexpr std::string_view kCompared[] = {
#include "cudart/compared_forms.inc"
};
static_assert(std::is_sorted(std::begin(kCompared), std::end(kCompared)));

/// "@%p1 ld.global.u32 %r1, [%rd2];" is "ld.global.u32".
std::string form_of(std::string_view text) {
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find(' '), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return std::string(text.substr(0, text.find_first_of(" ;")));
}

/// The first few of many.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMost) text += " and " + std::to_string(names.size() - kMost) + " more";
  return text;
}

}  // namespace

bool compared_with_hardware(std::string_view form) {
  return std::binary_search(std::begin(kCompared), std::end(kCompared), form);
}

void Fidelity::launched(const Kernel& kernel, const Counters& counters) {
  const auto [at, fresh] = kernels_.try_emplace(kernel.name);
  at->second.merges |= counters.mergeable_shared_loads > 0;
  if (!fresh || !kernel.code) return;
  for (const std::string& text : kernel.code->texts) {
    const std::string form = form_of(text);
    if (form.empty()) continue;
    shared_atomics_ |= form.starts_with("atom.shared") || form.starts_with("red.shared");
    for (const char* opcode : {"tex.", "tld4.", "suld.", "sust."}) {
      images_ |= form.starts_with(opcode);
    }
    forms_.insert(form);
  }
}

std::string Fidelity::line() const {
  if (kernels_.empty()) return "";
  std::vector<std::string> merging, others;
  for (const auto& [name, of] : kernels_) {
    if (of.merges) merging.push_back(kernel_name(name));
  }
  std::ranges::copy_if(forms_, std::back_inserter(others),
                       [](const std::string& form) { return !compared_with_hardware(form); });
  std::string text = "counts: requests and sectors are hardware's, and so are shared wavefronts";
  if (!merging.empty()) {
    text += ", which may be fewer there in " + listed(merging) +
            ", where the assembler may merge loads";
  }
  if (shared_atomics_) text += " (those of shared atomics aren't counted)";
  if (images_) text += "; accesses through textures and surfaces aren't counted";
  text += "; of the " + std::to_string(forms_.size()) +
          (forms_.size() == 1 ? " form of instruction" : " forms of instructions");
  return text + (others.empty() ? ", all were compared with an H200"
                                : ", " + std::to_string(others.size()) +
                                      (others.size() == 1 ? " wasn't" : " weren't") +
                                      " compared with an H200: " + listed(others));
}

}  // namespace emu
