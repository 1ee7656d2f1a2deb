//! Reads back from the driver what a graph holds, to compare it with what was meant.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::path::Path;

use cudarc::driver::sys::{self, CUgraphDebugDot_flags, CUgraphEdgeData, CUgraphNode, CUmemorytype};

use super::{Edge, Graph, Memcpy, NodeId};
use crate::driver::DriverError;
use crate::driver::module::parameters;

/// A node as the driver describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NodeView {
    /// A kernel launch.
    Kernel {
        /// The kernel's symbol.
        symbol: String,
        /// Blocks along x, y and z.
        grid: [u32; 3],
        /// Threads of a block along x, y and z.
        block: [u32; 3],
        /// Dynamic shared memory in bytes.
        shared_bytes: u32,
        /// The bytes of every argument.
        args: Vec<Vec<u8>>,
    },
    /// A copy in device memory.
    Memcpy(Memcpy),
    /// Nothing.
    Empty,
    /// Records an event.
    Event,
    /// Something this module does not build, by the driver's number of its type.
    Other(u32),
}

impl Graph {
    /// All nodes, in the order of their numbers.
    pub(crate) fn read_nodes(&self) -> Result<Vec<(NodeId, NodeView)>, DriverError> {
        let numbers = self.numbers();
        let mut views = Vec::with_capacity(self.nodes.len());
        for handle in self.read_handles()? {
            views.push((numbered(&numbers, handle)?, self.read_node(handle)?));
        }
        views.sort_by_key(|(node, _)| *node);
        Ok(views)
    }

    /// All edges, sorted.
    pub(crate) fn read_edges(&self) -> Result<Vec<Edge>, DriverError> {
        let mut count = 0;
        let (null, no_data) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: with null arrays the driver only writes the number of edges, which outlives the call.
        self.context.call("cuGraphGetEdges_v2", || unsafe {
            sys::cuGraphGetEdges_v2(self.raw, null, null, no_data, &mut count)
        })?;
        let (mut from, mut to) = (vec![std::ptr::null_mut(); count], vec![std::ptr::null_mut(); count]);
        let mut data = vec![CUgraphEdgeData { from_port: 0, to_port: 0, type_: 0, reserved: [0; 5] }; count];
        if count > 0 {
            // SAFETY: three arrays of `count` entries, which the driver fills up to `count`; all outlive the call.
            self.context.call("cuGraphGetEdges_v2", || unsafe {
                sys::cuGraphGetEdges_v2(self.raw, from.as_mut_ptr(), to.as_mut_ptr(), data.as_mut_ptr(), &mut count)
            })?;
        }
        let numbers = self.numbers();
        let mut edges = Vec::with_capacity(count);
        for ((from, to), data) in from.into_iter().zip(to).zip(data) {
            edges.push(Edge {
                from: numbered(&numbers, from)?,
                to: numbered(&numbers, to)?,
                from_port: data.from_port,
                to_port: data.to_port,
                kind: data.type_,
            });
        }
        edges.sort();
        Ok(edges)
    }

