#include "book/recheck.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "book/check.hpp"
#include "book/problem.hpp"

namespace book {
namespace {

/// A row of a recorded set's file as an object: `columns` names its cells.
nlohmann::json object_of(const nlohmann::json& columns, const nlohmann::json& row) {
  nlohmann::json run;
  for (std::size_t i = 0; i < columns.size(); ++i) run[columns[i]] = row.at(i);
  return run;
}

/// What is wrong with one run's useful bytes; empty where nothing is.
std::string bytes_difference(const nlohmann::json& run, const std::vector<Variant>& variants) {
  const std::string name = run.at("variant");
  const Shape shape{.n = run.at("n"), .block = run.at("block"), .grid = run.at("grid")};
  const std::string whose =
      fmt::format("{}, n = {}, block {}, grid {}", name, shape.n, shape.block, shape.grid);
  const auto variant = std::ranges::find(variants, name, &Variant::name);
  if (variant == variants.end()) return whose + ": no such variant";
  const UsefulBytes made = variant->launch.problem->useful_bytes(shape);
  const std::pair<const char*, std::size_t> fields[] = {{"bytes_read", made.read},
                                                        {"bytes_written", made.written}};
  for (const auto& [field, bytes] : fields) {
    const std::size_t recorded = run.at(field);
    if (recorded != bytes) {
      return fmt::format("{}: {} is {}, the formula makes {}", whose, field, recorded, bytes);
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> differing_bytes(const std::string& path, const std::string& text,
                                         const std::string& chapter,
                                         const std::vector<Variant>& variants) {
  const auto refused = [&path](std::string_view why) {
    return bad_argument(fmt::format("--recheck {}: {}", path, why));
  };
  std::vector<std::string> differing;
  try {
    const auto record = nlohmann::json::parse(text);
    if (record.at("chapter") != chapter) throw refused("is a record of another chapter");
    if (record.at("runs").empty()) throw refused("holds no runs");
    for (const auto& row : record.at("runs")) {
      std::string line = bytes_difference(object_of(record.at("columns"), row), variants);
      if (!line.empty()) differing.push_back(std::move(line));
    }
  } catch (const nlohmann::json::exception& error) {
    throw refused(fmt::format("is not a record ({})", error.what()));
  }
  return differing;
}

}  // namespace book
