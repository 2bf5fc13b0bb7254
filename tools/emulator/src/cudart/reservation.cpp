#include "cudart/reservation.hpp"

#include <sys/mman.h>

#include "emu/memory.hpp"

namespace emu {
namespace {

constexpr std::size_t kReserved = kGlobalEnd - kSharedWindow;  // the windows as well

}  // namespace

Reservation::Reservation() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a place is asked for by its number
  void* const place = reinterpret_cast<void*>(kSharedWindow);
  void* at = mmap(place, kReserved, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) return;
  if (at == place) {
    reserved_ = at;
  } else {
    munmap(at, kReserved);  // a kernel too old for the flag puts it where it likes
  }
}

Reservation::~Reservation() {
  if (reserved_ != nullptr) munmap(reserved_, kReserved);
}

}  // namespace emu
