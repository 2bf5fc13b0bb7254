#include <cxxabi.h>
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <typeindex>

#include "book/list.hpp"
#include "book/report.hpp"
#include "internal.hpp"

namespace book {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 3;  // of records and lists

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

/// A sample for the record, to the nanosecond.
double microseconds(const std::string& where, double sample) {
  if (!std::isfinite(sample) || sample < 0) {
    throw std::logic_error(fmt::format("{}: samples_us is {}", where, sample));
  }
  return std::round(sample * 1e3) / 1e3;
}

Json json_of(const Run& run) {
  const std::string where = run.variant + ", n = " + count_text(run.n);
  Json samples = Json::array();
  for (const double sample : run.samples_us) samples.push_back(microseconds(where, sample));
  Json json{{"variant", run.variant},
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
            {"stopped_by", run.stopped_by},
            {"cache", run.cache},
            {"clock", run.clock},
            {"verified", run.verified},
            {"kernel_hash", nullptr}};
  // A sum of floats that isn't the exact one; infinite where that is 0, which JSON has no word for.
  if (run.error && std::isfinite(*run.error)) json["error"] = *run.error;
  return json;
}

Json json_of(const Device& device) {
  return {{"name", device.name},
          {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
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
          {"ecc", device.ecc}};
}

/// One line. An argument of a command line may hold any bytes; JSON holds text.
std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// `head`'s members, a line each, then the list `name`, an element per line.
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

Json json_of(const Point& point) {
  return {{"n", point.n}, {"block", point.block}};
}

Json json_of(const Blocks& blocks) {
  return {{"low", blocks.low},
          {"high", blocks.high},
          {"powers_of_two", blocks.powers_of_two},
          {"multiple_of", blocks.multiple_of},
          {"text", blocks.text()}};
}

/// What a run without `--n` takes on the embedded device, and the most it may take there.
Json json_of(const Sizes& sizes) {
  const bool bounded = sizes.most_embedded != ~std::size_t{0};
  return {{"usual", sizes.usual_embedded},
          {"most", bounded ? Json(sizes.most_embedded) : Json(nullptr)}};
}

/// A type as C++ has it: "book::Sum".
std::string readable(std::type_index type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : type.name();
}

std::string_view word(Counters counters) {
  switch (counters) {
    case Counters::kExact: return "exact";
    case Counters::kLessArbitration: return "less_arbitration";
    case Counters::kNone: return "none";
  }
  return "";
}

/// \param block  the chapter's, for a variant that has none of its own
Json json_of(const Variant& v, unsigned block) {
  Json axes = Json::array();
  for (const Axis& axis : v.axes) axes.push_back({{"name", axis.name}, {"values", axis.values}});
  Json counted = Json::array();
  for (const Point& point : v.counted) counted.push_back(json_of(point));
  return {{"name", v.name},
          {"from", v.from},
          {"region", v.region},
          {"legacy", v.legacy},
          {"problem", readable(v.launch.type)},
          {"sizes", json_of(v.sizes.value_or(Sizes{}))},
          {"findings", v.findings},
          {"blocks", json_of(v.blocks)},
          {"block", v.blocks.nearest(v.block.value_or(block))},
          {"counters", word(v.counters)},
          {"compared", v.compared},
          {"profiled", v.profiled},
          {"embedded", v.embedded},
          {"devices", v.devices},
          {"axes", axes},
          {"counted", counted},
          {"checked", json_of(v.checked.value_or(Point{}))},
          {"params", json_of(v.params)}};
}

}  // namespace

std::string to_json(const Session& session, const std::vector<Run>& runs) {
  const Json head{{"schema", kSchema},
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

std::string list_json(const std::string& chapter, unsigned default_block,
                      const std::vector<Variant>& variants) {
  std::vector<Json> list;
  list.reserve(variants.size());
  for (const Variant& v : variants) list.push_back(json_of(v, default_block));
  const Json head{{"schema", kSchema}, {"chapter", chapter}, {"default_block", default_block}};
  return document(head, "variants", list);
}

}  // namespace book
