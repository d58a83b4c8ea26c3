#include "sandbox/cpu/compiler/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string lexed(const std::string& source) {
  auto result = lex(source);
  if (const auto* rejected = std::get_if<Rejected>(&result)) return "rejected: " + rejected->message;
  return std::get<LexedSource>(result).text;
}

struct Refused {
  const char* name;
  Rejection reason;
  int line;
  const char* source;
};
std::ostream& operator<<(std::ostream& out, const Refused& refused) { return out << refused.name; }

class RefusedSource : public testing::TestWithParam<Refused> {};

TEST_P(RefusedSource, WithItsLine) {
  const auto result = lex(GetParam().source);
  const auto* rejected = std::get_if<Rejected>(&result);
  ASSERT_NE(rejected, nullptr);
  EXPECT_EQ(rejected->reason, GetParam().reason) << rejected->message;
  EXPECT_EQ(rejected->line, GetParam().line);
  EXPECT_FALSE(rejected->message.empty());
}

const Refused kRefused[] = {
    {"host_file", Rejection::forbidden, 2, "\n#include \"/etc/passwd\"\n"},
    {"host_file_in_brackets", Rejection::forbidden, 1, "#include </proc/self/environ>"},
    {"climbing", Rejection::forbidden, 1, "#include <cuda/../../../etc/passwd>"},
    {"spliced", Rejection::forbidden, 1, "#inc\\\nlude \"/etc/passwd\"\n"},
    {"behind_comment", Rejection::forbidden, 2, "/* */ /*\n*/ # /**/ include /**/ \"/etc/passwd\"\n"},
    {"computed", Rejection::forbidden, 2, "#define H \"/etc/passwd\"\n#include H\n"},
    {"digraph", Rejection::forbidden, 1, "%:include \"/etc/passwd\"\n"},
    {"digraph_brace", Rejection::forbidden, 1, "void f() <% %>\n"},
    {"probe", Rejection::forbidden, 1, "#if __has_include(\"/etc/shadow\")\n#endif\n"},
    {"probe_in_macro", Rejection::forbidden, 1, "#define P __has_include\n"},
    {"line", Rejection::forbidden, 1, "#line 1 \"/etc/passwd\"\n"},
    {"line_marker", Rejection::forbidden, 1, "# 1 \"/etc/passwd\"\n"},
    {"embed", Rejection::forbidden, 1, "#embed \"/etc/passwd\"\n"},
    {"import", Rejection::forbidden, 1, "#import \"/etc/passwd\"\n"},
    {"include_next", Rejection::forbidden, 1, "#include_next <mma.h>\n"},
    {"asks_what_is_constant", Rejection::forbidden, 2, "void f(int a) {\n  if (__builtin_constant_p(a)) return;\n}\n"},
    {"asks_how_it_is_compiled", Rejection::forbidden, 1, "#ifdef __OPTIMIZE__\n#endif\n"},
    {"asks_for_the_size", Rejection::forbidden, 1, "int f(int* p) { return __builtin_object_size(p, 0); }\n"},
    {"asks_for_the_time", Rejection::forbidden, 1, "const char when[] = __TIME__;\n"},
    {"pastes_the_question", Rejection::forbidden, 1,
     "#define ASK(a) __builtin_##a\nint f(int x) { return ASK(constant_p)(x); }\n"},
    {"pragma", Rejection::forbidden, 1, "#pragma GCC optimize(\"O0\")\n"},
    {"pragma_operator", Rejection::forbidden, 1, "_Pragma(\"GCC poison x\")\n"},
    {"pragma_operator_raw", Rejection::forbidden, 1, "_Pragma(R\"(unroll)\")\n"},
    {"pragma_operator_disguised", Rejection::forbidden, 1, "_Pragma(\"unrol\\154\")\n"},
    {"pragma_operator_of_a_macro", Rejection::forbidden, 1, "#define P(x) _Pragma(#x)\nP(GCC poison x)\n"},
    {"constructor", Rejection::forbidden, 1, "__attribute__((constructor)) void f() {}"},
    {"constructor_underscores", Rejection::forbidden, 1, "__attribute__((unused, __constructor__(101))) void f() {}"},
    {"constructor_brackets", Rejection::forbidden, 1, "[[gnu::constructor]] void f() {}"},
    {"constructor_using", Rejection::forbidden, 1, "[[using gnu: constructor]] void f() {}"},
    {"ifunc", Rejection::forbidden, 1, "__attribute__((ifunc(\"r\"))) void f();"},
    {"alias", Rejection::forbidden, 1, "extern int x __attribute__((alias(\"y\")));"},
    {"section", Rejection::forbidden, 1, "__attribute__((section(\".init_array\"))) void* p;"},
    {"file_scope_asm", Rejection::forbidden, 2, "\nasm(\".incbin \\\"/etc/passwd\\\"\");"},
    {"namespace_asm", Rejection::forbidden, 1, "namespace a { asm(\"mov.u32 %0, 1;\"); }"},
    {"assembler_directive", Rejection::forbidden, 1, "void f() { asm(\".incbin \\\"/etc/passwd\\\"\"); }"},
    {"machine_code", Rejection::unsupported, 1, "void f() { asm(\"syscall\"); }"},
    {"raw_machine_code", Rejection::unsupported, 2, "void f() {\n asm volatile(R\"x(int3 )\")x\"); }"},
    {"reserved_name", Rejection::forbidden, 1, "void f() { __kw_barrier(0, 0); }"},
    {"pasted_asm", Rejection::forbidden, 1, "#define P(a, b) a##b\nvoid f() { P(as, m)(\"syscall\"); }"},
    {"pasted_piece_by_piece", Rejection::forbidden, 1,
     "#define Q(a, b) a##b\n#define P(a, b) Q(a, b)\n#define L as\nvoid f() { P(P(__, L), m__)(\"\"); }"},
    {"pasted_by_half_a_call", Rejection::forbidden, 1,
     "#define P(a, b) a##b\n#define C P(\nvoid f() { C as, m)(\"syscall\"); }"},
    {"pasted_through_an_identity", Rejection::forbidden, 2,
     "#define I(x) x\n#define P(a, b) a##b\nvoid f() { I(P)(as, m)(\"\"); }"},
    {"pasted_by_an_argument", Rejection::forbidden, 1,
     "#define P(a, b) a##b\n#define G(x) x(as, m)\nvoid f() { G(P)(\"\"); }"},
    {"pasted_by_an_alias", Rejection::forbidden, 1, "#define P(a, b) a##b\n#define Q P\nvoid f() { Q(as, m)(\"\"); }"},
    {"pasted_by_a_pasted_name", Rejection::forbidden, 1, "#define P(a, b) a##b\nvoid f() { P(P, )(as, m)(\"\"); }"},
    {"pasted_from_one_argument", Rejection::forbidden, 2,
     "#define V(...) __VA_ARGS__\n#define P(a, b) a##b\n#define W(x) P(x)\nvoid f() { W(V(as, m))(\"\"); }"},
    {"pasted_letter_by_letter", Rejection::forbidden, 1,
     "#define J(a, b) a##b\n#define K(a, b) J(a, b)\n#define E(f, a, m) f(f(a, s), m)\nvoid f() { E(K, a, m)(\"\"); }"},
    {"pasted_around_a_directive", Rejection::forbidden, 1,
     "#define P(a, b) a##b\nvoid f() { P(as,\n#define X 1\n m)(\"\"); }"},
    {"pasted_reserved_name", Rejection::forbidden, 1, "#define P(a) __k##a\nvoid f() { P(w_mute)(); }"},
    {"form_feed_in_a_splice", Rejection::unsupported, 1, "void f() { as\\\f\nm(\"syscall\"); }"},
    {"lone_carriage_return", Rejection::forbidden, 1, "void f() { // \r asm(\"syscall\");\n }"},
    {"no_header_name", Rejection::unsupported, 2,
     "#define __has_q(a, b, c) b\nvoid f() { __has_q(<, asm(\"syscall\"), >); }"},
    {"no_embed", Rejection::unsupported, 1, "#define S(embed) #embed < ({ asm(\"syscall\"); 0; }) > 0\n"},
    {"asm_in_an_operand", Rejection::unsupported, 1,
     "void f(int x) { asm(\"mov.u32 %0, %1;\" : \"=r\"(x) : \"r\"(({ asm(\"syscall\"); 3; }))); }"},
    {"digraph_bracket", Rejection::forbidden, 1, "<:<:gnu::noinline:>:> void f();"},
    {"sanitizer_switch", Rejection::forbidden, 1, "#define X 4), no_sanitize(\"thread\"\nstruct __align__(X) S {};"},
    {"host_builtin", Rejection::forbidden, 1, "void f(void* p) { __builtin_ia32_clflush(p); }"},
    {"reserved_name_in_asm", Rejection::forbidden, 1, "void f(int x) { asm(\"mov.u32 %0, 1;\" : \"=r\"(__kw_x)); }"},
    {"unknown_ptx", Rejection::unsupported, 2, "void f() {\n asm volatile(\"tcgen05.wait::st.sync.aligned;\"); }"},
    {"unknown_ptx_in_macro", Rejection::unsupported, 1,
     "#define F asm volatile(\"multimem.red.u32 [%0], 1;\" :: \"r\"(1))\n"},
    {"predicate", Rejection::unsupported, 1, "void f() { asm(\"@p mov.u32 %0, 1;\"); }"},
    {"ptx_block", Rejection::unsupported, 1, "void f() { asm(\"{ .reg .pred p; mov.u32 %0, 1; }\"); }"},
    {"toolkit_header", Rejection::unsupported, 1, "#include <cuda/barrier>\n"},
    {"fp6", Rejection::unsupported, 1, "#include <cuda_fp6.h>\n"},
    {"launch", Rejection::unsupported, 1, "void f() { g<<<1, 2>>>(); }"},
    {"managed", Rejection::unsupported, 1, "__managed__ int x;"},
    {"long_double", Rejection::unsupported, 1, "long double x;"},
    {"int128", Rejection::unsupported, 1, "__int128 x;"},
    {"cluster", Rejection::unsupported, 1, "__global__ void __cluster_dims__(2) k();"},
    {"texture", Rejection::unsupported, 1, "void f(cudaTextureObject_t t);"},
    {"thread_storage", Rejection::unsupported, 1, "static thread_local int x;"},
    {"dynamic_in_macro", Rejection::unsupported, 1, "#define S extern __shared__ float s[];\n"},
    {"standard_header", Rejection::compile_error, 1, "#include <cstdint>\n"},
};

