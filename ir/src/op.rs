//! The ops: what a node can be.

use crate::{DType, Elementwise, Graph, Literal, Shape, Windows};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// A short list of dimension numbers.
pub type Axes = SmallVec<[usize; 5]>;
/// A short list of signed amounts, one a dimension.
pub type Amounts = SmallVec<[i64; 5]>;

/// What a node computes. Attributes are part of the op; operands are values of the graph.
///
/// Results are pure functions of the operands, except for the last two groups: regions, which the compiler unrolls
/// or turns into selects, and what is recorded only so that it can be rejected with a good message.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// The graph's parameter of that number.
    Parameter(u32),
    /// A scalar constant of shape `[]`.
    Constant(Literal),
    /// Along `axis` 0, 1, 2, …, the same at every other index. A number, wrapping or rounding at its own width.
    Iota {
        /// Type of the elements.
        dtype: DType,
        /// Extents.
        shape: Shape,
        /// The axis that counts.
        axis: usize,
    },
    /// `(state)`, an i64 tensor of three elements, key, stream and position: random words (u32) of this shape. Element
    /// `i` in row-major order is word `i % 4` of the block of [`philox`](crate::philox) that lies `i / 4` blocks behind
    /// the state. Equal states give equal words.
    RandomBits {
        /// Extents.
        shape: Shape,
    },

    /// A row of the element-wise table.
    Elementwise(Elementwise),
    /// `(bool mask, a, b)`: `a` where the mask is true, else `b`; all of one shape.
    Select,
    /// Converts each element: float to integer saturates with NaN → 0, to `bool` is `x != 0`, floats round to
    /// nearest even, integers wrap.
    Cast(DType),
    /// The same bits as another dtype of the same size.
    Bitcast(DType),

    /// The same elements in row-major order under another shape of the same size.
    Reshape(Shape),
    /// Dimension `i` of the result is dimension `axes[i]` of the operand.
    Permute(Axes),
    /// Stretches to that shape by NumPy's rule: aligned at the right, extents of 1 repeat.
    Broadcast(Shape),
    /// Every `strides[i]`-th index of `starts[i]..limits[i]`, for each dimension.
    Slice {
        /// First index.
        starts: Axes,
        /// One past the last index.
        limits: Axes,
        /// Step, at least 1.
        strides: Axes,
    },
    /// `(x, value)`: `low[i]` elements of the scalar `value` before dimension `i` and `high[i]` after it; negative
    /// amounts cut off.
    Pad {
        /// Amounts before.
        low: Amounts,
        /// Amounts after.
        high: Amounts,
    },
    /// Operands one after the other along `axis`.
    Concat {
        /// The axis they are joined on.
        axis: usize,
    },
    /// Turns the order of these axes around.
    Reverse(Axes),

    /// Combines the elements along `axes`, which vanish from the shape.
    Reduce {
        /// How two elements combine.
        kind: Reduction,
        /// Axes, ascending, each once.
        axes: Axes,
    },
    /// The index (`i64`) of the extreme along `axis`, which vanishes: the first NaN, else the first extreme.
    ArgReduce {
        /// Which extreme.
        kind: Extreme,
        /// The axis.
        axis: usize,
    },
    /// Inclusive prefix combination along `axis`.
    Scan {
        /// How two elements combine.
        kind: Reduction,
        /// The axis.
        axis: usize,
    },

    /// The indices (`i64`) that sort `axis`: stable, ±0 tie. NaN is the greatest value: last ascending, first
    /// descending.
    Argsort {
        /// The axis.
        axis: usize,
        /// The greatest first.
        descending: bool,
    },

    /// `(a, b)`: matrix product of the last two dimensions, `[…, M, K] × […, K, N]`; leading dimensions are equal.
    /// A transposed operand is stored `[…, K, M]` or `[…, N, K]`. f16 and bf16 accumulate in f32 and round once.
    Matmul {
        /// The first operand is stored transposed.
        transpose_a: bool,
        /// The second operand is stored transposed.
        transpose_b: bool,
    },

    /// `(x, kernel)`: `[N, C, extents…]` with a kernel `[O, C / groups, sizes…]` gives `[N, O, windows…]`. Output
    /// channel `o` sums up `x · kernel[o]` over the channels of its group, the `o · groups / O`-th part of `C`, and over
    /// the elements of the window; the kernel is not turned around. Padding and holes are zeros that take part: a
    /// kernel that is not finite gives NaN there. f16 and bf16 accumulate in f32 and round once, integers wrap.
    Convolution {
        /// Where the windows lie.
        windows: Box<Windows>,
        /// Number of groups, which divides `C` and `O`.
        groups: usize,
    },
    /// Combines the elements of each window over the last dimensions of the operand. Padding and holes take no part; a
    /// window without an element gives what the combination starts from: the lowest value of the dtype for the
    /// greatest, -inf of a float.
    WindowReduce {
        /// How two elements combine.
        kind: Reduction,
        /// Elements of a window, one extent for each of the last dimensions.
        sizes: Axes,
        /// Where the windows lie.
        windows: Box<Windows>,
    },
    /// The row-major position (`i64`) within the last dimensions of the extreme of each window: the first NaN, else the
    /// first extreme; -1 for a window without an element.
    WindowArg {
        /// Which extreme.
        kind: Extreme,
        /// Elements of a window, one extent for each of the last dimensions.
        sizes: Axes,
        /// Where the windows lie.
        windows: Box<Windows>,
    },
    /// `(updates, indices)`, one of each (i32 or i64) a window over last dimensions of `extents`: each element of the
    /// result is the sum of the updates of the windows that hold it and whose index is its row-major position, in the
    /// order of the windows. The transpose of taking what `WindowArg` names. f16 and bf16 accumulate in f32.
    WindowScatter {
        /// The last dimensions of the result.
        extents: Axes,
        /// Elements of a window, one extent for each of the last dimensions.
        sizes: Axes,
        /// Where the windows lie.
        windows: Box<Windows>,
    },

    /// `(x, indices)`: the slices of `x` at `indices` (i32 or i64) along `axis`, which the dimensions of `indices`
    /// replace. An index outside `0..extent` reads zeros.
    Take {
        /// The axis that is indexed.
        axis: usize,
    },
    /// `(x, indices)` of equal rank and equal extents except along `axis`: `x[…, indices[…, j, …], …]`. An index
    /// outside reads zero.
    TakeAlong {
        /// The axis that is indexed.
        axis: usize,
    },
    /// `(base, indices, updates)`: `base` with the slices of `updates` combined into it at the one-dimensional
    /// `indices` along `axis`, in the order of the indices. An index outside is dropped.
    Scatter {
        /// The axis that is indexed.
        axis: usize,
        /// How an update meets what is there.
        kind: ScatterKind,
    },
    /// `(x, start_0, …)`: a block of these extents whose corner is given by i32 or i64 scalars, moved inside `x`
    /// where it would stick out.
    DynamicSlice {
        /// Extents of the block.
        sizes: Shape,
    },
    /// `(x, block, start_0, …)`: `x` with the block written at a corner as in `DynamicSlice`.
    DynamicUpdateSlice,

    /// The rows of an `i64[rows, n]` ascending, the elements read as unsigned numbers. Made by the compiler only:
    /// sorts become this over elements that hold a key of 32 bits above an index of 32.
    SortPacked,
    /// Of an `i64[rows, n]`, cut along its rows into tiles, how many elements of each tile have each value of the
    /// byte at bit `shift`: `i32[rows, 256, tiles]`. Made by the compiler only, one pass of a radix sort.
    DigitCounts {
        /// Lowest bit of the byte.
        shift: u32,
        /// Elements of a tile; the last tile of a row may have fewer.
        tile: usize,
    },
    /// `(x, ends)`: each row of an `i64[rows, n]` sorted stably by the byte at bit `shift`. `ends` are the sums along
    /// the tiles, each with itself, of [`Op::DigitCounts`] of `x` with the same attributes; with other numbers,
    /// elements go where these say, and those outside their row are dropped. Made by the compiler only.
    PlaceByDigit {
        /// Lowest bit of the byte.
        shift: u32,
        /// Elements of a tile.
        tile: usize,
    },
    /// `(base, entries, updates)`: [`Op::Scatter`] with its indices sorted. The elements of `entries`, an ascending
    /// `i64[count]` of unsigned numbers, are an index along `axis` in the upper 32 bits and the place of its update
    /// in the lower. Entries whose index or place lies outside are dropped. Made by the compiler only.
    ScatterSorted {
        /// The axis that is indexed.
        axis: usize,
        /// How an update meets what is there.
        kind: ScatterKind,
    },

    /// `(bool scalar, operands…)`: the results of one of two graphs over the operands.
    Cond {
        /// The graph for true.
        then: Region,
        /// The graph for false.
        otherwise: Region,
    },
    /// `(operands…)`: repeats `body` while `condition` (a bool scalar) holds. Rejected: the count depends on data.
    While {
        /// State to a bool scalar.
        condition: Region,
        /// State to state.
        body: Region,
    },
    /// `(operands…)`: `body(i, state…)` for the i64 scalars `i` in `0..count`; the state's types stay.
    For {
        /// Number of rounds.
        count: u64,
        /// `(i, state…)` to state.
        body: Region,
    },

    /// Its result's shape depends on data; recorded so that it can be rejected.
    Dynamic(DynamicOp),
    /// Reads a value on the host; recorded so that it can be rejected.
    Host(HostOp),
}

