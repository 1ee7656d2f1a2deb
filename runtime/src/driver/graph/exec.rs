//! An instantiated graph: launches and updates.

use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUgraphExec};

use super::{Content, Graph, KernelArgs, Memcpy, NodeId, memcpy_params, with_kernel_params};
use crate::driver::{Context, DriverError, Stream};

/// A graph ready to launch. Keeps its [`Graph`], and thereby kernels and events, alive.
///
/// `Send`, not `Sync`: the driver does not synchronize graph executables. Launches of one executable run one after
/// the other, whatever their streams.
#[derive(Debug)]
pub(crate) struct GraphExec {
    raw: CUgraphExec,
    graph: Graph,
}

// SAFETY: the handle is owned by this value, which is not `Sync`; the driver lets any thread use it, one at a time.
unsafe impl Send for GraphExec {}

/// Why a graph could not be instantiated, with the graph, so that it can be tried again.
#[derive(Debug, thiserror::Error)]
#[error("could not instantiate a graph of {} nodes{}: {error}", graph.len(), at(node, reason))]
pub(crate) struct InstantiateError {
    /// The graph, unchanged.
    pub(crate) graph: Graph,
    /// The node that the driver objects to, if it says so.
    pub(crate) node: Option<NodeId>,
    /// The driver's reason code (`CUgraphInstantiateResult`), 0 if it gives none.
    pub(crate) reason: u32,
    /// The failed call.
    pub(crate) error: DriverError,
}

fn at(node: &Option<NodeId>, reason: &u32) -> String {
    let reason = match reason {
        0 | 1 => "",
        2 => " (invalid structure)",
        3 => " (a node's operation is not supported)",
        4 => " (nodes of several contexts)",
        _ => " (for a reason unknown to this version)",
    };
    node.map_or_else(|| reason.to_owned(), |n| format!(" at node {}{reason}", n.0))
}

impl From<Box<InstantiateError>> for DriverError {
    fn from(error: Box<InstantiateError>) -> DriverError {
        error.error
    }
}

impl Graph {
    /// Makes the graph ready to launch.
    ///
    /// # Errors
    /// Those of the driver, with the graph back: after an out-of-memory the caller can free some and try again.
    pub(crate) fn instantiate(self) -> Result<GraphExec, Box<InstantiateError>> {
        let mut raw = std::ptr::null_mut();
        let mut params = MaybeUninit::<sys::CUDA_GRAPH_INSTANTIATE_PARAMS>::zeroed();
        // SAFETY: `raw` and `params` outlive the call; all zeros are no flags and no stream. The new `GraphExec` owns
        // the handle.
        let result = self.context.call("cuGraphInstantiateWithParams", || unsafe {
            sys::cuGraphInstantiateWithParams(&mut raw, self.raw, params.as_mut_ptr())
        });
        let Err(error) = result else { return Ok(GraphExec { raw, graph: self }) };
        let p = params.as_ptr();
        // SAFETY: both fields were zeroed above or written by the driver; the result is read as a number, because a
        // newer driver may give one that the enum does not have.
        let (node, reason) =
            unsafe { ((&raw const (*p).hErrNode_out).read(), (&raw const (*p).result_out).cast::<u32>().read()) };
        let node = self.nodes.iter().position(|(handle, _)| *handle == node).map(|i| NodeId(i as u32));
        Err(Box::new(InstantiateError { graph: self, node, reason, error }))
    }
}

impl GraphExec {
    /// The graph as it was built; updates of the executable do not change it.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The device that runs this graph.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.graph.context
    }

    /// Moves what the device needs to launch onto it, so that the first launch costs no more than the others.
    pub(crate) fn upload(&self, stream: &Stream) -> Result<(), DriverError> {
        self.context().same("the stream", stream.context())?;
        // SAFETY: both handles are owned by borrowed values of one context.
        self.context().call("cuGraphUpload", || unsafe { sys::cuGraphUpload(self.raw, stream.raw()) })
    }

    /// Enqueues one run. The caller keeps all memory that nodes refer to until the run is done. The stream must be of
    /// the same device, which only debug builds check here: the driver answers with an error otherwise.
    #[inline]
    pub(crate) fn launch(&self, stream: &Stream) -> Result<(), DriverError> {
        debug_assert!(self.context().same("the stream", stream.context()).is_ok());
        // SAFETY: both handles are owned by borrowed values.
        self.context().call("cuGraphLaunch", || unsafe { sys::cuGraphLaunch(self.raw, stream.raw()) })
    }

    /// Gives a kernel node new arguments, from the next launch on; earlier launches are not affected.
    pub(crate) fn set_kernel_args(&mut self, node: NodeId, args: &KernelArgs) -> Result<(), DriverError> {
        const WHAT: &str = "set kernel arguments";
        let handle = self.graph.handle(WHAT, node)?;
        let Content::Kernel(kernel) = &self.graph.nodes[node.0 as usize].1 else {
            return Err(DriverError::WrongNode { what: WHAT, node: node.0, wanted: "a kernel" });
        };
        with_kernel_params(kernel, args, |params| {
            // SAFETY: `params` and everything behind it outlive the call, in which the driver copies the arguments;
            // the node is one of the graph this executable was made from, which `self` keeps.
            self.context().call("cuGraphExecKernelNodeSetParams_v2", || unsafe {
                sys::cuGraphExecKernelNodeSetParams_v2(self.raw, handle, params)
            })
        })
    }

    /// Gives a copy node new addresses, from the next launch on.
    pub(crate) fn set_memcpy(&mut self, node: NodeId, copy: Memcpy) -> Result<(), DriverError> {
        const WHAT: &str = "set a copy";
        let handle = self.graph.handle(WHAT, node)?;
        if !matches!(self.graph.nodes[node.0 as usize].1, Content::Memcpy) {
            return Err(DriverError::WrongNode { what: WHAT, node: node.0, wanted: "a copy" });
        }
        let params = memcpy_params(copy);
        // SAFETY: `params` outlives the call, in which the driver copies it; the node is one of the graph this
        // executable was made from, which `self` keeps.
        self.context().call("cuGraphExecMemcpyNodeSetParams", || unsafe {
            sys::cuGraphExecMemcpyNodeSetParams(self.raw, handle, params.as_ptr(), self.context().raw())
        })
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        // SAFETY: owned here and used no more; the driver destroys it when a run in flight has completed.
        self.context().destroy("cuGraphExecDestroy", || unsafe { sys::cuGraphExecDestroy(self.raw) });
    }
}
