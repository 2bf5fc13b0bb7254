// The device for a page: what a script calls to have kernels run. One session at a time: a module,
// buffers, launches, what was counted and found. Texts come in and go out through two boxes; sizes
// and counts are doubles, which are a script's numbers.
//
// A call that returns false, a negative number or null has put one sentence into the out box.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emu/launch.hpp"
#include "emu/memory.hpp"
#include "emu/module.hpp"
#include "limits.hpp"
#include "machine/random.hpp"
#include "watch/atomic_counts.hpp"
#include "watch/buffer_use.hpp"
#include "watch/check.hpp"
#include "watch/check_sum.hpp"
#include "watch/json.hpp"
#include "watch/kernel_name.hpp"
#include "watch/line_profile.hpp"
#include "watch/metrics.hpp"
#include "watch/trace.hpp"

#ifdef __EMSCRIPTEN__
#define PAGE_ENTRY extern "C" __attribute__((used, visibility("default")))
/// So many blocks of the launch are over.
extern "C" __attribute__((import_module("env"), import_name("page_progress"))) void page_progress(
    double blocks);
#else
#define PAGE_ENTRY extern "C" __attribute__((visibility("default")))
static void page_progress(double) {}
#endif

namespace {

using namespace emu;

constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostInstructions = std::uint64_t{1} << 31;
constexpr std::uint64_t kApart = std::uint64_t{1} << 20;  // bytes between allocations, when checked
constexpr std::size_t kModulesKept = 8, kTextKept = 8 << 20;

std::string in_box, out_box;

struct Refused {
  std::string why;
};

/// A module and its text, to be found by it.
struct Read {
  std::string text;
  std::shared_ptr<Module> module;
};
std::deque<Read> modules;

class Progress final : public Observer {
 public:
  void blocks_over(std::uint64_t blocks) override { page_progress(static_cast<double>(blocks)); }
};

/// Who is told of what the host does: where sums are followed, two.
class Onlookers final : public Observer {
 public:
  std::vector<Observer*> all;
  void allocated(const Allocation& a) override { each(&Observer::allocated, a); }
  void freed(const Allocation& a) override { each(&Observer::freed, a); }
  void host_wrote(Address at, std::uint64_t bytes) override {
    each(&Observer::host_wrote, at, bytes);
  }
  void host_set(Address at, std::uint64_t bytes) override { each(&Observer::host_set, at, bytes); }
  void host_read(Address at, std::uint64_t bytes) override {
    each(&Observer::host_read, at, bytes);
  }

