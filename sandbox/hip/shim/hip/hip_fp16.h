// Under HIP's own name.
#pragma once

#include "../cuda_fp16.h"
