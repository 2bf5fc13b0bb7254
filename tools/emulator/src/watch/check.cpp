#include "watch/check.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "machine/block.hpp"
#include "machine/text.hpp"
#include "watch/bits.hpp"
#include "watch/check_heap.hpp"
#include "watch/check_init.hpp"
#include "watch/check_race.hpp"
#include "watch/check_shared.hpp"
#include "watch/check_shuffle.hpp"
#include "watch/json.hpp"
#include "watch/kernel_name.hpp"
#include "watch/operations.hpp"

namespace emu {
namespace {

std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& t : texts) out += (out.empty() ? "" : ", ") + quoted(t);
  return "[" + out + "]";
}

/// `kernel(int*)::values` is `values` to who wrote it.
std::string variable_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? plain.get() : mangled;
  const std::size_t at = name.rfind("::");
  return at == name.npos ? name : name.substr(at + 2);
}

/// The place that a fault's message names: "… PTX line 12 (a.cu:3): …".
std::string place_in(const std::string& message) {
  const std::size_t ptx = message.find("PTX line ");
  if (ptx == message.npos) return "";
  const std::size_t number =
      std::min(message.find_first_not_of("0123456789", ptx + 9), message.size());
  if (message.compare(number, 2, " (") != 0) return message.substr(ptx, number - ptx);
  const std::string place = message.substr(number + 2, message.find(')', number) - number - 2);
  return place.substr(0, place.find(", inlined at "));
}

/// All the checks of the blocks that one host thread runs.
class BlockChecks final : public BlockObserver {
 public:
  BlockChecks(Block& block, Checker& checker) : checker_(checker), found_(block) {
    if (checker.checks().race) race_.emplace(found_, checker.grid());
    if (checker.checks().init) init_.emplace(found_, checker);
    if (checker.checks().memory && SharedArrays::tell_apart(block)) arrays_.emplace(found_);
    const auto hands = [](const Code::Flow& flow) { return flow.kind == Code::Flow::Kind::kHands; };
    if (checker.checks().sync && std::ranges::any_of(block.code().flows, hands)) {
      shuffles_.emplace(found_);
    }
    const GlobalMemory* memory = block.launch().config.memory;
    if (checker.checks().memory && memory && memory->heap().begun()) heap_.emplace(found_, checker);
  }
  BlockChecks(const BlockChecks&) = delete;
  BlockChecks& operator=(const BlockChecks&) = delete;
  ~BlockChecks() override { found_.hand_over(checker_.findings()); }

