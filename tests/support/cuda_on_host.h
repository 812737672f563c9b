// A stand-in for CUDA that executes kernels on the host, one thread after the other, so that a test
// can check their results without a GPU. It has only what examples/kernel/cuda uses. A launch
// `kernel<<<grid, block>>>(...)` must be written as `cuda_on_host::launch(kernel, grid,
// block)(...)`.
//
// A thread runs until its next __syncthreads(), then the next thread runs. The environment variable
// CUDA_ON_HOST_REVERSED lets the last thread run first. An asynchronous copy is executed as late as
// possible. A kernel that lacks a barrier or waits for too few copies is therefore wrong in one of
// the orders.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "kernel/check.h"

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
  unsigned x, y, z;
  // Not explicit, as in CUDA.
  dim3(unsigned to_x = 1, unsigned to_y = 1, unsigned to_z = 1) : x(to_x), y(to_y), z(to_z) {}
};

namespace cuda_on_host {

// A copy that was begun by __pipeline_memcpy_async(). The last `zeros` bytes become 0.
struct Copy {
  void* to;
  const void* from;
  std::size_t size, zeros;
};

// The stacks of the threads of a block, used by one block after the other.
inline std::vector<std::unique_ptr<char[]>> stacks;
constexpr std::size_t kStackBytes = 1 << 16;

// A thread of a block, which has its own stack. It begins with `context`. Later switches between
// threads jump, because swapcontext() needs two system calls.
struct Thread {
  ucontext_t context;
  jmp_buf resume;
  bool begun_to_run = false;
  bool done = false;
  std::vector<Copy> begun;
  // The groups of copies that are not executed yet, the oldest first.
  std::deque<std::vector<Copy>> groups;
};

// The block of threads that runs now.
struct Block {
  dim3 index, size;
  std::vector<std::unique_ptr<Thread>> threads;
  Thread* current = nullptr;
  dim3 current_index;
  jmp_buf scheduler;
  void (*call)(void*) = nullptr;
  void* argument = nullptr;
};
inline Block* block = nullptr;

inline void run_thread() {
  block->call(block->argument);
  block->current->done = true;
  _longjmp(block->scheduler, 1);
}

// Runs the threads of a block by turns, from one barrier to the next.
inline void run_block(Block& made) {
  block = &made;
  const unsigned count = made.size.x * made.size.y * made.size.z;
  const bool reversed = std::getenv("CUDA_ON_HOST_REVERSED") != nullptr;
  for (unsigned t = 0; t < count; ++t) {
    made.threads.push_back(std::make_unique<Thread>());
    Thread& thread = *made.threads.back();
    if (stacks.size() <= t) stacks.emplace_back(new char[kStackBytes]);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = stacks[t].get();
    thread.context.uc_stack.ss_size = kStackBytes;
    thread.context.uc_link = nullptr;
    makecontext(&thread.context, run_thread, 0);
  }
  for (bool running = true; running;) {
    running = false;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned t = reversed ? count - 1 - i : i;
      Thread& thread = *made.threads[t];
      if (thread.done) continue;
      running = true;
      made.current = &thread;
      made.current_index =
          dim3(t % made.size.x, t / made.size.x % made.size.y, t / made.size.x / made.size.y);
      if (_setjmp(made.scheduler) != 0) continue;
      if (thread.begun_to_run) _longjmp(thread.resume, 1);
      thread.begun_to_run = true;
      setcontext(&thread.context);
    }
  }
}

// Returns a function that runs a kernel with the arguments that it gets.
template <class... Parameters>
auto launch(void (*kernel)(Parameters...), dim3 grid, dim3 size) {
  return [=](Parameters... arguments) {
    auto call = [&] { kernel(arguments...); };
    for (unsigned z = 0; z < grid.z; ++z) {
      for (unsigned y = 0; y < grid.y; ++y) {
        for (unsigned x = 0; x < grid.x; ++x) {
          Block made;
          made.index = dim3(x, y, z);
          made.size = size;
          made.call = [](void* argument) { (*static_cast<decltype(call)*>(argument))(); };
          made.argument = &call;
          run_block(made);
        }
      }
    }
  };
}

}  // namespace cuda_on_host

#define threadIdx (cuda_on_host::block->current_index)
#define blockIdx (cuda_on_host::block->index)
#define blockDim (cuda_on_host::block->size)

