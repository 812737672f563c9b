// The names of CUDA that the kernels and the driver use. With HIP (hipcc) they stand for HIP's. The
// HIP side was compiled and run by nobody yet.
#pragma once

#ifdef __HIP__
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

using Half = __half;
using Bfloat16 = __hip_bfloat16;
// AMD's MI300 has a variant of E4M3 with another bias (`fnuz`). This is the common one.
using Fp8 = __hip_fp8_e4m3;

#define cudaDeviceProp hipDeviceProp_t
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaError_t hipError_t
#define cudaErrorDevicesUnavailable hipErrorNotReady
#define cudaErrorInsufficientDriver hipErrorInsufficientDriver
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorNoDevice hipErrorNoDevice
#define cudaFree hipFree
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaMalloc hipMalloc
#define cudaMemcpy hipMemcpy
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaSetDevice hipSetDevice
#define cudaSuccess hipSuccess
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

using Half = __half;
using Bfloat16 = __nv_bfloat16;
using Fp8 = __nv_fp8_e4m3;
#endif
