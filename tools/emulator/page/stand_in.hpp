/// \file
/// What the core uses of C++20 and emscripten 3.1.6's library hasn't got: put before every source
/// by the compiler's command line. As much of each as the core needs, and no more.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <version>

namespace std {

#ifndef __cpp_lib_bit_cast
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
#endif

#ifndef __cpp_lib_ranges
namespace ranges {

template <class Range, class Test>
constexpr bool any_of(Range&& range, Test test) {
  return std::any_of(std::begin(range), std::end(range), std::move(test));
}
template <class Range, class Test>
constexpr auto find_if(Range&& range, Test test) {
  return std::find_if(std::begin(range), std::end(range), std::move(test));
}
template <class Range, class Value, class Member = std::identity>
constexpr auto find(Range&& range, const Value& value, Member member = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](const auto& one) { return std::invoke(member, one) == value; });
}
template <class Range, class Value, class Member = std::identity>
constexpr auto count(Range&& range, const Value& value, Member member = {}) {
  return std::count_if(std::begin(range), std::end(range),
                       [&](const auto& one) { return std::invoke(member, one) == value; });
}
template <class Range, class F>
constexpr void for_each(Range&& range, F f) {
  std::for_each(std::begin(range), std::end(range), std::move(f));
}
template <class Range, class Less = std::less<>, class Member = std::identity>
constexpr void sort(Range&& range, Less less = {}, Member member = {}) {
  std::sort(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
    return less(std::invoke(member, a), std::invoke(member, b));
  });
}
template <class Range, class Value>
constexpr void fill(Range&& range, const Value& value) {
  std::fill(std::begin(range), std::end(range), value);
}
template <class Range, class To>
constexpr void copy(Range&& range, To to) {
  std::copy(std::begin(range), std::end(range), to);
}
template <class Range, class To>
constexpr void move(Range&& range, To to) {
  std::move(std::begin(range), std::end(range), to);
}

}  // namespace ranges
#endif

/// Of a decimal fraction. (The library's own reads integers only; strtod keeps to the C locale
/// here, the only one that there is.)
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const std::string text(first, std::find_if_not(first, last, [](char c) {
                           return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' ||
                                  c == '+' || c == '-';
                         }));
  char* end = nullptr;
  const double read = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  if (read > 1.7976931348623157e308)
    return {first + (end - text.c_str()), errc::result_out_of_range};
  value = read;
  return {first + (end - text.c_str()), errc{}};
}

}  // namespace std
