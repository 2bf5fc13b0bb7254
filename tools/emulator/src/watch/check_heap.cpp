#include "watch/check_heap.hpp"

#include "machine/block.hpp"
#include "machine/lanes.hpp"
#include "machine/text.hpp"

namespace emu {
namespace {

std::uint32_t pc_of(const Warp& warp, const Op& op) {
  return static_cast<std::uint32_t>(&op - warp.code().ops.data());
}

}  // namespace

HeapCheck::HeapCheck(BlockFindings& findings, Checker& checker)
    : findings_(findings),
      checker_(checker),
      heap_(findings.block().launch().config.memory->heap()) {}

/// What an address has to do with the piece before it, for a message.
std::string HeapCheck::piece_at(Address at) const {
  const auto piece = heap_.piece_before(at);
  if (!piece) return "before the first that malloc gave";
  const std::string name =
      std::to_string(piece->bytes) + " bytes that malloc gave at " + hexadecimal(piece->base);
  const std::uint64_t offset = at - piece->base;
  if (piece->freed) return "byte " + std::to_string(offset) + " of " + name + ", which were freed";
  if (offset < piece->bytes) return "byte " + std::to_string(offset) + " of " + name;
  return std::to_string(offset - piece->bytes) + " bytes past the end of " + name;
}

void HeapCheck::access(const Access& access) {
  if (access.space != Space::kGlobal) return;
  for_each_lane(access.lanes, [&](unsigned i) {
    const Address at = access.address[i];
    if (!heap_.holds(at) || heap_.given(at, access.bytes)) return;
    const std::uint32_t pc = pc_of(access.warp, access.op);
    findings_.note("memory", "an illegal address in the heap of malloc", pc, pc, [&] {
      const bool loads = access.direction == Direction::kLoad;
      const char* does = loads                                    ? " reads "
                         : access.direction == Direction::kAtomic ? " updates "
                                                                  : " writes ";
      return std::vector<std::string>{
          findings_.block_name() + ", " + findings_.thread(access.warp.number(), i) + does +
              std::to_string(access.bytes) + " bytes at " + findings_.line(pc),
          hexadecimal(at) + ", " + piece_at(at)};
    });
  });
}

void HeapCheck::given(const Warp& warp, const Op& op, unsigned lane, Address at,
                      std::uint64_t bytes) {
  const std::uint32_t pc = pc_of(warp, op);
  checker_.heap_given(
      at, {.bytes = bytes,
           .kernel = findings_.block().launch().config.kernel->name,
           .place = findings_.place(pc),
           .who = findings_.block_name() + ", " + findings_.thread(warp.number(), lane) +
                  " was given at " + findings_.line(pc)});
}

void HeapCheck::taken(const Warp& warp, const Op& op, unsigned lane, Address at, bool is_piece) {
  if (is_piece) return checker_.heap_taken(at);
  const std::uint32_t pc = pc_of(warp, op);
  findings_.note("memory", "an illegal free in a kernel", pc, pc, [&] {
    return std::vector<std::string>{findings_.block_name() + ", " +
                                    findings_.thread(warp.number(), lane) + " at " +
                                    findings_.line(pc) + ": " + hexadecimal(at) + ", " +
                                    (heap_.holds(at) ? piece_at(at) : "which is not in the heap")};
  });
}

}  // namespace emu
