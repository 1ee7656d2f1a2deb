//! Builds a CUDA graph node by node.
//!
//! A [`Graph`] is built once and then [instantiated](Graph::instantiate) into a [`GraphExec`], which keeps it: the
//! driver names nodes of an executable by the handles of the graph it came from.

mod exec;
mod readback;

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUgraph, CUgraphEdgeData, CUgraphNode, CUmemorytype};

pub(crate) use self::exec::{GraphExec, InstantiateError};
pub(crate) use self::readback::NodeView;
use super::error::DriverError;
use super::{Context, Event, Function};

/// A node of one [`Graph`], numbered from 0 in the order of insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

/// The arguments of one kernel launch, by value: device addresses as a rule, but any bytes will do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KernelArgs {
    words: Vec<u64>,
    /// First word and length in bytes of every argument.
    spans: Vec<(usize, usize)>,
}

impl KernelArgs {
    /// One argument for each device address.
    pub(crate) fn pointers(addresses: &[u64]) -> KernelArgs {
        KernelArgs { words: addresses.to_vec(), spans: (0..addresses.len()).map(|i| (i, 8)).collect() }
    }

    /// Appends a device address.
    pub(crate) fn push_pointer(&mut self, address: u64) {
        self.spans.push((self.words.len(), 8));
        self.words.push(address);
    }

    /// Appends an argument of any type, as its bytes (a tensor map, say).
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        let first = self.words.len();
        self.spans.push((first, bytes.len()));
        self.words.resize(first + bytes.len().div_ceil(8), 0);
        bytemuck::cast_slice_mut(&mut self.words[first..])[..bytes.len()].copy_from_slice(bytes);
    }

    /// Replaces an argument by a device address.
    ///
    /// # Panics
    /// If there is no such argument, or it is not one of 8 bytes.
    pub(crate) fn set_pointer(&mut self, index: usize, address: u64) {
        let (first, bytes) = self.spans[index];
        assert_eq!(bytes, 8, "argument {index} is not a device address");
        self.words[first] = address;
    }

    /// The number of arguments.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The bytes of one argument.
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        let &(first, bytes) = self.spans.get(index)?;
        Some(&bytemuck::cast_slice(&self.words[first..])[..bytes])
    }

    fn sizes(&self) -> impl Iterator<Item = usize> {
        self.spans.iter().map(|&(_, bytes)| bytes)
    }
}

/// A kernel launch as a node.
#[derive(Debug, Clone)]
pub(crate) struct KernelNode {
    /// The kernel.
    pub(crate) function: Arc<Function>,
    /// Blocks along x, y and z.
    pub(crate) grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory of a block in bytes; allowed by [`Function::allow_dynamic_shared`] when it is added.
    pub(crate) shared_bytes: u32,
    /// The arguments.
    pub(crate) args: KernelArgs,
}

/// A copy between two places in device memory (mapped host memory included), as a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memcpy {
    /// The device address written.
    pub(crate) target: u64,
    /// The device address read.
    pub(crate) source: u64,
    /// Number of bytes, not 0.
    pub(crate) bytes: usize,
}

/// That one node runs after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Edge {
    /// The earlier node.
    pub(crate) from: NodeId,
    /// The later node.
    pub(crate) to: NodeId,
    /// The event of the earlier node that is waited for: 0 its completion, 1 its programmatic trigger, 2 its start.
    pub(crate) from_port: u8,
    /// The part of the later node that waits: 0, all of it.
    pub(crate) to_port: u8,
    /// 0 plain, 1 programmatic (the later kernel waits by `griddepcontrol.wait`).
    pub(crate) kind: u8,
}

impl Edge {
    /// `to` starts when `from` has completed.
    pub(crate) fn plain(from: NodeId, to: NodeId) -> Edge {
        Edge { from, to, from_port: 0, to_port: 0, kind: 0 }
    }

    /// `to` may start when every block of `from` has triggered or ended, and waits by itself before its first read.
    pub(crate) fn programmatic(from: NodeId, to: NodeId) -> Edge {
        Edge { from, to, from_port: 1, to_port: 0, kind: 1 }
    }
}