 private:
  template <class F, class... Given>
  void each(F f, const Given&... given) const {
    for (Observer* one : all) (one->*f)(given...);
  }
};

struct Ran {
  std::string kernel;
  Dim3 grid, block;
  Counters counters;
};

/// Whether buffers can be followed: the judge asks for it, and each page would have to load it.
#ifdef __EMSCRIPTEN__
constexpr bool kFollowsBuffers = false;
#else
constexpr bool kFollowsBuffers = true;
#endif

struct Session {
  std::optional<Checker> checker;
  std::unique_ptr<SumCheck> sums;
  std::unique_ptr<Onlookers> onlookers;  ///< null where the checker alone is told
  AtomicCounts atomics;            ///< of launches that are checked, since it slows others down
  std::unique_ptr<BufferUse> use;  ///< of the buffers that are followed; null where none is
  std::uint64_t clock = 0;         ///< instructions of all launches
  std::optional<LineProfile> profile;
  std::unique_ptr<GlobalMemory> memory;
  std::vector<Address> buffers;
  std::shared_ptr<Module> module;
  const Kernel* kernel = nullptr;
  std::vector<std::byte> parameters;
  std::size_t arguments = 0;
  std::uint64_t limit = kMostInstructions;
  std::optional<std::uint64_t> apart;
  Address grid_workspace = 0;
  std::uint64_t launched = 0;
  struct Traced {
    Dim3 block;
    std::uint64_t limit;
  };
  std::optional<Traced> trace_next;
  std::string trace;  // objects with commas between
  std::vector<Ran> ran;
  std::optional<Fault> fault;
  std::vector<std::string> warnings;
  std::string printed;
};
std::unique_ptr<Session> session;

std::uint64_t whole(double number) {
  if (!(number >= 0 && number <= 9007199254740992.0) || number != std::floor(number)) {
    throw Refused{"a size or a number in the request is not a whole one"};
  }
  return static_cast<std::uint64_t>(number);
}

unsigned part(double number) {
  return static_cast<unsigned>(std::min<std::uint64_t>(whole(number), 0xffff'ffff));
}

/// What every entry does with what it can't do.
template <class Result, class Body>
Result entry(Result refused, const Body& body) {
  try {
    return body();
  } catch (const Refused& refusal) {
    out_box = refusal.why;
  } catch (const std::bad_alloc&) {
    out_box = "the host has no memory left for what this call needs";
  } catch (const std::exception& error) {
    out_box = error.what();
  }
  return refused;
}

/// Who is told of what the host does; null without checks.
Observer* onlooker(Session& s) {
  if constexpr (kFollowsSums) {
    if (s.onlookers) return s.onlookers.get();
  }
  return s.checker ? &*s.checker : nullptr;
}

Session& open_session() {
  if (!session) throw Refused{"nothing was begun"};
  return *session;
}

[[noreturn]] void no_room(const Session& s, const std::string& what, std::uint64_t bytes) {
  if (bytes != 0 && bytes <= s.memory->free_bytes()) throw std::bad_alloc();
  throw Refused{what + " takes " + std::to_string(bytes) + " bytes, and " +
                std::to_string(s.memory->free_bytes()) + " of the device's memory are free"};
}

/// What a request names of a buffer, which must lie in it.
struct Piece {
  Address address;
  std::byte* host;
  std::size_t bytes;
};
Piece piece(Session& s, unsigned buffer, double offset, double bytes) {
  if (buffer >= s.buffers.size()) {
    throw Refused{"there is no buffer number " + std::to_string(buffer)};
  }
  const std::uint64_t from = whole(offset), size = whole(bytes);
  const Allocation& all = *s.memory->find(s.buffers[buffer], 1);
  if (from > all.size || size > all.size - from) {
    throw Refused{"bytes " + std::to_string(from) + " to " + std::to_string(from + size) + " of " +
                  all.what + " number " + std::to_string(buffer) + ", which has " +
                  std::to_string(all.size)};
  }
  return {all.base + from, all.host + from, static_cast<std::size_t>(size)};
}

/// A message with the kernel's name as a reader knows it.
std::string readable(std::string text, const Kernel& kernel) {
  const std::size_t at = text.find(kernel.name);
  if (at != text.npos) text.replace(at, kernel.name.size(), kernel_name(kernel.name));
  return text;
}

/// Gives a module's variables their places, as when a program's first kernel is launched.
void place_variables(Session& s) {
  Module& module = *s.module;
  for (auto& [name, variable] : module.variables) {
    const bool constant = variable.space == Variable::Space::kConstant;
    const std::string what = (constant ? "__constant__ " : "__device__ ") + name;
    const auto address = s.memory->allocate(std::max<std::uint64_t>(variable.size, 1), what,
                                            Allocation::Kind::kVariable);
    if (!address) no_room(s, what, variable.size);
    variable.address = *address;
  }
  link_module(module);
  for (const auto& [name, variable] : module.variables) {
    if (variable.initial.empty()) continue;
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(variable.initial.size(), variable.size));
    std::memcpy(s.memory->find(variable.address, size)->host, variable.initial.data(), size);
  }
}

std::string listed(const Dim3& d) {
  return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ",") + quoted(text);
  return "[" + out + "]";
}

std::string named(const Counters& counters) {
  std::string out;
  for (const Metric& metric : metrics()) {
    out += (out.empty() ? "" : ",") + quoted(metric.name) + ":" +
           std::to_string(counters.*metric.value);
  }
  return "{" + out + "}";
}

std::string line_of(const std::string& file, int line) {
  return "{\"file\":" + quoted(file) + ",\"line\":" + std::to_string(line) + "}";
}

/// Where "kernels.cuh:12" is: the file as the kernel's PTX names it, if one alone is called so.
std::string lines_of(const Session& s, const Finding& finding) {
  const auto kernel =
      s.module ? s.module->kernels.find(finding.kernel) : decltype(s.module->kernels.end()){};
  std::string out;
  for (const std::string& place : finding.places) {
    const std::size_t colon = place.rfind(':');
    if (colon == place.npos) continue;
    const std::string name = place.substr(0, colon);
    std::vector<std::string> files;
    if (s.module && kernel != s.module->kernels.end() && kernel->second.code) {
      for (const std::string& file : kernel->second.code->files) {
        if (file == name || file.ends_with("/" + name)) files.push_back(file);
      }
    }
    out += (out.empty() ? "" : ",") +
           line_of(files.size() == 1 ? files.front() : name, std::atoi(place.c_str() + colon + 1));
  }
  return "[" + out + "]";
}

/// Of a sum, whether it is a fault, and how often its elements are in it.
std::string of_a_sum(const Finding& finding) {
  std::string out;
  if constexpr (kFollowsSums) {
    if (finding.check != "sum") return out;
    out = std::string(",\"fault\":") + (finding.fault ? "true" : "false") + ",\"sum\":";
    if (!finding.sum) return out + "null";
    const SumElements& e = *finding.sum;
    out += "{\"elements\":" + std::to_string(e.count) +
           ",\"proved\":" + (e.proved ? "true" : "false") + ",\"others\":[";
    char text[32];
    for (const SumElements::Run& r : e.others) {
      std::snprintf(text, sizeof text, "%.17g", r.times);
      out += (&r == e.others.data() ? "[" : ",[") + std::to_string(r.first) + "," +
             std::to_string(r.count) + "," + std::to_string(r.step) + "," + text + "]";
    }
    out += "]}";
  }
  return out;
}

std::string to_json(const Session& s, const Finding& finding) {
  return "{\"check\":" + quoted(finding.check) + ",\"what\":" + quoted(finding.what) +
         ",\"kernel\":" + quoted(finding.kernel.empty() ? "" : kernel_name(finding.kernel)) +
         ",\"places\":" + listed(finding.places) + ",\"lines\":" + lines_of(s, finding) +
         ",\"details\":" + listed(finding.details) + ",\"count\":" + std::to_string(finding.count) +
         ",\"block\":" + std::to_string(finding.block) + of_a_sum(finding) + "}";
}

std::string to_json(const LineCounts& line) {
  const Counters& c = line.counters;
  std::string out = "{\"file\":" + quoted(line.file) + ",\"line\":" + std::to_string(line.line);
  if (line.outer_line > 0) {
    out += ",\"inlined_at\":" + line_of(line.outer_file, line.outer_line);
  }
  const std::pair<const char*, std::uint64_t> counts[] = {
      {"instructions", c.warp_instructions},
      {"thread_instructions", c.thread_instructions},
      {"global_requests", c.global_load_requests + c.global_store_requests},
      {"global_sectors", c.global_load_sectors + c.global_store_sectors},
      {"shared_wavefronts", c.shared_load_wavefronts + c.shared_store_wavefronts},
      {"shared_conflicts", c.shared_load_conflicts + c.shared_store_conflicts},
      {"branches", c.branches},
      {"diverging_branches", c.diverging_branches}};
  for (const auto& [name, count] : counts) {
    out += std::string(",\"") + name + "\":" + std::to_string(count);
  }
  return out + "}";
}

const char* name_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::kIllegalAddress: return "illegal address";
    case Fault::Kind::kMisalignedAddress: return "misaligned address";
    case Fault::Kind::kIllegalInstruction: return "illegal instruction";
    case Fault::Kind::kDeadlock: return "deadlock";
    case Fault::Kind::kAssert: return "assert";
    case Fault::Kind::kUnsupported:
    case Fault::Kind::kTooLong:
    case Fault::Kind::kInterrupted: break;
  }
  return "too long";
}

