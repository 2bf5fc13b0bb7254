#include "book/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "book/check.hpp"
#include "internal.hpp"

namespace book {
namespace {

namespace fs = std::filesystem;

/// Why no file may take its place; none where one may. A rename would put one in that of /dev/null,
/// for the whole machine when run by root.
const char* what_it_is(const struct stat& found) {
  if (S_ISDIR(found.st_mode)) return "it is a folder: name a file in it";
  if (S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode)) return "it is a device: name a file";
  if (S_ISFIFO(found.st_mode)) return "it is a pipe: name a file";
  if (S_ISSOCK(found.st_mode)) return "it is a socket: name a file";
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (fstat(stream, &open) == 0 && open.st_dev == found.st_dev && open.st_ino == found.st_ino) {
      return "this program prints to it: name another file";
    }
  }
  return nullptr;
}

/// Where a name leads, also by a link to what isn't there yet.
fs::path followed(fs::path path) {
  std::error_code ignored;
  // More links than the system allows lead nowhere, which it says when the draft is made.
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(path, ignored)); ++links) {
    path = path.parent_path() / fs::read_symlink(path, ignored);
  }
  return path;
}

/// A signal that would stop the program waits until the draft is a file or gone.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t stopping;
    sigemptyset(&stopping);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stopping, number);
    pthread_sigmask(SIG_BLOCK, &stopping, &before_);
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
  Undisturbed(Undisturbed&&) = delete;
  Undisturbed& operator=(Undisturbed&&) = delete;
  ~Undisturbed() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// A new file beside the one that is meant, which takes its name once it is whole.
class Draft {
 public:
  explicit Draft(const std::string& path) : path_(path) {
    struct stat old {};
    const bool there = stat(path.c_str(), &old) == 0;
    if (!there && errno != ENOENT) fail(std::strerror(errno));
    if (const char* reason = there ? what_it_is(old) : nullptr) fail(reason);
    if (there && access(path.c_str(), W_OK) != 0) fail(std::strerror(errno));
    const fs::path target = followed(path);  // so that a link stays one
    target_ = target.string();
    // Never what is already there: another user may have put a link to another file in its place.
    for (int attempt = 0; attempt < kAttempts && descriptor_ < 0; ++attempt) {
      draft_ = (target.parent_path() / fmt::format(".{}.{}.tmp", getpid(), attempt)).string();
      descriptor_ =
          open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
      if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail(std::strerror(errno));
    if (there) {
      // Another user's file stays theirs, where this user may say so.
      const int owned = fchown(descriptor_, old.st_uid, old.st_gid);
      static_cast<void>(owned);
      fchmod(descriptor_, old.st_mode & 07777);
    }
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Draft(Draft&&) = delete;
  Draft& operator=(Draft&&) = delete;
  ~Draft() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!renamed_) unlink(draft_.c_str());
  }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(std::strerror(errno));
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /// On the disk first: a rename may otherwise outlive the text after a crash.
  void keep() {
    if (fsync(descriptor_) != 0) fail(std::strerror(errno));
    if (close(std::exchange(descriptor_, -1)) != 0) fail(std::strerror(errno));
    if (std::rename(draft_.c_str(), target_.c_str()) != 0) fail(std::strerror(errno));
    renamed_ = true;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    const bool full = reason == std::strerror(ENOSPC) || reason == std::strerror(EDQUOT);
    throw bad_argument(fmt::format("cannot write {}: {}{}", internal::in_quotes(path_), reason,
                                   full ? "; make room, or name a file on another disk" : ""));
  }

  static constexpr int kAttempts = 100;
  const Undisturbed undisturbed_;
  std::string path_, target_, draft_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

void write_whole(const std::string& path, const std::string& text) {
  Draft draft(path);
  draft.write(text);
  draft.keep();
}

void require_writable(const std::string& path) {
  const Draft draft(path);
}

}  // namespace book