  bool sees_accesses() const override { return race_ || init_ || heap_ || shuffles_ || arrays_; }
  void begin(std::uint64_t block) override {
    found_.begin(block);
    if (race_) race_->begin(block);
    if (init_) init_->begin();
    if (shuffles_) shuffles_->begin();
    for (auto& at : at_barrier_) at.clear();
    mixed_.fill({});
    left_.clear();
    alone_.reset();
  }
  void end() override {
    if (alone_) of_those_that_left();
  }
  void instruction(Warp& warp, const Op& op, Mask lanes) override {
    if (init_) init_->instruction(warp, op, lanes);
    if (shuffles_) shuffles_->instruction(warp, op, lanes);
    const bool follows = (init_ && init_->follows()) || (shuffles_ && shuffles_->follows());
    if (!follows) found_.block().step(false);
  }
  void handed(Warp& warp, const Op& op, Mask lanes, const std::uint32_t* from) override {
    if (shuffles_) shuffles_->handed(warp, op, lanes, from);
  }
  void exited(Warp& warp, const Op& op, Mask lanes) override {
    if (checker_.checks().sync && !alone_) {
      left_.push_back({warp.number(), pc_of(warp, op), lanes});
    }
    if (init_) init_->exited(warp, lanes);
    if (shuffles_) shuffles_->exited(warp, lanes);
  }
  void access(const Access& access) override {
    if (race_) race_->access(access);
    if (init_) init_->access(access);
    if (heap_) heap_->access(access);
    if (arrays_) arrays_->access(access);
  }
  void accessed(Warp&) override {
    if (race_) race_->accessed();
  }
  void arrived(Warp& warp, const Op& op, Mask lanes, unsigned barrier, bool waits) override {
    if (race_) race_->arrived(warp, lanes, barrier, waits);
    if (checker_.checks().sync) alike(warp, op, lanes, barrier);
  }
  void completed(unsigned barrier) override {
    if (race_) race_->completed(barrier);
    if (checker_.checks().sync) of_the_whole_block(barrier);
    at_barrier_[barrier].clear();
  }
  void cluster_arrived(Warp& warp, Mask lanes, bool releases) override {
    if (race_) race_->cluster_arrived(warp, lanes, releases);
  }
  void cluster_gathered(std::uint64_t phase, unsigned blocks) override {
    if (race_) race_->cluster_gathered(phase, blocks);
  }
  void cluster_waited(Warp& warp, Mask lanes) override {
    if (race_) race_->cluster_waited(warp, lanes);
  }
  void reached(Address at, std::uint64_t bytes, bool /*told*/) override {
    if (race_) race_->reached();
    if (init_) init_->reached(at, bytes);
  }
  std::vector<std::uint64_t>* written_shared() override {
    return init_ ? &init_->shared() : nullptr;
  }
  void met(Warp& warp, const Op& op, Mask lanes) override {
    if (race_ && op.as<Together>().orders_memory) race_->met(warp, lanes);
  }
  void fence(Warp& warp, const Op& op, Mask lanes) override {
    if (race_) race_->fence(warp, lanes, op.as<Fence>());
  }
  void proxy_fence(Warp& warp, const Op& op, Mask lanes) override {
    if (race_) race_->proxy_fence(warp, lanes, op.as<ProxyFence>());
  }
  void waited_for_grids() override {
    if (race_) race_->waited_for_grids();
  }
  void copy_began(const Copy& copy) override {
    if (race_) race_->copy_began(copy);
    if (init_) init_->copy_began(copy);
  }
  void copy_landed(std::uint64_t number) override {
    if (race_) race_->copy_landed(number);
    if (init_) init_->copy_landed(number);
  }
  void copy_landed_at(std::uint64_t number, Address mbarrier) override {
    if (race_) race_->copy_landed_at(number, mbarrier);
    if (init_) init_->copy_landed(number);
  }
  void mbarrier_arrived(Warp& warp, unsigned lane, Address at, bool releases) override {
    if (race_) race_->mbarrier_arrived(warp, lane, at, releases);
  }
  void mbarrier_completed(Address at) override {
    if (race_) race_->mbarrier_completed(at);
  }
  void mbarrier_waited(Warp& warp, unsigned lane, Address at) override {
    if (race_) race_->mbarrier_waited(warp, lane, at);
  }
  void given(Warp& warp, const Op& op, unsigned lane, Address at, std::uint64_t bytes) override {
    if (race_) race_->given(at, bytes);
    if (heap_) heap_->given(warp, op, lane, at, bytes);
  }
  void taken(Warp& warp, const Op& op, unsigned lane, Address at, bool is_piece) override {
    if (heap_) heap_->taken(warp, op, lane, at, is_piece);
  }
  void illegal(Warp& warp, const Op& op, unsigned lane, const std::string& what) override {
    const std::uint32_t pc = pc_of(warp, op);
    found_.note("memory", "an illegal address", pc, pc, [&] {
      return std::vector<std::string>{found_.block_name() + ", " +
                                      found_.thread(warp.number(), lane) + ", " +
                                      warp.code().where(pc) + ": " + what};
    });
  }
  void undefined(Warp& warp, const Op& op, Mask lanes, const std::string& what) override {
    if (!checker_.checks().sync) return;
    const std::uint32_t pc = pc_of(warp, op);
    found_.note("sync", "an undefined result", pc, pc, [&] {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      return std::vector<std::string>{
          found_.block_name(),
          found_.thread(warp.number(), lane) + " at " + found_.line(pc) + ": " + what};
    });
  }

 private:
  struct AtBarrier {
    unsigned warp;
    std::uint32_t pc;
    Mask lanes;
  };

  static std::uint32_t pc_of(const Warp& warp, const Op& op) {
    return static_cast<std::uint32_t>(&op - warp.code().ops.data());
  }

