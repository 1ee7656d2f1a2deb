//! Tests of the code generator that need no GPU: the text of kernels, what NVRTC makes of it, and what it computes
//! when run on the CPU.

mod build;
mod convolution;
mod copies;
mod matmul;
mod ordered;
mod pointwise;
mod rows;
mod suite;
mod windows;
