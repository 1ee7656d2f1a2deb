//! The built tool, as a user runs it: standard output, standard error and exit codes.

mod check;
mod compile;
mod npy;
mod run;
mod tool;
