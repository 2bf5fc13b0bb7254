// What is said of a race.
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "machine/block.hpp"
#include "watch/check_race.hpp"

namespace emu {
namespace {

const char* what_of(bool shared, bool blocks, bool writes, bool before_writes, bool same) {
  if (blocks && shared) {
    if (writes && before_writes) {
      return same ? "two blocks write the same value to one place of shared memory, unsynchronised"
                  : "two blocks write one place of shared memory, unsynchronised";
    }
    return writes ? "write after another block's read in shared memory, unsynchronised"
                  : "read after another block's write in shared memory, unsynchronised";
  }
  if (blocks) {
    if (writes && before_writes) {
      return same ? "two blocks write the same value to one place of global memory, unsynchronised"
                  : "two blocks write one place of global memory, unsynchronised";
    }
    return writes ? "write after another block's read in global memory, unsynchronised"
                  : "read after another block's write in global memory, unsynchronised";
  }
  if (writes && before_writes) {
    if (same) {
      return shared ? "two threads write the same value to one place of shared memory, "
                      "unsynchronised"
                    : "two threads write the same value to one place of global memory, "
                      "unsynchronised";
    }
    return shared ? "two threads write one place of shared memory, unsynchronised"
                  : "two threads write one place of global memory, unsynchronised";
  }
  if (writes) {
    return shared ? "write after read in shared memory, unsynchronised"
                  : "write after read in global memory, unsynchronised";
  }
  return shared ? "read after write in shared memory, unsynchronised"
                : "read after write in global memory, unsynchronised";
}

std::string does(const Mark& mark, bool copies) {
  if (copies) return mark.kind & Mark::kWrites ? " copies to" : " copies from";
  if (mark.kind & Mark::kUpdates) return " updates";
  return mark.kind & Mark::kWrites ? " writes" : " reads";
}

}  // namespace

std::string RaceCheck::block_name(std::uint32_t block) const {
  return findings_.block().block_name(block);
}

void RaceCheck::report(const Touch& touch, unsigned lane, Address at, const Mark& now,
                       const Mark& before, unsigned before_lane, bool same_value) {
  const bool blocks = before.block != now.block;
  const char* const what =
      what_of(touch.space == Space::kShared || (at & kOfCluster), blocks, now.kind & Mark::kWrites,
              before.kind & Mark::kWrites, same_value);
  // Blocks of other clusters are taken for ones of the same where mbarriers order some.
  if (blocks && clustered_ && grid_.unfollowed) return;
  if (!blocks && before.warp != kAgentWarp && now.warp != kAgentWarp) {
    findings_.race_of(before.warp, before_lane);
    findings_.race_of(now.warp, lane);
  }
  findings_.note("race", what, now.pc, before.pc, [&] {
    const auto who = [&](const Mark& m, unsigned i) {
      const std::string name = m.warp == kAgentWarp ? "a bulk copy" : findings_.thread(m.warp, i);
      return blocks ? block_name(m.block) + ", " + name : name;
    };
    std::vector<std::string> lines{
        (blocks ? "" : findings_.block_name() + ", ") + findings_.memory(touch.space, at),
        who(before, before_lane) + does(before, before.time == kNever) + " it at " +
            findings_.line(before.pc),
        who(now, lane) + does(now, now.time == kNever) + " it at " + findings_.line(now.pc)};
    std::string why = missing(touch.warp.number(), lane, now, before);
    if (!why.empty()) lines.push_back(std::move(why));
    return lines;
  });
}

void RaceCheck::report_read_only(const Touch& touch, Address at, const Mark& now,
                                 const Mark& before, Mask words) {
  findings_.note(
      "race", "a read through the read-only cache of global memory that the same kernel writes",
      now.pc, before.pc, [&] {
        const unsigned byte = 4 * static_cast<unsigned>(std::countr_zero(words));
        const auto who = [&](const Mark& m) {
          const Mask lanes = m.lanes_at(byte);
          return block_name(m.block) + ", " +
                 (m.warp == kAgentWarp
                      ? "a bulk copy"
                      : findings_.thread(m.warp, static_cast<unsigned>(std::countr_zero(lanes))));
        };
        return std::vector<std::string>{
            findings_.memory(touch.space, at + byte),
            who(before) + does(before, false) + " it at " + findings_.line(before.pc),
            who(now) + " reads it at " + findings_.line(now.pc),
            "ld.global.nc (__ldg, const __restrict__) may return what was there before the kernel, "
            "in whatever order the two come"};
      });
}

/// The first byte of `words` that one of these lanes of `before` wrote; nothing where none did.
void RaceCheck::report_unshown(const Touch& touch, Address at, const Mark& now, const Mark& before,
                               Mask words, Mask unshown) {
  const bool writes = now.kind & Mark::kWrites;
  const bool shared = touch.space == Space::kShared || (at & kOfCluster);
  const char* const what =
      writes   ? shared ? "a bulk copy to shared memory with no proxy fence after a write there"
                        : "a bulk copy to global memory with no proxy fence after a write there"
      : shared ? "a bulk copy from shared memory with no proxy fence after a write there"
               : "a bulk copy from global memory with no proxy fence after a write there";
  for (unsigned byte = 0; byte < kLineBytes; ++byte) {
    if (!(words >> byte / 4 & 1) || !(before.bytes >> byte % 4 & 1)) continue;
    const Mask theirs = before.lanes_at(byte) & unshown;
    if (theirs == 0) continue;
    findings_.note("race", what, now.pc, before.pc, [&] {
      const bool blocks = before.block != now.block;
      const auto who = [&](const Mark& m, Mask lanes) {
        const std::string name =
            m.warp == kAgentWarp
                ? "a copy"
                : findings_.thread(m.warp, static_cast<unsigned>(std::countr_zero(lanes)));
        return blocks ? block_name(m.block) + ", " + name : name;
      };
      return std::vector<std::string>{
          (blocks ? "" : findings_.block_name() + ", ") + findings_.memory(touch.space, at + byte),
          who(before, theirs) + does(before, false) + " it at " + findings_.line(before.pc),
          who(now, now.lanes) + does(now, true) + " it at " + findings_.line(now.pc),
          std::string("a bulk copy goes to memory another way than stores: between the two, in the "
                      "thread that writes or in one that comes after it, it takes "
                      "fence.proxy.async") +
              (shared ? ", or its .shared::cta" : ", or its .global")};
    });
    return;
  }
}

/// What is missing between accesses of two blocks; empty where a barrier of the block would do.
std::string RaceCheck::missing(unsigned warp, unsigned lane, const Mark& now, const Mark& before) {
  if (before.kind & now.kind & Mark::kStrong) {
    if (before.size != now.size) {
      return "both are strong, but of " + std::to_string(1u << before.size) + " and " +
             std::to_string(1u << now.size) + " bytes, which PTX does not make atomic together";
    }
    if (before.block != now.block && !(before.kind & now.kind & Mark::kGrid)) {
      const bool both = !((before.kind | now.kind) & Mark::kGrid);
      return std::string(both                        ? "both are"
                         : before.kind & Mark::kGrid ? "the second is"
                                                     : "the first is") +
             " atomic for threads of its own block alone (scope .cta, _block): between blocks the "
             "scope must be the device's";
    }
  }
  if (before.block == now.block) return "";
  const std::string first = block_name(before.block), second = block_name(now.block);
  const RaceGrid::Fences theirs = grid_.fences_of(before.block), ours = grid_.fences_of(now.block);
  const Thread& me = thread(warp, lane);
  bool reads = false;  // what the other block has handed on
  for (const Taken& t : me.pending) reads |= t.from_grid;
  if (theirs.grid < before.time && theirs.block >= before.time) {
    return "no fence orders them: the one that " + first +
           " executes after its access, __threadfence_block or a release of scope .cta, reaches "
           "that "
           "block alone; it takes __threadfence";
  }
  if (theirs.block < before.time && ours.block == 0 && theirs.block == 0) {
    return std::string(
               "nothing orders accesses of two blocks but a kernel's end, a barrier of the ") +
           (clustered_ ? "cluster or " : "") + "grid, or atomics with fences";
  }
  if (theirs.block < before.time) {
    return "no fence orders them: after its access " + first +
           " had executed none (__threadfence, or a release) when " + second +
           " made its own; and no block waits for another at a fence: that takes a flag, or a "
           "barrier of the grid";
  }
  if (reads && ours.block > ours.grid) {
    return "no fence orders them: the one that " + second +
           " executes after it has read what was handed on reaches that block alone; it takes "
           "__threadfence";
  }
  if (reads) {
    return "no fence orders them: " + second +
           " executes none (__threadfence, or an acquire) between reading what was handed on and "
           "its access";
  }
  return "both blocks execute fences, but no flag, lock or barrier of the grid leads from the one "
         "access to the other";
}

}  // namespace emu
