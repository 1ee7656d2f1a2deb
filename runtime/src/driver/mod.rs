//! Thin RAII wrappers over the CUDA driver and NVRTC: the only module with `unsafe`.
//!
//! Rules that every file here keeps:
//! - One type owns each driver handle, and holds an [`Arc`](std::sync::Arc) of what the handle needs to stay alive
//!   (a function its module, a graph its modules and events, everything its [`Context`]). Fields are therefore dropped
//!   after the handle is.
//! - Every call on a context goes through [`Context::call`] (or [`Context::call_raw`]), the one seam where a test can
//!   make a call fail. The hook belongs to the context, so devices never disturb each other. Calls that find or create
//!   a context, and those that destroy something, are not intercepted.
//! - A failed destruction is logged at once. It is never kept to surface at a later, unrelated call.
//! - The device is asynchronous: whoever enqueues work keeps the memory of that work alive until an event or a
//!   synchronization says that it is done. These types bound every copy, but they cannot see into a kernel.
//!
//! Threads: the driver's calls are thread-safe, and a context may be current on several threads. Types whose handles
//! the driver does not synchronize (graphs) are `Send` but not `Sync`.

mod context;
mod cubin;
mod error;
mod event;
mod fault;
mod graph;
mod library;
mod memory;
mod module;
pub(crate) mod nvrtc;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use context::Context;
pub use context::DeviceInfo;
pub use error::DriverError;
pub(crate) use event::Event;
pub(crate) use fault::{Fault, FaultCode};
pub(crate) use graph::{Edge, Graph, GraphExec, InstantiateError, KernelArgs, KernelNode, Memcpy, NodeId, NodeView};
pub use library::{DriverVersion, device_count, driver_version};
pub(crate) use memory::{DeviceMemory, PinnedMemory};
pub(crate) use module::{Function, FunctionAttributes, Module};
pub(crate) use stream::Stream;
