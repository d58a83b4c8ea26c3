#include "benchsuite/problem.h"
