/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "thousands of errors with long names",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: compile_time.
// On cpu: compile_error.
// On cuda: compile_error.
#define NAME a_name_that_nobody_declared_and_that_is_long_enough_to_fill_a_log_
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define ONE int JOIN(flood_, __COUNTER__) = JOIN(NAME, __COUNTER__);
#define TEN ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
THOUSAND THOUSAND

extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {}
