// HIP's name of the header.
#pragma once

#include "../cooperative_groups.h"
