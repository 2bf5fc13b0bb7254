#include "cudart/output.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace emu {
namespace {

bool lost = false;

}  // namespace

void say(const std::string& message) {
  // One write, so that lines of several threads don't mix.
  const std::string line = "embedded device: " + message + "\n";
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

void tell_launcher(const std::string& word) {
  static const char* const path = std::getenv("EMU_OUTCOME");
  if (path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "ae")) {
    std::fputs((word + "\n").c_str(), file);
    std::fclose(file);
  }
}

Output::Output(std::string variable, std::string path, Mode mode)
    : variable_(std::move(variable)), path_(std::move(path)), mode_(mode) {}

bool Output::begin() {
  if (!wanted()) return false;
  if (file_ == nullptr) file_ = std::fopen(path_.c_str(), mode_ == Mode::kAdd ? "ae" : "we");
  if (file_ == nullptr) fail(std::strerror(errno));
  return file_ != nullptr;
}

void Output::write(std::string_view text) {
  if (begin() && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
    fail(std::string("not all could be written: ") + std::strerror(errno));
  }
}

void Output::flush() {
  if (wanted() && file_ != nullptr && std::fflush(file_) != 0) {
    fail(std::string("not all could be written: ") + std::strerror(errno));
  }
}

void Output::close() {
  flush();
  if (std::FILE* file = std::exchange(file_, nullptr); file != nullptr && std::fclose(file) != 0) {
    fail(std::string("not all could be written: ") + std::strerror(errno));
  }
}

bool Output::any_failed() {
  return lost;
}

void Output::fail(const std::string& why) {
  if (std::exchange(failed_, true)) return;
  lost = true;
  const char* as = std::getenv((variable_ + "_AS").c_str());
  say((as == nullptr ? variable_ + "=" + path_ : as) + ": " + why);
  tell_launcher("unwritten " + variable_);
}

}  // namespace emu
