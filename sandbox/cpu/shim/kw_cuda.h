// CUDA's device language on the host, or HIP's: what a solution sees without an #include. Put before every solution by
// sandbox/cpu/compiler.cpp. It must be quick to parse: no standard header, nothing that is not device code.
#pragma once

#include "kw_abi.h"
#include "kw_language.h"
#include "kw_locals.h"
#include "kw_prelude.h"
#include "kw_threads.h"
#include "kw_memory.h"
#include "kw_integer.h"
#include "kw_math.h"
#include "kw_atomic.h"
#ifdef KW_HIP
#include "kw_hip.h"
#endif
