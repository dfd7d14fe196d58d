// How weights lie in memory for products.cpp: blocks of COLUMNS output channels, (taps, channels /
// GROUP) groups each, of GROUP input channels of all columns side by side.
#pragma once

#include "lanes.h"

namespace taq {

constexpr int COLUMNS = 2 * LANES;
constexpr int STEP = GROUP * COLUMNS;  // codes of a group
constexpr int HALF = STEP / 2;         // those of a register

// Bytes of a group: of two 4-bit codes in a byte the lower is of one of the first LANES columns, the
// upper of the column LANES further.
inline int group_bytes(int bits) { return STEP * bits / 8; }

}  // namespace taq
