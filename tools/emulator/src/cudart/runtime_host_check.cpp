#include "cudart/host_check.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "cudart/runtime.hpp"
#include "machine/text.hpp"
#include "watch/kernel_name.hpp"

namespace emu {
namespace {

/// Calls whose failure a program can't shrug off.
bool matters(std::string_view call) {
  constexpr std::array kKnown = {"cudaMalloc",      "cudaMemcpy",          "cudaMemset",
                                 "cudaLaunch",      "cudaHostAlloc",       "cudaFuncSetAttribute",
                                 "cudaGraphLaunch", "cudaEventElapsedTime"};
  return std::ranges::any_of(kKnown, [&](const char* known) { return call.starts_with(known); });
}

/// Calls after which a program that had an eye on failures would have ended.
bool uses_the_device(std::string_view call) {
  return matters(call) || call.find("Synchronize") != call.npos ||
         call.starts_with("cudaEventRecord");
}

}  // namespace

std::string elements_for_bytes(std::uint64_t given, std::uint64_t needed, const std::string& call) {
  for (const std::uint64_t bytes : {2, 4, 8, 16}) {
    if (given * bytes != needed) continue;
    return "are those " + std::to_string(given) + " the number of elements? " + call +
           " takes bytes";
  }
  return "";
}

// --- Failures --------------------------------------------------------------------------------

void HostCheck::because(std::string why, std::string kernel) {
  why_ = std::move(why);
  kernel_ = std::move(kernel);
}

void HostCheck::called(cudaError_t status, bool broken) {
  const std::string why = std::exchange(why_, {}), kernel = std::exchange(kernel_, {});
  const bool failed = status != cudaSuccess && status != cudaErrorNotReady &&
                      status != cudaErrorNotSupported && !broken;
  if (!failed && failures_.empty()) return;
  const HostPlace place = HostPlace::here();
  const std::string call = place.call();
  if (uses_the_device(call)) {
    for (Failure& f : failures_) f.went_on = true;
  }
  if (!failed) {  // of memory a program may ask for less and less, until it gets it
    std::erase_if(failures_, [&](const Failure& f) {
      return f.call == call && f.status == cudaErrorMemoryAllocation;
    });
  } else if (matters(call)) {
    failures_.push_back({call, why, kernel, place, status});
    failed_ = true;
  }
}

void HostCheck::asked() {
  for (Failure& f : failures_) {
    if (!f.why.empty()) asked_.push_back(std::move(f));
  }
  failures_.clear();
}

void HostCheck::tell(const Failure& f, bool asked) {
  const std::string line = f.place.line(f.kernel), story = f.place.story(f.kernel);
  std::string what = f.launch() ? "a launch did nothing" : f.call + " failed and did nothing";
  std::vector<std::string> details;
  if (!story.empty()) details.push_back(story);
  if (!f.why.empty()) details.push_back(f.why);
  details.push_back(std::string("it is ") + error_name(f.status) +
                    (asked        ? ""
                     : f.launch() ? ", as cudaGetLastError() after the launch would have told"
                                  : ", as its result told"));
  if (!asked) what += ", and the program didn't ask";
  findings_.add({.check = "host",
                 .what = what,
                 .kernel = f.kernel,
                 .places = {line.empty() ? f.call : line},
                 .details = std::move(details),
                 .fault = !asked});
}

// --- Buffers ---------------------------------------------------------------------------------

HostCheck::Buffer* HostCheck::find(Address address) {
  auto found = buffers_.upper_bound(address);
  if (found == buffers_.begin()) return nullptr;
  Buffer& buffer = (--found)->second;
  return address - buffer.allocation.base < buffer.allocation.size ? &buffer : nullptr;
}

std::string HostCheck::made_at(Address base) const {
  const auto found = buffers_.find(base);
  const std::string story = found == buffers_.end() ? "" : found->second.made.story();
  return story.empty() ? "" : "allocated " + story;
}

void HostCheck::allocated(const Allocation& allocation) {
  buffers_[allocation.base] = {.allocation = allocation, .made = HostPlace::here()};
}

void HostCheck::freed(const Allocation& allocation) {
  const auto found = buffers_.find(allocation.base);
  if (found == buffers_.end()) return;
  if (found->second.filled > 0) unused_.push_back(std::move(found->second));
  buffers_.erase(found);
}

/// A kernel that runs may have what it is given, and what that points to.
void HostCheck::started(const LaunchConfig& config) {
  for (auto& [base, buffer] : buffers_) buffer.set = false;
  const auto filled = [](const auto& b) { return b.second.filled > 0; };
  if (std::ranges::none_of(buffers_, filled)) return;
  const auto given = [&](const std::byte* bytes, std::size_t size) {
    for (std::size_t i = 0; i + sizeof(Address) <= size; i += 4) {
      Address address = 0;
      std::memcpy(&address, bytes + i, sizeof address);
      if (address < kGlobalBase || address >= kGlobalEnd) continue;
      if (Buffer* buffer = find(address)) buffer->filled = 0;
    }
  };
  given(config.parameters.data(), config.parameters.size());
  constexpr std::size_t kTable = 1 << 16;  // larger ones are data
  for (const auto& [base, buffer] : buffers_) {
    const Allocation& a = buffer.allocation;
    if (a.size <= kTable && a.host != nullptr) given(a.host, static_cast<std::size_t>(a.size));
  }
}

void HostCheck::host_wrote(Address address, std::uint64_t bytes) {
  Buffer* const buffer = find(address);
  if (buffer == nullptr || buffer->allocation.kind != Allocation::Kind::kDevice) return;
  buffer->set = false;
  if (buffer->filled == 0) buffer->filled_at = HostPlace::here();
  buffer->filled += bytes;
}

void HostCheck::host_set(Address address, std::uint64_t /*bytes*/) {
  if (Buffer* buffer = find(address)) buffer->set = true;
}

void HostCheck::host_read(Address address, std::uint64_t /*bytes*/) {
  Buffer* const buffer = find(address);
  if (buffer == nullptr) return;
  buffer->filled = 0;
  if (buffer->set && !read_as_set_) read_as_set_ = HostPlace::here();
}

void HostCheck::host_copied(Address to, Address from, std::uint64_t /*bytes*/) {
  if (Buffer* buffer = find(from)) buffer->filled = 0;
  if (Buffer* buffer = find(to)) buffer->set = false;
}

void HostCheck::tell_unused(const Buffer& buffer) {
  if (buffer.filled == 0) return;
  const Allocation& a = buffer.allocation;
  const std::string line = buffer.filled_at.line(), story = buffer.filled_at.story();
  std::vector<std::string> details = {std::to_string(buffer.filled) + " bytes of " +
                                      std::to_string(a.size) + " (" + a.what + ")" +
                                      (story.empty() ? "" : ", copied " + story)};
  if (std::string asked = elements_for_bytes(buffer.filled, a.size, "cudaMemcpy"); !asked.empty()) {
    details.push_back(std::move(asked));
  }
  const std::string where = read_as_set_->story();
  details.push_back("what the host copies back " + where + (where.empty() ? "" : " ") +
                    "is as cudaMemset left it: no kernel has run since");
  findings_.add({.check = "host",
                 .what = "data from the host that no kernel was given",
                 .places = {line.empty() ? a.what : line},
                 .details = std::move(details)});
}

void HostCheck::ends_with(const std::vector<Operations::Pending>& work) {
  for (const Operations::Pending& one : work) {
    if (one.kernel.empty() || !one.writes) continue;
    findings_.add({.check = "host",
                   .what = "the program ends while a kernel may still be at work",
                   .kernel = one.kernel,
                   .places = {one.where},
                   .details = {"in " + one.where + ", for which the host has not waited"}});
  }
}

void HostCheck::finish(int status, bool broken) {
  let_go();
  for (const Failure& f : failures_) {
    if (f.launch() || f.went_on || status == 0) tell(f, false);
  }
  // Why it ended so.
  for (const Failure& f : asked_) {
    if (status > 0) tell(f, true);
  }
  // Data may be there for later, and what is set may be all that is wanted: both at once are a
  // program that forgot what it came for. A launch that failed was to be given them.
  if (read_as_set_ && !failed_ && !broken) {
    for (const auto& [base, buffer] : buffers_) tell_unused(buffer);
    for (const Buffer& buffer : unused_) tell_unused(buffer);
  }
  failures_.clear();
  asked_.clear();
  unused_.clear();
  read_as_set_.reset();
  failed_ = false;
  buffers_.clear();
}

// --- Host memory that the device is at -------------------------------------------------------

void HostCheck::keep(std::vector<Operations::Pending> all, const GlobalMemory& memory) {
  for (Operations::Pending& work : all) {
    const Allocation* const a = memory.find(work.first, 1);
    if (a == nullptr ||
        (a->kind != Allocation::Kind::kPinned && a->kind != Allocation::Kind::kManaged)) {
      continue;
    }
    const auto first = static_cast<std::uintptr_t>(a->base);
    auto known = std::ranges::find(away_, first, &Away::first);
    if (known == away_.end()) {
      away_.push_back({first, static_cast<std::size_t>(a->size), false, {}});
      known = away_.end() - 1;
    }
    known->written |= work.writes;
    known->work.push_back(std::move(work));
  }
  for (const Away& one : away_) {
    mprotect(reinterpret_cast<void*>(one.first), one.bytes, one.written ? PROT_NONE : PROT_READ);
  }
}

void HostCheck::let_go() {
  for (const Away& one : away_) {
    mprotect(reinterpret_cast<void*>(one.first), one.bytes, PROT_READ | PROT_WRITE);
  }
  away_.clear();
}

bool HostCheck::touched(std::uintptr_t address, bool writes, const GlobalMemory& memory) {
  const HostPlace place = HostPlace::here();
  const std::string verb = writes ? "writes" : "reads", line = place.line();
  const std::string story = place.story() + (line.empty() ? "" : ": ");
  const auto found =
      std::ranges::find_if(away_, [&](const Away& one) { return address - one.first < one.bytes; });
  if (found != away_.end()) {
    for (const Operations::Pending& work : found->work) {
      if (address < work.first || address >= work.last || (!work.writes && !writes)) continue;
      findings_.add(
          {.check = "host",
           .what = "the host " + verb + " memory that the device is still at",
           .kernel = work.kernel,
           .places = {line},
           .details = {story + hexadecimal(address),
                       work.what + " in " + work.where + (work.writes ? " writes" : " reads") +
                           " it, and the host hasn't waited for that"}});
    }
    mprotect(reinterpret_cast<void*>(found->first), found->bytes, PROT_READ | PROT_WRITE);
    away_.erase(found);
    return true;
  }
  const Allocation* const a = memory.find(address, 1);
  if (a == nullptr || a->of_host()) return false;
  std::vector<std::string> details = {story + hexadecimal(address) + ", " +
                                      std::to_string(a->size) + " bytes (" + a->what + ")"};
  if (const std::string made = made_at(a->base); !made.empty()) details.push_back(made);
  details.emplace_back("cudaMemcpy brings it to the host");
  findings_.add({.check = "host",
                 .what = "the host " + verb + " device memory",
                 .places = {line},
                 .details = std::move(details)});
  return false;
}

namespace {

struct sigaction segv_before;

/// On the thread that touched it, in the program's own code: outside the runtime's functions, which
/// hold the mutex.
void on_segv(int /*number*/, siginfo_t* info, void* context) {
  Runtime& runtime = Runtime::get();
  bool writes = false;
#if defined(__x86_64__)
  writes = (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  static_cast<void>(context);
#endif
  if (runtime.mutex.try_lock()) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const bool goes_on = runtime.host_touched(address, writes);
    runtime.mutex.unlock();
    if (goes_on) return;
  }
  sigaction(SIGSEGV, &segv_before, nullptr);  // comes again, and is as it would have been
}

}  // namespace

void watch_host_memory() {
  struct sigaction ours {};
  ours.sa_sigaction = on_segv;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &ours, &segv_before);
}

}  // namespace emu
