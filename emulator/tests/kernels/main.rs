//! The emulator on hand-written kernels and a hand-made plan.

mod correct;
mod defects;
mod plans;
mod process;
mod tool;
