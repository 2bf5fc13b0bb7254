// Where variables lie in shared and local memory.
#include <algorithm>

#include "decode/decoder.hpp"
#include "decode/scopes.hpp"

namespace emu {
namespace {

constexpr std::uint64_t kStackBytes = 64 << 10;  // a thread
constexpr std::uint64_t kMaxShared = 1 << 20, kMaxLocal = 512 << 10;
constexpr const char* kDriverShared = "the driver's shared memory";
constexpr std::uint64_t kDriverSharedBytes = 1024;

}  // namespace

const Declaration* Decoder::variable(const Frame& frame, int scope, std::string_view name) const {
  if (const Declaration* d = find_variable(*frame.function, scope, name)) return d;
  const auto it = names_.variables.find(name);
  return it == names_.variables.end() ? nullptr : it->second;
}

std::uint64_t Decoder::place(Frame& frame, const Declaration& d) {
  if (const auto it = frame.places.find(&d); it != frame.places.end()) return it->second;
  if (d.space == ".shared") {
    const auto [it, fresh] = shared_places_.try_emplace(&d, 0);
    if (fresh) it->second = d.unsized ? kDynamicShared : put(shared_, d, kMaxShared, "shared");
    if (it->second == kDynamicShared) dynamic_align_ = std::max(dynamic_align_, d.align);
    return it->second;
  }
  // local, and .param of calls
  frame.align = std::max(frame.align, d.align);
  if (frame.framed) return frame.places[&d] = put(frame.bytes, d, kMaxLocal, "local");
  return frame.places[&d] = put(local_, d, kMaxLocal, "local");
}

std::uint64_t Decoder::put(std::uint64_t& end, const Declaration& d, std::uint64_t limit,
                           const char* what) const {
  const std::uint64_t at = round_up(end, d.align);
  if (d.bytes > limit || at + d.bytes > limit) {
    refuse(std::string(d.name) + " is more " + what + " memory than there is", d.line);
  }
  end = at + d.bytes;
  return at;
}

std::uint64_t Decoder::reserved_shared(int line) {
  if (!reserved_shared_) {
    Declaration d;
    d.name = kDriverShared;
    d.bytes = kDriverSharedBytes;
    d.align = 128;
    d.line = line;
    reserved_shared_ = put(shared_, d, kMaxShared, "shared");
  }
  return *reserved_shared_;
}

Slot Decoder::stack() {
  if (!stack_) stack_ = registers_.add(64);  // no function's own
  code_->stack_bytes = kStackBytes;
  return *stack_;
}

void Decoder::lay_out_mailbox() {
  if (reach_.mailbox_bytes == 0) return;
  Declaration box;
  box.name = "the arguments of a call";
  box.bytes = reach_.mailbox_bytes;
  box.align = 128;
  mailbox_ = put(local_, box, kMaxLocal, "local");
}

void Decoder::lay_out_interface(Frame& frame) {
  std::uint64_t offset = 0;
  for (const auto* list : {&frame.function->results, &frame.function->parameters}) {
    for (const Declaration& d : *list) {
      if (frame.is_kernel) {
        frame.places[&d] = offset = round_up(offset, d.align);
        offset += d.bytes;
      } else {
        place(frame, d);
      }
    }
  }
}

/// When all that is static has its place.
void Decoder::finish_shared() {
  shared_ = round_up(shared_, dynamic_align_);
  for (const auto& [d, at] : shared_places_) {
    if (at != kDynamicShared) {
      code_->shared_variables.push_back({std::string(d->name), at, d->bytes});
    }
  }
  if (reserved_shared_) {
    code_->driver_shared = *reserved_shared_;
    code_->driver_shared_bytes = kDriverSharedBytes;
    code_->shared_variables.push_back({kDriverShared, *reserved_shared_, kDriverSharedBytes});
  }
  code_->local_bytes = round_up(local_, stack_ ? 128 : 16);
  if (stack_) code_->stack = *stack_;
}

}  // namespace emu