template <class List, class F>
std::string joined(const List& list, const F& text_of) {
  std::string out;
  for (const auto& one : list) out += (out.empty() ? "" : ",") + text_of(one);
  return "[" + out + "]";
}

}  // namespace

/// Room for a text, or for bytes, that the next call takes.
PAGE_ENTRY char* page_in_box(unsigned bytes) {
  return entry(static_cast<char*>(nullptr), [&] {
    in_box.assign(bytes, '\0');
    return in_box.data();
  });
}
PAGE_ENTRY const char* page_out_box() {
  return out_box.data();
}
PAGE_ENTRY unsigned page_out_box_bytes() {
  return static_cast<unsigned>(out_box.size());
}

/// Begins anew. In box: the checks, as tools/emulate names them, or nothing; who asks for `sum`
/// knows that what is read will be sums. `apart` is negative where lanes run together, `limit` 0
/// for the usual one.
PAGE_ENTRY bool page_begin(double apart, double limit, bool lines) {
  return entry(false, [&] {
    session = std::make_unique<Session>();
    Session& s = *session;
    if (!in_box.empty()) {
      const std::optional<Checks> checks = parse_checks(in_box, false);
      if (!checks) {
        throw Refused{"--check " + in_box + ": there are race, memory, init, sync" +
                      (kFollowsSums ? ", sum" : "") + " and all, with commas between"};
      }
      s.checker.emplace(*checks);
      if constexpr (kFollowsSums) {
        if (checks->sum) s.sums = make_sum_check(*s.checker, true);
        if (s.sums) {
          s.onlookers = std::make_unique<Onlookers>();
          s.onlookers->all = {&*s.checker, s.sums.get()};
        }
      }
    }
    s.memory = std::make_unique<GlobalMemory>(kMemory, onlooker(s));
    if (s.checker && s.checker->checks().memory) s.memory->keep_apart(kApart);
    if (lines) s.profile.emplace();
    if (apart >= 0) s.apart = whole(apart);
    if (limit != 0) s.limit = whole(limit);
    return true;
  });
}

