/// \file
/// What `--list` says of a chapter's variants.
#pragma once
#include <string>
#include <vector>

#include "book/variant.hpp"

namespace book {

/// `--list`: number, name, blocks and "legacy" where it is, a line per variant.
std::string list_text(const std::string& chapter, const std::vector<Variant>& variants);

/// `--list --json`: the same with all that tools ask for. The variants must be completed
/// (`book::completed`).
std::string list_json(const std::string& chapter, unsigned default_block,
                      const std::vector<Variant>& variants);

}  // namespace book
