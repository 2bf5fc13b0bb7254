/// \file
/// Copies that a block's threads have begun and not yet waited for. Their bytes are kept back
/// until the wait that makes them visible, so that a program that forgets to wait reads what was
/// there before.
///
/// PTX lets a copy land as early as it likes. Where more are kept back than shared memory has
/// places for, the oldest of the thread that begins another land: so a loop that never waits takes
/// no more memory than one that does.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu {

/// An mbarrier object as it lies in shared memory: 64 bits that PTX calls opaque.
struct Mbarrier {
  static constexpr std::uint32_t kMost = (1u << 20) - 1;

  std::uint32_t expected = 0;  ///< arrivals of each phase; 0 in memory that was never initialised
  std::uint32_t pending = 0;   ///< arrivals that this phase still needs
  std::int32_t bytes = 0;      ///< of copies that this phase still needs (tx-count)
  std::uint32_t phase = 0;     ///< modulo 8

  static Mbarrier unpack(std::uint64_t bits);
  std::uint64_t pack() const;
  /// Begins the next phase when nothing is pending; whether it did.
  bool complete_if_done();
};

class AsyncCopies {
 public:
  /// A copy that has landed.
  struct Landed {
    std::uint64_t copy;
    bool completes;  ///< with it a phase of its barrier was over
  };

  /// More than shared memory has places for, of 4 bytes each.
  static constexpr std::size_t kMostKept = 65'536;

  /// Forgets all: a block begins. `watched`: remembers what lands, for take_landed.
  void start(std::uint32_t threads, bool watched);
  /// What has landed since it was last asked, in that order.
  std::vector<Landed> take_landed();

  // Those that begin a copy give its number in the block.

  // cp.async: up to 16 bytes, read when issued.
  std::uint64_t copy(std::uint32_t thread, std::byte* to, const std::byte* data, unsigned bytes);
  void commit(std::uint32_t thread);
  /// Lets all but the newest `allowed` groups of a thread land.
  void wait(std::uint32_t thread, std::uint32_t allowed);
  void wait_all(std::uint32_t thread);

  // cp.async.bulk to shared memory: lands when a thread looks at its barrier.
  std::uint64_t bulk(std::byte* to, const std::byte* from, std::uint32_t bytes, std::byte* barrier);
  /// st.async: up to 16 bytes, which land in the same way.
  std::uint64_t store(std::byte* to, const std::array<std::byte, 16>& data, std::uint32_t bytes,
                      std::byte* barrier);
  void look_at(std::byte* barrier);

  // cp.async.bulk to global memory, in groups of each thread's own.
  std::uint64_t bulk_store(std::uint32_t thread, std::byte* to, const std::byte* from,
                           std::uint32_t bytes);
  void bulk_commit(std::uint32_t thread);
  void bulk_wait(std::uint32_t thread, std::uint32_t allowed);
  bool used() const { return used_; }
  std::size_t kept() const { return kept_; }  ///< copies that haven't landed
  /// Whether a bulk copy to global memory was never waited for.
  bool has_stores() const;

 private:
  struct Copy {
    std::uint64_t number;
    std::byte* to;
    std::array<std::byte, 16> data;
    unsigned bytes;
    std::uint32_t group;
  };
  struct Bulk {
    std::uint64_t number;
    std::byte* to;
    const std::byte* from;  ///< null: `data`
    std::uint32_t bytes;
    std::byte* barrier;
    std::uint32_t group;
    std::array<std::byte, 16> data = {};
  };
  struct Thread {
    std::vector<Copy> copies;
    std::vector<Bulk> stores;
    std::uint32_t committed = 0, stores_committed = 0;
  };
  Thread& of(std::uint32_t thread);
  template <class Kept>
  void make_room(std::vector<Kept>& kept);
  void land(const Copy& copy);
  void land(const Bulk& bulk);
  void landed(std::uint64_t copy, bool completes = false) {
    if (watched_) landed_.push_back({copy, completes});
  }

  std::uint32_t count_ = 0;
  bool used_ = false, watched_ = false;
  std::uint64_t number_ = 0;
  std::size_t kept_ = 0;  ///< of all threads
  std::vector<Landed> landed_;
  std::vector<Thread> threads_;  ///< empty until the first copy
  std::vector<Bulk> bulk_;
};

}  // namespace emu
