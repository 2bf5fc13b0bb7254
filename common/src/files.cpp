#include "book/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "book/check.hpp"
#include "internal.hpp"

namespace book {
namespace {

/// A new file beside the one that is meant, which takes its name once it is whole.
class Draft {
 public:
  explicit Draft(const std::string& path) : path_(path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) fail("it is a directory");
    // A rename would put a plain file in the place of /dev/null.
    if (fs::exists(status) && !fs::is_regular_file(status)) fail("it is not a regular file");
    target_ = path;
    // Through a symbolic link, so that the link stays one.
    if (fs::exists(status)) {
      target_ = fs::canonical(path, ignored).string();
    } else if (fs::is_symlink(fs::symlink_status(path, ignored))) {
      fail("it is a symbolic link to what isn't there");
    }
    // Never what is already there: another user may have put a link to another file in its place.
    for (int attempt = 0; attempt < kAttempts && descriptor_ < 0; ++attempt) {
      draft_ = fmt::format("{}.{}.{}.tmp", target_, getpid(), attempt);
      descriptor_ =
          open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
      if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail(std::strerror(errno));
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
    throw bad_argument(fmt::format("cannot write {}: {}", internal::in_quotes(path_), reason));
  }

  static constexpr int kAttempts = 100;
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