/// What a node was made of, kept for updates and to keep alive what the driver's node refers to.
#[derive(Debug)]
enum Content {
    Kernel(KernelNode),
    Memcpy,
    Empty,
    Event(#[expect(dead_code, reason = "held, so that the event outlives the node")] Arc<Event>),
}

/// A CUDA graph under construction. Keeps the kernels and events of its nodes alive, not their memory.
///
/// `Send`, not `Sync`: the driver does not synchronize graphs.
#[derive(Debug)]
pub(crate) struct Graph {
    raw: CUgraph,
    nodes: Vec<(CUgraphNode, Content)>,
    context: Arc<Context>,
}

// SAFETY: the handles are owned by this value, which is not `Sync`; the driver lets any thread use a graph, one at a
// time.
unsafe impl Send for Graph {}

impl Graph {
    /// Creates an empty graph.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Graph, DriverError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` outlives the call; the new `Graph` owns the handle and keeps the context alive.
        context.call("cuGraphCreate", || unsafe { sys::cuGraphCreate(&mut raw, 0) })?;
        Ok(Graph { raw, nodes: Vec::new(), context: context.clone() })
    }

    /// The device of this graph.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds a kernel launch that depends on nothing yet.
    pub(crate) fn add_kernel(&mut self, kernel: KernelNode) -> Result<NodeId, DriverError> {
        self.context.same("the kernel", kernel.function.context())?;
        kernel.function.allow_dynamic_shared(kernel.shared_bytes as usize)?;
        let mut node = std::ptr::null_mut();
        with_kernel_params(&kernel, &kernel.args, |params| {
            // SAFETY: `params` and everything behind it outlive the call, in which the driver copies the arguments;
            // the function's module is kept by the node's content. No dependency is read from the null pointer.
            self.context.call("cuGraphAddKernelNode_v2", || unsafe {
                sys::cuGraphAddKernelNode_v2(&mut node, self.raw, std::ptr::null(), 0, params)
            })
        })?;
        Ok(self.push(node, Content::Kernel(kernel)))
    }

    /// Adds a copy that depends on nothing yet. The memory is the caller's to keep.
    pub(crate) fn add_memcpy(&mut self, copy: Memcpy) -> Result<NodeId, DriverError> {
        let params = memcpy_params(copy);
        let mut node = std::ptr::null_mut();
        // SAFETY: `node` and `params` outlive the call, in which the driver copies `params`.
        self.context.call("cuGraphAddMemcpyNode", || unsafe {
            sys::cuGraphAddMemcpyNode(&mut node, self.raw, std::ptr::null(), 0, params.as_ptr(), self.context.raw())
        })?;
        Ok(self.push(node, Content::Memcpy))
    }

    /// Adds a node that does nothing: a joint for edges.
    pub(crate) fn add_empty(&mut self) -> Result<NodeId, DriverError> {
        let mut node = std::ptr::null_mut();
        // SAFETY: `node` outlives the call.
        self.context.call("cuGraphAddEmptyNode", || unsafe {
            sys::cuGraphAddEmptyNode(&mut node, self.raw, std::ptr::null(), 0)
        })?;
        Ok(self.push(node, Content::Empty))
    }

    /// Adds a node that records an event.
    pub(crate) fn add_event(&mut self, event: &Arc<Event>) -> Result<NodeId, DriverError> {
        self.context.same("the event", event.context())?;
        let mut node = std::ptr::null_mut();
        // SAFETY: `node` outlives the call; the event is kept by the node's content.
        self.context.call("cuGraphAddEventRecordNode", || unsafe {
            sys::cuGraphAddEventRecordNode(&mut node, self.raw, std::ptr::null(), 0, event.raw())
        })?;
        Ok(self.push(node, Content::Event(event.clone())))
    }