/// In box: the text of a PTX module.
PAGE_ENTRY bool page_module() {
  return entry(false, [&] {
    Session& s = open_session();
    const auto known = std::find_if(modules.begin(), modules.end(),
                                    [](const Read& one) { return one.text == in_box; });
    if (known != modules.end()) {
      s.module = known->module;
    } else {
      s.module = parse_ptx(in_box, "the page", true);
      if (in_box.size() > kTextKept) return true;
      modules.push_front({in_box, s.module});
      if (modules.size() > kModulesKept) modules.pop_back();
    }
    return true;
  });
}

/// In box: what made it, as messages name it. The buffer's number.
PAGE_ENTRY int page_buffer(double bytes) {
  return entry(-1, [&] {
    Session& s = open_session();
    const std::string what = in_box.empty() ? "cudaMalloc" : in_box;
    const auto address = s.memory->allocate(whole(bytes), what);
    if (!address) no_room(s, what, whole(bytes));
    s.buffers.push_back(*address);
    return static_cast<int>(s.buffers.size()) - 1;
  });
}

#ifndef __EMSCRIPTEN__
/// From here on it is seen whether a kernel writes to a buffer, and `by_block` how much each block
/// reads of it.
PAGE_ENTRY bool page_follow(unsigned buffer, bool by_block) {
  return entry(false, [&] {
    Session& s = open_session();
    const Piece all = piece(s, buffer, 0, 0);
    if (!s.use) s.use = std::make_unique<BufferUse>();
    s.use->follow(
        {.base = all.address, .bytes = s.memory->find(all.address, 1)->size, .by_block = by_block});
    return true;
  });
}
#endif

/// Where the bytes are, for a copy to the device.
PAGE_ENTRY std::byte* page_write(unsigned buffer, double offset, double bytes) {
  return entry(static_cast<std::byte*>(nullptr), [&] {
    Session& s = open_session();
    const Piece to = piece(s, buffer, offset, bytes);
    if (Observer* o = onlooker(s)) o->host_wrote(to.address, to.bytes);
    return to.host;
  });
}

/// Where the bytes are, for a copy from the device.
PAGE_ENTRY const std::byte* page_read(unsigned buffer, double offset, double bytes) {
  return entry(static_cast<const std::byte*>(nullptr), [&] {
    Session& s = open_session();
    const Piece from = piece(s, buffer, offset, bytes);
    if (Observer* o = onlooker(s)) o->host_read(from.address, from.bytes);
    return from.host;
  });
}

PAGE_ENTRY bool page_set(unsigned buffer, double offset, double bytes, unsigned value) {
  return entry(false, [&] {
    Session& s = open_session();
    const Piece to = piece(s, buffer, offset, bytes);
    if (Observer* o = onlooker(s)) o->host_set(to.address, to.bytes);
    std::memset(to.host, static_cast<int>(value & 0xff), to.bytes);
    return true;
  });
}

/// In box: a kernel's mangled name. Its arguments follow, one by one, and then its launch.
PAGE_ENTRY bool page_kernel() {
  return entry(false, [&] {
    Session& s = open_session();
    if (!s.module) throw Refused{"nothing was begun"};
    const auto found = s.module->kernels.find(in_box);
    if (found == s.module->kernels.end()) {
      throw Refused{"kernel " + kernel_name(in_box) + " is not in the PTX"};
    }
    s.kernel = &found->second;
    s.parameters.assign(static_cast<std::size_t>(s.kernel->parameter_bytes), std::byte{0});
    s.arguments = 0;
    return true;
  });
}

