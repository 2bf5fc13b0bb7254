/// \file
/// Races in shared and global memory, between threads of a block and of different blocks, by
/// happens-before: PTX's memory model, with vector clocks (past.hpp) and the last accesses to each
/// place (shadow.hpp).
///
/// Barriers and bar.warp.sync join what those who take part know. A fence and then a strong write
/// hand on what the thread knew at the fence; a strong read of that and then a fence take it up:
/// PTX's release and acquire patterns, each with its scope. What is taken up from a place that is
/// read over and over is looked at only when the thread does something else.
///
/// An mbarrier gathers what those who arrive at it know, and when a phase is over hands it to who
/// waits for that. What a copy that goes on by itself touches, it accesses as if at every moment
/// from its beginning until it has landed: then, where its thread waited for it, it counts as that
/// thread's access, and where it counts at an mbarrier as one of a lane that stands for the
/// mbarrier (there are 32; beyond, mbarriers share one).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "watch/check.hpp"
#include "watch/handing.hpp"
#include "watch/old_values.hpp"
#include "watch/past.hpp"
#include "watch/shadow.hpp"
#include "watch/value_uses.hpp"

namespace emu {

class RaceCheck {
 public:
  RaceCheck(BlockFindings& findings, RaceGrid& grid);
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;
  ~RaceCheck();

  void begin(std::uint64_t block);
  void access(const Access& access);
  void accessed();
  void arrived(const Warp& warp, Mask lanes, unsigned barrier, bool waits);
  void completed(unsigned barrier);
  void cluster_arrived(const Warp& warp, Mask lanes, bool releases);
  void cluster_gathered(std::uint64_t phase, unsigned blocks);
  void cluster_waited(const Warp& warp, Mask lanes);
  void reached() { grid_.unfollowed = true; }
  void met(const Warp& warp, Mask lanes);
  void fence(const Warp& warp, Mask lanes, const Fence& fence);
  void proxy_fence(const Warp& warp, Mask lanes, const ProxyFence& fence);
  void waited_for_grids() { grid_.waited = true; }
  void copy_began(const Copy& copy);
  void copy_landed(std::uint64_t number);
  void copy_landed_at(std::uint64_t number, Address mbarrier);
  void mbarrier_arrived(const Warp& warp, unsigned lane, Address mbarrier, bool releases);
  void mbarrier_completed(Address mbarrier);
  void mbarrier_waited(const Warp& warp, unsigned lane, Address mbarrier);
  void given(Address at, std::uint64_t bytes);

 private:
  /// Lanes of a warp that know the same.
  struct Knowing {
    Mask lanes;
    Known known;
  };
  /// What a strong read may take up.
  struct Taken {
    Address place;
    std::shared_ptr<Log> log;
    std::size_t length;
    bool from_grid;  ///< from other blocks too; else from threads of this one
  };
  struct Thread {
    Known block, grid;            ///< what it handed on at its last fence, by how far that reaches
    std::vector<Taken> pending;   ///< read, and no fence since
    std::vector<Taken> acquired;  ///< and not yet looked at
  };
  struct WarpState {
    std::vector<Knowing> knowing;
    Mask behind = 0;  ///< lanes that have acquired what they haven't looked at
  };
  struct Arrived {
    unsigned warp;
    Mask lanes;
    Known known;
    Time time;
    bool waits;
  };
  struct Mbarrier {
    unsigned agent = 0;
    Known gathered;  ///< in this phase
    Known handed;    ///< by phases that are over
  };
  /// One access of lanes that know the same, or a copy's.
  struct Touch {
    const Warp& warp;
    Space space;
    Direction direction;
    const View& known;
    const std::byte* values = nullptr;  ///< lane i's at i * bytes; null: not known
    unsigned bytes = 0;
    const std::uint64_t* address = nullptr;
    const Past* shown = nullptr;  ///< of a bulk copy: what a proxy fence has shown it; else null
  };
  struct OnItsWay {
    unsigned warp, lane;
    std::uint32_t pc;
    Space to_space, from_space;
    Address to, from;
    std::uint64_t bytes;
  };

  // Who knows what of whom (race_order.cpp).
  Thread& thread(unsigned warp, unsigned lane) { return thread_[warp * kLanes + lane]; }
  const Known& known(unsigned warp, unsigned lane) const;
  void learn(unsigned warp, Mask lanes, const Known& known);
  void catch_up(unsigned warp, Mask lanes);
  void catch_up_one(unsigned warp, unsigned lane);
  Known handed_now(unsigned warp, unsigned lane) const;
  void arrive(std::vector<Arrived>& out, unsigned warp, Mask lanes, bool waits);
  Known join_all(const std::vector<Arrived>& all);
  void order(const Access& access, unsigned lane);
  void come_back(View& view) const;
  void took(SyncScope scope);
  Mbarrier& mbarrier(Address at);

