#include "print_ptx.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "containers.hpp"
#include "cudart/profile.hpp"
#include "elf.hpp"
#include "stop.hpp"

namespace emu {

int print_ptx(const std::string& profile_key, const std::string& path) {
  const Elf program(path);
  if (!program.good()) throw Stop(kBadArgument, path + ": not a program for this machine");
  const auto profile = find_profile(profile_key);
  bool any = false;
  for (const char* section : {".nv_fatbin", "__nv_relfatbin"}) {
    for (const auto& container : containers(program.section(section))) {
      const auto best = best_ptx(container, profile->architecture());
      if (!best) continue;
      const std::string text = ptx_text(*best);
      any = true;
      std::fwrite(text.data(), 1, text.size(), stdout);
      if (!text.ends_with('\n')) std::fputc('\n', stdout);
    }
  }
  if (!any) {
    throw Stop(kNotAvailable, path + ": holds no PTX for " +
                                  std::to_string(profile->architecture()) + " or lower");
  }
  if (std::fflush(stdout) != 0) {
    throw Stop(kBadArgument, std::string("--print-ptx: can't be written: ") + std::strerror(errno));
  }
  return 0;
}

}  // namespace emu
