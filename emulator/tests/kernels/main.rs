//! The emulator on hand-written kernels and a hand-made plan.

mod apart;
mod arrays;
mod correct;
mod debugger;
mod defects;
mod environment;
mod plans;
mod printing;
mod process;
mod tool;
