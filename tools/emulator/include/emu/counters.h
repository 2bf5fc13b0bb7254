/* What the library that stands in for the CUDA runtime tells a program that asks: find these with
 * dlsym, so that a program needs no emulator to be built, and sees by their absence that none is
 * there. Plain C. */
#ifndef EMU_COUNTERS_H
#define EMU_COUNTERS_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct emu_counter {
  const char* name; /* the name of ncu's metric; source__… for what is counted in the PTX */
  const char* unit; /* as ncu prints it, often "" */
  uint64_t value;
};

/* Fills at most `capacity` counters, summed over the launches since the last reset, and returns how
 * many there are. */
int emu_counters(struct emu_counter* counters, int capacity);
/* Launches that ended without a fault since the last reset. */
uint64_t emu_launches(void);
void emu_reset_counters(void);

#ifdef __cplusplus
}
#endif
#endif
