//! What a term costs: elements times a weight, in sixteenths of one addition.

use monograph_ir::{DType, Elementwise, Op, Spec};

/// Of a node of its own, whatever it computes.
const NODE: u64 = 16;

/// The price of an op with that result over these operands.
pub(crate) fn cost(op: &Op, result: &Spec, operands: &[&Spec]) -> u64 {
    let elements = |s: &Spec| s.shape.elements().unwrap_or(usize::MAX) as u64;
    let out = elements(result);
    let read = operands.iter().fold(0, |n: u64, s| n.saturating_add(elements(s)));
    let work = match op {
        Op::Parameter(_) | Op::Constant(_) | Op::Reshape(_) => 0,
        // Views are read through; a permuted read is slower than a repeated one.
        Op::Broadcast(_) => out,
        Op::Slice { .. } | Op::Reverse(_) | Op::Iota { .. } => out.saturating_mul(2),
        Op::Permute(_) | Op::Bitcast(_) => out.saturating_mul(4),
        Op::Elementwise(e) => out.saturating_mul(elementwise(*e, operands)),
        Op::Select => out.saturating_mul(16),
        Op::RandomBits { .. } => out.saturating_mul(512),
        Op::Cast(_) => out.saturating_mul(8),
        Op::Reduce { .. } | Op::ArgReduce { .. } | Op::Scan { .. } => read.saturating_mul(16),
        Op::Argsort { .. } | Op::SortPacked | Op::DigitCounts { .. } | Op::PlaceByDigit { .. } => {
            out.saturating_add(read).saturating_mul(256)
        }
        Op::Matmul { transpose_a, .. } => {
            let shape = &operands[0].shape;
            let inner = shape[shape.rank() - if *transpose_a { 2 } else { 1 }] as u64;
            out.saturating_mul(inner).saturating_mul(32)
        }
        Op::Convolution { .. } => {
            let inner = operands[1].shape.iter().skip(1).product::<usize>() as u64;
            out.saturating_mul(inner).saturating_mul(32)
        }
        Op::WindowReduce { sizes, .. } | Op::WindowArg { sizes, .. } | Op::WindowScatter { sizes, .. } => {
            out.saturating_mul(sizes.iter().product::<usize>() as u64).saturating_mul(16)
        }
        Op::Pad { .. }
        | Op::Concat { .. }
        | Op::Take { .. }
        | Op::TakeAlong { .. }
        | Op::Scatter { .. }
        | Op::ScatterSorted { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice
        | Op::Cond { .. }
        | Op::While { .. }
        | Op::For { .. }
        | Op::Dynamic(_)
        | Op::Host(_) => out.saturating_add(read).saturating_mul(16),
    };
    work.saturating_add(NODE)
}

fn elementwise(op: Elementwise, operands: &[&Spec]) -> u64 {
    use Elementwise::*;
    let integer = operands.first().is_some_and(|s| s.dtype.is_integer());
    let wide = operands.first().is_some_and(|s| s.dtype == DType::F64);
    let weight = match op {
        Neg | Abs | Sign | Floor | Ceil | Round | Trunc | IsNan | IsInf | IsFinite | SignBit | CountOnes
        | LeadingZeros | Not | Add | Sub | Mul | Copysign | Nextafter | Maximum | Minimum | And | Or | Xor | Shl
        | Shr | Eq | Ne | Lt | Le | Gt | Ge => 16,
        Div | Rem | DivFloor | ModFloor if integer => 320,
        Div | Sqrt => 128,
        Rsqrt => 192,
        Exp | Exp2 | Expm1 | Log | Log2 | Log10 | Log1p | Cbrt | Sin | Cos | Tanh | Sinh | Cosh | Asin | Acos
        | Atan | Hypot | Rem | DivFloor | ModFloor => 256,
        Erf | Erfc | Tan | Asinh | Acosh | Atanh | Pow | Atan2 => 512,
        Erfinv | Lgamma | Digamma => 1024,
    };
    if wide { weight * 2 } else { weight }
}
