// __half and its functions are built into hiprtc; this adds what CUDA has besides.
#pragma once

typedef __half half;
typedef __half2 half2;
