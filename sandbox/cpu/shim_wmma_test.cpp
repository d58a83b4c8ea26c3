// nvcuda::wmma against a plain product: every type, shape and layout, exact with small integers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using test::Device;
using testing::HasSubstr;

struct Shape {
  size_t m, n, k;
};
struct Types {
  const char* name;
  const char* operand;  // as wmma names it
  const char* kept;     // as memory has it
  const char* result;
  bool negative;
  std::vector<Shape> shapes;
};
std::ostream& operator<<(std::ostream& out, const Types& types) { return out << types.name; }

const std::vector<Shape> kSixteen = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
const Types kTypes[] = {{"half_to_half", "half", "half", "half", true, kSixteen},
                        {"half_to_float", "half", "half", "float", true, kSixteen},
                        {"bfloat16", "__nv_bfloat16", "__nv_bfloat16", "float", true, kSixteen},
                        {"signed_char", "signed char", "signed char", "int", true, kSixteen},
                        {"unsigned_char", "unsigned char", "unsigned char", "int", false, kSixteen},
                        {"tf32", "wmma::precision::tf32", "float", "float", true, {{16, 16, 8}}},
                        {"real_double", "double", "double", "double", true, {{8, 8, 4}}}};

// d = 2 a b + c by two mma_sync through shared memory, once for each of eight layouts; `d` has one matrix for each.
constexpr const char* kProduct = R"(
#include <mma.h>
using namespace nvcuda;
template <int ROWS, int COLUMNS, typename T>
__device__ void fill(T* to, const float* from, bool column_major, int stride) {
  for (int i = threadIdx.x; i < ROWS * COLUMNS; i += 32) {
    int row = i / COLUMNS, column = i % COLUMNS;
    to[column_major ? column * stride + row : row * stride + column] = static_cast<T>(from[i]);
  }
}
template <typename Layout> constexpr bool is_column = false;
template <> constexpr bool is_column<wmma::col_major> = true;

template <int M, int N, int K, typename A, typename B>
__device__ void run(const float* a, const float* b, const float* c, float* d, bool column) {
  constexpr int PAD = 48;
  __shared__ __align__(32) KEPT left[32 * PAD], right[32 * PAD];
  __shared__ __align__(32) RESULT sum[32 * PAD];
  fill<M, K>(left, a, is_column<A>, PAD);
  fill<K, N>(right, b, is_column<B>, PAD);
  fill<M, N>(sum, c, column, PAD);
  __syncthreads();
  wmma::fragment<wmma::matrix_a, M, N, K, OPERAND, A> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, OPERAND, B> fb;
  wmma::fragment<wmma::accumulator, M, N, K, RESULT> fc, fd;
  static_assert(fa.num_elements * 32 == M * K && fc.num_elements * 32 == M * N, "");
  wmma::load_matrix_sync(fa, left, PAD);
  wmma::load_matrix_sync(fb, right, PAD);
  wmma::load_matrix_sync(fc, sum, PAD, column ? wmma::mem_col_major : wmma::mem_row_major);
  wmma::mma_sync(fd, fa, fb, fc);
  wmma::mma_sync(fd, fa, fb, fd);
  __syncthreads();
  wmma::store_matrix_sync(sum, fd, PAD, column ? wmma::mem_row_major : wmma::mem_col_major);
  __syncthreads();
  for (int i = threadIdx.x; i < M * N; i += 32)
    d[i] = static_cast<float>(sum[column ? i / N * PAD + i % N : i % N * PAD + i / N]);
  __syncthreads();
}
template <int M, int N, int K>
__device__ void all(const float* a, const float* b, const float* c, float* d) {
  for (int column = 0; column < 2; ++column, d += 4 * M * N) {
    run<M, N, K, wmma::row_major, wmma::row_major>(a, b, c, d, column);
    run<M, N, K, wmma::row_major, wmma::col_major>(a, b, c, d + M * N, column);
    run<M, N, K, wmma::col_major, wmma::row_major>(a, b, c, d + 2 * M * N, column);
    run<M, N, K, wmma::col_major, wmma::col_major>(a, b, c, d + 3 * M * N, column);
  }
}
)";