INSTANTIATE_TEST_SUITE_P(Each, RefusedSource, testing::ValuesIn(kRefused),
                         [](const auto& refused) { return refused.param.name; });

TEST(Lexer, RefusesZeroBytes) { EXPECT_THAT(lexed(std::string("int x;\0 int y;", 14)), HasSubstr("zero byte")); }

TEST(Lexer, LeavesWhatItHasNoReasonToTouch) {
  const std::string source =
      "// #include \"/etc/passwd\"\nconst char* s = \"asm( __shared__ <<< \\\" \"; char c = '\"'; /* long double */\n"
      "int a = 1'000'000 + (2 < 3) << 1;\nstruct S { int x[[maybe_unused]]; };\n#pragma unroll 4\n";
  EXPECT_EQ(lexed(source), source);
}

TEST(Lexer, LeavesHonestWordsAlone) {
  for (const char* source : {"int texture = 1, surface = texture < 2;", "#define UNROLLED _Pragma(\"unroll 4\")\n",
                             "void f() { _Pragma(\"unroll\") for (;;) {} }"}) {
    EXPECT_EQ(lexed(source), source);
  }
}

TEST(Lexer, HeadersOfThisDeviceStayAndPredefinedOnesGo) {
  EXPECT_EQ(lexed("#include <cuda_fp16.h>\n#include <cuda_runtime.h>\nint x;\n"), "#include <cuda_fp16.h>\n\nint x;\n");
}