namespace {
void take_argument(Session& s, const void* bytes, std::size_t size) {
  if (s.kernel == nullptr) throw Refused{"nothing was begun"};
  const auto& parameters = s.kernel->parameters;
  const std::string number = std::to_string(s.arguments + 1);
  const std::string name = "kernel " + kernel_name(s.kernel->name);
  if (s.arguments == parameters.size()) {
    throw Refused{name + " takes " + std::to_string(parameters.size()) +
                  " arguments, and was given more"};
  }
  const Parameter& p = parameters[s.arguments++];
  if (p.size != size) {
    throw Refused{name + ": argument " + number + " has " + std::to_string(p.size) +
                  " bytes, and was given " + std::to_string(size)};
  }
  std::memcpy(s.parameters.data() + p.offset, bytes, size);
}
}  // namespace

PAGE_ENTRY bool page_argument_buffer(unsigned buffer, double offset) {
  return entry(false, [&] {
    Session& s = open_session();
    if (buffer >= s.buffers.size()) {
      throw Refused{"there is no buffer number " + std::to_string(buffer)};
    }
    const Address address = s.buffers[buffer] + whole(offset);
    take_argument(s, &address, sizeof address);
    return true;
  });
}

/// In box: the bytes.
PAGE_ENTRY bool page_argument() {
  return entry(false, [&] {
    take_argument(open_session(), in_box.data(), in_box.size());
    return true;
  });
}

/// The next launch is traced: one block of it.
PAGE_ENTRY bool page_trace(double x, double y, double z, double limit) {
  return entry(false, [&] {
    open_session().trace_next = {{part(x), part(y), part(z)}, whole(limit)};
    return true;
  });
}

/// Launches the kernel with its arguments. False also after a fault: then the out box is empty, and
/// the result says what it was.
PAGE_ENTRY bool page_launch(double grid_x, double grid_y, double grid_z, double block_x,
                            double block_y, double block_z, double shared, bool cooperative) {
  return entry(false, [&] {
    Session& s = open_session();
    if (s.kernel == nullptr) throw Refused{"nothing was begun"};
    const Kernel& kernel = *s.kernel;
    const std::string name = kernel_name(kernel.name);
    if (s.arguments != kernel.parameters.size()) {
      throw Refused{"kernel " + name + " takes " + std::to_string(kernel.parameters.size()) +
                    " arguments, and was given " + std::to_string(s.arguments)};
    }
    const Dim3 grid{part(grid_x), part(grid_y), part(grid_z)};
    const Dim3 block{part(block_x), part(block_y), part(block_z)};
    const std::uint64_t dynamic_shared = whole(shared);
    const PageLimits limits;
    if (const char* why = limits.refuse(kernel, grid, block, dynamic_shared, cooperative)) {
      throw Refused{"kernel " + name + ", grid " + listed(grid) + ", block " + listed(block) +
                    ", " + std::to_string(dynamic_shared) +
                    " bytes of dynamic shared memory: " + why};
    }
    if (!kernel.code) {
      throw Refused{"kernel " + name + " can't run here: " + kernel.unsupported};
    }
    if (s.ran.empty() && s.launched == 0) place_variables(s);
    if (cooperative) {
      constexpr std::size_t kWorkspaceBytes = 8;
      if (s.grid_workspace == 0) {
        const auto at =
            s.memory->allocate(kWorkspaceBytes, "the grid's barrier", Allocation::Kind::kVariable);
        if (!at) no_room(s, "the grid's barrier", kWorkspaceBytes);
        s.grid_workspace = *at;
      }
      std::memset(s.memory->find(s.grid_workspace, kWorkspaceBytes)->host, 0, kWorkspaceBytes);
    }

    std::optional<std::uint64_t> apart;
    if (s.apart) apart = Random(*s.apart).of(s.launched).next();
    std::vector<Observer*> observers;
    std::optional<Trace> trace;
    if (s.trace_next) {
      const auto write = [&s](std::string_view line) {
        if (!s.trace.empty()) s.trace += ',';
        s.trace += line;
      };
      trace.emplace(write, s.trace_next->block, s.trace_next->limit);
      s.trace_next.reset();
      observers.push_back(&*trace);
    }
    if (s.checker) {
      observers.push_back(&*s.checker);
      observers.push_back(&s.atomics);
    }
    if constexpr (kFollowsBuffers) {
      if (s.use) observers.push_back(s.use.get());
    }
    if (s.sums) observers.push_back(s.sums.get());
    if (s.profile) observers.push_back(&*s.profile);
    Progress progress;
    observers.push_back(&progress);
    LaunchConfig config{.module = s.module.get(),
                        .kernel = &kernel,
                        .grid = grid,
                        .block = block,
                        .dynamic_shared_bytes = dynamic_shared,
                        .parameters = s.parameters,
                        .memory = s.memory.get(),
                        .sm_count = limits.multiprocessors,
                        .max_warp_instructions = s.limit,
                        .apart = apart,
                        .resident_blocks = limits.resident(kernel, block, dynamic_shared),
                        .cooperative = cooperative,
                        .grid_workspace = cooperative ? s.grid_workspace : 0,
                        .goes_on = s.checker && s.checker->checks().memory,
                        .clock_base = s.clock,
                        .observers = observers};
    if (trace) {
      trace->head(config, s.launched, name,
                  s.apart ? "apart:" + std::to_string(*s.apart) : "together");
    }
    const LaunchResult result = launch(config);
    if (trace) trace->foot(result);
    ++s.launched;
    s.clock += result.counters.warp_instructions;
    s.printed += result.printed;
    if (!s.checker) {  // else it has told of it as a finding
      for (const std::string& warning : result.warnings) {
        s.warnings.push_back(readable(warning, kernel));
      }
    }
    if (result.fault && result.fault->kind == Fault::Kind::kUnsupported) {
      throw Refused{"kernel " + name + " can't run here: " + result.fault->message};
    }
    if (result.fault) {
      s.fault = Fault{result.fault->kind, readable(result.fault->message, kernel)};
      out_box.clear();
      return false;
    }
    s.ran.push_back({name, grid, block, result.counters});
    return true;
  });
}

