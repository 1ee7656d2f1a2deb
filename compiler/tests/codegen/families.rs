//! Every family in every form that its generator has, with sizes that divide nothing: guards, tails, last tiles.

use crate::build::Body;
use crate::suite::Suite;
use monograph_compiler::codegen::Family;
use monograph_ir::{Amounts, Axes, DType, Elementwise, Extreme, Graph, Op, Reduction, ScatterKind, Target, Windows};

/// A form of a family's kernels.
struct Form {
    name: &'static str,
    body: Graph,
    /// Multiprocessors of the target: what there are many of gets small tiles.
    processors: u32,
    tolerance: f64,
    /// What the text of this form has.
    signs: &'static [&'static str],
}

fn form(name: &'static str, body: Graph, tolerance: f64, signs: &'static [&'static str]) -> Form {
    Form { name, body, processors: 132, tolerance, signs }
}

/// The family behind this one. A family that is new is forgotten by nobody, as there is no arm for it.
fn next(family: Family) -> Option<Family> {
    match family {
        Family::Pointwise => Some(Family::Rows),
        Family::Rows => Some(Family::Matmul),
        Family::Matmul => Some(Family::Scatter),
        Family::Scatter => Some(Family::Scan),
        Family::Scan => Some(Family::Sort),
        Family::Sort => Some(Family::DigitCounts),
        Family::DigitCounts => Some(Family::DigitPlaces),
        Family::DigitPlaces => Some(Family::ScatterSorted),
        Family::ScatterSorted => Some(Family::Convolution),
        Family::Convolution => Some(Family::Windows),
        Family::Windows => None,
    }
}

fn forms(family: Family) -> Vec<Form> {
    match family {
        Family::Pointwise => vec![
            form("vectors", pointwise(&[7, 37, 4]), 0.0, &["mg_load<4>(x0", "if (n >= 259) return;"]),
            form("pairs", pointwise(&[7, 37, 2]), 0.0, &["mg_load<2>(x0", "if (n >= 259) return;"]),
            form("elements", pointwise(&[7, 37]), 0.0, &["x0[n]", "if (n >= 259) return;"]),
            form("gathered rows", take(9, 12, 37), 0.0, &["mg_load<4>(x0", "mg_limit<long long>"]),
            form("gathered elements", take(9, 7, 37), 0.0, &["mg_limit<long long>"]),
        ],
        Family::Rows => vec![
            form("a thread a row", sum(&[131, 7], &[1]), 1e-6, &["if (r >= 131) return;"]),
            form("a warp a row", sum(&[7, 101], &[1]), 1e-6, &["blockIdx.x * 1 +", "mg_shfl_xor"]),
            Form {
                processors: 1,
                ..form("warps of a block", sum(&[7, 101], &[1]), 1e-6, &["if (r >= 7) return;", "threadIdx.y"])
            },
            form("a block a row", sum(&[3, 1027], &[1]), 1e-6, &["__syncthreads();", "mg_limit("]),
            form("a block a long row", sum(&[3, 40_001], &[1]), 1e-6, &["__syncthreads();", "for (int u"]),
            form("columns", sum(&[101, 37], &[0]), 1e-6, &["__syncthreads();", "live"]),
            form("long columns", sum(&[5001, 11], &[0]), 1e-6, &["__syncthreads();", "live", "for (int u"]),
        ],
        Family::Matmul => vec![
            form("narrow along k", matmul(DType::F32, [3, 61, 103], [false, true]), 1e-6, &["__shared__ float s["]),
            form("narrow along n", matmul(DType::F32, [3, 67, 103], [false, false]), 1e-6, &["__shared__ float s["]),
            form("batches of narrow", batches([3, 5, 23, 19]), 1e-6, &["__shared__ float s["]),
            form(
                "tiles of 32 x 32",
                matmul(DType::F32, [35, 67, 103], [false, false]),
                1e-6,
                &["float c1_0 = 0, c1_1 = 0;"],
            ),
            Form {
                processors: 4,
                ..form("tiles of 64 x 64", matmul(DType::F32, [67, 131, 19], [true, false]), 1e-6, &["c3_3 = 0;"])
            },
            Form {
                processors: 3,
                ..form("tiles of 128 x 64", matmul(DType::F32, [131, 67, 19], [false, true]), 1e-6, &["c7_3 = 0;"])
            },
            Form {
                processors: 1,
                ..form("tiles of 128 x 128", matmul(DType::F32, [131, 67, 19], [true, true]), 1e-6, &["c7_7 = 0;"])
            },
            form("loaded slices", matmul(DType::F16, [35, 67, 103], [false, false]), 1e-3, &["mg_ldmatrix", "sb["]),
            form(
                "copied slices",
                matmul(DType::F16, [35, 67, 104], [false, true]),
                1e-3,
                &["mg_mma_f16", "mg_async_copy<16>(sb"],
            ),
            form(
                "one of each",
                matmul(DType::BF16, [35, 67, 104], [false, false]),
                1e-2,
                &["mg_async_copy<16>(sa", "sb["],
            ),
        ],
        Family::Scatter => vec![
            form("few indices", scatter(&[5, 301], 0, 3), 0.0, &["__ballot_sync"]),
            form("many indices", scatter(&[5, 7, 3], 1, 301), 0.0, &["__syncthreads_or"]),
            form("more indices than threads", scatter(&[7], 0, 2111), 0.0, &["__syncthreads_or"]),
        ],
        Family::Scan => vec![
            form("a thread a row", scan(&[131, 7], 1), 1e-6, &["if (r >= 131) return;"]),
            form("a thread a column", scan(&[7, 19, 11], 1), 1e-6, &["if (r >= 77) return;"]),
            form("a block a row", scan(&[3, 701], 1), 2e-6, &["totals[t / 32]"]),
            form("a block a row of vectors", scan(&[3, 1308], 1), 2e-6, &["totals[t / 32]", "mg_load<4>(x0"]),
        ],
        Family::Sort => vec![
            form("rows share a block", sort(&[70, 37]), 0.0, &["mg_u64 s[512]", "__syncwarp"]),
            form("a block a row", sort(&[2, 1027]), 0.0, &["mg_u64 s[2048]", "__syncwarp"]),
        ],
        Family::DigitCounts => vec![form("counts", counts(&[2, 701]), 0.0, &["mg_same_digit", "counts[2048]"])],
        // The byte is 0 in all elements, which stay where they are, whatever the counts of the other digits are.
        Family::DigitPlaces => vec![form("places", places(&[2, 256]), 0.0, &["mg_same_digit", "mg_shfl_up"])],
        Family::ScatterSorted => vec![
            form("whole places", scatter_sorted(&[300, 37], 40), 0.0, &["bounds[56]"]),
            form("parts of a place", scatter_sorted(&[5, 2051], 12), 0.0, &["bounds[2]"]),
        ],
        Family::Convolution => vec![
            form("few output channels", convolution(5), 2e-6, &["x0["]),
            form("tiles", convolution(37), 2e-6, &["__shared__", "__syncthreads();"]),
        ],
        Family::Windows => vec![
            form(
                "maxima",
                windows(|sizes, windows| Op::WindowReduce { kind: Reduction::Max, sizes, windows }),
                0.0,
                &[],
            ),
            form("places", windows(|sizes, windows| Op::WindowArg { kind: Extreme::Max, sizes, windows }), 0.0, &[]),
        ],
    }
}

#[test]
fn every_form_of_every_family_runs_with_checks() {
    let mut suite = Suite::new("families");
    let families = std::iter::successors(Some(Family::Pointwise), |&f| next(f));
    for family in families {
        for form in forms(family) {
            suite.target = Target { multiprocessors: form.processors, ..Target::default() };
            let name = format!("{family:?}, {}", form.name);
            let source = &suite.case(name.clone(), form.body, form.tolerance).source;
            for sign in form.signs {
                assert!(source.contains(sign), "{name} has no `{sign}`:\n{source}");
            }
            let case = &suite.cases[suite.cases.len() - 1];
            assert_eq!(case.family, family, "{name}");
            assert!(case.is_checked(), "{name} is too large");
        }
    }
    suite.run();
}

/// Three by two over an odd plane, with unequal padding.
fn plane() -> Windows {
    Windows { strides: Axes::from_elem(2, 2), low: Amounts::from_slice(&[1, 0]), ..Windows::dense(2) }
}

fn convolution(outputs: usize) -> Graph {
    crate::convolution::convolution(DType::F32, &[2, 3, 9, 11], &[outputs, 3, 3, 2], &plane(), 1)
}

fn windows(op: impl Fn(Axes, Box<Windows>) -> Op) -> Graph {
    crate::windows::over(op(Axes::from_slice(&[3, 2]), Box::new(plane())), DType::F32, &[3, 9, 11])
}

/// `max(x + row, x)`.
fn pointwise(shape: &[usize]) -> Graph {
    let mut body = Body::new();
    let (x, row) = (body.input(DType::F32, shape), body.input(DType::F32, &shape[1..]));
    let row = body.broadcast(row, shape);
    let sum = body.binary(Elementwise::Add, x, row);
    let y = body.binary(Elementwise::Maximum, sum, x);
    body.done(&[y])
}

fn take(rows: usize, columns: usize, count: usize) -> Graph {
    let mut body = Body::new();
    let (table, indices) = (body.input(DType::F32, &[rows, columns]), body.input(DType::I32, &[count]));
    let y = body.op(Op::Take { axis: 0 }, &[table, indices]);
    body.done(&[y])
}

/// Of squares, so that the error relative to the sum says something.
fn sum(shape: &[usize], axes: &[usize]) -> Graph {
    let mut body = Body::new();
    let x = body.input(DType::F32, shape);
    let square = body.binary(Elementwise::Mul, x, x);
    let y = body.reduce(Reduction::Sum, square, axes);
    body.done(&[y])
}

fn matmul(dtype: DType, [m, n, k]: [usize; 3], [ta, tb]: [bool; 2]) -> Graph {
    let shape = |a, b, t: bool| if t { [b, a] } else { [a, b] };
    let mut body = Body::new();
    let (a, b) = (body.input(dtype, &shape(m, k, ta)), body.input(dtype, &shape(k, n, tb)));
    let y = body.op(Op::Matmul { transpose_a: ta, transpose_b: tb }, &[a, b]);
    body.done(&[y])
}

fn batches([batches, m, n, k]: [usize; 4]) -> Graph {
    let mut body = Body::new();
    let (a, b) = (body.input(DType::F32, &[batches, m, k]), body.input(DType::F32, &[batches, k, n]));
    let y = body.op(Op::Matmul { transpose_a: false, transpose_b: false }, &[a, b]);
    body.done(&[y])
}

fn scatter(shape: &[usize], axis: usize, count: usize) -> Graph {
    let mut body = Body::new();
    let base = body.input(DType::F32, shape);
    let indices = body.input(DType::I32, &[count]);
    let updates: Vec<usize> = shape.iter().enumerate().map(|(d, &e)| if d == axis { count } else { e }).collect();
    let updates = body.input(DType::F32, &updates);
    let y = body.op(Op::Scatter { axis, kind: ScatterKind::Add }, &[base, indices, updates]);
    body.done(&[y])
}

fn sort(shape: &[usize]) -> Graph {
    let mut body = Body::new();
    let x = body.input(DType::I64, shape);
    let y = body.op(Op::SortPacked, &[x]);
    body.done(&[y])
}

fn counts(shape: &[usize]) -> Graph {
    let mut body = Body::new();
    let x = body.input(DType::I64, shape);
    let y = body.op(Op::DigitCounts { shift: 0, tile: 512 }, &[x]);
    body.done(&[y])
}

fn places(shape: &[usize]) -> Graph {
    let mut body = Body::new();
    let (x, ends) = (body.input(DType::I64, shape), body.input(DType::I32, &[shape[0], 256, 1]));
    let y = body.op(Op::PlaceByDigit { shift: 32, tile: 256 }, &[x, ends]);
    body.done(&[y])
}

/// The small numbers that are made for entries are updates of place 0.
fn scatter_sorted(shape: &[usize], count: usize) -> Graph {
    let mut body = Body::new();
    let (base, entries) = (body.input(DType::F32, shape), body.input(DType::I64, &[count]));
    let updates = body.input(DType::F32, &[count, shape[1]]);
    let y = body.op(Op::ScatterSorted { axis: 0, kind: ScatterKind::Add }, &[base, entries, updates]);
    body.done(&[y])
}

/// Of squares.
fn scan(shape: &[usize], axis: usize) -> Graph {
    let mut body = Body::new();
    let x = body.input(DType::F32, shape);
    let square = body.binary(Elementwise::Mul, x, x);
    let y = body.op(Op::Scan { kind: Reduction::Sum, axis }, &[square]);
    body.done(&[y])
}
