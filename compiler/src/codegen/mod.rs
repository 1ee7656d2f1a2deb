//! Code generation: from the body of a kernel to CUDA C++ text.
//!
//! What a body is made of decides its [`Family`], and each family has a generator in a file of its own. All share the
//! expression emitter (`emit`), which turns everything that happens at one index into statements; a generator adds the
//! loops around it and the step that elements do together: a reduction, a product, a scan, a scatter.
//!
//! The text needs no header. A program is the [`prelude`] and the [`source`](Generated::source) of some kernels,
//! compiled with [`NVRTC_OPTIONS`].

mod convolution;
mod emit;
mod matmul;
mod name;
mod pointwise;
mod rows;
mod scan;
mod scatter;
mod scatter_sorted;
pub(crate) mod sort;
mod types;
mod windows;

pub use types::storage;

pub(crate) use types::identity;

use crate::Options;
use emit::{Emitter, Refusal};
use monograph_ir::plan::{Access, IndexMap};
use monograph_ir::{Error, Graph, Op, Shape, Spec, Target, ValueId};

/// The options of every program, beside the architecture. Products and sums are never contracted: where a fused
/// multiply-add is meant, the text says so.
pub const NVRTC_OPTIONS: &[&str] = &["--std=c++17", "--fmad=false"];

/// The text that comes before all kernels of a program: the functions that they may call, the same for all.
pub const fn prelude() -> &'static str {
    concat!(
        include_str!("prelude/common.cu"),
        include_str!("prelude/bits.cu"),
        include_str!("prelude/casts.cu"),
        include_str!("prelude/memory.cu"),
        include_str!("prelude/floats.cu"),
        include_str!("prelude/special.cu"),
        include_str!("prelude/integers.cu"),
        include_str!("prelude/random.cu"),
        include_str!("prelude/warps.cu"),
        include_str!("prelude/tensor_cores.cu"),
        include_str!("prelude/async_copies.cu"),
        include_str!("prelude/barriers.cu"),
        include_str!("prelude/order.cu"),
        include_str!("prelude/transactions.cu"),
    )
}

/// Static shared memory that a block can have, in bytes.
const SHARED_BYTES: usize = 48 << 10;

/// What a kernel's body is made of decides its generator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// Every element of the outputs is computed from elements alone.
    Pointwise,
    /// Reductions over the same axes of values of one shape, and what is computed from their results in each row.
    Rows,
    /// One matrix product.
    Matmul,
    /// One scatter.
    Scatter,
    /// One scan.
    Scan,
    /// Rows sorted in shared memory.
    Sort,
    /// One pass of a radix sort: what there is of each digit.
    DigitCounts,
    /// One pass of a radix sort: where each element goes.
    DigitPlaces,
    /// One scatter of sorted indices.
    ScatterSorted,
    /// One convolution.
    Convolution,
    /// One reduction of windows, or what goes back from one.
    Windows,
}

/// The family of a body. A body that mixes families has the one that is named last here; [`supported`] refuses it.
pub fn family(body: &Graph) -> Family {
    let of = |op: &Op| match op {
        Op::Reduce { .. } | Op::ArgReduce { .. } => Family::Rows,
        Op::Matmul { .. } => Family::Matmul,
        Op::Scatter { .. } => Family::Scatter,
        Op::Scan { .. } => Family::Scan,
        Op::SortPacked => Family::Sort,
        Op::DigitCounts { .. } => Family::DigitCounts,
        Op::PlaceByDigit { .. } => Family::DigitPlaces,
        Op::ScatterSorted { .. } => Family::ScatterSorted,
        Op::Convolution { .. } => Family::Convolution,
        Op::WindowReduce { .. } | Op::WindowArg { .. } | Op::WindowScatter { .. } => Family::Windows,
        _ => Family::Pointwise,
    };
    body.nodes().iter().map(|n| of(&n.op)).max().unwrap_or(Family::Pointwise)
}

/// A kernel's code and how it touches memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// Ops and a structural hash; also the symbol.
    pub name: String,
    /// The iteration space of the maps of `reads` and `writes`.
    pub domain: Shape,
    /// How each parameter is read.
    pub reads: Vec<Access>,
    /// How each output is written.
    pub writes: Vec<Access>,
    /// The `__global__` function, without the prelude. Its parameters are the pointers of the reads, then those of
    /// the writes, each aligned to 16 bytes.
    pub source: String,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
}

