/// \file
/// What a GPU hides: races between threads of a block, reads of what was never written, illegal and
/// lost memory, barriers used against their rules. Exact for the order that the threads ran in.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "machine/observer.hpp"

namespace emu {

/// In launches with clusters races in shared memory are looked for as in global memory, at
/// addresses that no allocation has: this bit, the block's number by kClusterStep, and the place.
inline constexpr Address kOfCluster = Address{1} << 62;

struct Checks {
  bool race = false, memory = false, init = false, sync = false;
  bool host = false;  ///< what host code gets wrong; where there is host code
  bool sum = false;   ///< needs `race`; not one of `all`, as it describes what is right too
  bool any() const { return race || memory || init || sync; }
};

/// From "race,init" or "all"; empty for anything else. \param of_host  whether there is host code
std::optional<Checks> parse_checks(std::string_view list, bool of_host = true);

/// Which elements of the data are in a sum, for who draws it.
struct SumElements {
  /// `count` elements, from `first` on, each `step` after the one before.
  struct Run {
    std::uint64_t first = 0, count = 0, step = 1;
    double times = 0;  ///< of those below; 0: they are missing, -1: they are subtracted
  };
  std::uint64_t count = 0;       ///< of the data
  double times = 1;              ///< how often each is in the sum…
  std::vector<Run> others = {};  ///< …but these
  bool proved = false;           ///< for all data of this size and launch
};

/// One thing that is wrong, however often it was seen.
struct Finding {
  std::string check;                      ///< "race", "memory", "init", "sync" or "host"
  std::string what;                       ///< in one line
  std::string kernel = {};                ///< mangled; empty where the host did it
  std::vector<std::string> places = {};   ///< source lines, or PTX lines where those aren't known
  std::vector<std::string> details = {};  ///< of the first time: who, where
  std::uint64_t block = 0;                ///< of the first time
  std::uint64_t number = 0;               ///< of the first time, among the block's findings
  std::uint64_t count = 1;
  bool told = false;
  bool fault = true;  ///< or only something to say
  std::shared_ptr<const SumElements> sum = {};
};

/// What all of a program's launches have shown.
class Findings {
 public:
  /// The same check, kernel and places are one finding: counted, and described by its lowest block
  /// in the launch that first shows it.
  void add(Finding finding);
  void launch_begins();
  /// Puts what the launch has shown into one order, however its blocks were spread over threads: by
  /// lowest block, and within a block as it happened there.
  void launch_ends();
  const std::vector<Finding>& all() const { return all_; }
  /// Calls f for each that hasn't been told yet.
  void tell(const std::function<void(const Finding&)>& f);

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::vector<std::string>>;
  std::mutex mutex_;
  std::map<Key, std::size_t> index_;
  std::vector<Finding> all_;
  std::size_t before_ = 0;  ///< so many are of earlier launches
};

/// Where an operation is in the source: "a.cu:12", or "PTX line 34", and both as far as known.
std::string source_place(const Code& code, std::uint32_t pc);
std::string source_line(const Code& code, std::uint32_t pc);

/// A finding as lines for a reader, and as a line of JSON.
std::string readable(const Finding& finding);
std::string json(const Finding& finding);

class Operations;  ///< races between streams (operations.hpp)
class RaceGrid;    ///< what the blocks of a launch share to find races (handing.hpp)
class OldValues;   ///< what strong reads may be given (old_values.hpp)

/// Which bytes of an allocation something wrote.
struct Written {
  Allocation allocation;
  std::uint64_t number = 0;  ///< of the program's allocations
  std::vector<std::uint64_t> bits;
};

/// What a kernel's malloc gave and nothing has freed.
struct HeapPiece {
  std::uint64_t bytes = 0;
  std::string kernel, place, who;
};

class Checker final : public Observer {
 public:
  explicit Checker(Checks checks);

