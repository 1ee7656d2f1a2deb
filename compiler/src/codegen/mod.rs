//! Kernels as CUDA C++ text.