std::string kernel_name(const Shape& shape) {
  return "k" + std::to_string(shape.m) + "_" + std::to_string(shape.n) + "_" + std::to_string(shape.k);
}

std::string product_source(const Types& types) {
  std::string source = std::string("#define OPERAND ") + types.operand + "\n#define KEPT " + types.kept +
                       "\n#define RESULT " + types.result + "\n" + kProduct;
  for (const Shape& shape : types.shapes) {
    source += "extern \"C\" __global__ void " + kernel_name(shape) +
              "(const float* a, const float* b, const float* c, float* d) { all<" + std::to_string(shape.m) + ", " +
              std::to_string(shape.n) + ", " + std::to_string(shape.k) + ">(a, b, c, d); }\n";
  }
  return source;
}

void expect_product(Device& device, const Types& types, const Shape& shape, float* a, float* b, float* c,
                    const float* d) {
  const auto [m, n, k] = shape;
  const float least = types.negative ? -3 : 0;
  for (size_t i = 0; i < m * k; ++i) a[i] = static_cast<float>(i * 5 % 7) + least;
  for (size_t i = 0; i < k * n; ++i) b[i] = static_cast<float>(i * 3 % 5) + least;
  for (size_t i = 0; i < m * n; ++i) c[i] = static_cast<float>(i % 100);
  const auto fault = device.launch(kernel_name(shape), 1, 32, runtime::Order::seeded);
  ASSERT_FALSE(fault) << fault->describe();
  for (size_t i = 0; i < m * n; ++i) {
    float expected = c[i];
    for (size_t j = 0; j < k; ++j) expected += 2 * a[i / n * k + j] * b[j * n + i % n];
    for (size_t layout = 0; layout < 8; ++layout) {
      ASSERT_EQ(d[layout * m * n + i], expected) << "layout " << layout << ", row " << i / n << ", column " << i % n;
    }
  }
}

class WmmaTest : public testing::TestWithParam<Types> {};

TEST_P(WmmaTest, MultipliesExactly) {
  Device device(product_source(GetParam()));
  float* a = device.add_floats("a", 512);
  float* b = device.add_floats("b", 512);
  float* c = device.add_floats("c", 256);
  const float* d = device.add_floats("d", 8 * 256);
  for (const Shape& shape : GetParam().shapes) {
    SCOPED_TRACE(kernel_name(shape));
    expect_product(device, GetParam(), shape, a, b, c, d);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, WmmaTest, testing::ValuesIn(kTypes),
                         [](const auto& types) { return types.param.name; });

TEST(ShimWmma, TheCheckingBuildAgreesAndFindsNothing) {
  const Types types{"", "half", "half", "float", true, {{32, 8, 16}}};
  Device device(product_source(types), Build::check);
  float* a = device.add_floats("a", 512);
  float* b = device.add_floats("b", 512);
  float* c = device.add_floats("c", 256);
  const float* d = device.add_floats("d", 8 * 256);
  expect_product(device, types, types.shapes[0], a, b, c, d);
}

// A product of 48 x 48 matrices by 9 warps, scaled through the fragments' elements.
TEST(ShimWmma, FragmentsAreElementsToo) {
  Device device(R"(
    #include <mma.h>
    namespace wmma = nvcuda::wmma;
    extern "C" __global__ void k(const float* a, const float* b, float* c) {
      __shared__ __align__(32) half left[48 * 48], right[48 * 48];
      for (int i = threadIdx.x; i < 48 * 48; i += blockDim.x) left[i] = __float2half(a[i]), right[i] = __float2half(b[i]);
      __syncthreads();
      const int warp = threadIdx.x / 32, row = warp / 3 * 16, column = warp % 3 * 16;
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
      wmma::fill_fragment(sum, 0.5f);
      for (int k = 0; k < 48; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, left + row * 48 + k, 48);
        wmma::load_matrix_sync(fb, right + k * 48 + column, 48);
        wmma::mma_sync(sum, fa, fb, sum);
      }
      for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;
      wmma::store_matrix_sync(c + row * 48 + column, sum, 48, wmma::mem_row_major);
    })",
                Build::check);
  float* a = device.add_floats("a", 48 * 48);
  float* b = device.add_floats("b", 48 * 48);
  const float* c = device.add_floats("c", 48 * 48);
  for (int i = 0; i < 48 * 48; ++i) {
    a[i] = static_cast<float>(i % 7 - 3);
    b[i] = static_cast<float>(i % 11 - 5);
  }
  const auto fault = device.launch("k", 1, 9 * 32, runtime::Order::seeded);
  ASSERT_FALSE(fault) << fault->describe();
  for (int i = 0; i < 48 * 48; ++i) {
    float expected = 1;
    for (int k = 0; k < 48; ++k) expected += 2 * a[i / 48 * 48 + k] * b[k * 48 + i % 48];
    ASSERT_EQ(c[i], expected) << i;
  }
}

