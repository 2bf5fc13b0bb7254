/// \file
/// Registers whose values come from memory that was never written, or from a lane that wasn't
/// there, of one block. They pass it on to what is made of them, until an instruction acts on one.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "machine/access.hpp"

namespace emu {

class UnsetValues {
 public:
  /// The load that read what was never written.
  struct Origin {
    const char* what;
    std::uint32_t pc;
    unsigned warp;
    Space space;
    Direction direction;
    unsigned bytes;
    std::array<std::uint64_t, kLanes> address;
    unsigned lane = 0, from = 0;  ///< of a shuffle: the first that read no lane of it, and which
  };
  /// An operation acts on what these lanes of an origin have read.
  using Used = std::function<void(const Origin&, Mask lanes, std::uint32_t pc)>;

  /// `hands_on`: a shuffle hands such values to other lanes; else it acts on them.
  explicit UnsetValues(unsigned warps, bool hands_on = false)
      : hands_on_(hands_on), of_warp_(warps) {}

  void clear();
  bool empty() const { return count_ == 0; }
  /// A register of some lanes has been loaded.
  void load(const Warp& warp, Slot slot, Mask lanes, const std::shared_ptr<const Origin>& origin);
  /// Lanes are handed the values of other lanes. What those have that aren't among them is of the
  /// origin that `lost` makes.
  void hand(Warp& warp, const Op& op, Mask lanes, const std::uint32_t* from,
            const std::function<std::shared_ptr<const Origin>(unsigned lane)>& lost);
  /// Lanes are about to carry out an operation.
  void step(Warp& warp, const Op& op, Mask lanes, const Used& used);
  void exited(const Warp& warp, Mask lanes) { forget(warp.number(), nullptr, lanes); }

 private:
  struct Value {
    Slot slot;
    Mask lanes;
    std::shared_ptr<const Origin> origin;
  };
  Mask lanes_of(unsigned warp, Slot slot) const;
  void use(unsigned warp, Slot slot, Mask lanes, std::uint32_t pc, const Used& used);
  /// What an origin's lanes hold, or where there is none all that lanes hold.
  void forget(unsigned warp, const Origin* origin, Mask lanes);
  void drop_empty(unsigned warp);

  bool hands_on_;
  std::vector<std::vector<Value>> of_warp_;
  std::size_t count_ = 0;
};

}  // namespace emu