/// What a generator is given.
struct Request<'a> {
    body: &'a Graph,
    target: &'a Target,
    options: &'a Options,
}

impl<'a> Request<'a> {
    fn outputs(&self) -> impl Iterator<Item = (ValueId, &'a Spec)> + use<'a> {
        let body = self.body;
        body.outputs().iter().map(move |o| (o.value, body.spec(o.value)))
    }

    fn emitter(&self) -> Emitter<'a> {
        Emitter::new(self.body, self.options.excess_precision)
    }
}

/// What a generator gives back.
struct Code {
    domain: Shape,
    reads: Vec<IndexMap>,
    writes: Vec<IndexMap>,
    /// The statements of the function.
    text: String,
    /// Blocks, in one dimension: that one is the only one that goes beyond 65,535.
    grid: u32,
    block: [u32; 3],
}

/// The family of a body that has code, or why it has none.
///
/// # Errors
/// In words, what of the body its generator cannot do: a reduction's result is needed by another row, two products
/// meet, …
pub fn supported(body: &Graph) -> Result<Family, String> {
    let (target, options) = (Target::default(), Options::default());
    let request = Request { body, target: &target, options: &options };
    let family = family(body);
    let checked = match family {
        Family::Pointwise => pointwise::check(&request),
        Family::Rows => rows::check(&request),
        Family::Matmul => matmul::check(&request),
        Family::Scatter => scatter::check(&request),
        Family::Scan => scan::check(&request),
        Family::Sort => sort::block::check(&request),
        Family::DigitCounts => sort::counts::check(&request),
        Family::DigitPlaces => sort::places::check(&request),
        Family::ScatterSorted => scatter_sorted::check(&request),
        Family::Convolution => convolution::check(&request),
        Family::Windows => windows::check(&request),
    };
    checked.map(|()| family).map_err(|Refusal(message)| message)
}

/// Code for a body: parameter `i` of the body is the pointer of read `i`, output `i` that of write `i`.
///
/// # Errors
/// [`Error::Internal`] for a body that [`supported`] refuses.
pub fn generate(body: &Graph, target: &Target, options: &Options) -> Result<Generated, Error> {
    let request = Request { body, target, options };
    let code = match family(body) {
        Family::Pointwise => pointwise::generate(&request),
        Family::Rows => rows::generate(&request),
        Family::Matmul => matmul::generate(&request),
        Family::Scatter => scatter::generate(&request),
        Family::Scan => scan::generate(&request),
        Family::Sort => sort::block::generate(&request),
        Family::DigitCounts => sort::counts::generate(&request),
        Family::DigitPlaces => sort::places::generate(&request),
        Family::ScatterSorted => scatter_sorted::generate(&request),
        Family::Convolution => convolution::generate(&request),
        Family::Windows => windows::generate(&request),
    };
    let code = code.map_err(|Refusal(message)| Error::Internal(format!("no kernel for this body: {message}")))?;
    let name = name::symbol(body, target, options);
    let access = |spec: &Spec, map: IndexMap| Access { spec: spec.clone(), map };
    Ok(Generated {
        source: function(&request, &name, &code),
        name,
        domain: code.domain,
        reads: body.params().iter().zip(code.reads).map(|(p, map)| access(&p.spec, map)).collect(),
        writes: request.outputs().zip(code.writes).map(|((_, spec), map)| access(spec, map)).collect(),
        grid: [code.grid, 1, 1],
        block: code.block,
        shared: 0,
    })
}

/// The whole function around a generator's statements.
fn function(request: &Request<'_>, name: &str, code: &Code) -> String {
    let reads = request.body.params().iter().enumerate();
    let reads = reads.map(|(i, p)| format!("const {}* x{i}", types::storage(p.spec.dtype)));
    let writes = request.outputs().enumerate();
    let writes = writes.map(|(i, (_, spec))| format!("{}* y{i}", types::storage(spec.dtype)));
    let parameters = reads.chain(writes).collect::<Vec<_>>().join(", ");
    let threads: u32 = code.block.iter().product();
    format!("extern \"C\" __global__ void __launch_bounds__({threads})\n{name}({parameters}) {{\n{}}}\n", code.text)
}
