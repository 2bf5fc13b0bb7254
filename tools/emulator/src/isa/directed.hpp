/// \file
/// Rounding down, up and to zero on a host that only rounds to the nearest, such as WebAssembly.
#pragma once
#include "isa/floats.hpp"

namespace emu {

/// What `compute` gives, from the nearest value and the sign of what that misses by.
float compute_from_nearest(Arithmetic what, Rounding mode, float a, float b, float c);
double compute_from_nearest(Arithmetic what, Rounding mode, double a, double b, double c);

}  // namespace emu
