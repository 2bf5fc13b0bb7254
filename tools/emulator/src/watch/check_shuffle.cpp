#include "watch/check_shuffle.hpp"

#include <bit>
#include <memory>

#include "machine/block.hpp"

namespace emu {

ShuffleCheck::ShuffleCheck(BlockFindings& findings)
    : findings_(findings),
      values_(static_cast<unsigned>((findings.block().launch().config.block.volume() + kLanes - 1) /
                                    kLanes),
              true) {}

void ShuffleCheck::handed(Warp& warp, const Op& op, Mask lanes, const std::uint32_t* from) {
  values_.hand(warp, op, lanes, from, [&](unsigned lane) {
    const Op& own = warp.op_of(op, lane);
    return std::make_shared<const UnsetValues::Origin>(
        UnsetValues::Origin{.what = "an undefined result",
                            .pc = static_cast<std::uint32_t>(&own - warp.code().ops.data()),
                            .warp = warp.number(),
                            .space = Space::kGeneric,
                            .direction = Direction::kLoad,
                            .bytes = 4,
                            .address = {},
                            .lane = lane,
                            .from = from[lane]});
  });
  if (follows()) findings_.block().step(true);
}

void ShuffleCheck::instruction(Warp& warp, const Op& op, Mask lanes) {
  if (!follows()) return;
  values_.step(warp, op, lanes, [&](const UnsetValues::Origin& origin, Mask its, std::uint32_t pc) {
    findings_.note("sync", origin.what, origin.pc, origin.pc, [&] {
      const auto user = static_cast<unsigned>(std::countr_zero(its));
      return std::vector<std::string>{
          findings_.block_name(),
          findings_.thread(origin.warp, origin.lane) + " at " + findings_.line(origin.pc) + ": " +
              shuffled_from_nowhere(origin.from),
          findings_.thread(origin.warp, user) + " uses what comes of it at " + findings_.line(pc)};
    });
  });
}

}  // namespace emu
