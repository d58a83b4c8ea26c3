// Under HIP's own name.
#pragma once

#include "../cooperative_groups.h"