TEST(ShimWmma, RoundsAsTheTypesSay) {
  Device device(R"(
    #include <mma.h>
    using namespace nvcuda;
    extern "C" __global__ void k(float* out) {
      wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
      wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
      wmma::fill_fragment(c, 0.0f);
      wmma::fill_fragment(b, 0.125f);
      wmma::fill_fragment(a, 1 + 0x1p-11f);   // not rounded to tf32: the device takes the upper bits
      wmma::mma_sync(c, a, b, c);
      if (threadIdx.x == 0) out[0] = c.x[0];
      wmma::fill_fragment(c, 0.0f);
      wmma::fill_fragment(a, wmma::__float_to_tf32(1 + 0x1p-11f));
      wmma::mma_sync(c, a, b, c);
      if (threadIdx.x == 0) out[1] = c.x[0];
      wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> p;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> q;
      wmma::fragment<wmma::accumulator, 16, 16, 16, int> s, t;
      wmma::fill_fragment(p, 100);
      wmma::fill_fragment(q, 100);
      wmma::fill_fragment(s, INT_MAX - 5);
      wmma::mma_sync(t, p, q, s, true);
      if (threadIdx.x == 0) out[2] = t.x[0] == INT_MAX;
      wmma::mma_sync(t, p, q, s);
      if (threadIdx.x == 0) out[3] = t.x[0] == INT_MIN + 160000 - 6;
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> g;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> h;
      wmma::fragment<wmma::accumulator, 16, 16, 16, half> u;
      wmma::fill_fragment(g, __float2half(1.0f));
      wmma::fill_fragment(h, __float2half(0.5f));
      wmma::fill_fragment(u, __float2half(2048.0f));
      wmma::mma_sync(u, g, h, u);
      if (threadIdx.x == 0) out[4] = __half2float(u.x[0]);
    })");
  const float* out = device.add_floats("out", 5);
  const auto fault = device.launch("k", 1, 32);
  ASSERT_FALSE(fault) << fault->describe();
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 1 + 0x1p-10f);
  EXPECT_EQ(out[2], 1);
  EXPECT_EQ(out[3], 1);
  EXPECT_EQ(out[4], 2056);
}

