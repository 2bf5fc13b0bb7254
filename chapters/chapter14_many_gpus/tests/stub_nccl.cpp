// A stand-in for libnccl.so.2 that does what a test asks of it by STUB_NCCL: adds as NCCL would
// (nothing asked), or fails, or never ends. Ranks meet in the folder STUB_NCCL_FOLDER, by files, so
// that they can be processes. What is called is noted in its file `calls`.
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

enum Result { kSuccess = 0, kCudaError = 1, kSystemError = 2, kRemoteError = 6, kInProgress = 7 };

bool asked(const char* what) {
  const char* text = std::getenv("STUB_NCCL");
  return text != nullptr && std::strcmp(text, what) == 0;
}

fs::path folder() {
  return std::getenv("STUB_NCCL_FOLDER");
}

void note(const std::string& call) {
  std::ofstream(folder() / "calls", std::ios::app) << call + "\n";
}

bool in_group = false;

/// A call that waits for other ranks.
struct Pending {
  const void* from;
  void* to;
  std::size_t count;
  int root;  // -1 for all
  bool written = false;
};

}  // namespace

struct ncclComm {
  std::string id;
  int rank, size;
  unsigned done = 0;  // calls
  std::vector<Pending> pending;

  fs::path file(int of) const {
    return folder() / (id + "." + std::to_string(done) + "." + std::to_string(of));
  }
  /// Does what can be done of the first call; false where another rank isn't there.
  bool proceed() {
    Pending& p = pending.front();
    const std::size_t bytes = p.count * sizeof(std::uint64_t);
    std::vector<std::uint64_t> words(p.count), sum(p.count);
    if (!p.written) {
      if (cudaMemcpy(words.data(), p.from, bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
        std::abort();
      const fs::path draft = file(rank).string() + ".part";
      std::ofstream(draft, std::ios::binary)
          .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(bytes));
      fs::rename(draft, file(rank));
      p.written = true;
    }
    for (int r = 0; r < size; ++r) {
      if (!fs::exists(file(r))) return false;
    }
    for (int r = 0; r < size; ++r) {
      std::ifstream(file(r), std::ios::binary)
          .read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(bytes));
      if (asked("forgets") && r == size - 1) continue;
      for (std::size_t k = 0; k < p.count; ++k) sum[k] += words[k];
    }
    if (p.root < 0 || p.root == rank) {
      if (cudaMemcpy(p.to, sum.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess) std::abort();
    }
    pending.erase(pending.begin());
    ++done;
    return true;
  }
};

extern "C" {

struct ncclUniqueId {
  char internal[128];
};

int ncclGetVersion(int* version) {
  *version = asked("old") ? 2700 : 22703;
  return kSuccess;
}
const char* ncclGetErrorString(int result) {
  return result == kRemoteError ? "remote process exited or there was a network error"
                                : "unhandled system error";
}
const char* ncclGetLastError(ncclComm*) {
  return "as the test asked";
}
int ncclGetUniqueId(ncclUniqueId* id) {
  static int made = 0;
  note("multicast " + std::string(std::getenv("NCCL_NVLS_ENABLE")));
  const std::string name = std::to_string(getpid()) + "-" + std::to_string(made++);
  std::strncpy(id->internal, name.c_str(), sizeof id->internal);
  return kSuccess;
}
int ncclCommInitRankConfig(ncclComm** comm, int size, ncclUniqueId id, int rank, void* config) {
  int blocking = 0;
  std::memcpy(&blocking, static_cast<const char*>(config) + 16, sizeof blocking);
  note("init " + std::to_string(rank) + " of " + std::to_string(size) +
       (blocking != 0 ? " blocking" : ""));
  if (asked("init-fails") || (asked("init-of-1-fails") && rank == 1)) return kSystemError;
  *comm = new ncclComm{.id = id.internal, .rank = rank, .size = size, .pending = {}};
  return kInProgress;
}
int ncclCommGetAsyncError(ncclComm* comm, int* state) {
  *state = kSuccess;
  if (asked("init-hangs")) *state = kInProgress;
  if (!comm->pending.empty()) {
    if (asked("call-hangs")) {
      *state = kInProgress;
    } else if (asked("remote-error")) {
      *state = kRemoteError;
    } else if (!comm->proceed()) {
      *state = kInProgress;
    }
  }
  return kSuccess;
}
int ncclCommAbort(ncclComm* comm) {
  note("abort " + std::to_string(comm->rank) + (in_group ? " inside a group" : ""));
  delete comm;
  return kSuccess;
}
int ncclReduce(const void* from, void* to, std::size_t count, int, int, int root, ncclComm* comm,
               cudaStream_t) {
  if (asked("call-fails")) return kCudaError;
  comm->pending.push_back({from, to, count, root});
  return kSuccess;
}
int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int op, ncclComm* comm,
                  cudaStream_t stream) {
  return ncclReduce(from, to, count, type, op, -1, comm, stream);
}
int ncclGroupStart() {
  in_group = true;
  return kSuccess;
}
int ncclGroupEnd() {
  in_group = false;
  return kInProgress;
}

}  // extern "C"
