// The names of kernels as ncu writes them: what the C++ runtime's demangler says, in the spelling
// of NVIDIA's.
#include "watch/kernel_name.hpp"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace emu {
namespace {

/// A longer name is left as it is: too long to read.
constexpr std::size_t kLongestName = 4096;

/// Empty where it isn't a mangled name.
std::string demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? plain.get() : "";
}

/// Whether a class is named, and not first as the type of a lambda's own parameter (`auto`).
bool names(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == text.npos) return false;
  if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) return false;
  const std::size_t lambda = text.rfind("{lambda(", at);
  return lambda == text.npos || text.find('}', lambda) < at;
}

/// The plain name, with T1, T2, … where the mangled one refers to its template's parameters (T_,
/// T0_, …): ncu doesn't put the arguments there. In the mangled name a class takes the parameter's
/// place, which counts for later substitutions as the parameter does.
///
/// Whether a `T_` is such a parameter or a part of something else the demangler says: the name must
/// still mean something with a class there, and the class must be in it.
std::string with_parameters_named(std::string mangled) {
  constexpr std::string_view kClass = "class_for_a_parameter";
  for (std::size_t at = 2; (at = mangled.find('T', at)) != mangled.npos; ++at) {
    std::size_t end = at + 1;
    while (std::isdigit(static_cast<unsigned char>(mangled[end])) != 0) ++end;
    if (mangled[end] != '_' || end > at + 4) continue;
    const auto with = [&](std::string_view name) {
      return mangled.substr(0, at) + std::to_string(name.size()).append(name) +
             mangled.substr(end + 1);
    };
    if (!names(demangled(with(kClass)), kClass)) continue;
    const int number = end == at + 1 ? 1 : std::stoi(mangled.substr(at + 1)) + 2;
    mangled = with("T" + std::to_string(number));
  }
  return demangled(mangled);
}

/// `int const*` is `const int *` to ncu, and `f<int volatile>` is `f<volatile int>`.
std::string with_qualifier_first(std::string name, std::string_view qualifier) {
  const std::string behind = " " + std::string(qualifier);
  for (std::size_t at = 0; (at = name.find(behind, at)) != name.npos;) {
    const std::size_t after = at + behind.size();
    if (after >= name.size() ||
        (std::string_view("*&,>").find(name[after]) == std::string_view::npos &&
         name.compare(after, 3, " (*") != 0)) {
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

/// The same name in ncu's spelling.
std::string normalised(std::string name) {
  struct Rule {
    std::regex from;
    const char* to;
  };
  // A number that is a template's argument has its type before it.
  const auto argument = [](const std::string& text) {
    return std::regex("(<|, )" + text + "(?=[,>])");
  };
  static const auto* const rules = new std::vector<Rule>{
      {std::regex(R"(\(anonymous namespace\))"), "<unnamed>"},
      {std::regex(" >"), ">"},
      {std::regex(R"(\(\*\) \[)"), "(*)["},
      {std::regex(R"(\{lambda\(([^}]*)\)#(\d+)\})"), "[lambda($1) (instance $2)]"},
      {argument("true"), "$1(bool)1"},
      {argument("false"), "$1(bool)0"},
      {argument(R"((-?\d+))"), "$1(int)$2"},
      {argument(R"((-?\d+)u)"), "$1(unsigned int)$2"},
      {argument(R"((-?\d+)l)"), "$1(long)$2"},
      {argument(R"((-?\d+)ul)"), "$1(unsigned long)$2"},
      {argument(R"((-?\d+)ll)"), "$1(long long)$2"},
      {argument(R"((-?\d+)ull)"), "$1(unsigned long long)$2"},
  };
  for (const Rule& rule : *rules) name = std::regex_replace(name, rule.from, rule.to);
  for (const auto* const qualifier : {"const volatile", "const", "volatile"}) {
    name = with_qualifier_first(name, qualifier);
  }
  static const auto* const mark = new std::regex(R"(([\w>\]])([*&]))");
  return std::regex_replace(name, *mark, "$1 $2");
}

std::string readable(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return mangled;
  if (mangled.size() > kLongestName) return mangled;
  const std::string name = with_parameters_named(mangled);
  if (name.empty()) return mangled;
  return name.size() > kLongestName ? name : normalised(name);
}

}  // namespace

std::string kernel_name(const std::string& mangled) {
  // Kept, since many launches are of few kernels. Never destroyed: names are told at exit too.
  static auto* const known = new std::map<std::string, std::string>;
  static std::mutex knowing;
  const std::scoped_lock lock(knowing);
  auto it = known->find(mangled);
  if (it == known->end()) it = known->emplace(mangled, readable(mangled)).first;
  return it->second;
}

}  // namespace emu
