// The functions that every kernel may call. Needs no header; all inline PTX of all kernels is here, each use with a
// portable twin, so that the same text runs under an emulation of the device.

#ifdef __CUDACC__
// A program uses some of these functions, and compares unsigned numbers with zero where a template does.
#pragma nv_diag_suppress 177, 186
#endif

#define MG_FN static __device__ __forceinline__

typedef unsigned long long mg_u64;
