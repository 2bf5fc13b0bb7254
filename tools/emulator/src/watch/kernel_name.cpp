// The names of kernels as ncu writes them: what the C++ runtime makes of the mangled name, turned
// into the spelling of NVIDIA's own demangler.
#include "watch/kernel_name.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace emu {
namespace {

/// A longer name is left as it is: nobody reads it.
constexpr std::size_t kLongestName = 4096;

/// Finds where a mangled name (Itanium C++ ABI) speaks of the template's parameters: T_, T0_, …
class ParameterFinder {
 public:
  explicit ParameterFinder(std::string_view name) : name_(name) {}

  struct Place {
    std::size_t at, size;
    int number;  ///< 1 for T_
  };
  std::vector<Place> find() {
    at_ = 2;  // _Z
    while (at_ < name_.size()) {
      scan(false, 0);
      ++at_;
    }
    return std::move(places_);
  }

 private:
  char now(std::size_t ahead = 0) const {
    return at_ + ahead < name_.size() ? name_[at_ + ahead] : '\0';
  }
  static bool digit(char c) { return c >= '0' && c <= '9'; }
  int number() {
    int n = 0;
    for (; digit(now()); ++at_) n = std::min(n * 10 + (now() - '0'), 1 << 20);
    return n;
  }
  void source_name() {
    const int length = number();
    at_ += static_cast<std::size_t>(length);
  }
  /// S_, S1A_, St, …
  void substitution() {
    ++at_;
    if (now() != '_' && !digit(now()) && std::isupper(static_cast<unsigned char>(now())) == 0) {
      ++at_;
      return;
    }
    while (at_ < name_.size() && now() != '_') ++at_;
    ++at_;
  }
  void parameter(bool wanted) {
    const std::size_t begin = at_++;
    const bool first = now() == '_';
    const int n = number();
    if (now() != '_') return;  // something else that begins with a T
    ++at_;
    if (wanted) places_.push_back({begin, at_ - begin, first ? 1 : n + 2});
  }
  /// A value: L, its type, its digits, E.
  void literal(int depth) {
    ++at_;
    if (now() == '_') {  // a variable or function, by its mangled name
      at_ += 2;
      scan(false, depth + 1);
      ++at_;
      return;
    }
    while (now() == 'P' || now() == 'K' || now() == 'R' || now() == 'V') ++at_;
    if (digit(now())) {
      source_name();
    } else if (now() == 'N') {
      ++at_;
      scan(false, depth + 1);
      ++at_;
    } else if (now() == 'S') {
      substitution();
      if (digit(now())) source_name();  // of std
    } else {
      ++at_;
    }
    while (at_ < name_.size() && now() != 'E') ++at_;
    ++at_;
  }
  /// Up to the E that closes what began before, or the end. Among arguments an L is a literal,
  /// elsewhere a name of internal linkage.
  void scan(bool arguments, int depth) {
    if (depth > 200) at_ = name_.size();
    while (at_ < name_.size() && now() != 'E') {
      const char c = now();
      if (digit(c)) {
        source_name();
      } else if (c == 'S') {
        substitution();
      } else if (c == 'T') {
        parameter(!in_lambda_);
      } else if (c == 'L' && arguments) {
        literal(depth);
      } else if (c == 'A' && digit(now(1))) {
        ++at_;
        number();
      } else if (c == 'U' && now(1) == 'l') {
        at_ += 2;
        in_lambda_ = true;  // its own parameters, which have no names
        scan(false, depth + 1);
        in_lambda_ = false;
        ++at_;
        number();
      } else if (c == 'I' || c == 'J' || c == 'X' || c == 'N' || c == 'F' || c == 'Z') {
        ++at_;
        scan(c == 'I' || c == 'J' || c == 'X', depth + 1);
        ++at_;
      } else {
        at_ += (c == 'D' || c == 'C') && digit(now(1)) ? 2 : 1;
      }
    }
  }

  std::string_view name_;
  std::size_t at_ = 0;
  bool in_lambda_ = false;
  std::vector<Place> places_;
};

/// The mangled name of the same function with classes T1, T2, … in place of its template's
/// parameters, which ncu doesn't replace by the arguments. Such a class counts for later
/// substitutions as the parameter does, so that nothing else changes.
std::string with_parameters_named(const std::string& mangled) {
  std::string text;
  std::size_t done = 0;
  for (const auto& place : ParameterFinder(mangled).find()) {
    const std::string name = "T" + std::to_string(place.number);
    text += mangled.substr(done, place.at - done) + std::to_string(name.size()) + name;
    done = place.at + place.size;
  }
  return text + mangled.substr(std::min(done, mangled.size()));
}

/// Empty where it isn't a mangled name.
std::string demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? plain.get() : "";
}

/// `{lambda(int)#1}` is `[lambda(int) (instance 1)]` to ncu.
void rename_lambdas(std::string& name) {
  for (std::size_t at = 0; (at = name.find("{lambda(", at)) != name.npos;) {
    const std::size_t end = name.find('}', at), hash = name.rfind('#', end);
    if (end == name.npos || hash == name.npos || hash < at) return;
    name[at] = '[';
    name.replace(end, 1, ")]");
    name.replace(hash, 1, " (instance ");
  }
}

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
  if (suffix == "ll") return "(long long)" + digits;
  if (suffix == "ull") return "(unsigned long long)" + digits;
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

}  // namespace

std::string kernel_name(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return mangled;
  std::string name = demangled(with_parameters_named(mangled));
  if (name.empty()) name = demangled(mangled);
  if (name.empty()) return mangled;
  if (name.size() > kLongestName) return name;
  // The same name in ncu's spelling, as far as the C++ runtime's can be turned into it.
  replace_all(name, "(anonymous namespace)", "<unnamed>");
  replace_all(name, " >", ">");
  replace_all(name, "(*) [", "(*)[");
  rename_lambdas(name);
  name = with_casts(name);
  for (const auto* const qualifier : {"const volatile", "const", "volatile"}) {
    name = with_qualifier_first(name, qualifier);
  }
  for (std::size_t at = 1; at < name.size(); ++at) {
    const bool mark = name[at] == '*' || name[at] == '&';
    if (mark && (is_word(name[at - 1]) || name[at - 1] == '>' || name[at - 1] == ']'))
      name.insert(at++, " ");
  }
  return name;
}

}  // namespace emu