inline void __syncthreads() {
  if (_setjmp(cuda_on_host::block->current->resume) == 0) {
    _longjmp(cuda_on_host::block->scheduler, 1);
  }
}

// ---- Types

template <kernel_check::Type kType>
struct SmallFloat {
  std::uint16_t bits;
  explicit operator float() const {
    static const std::vector<float> values = [] {
      std::vector<float> made;
      for (std::uint32_t b = 0; b < 65536; ++b) {
        made.push_back(static_cast<float>(kernel_check::decode(b, kType)));
      }
      return made;
    }();
    return values[bits];
  }
};
using __half = SmallFloat<kernel_check::Type::kHalf>;
using __nv_bfloat16 = SmallFloat<kernel_check::Type::kBfloat16>;
struct __nv_fp8_e4m3 {
  std::uint8_t bits;
  explicit operator float() const {
    return static_cast<float>(SmallFloat<kernel_check::Type::kFp8E4m3>{bits});
  }
};
inline float __half2float(__half value) { return static_cast<float>(value); }
inline __half __float2half(float value) {
  return {static_cast<std::uint16_t>(
      kernel_check::encode(static_cast<double>(value), kernel_check::Type::kHalf))};
}
inline __nv_bfloat16 __float2bfloat16(float value) {
  return {static_cast<std::uint16_t>(
      kernel_check::encode(static_cast<double>(value), kernel_check::Type::kBfloat16))};
}

// ---- Asynchronous copies

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t size,
                                    std::size_t zeros = 0) {
  cuda_on_host::block->current->begun.push_back({to, from, size, zeros});
}
inline void __pipeline_commit() {
  cuda_on_host::Thread& thread = *cuda_on_host::block->current;
  thread.groups.push_back(std::move(thread.begun));
  thread.begun.clear();
}
inline void __pipeline_wait_prior(std::size_t prior) {
  cuda_on_host::Thread& thread = *cuda_on_host::block->current;
  for (; thread.groups.size() > prior; thread.groups.pop_front()) {
    for (const cuda_on_host::Copy& copy : thread.groups.front()) {
      std::memcpy(copy.to, copy.from, copy.size - copy.zeros);
      std::memset(static_cast<char*>(copy.to) + copy.size - copy.zeros, 0, copy.zeros);
    }
  }
}

// ---- Matrices of warps. The first thread of a warp has all elements and does all the work.

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
enum layout_t { mem_row_major };

template <class Use, int kM, int kN, int kK, class T, class Layout = void>
struct fragment {
  static_assert(kM == 16 && kN == 16 && kK == 16);
  float x[16][16];
};

inline bool is_first_of_warp() { return threadIdx.x % 32 == 0; }

template <class Fragment>
void fill_fragment(Fragment& to, float value) {
  for (auto& row : to.x) std::fill(row, row + 16, value);
}
template <class Fragment, class T>
void load_matrix_sync(Fragment& to, const T* from, unsigned stride) {
  for (unsigned i = 0; is_first_of_warp() && i < 16; ++i) {
    for (unsigned j = 0; j < 16; ++j) to.x[i][j] = static_cast<float>(from[i * stride + j]);
  }
}
template <class Sum, class A, class B>
void mma_sync(Sum& to, const A& a, const B& b, const Sum& sum) {
  for (unsigned i = 0; is_first_of_warp() && i < 16; ++i) {
    for (unsigned j = 0; j < 16; ++j) {
      float value = sum.x[i][j];
      for (unsigned k = 0; k < 16; ++k) value += a.x[i][k] * b.x[k][j];
      to.x[i][j] = value;
    }
  }
}
template <class Sum>
void store_matrix_sync(float* to, const Sum& from, unsigned stride, layout_t) {
  for (unsigned i = 0; is_first_of_warp() && i < 16; ++i) {
    for (unsigned j = 0; j < 16; ++j) to[i * stride + j] = from.x[i][j];
  }
}

}  // namespace nvcuda::wmma

// ---- The runtime

enum cudaError_t {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorNoDevice,
  cudaErrorDevicesUnavailable
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
struct cudaDeviceProp {
  char name[256];
};
inline const char* cudaGetErrorString(cudaError_t) { return "an error"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "host");
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  *to = std::malloc(bytes);
  return *to == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
