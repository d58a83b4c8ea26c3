#include "verifier/measurement.h"
