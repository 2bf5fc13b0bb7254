/// \file
/// Files for results. An old one stays whole until the new one is: what the program writes goes
/// into a draft beside it, which takes its place when the program has ended.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace emu {

/// Where a FILE of the command line leads.
struct Destination {
  std::filesystem::path path;  ///< absolute, links followed
  bool regular = true;         ///< or not there yet; a device or a pipe is written to as it is
};

/// Throws Stop where FILE can't be a result's: no such folder, a folder itself, a program.
/// `option` and `file` as the command line has them; `program` is the one to be run.
Destination find_destination(const std::string& option, const std::string& file,
                             const std::string& program);

/// Whether two results would go into one regular file.
bool same_file(const Destination& a, const Destination& b);

class Draft {
 public:
  /// Makes an empty file of a name that can't be guessed. Throws Stop where that can't be.
  Draft(std::string option, std::string file, Destination destination);
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft();  ///< removes it unless one of these was called:

  /// In place of what was there. False, with a line on stderr, where that fails.
  bool replace();
  /// The program was stopped: what there is of the draft stays beside the file, and a line says so.
  void leave();
  /// Not all of it could be written: the file stays as it was, and a line says so.
  void drop();

  const std::string& path() const { return path_; }

 private:
  std::string option_, file_;
  Destination destination_;
  bool there_ = false;  ///< an older file of the name
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace emu