    /// Writes the graph in DOT form, with all that the driver knows about each node.
    pub(crate) fn write_dot(&self, path: &Path) -> Result<(), DriverError> {
        let nul = || DriverError::Nul { what: "a path", text: path.display().to_string() };
        let text = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| nul())?;
        let flags = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE as u32;
        // SAFETY: `text` outlives the call; the graph is borrowed and not changed.
        self.context
            .call("cuGraphDebugDotPrint", || unsafe { sys::cuGraphDebugDotPrint(self.raw, text.as_ptr(), flags) })
    }

    fn read_handles(&self) -> Result<Vec<CUgraphNode>, DriverError> {
        let mut count = 0;
        // SAFETY: with a null array the driver only writes the number of nodes, which outlives the call.
        self.context
            .call("cuGraphGetNodes", || unsafe { sys::cuGraphGetNodes(self.raw, std::ptr::null_mut(), &mut count) })?;
        let mut handles = vec![std::ptr::null_mut(); count];
        if count > 0 {
            // SAFETY: an array of `count` entries, which the driver fills up to `count`; both outlive the call.
            self.context.call("cuGraphGetNodes", || unsafe {
                sys::cuGraphGetNodes(self.raw, handles.as_mut_ptr(), &mut count)
            })?;
        }
        Ok(handles)
    }

    fn read_node(&self, handle: CUgraphNode) -> Result<NodeView, DriverError> {
        // Read as a number, because a newer driver may give one that the enum does not have.
        let mut kind = MaybeUninit::<sys::CUgraphNodeType>::zeroed();
        // SAFETY: `handle` is a node of this graph, and `kind` outlives the call.
        self.context.call("cuGraphNodeGetType", || unsafe { sys::cuGraphNodeGetType(handle, kind.as_mut_ptr()) })?;
        // SAFETY: zeroed above, and of the enum's size, which is that of a `u32`.
        match unsafe { kind.as_ptr().cast::<u32>().read() } {
            0 => self.read_kernel(handle),
            1 => self.read_memcpy(handle),
            5 => Ok(NodeView::Empty),
            7 => Ok(NodeView::Event),
            other => Ok(NodeView::Other(other)),
        }
    }

    fn read_kernel(&self, handle: CUgraphNode) -> Result<NodeView, DriverError> {
        let mut params = MaybeUninit::<sys::CUDA_KERNEL_NODE_PARAMS_v2>::zeroed();
        // SAFETY: `handle` is a kernel node of this graph, and `params` outlives the call.
        self.context.call("cuGraphKernelNodeGetParams_v2", || unsafe {
            sys::cuGraphKernelNodeGetParams_v2(handle, params.as_mut_ptr())
        })?;
        // SAFETY: integers and pointers, all valid when zero, and filled by the driver.
        let params = unsafe { params.assume_init() };
        let mut name = std::ptr::null();
        // SAFETY: the node's function is of a module that the graph keeps; `name` outlives the call.
        self.context.call("cuFuncGetName", || unsafe { sys::cuFuncGetName(&mut name, params.func) })?;
        // SAFETY: the driver gave a text with a final NUL, which lives as long as the function's module.
        let symbol = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        let mut args = Vec::new();
        for (i, bytes) in parameters(&self.context, params.func)?.into_iter().enumerate() {
            // SAFETY: the driver's array has one pointer for each declared parameter, to that many bytes; it is the
            // node's own copy, which nobody changes while the graph is borrowed.
            args.push(
                unsafe { std::slice::from_raw_parts((*params.kernelParams.add(i)).cast::<u8>(), bytes) }.to_vec(),
            );
        }
        Ok(NodeView::Kernel {
            symbol,
            grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
            block: [params.blockDimX, params.blockDimY, params.blockDimZ],
            shared_bytes: params.sharedMemBytes,
            args,
        })
    }

    fn read_memcpy(&self, handle: CUgraphNode) -> Result<NodeView, DriverError> {
        let mut params = MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
        let p = params.as_mut_ptr();
        // SAFETY: `handle` is a copy node of this graph, and `params` outlives the call.
        self.context.call("cuGraphMemcpyNodeGetParams", || unsafe { sys::cuGraphMemcpyNodeGetParams(handle, p) })?;
        // SAFETY: numbers, zeroed above or written by the driver; the memory types are read as such.
        let (kinds, target, source, bytes) = unsafe {
            (
                [
                    (&raw const (*p).srcMemoryType).cast::<u32>().read(),
                    (&raw const (*p).dstMemoryType).cast::<u32>().read(),
                ],
                (&raw const (*p).dstDevice).read(),
                (&raw const (*p).srcDevice).read(),
                (&raw const (*p).WidthInBytes).read(),
            )
        };
        // The driver may say "unified" of device memory: either way the device addresses are what counts.
        let device = [CUmemorytype::CU_MEMORYTYPE_DEVICE as u32, CUmemorytype::CU_MEMORYTYPE_UNIFIED as u32];
        if kinds.iter().all(|k| device.contains(k)) {
            Ok(NodeView::Memcpy(Memcpy { target, source, bytes }))
        } else {
            Ok(NodeView::Other(1))
        }
    }

    fn numbers(&self) -> HashMap<CUgraphNode, NodeId> {
        self.nodes.iter().enumerate().map(|(i, (handle, _))| (*handle, NodeId(i as u32))).collect()
    }
}

fn numbered(numbers: &HashMap<CUgraphNode, NodeId>, handle: CUgraphNode) -> Result<NodeId, DriverError> {
    let foreign = DriverError::WrongNode { what: "read back", node: u32::MAX, wanted: "one that this graph was given" };
    numbers.get(&handle).copied().ok_or(foreign)
}
