//! `ReplayCost`: which driver calls and bytes a replay took.

use std::time::Duration;

/// What one replay asked of the driver. On the host all but `launches` and `bytes_copied` are zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReplayCost {
    /// Launches of the whole graph: 1.
    pub launches: u32,
    /// Copies of inputs into resident buffers.
    pub copies: u32,
    /// Bytes of those copies.
    pub bytes_copied: u64,
    /// Graph nodes patched because a bound input moved.
    pub patched_nodes: u32,
    /// Waits of the host for the device.
    pub waits: u32,
}

/// What launches cost without any of the work of a replay around them. Times are of one launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BareLaunches {
    /// How long the call took on the host.
    pub host: Duration,
    /// How long the device took, by events around all launches.
    pub device: Duration,
}
