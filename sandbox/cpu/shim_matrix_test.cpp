// PTX instructions of matrices against plain loops, with the layouts of fragments as the PTX manual has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "core/text.h"
#include "sandbox/cpu/compiler/ptx_instructions.h"
#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using test::Device;
using testing::HasSubstr;

// ---- mma

// Small integers, which each format has exactly: their bits, and those of sums.
uint32_t bits_of(const std::string& format, int value) {
  const float number = static_cast<float>(value);
  if (format == "f16") {
    return value == 0 ? 0
                      : ((value < 0 ? 0x8000u : 0) | static_cast<uint32_t>(std::ilogb(std::abs(number)) + 15) << 10 |
                         ((std::bit_cast<uint32_t>(number) >> 13) & 0x3ff));
  }
  if (format == "bf16") return std::bit_cast<uint32_t>(number) >> 16;
  if (format == "tf32" || format == "f32") return std::bit_cast<uint32_t>(number);
  if (format == "s8" || format == "u8") return static_cast<uint32_t>(value) & 0xff;
  if (format == "s32") return static_cast<uint32_t>(value);
  const int mantissa = format == "e4m3" ? 3 : 2, bias = format == "e4m3" ? 7 : 15;
  return value == 0
             ? 0
             : ((value < 0 ? 0x80u : 0) | static_cast<uint32_t>(std::ilogb(std::abs(number)) + bias) << mantissa |
                ((std::bit_cast<uint32_t>(number) >> (23 - mantissa)) & ((1u << mantissa) - 1)));
}
int size_of(const std::string& format) {
  if (format == "f32" || format == "s32" || format == "tf32") return 4;
  return format == "f16" || format == "bf16" ? 2 : 1;
}

// One mma instruction; its matrices, and where each element of a lane lies, by the tables of the manual.
struct Mma {
  explicit Mma(const std::string& instruction) : name(instruction) {
    const std::vector<std::string> parts = core::split(name, '.');
    k = std::stoi(parts[3].substr(parts[3].find('k') + 1));
    of_c = parts.back(), of_b = parts[parts.size() - 2], of_a = parts[parts.size() - 3];
    saturates = name.find("satfinite") != name.npos;
  }
  int a_elements() const { return 16 * k / 32; }
  int b_elements() const { return k * 8 / 32; }
  int words(const std::string& format, int elements) const { return elements * size_of(format) / 4; }

  std::pair<int, int> a_place(int lane, int i) const {  // row, column
    const int group = lane / 4, in_group = lane % 4, size = size_of(of_a);
    if (size == 4) return {group + (i % 2 == 0 ? 0 : 8), in_group + (i < 2 ? 0 : 4)};
    if (size == 2) return {group + ((i & 2) == 0 ? 0 : 8), in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)};
    return {group + ((i & 4) == 0 ? 0 : 8), in_group * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  }
  std::pair<int, int> b_place(int lane, int i) const {
    const int group = lane / 4, in_group = lane % 4, size = size_of(of_b);
    if (size == 4) return {in_group + (i == 0 ? 0 : 4), group};
    if (size == 2) return {in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
    return {in_group * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
  }
  static std::pair<int, int> c_place(int lane, int i) { return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)}; }

  std::string name, of_a, of_b, of_c;
  int k;
  bool saturates;
};

std::string kernel_name(std::string instruction) {
  std::ranges::replace(instruction, '.', '_');
  return instruction;
}

// A kernel that loads each lane's words from in[lane * (a + b + c)] on, and stores those of d.
std::string kernel_of(const Mma& mma) {
  const int a = mma.words(mma.of_a, mma.a_elements()), b = mma.words(mma.of_b, mma.b_elements()),
            c = mma.words(mma.of_c, 4);
  const auto list = [](int first, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i > 0 ? ", %" : "%") + std::to_string(first + i);
    return text + "}";
  };
  const bool floats = mma.of_c == "f32";
  std::string outputs, inputs;
  for (int i = 0; i < c; ++i)
    outputs += std::string(i > 0 ? ", " : "") + (floats ? "\"=f\"" : "\"=r\"") + "(d[" + std::to_string(i) + "])";
  for (int i = 0; i < a + b; ++i) inputs += (i > 0 ? ", \"r\"(in[" : "\"r\"(in[") + std::to_string(i) + "])";
  for (int i = 0; i < c; ++i)
    inputs += std::string(floats ? ", \"f\"(__uint_as_float(in[" : ", \"r\"((in[") + std::to_string(a + b + i) + "]))";
  return "extern \"C\" __global__ void " + kernel_name(mma.name) + "(const unsigned* in, unsigned* out) {\n" +
         std::string(floats ? "float" : "unsigned") + " d[" + std::to_string(c) + "]; in += threadIdx.x * " +
         std::to_string(a + b + c) + ";\nasm volatile(\"" + mma.name + " " + list(0, c) + ", " + list(c, a) + ", " +
         list(c + a, b) + ", " + list(c + a + b, c) + ";\" : " + outputs + " : " + inputs + ");\nfor (int i = 0; i < " +
         std::to_string(c) + "; ++i) out[threadIdx.x * " + std::to_string(c) +
         " + i] = " + (floats ? "__float_as_uint(d[i])" : "d[i]") + ";\n}";
}

