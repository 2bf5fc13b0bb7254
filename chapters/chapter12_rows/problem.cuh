/// \file
/// The problem of this chapter: a table of floats, row by row, and what becomes of its rows.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "book/array.hpp"
#include "book/buffer.hpp"
#include "book/cores.hpp"
#include "book/problem.hpp"
#include "facts.hpp"

namespace chapter12 {

/// How n elements make a table, and how a variant goes about its rows.
struct Form {
  /// Columns of each row, and n / columns rows. Where both are 0 there are n rows without elements.
  std::size_t columns = 0;
  /// Or so many rows, of n / rows columns each.
  std::size_t rows = 0;
  Data data = Data::kNumbers;
  std::size_t skew = 0;  ///< floats before the first row: rows begin at no multiple of 16 bytes
  /// Roundings on an element's way into its total, given shape, rows and columns.
  std::function<double(const book::Shape&, std::size_t, std::size_t)> depth = {};

  std::size_t rows_of(std::size_t n) const {
    return rows > 0 ? rows : columns > 0 ? n / columns : n;
  }
  std::size_t columns_of(std::size_t n) const { return rows > 0 ? n / rows : columns; }
};

/// What a launch on a table needs.
struct Launch {
  const float* in;           ///< rows * columns floats
  float* out;                ///< the results
  const float* weight;       ///< of layer normalisation, columns floats
  const float* bias;         ///< likewise
  unsigned char* partial;    ///< 16 bytes per block, or 4 per column and block
  unsigned* ticket;          ///< a word per row and per column: 0 before a launch, and after it
  unsigned long long* told;  ///< a word per row and per 32 columns of each thread of a block
  std::size_t told_bytes;
  std::size_t rows;
  unsigned columns;
  unsigned grid, block;

  /// Whether every row begins at a multiple of 16 bytes.
  bool aligned() const {
    return columns % 4 == 0 && reinterpret_cast<std::uintptr_t>(in) % 16 == 0 &&
           reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
  }
};

/// What every variant needs and one at a time has: the host's copy of a large table takes longer to
/// get than to fill.
struct Tables {
  book::Array<float> in, out;
};
/// The same for all that ask while one of them lives.
inline std::shared_ptr<Tables> shared_tables() {
  static std::weak_ptr<Tables> known;
  std::shared_ptr<Tables> tables = known.lock();
  if (!tables) known = tables = std::make_shared<Tables>();
  return tables;
}

/// A table in, results out that `What` checks.
///
/// \tparam What  `size(rows, columns)` floats of results; `by_column`, whether they are columns';
///               `wrong(facts, seen, found)`, what is wrong with those of a row, or nothing
template <class What>
class Rows : public book::Problem {
 public:
  using Launch = chapter12::Launch;

  explicit Rows(Form form = {}) : form_(std::move(form)) {}

