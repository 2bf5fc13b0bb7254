/* Asks the library that stands in for the CUDA runtime to be several devices: find this with dlsym, so
 * that a program needs no emulator to be built. Plain C. */
#ifndef EMU_DEVICES_H
#define EMU_DEVICES_H

#ifdef __cplusplus
extern "C" {
#endif

/* From here on there are so many devices, from 1 to 64, unless the variable EMU_DEVICES has said how
 * many; returns how many there are. Devices that a program has used must stay. */
int emu_show_devices(int count);

#ifdef __cplusplus
}
#endif
#endif
