/// \file
/// One process per GPU: who they are, and what they tell each other. Any launcher will do that
/// starts the program once per GPU and says by variables which is which. The processes find each
/// other by TCP, as MPI, NCCL and PyTorch do, and no library of a launcher's is needed.
#pragma once
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "book/check.hpp"
#include "book/team.hpp"
#include "patience.hpp"

namespace chapter14 {

// begin who-is-who
/// What a launcher says of a process.
struct Place {
  unsigned rank = 0, size = 1, local_rank = 0;
};

/// A variable that is a whole number. Throws Error(kBadArgument) for another text.
inline std::optional<unsigned> number_in(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || value > 0xffff) {
    throw book::bad_argument(std::string(name) + "=" + text + ": a whole number up to 65535");
  }
  return static_cast<unsigned>(value);
}

/// This process's place among those that torchrun, mpirun, another MPI's launcher or srun started;
/// none where it was started alone.
inline std::optional<Place> place_among_ranks() {
  constexpr const char* kLaunchers[][3] = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
      {"RANK", "WORLD_SIZE", "RANK"},  // by hand, on one machine
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"}};
  for (const auto& [rank_name, size_name, local_name] : kLaunchers) {
    const auto rank = number_in(rank_name);
    const auto size = number_in(size_name);
    const auto local_rank = number_in(local_name);
    if (!rank || !size || !local_rank) continue;
    if (*rank >= *size) {
      throw book::bad_argument(std::string(rank_name) + "=" + std::to_string(*rank) + ": below " +
                               size_name + ", which is " + std::to_string(*size));
    }
    if (*size < 2) return std::nullopt;
    return Place{*rank, *size, *local_rank};
  }
  return std::nullopt;
}
// end who-is-who

/// The other processes. All talk to rank 0, which hands on.
class Ranks final : public book::Team {
 public:
  using Bytes = std::vector<char>;

  explicit Ranks(const Place& place) : place_(place) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() override {
    for (const int peer : peers_) {
      if (peer >= 0) close(peer);
    }
  }

  unsigned rank() const override { return place_.rank; }
  unsigned size() const override { return place_.size; }
  unsigned local_rank() const override { return place_.local_rank; }

  void start() override {
    if (place_.rank == 0) {
      listen_for_all();
    } else {
      find_first();
    }
  }

  void agree(const std::string& what) override {
    const std::vector<Bytes> all = all_gather({what.begin(), what.end()});
    for (unsigned r = 1; r < all.size(); ++r) {
      if (all[r] == all[0]) continue;
      throw book::bad_argument(
          "ranks 0 and " + std::to_string(r) +
          " do not do the same: rank 0: " + std::string(all[0].begin(), all[0].end()) + "; rank " +
          std::to_string(r) + ": " + std::string(all[r].begin(), all[r].end()));
    }
  }

  void meet() override { all_gather({}); }

  double largest(double value) override {
    double most = value;
    for (const double each : gather(value)) most = std::max(most, each);
    return most;
  }

  void fail(const std::string& why) noexcept override {
    const std::scoped_lock lock(mutex_);
    const std::string text = "rank " + std::to_string(place_.rank) + " stopped: " + why;
    if (std::exchange(over_, true)) return;  // it ends because another has
    for (const int peer : peers_) {
      if (peer >= 0) static_cast<void>(put(peer, Kind::kError, {text.begin(), text.end()}));
    }
  }

  // begin all-gather
  /// What every rank has, on every rank. Throws Error where one has ended, or doesn't come in time.
  std::vector<Bytes> all_gather(const Bytes& mine) {
    const std::scoped_lock lock(mutex_);
    std::vector<Bytes> all(place_.size);
    all[place_.rank] = mine;
    if (place_.rank == 0) {
      const Deadline deadline;
      for (unsigned r = 1; r < place_.size; ++r) all[r] = take(r, deadline);
      for (unsigned r = 1; r < place_.size; ++r) {
        for (const Bytes& each : all) give(r, each);
      }
    } else {
      give(0, mine);
      const Deadline deadline(kGrace);
      for (Bytes& each : all) each = take(0, deadline);
    }
    return all;
  }
  // end all-gather

  /// The same of a value.
  template <class T>
  std::vector<T> gather(const T& mine) {
    Bytes bytes(sizeof mine);
    std::memcpy(bytes.data(), &mine, sizeof mine);
    std::vector<T> all;
    for (const Bytes& each : all_gather(bytes)) {
      if (each.size() != sizeof(T)) throw stopped("a rank runs another program");
      T value;
      std::memcpy(&value, each.data(), sizeof value);
      all.push_back(value);
    }
    return all;
  }