  /// bar.sync (barrier.sync.aligned) has to be one instruction for all threads of a warp.
  void alike(const Warp& warp, const Op& op, Mask lanes, unsigned barrier) {
    const std::uint32_t pc = pc_of(warp, op);
    for (const AtBarrier& other : at_barrier_[barrier]) {
      if (other.warp != warp.number() || other.pc == pc) continue;
      const auto aligned = [](const Op& o) { return o.as<Barrier>().aligned; };
      if (!aligned(op) && !aligned(warp.code().ops[other.pc])) continue;
      found_.note("sync", "threads of one warp at different barriers", pc, other.pc, [&] {
        const auto who = [&](Mask m, std::uint32_t at) {
          return found_.thread(warp.number(), static_cast<unsigned>(__builtin_ctz(m))) +
                 " and its like (" + std::to_string(count_lanes(m)) + ") at " + found_.line(at);
        };
        return std::vector<std::string>{found_.block_name() + ", warp " +
                                            std::to_string(warp.number()) + ", barrier " +
                                            std::to_string(barrier),
                                        who(other.lanes, other.pc), who(lanes, pc)};
      });
    }
    at_barrier_[barrier].push_back({warp.number(), pc, lanes});
  }

  /// Where some warps skip a `__syncthreads()`, the next one that they come to counts for it, and
  /// so on: at the last the others are there alone, at one that those have left behind.
  void of_the_whole_block(unsigned barrier) {
    const auto& here = at_barrier_[barrier];
    const std::vector<Op>& ops = found_.block().code().ops;
    const auto of_some = [&](const AtBarrier& a) {
      const auto& how = ops[a.pc].as<Barrier>();
      return !how.aligned || how.counted;
    };
    if (here.empty() || std::ranges::any_of(here, of_some)) return;
    if (!left_.empty() && !alone_) alone_ = here.front();
    auto& mixed = mixed_[barrier];
    const auto elsewhere = [&](std::uint32_t pc) {
      return std::ranges::find_if(here, [&](const AtBarrier& a) { return a.pc != pc; });
    };
    if (elsewhere(here.front().pc) != here.end()) {
      for (const AtBarrier& a : here) {
        const auto known = [&](const auto& m) {
          return m.first.warp == a.warp && m.first.pc == a.pc;
        };
        if (!std::ranges::any_of(mixed, known)) mixed.emplace_back(a, *elsewhere(a.pc));
      }
      return;
    }
    // All that are left are here: who isn't has exited.
    const auto left = std::ranges::find_if(mixed, [&](const auto& m) {
      return m.first.pc == here.front().pc &&
             !std::ranges::any_of(here, [&](const AtBarrier& a) { return a.warp == m.first.warp; });
    });
    if (left == mixed.end()) return;
    const auto who = [&](const AtBarrier& a) {
      return found_.thread(a.warp, static_cast<unsigned>(__builtin_ctz(a.lanes))) + " at " +
             found_.line(a.pc);
    };
    found_.note("sync", "part of a block skips a barrier", here.front().pc, left->second.pc, [&] {
      return std::vector<std::string>{found_.block_name() + ", barrier " + std::to_string(barrier) +
                                          ": " + who(here.front()) +
                                          " and its like are there alone, the others have exited",
                                      "since before that it let go of " + who(left->first) +
                                          " together with " + who(left->second)};
    });
  }

  /// No barrier waits for threads that have left, so these order nothing that the others do. Where
  /// no race has come of it, that may be meant.
  void of_those_that_left() {
    const auto raced = [&](const AtBarrier& a) { return (a.lanes & found_.raced(a.warp)) != 0; };
    const auto found = std::ranges::find_if(left_, raced);
    if (found == left_.end()) return;
    const AtBarrier gone{found->warp, found->pc, found->lanes & found_.raced(found->warp)};
    const AtBarrier& here = *alone_;
    found_.note("sync", "part of a block never reaches a barrier", here.pc, gone.pc, [&] {
      const auto first = [&](const AtBarrier& a) {
        return found_.thread(a.warp, static_cast<unsigned>(__builtin_ctz(a.lanes)));
      };
      return std::vector<std::string>{found_.block_name() + ": " + first(here) +
                                          " and others come to the barrier at " +
                                          found_.line(here.pc),
                                      first(gone) + " has left the block by then, at " +
                                          found_.line(gone.pc) + ", without coming there"};
    });
  }

  Checker& checker_;
  BlockFindings found_;
  std::optional<RaceCheck> race_;
  std::optional<InitCheck> init_;
  std::optional<ShuffleCheck> shuffles_;
  std::optional<HeapCheck> heap_;
  std::optional<SharedArrays> arrays_;
  std::array<std::vector<AtBarrier>, 16> at_barrier_;
  std::vector<AtBarrier> left_;     ///< the block…
  std::optional<AtBarrier> alone_;  ///< …before this one and others came to a barrier
  /// Who was let go of together with others at another place.
  std::array<std::vector<std::pair<AtBarrier, AtBarrier>>, 16> mixed_;
};

}  // namespace

