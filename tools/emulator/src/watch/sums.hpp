/// \file
/// What the sum check knows of a program: the values as forms, and where they lie in device memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emu/launch.hpp"
#include "machine/access.hpp"
#include "watch/sum_forms.hpp"

namespace emu {

struct Code;
class Block;
class BlockObserver;
class Findings;
class OldValues;

class Sums {
 public:
  using Node = SumForms::Node;
  // What a word of global memory may hold beside a node.
  static constexpr Node kInput = ~Node{0};          ///< what the host put there
  static constexpr Node kStored = ~Node{0} - 1;     ///< what a kernel put there, of itself
  static constexpr Node kUnwritten = ~Node{0} - 2;  ///< nothing has put anything there
  static bool is_node(Node n) { return n != 0 && n < kUnwritten; }

  /// An allocation.
  struct Region {
    Allocation allocation;
    std::uint32_t number = 0;
    std::vector<Node> words;  ///< empty where all of them are as they were at first
    Node first = 0;           ///< …which is this: zeros, or kUnwritten
    bool replaced = false;    ///< the host has put other data there since
    /// What the data are, as the host or a kernel put them there: bytes from, up to.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> filled;
    std::size_t since = 0;           ///< the first node that can be of these data
    bool used_since_filled = false;  ///< a launch has come since: what is filled next is new data
    bool stored = false, stored_other_than_zero = false;  ///< by this launch, plain values
    std::vector<std::byte> seen;  ///< of memory that the host can write unseen: what it held last
    std::string kernel;           ///< the first that was given it…
    unsigned argument = 0;        ///< …as this argument, from 1
    bool host_can_write() const {
      return allocation.kind != Allocation::Kind::kDevice &&
             allocation.kind != Allocation::Kind::kVariable;
    }
  };

  struct Launch {
    std::string kernel;             ///< mangled
    std::uint32_t first_block = 0;  ///< blocks count through all launches
    Dim3 grid, block;
    std::vector<std::pair<std::string, std::pair<std::uint64_t, std::uint64_t>>> shared;
    std::uint64_t static_shared = 0;
    std::vector<std::uint64_t> numbers;           ///< its arguments that are whole numbers
    std::map<std::uint32_t, unsigned> arguments;  ///< from 1: which of them an allocation is
    bool finished = false;
  };

  /// Something that a value decided: which address, which way, which of two.
  struct Decided {
    std::uint32_t from = 0;  ///< allocations
    std::uint32_t site = 0;
    std::uint32_t launch = 0;
    Node node = 0;  ///< a value that is undefined, where it is one
  };

  /// A value went to memory.
  struct Stored {
    std::uint64_t where = 0;
    Node node = 0;  ///< 0: a plain one took the place of another
    std::uint32_t site = 0, block = 0;
  };
  static std::uint64_t in_region(std::uint32_t region, std::uint64_t word) {
    return std::uint64_t{region + 1} << 32 | word;
  }
  static std::uint64_t in_shared(std::uint64_t word) { return std::uint64_t{1} << 63 | word; }
  static std::uint64_t in_local(unsigned thread, std::uint64_t word) {
    return std::uint64_t{1} << 62 | std::uint64_t{thread} << 32 | word;
  }

  /// Reads that may be given an older value than the latest, and that write: by their sites.
  struct Older {
    std::string where, written, read;  ///< what is said of the first of them
    /// Threads that were given one, and haven't looked at that place since: block, thread, place.
    std::set<std::tuple<std::uint32_t, unsigned, Address>> open;
  };

  /// Values on their way into another block's shared memory.
  struct Sent {
    Address to = 0;
    unsigned bytes = 0;  ///< of each
    std::uint32_t site = 0, block = 0;
    std::vector<Node> nodes;
  };

  SumForms forms;
  OldValues* old = nullptr;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Older> older;  ///< by write and read
  std::map<Address, Region> regions;
  std::vector<Region*> by_number;
  std::deque<Region> gone;  ///< those that are freed
  std::vector<Launch> launches;
  std::vector<Decided> decided;
  std::vector<Decided> ordered;   ///< places where the order of blocks may decide: `from` is empty
  std::vector<Decided> gathered;  ///< places that add floats as threads come: `from` is empty
  std::vector<Stored> log;
  /// The site of words of data of which a part was read.
  static constexpr std::uint32_t kReadInPart = 1;
  std::vector<std::string> sites{"", ""};  ///< in words, by number
  std::vector<std::string> places{"", ""};
  std::map<const Block*, std::vector<Node>*> shared_of;         ///< of blocks that run
  std::map<std::pair<const Block*, std::uint64_t>, Sent> sent;  ///< by block, and number there
  std::uint32_t blocks = 0;                                     ///< of all launches
  bool unfollowed = false;                                      ///< code ran that isn't followed
  bool expected = false;  ///< what is read is known to be a sum, whatever it looks like

  /// The allocation of an address; null for none.
  Region* region(Address address);
  /// The number of an operation's place in the source.
  std::uint32_t site(const Code& code, std::uint32_t pc);
  void note(Stored stored);
  void decide(std::uint32_t from, std::uint32_t site, Node undefined = 0) {
    add_once(decided, from, site, undefined);
  }
  void order(std::uint32_t site) { add_once(ordered, 0, site); }
  void gather(std::uint32_t site) { add_once(gathered, 0, site); }
  /// Makes room for what its words hold.
  static void unfold(Region& region);

  Node load(Region& region, std::uint64_t offset, unsigned bytes);
  /// `zero`: a plain value that is one.
  void store(Region& region, std::uint64_t offset, unsigned bytes, Node node, bool zero);
  std::uint32_t block = 0;  ///< that runs

 private:
  void add_once(std::vector<Decided>& list, std::uint32_t from, std::uint32_t site,
                Node undefined = 0) const;
  /// `whole`: all of it is asked for.
  Node node_of(Region& region, std::uint64_t word, bool whole, std::uint32_t in_part = 0);

  std::map<std::pair<const Code*, std::uint32_t>, std::uint32_t> site_numbers_;
};

/// Values in words of 4 bytes: what a narrower access takes of them, or puts there.
SumForms::Node load_words(SumForms& forms, const SumForms::Node* words, std::uint64_t offset,
                          unsigned bytes);
void store_words(SumForms& forms, SumForms::Node* words, std::uint64_t offset, unsigned bytes,
                 SumForms::Node node);

/// Room for walks over nodes, kept from one to the next: a program may read back often.
struct SumWalks {
  std::vector<double> factor;
  std::vector<std::uint32_t> stamp;  ///< of the walk that came by last
  std::uint32_t now = 0;
};

/// What the host has read back.
struct SumOutput {
  std::uint32_t region = 0;
  std::uint64_t offset = 0;  ///< in bytes
  unsigned bytes = 4;
  Sums::Node node = 0;
};

/// Says what the outputs hold, and finds what is in them too often or not at all.
/// `spoiled`: what other checks have found, in words, so that nothing is proved.
void judge_sums(const Sums& sums, SumWalks& walks, std::vector<SumOutput> outputs,
                const std::string& spoiled, Findings& findings);

/// Follows the values of blocks, one after another.
std::unique_ptr<BlockObserver> follow_sums(Sums& sums, Block& block);

}  // namespace emu