  /// Throws Error where another rank has ended; waits for nothing.
  void look_around() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;  // another thread is told
    for (unsigned r = 0; r < peers_.size(); ++r) {
      if (peers_[r] < 0) continue;
      Head head;
      const ssize_t got = recv(peers_[r], &head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
      if (got == 0) lost(r);
      if (got == sizeof head && head.kind == Kind::kError) take(r, Deadline());
    }
  }

 private:
  enum class Kind : std::uint32_t { kData = 1, kError };
  struct Head {
    Kind kind = Kind::kData;
    std::uint32_t bytes = 0;
  };
  struct Hello {
    std::uint64_t magic = 0x6c61646465723134;  // "ladder14"
    std::uint32_t rank = 0, size = 0;
  };
  /// Seconds that others wait longer than rank 0, which knows who is missing.
  static constexpr double kGrace = 3;
  static constexpr std::uint32_t kMostBytes = 1u << 20;

  static book::Error stopped(const std::string& why) { return {book::ExitCode::kCudaError, why}; }

  static std::string host() {
    const char* name = std::getenv("MASTER_ADDR");
    return name == nullptr ? "127.0.0.1" : name;
  }
  /// torchrun's own store listens at MASTER_PORT: the next one is taken then.
  static unsigned port() {
    constexpr unsigned kUsual = 29417;
    const auto named = number_in("MASTER_PORT");
    if (!named) return kUsual;
    const unsigned port = *named + (std::getenv("TORCHELASTIC_RUN_ID") != nullptr ? 1 : 0);
    if (port >= 1 && port <= 0xffff) return port;
    throw book::bad_argument("MASTER_PORT=" + std::to_string(*named) + ": there is no port " +
                             std::to_string(port));
  }
  static std::string where() {
    return host() + ":" + std::to_string(port()) + " (MASTER_ADDR, MASTER_PORT)";
  }

