/* kernelwright
{
  "problem": "top_p_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block per row, bisection for two thresholds at a time",
  "launches": [
    {"kernel": "top_p", "grid": ["M", 1, 1], "block": ["min(128, ceil_div(N, 64))", 1, 1],
     "args": ["probs", "top_p", "u", "tokens", "N"]}
  ]
}
*/
// tokens[m]: the first right token of row m in the low 32 bits, the last right one in the high 32 bits.
// probs: [M, N] row-major; top_p, u, tokens: [M].
//
// A solution rounds its sums, so it may find another nucleus and another place in it. Let T be the sum of the row, A
// the nucleus for top_p * (1 - eps) and B the one for top_p * (1 + eps). A solution's nucleus X satisfies top_p with
// sums that are off by less than eps / 2 of themselves, so A <= X <= B as sets. Unless X is B, its sum is below
// top_p * (1 + eps) * T, while that of A is at least top_p * (1 - eps) * T: all that X has beyond A adds up to less
// than 2 * eps * T. So at each column the running sum of X is that of A or up to 2 * eps * T more, and so is its sum S.
// With another 2 * eps * T for the rounding of running sums, X crosses u * S within these bounds:
//   - not before the first column at which A's running sum exceeds u * S_A - 4 * eps * T,
//   - not behind the first column at which A's running sum exceeds u * S_A + 4 * eps * T.
// If X is B, the same holds with B for A. X takes only columns of B, so columns of B are what counts in both cases; if
// no running sum exceeds the bound, the token may be as late as B's last column.
constexpr int kMostThreads = 128;
constexpr double kEps = 1.0 / 262144;  // 2^-18

// The sums of all threads' values, in each thread.
__device__ double2 sum_of_block(double2 own, double2* parts) {
  parts[threadIdx.x] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < (int)blockDim.x; ++i) {
      parts[0].x += parts[i].x;
      parts[0].y += parts[i].y;
    }
  }
  __syncthreads();
  const double2 sum = parts[0];
  __syncthreads();
  return sum;
}

extern "C" __global__ void top_p(const float* probs, const float* top_p, const float* u, long long* tokens, int N) {
  __shared__ double2 parts[kMostThreads];
  __shared__ int low, high_a, high_b, last;
  const int threads = blockDim.x;
  const float* row = probs + (size_t)blockIdx.x * N;
  const double2 zero = {0.0, 0.0};
  double2 own = zero;
  for (int n = threadIdx.x; n < N; n += threads) {
    own.x += row[n];
    own.y = fmax(own.y, (double)row[n]);
  }
  parts[threadIdx.x] = own;
  __syncthreads();
  double largest = 0;
  for (int i = 0; i < threads; ++i) largest = fmax(largest, parts[i].y);
  __syncthreads();
  const double total = sum_of_block(own, parts).x;

  // Floats of 0 and more are in the order of their bits. The elements from a on suffice for A, those from a_end on do
  // not, or a is 0 and A the whole row; the same with b for B.
  unsigned a = 0, a_end = __float_as_uint((float)largest) + 1, b = 0, b_end = a_end;
  const double goal_a = top_p[blockIdx.x] * (1 - kEps) * total, goal_b = top_p[blockIdx.x] * (1 + kEps) * total;
  while (a_end - a > 1 || b_end - b > 1) {
    const unsigned middle_a = a + (a_end - a) / 2, middle_b = b + (b_end - b) / 2;
    const float least_a = __uint_as_float(middle_a), least_b = __uint_as_float(middle_b);
    own = zero;
    for (int n = threadIdx.x; n < N; n += threads) {
      if (row[n] >= least_a) own.x += row[n];
      if (row[n] >= least_b) own.y += row[n];
    }
    const double2 sum = sum_of_block(own, parts);
    if (a_end - a > 1) (sum.x >= goal_a ? a : a_end) = middle_a;
    if (b_end - b > 1) (sum.y >= goal_b ? b : b_end) = middle_b;
  }

  // Each thread takes a piece of the row.
  const float least_a = __uint_as_float(a), least_b = __uint_as_float(b);
  const int piece = (N + threads - 1) / threads;
  const int begin = min(N, (int)threadIdx.x * piece), end = min(N, begin + piece);
  own = zero;
  for (int n = begin; n < end; ++n) {
    if (row[n] >= least_a) own.x += row[n];
    if (row[n] >= least_b) own.y += row[n];
  }
  if (threadIdx.x == 0) {
    low = high_a = high_b = N;
    last = 0;
  }
  parts[threadIdx.x] = own;
  __syncthreads();
  double2 sum = zero, run = zero;  // of the row, and of the pieces before this one
  for (int i = 0; i < threads; ++i) {
    sum.x += parts[i].x;
    sum.y += parts[i].y;
    if (i < (int)threadIdx.x) run = sum;
  }
  const double slack = 4 * kEps * total, goal_of_a = u[blockIdx.x] * sum.x, goal_of_b = u[blockIdx.x] * sum.y;
  int own_low = N, own_high_a = N, own_high_b = N, own_last = 0;
  for (int n = begin; n < end; ++n) {
    if (row[n] < least_b) continue;
    if (row[n] >= least_a) run.x += row[n];
    run.y += row[n];
    own_last = n;
    if (own_low == N && (run.x > goal_of_a - slack || run.y > goal_of_b - slack)) own_low = n;
    if (own_high_a == N && run.x > goal_of_a + slack) own_high_a = n;
    if (own_high_b == N && run.y > goal_of_b + slack) own_high_b = n;
  }
  atomicMin(&low, own_low);
  atomicMin(&high_a, own_high_a);
  atomicMin(&high_b, own_high_b);
  atomicMax(&last, own_last);
  __syncthreads();
  if (threadIdx.x > 0) return;
  const int high = max(min(high_a, last), min(high_b, last));
  tokens[blockIdx.x] = (long long)min(low, last) | (long long)high << 32;
}
