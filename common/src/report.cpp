#include "book/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "book/list.hpp"
#include "counters.hpp"

namespace book {
namespace {

/// Columns that a terminal takes for UTF-8 text: its code points.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

/// Rows of cells as lines, two spaces between columns; the first `left` columns left-aligned.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (i < left ? row[i] + pad : pad + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string text_of(const Params& params) {
  std::string text;
  for (const auto& [name, value] : params) {
    const auto* number = std::get_if<std::int64_t>(&value);
    text += (text.empty() ? "" : ", ") + name + "=" +
            (number ? std::to_string(*number) : std::get<std::string>(value));
  }
  return text;
}

/// A variant's name, with whatever a reader must know not to take the row for another.
std::string row_name(const Session& session, const Run& run, const std::vector<Run>& runs) {
  const bool other_cache = !run.cache.empty() && run.cache != session.cache;
  const bool other_params = std::any_of(runs.begin(), runs.end(), [&](const Run& other) {
    return other.variant == run.variant && other.params != run.params;
  });
  std::string notes = other_cache || other_params ? text_of(run.params) : "";
  const bool says_cache = std::any_of(run.params.begin(), run.params.end(),
                                      [](const auto& param) { return param.first == "cache"; });
  if (other_cache && !says_cache) notes += (notes.empty() ? "" : ", ") + ("cache=" + run.cache);
  return run.variant + (run.legacy ? " †" : "") + (notes.empty() ? "" : " [" + notes + "]") +
         (run.from == session.chapter || run.from.empty() ? "" : " (" + run.from + ")");
}

std::string block_text(const Run& run) {
  return run.grid > 0 ? std::to_string(run.block) : "–";
}

std::string grid_text(const Run& run) {
  return run.grid > 0 ? count_text(run.grid) : "–";
}

/// Puts a last column before the rows' ends where some run is a sum of floats: how far off it is.
void add_errors(std::vector<std::vector<std::string>>& rows, const std::vector<Run>& runs) {
  if (std::ranges::none_of(runs, [](const Run& run) { return run.error.has_value(); })) return;
  rows[0].emplace_back("off by");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::optional<double>& error = runs[i].error;
    rows[i + 1].push_back(!error ? "–" : *error == 0 ? "0" : fmt::format("{:.1e}", *error));
  }
}

}  // namespace

double Run::gb_per_s() const {
  if (summary.median <= 0) return 0;
  return static_cast<double>(bytes_read + bytes_written) / (summary.median * 1e3);
}

std::string counter_table(const Session& session, const std::vector<Run>& runs) {
  struct Column {
    const char* heading;
    std::vector<std::string> metrics;  // of which it is the sum
  };
  const std::vector<Column> columns = {
      {"loads", {counters::kGlobalLoadRequests}},
      {"sectors", {counters::kGlobalLoadSectors}},
      {"stores", {counters::kGlobalStoreRequests}},
      {"sectors", {counters::kGlobalStoreSectors}},
      {"shared loads", {counters::kSharedLoadWavefronts}},
      {"stores", {counters::kSharedStoreWavefronts}},
      {"conflicts", {counters::kSharedLoadConflicts, counters::kSharedStoreConflicts}},
  };
  std::vector<std::vector<std::string>> rows{{"variant", "n", "block", "grid"}};
  for (const Column& column : columns) rows[0].emplace_back(column.heading);
  for (const Run& run : runs) {
    rows.push_back(
        {row_name(session, run, runs), count_text(run.n), block_text(run), grid_text(run)});
    for (const Column& column : columns) {
      std::uint64_t sum = 0;
      for (const Counter& c : run.counters) {
        if (std::ranges::find(column.metrics, c.name) != column.metrics.end()) sum += c.value;
      }
      rows.back().push_back(std::to_string(sum));
    }
  }
  add_errors(rows, runs);
  return aligned(rows, 1) +
         "counted: a warp's requests to global memory and their 32-byte sectors;\n"
         "         wavefronts and bank conflicts of shared memory\n";
}

std::string table(const Session& session, const std::vector<Run>& runs) {
  // One unit for all rows: a column of times is read downwards.
  double shortest = 0;
  for (const Run& run : runs) {
    const double median = run.summary.median;
    if (median > 0 && (shortest == 0 || median < shortest)) shortest = median;
  }
  const bool in_ms = shortest >= 1000;
  const auto time = [in_ms](double us) {
    return in_ms ? fmt::format("{:.3f}", us / 1000) : fmt::format("{:.2f}", us);
  };
  const std::string unit = in_ms ? "ms" : "µs";

  std::vector<std::vector<std::string>> rows{{"variant", "n", "block", "grid", "median " + unit,
                                              "± " + unit, "GB/s", "% of peak", "registers"}};
  const double peak = session.device.peak_gb_per_s();
  for (const Run& run : runs) {
    const Summary& s = run.summary;
    const double rate = run.gb_per_s();
    const double most = peak * run.devices;
    rows.push_back(
        {row_name(session, run, runs), count_text(run.n), block_text(run), grid_text(run),
         s.count > 0 ? time(s.median) : "–",
         // The wider side, so that median ± this holds the whole interval.
         s.median_ci ? time(std::max(s.median_ci->second - s.median, s.median - s.median_ci->first))
                     : "–",
         rate > 0 ? fmt::format("{:.1f}", rate) : "–",
         rate > 0 && most > 0 ? fmt::format("{:.1f}", 100 * rate / most) : "–",
         run.registers ? std::to_string(*run.registers) : "–"});
  }
  add_errors(rows, runs);
  std::string text = aligned(rows, 1);
  if (std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.legacy; })) {
    text += "† a classic form with a known fault, shown for comparison: the chapter says which\n";
  }
  return text;
}

std::string list_text(const std::string& chapter, const std::vector<Variant>& variants) {
  std::vector<std::vector<std::string>> rows;
  for (const Variant& v : variants) {
    rows.push_back({std::to_string(rows.size() + 1),
                    v.from == chapter ? v.name : fmt::format("{} ({})", v.name, v.from),
                    "takes " + v.blocks.text(), v.legacy ? "legacy" : ""});
  }
  return aligned(rows, 4);
}

std::string count_text(std::size_t n) {
  if (n >= 1024 && std::has_single_bit(n)) return fmt::format("2^{}", std::countr_zero(n));
  std::string digits = std::to_string(n);
  // Groups of three from five digits on, as SI writes numbers.
  if (digits.size() < 5) return digits;
  for (std::size_t i = digits.size() - 3; i > 0; i = i > 3 ? i - 3 : 0) digits.insert(i, 1, ' ');
  return digits;
}

std::string bytes_text(std::size_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + " " + kUnits[unit];
}

}  // namespace book