TEST(Lexer, LinesStayWhereTheyAre) {
  const std::string source =
      "#define EX2(y, x) \\\n  asm(\"ex2.approx.f32 %0, %1;\" \\\n      : \"=f\"(y) : \"f\"(x))\n"
      "extern \"C\" __global__ void k(float* o) {\n  asm volatile(\n    \"mov.u32 %0, %%laneid;\"\n    : \"=r\"(l)\n  "
      ");\n"
      "  __shared__ float x[4];\n}\n";
  const std::string text = lexed(source);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(source.begin(), source.end(), '\n')) << text;
  EXPECT_THAT(text, HasSubstr("__kw_ptx_ex2_approx_f32((y), (x))"));
  EXPECT_THAT(text, HasSubstr("__kw_ptx_mov_u32((l), __kw_ptx_register_laneid())"));
}

TEST(Lexer, LeavesHonestPastingAlone) {
  for (const char* source :
       {"#define P(a, b) a##b\nint P(x, 4); int m, s;", "#define S(op) __##op##_sync\nint S(shfl);",
        "#define V(T, n) T##n\nV(float, 4) a;",
        "#define P(a, b) a##b\n#define A(a, s, m) (a) + (s) * (m)\nint P(x, 1) = A(a, s, m), P(y, 2);",
        "#define X(F) F(a) F(s) F(m)\n#define D(n) int lane_##n;\nvoid f() { X(D) }",
        "template <class T> T f(); int x = f<::A>();"}) {
    EXPECT_THAT(lexed(source), Not(HasSubstr("rejected"))) << source;
  }
}