/// A graph inside an op. Compared by content.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Region(pub Arc<Graph>);

macro_rules! names {
    ($(#[$meta:meta])* $enum:ident { $($(#[$vmeta:meta])* $variant:ident $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $enum { $($(#[$vmeta])* $variant,)* }

        impl $enum {
            /// Every one, in declaration order.
            pub const ALL: &'static [$enum] = &[$($enum::$variant),*];

            /// The name in the textual form.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name,)* }
            }

            /// The one of that name.
            pub fn from_name(name: &str) -> Option<$enum> {
                $enum::ALL.iter().copied().find(|e| e.name() == name)
            }
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! {
    /// How a reduction or a scan combines two elements.
    Reduction {
        /// Sum, 0 when empty; f16 and bf16 accumulate in f32, integers wrap.
        Sum "sum",
        /// Product, 1 when empty.
        Prod "prod",
        /// Greatest; NaN wins; an empty axis is an error.
        Max "max",
        /// Smallest; NaN wins; an empty axis is an error.
        Min "min",
        /// Logical or of `bool`, false when empty.
        Any "any",
        /// Logical and of `bool`, true when empty.
        All "all",
    }
}

impl Reduction {
    /// The value of an empty reduction, if there is one.
    pub fn identity(self, dtype: DType) -> Option<Literal> {
        match self {
            Reduction::Sum | Reduction::Any => Some(Literal::zero(dtype)),
            Reduction::Prod | Reduction::All => Some(Literal::one(dtype)),
            Reduction::Max | Reduction::Min => None,
        }
    }

    /// The element-wise op that combines two elements.
    pub const fn combine(self) -> Elementwise {
        match self {
            Reduction::Sum => Elementwise::Add,
            Reduction::Prod => Elementwise::Mul,
            Reduction::Max => Elementwise::Maximum,
            Reduction::Min => Elementwise::Minimum,
            Reduction::Any => Elementwise::Or,
            Reduction::All => Elementwise::And,
        }
    }

    /// Whether it takes that dtype.
    pub const fn takes(self, dtype: DType) -> bool {
        match self {
            Reduction::Sum | Reduction::Prod => !matches!(dtype, DType::Bool),
            Reduction::Max | Reduction::Min => true,
            Reduction::Any | Reduction::All => matches!(dtype, DType::Bool),
        }
    }
}

names! {
    /// Which extreme an arg-reduction looks for.
    Extreme {
        /// The greatest.
        Max "argmax",
        /// The smallest.
        Min "argmin",
    }
}

names! {
    /// How a scattered update meets the element that is there.
    ScatterKind {
        /// Replaces it; the last update of an index wins.
        Set "set",
        /// Is added to it, in the order of the indices; f16 and bf16 accumulate in f32 and round once.
        Add "add",
        /// The greater of both stays; NaN if either is, and +0 is greater than -0.
        Max "max",
        /// The smaller of both stays; NaN if either is, and -0 is smaller than +0.
        Min "min",
    }
}

names! {
    /// Ops whose result's shape depends on data.
    DynamicOp {
        /// The indices of the elements that are not zero.
        Nonzero "nonzero",
        /// The elements where a mask is true.
        MaskedSelect "masked_select",
        /// The distinct elements, ascending.
        Unique "unique",
        /// A copy of each element as often as a tensor of counts says.
        RepeatInterleave "repeat_interleave",
        /// A range whose end is a traced value.
        DynamicRange "dynamic_range",
    }
}

names! {
    /// Ops that need a value on the host.
    HostOp {
        /// One element as a Rust value.
        Item "item",
        /// All elements as Rust values.
        ToVec "to_vec",
        /// Prints the value.
        Print "print",
        /// Panics where the value is false.
        Assert "assert",
    }
}

impl Op {
    /// The name in the textual form and in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Parameter(_) => "parameter",
            Op::Constant(_) => "constant",
            Op::Iota { .. } => "iota",
            Op::RandomBits { .. } => "random_bits",
            Op::Elementwise(e) => e.name(),
            Op::Select => "select",
            Op::Cast(_) => "cast",
            Op::Bitcast(_) => "bitcast",
            Op::Reshape(_) => "reshape",
            Op::Permute(_) => "permute",
            Op::Broadcast(_) => "broadcast",
            Op::Slice { .. } => "slice",
            Op::Pad { .. } => "pad",
            Op::Concat { .. } => "concat",
            Op::Reverse(_) => "reverse",
            Op::Reduce { kind, .. } => match kind {
                Reduction::Sum => "reduce_sum",
                Reduction::Prod => "reduce_prod",
                Reduction::Max => "reduce_max",
                Reduction::Min => "reduce_min",
                Reduction::Any => "reduce_any",
                Reduction::All => "reduce_all",
            },
            Op::ArgReduce { kind, .. } => kind.name(),
            Op::Scan { kind, .. } => match kind {
                Reduction::Sum => "scan_sum",
                Reduction::Prod => "scan_prod",
                Reduction::Max => "scan_max",
                Reduction::Min => "scan_min",
                Reduction::Any => "scan_any",
                Reduction::All => "scan_all",
            },
            Op::Argsort { .. } => "argsort",
            Op::SortPacked => "sort_packed",
            Op::DigitCounts { .. } => "digit_counts",
            Op::PlaceByDigit { .. } => "place_by_digit",
            Op::ScatterSorted { kind, .. } => match kind {
                ScatterKind::Set => "scatter_sorted_set",
                ScatterKind::Add => "scatter_sorted_add",
                ScatterKind::Max => "scatter_sorted_max",
                ScatterKind::Min => "scatter_sorted_min",
            },
            Op::Matmul { .. } => "matmul",
            Op::Convolution { .. } => "convolution",
            Op::WindowReduce { kind, .. } => match kind {
                Reduction::Sum => "window_sum",
                Reduction::Prod => "window_prod",
                Reduction::Max => "window_max",
                Reduction::Min => "window_min",
                Reduction::Any => "window_any",
                Reduction::All => "window_all",
            },
            Op::WindowArg { kind, .. } => match kind {
                Extreme::Max => "window_argmax",
                Extreme::Min => "window_argmin",
            },
            Op::WindowScatter { .. } => "window_scatter",
            Op::Take { .. } => "take",
            Op::TakeAlong { .. } => "take_along",
            Op::Scatter { kind, .. } => match kind {
                ScatterKind::Set => "scatter_set",
                ScatterKind::Add => "scatter_add",
                ScatterKind::Max => "scatter_max",
                ScatterKind::Min => "scatter_min",
            },
            Op::DynamicSlice { .. } => "dynamic_slice",
            Op::DynamicUpdateSlice => "dynamic_update_slice",
            Op::Cond { .. } => "cond",
            Op::While { .. } => "while_loop",
            Op::For { .. } => "fori_loop",
            Op::Dynamic(op) => op.name(),
            Op::Host(op) => op.name(),
        }
    }

    /// Whether equal nodes may be merged and unused ones removed: everything but what must be reported.
    pub fn is_pure(&self) -> bool {
        !matches!(self, Op::Dynamic(_) | Op::Host(_) | Op::While { .. })
    }

    /// Whether the op only renames indices: no arithmetic on elements.
    pub fn is_view(&self) -> bool {
        matches!(self, Op::Reshape(_) | Op::Permute(_) | Op::Broadcast(_) | Op::Slice { .. } | Op::Reverse(_))
    }

    /// Whether the op runs over windows, so that an element of an operand belongs to several of the result.
    pub fn is_windowed(&self) -> bool {
        matches!(
            self,
            Op::Convolution { .. } | Op::WindowReduce { .. } | Op::WindowArg { .. } | Op::WindowScatter { .. }
        )
    }

    /// The graphs inside the op.
    pub fn regions(&self) -> SmallVec<[&Region; 2]> {
        match self {
            Op::Cond { then, otherwise } => smallvec::smallvec![then, otherwise],
            Op::While { condition, body } => smallvec::smallvec![condition, body],
            Op::For { body, .. } => smallvec::smallvec![body],
            _ => SmallVec::new(),
        }
    }
}

impl From<Elementwise> for Op {
    fn from(op: Elementwise) -> Op {
        Op::Elementwise(op)
    }
}