std::optional<Checks> parse_checks(std::string_view list, bool of_host) {
  Checks checks;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    if (name == "all") {
      checks.race = checks.memory = checks.init = checks.sync = true;
      checks.host = of_host;
    } else if (name == "race") {
      checks.race = true;
    } else if (name == "memory") {
      checks.memory = true;
    } else if (name == "init") {
      checks.init = true;
    } else if (name == "sync") {
      checks.sync = true;
    } else if (of_host && name == "host") {
      checks.host = true;
    } else if (kFollowsSums && name == "sum") {
      checks.sum = checks.race = true;
    } else {
      return std::nullopt;
    }
    if (comma == list.npos) return checks;
    list.remove_prefix(comma + 1);
  }
}

void Findings::add(Finding finding) {
  const std::scoped_lock lock(mutex_);
  const auto [at, fresh] = index_.try_emplace(
      Key{finding.check, finding.what, finding.kernel, finding.places}, all_.size());
  if (fresh) {
    all_.push_back(std::move(finding));
    return;
  }
  Finding& known = all_[at->second];
  known.count += finding.count;
  if (at->second >= before_ && finding.block < known.block) {
    known.block = finding.block;
    known.number = finding.number;
    known.details = std::move(finding.details);
  }
}

void Findings::launch_begins() {
  const std::scoped_lock lock(mutex_);
  before_ = all_.size();
}

void Findings::launch_ends() {
  const std::scoped_lock lock(mutex_);
  const auto first = all_.begin() + static_cast<std::ptrdiff_t>(before_);
  std::sort(first, all_.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.block, a.number, a.places, a.what) <
           std::tie(b.block, b.number, b.places, b.what);
  });
  for (std::size_t i = before_; i < all_.size(); ++i) {
    const Finding& f = all_[i];
    index_[{f.check, f.what, f.kernel, f.places}] = i;
  }
}

void Findings::tell(const std::function<void(const Finding&)>& f) {
  const std::scoped_lock lock(mutex_);
  for (Finding& finding : all_) {
    if (std::exchange(finding.told, true)) continue;
    f(finding);
  }
}

std::string source_place(const Code& code, std::uint32_t pc) {
  const Code::Place& at = code.places[pc];
  if (at.line <= 0) return "PTX line " + std::to_string(at.ptx_line);
  const auto file = static_cast<std::size_t>(at.file);
  const std::string name = file < code.files.size() ? code.files[file] : "";
  return name.substr(name.rfind('/') + 1) + ":" + std::to_string(at.line);
}

std::string source_line(const Code& code, std::uint32_t pc) {
  const std::string at = source_place(code, pc);
  const std::string number = "PTX line " + std::to_string(code.places[pc].ptx_line);
  return at == number ? at : at + code.inlined_at(pc) + " (" + number + ")";
}

std::string readable(const Finding& finding) {
  std::string text = finding.check + ": " + finding.what;
  if (finding.count > 1) text += " (" + std::to_string(finding.count) + " times)";
  if (!finding.kernel.empty()) text += "\n    kernel " + kernel_name(finding.kernel);
  for (const std::string& line : finding.details) text += "\n    " + line;
  return text;
}

std::string json(const Finding& finding) {
  return "{\"check\": " + quoted(finding.check) + ", \"what\": " + quoted(finding.what) +
         ", \"kernel\": " + quoted(finding.kernel.empty() ? "" : kernel_name(finding.kernel)) +
         ", \"places\": " + listed(finding.places) + ", \"details\": " + listed(finding.details) +
         ", \"count\": " + std::to_string(finding.count) +
         (finding.fault ? "}" : ", \"fault\": false}");
}

// --- BlockFindings ---------------------------------------------------------------------------

void BlockFindings::hand_over(Findings& findings) const {
  for (const auto& [key, seen] : seen_) {
    const auto& [what, pc, other] = key;
    std::vector<std::string> places{place(pc)};
    if (other != pc && place(other) != places[0]) places.push_back(place(other));
    std::vector<std::string> details = seen.details;
    if (std::ranges::any_of(places, [](const std::string& p) { return p.starts_with("PTX"); })) {
      details.emplace_back("(for source lines build with nvcc -lineinfo)");
    }
    findings.add({.check = seen.check,
                  .what = std::string(what),
                  .kernel = block_.launch().config.kernel->name,
                  .places = std::move(places),
                  .details = std::move(details),
                  .block = seen.block,
                  .number = seen.number,
                  .count = seen.count});
  }
}

