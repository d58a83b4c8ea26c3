// Tensor elements as doubles, whatever their dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtype.h"

namespace verifier::draws {

// Element `index` of a tensor's bytes. Exact for every dtype up to 53 bits.
double load_element(core::DType dtype, std::span<const std::byte> bytes, size_t index);
std::vector<double> load_elements(core::DType dtype, std::span<const std::byte> bytes);
// The same into `values`, whose memory serves again.
void load_elements(core::DType dtype, std::span<const std::byte> bytes, std::vector<double>& values);
// Rounds to nearest even; integers must be in range. What overflows becomes infinite; f8e4m3 has no infinity: it
// becomes NaN, as in PyTorch's conversions and CUDA's that do not saturate.
void store_element(core::DType dtype, std::span<std::byte> bytes, size_t index, double value);

// As storing it and loading it again would.
double rounded_to(core::DType dtype, double value);

// The distance between neighbouring numbers of the dtype at this magnitude (never below the least denormal). 0 for
// integers.
double ulp_at(core::DType dtype, double value);

// These four are of a floating dtype.
double largest_of(core::DType dtype);     // finite number
double overflow_of(core::DType dtype);    // the magnitude from where on rounding overflows, to within 1 %
double least_normal(core::DType dtype);   // positive number
int significand_bits(core::DType dtype);  // the hidden one included

uint16_t to_f16(double value);  // round to nearest even, in one step
double from_f16(uint16_t bits);

}  // namespace verifier::draws