// All lanes' elements of one matrix, packed into words.
std::vector<uint32_t> packed(const std::string& format, int elements,
                             const std::function<int(int lane, int i)>& value) {
  const int per_word = 4 / size_of(format), words = elements / per_word;
  std::vector<uint32_t> all(static_cast<size_t>(32 * words));
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < elements; ++i) {
      all[static_cast<size_t>(lane * words + i / per_word)] |= bits_of(format, value(lane, i))
                                                               << (32 / per_word * (i % per_word));
    }
  }
  return all;
}

// Every mma instruction in one module.
class MmaDevice {
 public:
  explicit MmaDevice(Build build) : device_(source(), build) {
    in_ = device_.add_floats("in", 32 * 10);
    out_ = device_.add_floats("out", 32 * 4);
  }
  static std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const std::string& name : compiler::ptx_instructions()) {
      if (name.starts_with("mma.")) found.push_back(name);
    }
    return found;
  }

  // Of all lanes' words of a, b and c, lane by lane; what it returns are those of d.
  const float* run(const Mma& mma, const std::vector<std::vector<uint32_t>>& matrices) {
    float* in = in_;
    for (size_t lane = 0; lane < 32; ++lane) {
      for (const std::vector<uint32_t>& words : matrices) {
        const size_t count = words.size() / 32;
        std::memcpy(in, words.data() + lane * count, count * sizeof(uint32_t));
        in += count;
      }
    }
    const auto fault = device_.launch(kernel_name(mma.name), 1, 32, runtime::Order::seeded);
    EXPECT_FALSE(fault) << fault->describe();
    return out_;
  }

 private:
  static std::string source() {
    std::string text;
    for (const std::string& name : names()) text += kernel_of(Mma(name)) + "\n";
    return text;
  }
  Device device_;
  float *in_, *out_;
};

void expect_product(MmaDevice& device, const Mma& mma, int start) {
  std::mt19937 random(static_cast<unsigned>(mma.k));
  const bool bytes = size_of(mma.of_a) == 1 && mma.of_a[0] != 'e';
  const auto draw = [&](const std::string& format) {
    if (!bytes) return static_cast<int>(random() % 9) - 4;
    return static_cast<int>(random() % 256) - (format == "s8" ? 128 : 0);
  };
  std::vector<std::vector<int>> a(16, std::vector<int>(static_cast<size_t>(mma.k))), c(16, std::vector<int>(8));
  std::vector<std::vector<int>> b(static_cast<size_t>(mma.k), std::vector<int>(8));
  for (auto& row : a) {
    for (int& x : row) x = draw(mma.of_a);
  }
  for (auto& row : b) {
    for (int& x : row) x = draw(mma.of_b);
  }
  for (auto& row : c) {
    for (int& x : row) {
      x = static_cast<int>(
          std::clamp<int64_t>(int64_t{start} + static_cast<int>(random() % 7) - 3, INT32_MIN, INT32_MAX));
    }
  }
  const auto at = [](const std::vector<std::vector<int>>& matrix, std::pair<int, int> place) {
    return matrix.at(static_cast<size_t>(place.first)).at(static_cast<size_t>(place.second));
  };
  const auto words_a = packed(mma.of_a, mma.a_elements(), [&](int lane, int i) { return at(a, mma.a_place(lane, i)); });
  const auto words_b = packed(mma.of_b, mma.b_elements(), [&](int lane, int i) { return at(b, mma.b_place(lane, i)); });
  const auto words_c = packed(mma.of_c, 4, [&](int lane, int i) { return at(c, Mma::c_place(lane, i)); });
  const auto expected = packed(mma.of_c, 4, [&](int lane, int i) {
    const auto [row, column] = Mma::c_place(lane, i);
    int64_t sum = at(c, {row, column});
    for (int k = 0; k < mma.k; ++k) sum += at(a, {row, k}) * at(b, {k, column});
    if (mma.saturates) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<int>(sum);
  });
  const float* out = device.run(mma, {words_a, words_b, words_c});
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), expected[i]) << mma.name << ", word " << i;
  }
}

