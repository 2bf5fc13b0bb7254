#include "report.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>  // program_invocation_short_name
#include <cstdlib>
#include <memory>

namespace emu {
namespace {

/// A longer name is left as it is: nobody reads it.
constexpr std::size_t kLongestName = 4096;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// A template argument that is a number, with the type that ncu puts before it: `4u` is
/// `(unsigned int)4`. Empty for any other text.
std::string cast(std::string_view argument) {
  if (argument == "true") return "(bool)1";
  if (argument == "false") return "(bool)0";
  const std::size_t sign = argument.starts_with('-') ? 1 : 0;
  const std::size_t end = argument.find_first_not_of("0123456789", sign);
  if (end == sign || argument.size() == sign) return "";
  const std::string_view suffix = end == argument.npos ? "" : argument.substr(end);
  const std::string digits(argument.substr(0, end));
  if (suffix.empty()) return "(int)" + digits;
  if (suffix == "u") return "(unsigned int)" + digits;
  if (suffix == "l") return "(long)" + digits;
  if (suffix == "ul") return "(unsigned long)" + digits;
  return "";
}

std::string with_casts(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    // One argument, or whatever else lies between these marks.
    const std::size_t end = std::min(name.find_first_of("<>, ()"), name.size());
    const bool opened = text.ends_with('<') || text.ends_with(", ");
    const bool closed = end < name.size() && (name[end] == ',' || name[end] == '>');
    const std::string number = opened && closed ? cast(name.substr(0, end)) : "";
    text += number.empty() ? name.substr(0, end) : number;
    if (end < name.size()) text += name[end];
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return text;
}

/// `int const*` is `const int *` to ncu.
std::string with_qualifier_first(std::string name, std::string_view qualifier) {
  const std::string behind = " " + std::string(qualifier);
  for (std::size_t at = 0; (at = name.find(behind, at)) != name.npos;) {
    const std::size_t after = at + behind.size();
    if (after >= name.size() || (name[after] != '*' && name[after] != '&')) {
      at = after;
      continue;
    }
    std::size_t type = at;  // where the type before it begins
    for (int depth = 0; type > 0; --type) {
      const char c = name[type - 1];
      depth += (c == '>') - (c == '<');
      if (depth < 0 || (depth == 0 && (c == '(' || c == ',' || c == '*'))) break;
    }
    if (type < at && name[type] == ' ') ++type;
    name.erase(at, behind.size());
    name.insert(type, behind.substr(1) + " ");
    at = after;
  }
  return name;
}

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

const std::vector<Metric>& metrics() {
  // In ncu's order, which is the alphabet's.
  static const auto* const all = new std::vector<Metric>{
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "",
       &Counters::shared_load_conflicts},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "",
       &Counters::shared_store_conflicts},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "",
       &Counters::shared_load_wavefronts},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "",
       &Counters::shared_store_wavefronts},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", &Counters::global_load_requests},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", &Counters::global_store_requests},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", &Counters::global_load_sectors},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", &Counters::global_store_sectors},
      {"source__branches.sum", "", &Counters::branches},
      {"source__diverging_branches.sum", "", &Counters::diverging_branches},
      {"source__mergeable_shared_loads.sum", "", &Counters::mergeable_shared_loads},
      {"source__thread_instructions.sum", "", &Counters::thread_instructions},
      {"source__warp_instructions.sum", "inst", &Counters::warp_instructions},
  };
  return *all;
}

std::string kernel_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? plain.get() : mangled;
  if (name.size() > kLongestName) return name;
  // The same name in ncu's spelling, as far as the C++ runtime's can be turned into it.
  replace_all(name, "(anonymous namespace)", "<unnamed>");
  name = with_casts(name);
  for (const auto* const qualifier : {"const volatile", "const", "volatile"}) {
    name = with_qualifier_first(name, qualifier);
  }
  for (std::size_t at = 1; at < name.size(); ++at) {
    const bool mark = name[at] == '*' || name[at] == '&';
    if (mark && (is_word(name[at - 1]) || name[at - 1] == '>')) name.insert(at++, " ");
  }
  return name;
}

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