TEST(Lexer, TranslatesOperandsOfEveryForm) {
  EXPECT_THAT(lexed("void f() { asm(\"st.global.v4.f32 [%0 + 16], {%1, %2, %1, 0f3F800000};\" :: \"l\"(p), "
                    "\"f\"(a[1]), \"f\"(b)); }"),
              HasSubstr("__kw_ptx_st_v4<float>(__kw_ptx_address((p)) + 16, (a[1]), (b), (a[1]), "
                        "__int_as_float(0x3F800000));"));
  EXPECT_THAT(lexed("void f() { asm(\"mov.u32 %0, %1;\" : \"=r\"(x->y) : \"r\"(a << 2 >= unsigned (b) && c)); }"),
              HasSubstr("__kw_ptx_mov_u32((x->y), (a << 2 >= unsigned (b) && c));"));
  EXPECT_THAT(lexed("void f() { asm volatile(\"\" ::: \"memory\"); }"), HasSubstr("((void)0);"));
  EXPECT_THAT(lexed("void f() { if (x) asm volatile(\"trap;\\n\"\n\"trap;\"); else asm(\"{ trap; }\"); }"),
              HasSubstr("if (x) ({ __kw_ptx_trap(); __kw_ptx_trap(); (void)0; })\n; else __kw_ptx_trap(); }"));
  EXPECT_THAT(lexed("void f() { asm volatile(\"bar.sync 0;\"); }"), HasSubstr("__kw_ptx_bar_sync(0);"));
  EXPECT_THAT(lexed("void f() { asm(\"mov.u32 %0, %9;\" : \"=r\"(x)); }"), HasSubstr("rejected"));
}

TEST(Lexer, FindsKernels) {
  const auto result = lex(R"(
    extern "C" __global__ void __launch_bounds__(128, 2) first(int n) { if (n) { } }
    extern "C" { __global__ void second() { } __global__ void declared(int); }
    template <int N> __global__ void templated() { }
    __global__ void mangled() { }
    namespace a { extern "C" __global__ void third() { } }
    // extern "C" __global__ void comment() { }
  )");
  const auto& source = std::get<LexedSource>(result);
  EXPECT_THAT(source.kernels, ElementsAre("first", "second", "third"));
  EXPECT_THAT(source.text, HasSubstr("{ if (n) { } } KW_EXPORT(first)"));
  EXPECT_THAT(source.text, Not(HasSubstr("KW_EXPORT(declared)")));
}

TEST(Lexer, PlacesSharedMemory) {
  const std::string gap = "__attribute__((used)) static __thread char __kw_pad_0[128]; ";
  EXPECT_EQ(lexed("void f() { __shared__ float x; }"),
            "void f() { " + gap + "__attribute__((used)) static __thread float x; }");
  EXPECT_EQ(lexed("void f() { static __shared__ float x; }"),
            "void f() { " + gap + " __attribute__((used)) static __thread float x; }");
  EXPECT_EQ(lexed("void f() { f(); __align__(16) __shared__ float x; }"),
            "void f() { f(); " + gap + "__align__(16) __attribute__((used)) static __thread float x; }");
  EXPECT_THAT(lexed("extern __shared__ float d[];"),
              HasSubstr(" __thread float d[] __asm__(\"__kw_dynamic\");\nKW_DYNAMIC_SHARED"));
  EXPECT_EQ(lexed("void f() { __shared__ alignas(16) float x, y; }"),
            "void f() { " + gap + " alignas(16) __attribute__((used)) static __thread float x, y; }");
  EXPECT_THAT(lexed("void f() { extern __shared__ __align__(16) float a[][4], b[]; }"),
              HasSubstr("__align__(16) float (&a)[][4] = __kw_dynamic_place(), (&b)[] = __kw_dynamic_place();"));
}