/// Out box: what came of it, as JSON.
PAGE_ENTRY bool page_result() {
  return entry(false, [&] {
    Session& s = open_session();
    if (s.sums) s.sums->finish();
    Counters sum;
    for (const Ran& ran : s.ran) sum += ran.counters;
    std::string out = "{\"launches\":" +
                      joined(s.ran,
                             [](const Ran& ran) {
                               return "{\"kernel\":" + quoted(ran.kernel) +
                                      ",\"grid\":" + listed(ran.grid) +
                                      ",\"block\":" + listed(ran.block) +
                                      ",\"counters\":" + named(ran.counters) + "}";
                             }) +
                      ",\"counters\":" + named(sum);
    if (s.checker) {
      const AtomicCounts::Counts atomics = s.atomics.counts();
      out += ",\"atomics\":{\"global\":" + std::to_string(atomics.global) +
             ",\"shared\":" + std::to_string(atomics.shared) +
             ",\"shared_collisions\":" + std::to_string(atomics.shared_collisions) + "}";
    }
    if (kFollowsBuffers && s.use) {
      out += ",\"followed\":" + joined(s.use->buffers(), [](const BufferUse::Used& used) {
               return "{\"stores\":" + std::to_string(used.stores) +
                      ",\"place\":" + quoted(used.place) + ",\"read\":" +
                      joined(used.read, [](std::uint64_t n) { return std::to_string(n); }) + "}";
             });
    }
    out += ",\"fault\":";
    if (s.fault) {
      out += "{\"kind\":" + quoted(name_of(s.fault->kind)) +
             ",\"message\":" + quoted(s.fault->message) + "}";
    } else {
      out += "null";
    }
    out += ",\"warnings\":" + listed(s.warnings) + ",\"printed\":" + quoted(s.printed);
    out += ",\"findings\":";
    if (s.checker) {
      out += joined(s.checker->findings().all(),
                    [&](const Finding& finding) { return to_json(s, finding); });
    } else {
      out += "[]";
    }
    out += ",\"lines\":";
    if (s.profile) {
      out += joined(s.profile->lines(), [](const LineCounts& line) { return to_json(line); });
    } else {
      out += "[]";
    }
    out += ",\"trace\":" + (s.trace.empty() ? "null" : "[" + s.trace + "]") + "}";
    out_box = std::move(out);
    return true;
  });
}

/// Lets go of all but the modules that were read.
PAGE_ENTRY void page_end() {
  session.reset();
  in_box = std::string();  // and its room
  out_box = std::string();
}
