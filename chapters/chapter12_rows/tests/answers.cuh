// The answer to the chapter's exercise that is code, as variants: the matrix checks it.
#pragma once
#include <cmath>
#include <string>

#include "../answers.cuh"
#include "../ways.cuh"
#include "book/chapter.hpp"

namespace chapter12::answers {

/// An exponential and a product per element, each off by a few halves of an ulp, and a logarithm,
/// which makes a relative error of the sum an absolute one of the result.
struct LogSumExpOfRow {
  static constexpr const char* kName = "logarithm of a sum of exponentials";
  static constexpr bool by_column = false;
  static constexpr Needs kNeeds = Needs::kExponentials;
  static std::size_t size(std::size_t rows, std::size_t) { return rows; }
  static std::string wrong(const Facts& f, const Seen& seen, const float* found) {
    const double exact = double{f.most} + std::log(f.exponentials);
    const double off = (4 * seen.depth + 64) * kHalfUlp * (1 + std::abs(exact));
    return unless_near("the logarithm", *found, exact, off);
  }
};

inline void add_to(book::Chapter& chapter) {
  const auto add = [&](const std::string& table, const Form& form) {
    for (const Way& way : {kBlock, of_team(form.columns)}) {
      const Queue queue = way.name == kBlock.name ? rows_by_block<LogSumExp>
                                                  : rows_by_team<LogSumExp>(form.columns);
      book::Variant v = on<LogSumExpOfRow>("log_sum_exp_" + table, way, form, queue);
      v.from = "chapter12_rows";
      v.region = "answer-log-sum-exp";
      chapter.add(std::move(v));
    }
  };
  add("numbers", {.columns = 300});
  add("large", {.columns = 20, .data = Data::kLarge});
}

}  // namespace chapter12::answers
