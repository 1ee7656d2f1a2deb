//! Tests of the code generator that need no GPU: the text of kernels, what NVRTC makes of it, and what it computes
//! when run in the emulator.

mod build;
mod convolution;
mod copies;
mod emulate;
mod execute;
mod families;
mod matmul;
mod ordered;
mod pointwise;
mod random;
mod rows;
mod sorting;
mod suite;
mod windows;
