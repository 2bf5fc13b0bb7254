/// \file
/// How long to wait for GPUs and processes that may never answer.
#pragma once
#include <chrono>
#include <cstdlib>
#include <string>

#include "book/check.hpp"

namespace chapter14 {

/// Seconds after which a wait is given up: the variable BOOK_DEADLINE_S, or 60. Throws Error
/// (kBadArgument) for what is no number from 1 to 86400.
inline double patience() {
  const char* text = std::getenv("BOOK_DEADLINE_S");
  if (text == nullptr) return 60;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds >= 1 && seconds <= 86400)) {
    throw book::bad_argument(std::string("BOOK_DEADLINE_S=") + text + ": 1 to 86400 seconds");
  }
  return seconds;
}

/// A wait that has begun.
class Deadline {
 public:
  /// \param grace  seconds more than others wait, for who is to hear their reason first
  explicit Deadline(double grace = 0) : seconds_(patience() + grace) {}
  double left() const {
    using Seconds = std::chrono::duration<double>;
    return seconds_ - Seconds(std::chrono::steady_clock::now() - begin_).count();
  }
  bool over() const { return left() <= 0; }
  /// "within 60 s (BOOK_DEADLINE_S)"
  static std::string text() {
    return "within " + std::to_string(static_cast<int>(patience())) + " s (BOOK_DEADLINE_S)";
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double seconds_;
};

}  // namespace chapter14