std::string BlockFindings::thread(unsigned warp, unsigned lane) const {
  return block_.thread_name(warp, lane);
}

const Code& BlockFindings::block_code() const {
  return block_.code();
}

std::string BlockFindings::shared_name(const std::string& mangled, std::uint64_t bytes) const {
  const std::string name = mangled.empty() ? "dynamic shared memory" : variable_name(mangled);
  return name + " (" + std::to_string(bytes) + " bytes)";
}

std::string BlockFindings::memory(Space space, Address address) const {
  const auto within = [](const std::string& name, std::uint64_t offset, std::uint64_t size) {
    return "byte " + std::to_string(offset) + " of " + name + " (" + std::to_string(size) +
           " bytes)";
  };
  if (space == Space::kLocal) return "byte " + std::to_string(address) + " of its local memory";
  if (space == Space::kShared) {
    for (const Code::SharedVariable& v : block_.code().shared_variables) {
      if (address - v.offset < v.bytes) {
        return within(variable_name(v.name), address - v.offset, v.bytes);
      }
    }
    const std::uint64_t fixed = block_.launch().config.kernel->static_shared_bytes;
    return within("dynamic shared memory", address - fixed, block_.shared_bytes() - fixed);
  }
  if (address & kOfCluster) {
    const std::uint64_t block = (address & ~kOfCluster) / kClusterStep;
    const Dim3 grid = block_.launch().config.grid;
    return memory(Space::kShared, address % kClusterStep) + " in the shared memory of block (" +
           std::to_string(block % grid.x) + ", " + std::to_string(block / grid.x % grid.y) + ", " +
           std::to_string(block / grid.x / grid.y) + ")";
  }
  const Allocation* a = block_.launch().config.memory->find(address, 1);
  if (a == nullptr) return hexadecimal(address);
  return hexadecimal(address) + ", " +
         within(a->what + (a->kind == Allocation::Kind::kVariable ? "" : " memory at ") +
                    (a->kind == Allocation::Kind::kVariable ? "" : hexadecimal(a->base)),
                address - a->base, a->size);
}

std::string BlockFindings::block_name() const {
  const std::string name = block_.name();  // "kernel k, block (0, 0, 0)"
  return name.substr(name.rfind("block "));
}

// --- Checker ---------------------------------------------------------------------------------

Checker::Checker(Checks checks) : checks_(checks) {}
Checker::~Checker() = default;

std::unique_ptr<BlockObserver> Checker::watch(Block& block) {
  return std::make_unique<BlockChecks>(block, *this);
}

bool Checker::takes(const Fault& fault) const {
  switch (fault.kind) {
    case Fault::Kind::kIllegalAddress:
    case Fault::Kind::kMisalignedAddress: return checks_.memory;
    case Fault::Kind::kDeadlock: return checks_.sync;
    default: return false;
  }
}

void Checker::started(const LaunchConfig&) {
  findings_.launch_begins();
  if (checks_.race) {
    grid_ = std::make_unique<RaceGrid>();
    grid_->old = old_;
  }
}

void Checker::ended(const LaunchConfig& config, const LaunchResult& result) {
  if (operations_ && grid_) operations_->ran(config, *grid_);
  grid_.reset();
  findings_.launch_ends();
  if (!result.fault || !takes(*result.fault)) return;
  const Fault& fault = *result.fault;
  const char* what = fault.kind == Fault::Kind::kIllegalAddress      ? "an illegal address"
                     : fault.kind == Fault::Kind::kMisalignedAddress ? "a misaligned address"
                                                                     : "threads wait for ever";
  // The message begins with the kernel's name, which a finding has already.
  const std::string name = "kernel " + config.kernel->name + ", ";
  std::string message = fault.message;
  if (message.starts_with(name)) message.erase(0, name.size());
  findings_.add({.check = fault.kind == Fault::Kind::kDeadlock ? "sync" : "memory",
                 .what = what,
                 .kernel = config.kernel->name,
                 .places = {place_in(message)},
                 .details = {message}});
}

