// Kernels may include it; hiprtc has built in what it declares for them.
#pragma once
