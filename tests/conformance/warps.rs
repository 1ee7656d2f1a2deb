//! Vector accesses, exchanges within a warp, and tensor cores.

use crate::probe::{Bound, Set};
use crate::values::{operands, tensor, whole};
use monograph::ir::Literal;
use monograph::{DType, Spec};
use monograph_compiler::codegen::storage;

/// Accesses to several neighbours at once.
pub(crate) fn vectors() -> Vec<Set> {
    let each = |dtype: DType| {
        let mut set = Set::new("vectors", vec![tensor(dtype, &numbered(dtype, 1024))]);
        let mut lanes = 2;
        while lanes * dtype.size() <= 16 {
            let count = 1024 / lanes;
            let text = format!(
                "    int i = threadIdx.x;\n    if (i >= {count}) return;\n    auto v = mg_load<{lanes}>(x0 + i * {lanes});\n    \
                 mg_store<{lanes}>(y0 + ({count} - 1 - i) * {lanes}, v);\n"
            );
            set.kernel(&[0], Spec::new(dtype, [1024]), [1, count as u32], &text, Bound::Exact);
            lanes *= 2;
        }
        set
    };
    [DType::I8, DType::F16, DType::F32, DType::I64, DType::F64].map(each).into()
}

fn numbered(dtype: DType, count: i64) -> Vec<Literal> {
    (0..count).map(|i| Literal::from_i64(dtype, i * 37 % 120)).collect()
}

/// Shuffles of every type, by every distance.
pub(crate) fn shuffles() -> Vec<Set> {
    let each = |dtype: DType| {
        let mut set = Set::new("shuffles", vec![tensor(dtype, &numbered(dtype, 128))]);
        let ty = if dtype == DType::Bool { "bool" } else { storage(dtype) };
        for function in ["mg_shfl_xor", "mg_shfl_up"] {
            for offset in [1, 2, 4, 8, 16] {
                let text = format!(
                    "    int i = threadIdx.x;\n    {ty} x = ({ty})x0[i];\n    y0[i] = {function}(x, {offset});\n"
                );
                set.kernel(&[0], Spec::new(dtype, [128]), [1, 128], &text, Bound::Exact);
            }
        }
        set
    };
    let mut sets: Vec<Set> =
        [DType::Bool, DType::I8, DType::U8, DType::I32, DType::U32, DType::I64, DType::F32, DType::F64]
            .map(each)
            .into();
    // Numbers of which only the lowest byte counts, some of them left out.
    let numbers: Vec<Literal> = (0..128).map(|i| Literal::from_i64(DType::U32, i % 5 * 64 + i % 2 * 256)).collect();
    let mut digits = Set::new("digits", vec![tensor(DType::U32, &numbers)]);
    let text = "    int i = threadIdx.x;\n    bool exists = i % 7 != 3;\n    \
                unsigned same = mg_same_digit(x0[i], exists);\n    y0[i] = exists ? same : 0u;\n";
    digits.kernel(&[0], Spec::new(DType::U32, [128]), [1, 128], text, Bound::Exact);
    sets.push(digits);
    sets
}

/// Matrices of 16-bit elements from shared memory, and their products: whole numbers, so that no order of the sums shows.
pub(crate) fn tensor_cores() -> Vec<Set> {
    let mut sets = Vec::new();
    let mut matrices = Set::new("matrices", vec![tensor(DType::U32, &numbered(DType::U32, 256))]);
    for function in ["mg_ldmatrix", "mg_ldmatrix_trans"] {
        // Rows of 24 elements, so that the rows of the four matrices lie apart.
        let text = format!(
            "    __shared__ __align__(16) unsigned short s[32 * 24];\n    int t = threadIdx.x;\n    \
             for (int i = t; i < 32 * 24; i += 32) s[i] = (unsigned short)(x0[i % 256] * 256 + i);\n    __syncthreads();\n    \
             unsigned r[4];\n    {function}(r, s + t * 24 + t / 8 * 8 % 16);\n    \
             for (int i = 0; i < 4; ++i) y0[t * 4 + i] = r[i];\n"
        );
        matrices.kernel(&[0], Spec::new(DType::U32, [128]), [1, 32], &text, Bound::Exact);
    }
    sets.push(matrices);
    for (name, dtype) in [("f16", DType::F16), ("bf16", DType::BF16)] {
        let mut set = Set::new("products", vec![whole(dtype, 256, 1), whole(dtype, 128, 2), whole(DType::F32, 128, 3)]);
        // Each lane holds the elements that the instruction's layout gives it.
        let text = format!(
            "    int t = threadIdx.x;\n    unsigned a[4];\n    \
             for (int i = 0; i < 4; ++i) {{\n        int row = t / 4 + i % 2 * 8, column = t % 4 * 2 + i / 2 * 8;\n        \
             a[i] = x0[row * 16 + column] | (unsigned)x0[row * 16 + column + 1] << 16;\n    }}\n    \
             unsigned b[2];\n    \
             for (int i = 0; i < 2; ++i) {{\n        int row = t % 4 * 2 + i * 8, column = t / 4;\n        \
             b[i] = x1[row * 8 + column] | (unsigned)x1[(row + 1) * 8 + column] << 16;\n    }}\n    \
             float d[4];\n    \
             for (int i = 0; i < 4; ++i) d[i] = x2[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2];\n    \
             mg_mma_{name}(d, a, b[0], b[1]);\n    \
             for (int i = 0; i < 4; ++i) y0[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];\n"
        );
        set.kernel(&[0, 1, 2], Spec::new(DType::F32, [128]), [1, 32], &text, Bound::Exact);
        sets.push(set);
    }
    sets
}

/// What the compiler's own functions of CUDA do in generated kernels: votes, and barriers that reduce.
pub(crate) fn votes() -> Vec<Set> {
    let mut set = Set::new("votes", vec![operands(DType::I32).swap_remove(0)]);
    let texts = [
        "    int t = threadIdx.x;\n    y0[t] = __ballot_sync(MG_ALL_LANES, x0[t] > t % 5);\n",
        "    int t = threadIdx.x;\n    y0[t] = (unsigned)__syncthreads_or(x0[t] == 33) + (unsigned)__syncthreads_or(x0[t] == 12345);\n",
        "    int t = threadIdx.x;\n    y0[t] = (unsigned)__ffs(x0[t]) * 100u + (unsigned)__popc((unsigned)x0[t]);\n",
    ];
    for text in texts {
        set.kernel(&[0], Spec::new(DType::U32, [256]), [1, 256], text, Bound::Exact);
    }
    vec![set]
}
