#include "results.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include "stop.hpp"

namespace emu {
namespace {

namespace fs = std::filesystem;

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  return found;
}

bool same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Standard output under one of its names (/dev/stdout), wherever it goes.
bool is_open_here(const struct stat& file) {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (fstat(descriptor, &open) == 0 && same(open, file)) return true;
  }
  return false;
}

/// A binary, or a file that may be executed and doesn't begin as a result does (on some
/// filesystems every file may be executed).
bool is_program(const fs::path& path, const struct stat& found) {
  char begin[SELFMAG] = {};
  std::ifstream(path, std::ios::binary).read(begin, sizeof begin);
  if (std::memcmp(begin, ELFMAG, SELFMAG) == 0) return true;
  const bool executable = (found.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
  return executable && found.st_size > 0 && begin[0] != '"' && begin[0] != '{';
}

/// Also of a link that leads to nothing yet.
fs::path followed(fs::path path) {
  constexpr int kMostLinks = 40;  // as the system allows
  for (int links = 0; fs::is_symlink(fs::symlink_status(path)); ++links) {
    if (links == kMostLinks)
      throw fs::filesystem_error("", std::error_code(ELOOP, std::generic_category()));
    path = path.parent_path() / fs::read_symlink(path);
  }
  return fs::canonical(path.has_parent_path() ? path.parent_path() : ".") / path.filename();
}

[[noreturn]] void refuse(const std::string& option, const std::string& file,
                         const std::string& why) {
  throw Stop(kBadArgument, option + " " + file + ": " + why);
}

}  // namespace

Destination find_destination(const std::string& option, const std::string& file,
                             const std::string& program) {
  const auto found = status_of(file);
  if (found && S_ISDIR(found->st_mode)) refuse(option, file, "can't be written: it is a folder");
  if (found && access(file.c_str(), W_OK) != 0) {
    refuse(option, file, std::string("can't be written: ") + std::strerror(errno));
  }
  if (found && (!S_ISREG(found->st_mode) || is_open_here(*found))) {
    return {.path = fs::absolute(file), .regular = false};
  }
  const auto run = status_of(program);
  if (found && ((run && same(*run, *found)) || is_program(file, *found))) {
    refuse(option, file, "is a program and would be overwritten; was the name of FILE forgotten?");
  }
  try {
    return {.path = followed(file)};
  } catch (const fs::filesystem_error& error) {
    refuse(option, file, "can't be written: " + error.code().message());
  }
}

bool same_file(const Destination& a, const Destination& b) {
  if (!a.regular || !b.regular) return false;
  if (a.path == b.path) return true;
  const auto first = status_of(a.path), second = status_of(b.path);
  return first && second && same(*first, *second);
}

Draft::Draft(std::string option, std::string file, Destination destination)
    : option_(std::move(option)), file_(std::move(file)), destination_(std::move(destination)) {
  const auto old = status_of(destination_.path);
  there_ = old.has_value();
  std::random_device random;
  std::string name = destination_.path.string() + ".";
  for (int i = 0; i < 8; ++i) name += "abcdefghijklmnopqrstuvwxyz234567"[random() % 32];
  name += ".part";
  descriptor_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    refuse(option_, file_,
           std::string("can't be written: no new file can be made beside it: ") +
               std::strerror(errno));
  }
  path_ = name;
  if (old) fchmod(descriptor_, old->st_mode & 0777);
}

Draft::~Draft() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!path_.empty()) unlink(path_.c_str());
}

bool Draft::replace() {
  // On the disk first: a name that leads to an empty file would be neither the old nor the new.
  if (fsync(descriptor_) != 0 || std::rename(path_.c_str(), destination_.path.c_str()) != 0) {
    complain(option_ + " " + file_ + ": can't be written: " + std::strerror(errno));
    return false;
  }
  path_.clear();
  return true;
}

void Draft::leave() {
  struct stat found {};
  const bool begun = fstat(descriptor_, &found) == 0 && found.st_size > 0;
  const std::string old = there_ ? "stays as it was" : "isn't written";
  complain(option_ + " " + file_ + " " + old +
           (begun ? "; what there is of the new one is in " + path_ : ""));
  if (begun) path_.clear();
}

void Draft::drop() {
  if (there_) complain(option_ + " " + file_ + " stays as it was");
}

}  // namespace emu
