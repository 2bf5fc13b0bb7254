/// \file
/// The device's addresses, kept free on the host.
#pragma once

namespace emu {

/// While it lives no host address is a device's: their range is reserved, with nothing behind it.
/// Where that is refused (a limit on address space, say) all works as well, but for the improbable
/// host pointer that looks like a device's.
class Reservation {
 public:
  Reservation();
  ~Reservation();
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

 private:
  void* reserved_ = nullptr;
};

}  // namespace emu