  static int new_socket() {
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0) throw stopped(std::string("cannot make a socket: ") + std::strerror(errno));
    prepare(made);
    return made;
  }
  static void prepare(int socket) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    limit(socket, patience());
  }
  /// How long send() and connect() may take: where packets are dropped it would be minutes.
  static void limit(int socket, double seconds) {
    const auto us = static_cast<long>(1e6 * std::max(seconds, 0.05));  // 0 would be no limit
    const timeval most{us / 1000000, us % 1000000};
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  }

  /// "rank 2", "ranks 2 and 3", "ranks 2, 3 and 4"; of many the first.
  std::string missing() const {
    constexpr std::size_t kNamed = 8;
    std::vector<std::string> names;
    for (unsigned r = 1; r < place_.size; ++r) {
      if (peers_[r] < 0) names.push_back(std::to_string(r));
    }
    if (const std::size_t all = names.size(); all > kNamed) {
      names.resize(kNamed);
      names.push_back(std::to_string(all - kNamed) + " more");
    }
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
      text += names[i];
    }
    return (names.size() == 1 ? "rank " : "ranks ") + text;
  }

  // begin listen-for-all
  /// Rank 0 waits until all others have come.
  void listen_for_all() {
    peers_.assign(place_.size, -1);
    const int listener = new_socket();
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(host() == "127.0.0.1" ? INADDR_LOOPBACK : INADDR_ANY);
    address.sin_port = htons(static_cast<std::uint16_t>(port()));
    if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener, static_cast<int>(place_.size)) != 0) {
      const std::string why = std::strerror(errno);
      close(listener);
      throw stopped("cannot listen at port " + std::to_string(port()) + ": " + why +
                    "; MASTER_PORT names another");
    }
    const Deadline deadline;
    for (unsigned there = 1; there < place_.size;) {
      pollfd waits{listener, POLLIN, 0};
      if (poll(&waits, 1, 100) > 0) {
        const int peer = accept(listener, nullptr, nullptr);
        if (peer >= 0 && welcome(peer)) ++there;
      }
      if (deadline.over()) {
        close(listener);
        const std::string who = missing();
        throw stopped(who + (who.starts_with("ranks") ? " have" : " has") + " not come " +
                      Deadline::text() + " to " + where());
      }
    }
    close(listener);
    for (unsigned r = 1; r < place_.size; ++r) give(r, {});  // all are there
  }
  // end listen-for-all

  /// Takes in who is one of the ranks.
  bool welcome(int peer) {
    prepare(peer);
    const timeval soon{2, 0};
    setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    Hello hello{.magic = 0};
    const bool whole = recv(peer, &hello, sizeof hello, MSG_WAITALL) == sizeof hello;
    if (!whole || hello.magic != Hello{}.magic || hello.rank == 0 || hello.rank >= place_.size) {
      close(peer);
      return false;
    }
    if (hello.size != place_.size || peers_[hello.rank] >= 0) {
      const std::string why = hello.size != place_.size
                                  ? "one process says that there are " +
                                        std::to_string(hello.size) + " ranks, and rank 0 " +
                                        std::to_string(place_.size)
                                  : "there are two of rank " + std::to_string(hello.rank);
      static_cast<void>(put(peer, Kind::kError, {why.begin(), why.end()}));
      close(peer);
      throw stopped(why);
    }
    peers_[hello.rank] = peer;
    return true;
  }

  /// Finds rank 0, which may come later.
  void find_first() {
    const Deadline deadline(kGrace);
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    while (true) {
      addrinfo* found = nullptr;
      const std::string service = std::to_string(port());
      const int first = new_socket();
      if (getaddrinfo(host().c_str(), service.c_str(), &hints, &found) == 0) {
        limit(first, deadline.left());
        const bool there = connect(first, found->ai_addr, found->ai_addrlen) == 0;
        freeaddrinfo(found);
        const Hello hello{.rank = place_.rank, .size = place_.size};
        if (there && send(first, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello) {
          limit(first, patience());
          peers_.assign(1, first);
          break;
        }
      }
      close(first);
      if (deadline.over()) {
        throw stopped("rank 0 has not answered " + Deadline::text() + " at " + where());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    take(0, deadline);  // until all are there
  }

  /// False where the other has ended.
  static bool put(int peer, Kind kind, const Bytes& bytes) {
    Bytes message(sizeof(Head) + bytes.size());
    const Head head{kind, static_cast<std::uint32_t>(bytes.size())};
    std::memcpy(message.data(), &head, sizeof head);
    std::copy(bytes.begin(), bytes.end(), message.begin() + sizeof head);
    return send(peer, message.data(), message.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(message.size());
  }
  void give(unsigned r, const Bytes& bytes) {
    if (put(peers_[r], Kind::kData, bytes)) return;
    if (place_.rank != 0) take(0, Deadline());  // it may have said why
    lost(r);
  }

  [[noreturn]] void lost(unsigned r) {
    throw_after_telling("rank " + std::to_string(r) + " has ended without a word");
  }
  [[noreturn]] void throw_after_telling(const std::string& why) {
    over_ = true;
    for (const int peer : peers_) {
      if (place_.rank == 0 && peer >= 0) {
        static_cast<void>(put(peer, Kind::kError, {why.begin(), why.end()}));
      }
    }
    throw stopped(why);
  }

  // begin take-in-time
  /// What a rank says next.
  Bytes take(unsigned r, const Deadline& deadline) {
    Head head;
    read(r, &head, sizeof head, deadline);
    if (head.bytes > kMostBytes) throw_after_telling("a rank runs another program");
    Bytes bytes(head.bytes);
    read(r, bytes.data(), bytes.size(), deadline);
    if (head.kind == Kind::kError) throw_after_telling(std::string(bytes.begin(), bytes.end()));
    return bytes;
  }
  void read(unsigned r, void* to, std::size_t bytes, const Deadline& deadline) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      pollfd waits{peers_[r], POLLIN, 0};
      const int ready = poll(&waits, 1, 100);
      if (ready < 0 && errno != EINTR) lost(r);
      if (ready > 0) {
        const ssize_t got = recv(peers_[r], at, bytes, 0);
        if (got <= 0) lost(r);
        at += got;
        bytes -= static_cast<std::size_t>(got);
      } else if (deadline.over()) {
        throw_after_telling("rank " + std::to_string(r) + " says nothing " + Deadline::text());
      }
    }
  }
  // end take-in-time

  Place place_;
  std::vector<int> peers_;  // of rank 0 its others', by rank; of the others rank 0's
  std::mutex mutex_;
  bool over_ = false;
};

/// The ranks that this process is one of; null where it was started alone.
inline std::shared_ptr<Ranks>& ranks() {
  static std::shared_ptr<Ranks> all;
  return all;
}

}  // namespace chapter14
