// A file is written whole or not at all, whatever stands in its place.
#include "book/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "book/check.hpp"

namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A folder of its own for each test, gone afterwards.
class WriteWhole : public ::testing::Test {
 public:
  WriteWhole() : folder_(fs::path(::testing::TempDir()) / ("write-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  WriteWhole(const WriteWhole&) = delete;
  WriteWhole& operator=(const WriteWhole&) = delete;
  WriteWhole(WriteWhole&&) = delete;
  WriteWhole& operator=(WriteWhole&&) = delete;
  ~WriteWhole() override { fs::remove_all(folder_); }

 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  static std::string refusal(const std::string& path, const std::string& text = "new") {
    try {
      book::write_whole(path, text);
    } catch (const book::Error& error) {
      EXPECT_EQ(error.code(), book::ExitCode::kBadArgument);
      return error.what();
    }
    return "not refused";
  }

  fs::path folder_;
};

TEST_F(WriteWhole, WritesAndReplaces) {
  book::write_whole(path("a.json"), "old and longer\n");
  book::write_whole(path("a.json"), "new\n");
  EXPECT_EQ(read(path("a.json")), "new\n");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteWhole, WritesMoreThanOneCallTakes) {
  const std::string text(5'000'000, 'x');
  book::write_whole(path("a.json"), text);
  EXPECT_EQ(read(path("a.json")), text);
}

TEST_F(WriteWhole, NamesAMissingFolder) {
  EXPECT_EQ(refusal(path("none/a.json")),
            "cannot write \"" + path("none/a.json") + "\": No such file or directory");
}

TEST_F(WriteWhole, RefusesAFolder) {
  EXPECT_EQ(refusal(folder_.string()),
            "cannot write \"" + folder_.string() + "\": it is a folder: name a file in it");
}

TEST_F(WriteWhole, RefusesWhatIsNoRegularFile) {
  // A pipe stands in for /dev/null. Never name a real device here: should the check be broken, the
  // rename puts a plain file in the device's place, for the whole machine when run by root.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("pipe")),
            "cannot write \"" + path("pipe") + "\": it is a pipe: name a file");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(WriteWhole, RefusesAFolderThatIsNotWritable) {
  if (geteuid() == 0) {
    // Root may write anywhere but in the kernel's own file systems.
    EXPECT_THAT(refusal("/proc/a.json"), StartsWith("cannot write \"/proc/a.json\": "));
    return;
  }
  book::write_whole(path("a.json"), "old");
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(refusal(path("a.json")), "cannot write \"" + path("a.json") + "\": Permission denied");
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(read(path("a.json")), "old");
}

TEST_F(WriteWhole, LeavesTheOldFileAloneWhenTheDiskIsFull) {
  book::write_whole(path("a.json"), "old");
  // A limit on the size of files stands in for a full disk: the write itself fails half-way.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = refusal(path("a.json"), std::string(100000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(message, "cannot write \"" + path("a.json") + "\": File too large");
  EXPECT_EQ(read(path("a.json")), "old");
  EXPECT_EQ(files(), 1u) << "the temporary file is gone";
}

TEST_F(WriteWhole, KeepsASymbolicLink) {
  book::write_whole(path("real.json"), "old");
  fs::create_symlink("real.json", path("link.json"));
  book::write_whole(path("link.json"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(read(path("real.json")), "new");
}

TEST_F(WriteWhole, MakesTheFileThatALinkLeadsTo) {
  fs::create_directory(path("far"));
  fs::create_symlink("far/none.json", path("link.json"));
  book::write_whole(path("link.json"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(read(path("far/none.json")), "new");
  EXPECT_EQ(files(), 2u);
  fs::create_symlink("round.json", path("round.json"));
  EXPECT_EQ(refusal(path("round.json")),
            "cannot write \"" + path("round.json") + "\": Too many levels of symbolic links");
}

TEST_F(WriteWhole, KeepsTheMode) {
  const auto mode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
  book::write_whole(path("a.json"), "old");
  fs::permissions(path("a.json"), mode);
  book::write_whole(path("a.json"), "new");
  EXPECT_EQ(fs::status(path("a.json")).permissions(), mode);
}

TEST_F(WriteWhole, RefusesWhatTheProgramPrintsTo) {
  const int before = dup(STDERR_FILENO);
  const int file = open(path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(file, STDERR_FILENO);
  const std::string reason = refusal("/proc/self/fd/2");
  dup2(before, STDERR_FILENO);
  close(before);
  close(file);
  EXPECT_EQ(reason,
            "cannot write \"/proc/self/fd/2\": this program prints to it: name another file");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteWhole, TakesTheLongestName) {
  book::write_whole(path(std::string(255, 'x')), "new");
  EXPECT_EQ(files(), 1u);
}

/// What the folder held when SIGTERM came through.
fs::path watched;
std::ptrdiff_t seen = -1;

TEST_F(WriteWhole, LetsASignalInOnlyWhenTheDraftIsGone) {
  watched = folder_;
  // The limit's own signal comes while the draft is there.
  std::signal(SIGXFSZ, [](int) { std::raise(SIGTERM); });
  std::signal(SIGTERM, [](int) {
    seen = std::distance(fs::directory_iterator(watched), fs::directory_iterator{});
  });
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_NE(refusal(path("a.json"), std::string(100000, 'x')), "not refused");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(seen, 0);
  std::signal(SIGTERM, SIG_DFL);
}

TEST_F(WriteWhole, WritesThroughNoLinkInThePlaceOfItsDraft) {
  book::write_whole(path("precious"), "theirs");
  const std::string draft = path("." + std::to_string(getpid()) + ".0.tmp");
  fs::create_symlink("precious", draft);
  book::write_whole(path("a.json"), "new");
  EXPECT_EQ(read(path("a.json")), "new");
  EXPECT_EQ(read(path("precious")), "theirs");
  EXPECT_TRUE(fs::is_symlink(draft)) << "and it is not ours to remove";
}

TEST_F(WriteWhole, GivesUpWhereEveryDraftIsTaken) {
  for (int k = 0; k < 100; ++k) {
    std::ofstream(path("." + std::to_string(getpid()) + "." + std::to_string(k) + ".tmp"));
  }
  EXPECT_EQ(refusal(path("a.json")), "cannot write \"" + path("a.json") + "\": File exists");
  EXPECT_EQ(files(), 100u);
}

TEST_F(WriteWhole, CanBeAskedBeforehand) {
  book::require_writable(path("a.json"));
  EXPECT_EQ(files(), 0u);
  book::write_whole(path("a.json"), "old");
  book::require_writable(path("a.json"));
  EXPECT_EQ(read(path("a.json")), "old");
  EXPECT_EQ(files(), 1u);
  EXPECT_THROW(book::require_writable(path("none/a.json")), book::Error);
  EXPECT_THROW(book::require_writable(folder_.string()), book::Error);
}

}  // namespace
