//! Rows sorted in shared memory: a bitonic network, in which every comparison leaves the smaller element in front, so
//! that what fills a row up to a power of two stays behind it. Short rows share a block.

use super::{LONGEST_ROW, anchor, store};
use crate::codegen::emit::{Emit, refuse};
use crate::codegen::{Code, Request};
use crate::index::{Index, delinear, linear};
use monograph_ir::plan::IndexMap;
use monograph_ir::{Op, Shape, ValueId};

/// Fewest elements and most threads of a block.
const ELEMENTS: usize = 512;
const THREADS: usize = 512;

/// Whether the body has code of this family, by computing each of its values once.
pub(in crate::codegen) fn check(request: &Request<'_>) -> Emit<()> {
    let sort = Sort::of(request)?;
    let mut emit = request.emitter();
    let index = [emit.variable("r", sort.rows), emit.variable("c", sort.n)];
    emit.value(sort.operand, &index)?;
    store(request, &mut emit, sort.value, &sort.position(&index), "held")
}

struct Sort {
    value: ValueId,
    operand: ValueId,
    rows: usize,
    n: usize,
}

impl Sort {
    fn of(request: &Request<'_>) -> Emit<Sort> {
        let (value, node) = anchor(request, |op| matches!(op, Op::SortPacked))?;
        let shape = &request.body.spec(value).shape;
        if shape[1] > LONGEST_ROW {
            return refuse(format!("rows of {}, which are longer than {LONGEST_ROW}", shape[1]));
        }
        Ok(Sort { value, operand: node.operands[0], rows: shape[0], n: shape[1] })
    }

    fn position(&self, index: &[Index]) -> Index {
        linear(index, &Shape::from([self.rows, self.n]))
    }
}

pub(in crate::codegen) fn generate(request: &Request<'_>) -> Emit<Code> {
    let sort = Sort::of(request)?;
    let padded = sort.n.next_power_of_two();
    let each = (ELEMENTS / padded).max(1);
    let elements = each * padded;
    let threads = (elements / 2).min(THREADS);
    let rounds = elements / threads;
    let Some(grid) = u32::try_from(sort.rows.div_ceil(each)).ok().filter(|&g| g <= i32::MAX as u32) else {
        return refuse("more rows than a grid has blocks");
    };
    let mut emit = request.emitter();
    let index_type = emit.index_type();
    emit.line(format!("__shared__ mg_u64 s[{elements}];"));
    emit.line("int t = threadIdx.x;");
    emit.line(format!("{index_type} z = blockIdx.x;"));
    let (block, thread) = (emit.variable("z", grid as usize), emit.variable("t", threads));
    // The row and the column of the element that a thread loads and stores in a round.
    let place = |round: &Index| {
        let within = delinear(&round.times(threads as i64).add(&thread), &[each, padded]);
        [block.times(each as i64).add(&within[0]), within[1].clone()]
    };

    emit.open(format!("for (int u = 0; u < {rounds}; ++u)"));
    let round = emit.variable("u", rounds);
    let [row, column] = place(&round);
    let exists = [emit.within(&row, sort.rows), emit.within(&column, sort.n)].join(" && ");
    let element = emit.value(sort.operand, &[row.limit(sort.rows), column.limit(sort.n)])?;
    emit.line(format!("s[u * {threads} + t] = {exists} ? (mg_u64){element} : ~0ull;"));
    emit.close();
    emit.line("__syncthreads();");

    // Steps over at most 32 stay within 64 elements, which one warp has in each of them.
    let by_warp = padded <= 32;
    emit.open(format!("for (int k = 2; k <= {padded}; k *= 2)"));
    emit.open("for (int j = k / 2; j > 0; j /= 2)");
    if !by_warp {
        emit.line("int next = j > 1 ? j / 2 : k;");
    }
    emit.open(format!("for (int v = t; v < {}; v += {threads})", elements / 2));
    emit.line("int o = v & (j - 1);");
    emit.line("int a = 2 * v - o;");
    // The first step of a merge compares with the mirror image, which turns the second half around.
    emit.line("int b = 2 * j == k ? a + k - 1 - 2 * o : a + j;");
    emit.line("mg_u64 low = s[a];");
    emit.line("mg_u64 high = s[b];");
    emit.open("if (high < low)");
    emit.line("s[a] = high;");
    emit.line("s[b] = low;");
    emit.close();
    emit.close();
    // The last step of rows of more than 32 ends in a barrier.
    if !by_warp {
        emit.open("if (j > 32 || next > 32)");
        emit.line("__syncthreads();");
        emit.close();
        emit.open("else");
    }
    emit.line("__syncwarp(MG_ALL_LANES);");
    if !by_warp {
        emit.close();
    }
    emit.close();
    emit.close();
    if by_warp {
        emit.line("__syncthreads();");
    }

    emit.open(format!("for (int u = 0; u < {rounds}; ++u)"));
    let round = emit.variable("u", rounds);
    let [row, column] = place(&round);
    let exists = [emit.within(&row, sort.rows), emit.within(&column, sort.n)];
    let condition = exists.iter().filter(|c| *c != "true").cloned().collect::<Vec<_>>().join(" && ");
    emit.open(if condition.is_empty() { String::new() } else { format!("if ({condition})") });
    let element = emit.define("long long", "a", format!("(long long)s[u * {threads} + t]"));
    let position = sort.position(&[row.limit(sort.rows), column.limit(sort.n)]);
    store(request, &mut emit, sort.value, &position, &element)?;
    emit.close();
    emit.close();
    Ok(Code {
        domain: request.body.spec(sort.value).shape.clone(),
        reads: vec![IndexMap::Any; request.body.params().len()],
        writes: vec![IndexMap::Any; request.body.outputs().len()],
        text: emit.finish(),
        grid,
        block: [threads as u32, 1, 1],
    })
}
