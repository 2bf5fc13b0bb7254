#include "book/report.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "book/check.hpp"
#include "internal.hpp"

namespace book {
namespace {

using Json = nlohmann::ordered_json;

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

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

Json json_of(const Params& params) {
  Json object = Json::object();
  for (const auto& [name, value] : params) {
    std::visit([&object, &name = name](const auto& v) { object[name] = v; }, value);
  }
  return object;
}

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// A number for the record, to three decimals: nanoseconds where it is microseconds.
double number(const std::string& where, const char* field, double value) {
  if (!std::isfinite(value) || value < 0) {
    throw std::logic_error(where + ": " + field + " is " + std::to_string(value));
  }
  return std::round(value * 1e3) / 1e3;
}

Json json_of(const Run& run) {
  const std::string where = run.variant + ", n = " + count_text(run.n);
  const auto us = [&where](const char* field, double value) { return number(where, field, value); };
  Json samples = Json::array();
  for (const double sample : run.samples_us) samples.push_back(us("samples_us", sample));
  const auto& ci = run.summary.median_ci;
  return {{"variant", run.variant},
          {"from", run.from},
          {"region", run.region},
          {"legacy", run.legacy},
          {"n", run.n},
          {"block", run.block},
          {"params", json_of(run.params)},
          {"repeat", 0},
          {"grid", run.grid},
          {"shared_bytes", run.shared_bytes},
          {"registers", json_of(run.registers)},
          {"local_bytes", json_of(run.local_bytes)},
          {"blocks_per_sm", json_of(run.blocks_per_sm)},
          {"bytes_read", run.bytes_read},
          {"bytes_written", run.bytes_written},
          {"samples_us", samples},
          {"median_us", us("median_us", run.summary.median)},
          {"median_ci_us",
           ci ? Json::array({us("median_ci_us", ci->first), us("median_ci_us", ci->second)})
              : Json(nullptr)},
          {"p25_us", us("p25_us", run.summary.p25)},
          {"p75_us", us("p75_us", run.summary.p75)},
          {"min_us", us("min_us", run.summary.min)},
          {"gb_per_s", us("gb_per_s", run.gb_per_s())},
          {"stopped_by", run.stopped_by},
          {"cache", run.cache},
          {"clock", run.clock},
          {"verified", run.verified},
          {"kernel_hash", nullptr}};
}

Json json_of(const Device& device) {
  return {{"name", device.name},
          {"compute_capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
          {"sm_count", device.sm_count},
          {"max_threads_per_sm", device.max_threads_per_sm},
          {"l2_bytes", device.l2_bytes},
          {"global_bytes", device.global_bytes},
          {"shared_per_block", device.shared_per_block},
          {"shared_per_sm", device.shared_per_sm},
          {"shared_optin", device.shared_optin},
          {"shared_reserved", device.shared_reserved},
          {"sm_clock_khz", device.sm_clock_khz},
          {"memory_clock_khz", device.memory_clock_khz},
          {"memory_bus_bits", device.memory_bus_bits},
          {"ecc", device.ecc},
          {"peak_gb_per_s", number("device", "peak_gb_per_s", device.peak_gb_per_s())}};
}

/// One line. An argument of a command line may hold any bytes; JSON holds text.
std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// `head`'s members, a line each, then the list `name`, an element a line.
std::string document(const Json& head, const std::string& name, const std::vector<Json>& list) {
  std::string text = "{\n";
  for (const auto& [key, value] : head.items()) {
    text += "  " + line_of(key) + ": " + line_of(value) + ",\n";
  }
  text += "  " + line_of(name) + ": [";
  for (std::size_t i = 0; i < list.size(); ++i) {
    text += (i > 0 ? ",\n    " : "\n    ") + line_of(list[i]);
  }
  return text + (list.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// A new file beside the one that is meant, which takes its name once it is whole.
class Draft {
 public:
  explicit Draft(const std::string& path) : path_(path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) fail("it is a directory");
    // A rename would put a plain file in the place of /dev/null.
    if (fs::exists(status) && !fs::is_regular_file(status)) fail("it is not a regular file");
    target_ = path;
    // Through a symbolic link, so that the link stays one.
    if (fs::exists(status)) target_ = fs::canonical(path, ignored).string();
    draft_ = target_ + "." + std::to_string(getpid()) + ".tmp";
    descriptor_ = open(draft_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(std::strerror(errno));
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Draft(Draft&&) = delete;
  Draft& operator=(Draft&&) = delete;
  ~Draft() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!renamed_) unlink(draft_.c_str());
  }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(std::strerror(errno));
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /// On the disk first: a rename may otherwise outlive the text after a crash.
  void keep() {
    if (fsync(descriptor_) != 0) fail(std::strerror(errno));
    if (close(std::exchange(descriptor_, -1)) != 0) fail(std::strerror(errno));
    if (std::rename(draft_.c_str(), target_.c_str()) != 0) fail(std::strerror(errno));
    renamed_ = true;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw bad_argument("cannot write " + internal::in_quotes(path_) + ": " + reason);
  }

  std::string path_, target_, draft_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

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
  const std::string requests = "l1tex__t_requests_pipe_lsu_mem_global_op_";
  const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_";
  const std::string wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_";
  const std::string conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";
  const std::vector<Column> columns = {
      {"loads", {requests + "ld.sum"}},
      {"sectors", {sectors + "ld.sum"}},
      {"stores", {requests + "st.sum"}},
      {"sectors", {sectors + "st.sum"}},
      {"shared loads", {wavefronts + "ld.sum"}},
      {"stores", {wavefronts + "st.sum"}},
      {"conflicts", {conflicts + "ld.sum", conflicts + "st.sum"}},
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
  const auto time = [in_ms](double us) { return in_ms ? fixed(us / 1000, 3) : fixed(us, 2); };
  const std::string unit = in_ms ? "ms" : "µs";

  std::vector<std::vector<std::string>> rows{{"variant", "n", "block", "grid", "median " + unit,
                                              "± " + unit, "GB/s", "% of peak", "registers"}};
  const double peak = session.device.peak_gb_per_s();
  for (const Run& run : runs) {
    const Summary& s = run.summary;
    const double rate = run.gb_per_s();
    rows.push_back(
        {row_name(session, run, runs), count_text(run.n), block_text(run), grid_text(run),
         s.count > 0 ? time(s.median) : "–",
         // The wider side, so that median ± this holds the whole interval.
         s.median_ci ? time(std::max(s.median_ci->second - s.median, s.median - s.median_ci->first))
                     : "–",
         rate > 0 ? fixed(rate, 1) : "–", rate > 0 && peak > 0 ? fixed(100 * rate / peak, 1) : "–",
         run.registers ? std::to_string(*run.registers) : "–"});
  }
  std::string text = aligned(rows, 1);
  if (std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.legacy; })) {
    text += "† a classic form with a known fault, shown for comparison: the chapter says which\n";
  }
  return text;
}

std::string to_json(const Session& session, const std::vector<Run>& runs) {
  const Json head{{"schema", 2},
                  {"chapter", session.chapter},
                  {"commands", Json::array({session.command})},
                  {"device", json_of(session.device)},
                  {"driver", version_text(session.device.driver_version)},
                  {"toolkit", internal::toolkit()},
                  {"host_compiler", internal::host_compiler()},
                  {"flags", internal::compile_flags()},
                  {"architectures", built_for()},
                  {"seed", session.seed},
                  {"cache", session.cache},
                  {"source", nullptr},
                  {"date", utc_now()},
                  {"clocks", nullptr}};
  std::vector<Json> list;
  for (const Run& run : runs) {
    if (!run.samples_us.empty()) list.push_back(json_of(run));
  }
  return document(head, "runs", list);
}

void write_whole(const std::string& path, const std::string& text) {
  Draft draft(path);
  draft.write(text);
  draft.keep();
}

void require_writable(const std::string& path) {
  const Draft draft(path);
}

std::string list_text(const std::string& chapter, const std::vector<VariantInfo>& variants) {
  std::vector<std::vector<std::string>> rows;
  for (const VariantInfo& v : variants) {
    const bool elsewhere = !v.from.empty() && v.from != chapter;
    rows.push_back({std::to_string(rows.size() + 1),
                    v.name + (elsewhere ? " (" + v.from + ")" : ""), "takes " + v.blocks,
                    v.legacy ? "legacy" : ""});
  }
  return aligned(rows, 4);
}

std::string list_json(const std::string& chapter, const std::vector<VariantInfo>& variants) {
  std::vector<Json> list;
  list.reserve(variants.size());
  for (const VariantInfo& v : variants) {
    list.push_back({{"name", v.name},
                    {"from", v.from},
                    {"region", v.region},
                    {"legacy", v.legacy},
                    {"findings", v.findings},
                    {"blocks", v.blocks},
                    {"counted", v.counted.empty() ? Json(nullptr) : Json(v.counted)},
                    {"params", json_of(v.params)},
                    {"profiled", v.profiled},
                    {"steady", v.steady}});
  }
  return document({{"schema", 2}, {"chapter", chapter}}, "variants", list);
}

std::string count_text(std::size_t n) {
  if (n >= 1024 && std::has_single_bit(n)) return "2^" + std::to_string(std::countr_zero(n));
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
  std::string text = fixed(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + " " + kUnits[unit];
}

}  // namespace book