  Launch launch(const book::Shape& s) const {
    return {in_.data() + form_.skew,
            out_.data(),
            weight_.data(),
            bias_.data(),
            partial_.data(),
            ticket_.data(),
            told_.data(),
            told_.bytes(),
            form_.rows_of(s.n),
            static_cast<unsigned>(form_.columns_of(s.n)),
            s.grid,
            s.block};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    const std::size_t rows = form_.rows_of(s.n);
    const std::size_t columns = form_.columns_of(s.n);
    return sizeof(float) *
               (rows * columns + form_.skew + What::size(rows, columns) + 3 * columns + rows) +
           partial_bytes(s) + sizeof(unsigned long long) * told(s);
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    const bool same = filled_ && s.n == shape_.n && seed == seed_;
    if (!same) release();  // so that an access past the end is one, where the last n was larger
    shape_ = s;
    seed_ = seed;
    const std::size_t rows = form_.rows_of(s.n);
    const std::size_t columns = form_.columns_of(s.n);
    in_.resize(rows * columns + form_.skew, fill);
    out_.resize(What::size(rows, columns), fill);
    weight_.resize(columns, fill);
    bias_.resize(columns, fill);
    partial_.resize(partial_bytes(s), fill);
    told_.grow(told(s));
    if (same) return;
    ticket_.grow(rows + columns);
    ticket_.copy_from(std::vector<unsigned>(rows + columns));
    weight_.fill(Weight{});
    bias_.fill(Bias{});
    restore();
    filled_ = true;
  }
  void release() override {
    for (book::Array<float>* each : {&in_, &out_, &weight_, &bias_}) each->release();
    partial_.release();
    ticket_ = {};
    told_ = {};
    filled_ = false;
  }
  void restore() override { in_.fill(values()); }
  void poison() override {
    out_.poison(float_of(kUnwritten));
    partial_.poison(0xff);  // NaN
  }
  book::Verdict check() override {
    const std::span<const float> found = out_.to_host();
    const std::size_t rows = form_.rows_of(shape_.n);
    const std::size_t columns = form_.columns_of(shape_.n);
    const std::size_t count = What::by_column ? columns : rows;
    const std::size_t each = count > 0 ? found.size() / count : 0;
    const std::size_t length = What::by_column ? rows : columns;
    std::vector<std::string> wrong(book::core_count());
    const auto look = [&](std::size_t part, std::size_t first, std::size_t last) {
      if (first == last) return;  // a grid of no rows has no threads to share them
      Seen seen{values(), 0, columns, form_.depth(shape_, rows, columns)};
      Facts facts;
      for (seen.row = first; seen.row < last && wrong[part].empty(); ++seen.row) {
        const std::span<const float> results = found.subspan(seen.row * each, each);
        facts.take(length, What::kNeeds, [&](std::size_t i) {
          return What::by_column ? seen.values.at(i, seen.row) : seen.values.at(seen.row, i);
        });
        wrong[part] = unless_written(results);
        if (wrong[part].empty()) wrong[part] = What::wrong(facts, seen, results.data());
        if (wrong[part].empty()) continue;
        wrong[part] = (What::by_column ? "column " : "row ") + std::to_string(seen.row) + " of " +
                      std::to_string(count) + ": " + wrong[part];
      }
    };
    book::on_all_cores(count, look, (std::size_t{1} << 16) / std::max<std::size_t>(length, 1) + 1);
    for (const std::string& text : wrong) {
      if (!text.empty()) return {false, text};
    }
    for (const unsigned word : ticket_.to_host(ticket_.size())) {
      if (word != 0) return {false, "a ticket is not back at 0"};
    }
    return {true, std::string("every ") + What::kName + " as in double, but for rounding"};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    const std::size_t rows = form_.rows_of(s.n);
    const std::size_t columns = form_.columns_of(s.n);
    return {.read = rows * columns * sizeof(float),
            .written = What::size(rows, columns) * sizeof(float)};
  }

 private:
  /// No kernel makes a NaN of these bits.
  static constexpr std::uint32_t kUnwritten = 0x7fc0dead;

  static std::string unless_written(std::span<const float> results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (bits_of(results[i]) == kUnwritten)
        return "result " + std::to_string(i) + " was never written";
    }
    return "";
  }
  Values values() const { return {seed_, form_.data, form_.columns_of(shape_.n), form_.skew}; }
  std::size_t partial_bytes(const book::Shape& s) const {
    return std::size_t{s.grid} * (What::by_column ? 128 : 16);
  }
  std::size_t told(const book::Shape& s) const {
    return form_.rows_of(s.n) * (form_.columns_of(s.n) / (std::size_t{32} * s.block) + 1);
  }

  Form form_;
  std::shared_ptr<Tables> tables_ = shared_tables();
  book::Array<float>& in_ = tables_->in;
  book::Array<float>& out_ = tables_->out;
  book::Array<float> weight_, bias_;
  book::Array<unsigned char> partial_;
  book::Buffer<unsigned> ticket_;
  book::Buffer<unsigned long long> told_;
  book::Shape shape_;
  std::uint64_t seed_ = 0;
  bool filled_ = false;
};

}  // namespace chapter12