TEST(ShimMatrix, MultipliesAsTheManualSays) {
  EXPECT_GE(MmaDevice::names().size(), 26u);
  for (const Build build : {Build::fast, Build::check}) {
    MmaDevice device(build);
    for (const std::string& name : MmaDevice::names()) {
      const Mma mma(name);
      expect_product(device, mma, 0);
      if (mma.of_c == "s32") expect_product(device, mma, INT32_MAX - 3);
      if (mma.saturates) expect_product(device, mma, INT32_MIN + 3);
    }
  }
}

// Numbers that are no small integers: each lane has one kind of word everywhere.
float product_of(MmaDevice& device, const std::string& name, uint32_t a, uint32_t b, float c) {
  const Mma mma(name);
  const auto filled = [](int words, uint32_t word) { return std::vector(static_cast<size_t>(32 * words), word); };
  return *device.run(
      mma, {filled(mma.words(mma.of_a, mma.a_elements()), a), filled(mma.words(mma.of_b, mma.b_elements()), b),
            filled(mma.words(mma.of_c, 4), std::bit_cast<uint32_t>(c))});
}

TEST(ShimMatrix, NumbersOfEveryKind) {
  MmaDevice device(Build::fast);
  const std::string f16 = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                    bf16 = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
                    tf32 = "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
                    e4m3 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
                    e5m2 = "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32";
  EXPECT_EQ(product_of(device, f16, 0x00010001, 0x3c003c00, 0), 8 * 0x1p-24f);  // denormal
  EXPECT_EQ(product_of(device, f16, 0x7bff7bff, 0x3c003c00, 1), 8 * 65504.0f + 1);
  EXPECT_EQ(product_of(device, f16, 0x7c007c00, 0xbc00bc00, 1), -INFINITY);
  EXPECT_TRUE(std::isnan(product_of(device, f16, 0x7e007e00, 0x3c003c00, 1)));
  EXPECT_TRUE(std::isnan(product_of(device, f16, 0x7c007c00, 0x00000000, 1)));
  EXPECT_EQ(product_of(device, bf16, 0x7f007f00, 0x3f803f80, 0), 8 * 0x1p127f);
  EXPECT_EQ(product_of(device, bf16, 0x3f803f80, 0x40004000, -0.5f), 15.5f);
  EXPECT_EQ(product_of(device, tf32, 0x3f801fff, 0x3f800000, 0), 4);  // 13 bits more than tf32 has
  EXPECT_EQ(product_of(device, tf32, 0x3f802000, 0x3f800000, 0), 4 * (1 + 0x1p-10f));
  EXPECT_EQ(product_of(device, e4m3, 0x7e7e7e7e, 0x01010101, 0), 32 * 448 * 0x1p-9f);
  EXPECT_TRUE(std::isnan(product_of(device, e4m3, 0x7f7f7f7f, 0x01010101, 0)));
  EXPECT_EQ(product_of(device, e5m2, 0x01010101, 0xbcbcbcbc, 0), -32 * 0x1p-16f);
  EXPECT_EQ(product_of(device, e5m2, 0x7c7c7c7c, 0x3c3c3c3c, 0), INFINITY);
  // Sums of f16 are rounded once: 2048 + 8 * 0.5 + ... in one step. (Two elements of c: 2048.)
  const float sums = product_of(device, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 0x38003800, 0x3c003c00,
                                std::bit_cast<float>(0x68006800u));
  EXPECT_EQ(std::bit_cast<uint32_t>(sums), 0x68026802u);  // 2052
}

// ---- ldmatrix, stmatrix, movmatrix

// Matrix i of the source has 100 * (10 * i + row) + column; matrices lie one after the other, in rows of 16 bytes.
constexpr const char* kMatricesSource = R"(
  extern "C" __global__ void k(unsigned* out) {
    __shared__ __align__(16) unsigned short s[4][8][8], back[4][8][8];
    const unsigned lane = threadIdx.x;
    for (unsigned i = lane; i < 256; i += 32) {
      s[i / 64][i / 8 % 8][i % 8] = 100 * (10 * (i / 64) + i / 8 % 8) + i % 8;
      back[i / 64][i / 8 % 8][i % 8] = 0;
    }
    __syncwarp();
    unsigned r[4] = {}, a = (unsigned)__cvta_generic_to_shared(s) + lane % USED * 16,
             b = (unsigned)__cvta_generic_to_shared(back) + lane % USED * 16;
    LOAD;
    for (int i = 0; i < 4; ++i) out[lane * 4 + i] = r[i];
    STORE;
    __syncwarp();
    for (unsigned i = lane; i < 256; i += 32) out[128 + i] = back[i / 64][i / 8 % 8][i % 8];
  })";