  // Accesses.
  void access_there(const Access& access);
  bool is_wide(SyncScope scope) const {
    return scope != SyncScope::kBlock && (scope != SyncScope::kCluster || clustered_);
  }
  void whole(const Access& access, Mark mark, const Touch& touch, Mask lanes);
  void touch(const Touch& touch, Address at, std::uint64_t bytes, Mark mark);
  template <class F>
  void on_line(Space space, Address line, const F& f);
  void visit(const Touch& touch, Line& line, Address at, const Mark& mark);
  void visit(const Touch& touch, Marks& marks, Address at, Mark mark);
  bool surely_ordered(const Touch& touch, const Mark& before, const Mark& now) const;
  Mask unknown(const Touch& touch, const Mark& before, Mask lanes) const;
  std::pair<Mask, Mask> compare(const Touch& touch, Marks& marks, std::size_t i, Address at,
                                const Mark& now);
  Mask unshown(const Touch& touch, const Mark& before) const;
  bool observed(const Touch& touch, Marks& marks, std::size_t i, const Mark& now, unsigned lane,
                unsigned byte, bool by_use = false);
  static void keep(Marks& marks, const Mark& now);
  static bool strong_together(const Mark& a, const Mark& b);
  static bool excused(const Mark& before, const Mark& now);
  void same_instruction(const Access& access, const Mark& mark);
  bool stores_what_is_there(const Touch& touch, unsigned lane, Address at, unsigned bytes) const;
  void land(std::uint64_t number, unsigned warp, unsigned lane, Time time);
  void land(const OnItsWay& copy, Space space, Address first, unsigned warp, unsigned lane,
            Time time);

  // Strong accesses that nothing orders (race_unordered.cpp).
  enum class Part : std::uint8_t { kReads, kStores, kUpdates };
  /// A strong write that a thread of this block has seen: what the writer did before, it takes for
  /// done.
  struct Seen {
    std::uint32_t block, number;
    std::uint32_t written, read;  ///< at which operations
    std::uint8_t warp, by_warp;
    bool waited;    ///< for it
    bool acquires;  ///< by that read
    Address at;
  };
  void look_at_strong(const Touch& touch, Marks& marks, std::size_t i, Address at, const Mark& now);
  void see(const Mark& before, Address at, const Mark& now);
  const Seen* told_of(const Mark& before, Address at, const Mark& now, bool waited) const;
  Part part_of(const Mark& mark);
  bool expects_order(const Mark& before, Address at, const Mark& now);
  bool matters(const Mark& before, Address at, const Mark& now);
  void pass_on(unsigned warp, Mask lanes);
  void report_unordered(const Touch& touch, unsigned lane, Address at, const Mark& now,
                        const Mark& before, unsigned before_lane);
  std::string what_orders(unsigned warp, unsigned lane, Address at, const Mark& now,
                          const Mark& before);

  // Older values (old_values.cpp).
  bool comes_before(const OldValues::By& by, unsigned warp, unsigned lane) const;
  Mask give_older(const Access& access, Time time);
  void keep_older(const Access& access, Time time);
  void put_back();

  // What is said (race_report.cpp).
  void report(const Touch& touch, unsigned lane, Address at, const Mark& now, const Mark& before,
              unsigned before_lane, bool same_value);
  void report_read_only(const Touch& touch, Address at, const Mark& now, const Mark& before,
                        Mask words);
  void report_unshown(const Touch& touch, Address at, const Mark& now, const Mark& before,
                      Mask words, Mask unshown);
  std::string block_name(std::uint32_t block) const;
  std::string missing(unsigned warp, unsigned lane, const Mark& now, const Mark& before);

  BlockFindings& findings_;
  RaceGrid& grid_;
  unsigned threads_;
  bool threaded_;  ///< other threads of the host run blocks as well
  std::uint32_t block_ = 0;
  Time clock_ = 1;
  std::vector<WarpState> warps_;
  std::vector<Thread> thread_;
  std::array<std::vector<Arrived>, 16> barriers_;
  /// For races with other kernels: this block has read strongly, and then executed a fence.
  bool looked_ = false, took_ = false, took_of_system_ = false;
  bool shows_ = false;  ///< this block has executed a proxy fence
  Time begun_ = 0;      ///< what was done until then is in the past of all this block's threads
  bool clustered_;  ///< blocks see each other's shared memory: it is looked at as global memory is
  std::vector<Arrived> cluster_arrived_;
  Known cluster_sum_;                 ///< what this block knew when all of it had arrived
  std::shared_ptr<Log> cluster_log_;  ///< and all of the cluster
  std::vector<Taken> read_;           ///< by any thread, with or without a fence
  bool patterns_ = false;             ///< any thread of this block has a Thread to forget
  Logs logs_;                         ///< of shared memory
  std::unordered_map<Address, Mbarrier> mbarriers_;
  bool agents_ = false;  ///< any copy has counted at an mbarrier
  struct {
    Known before, handed, now;
  } waited_;  ///< of the last lane that waited at an mbarrier
  struct {
    Known before, now;
    std::vector<Taken> acquired;
  } caught_up_;  ///< of the last lane that did
  std::unordered_map<std::uint64_t, OnItsWay> copies_;
  std::vector<Line> shared_;
  GlobalShadow::Cache cache_;
  std::uint32_t number_ = 0;  ///< of the instruction carried out
  bool holds_ = false;        ///< grid_.strong
  ValueUses uses_;
  std::vector<Seen> seen_;     ///< by this block, the last of each warp
  std::vector<Taken> passed_;  ///< read, and no fence since, but a barrier
};

}  // namespace emu
