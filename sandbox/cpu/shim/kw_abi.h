// The contract between device code and the runtime (sandbox/cpu/runtime/scheduler.cpp defines these symbols).
#pragma once

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

extern "C" {
extern uint3 __kw_thread_index, __kw_block_index;
extern dim3 __kw_block_dim, __kw_grid_dim, __kw_cluster_dim;
extern unsigned __kw_dynamic_shared_bytes;
extern unsigned long __kw_local_bytes, __kw_local_integer;  // kw_locals.h
extern unsigned long __kw_shared_window;  // what has address 0 of shared memory; a multiple of 1024

// Takes the next CUDA thread of the block onto this fiber; false when all have started.
bool __kw_next_thread(void);
// Block barrier. kind: 0 __syncthreads, 1 _count, 2 _and, 3 _or. Returns the combined predicate.
int __kw_barrier(int kind, int predicate);
void __kw_syncwarp(unsigned long mask);
// A collective of the lanes in `mask`: each arrives with its own descriptor, the last one runs `combine` over all of them
// (null for lanes that take no part). `name` names the operation in reports; all lanes must agree on it.
void __kw_warp_call(const char* name, unsigned long mask, void (*combine)(void* const* lanes, unsigned long active), void* mine);
// The same for the lanes that come to this call together, as HIP's operations without masks have it. `combine`: null for
// a mere meeting. Calls are told apart by their addresses, so what makes one must be inlined.
#ifdef __clang__
__attribute__((convergent, noduplicate))
#endif
void __kw_converged_call(const char* name, void (*combine)(void* const* lanes, unsigned long active), void* mine);
unsigned long __kw_active_mask(void);  // the lanes of this warp that come here together
// Between the two, accesses to memory are not checked by the checking build. No waiting in between. `combine` runs muted anyway.
void __kw_mute(void);
void __kw_unmute(void);
[[noreturn]] void __kw_trap(const char* message);
[[noreturn]] void __kw_unsupported(const char* what);
// Of a cluster. Mapped addresses have the rank of their block, plus one, in the upper byte.
unsigned __kw_cluster_rank(void);
void __kw_cluster_arrive(void);
void __kw_cluster_wait(void);
unsigned __kw_map_shared(unsigned address, unsigned rank);
void* __kw_cluster_place(unsigned address, unsigned bytes);
void __kw_yield(void);  // lets other threads of the block run: spinning would stop them otherwise
void __kw_poll(void);   // the same before a load that others' stores order
void __kw_grid_sync(void);  // the barrier of a cooperative launch
bool __kw_grid_can_meet(void);
long long __kw_clock(void);  // nanoseconds
#ifdef KW_CHECKED
void __kw_read_only(const void* address, unsigned long bytes);  // a read through the read-only cache comes next
#else
inline void __kw_read_only(const void*, unsigned long) {}
#endif
}
#undef KW_CHECKED  // a source must not learn which build it is in

#ifdef KW_COVERED
#undef KW_COVERED
// The compiler calls it wherever code parts or meets. A byte for each place, at its address plus __kw_covered.
extern "C" {
extern unsigned long __kw_covered;
__attribute__((visibility("hidden"), used, noinline,
#ifdef __clang__
               no_sanitize("coverage")
#else
               no_sanitize_coverage
#endif
                   )) void
__sanitizer_cov_trace_pc(void) {
  *reinterpret_cast<unsigned char*>(__kw_covered + reinterpret_cast<unsigned long>(__builtin_return_address(0))) = 1;
}
}
#endif

// Used as values so that assignments to them do not compile.
#define threadIdx (static_cast<const uint3&>(__kw_thread_index))
#define blockIdx (static_cast<const uint3&>(__kw_block_index))
#define blockDim (static_cast<const dim3&>(__kw_block_dim))
#define gridDim (static_cast<const dim3&>(__kw_grid_dim))
#define warpSize KW_WAVE

// The dialect, which the compiler's caller chooses (sandbox/compilation.h): KW_HIP and KW_WAVE, or neither for CUDA.
#ifdef KW_HIP
typedef unsigned long long __kw_mask;  // a set of lanes
#define KW_SHARED_BYTES 65536
#else
#define KW_WAVE 32
typedef unsigned __kw_mask;
#define KW_SHARED_BYTES 233472
#endif

// The runtime's view of each kernel: parameter sizes, its dialect's limits, and a loop that runs it for one thread after
// another.
struct __kw_kernel_descriptor {
  unsigned parameters, warp_lanes, shared_bytes;
  const unsigned* sizes;
  void (*run)(void** args);
};

template <unsigned... I>
struct __kw_indices {};
template <unsigned N, unsigned... I>
struct __kw_make_indices : __kw_make_indices<N - 1, N - 1, I...> {};
template <unsigned... I>
struct __kw_make_indices<0, I...> {
  typedef __kw_indices<I...> type;
};

template <auto kernel, typename T = decltype(kernel)>
struct __kw_kernel;
template <auto kernel, typename... P>
struct __kw_kernel<kernel, void (*)(P...)> {
  static constexpr unsigned sizes[sizeof...(P) + 1] = {sizeof(P)..., 0};
  template <unsigned... I>
  static void loop(void** args, __kw_indices<I...>) {
    while (__kw_next_thread()) kernel(*static_cast<P*>(args[I])...);
  }
  static void run(void** args) { loop(args, typename __kw_make_indices<sizeof...(P)>::type()); }
};

#define KW_EXPORT(name)                                                                                     \
  extern "C" __attribute__((visibility("default"), used)) const __kw_kernel_descriptor __kw_kernel_##name = { \
      sizeof(__kw_kernel<&name>::sizes) / sizeof(unsigned) - 1, KW_WAVE, KW_SHARED_BYTES,                     \
      __kw_kernel<&name>::sizes, &__kw_kernel<&name>::run};

// Dynamic shared memory: every `extern __shared__` declaration names this one place. It is as large as a block's shared memory on
// sm_90; how much of it a launch has is __kw_dynamic_shared_bytes. Within functions the lexer makes such a declaration a reference,
//   T (&x)[] = __kw_dynamic_place();      outside them      extern __thread T x[] __asm__("__kw_dynamic");
extern "C" {
extern __attribute__((visibility("hidden"), aligned(1024))) __thread char __kw_dynamic[233472];
}
struct __kw_dynamic_place {
  template <typename T>
  operator T&() const {
    return reinterpret_cast<T&>(__kw_dynamic);
  }
};
// Added to sources that have such a declaration.
#define KW_DYNAMIC_SHARED                                                                              \
  extern "C" {                                                                                         \
  __thread char __kw_dynamic[233472];                                                                  \
  __attribute__((visibility("default"), used)) char* __kw_dynamic_base(void) { return __kw_dynamic; }  \
  }
