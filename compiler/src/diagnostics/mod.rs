//! What users are told about programs that cannot be compiled: the registry of codes, and rendering with source lines.

pub mod codes;
mod render;
mod sources;
mod text;

pub use codes::{Explanation, explain};
pub use render::{render, render_all};
pub use sources::Sources;
pub use text::{from_parse_error, from_verify_error};