std::string with_asm(std::string source, const std::string& load, const std::string& store, int used) {
  source.replace(source.find("LOAD"), 4, load);
  source.replace(source.find("STORE"), 5, store);
  for (size_t at; (at = source.find("USED")) != source.npos;) source.replace(at, 4, std::to_string(used));
  return source;
}

TEST(ShimMatrix, LoadsAndStoresMatrices) {
  for (const int count : {1, 2, 4}) {
    for (const bool load_turns : {false, true}) {
      for (const bool store_turns : {false, true}) {
        const std::string lists[] = {"", "{%0}", "{%0, %1}", "", "{%0, %1, %2, %3}"};
        std::string sources = lists[count], registers;
        for (char& c : sources) {
          if (c >= '0' && c < '4') ++c;
        }
        for (int i = 0; i < count; ++i) registers += (i > 0 ? ", \"X\"(r[" : "\"X\"(r[") + std::to_string(i) + "])";
        const auto constraints = [&](const std::string& with) {
          std::string text = registers;
          for (size_t at; (at = text.find('X')) != text.npos;) text.replace(at, 1, with);
          return text;
        };
        const auto name = [&](const char* stem, bool turns) {
          return std::string(stem) + ".sync.aligned.m8n8.x" + std::to_string(count) + (turns ? ".trans" : "") +
                 (store_turns ? ".shared::cta.b16" : ".shared.b16");
        };
        const std::string source =
            with_asm(kMatricesSource,
                     "asm volatile(\"" + name("ldmatrix", load_turns) + " " + lists[count] + ", [%" +
                         std::to_string(count) + "];\" : " + constraints("=r") + " : \"r\"(a))",
                     "asm volatile(\"" + name("stmatrix", store_turns) + " [%0], " + sources + ";\" :: \"r\"(b), " +
                         constraints("r") + ")",
                     8 * count);
        Device device(source, Build::check);
        const float* out = device.add_floats("out", 128 + 256);
        const auto fault = device.launch("k", 1, 32, runtime::Order::seeded);
        ASSERT_FALSE(fault) << fault->describe() << source;
        const auto word = [&](size_t at) { return std::bit_cast<uint32_t>(out[at]); };
        for (unsigned lane = 0; lane < 32; ++lane) {
          for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
            const unsigned row = lane / 4, column = lane % 4 * 2;
            const unsigned low = load_turns ? 100 * (10 * i + column) + row : 100 * (10 * i + row) + column;
            const unsigned high = load_turns ? low + 100 : low + 1;
            EXPECT_EQ(word(lane * 4 + i), high << 16 | low) << source;
          }
        }
        for (unsigned i = 0; i < 256; ++i) {
          const unsigned matrix = i / 64, row = i / 8 % 8, column = i % 8;
          const unsigned value =
              load_turns != store_turns ? 100 * (10 * matrix + column) + row : 100 * (10 * matrix + row) + column;
          EXPECT_EQ(word(128 + i), matrix < static_cast<unsigned>(count) ? value : 0) << source;
        }
      }
    }
  }
}

TEST(ShimMatrix, TurnsAMatrix) {
  Device device(R"(extern "C" __global__ void k(unsigned* out) {
    const unsigned row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out[threadIdx.x]) : "r"(10 * row + column + 1 << 16 | 10 * row + column));
  })");
  const float* out = device.add_floats("out", 32);
  const auto fault = device.launch("k", 1, 32);
  ASSERT_FALSE(fault) << fault->describe();
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned row = lane / 4, column = lane % 4 * 2, low = 10 * column + row;
    EXPECT_EQ(std::bit_cast<uint32_t>(out[lane]), (low + 10) << 16 | low);
  }
}