    /// Adds edges, all in one call.
    pub(crate) fn add_edges(&mut self, edges: &[Edge]) -> Result<(), DriverError> {
        if edges.is_empty() {
            return Ok(());
        }
        let (mut from, mut to, mut data) = (Vec::new(), Vec::new(), Vec::new());
        for edge in edges {
            from.push(self.handle("add edges", edge.from)?);
            to.push(self.handle("add edges", edge.to)?);
            data.push(CUgraphEdgeData {
                from_port: edge.from_port,
                to_port: edge.to_port,
                type_: edge.kind,
                reserved: [0; 5],
            });
        }
        // SAFETY: three arrays of `edges.len()` entries that outlive the call; the handles are nodes of this graph.
        self.context.call("cuGraphAddDependencies_v2", || unsafe {
            sys::cuGraphAddDependencies_v2(self.raw, from.as_ptr(), to.as_ptr(), data.as_ptr(), edges.len())
        })
    }

    fn push(&mut self, node: CUgraphNode, content: Content) -> NodeId {
        self.nodes.push((node, content));
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn handle(&self, what: &'static str, node: NodeId) -> Result<CUgraphNode, DriverError> {
        let found = self.nodes.get(node.0 as usize).map(|(handle, _)| *handle);
        found.ok_or(DriverError::WrongNode { what, node: node.0, wanted: "in this graph" })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: owned here and used no more; an executable made from it holds this value.
        self.context.destroy("cuGraphDestroy", || unsafe { sys::cuGraphDestroy(self.raw) });
    }
}

/// Checks arguments against the kernel's declaration, and hands out the driver's description of the launch, which is
/// valid during `f` only.
fn with_kernel_params<R>(
    kernel: &KernelNode,
    args: &KernelArgs,
    f: impl FnOnce(&sys::CUDA_KERNEL_NODE_PARAMS_v2) -> Result<R, DriverError>,
) -> Result<R, DriverError> {
    // The driver reads as many bytes as the kernel declares: too few arguments would make it read past the end.
    let expected = kernel.function.parameter_bytes();
    if !args.sizes().eq(expected.iter().copied()) {
        let (kernel, expected, given) = (kernel.function.name().into(), expected.into(), args.sizes().collect());
        return Err(DriverError::Arguments { kernel, expected, given });
    }
    let mut pointers: Vec<*mut c_void> =
        args.spans.iter().map(|&(first, _)| args.words[first..].as_ptr().cast_mut().cast()).collect();
    f(&sys::CUDA_KERNEL_NODE_PARAMS_v2 {
        func: kernel.function.raw(),
        gridDimX: kernel.grid[0],
        gridDimY: kernel.grid[1],
        gridDimZ: kernel.grid[2],
        blockDimX: kernel.block[0],
        blockDimY: kernel.block[1],
        blockDimZ: kernel.block[2],
        sharedMemBytes: kernel.shared_bytes,
        kernelParams: pointers.as_mut_ptr(),
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    })
}

/// The driver's description of a one-dimensional copy in device memory.
fn memcpy_params(copy: Memcpy) -> MaybeUninit<sys::CUDA_MEMCPY3D> {
    // The memory types have no zero value, so the whole struct is a value only once both are written.
    let mut params = MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
    let p = params.as_mut_ptr();
    // SAFETY: `p` points to a struct of this frame, and the fields are written through raw places.
    unsafe {
        (&raw mut (*p).srcMemoryType).write(CUmemorytype::CU_MEMORYTYPE_DEVICE);
        (&raw mut (*p).srcDevice).write(copy.source);
        (&raw mut (*p).dstMemoryType).write(CUmemorytype::CU_MEMORYTYPE_DEVICE);
        (&raw mut (*p).dstDevice).write(copy.target);
        (&raw mut (*p).WidthInBytes).write(copy.bytes);
        (&raw mut (*p).Height).write(1);
        (&raw mut (*p).Depth).write(1);
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_bytes_and_order() {
        let mut args = KernelArgs::pointers(&[0x1122_3344_5566_7788]);
        args.push_bytes(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        args.push_bytes(&[]);
        args.push_pointer(7);
        assert_eq!(args.sizes().collect::<Vec<_>>(), [8, 10, 0, 8]);
        assert_eq!(args.get(0).unwrap(), [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
        assert_eq!(args.get(1).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        args.set_pointer(3, 9);
        assert_eq!(args.get(3).unwrap(), [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(args.get(4), None);
    }
}