TEST(ShimWmma, FaultsAreReportedAtTheirLines) {
  struct Planted {
    const char* statement;
    int64_t threads;
    FaultKind kind;
    const char* message;
  };
  for (const Planted& planted :
       {Planted{"wmma::load_matrix_sync(c, data + 16, 16, wmma::mem_row_major);", 32, FaultKind::out_of_bounds,
                "reads "},
        Planted{"wmma::load_matrix_sync(c, data + 16, 16, wmma::mem_col_major);", 32, FaultKind::out_of_bounds,
                "reads "},
        Planted{"wmma::load_matrix_sync(a, (half*)data, 48);", 32, FaultKind::out_of_bounds, "reads "},
        Planted{"wmma::store_matrix_sync(data, c, 20, wmma::mem_row_major);", 32, FaultKind::out_of_bounds, "writes "},
        Planted{"wmma::store_matrix_sync(place, c, 16, wmma::mem_row_major);", 32, FaultKind::out_of_bounds, "writes "},
        Planted{"wmma::load_matrix_sync(c, data + 1, 16, wmma::mem_row_major);", 32, FaultKind::trap,
                "multiples of 16 bytes"},
        Planted{"wmma::store_matrix_sync(data, c, 17, wmma::mem_row_major);", 32, FaultKind::trap,
                "multiples of 16 bytes"},
        Planted{"wmma::mma_sync(c, a, b, c);", 24, FaultKind::trap, "mma_sync: some of the warp's 32 threads"}}) {
    Device device(
        std::string(R"(#include <mma.h>
      using namespace nvcuda;
      extern "C" __global__ void k(float* data) {
        __shared__ __align__(32) float shared[256];
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
        wmma::fill_fragment(a, __float2half(0)), wmma::fill_fragment(b, a.x[0]), wmma::fill_fragment(c, 0.0f);
        float* volatile place = shared + 8; if (threadIdx.x == 0) shared[0] = 0;
        )") +
            planted.statement +
            "\n data[threadIdx.x] = c.x[0] + __half2float(a.x[0]); if (threadIdx.x == 0) data[0] = shared[0]; }",
        Build::check);
    device.add_floats("data", 256);
    const auto fault = device.launch("k", 1, planted.threads);
    ASSERT_TRUE(fault) << planted.statement;
    EXPECT_EQ(fault->kind, planted.kind) << fault->describe();
    EXPECT_THAT(fault->message, HasSubstr(planted.message)) << planted.statement;
    EXPECT_EQ(fault->line, 10) << fault->describe();
  }
}

// g++ keeps a flag beside such arrays, since __half has constructors.
TEST(ShimWmma, ArraysOfHalvesTakeTheirOwnBytesOnly) {
  EXPECT_EQ(test::built(R"(
    #include <mma.h>
    extern "C" __global__ void k(float* out) {
      __shared__ half tile[16];
      __shared__ __nv_bfloat16 other[24];
      tile[threadIdx.x] = __float2half(out[threadIdx.x]);
      other[threadIdx.x] = __float2bfloat16(out[threadIdx.x]);
      __syncthreads();
      out[threadIdx.x] = __half2float(tile[15 - threadIdx.x]) + __bfloat162float(other[15 - threadIdx.x]);
    })")
                .shared_bytes,
            80);
}

TEST(ShimWmma, ShapesThatDoNotExistAreErrors) {
  for (const char* declaration :
       {"wmma::fragment<wmma::matrix_a, 16, 16, 32, half, wmma::row_major> a;",
        "wmma::fragment<wmma::matrix_b, 16, 16, 16, wmma::precision::tf32, wmma::row_major> a;",
        "wmma::fragment<wmma::matrix_b, 16, 16, 16, float, wmma::row_major> a;",
        "wmma::fragment<wmma::accumulator, 16, 16, 16, __nv_bfloat16> a;"}) {
    const Compilation compilation =
        test::compile_text(std::string("#include <mma.h>\nusing namespace nvcuda;\nextern \"C\" __global__ void "
                                       "k(float* o) {\n  ") +
                           declaration + " o[0] = a.num_elements; }");
    const auto* rejected = std::get_if<Rejected>(&compilation);
    ASSERT_NE(rejected, nullptr) << declaration;
    EXPECT_EQ(rejected->reason, Rejection::compile_error) << rejected->log;
    EXPECT_THAT(rejected->message, HasSubstr("no fragment of this shape and type"));
    EXPECT_EQ(rejected->line, 4) << rejected->log;
  }
}

}  // namespace
}  // namespace sandbox::cpu
