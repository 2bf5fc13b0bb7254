/// \file
/// What a chapter's program will run, decided before it runs anything: no device is used here.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "book/cli.hpp"
#include "book/device.hpp"
#include "book/variant.hpp"

namespace book {

/// What a chapter's program does unless told otherwise, and unless a variant says so.
struct Defaults {
  unsigned block = 256;                             ///< threads per block
  std::vector<std::size_t> n = powers(10, 30);      ///< what `--sweep n` goes over
  std::vector<std::size_t> blocks = powers(5, 10);  ///< and `--sweep block`; empty for no such axis
  std::vector<Point> counted = {{std::size_t{1} << 24, 256},  ///< where profilers look …
                                {std::size_t{1} << 20, 256},
                                {std::size_t{1} << 24, 128},
                                {std::size_t{1} << 16, 256}};  ///< and where a page begins
  Point checked = {1'048'573, 256};  ///< … and compute-sanitizer: an n with tails
  unsigned devices = 1;              ///< the most that a variant runs on
};

/// Fills every field that the variant left to the chapter. Throws std::logic_error where it makes
/// no sense: no launch, or no block that it takes.
Variant completed(Variant variant, const std::string& chapter, const Defaults& defaults);

/// The names of all axes that some variant has, n and block first.
std::vector<std::string> axes_of(const std::vector<Variant>& variants);

/// The variants to run: those named, or all that aren't legacy. Throws Error(kBadArgument) where
/// one can't: a legacy form beside another, or a block that a variant asked for by name won't take.
std::vector<const Variant*> choose(const std::vector<Variant>& variants, const Options& options);

/// One variant in one shape.
struct Case {
  const Variant* variant = nullptr;
  Shape shape;
};

/// What to run, in order, and what a reader should know about what is left out.
struct Plan {
  std::vector<Case> cases;
  std::vector<std::string> notes;
};

/// Shapes go outside, so that one input serves all variants.
///
/// \param device      what the cases are for
/// \param free_bytes  device memory that a problem may take
/// \param ranks       processes that run them together
/// Throws Error(kBadArgument) for what can't be, and where nothing is left to run.
Plan make_plan(const std::vector<const Variant*>& chosen, const Options& options,
               const Defaults& defaults, const Device& device, std::size_t free_bytes,
               unsigned ranks = 1);

/// The n that a run takes where neither the reader nor the variant names one.
std::size_t default_n(const Device& device);

}  // namespace book