  ~Checker() override;
  void started(const LaunchConfig& config) override;
  std::unique_ptr<BlockObserver> watch(Block& block) override;
  void ended(const LaunchConfig& config, const LaunchResult& result) override;
  void allocated(const Allocation& allocation) override;
  void freed(const Allocation& allocation) override;
  void refused_free(Address address, const std::string& why) override;
  void host_wrote(Address address, std::uint64_t bytes) override;
  void host_read(Address address, std::uint64_t bytes) override;
  void host_copied(Address to, Address from, std::uint64_t bytes) override;

  /// The program, or its use of the device, is over: what is still allocated is lost.
  void finish();
  // By several threads at a time.
  void heap_given(Address at, HeapPiece piece);
  void heap_taken(Address at);
  /// Where the program made an allocation, and where it is now, for who can say that: a sentence's
  /// part, or nothing.
  std::function<std::string(Address base)> made_at = [](Address) { return ""; };
  std::function<std::string()> now_at = [] { return ""; };

  const Checks& checks() const { return checks_; }
  Findings& findings() { return findings_; }
  RaceGrid& grid() { return *grid_; }  ///< while a launch goes on
  /// From here on strong reads may be given older values (old_values.hpp): where blocks run on one
  /// thread of the host.
  void give_older(OldValues& old) { old_ = &old; }
  /// Looks for races between streams too, of which it has to be told; from here on anew.
  void follow_streams();
  Operations* operations() { return operations_.get(); }  ///< null where it doesn't
  /// Whether a fault is one of the findings, and so told as one.
  bool takes(const Fault& fault) const;
  /// Null for memory that the host may write unseen.
  Written* written(Address address);

 private:
  Checks checks_;
  Findings findings_;
  std::unique_ptr<RaceGrid> grid_;
  OldValues* old_ = nullptr;
  std::unique_ptr<Operations> operations_;
  std::map<Address, Written> written_;
  std::uint64_t allocations_ = 0;
  std::mutex heap_mutex_;
  std::map<Address, HeapPiece> heap_;
};

/// What the checks of a block share: where they put what they find.
class BlockFindings {
 public:
  explicit BlockFindings(Block& block) : block_(block) {}

  /// Counts one more of a finding at op `pc` and, where there is one, `other`; `describe` gives its
  /// details, the first time only.
  template <class F>
  void note(const char* check, const char* what, std::uint32_t pc, std::uint32_t other,
            const F& describe) {
    Seen& seen = seen_[{what, pc, other}];
    if (seen.count++ == 0) {
      seen.check = check;
      seen.block = block_number_;
      seen.number = next_++;
      seen.details = describe();
    }
  }
  void begin(std::uint64_t block) {
    block_number_ = block;
    next_ = 0;
    raced_.clear();
  }
  /// Of the block's threads: those that had a part in a race with one another.
  void race_of(unsigned warp, unsigned lane) { raced_[warp] |= Mask{1} << lane; }
  Mask raced(unsigned warp) const {
    const auto at = raced_.find(warp);
    return at == raced_.end() ? 0 : at->second;
  }
  void hand_over(Findings& findings) const;

  // For descriptions.
  std::string thread(unsigned warp, unsigned lane) const;
  std::string place(std::uint32_t pc) const { return source_place(block_code(), pc); }
  std::string line(std::uint32_t pc) const { return source_line(block_code(), pc); }
  std::string memory(Space space, Address address) const;
  std::string shared_name(const std::string& mangled, std::uint64_t bytes) const;
  std::string block_name() const;
  Block& block() const { return block_; }

 private:
  struct Seen {
    const char* check = nullptr;
    std::uint64_t count = 0, block = 0, number = 0;
    std::vector<std::string> details;
  };
  const Code& block_code() const;

  Block& block_;
  std::uint64_t block_number_ = 0, next_ = 0;
  std::map<unsigned, Mask> raced_;
  std::map<std::tuple<std::string_view, std::uint32_t, std::uint32_t>, Seen> seen_;
};

}  // namespace emu
