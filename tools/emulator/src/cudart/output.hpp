/// \file
/// What comes out of the device: lines on stderr, files of results, and a word to tools/emulate.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

namespace emu {

/// Writes one line to stderr, under the device's name.
void say(const std::string& message);

/// Adds a line to the file that EMU_OUTCOME names: what the program's exit status can't tell
/// tools/emulate, as it may happen after its end.
void tell_launcher(const std::string& word);

/// A file of results. The first write that fails is said, and nothing is written after it.
class Output {
 public:
  enum class Mode { kReplace, kAdd };
  /// `variable` named the file; none is written where `path` is empty. Messages call it what
  /// `variable`_AS says, where tools/emulate has set that.
  Output(std::string variable, std::string path, Mode mode);

  bool wanted() const { return !path_.empty() && !failed_; }
  /// Whether it has been opened, and so begun.
  bool open() const { return file_ != nullptr; }

  /// Opens it if that wasn't done. False where it can't be.
  bool begin();
  void write(std::string_view text);
  void flush();
  void close();

  /// Whether any result of this process was lost: the program's exit status is then 2, unless it
  /// says something else by itself.
  static bool any_failed();

 private:
  void fail(const std::string& why);

  std::string variable_, path_;
  Mode mode_;
  std::FILE* file_ = nullptr;
  bool failed_ = false;
};

}  // namespace emu
