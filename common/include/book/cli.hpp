/// \file
/// The command line that every chapter program has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "book/device.hpp"

namespace book {

/// What `--sweep` takes for the usual run and both axes, n and block, each shape once …
constexpr std::string_view kEveryShape = "all";
/// … and for all of that but the usual run.
constexpr std::string_view kOtherShapes = "rest";

/// What a reader asked for. Unset values are the driver's to choose.
struct Options {
  std::optional<std::size_t> n = {};   ///< elements
  std::optional<unsigned> block = {};  ///< threads per block
  std::vector<std::string> variants =
      {};                  ///< names, in the order asked for; empty means the default run
  std::string sweep = {};  ///< the axis to go over, kEveryShape or kOtherShapes; empty for none
  bool once = false;       ///< one launch and its check, no timer, no other kernel
  bool list = false;       ///< print the variants and stop
  bool warm = false;       ///< leave the L2 as the previous sample left it
  std::uint64_t seed = 2018;
  std::optional<std::size_t> samples = {};  ///< exactly so many samples per run
  std::string recheck = {};  ///< record whose useful bytes are computed again; empty for none
  std::string json = {};  ///< file to write the record to, "-" for standard output; empty for none
  DeviceRequest device = {};
};

/// What the parser needs to know of the program to check names and word its messages.
struct ProgramDescription {
  std::string name;                                ///< e.g. "chapter02_smem"
  std::string title;                               ///< one line
  std::vector<std::string> variants;               ///< every variant's name, legacy ones too
  unsigned block = 256;                            ///< what is taken where no `--block` is given
  std::vector<std::string> axes = {"n", "block"};  ///< what `--sweep` can go over
};

/// Reads the command line. Throws Error(kBadArgument) whose message names the option, the value
/// and what is allowed; for `--help` it throws HelpWanted.
///
/// The classic positional form `N METHOD THREADS` is taken too: METHOD is a variant's name or its
/// number in `--list`, counted from 1.
Options parse_options(int argc, const char* const* argv, const ProgramDescription& program);

/// Thrown for `--help`; `text` is what to print.
struct HelpWanted {
  std::string text;
};

/// A count of elements: plain digits, "2^24", or digits with K, M or G (2^10, 2^20, 2^30).
/// Throws Error(kBadArgument) naming `option`.
std::size_t parse_count(std::string_view option, std::string_view text);

/// The entries of `names` closest to `wanted` by edit distance, best first, at most three.
std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& names);

}  // namespace book
