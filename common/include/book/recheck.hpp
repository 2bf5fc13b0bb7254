/// \file
/// What `--recheck` says of a record's useful bytes.
#pragma once
#include <string>
#include <vector>

#include "book/variant.hpp"

namespace book {

/// A line for each run in `text`, a file of a recorded set, whose useful bytes are not what its
/// variant's problem makes of the run's n, block and grid. Throws Error(kBadArgument) naming `path`
/// for a text that is not a recording of this `chapter`, or that holds no runs.
std::vector<std::string> differing_bytes(const std::string& path, const std::string& text,
                                         const std::string& chapter,
                                         const std::vector<Variant>& variants);

}  // namespace book
