#include "cudart/report.hpp"

#include <unistd.h>

#include <cerrno>  // program_invocation_short_name

#include "watch/kernel_name.hpp"

namespace emu {
namespace {

std::string quoted(std::string_view text) {
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

std::string line(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) text += (text.empty() ? "" : ",") + quoted(cell);
  return text + "\n";
}

std::string extent(const Dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

}  // namespace

std::string csv_heading(bool apart) {
  std::vector<std::string> names = {
      "ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
      "Stream", "Block Size", "Grid Size",    "Device",    "CC"};
  if (apart) names.emplace_back("Schedule");
  std::vector<std::string> units(names.size());
  for (const Metric& m : metrics()) {
    names.emplace_back(m.name);
    units.emplace_back(m.unit);
  }
  return line(names) + line(units);
}

std::string csv_row(const LaunchFacts& facts, const Counters& counters) {
  std::vector<std::string> cells = {
      std::to_string(facts.id),
      std::to_string(getpid()),
      program_invocation_short_name,
      "127.0.0.1",
      kernel_name(facts.kernel),
      "1",
      std::to_string(facts.stream),
      extent(facts.block),
      extent(facts.grid),
      "0",
      std::to_string(facts.major) + "." + std::to_string(facts.minor)};
  if (facts.apart) cells.push_back("apart:" + std::to_string(*facts.apart));
  for (const Metric& m : metrics()) cells.push_back(std::to_string(counters.*m.value));
  return line(cells);
}

}  // namespace emu
