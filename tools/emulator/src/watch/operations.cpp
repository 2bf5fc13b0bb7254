#include "watch/operations.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "machine/text.hpp"
#include "watch/check.hpp"
#include "watch/handing.hpp"
#include "watch/kernel_name.hpp"

namespace emu {
namespace {

constexpr unsigned kAfter = 4;  // of the second half of what is touched

bool writes(unsigned way) {
  return way % kAfter == Operations::kWrites || way % kAfter == Operations::kWritesStrongly;
}
bool strong(unsigned way) {
  return way % kAfter >= Operations::kReadsStrongly;
}

const char* memory_name(const Allocation* a) {
  if (a == nullptr) return "host memory";
  switch (a->kind) {
    case Allocation::Kind::kPinned:
    case Allocation::Kind::kRegistered: return "pinned memory";
    case Allocation::Kind::kManaged: return "managed memory";
    case Allocation::Kind::kDevice:
    case Allocation::Kind::kVariable: break;
  }
  return "global memory";
}

std::string place_of(Address at, const Allocation* a) {
  if (a == nullptr) return hexadecimal(at);
  const std::string offset = ", byte " + std::to_string(at - a->base) + " of " + a->what;
  const std::string where =
      a->kind == Allocation::Kind::kVariable ? "" : " memory at " + hexadecimal(a->base);
  return hexadecimal(at) + offset + where + " (" + std::to_string(a->size) + " bytes)";
}

}  // namespace

void StreamClock::set(Timeline line, Time time) {
  if (line >= times_.size()) times_.resize(line + 1);
  times_[line] = time;
}

void StreamClock::join(const StreamClock& other) {
  if (other.times_.size() > times_.size()) times_.resize(other.times_.size());
  for (std::size_t i = 0; i < other.times_.size(); ++i) {
    times_[i] = std::max(times_[i], other.times_[i]);
  }
}

Operations::Operations(Findings& findings) : findings_(findings) {
  add_line("the host", false, false);
  add_line("the default stream", false, false);  // by rules of its own
}

// --- What hands on ---------------------------------------------------------------------------

Timeline Operations::add_line(std::string name, bool blocks, bool node, Timeline device) {
  // One that is over serves again when nothing that it did is kept. Its time goes on, so that what
  // was known of the old one says nothing of the new one.
  Timeline line = 0;
  const auto serves = [&] {
    return lines_[line].over && std::none_of(past_.begin(), past_.end(),
                                             [&](const Operation& o) { return o.line == line; });
  };
  while (line < lines_.size() && !serves()) ++line;
  if (line == lines_.size()) lines_.emplace_back();
  const Time time = lines_[line].clock.of(line);
  lines_[line] = {.name = std::move(name), .blocks = blocks, .node = node, .device = device};
  lines_[line].clock.set(line, time);
  return line;
}

Timeline Operations::add_device(std::string name) {
  const Timeline line = add_line(std::move(name), false, false);
  return lines_[line].device = line;
}

Timeline Operations::add_stream(std::string name, bool blocks, Timeline device) {
  return add_line(std::move(name), blocks, false, device);
}

/// What it was given goes on without it, and the default stream still waits for that.
void Operations::remove_stream(Timeline line) {
  lines_[line].over = true;
}

/// A stream is asked for something.
StreamClock& Operations::enter(Timeline line) {
  StreamClock& clock = lines_[line].clock;
  clock.join(lines_[kHost].clock);
  if (is_default(line)) {
    for (const Stream& s : lines_) {
      if (s.blocks && s.device == line) clock.join(s.clock);
    }
  } else if (lines_[line].blocks) {
    clock.join(lines_[lines_[line].device].clock);
  }
  return clock;
}

StreamClock Operations::record(Timeline line) {
  return enter(line);
}

void Operations::wait(Timeline line, const StreamClock& event) {
  enter(line).join(event);
}

void Operations::host_waits(const StreamClock& event) {
  lines_[kHost].clock.join(event);
  learned();
}

void Operations::host_waits_for(Timeline line) {
  lines_[kHost].clock.join(enter(line));
  learned();
}

void Operations::host_waits_for_all(Timeline device) {
  for (const Stream& s : lines_) {
    if (s.device == device) lines_[kHost].clock.join(s.clock);
  }
  learned();
}

/// What the host knows, all that is to come knows.
void Operations::learned() {
  const StreamClock& host = lines_[kHost].clock;
  std::erase_if(past_, [&](const Operation& o) { return o.time <= host.of(o.line); });
}

// --- Operations ------------------------------------------------------------------------------

void Operations::begin(Timeline line, std::string what, std::string kernel) {
  StreamClock& clock = enter(line);
  const Time time = clock.of(line) + 1;
  clock.set(line, time);
  now_ = {.what = std::move(what),
          .kernel = std::move(kernel),
          .where = lines_[line].name,
          .line = line,
          .time = time,
          .in_graph = lines_[line].node};
  returns_ = Returns::kAtOnce;
}

void Operations::touch(Way way, Address at, std::uint64_t bytes) {
  now_.touched[way].add({at, at + bytes, 0});
}

void Operations::touch_rows(Way way, Address at, std::uint64_t pitch, std::uint64_t width,
                            std::uint64_t rows) {
  for (std::uint64_t row = 0; row < rows; ++row) touch(way, at + row * pitch, width);
}

/// Whether what is asked for now comes after that.
bool Operations::ordered(const Operation& before) const {
  if (now_.depends && before.line == now_.line && before.time + 1 == now_.time &&
      !before.kernel.empty()) {
    return false;
  }
  return before.time <= lines_[now_.line].clock.of(before.line);
}

void Operations::end(const GlobalMemory& memory) {
  now_.returned = returns_;
  for (Ranges& ranges : now_.touched) {
    ranges.settle();
    if (ranges.empty()) continue;
    now_.first = std::min(now_.first, ranges.first());
    now_.last = std::max(now_.last, ranges.last());
  }
  for (Ranges& ranges : now_.near) ranges.settle();
  bool gone = false;
  for (Operation& before : past_) {
    if (before.apart_from(now_)) continue;
    if (!ordered(before)) {
      compare(before, now_, memory);
      continue;
    }
    // What this one stands for from now on.
    const auto& ours = now_.touched;
    for (unsigned way = 0; way < 2 * kWays; ++way) {
      Ranges& theirs = before.touched[way];
      theirs.remove(ours[kWrites]);
      if (!writes(way)) theirs.remove(ours[kReads]);
      if (strong(way)) theirs.remove(ours[way % kWays]);
    }
    gone |= before.size() == 0;
  }
  const Timeline line = now_.line;
  const bool in_graph = now_.in_graph;
  const Time time = now_.time;
  if (returns_ == Returns::kOnceRead && !in_graph) now_.touched[kReads] = {};
  if (gone) std::erase_if(past_, [](const Operation& o) { return o.size() == 0; });
  ranges_ += now_.size();
  if (now_.size() > 0) past_.push_back(std::move(now_));
  now_ = {};
  keep();
  if (returns_ == Returns::kAtOnce || in_graph) return;
  // Before it reads what isn't pinned, it waits for all that the stream has to do.
  StreamClock known = lines_[line].clock;
  if (returns_ == Returns::kOnceRead) known.set(line, time - 1);
  host_waits(known);
}

std::size_t Operations::Operation::size() const {
  std::size_t sum = 0;
  for (const Ranges& r : touched) sum += r.size();
  return sum;
}

/// Keeps no more than there is room for: the oldest go.
void Operations::keep() {
  if (past_.size() <= kMostOperations && ranges_ <= kMostRanges) return;
  if (past_.size() > kMostOperations) {  // several at a time, which is seldom then
    past_.erase(past_.begin(), past_.begin() + kMostOperations / 4);
  }
  ranges_ = 0;
  for (const Operation& o : past_) ranges_ += o.size();
  for (; ranges_ > kMostRanges; past_.pop_front()) ranges_ -= past_.front().size();
}

void Operations::host_frees(const std::string& call, const Allocation& allocation,
                            const GlobalMemory& memory) {
  Operation frees{.what = call, .where = "the host", .line = kHost, .verb = "frees"};
  frees.touched[kWrites].add({allocation.base, allocation.base + allocation.size, 0});
  for (const Operation& before : past_) compare(before, frees, memory);
}

void Operations::forget(Address at, std::uint64_t bytes) {
  Ranges gone;
  gone.add({at, at + bytes, 0});
  for (Operation& o : past_) {
    for (Ranges& ranges : o.touched) ranges.remove(gone);
  }
  std::erase_if(past_, [](const Operation& o) { return o.size() == 0; });
}

std::vector<Operations::Pending> Operations::pending(Address from) const {
  std::vector<Pending> all;
  for (const Operation& o : past_) {
    if (o.last < from) continue;
    for (unsigned way = 0; way < o.touched.size(); ++way) {
      for (const Range& r : o.touched[way].all()) {
        if (r.end <= from) continue;
        all.push_back({r.begin, r.end, writes(way), o.what, o.where, o.kernel});
      }
    }
  }
  return all;
}

// --- Graphs ------------------------------------------------------------------------------------

Operations::Graph Operations::begin_graph(Timeline stream) {
  return {.stream = stream, .before = enter(stream), .nodes = {}};
}

Timeline Operations::begin_node(Graph& graph, const std::vector<Timeline>& after) {
  const Timeline line =
      add_line(lines_[graph.stream].name + ", node " + std::to_string(graph.nodes.size()), false,
               true, lines_[graph.stream].device);
  StreamClock& clock = lines_[line].clock;
  clock.join(graph.before);
  for (const Timeline other : after) clock.join(lines_[other].clock);
  graph.nodes.push_back(line);
  return line;
}

/// All that comes later in the stream knows all nodes, and nothing else knows one: from here on
/// what they did is what the stream did.
void Operations::end_graph(const Graph& graph) {
  StreamClock& clock = enter(graph.stream);
  for (const Timeline node : graph.nodes) clock.join(lines_[node].clock);
  const Time time = clock.of(graph.stream) + 1;
  clock.set(graph.stream, time);
  for (Operation& o : past_) {
    if (std::find(graph.nodes.begin(), graph.nodes.end(), o.line) == graph.nodes.end()) continue;
    o.line = graph.stream;
    o.time = time;
    o.in_graph = lines_[graph.stream].node;
  }
  for (const Timeline node : graph.nodes) lines_[node].over = true;
}

// --- Races -------------------------------------------------------------------------------------

void Operations::compare(const Operation& before, const Operation& now,
                         const GlobalMemory& memory) {
  const bool across = far(before, now);
  // Two writes first, then a read of what is written: the clearer of several.
  for (const bool both : {true, false}) {
    for (unsigned way = 0; way < 2 * kWays; ++way) {
      if (now.touched[way].empty() || (both && !writes(way))) continue;
      for (unsigned other = 0; other < 2 * kWays; ++other) {
        if (both ? !writes(other) : writes(way) == writes(other)) continue;
        const bool both_strong = strong(way) && strong(other);
        if (both_strong && !across) continue;
        // A flag may have said that it's done.
        if (way >= kAfter && before.hands_on &&
            (!across || (before.hands_on_far && now.takes_far))) {
          continue;
        }
        auto same = before.touched[other].shared_with(now.touched[way]);
        if (same && both_strong) {  // enough, unless one is so to its own device alone
          same = before.near[writes(other)].shared_with(now.touched[way]);
          if (!same) same = before.touched[other].shared_with(now.near[writes(way)]);
        }
        if (!same) continue;
        report(before, other, same->first, now, way, same->second, memory);
        return;
      }
    }
  }
}

void Operations::report(const Operation& before, unsigned before_way, const Range& theirs,
                        const Operation& now, unsigned way, const Range& ours,
                        const GlobalMemory& memory) {
  const Address at = std::max(theirs.begin, ours.begin);
  const Allocation* const a = memory.find(at, 1);
  const std::string space = memory_name(a);
  const bool nodes = before.in_graph && now.in_graph;
  const bool one_stream = now.depends && before.line == now.line;
  const std::string other = nodes        ? "another node"
                            : one_stream ? "the kernel before"
                                         : "another stream";
  const auto is = [](const Operation& o, std::string_view verb) {
    return o.verb && o.verb == verb;
  };
  std::string what;
  if (is(now, "frees")) {
    what = space + " is freed while " + (now.line == kHost ? "a stream" : other) + " may use it";
  } else if (is(before, "allocates")) {
    what = space + " is used without waiting for the stream that allocates it";
  } else if (writes(way) && writes(before_way)) {
    what = std::string(nodes        ? "two nodes of a graph"
                       : one_stream ? "two kernels of a stream"
                                    : "two streams") +
           " write one place of " + space;
  } else {
    what = (writes(way) ? "write after " + other + "'s read in "
                        : "read after " + other + "'s write in ") +
           space;
  }
  const auto who = [&](const Operation& o, unsigned its_way, const Range& range) {
    const std::string verb = writes(its_way) ? o.verb ? o.verb : "writes" : "reads";
    const std::string name = o.kernel.empty() ? o.what : "kernel " + kernel_name(o.kernel);
    return o.where + ": " + name + " " + verb + " it" +
           (o.places.empty() ? "" : " at " + o.places[range.access]);
  };
  const auto place = [](const Operation& o, const Range& range) {
    const std::string& line = o.places.empty() ? o.what : o.places[range.access];
    return line.substr(0, line.find(" (PTX"));
  };
  findings_.add({.check = "race",
                 .what = what + ", unsynchronised",
                 .kernel = now.kernel.empty() ? before.kernel : now.kernel,
                 .places = {place(before, theirs), place(now, ours)},
                 .details = {place_of(at, a), who(before, before_way, theirs), who(now, way, ours),
                             missing(before, now)}});
}

/// What would order them.
std::string Operations::missing(const Operation& before, const Operation& now) const {
  if (before.in_graph && now.in_graph) {
    return "nothing orders them: no edge of the graph, and no path of edges, leads from the first "
           "node to the second";
  }
  if (now.depends && before.line == now.line) {
    return "nothing orders them: as a programmatic dependent launch the second kernel may begin "
           "while the first is at work, and has to wait (cudaGridDependencySynchronize)";
  }
  const auto stream_of = [](const Operation& o) {
    return o.where.substr(0, o.where.find(", node "));
  };
  const std::string first = stream_of(before), second = stream_of(now);
  if (now.line == kHost) {
    return "nothing orders them: the host has to wait for " + first + " before it frees, since " +
           now.what + " does not promise to wait";
  }
  std::string text = "nothing orders them: " + second + " has to wait for an event that " + first +
                     " records between the two (cudaStreamWaitEvent), or the host for " + first;
  if (before.returned == Returns::kOnceRead) {
    text += "; " + before.what +
            " from pageable memory returns when it has read its source, and the copy goes on";
  }
  if (is_default(before.line) || is_default(now.line)) {
    text += "; a non-blocking stream and the default stream don't wait for each other";
  }
  if (far(before, now)) {
    text +=
        "; between devices fences and atomics order what has the system's scope "
        "(__threadfence_system, atomicAdd_system, .sys)";
  }
  return text;
}

/// From the shadow: what a kernel's blocks have touched, by how.
void Operations::ran(const LaunchConfig& config, RaceGrid& grid) {
  const Code& code = *config.kernel->code;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  const auto number = [&](std::uint32_t pc) {
    const auto [at, fresh] =
        numbers.try_emplace(pc, static_cast<std::uint32_t>(now_.places.size()));
    if (fresh) now_.places.push_back(source_line(code, pc));
    return at->second;
  };
  const DeviceHeap& heap = config.memory->heap();
  now_.hands_on = grid.told();
  now_.hands_on_far = grid.told_system();
  now_.takes_far = grid.took_system();
  now_.depends &= !grid.waited;
  grid.shadow.each([&](Address line, Marks& marks) {
    // The heap's pieces pass from kernel to kernel, and malloc and free order that.
    if (heap.begun() && heap.holds(line)) return;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const Mark& m = marks[i];
      const bool strongly = (m.kind & Mark::kStrong) && (m.kind & Mark::kGrid);
      unsigned way = (m.kind & Mark::kWrites) ? kWrites : kReads;
      if (strongly) way += kReadsStrongly;
      if (m.time != kNever && m.time > grid.took(m.block)) way += kAfter;
      const std::uint32_t access = number(m.pc);
      const bool near = strongly && code.orders[code.ops[m.pc].as<MemoryOperand>().number].scope !=
                                        SyncScope::kSystem;
      const auto add = [&](Address begin, Address end) {
        now_.touched[way].add({begin, end, access});
        if (near) now_.near[writes(way)].add({begin, end, access});
      };
      for (Mask left = m.words; left;) {
        const auto first = static_cast<unsigned>(std::countr_zero(left));
        const auto count = static_cast<unsigned>(std::countr_one(left >> first));
        const Mask run = (count == kLineWords ? ~Mask{0} : (Mask{1} << count) - 1) << first;
        left &= ~run;
        const Address at = line + 4 * first;
        if (m.bytes == 15) {
          add(at, at + 4 * count);
          continue;
        }
        for (unsigned word = 0; word < count; ++word) {
          for (unsigned b = 0; b < 4; ++b) {
            if (m.bytes >> b & 1) add(at + 4 * word + b, at + 4 * word + b + 1);
          }
        }
      }
    }
  });
}

}  // namespace emu
