#include "verifier/verdict.h"