TEST(Lexer, FillsLocalVariablesThatAreNotSet) {
  const auto filled = [](const std::string& statement) {
    const std::string text = lexed("void f() { " + statement + " }");
    std::string names;
    for (size_t at = 0; (at = text.find(" __kw_fill(", at)) != std::string::npos; ++at) {
      names += text.substr(at + 11, text.find(')', at) - at - 11) + " ";
    }
    return names;
  };
  EXPECT_EQ(filled("float x;"), "x ");
  EXPECT_EQ(filled("unsigned long long a, *b, c = f(1, 2), d[3], e(1), g;"), "a b d g ");
  EXPECT_EQ(filled("volatile __align__(16) float lanes[4][8];"), "lanes ");
  EXPECT_EQ(filled("wmma::fragment<wmma::matrix_a, 16, 16, (3 > 2), half> a[2]; const float* p;"), "a p ");
  EXPECT_EQ(filled("for (int i; i < 3;) { float4 v; }"), "v ");
  EXPECT_EQ(filled("auto g = [](int n) { int m; return m + n; };"), "m ");
  for (const char* other : {"return x;",
                            "x = y;",
                            "f(x);",
                            "goto x;",
                            "delete x;",
                            "float x = 1;",
                            "float& x = y;",
                            "static float x;",
                            "constexpr int x = 3;",
                            "struct S { float x; };",
                            "struct __align__(8) { float x, y; } pair;",
                            "typedef int T;",
                            "using T = int;",
                            "a < b;",
                            "__shared__ float x;",
                            "extern __shared__ float x[];",
                            "if (x) y; else z;",
                            "break;",
                            "x[3] = y, z;",
                            "union { int i; float f; } u;",
                            "enum { one, two };",
                            "float x(int);"}) {
    EXPECT_EQ(filled(other), "") << other;
  }
  EXPECT_THAT(lexed("#define RETURN return\nint f(int x) { RETURN x; }"), Not(HasSubstr("__kw_fill")));
  EXPECT_THAT(lexed("float x; struct S { float y; void f() { float z; } };"), HasSubstr("z; __kw_fill(z); } };"));
}

TEST(Lexer, SurvivesWhatIsNoSource) {
  for (const char* source : {"",
                             "\\",
                             "\\\n",
                             "\"",
                             "'",
                             "R\"",
                             "R\"(",
                             "R\"abc(",
                             "/*",
                             "//",
                             "#",
                             "#include",
                             "#include <",
                             "asm",
                             "asm(",
                             "void f() { asm(\"mov.u32 %0\" : \"=r\"(",
                             "extern __shared__",
                             "__global__",
                             "extern \"C\" __global__ void k(",
                             "}}}}",
                             "[[",
                             "__attribute__((",
                             "__has_include(",
                             "1e+",
                             "u8R\"(a)b",
                             "<<<"}) {
    auto result = lex(source);
    if (const auto* rejected = std::get_if<Rejected>(&result)) {
      EXPECT_FALSE(rejected->message.empty()) << source;
    } else {
      EXPECT_THAT(std::get<LexedSource>(result).kernels, testing::IsEmpty()) << source;
    }
  }
}

TEST(Tokens, RawStringsAndSplicesKeepTheirLines) {
  const auto tokens = tokenize("a\\\nb R\"x(1\n2)x\" /*\n*/ c\n");
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[0].text, "ab");
  EXPECT_EQ(tokens[1].value, "1\n2");
  EXPECT_EQ(tokens[1].line, 2);
  EXPECT_EQ(tokens[2].line, 4);
}

}  // namespace
}  // namespace sandbox::cpu::compiler