// Four warps multiply [32, 16] by [16, 16] through shared memory: ldmatrix, mma, stmatrix.
constexpr const char* kTogether = R"(
  extern "C" __global__ void k(const float* a, const float* b, float* c) {
    __shared__ __align__(16) unsigned short left[32][24], right[16][24], result[32][24];
    const unsigned t = threadIdx.x, lane = t % 32, m0 = t / 64 * 16, n0 = t / 32 % 2 * 8;
    unsigned short h;
    for (unsigned i = t; i < 512; i += 128) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a[i])); left[i / 16][i % 16] = h; }
    for (unsigned i = t; i < 256; i += 128) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(b[i])); right[i / 16][i % 16] = h; }
    BARRIER;
    unsigned x[4], y[2], d0 = 0, d1 = 0;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"((unsigned)__cvta_generic_to_shared(&left[m0 + lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"((unsigned)__cvta_generic_to_shared(&right[lane % 16][n0])));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};" : "+r"(d0), "+r"(d1) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" :: "r"((unsigned)__cvta_generic_to_shared(&result[m0 + lane % 16][n0])), "r"(d0), "r"(d1));
    __syncthreads();
    for (unsigned i = t; i < 512; i += 128) asm("cvt.f32.f16 %0, %1;" : "=f"(c[i]) : "h"(result[i / 16][i % 16]));
  })";
std::optional<Fault> run_together(const std::string& barrier, Build build, std::vector<float>* wrong) {
  std::string source = kTogether;
  source.replace(source.find("BARRIER"), 7, barrier);
  Device device(source, build);
  float *a = device.add_floats("a", 512), *b = device.add_floats("b", 256), *c = device.add_floats("c", 512);
  for (int i = 0; i < 512; ++i) a[i] = static_cast<float>(i * 7 % 11 - 5);
  for (int i = 0; i < 256; ++i) b[i] = static_cast<float>(i * 5 % 13 - 6);
  auto fault = device.launch("k", 1, 128, runtime::Order::seeded);
  for (int i = 0; i < 512; ++i) {
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum += a[i / 16 * 16 + k] * b[k * 16 + i % 16];
    if (c[i] != sum) wrong->push_back(c[i]);
  }
  return fault;
}

TEST(ShimMatrix, InstructionsTogether) {
  for (const Build build : {Build::fast, Build::check}) {
    std::vector<float> wrong;
    const auto fault = run_together("__syncthreads()", build, &wrong);
    EXPECT_FALSE(fault) << fault->describe();
    EXPECT_TRUE(wrong.empty());
  }
  // Without the barrier, whoever loads first finds nothing there, or a race.
  std::vector<float> wrong;
  const auto fault = run_together("(void)0", Build::check, &wrong);
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->kind == FaultKind::race || fault->kind == FaultKind::uninitialised) << fault->describe();
  EXPECT_TRUE(fault->line == 10 || fault->line == 11) << fault->describe();
}

TEST(ShimMatrix, WrongUseIsReported) {
  struct Planted {
    const char* statement;
    FaultKind kind;
    const char* message;
    int64_t threads = 32;
  };
  const std::string start =
      "extern \"C\" __global__ void k(unsigned* out) { __shared__ __align__(16) unsigned s[128]; unsigned t = "
      "threadIdx.x, "
      "r, at = (unsigned)__cvta_generic_to_shared(s) + 16 * t; float x = 0;\nfor (int i = 0; i < 4; ++i) s[4 * t + i] "
      "= t;\n";
  const std::string x1 = "asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(r) : \"r\"(";
  for (const auto& [statement, kind, message, threads] : std::vector<Planted>{
           {"X1 at + 16 * 127));", FaultKind::out_of_bounds, "reads 16 bytes"},
           {"X1 at + 8));", FaultKind::misaligned, "no multiple of 16 bytes"},
           {"X1 at - t % 8 * 16));", FaultKind::race, "in between"},
           {"if (t > 0) asm volatile(\"movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;\" : \"+r\"(r));", FaultKind::trap,
            "do not exist or have returned"},
           {"asm volatile(\"movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;\" : \"+r\"(r));", FaultKind::trap,
            "do not exist or have returned", 16},
           {"__syncwarp(); if (t > 3) X1 at)); else asm volatile(\"movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;\" : "
            "\"+r\"(r));",
            FaultKind::trap, "different forms"},
           {"__syncwarp(); asm volatile(\"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};\" :: \"r\"(at), "
            "\"r\"(t)); "
            "out[t] = s[31 - t];",
            FaultKind::race, "in between"}}) {
    std::string source = start + statement;
    for (size_t place; (place = source.find("X1 ")) != source.npos;) source.replace(place, 3, x1);
    Device device(source + "\n}", Build::check);
    device.add_floats("out", 128);
    const auto fault = device.launch("k", 1, threads);
    ASSERT_TRUE(fault) << source;
    EXPECT_EQ(fault->kind, kind) << fault->describe() << source;
    EXPECT_THAT(fault->message, HasSubstr(message));
    EXPECT_EQ(fault->line, 3) << fault->describe();
  }
}

}  // namespace
}  // namespace sandbox::cpu
