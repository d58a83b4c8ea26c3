// What device code takes from the driver's header: tensor maps, as kernel parameters whose address TMA gets.
#pragma once

struct __attribute__((aligned(64))) CUtensorMap {
  unsigned long long opaque[16];
};