void Checker::allocated(const Allocation& allocation) {
  ++allocations_;
  if (allocation.kind != Allocation::Kind::kDevice) return;
  Written w{.allocation = allocation, .number = allocations_, .bits = {}};
  if (checks_.init) w.bits.resize(static_cast<std::size_t>((allocation.size + 63) / 64));
  written_.emplace(allocation.base, std::move(w));
}

void Checker::follow_streams() {
  if (checks_.race) operations_ = std::make_unique<Operations>(findings_);
}

void Checker::freed(const Allocation& allocation) {
  if (operations_) operations_->forget(allocation.base, allocation.size);
  written_.erase(allocation.base);
}

void Checker::refused_free(Address address, const std::string& why) {
  if (!checks_.memory) return;
  findings_.add({.check = "memory",
                 .what = "an illegal cudaFree",
                 .places = {why},
                 .details = {hexadecimal(address) + ": " + why + now_at()}});
}

Written* Checker::written(Address address) {
  auto at = written_.upper_bound(address);
  if (at == written_.begin()) return nullptr;
  Written& w = (--at)->second;
  return address - w.allocation.base < w.allocation.size ? &w : nullptr;
}

void Checker::host_wrote(Address address, std::uint64_t bytes) {
  Written* w = checks_.init ? written(address) : nullptr;
  if (w) set_bits(w->bits, address - w->allocation.base, bytes);
}

void Checker::host_read(Address address, std::uint64_t bytes) {
  Written* w = checks_.init ? written(address) : nullptr;
  if (!w) return;
  const std::uint64_t offset = address - w->allocation.base;
  if (all_set(w->bits, offset, bytes)) return;
  std::uint64_t first = offset;
  while (all_set(w->bits, first, 1)) ++first;
  findings_.add({.check = "init",
                 .what = "a copy to the host of global memory that was never written",
                 .places = {w->allocation.what + " number " + std::to_string(w->number)},
                 .details = {std::to_string(bytes) + " bytes at " + hexadecimal(address) +
                             "; byte " + std::to_string(first) + " of " + w->allocation.what +
                             " memory at " + hexadecimal(w->allocation.base) + " (" +
                             std::to_string(w->allocation.size) + " bytes) is the first of them"}});
}

/// A copy within the device does not use what it copies: bytes never written stay so in the copy.
void Checker::host_copied(Address to, Address from, std::uint64_t bytes) {
  Written* target = checks_.init ? written(to) : nullptr;
  if (!target) return;
  Written* source = written(from);
  if (!source) return host_wrote(to, bytes);
  std::vector<bool> known(static_cast<std::size_t>(bytes));
  const std::uint64_t from_offset = from - source->allocation.base;
  for (std::size_t i = 0; i < bytes; ++i) known[i] = all_set(source->bits, from_offset + i, 1);
  const std::uint64_t to_offset = to - target->allocation.base;
  for (std::size_t i = 0; i < bytes; ++i) {
    std::uint64_t& word = target->bits[static_cast<std::size_t>((to_offset + i) / 64)];
    const std::uint64_t bit = std::uint64_t{1} << (to_offset + i) % 64;
    word = known[i] ? word | bit : word & ~bit;
  }
}

void Checker::heap_given(Address at, HeapPiece piece) {
  const std::scoped_lock lock(heap_mutex_);
  heap_[at] = std::move(piece);
}

void Checker::heap_taken(Address at) {
  const std::scoped_lock lock(heap_mutex_);
  heap_.erase(at);
}

void Checker::finish() {
  if (!checks_.memory) return;
  for (const auto& [base, piece] : heap_) {
    findings_.add({.check = "memory",
                   .what = "memory from malloc in a kernel is never freed",
                   .kernel = piece.kernel,
                   .places = {piece.place},
                   .details = {std::to_string(piece.bytes) + " bytes at " + hexadecimal(base) +
                               ", which " + piece.who}});
  }
  heap_.clear();
  for (const auto& [base, w] : written_) {
    if (w.allocation.what == kHeapName) continue;  // the device's own
    const std::string made = made_at(base);
    findings_.add(
        {.check = "memory",
         .what = "memory is never freed",
         .places = {"cudaMalloc number " + std::to_string(w.number)},
         .details = {std::to_string(w.allocation.size) + " bytes (" + w.allocation.what + ") at " +
                     hexadecimal(base) + ", allocation " + std::to_string(w.number) +
                     " of the program" + (made.empty() ? "" : ", " + made)}});
  }
}

}  // namespace emu
