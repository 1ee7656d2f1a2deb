//! The last kernel of a pass of a radix sort: each block sorts its tile by the digit in shared memory, and then
//! writes it, so that equal digits, which lie next to each other in the result, are written together.

use super::{Pass, THREADS, WARPS, anchor, store};
use crate::codegen::emit::{Emit, Emitter, refuse};
use crate::codegen::{Code, Request};
use crate::index::{Index, linear};
use monograph_ir::plan::IndexMap;
use monograph_ir::{Op, ValueId};

struct Places {
    value: ValueId,
    operand: ValueId,
    ends: ValueId,
    pass: Pass,
}

impl Places {
    fn of(request: &Request<'_>) -> Emit<Places> {
        let (value, node) = anchor(request, |op| matches!(op, Op::PlaceByDigit { .. }))?;
        let Op::PlaceByDigit { shift, tile } = node.op else { return refuse("no places") };
        let [operand, ends] = [node.operands[0], node.operands[1]];
        Ok(Places { value, operand, ends, pass: Pass::of(request, node, shift, tile)? })
    }
}

/// Whether the body has code of this family, by computing each of its values once.
pub(in crate::codegen) fn check(request: &Request<'_>) -> Emit<()> {
    let Places { value, operand, ends, pass } = Places::of(request)?;
    let mut emit = request.emitter();
    let (row, column) = (emit.variable("r", pass.rows), emit.variable("c", pass.n));
    let (digit, tile) = (emit.variable("t", 256), emit.variable("g", pass.tiles));
    emit.value(operand, &[row.clone(), column.clone()])?;
    emit.value(ends, &[row.clone(), digit, tile])?;
    store(request, &mut emit, value, &linear(&[row, column], &request.body.spec(value).shape), "held")
}

/// The sum of a number over the threads before this one. All warps' sums are in `sums`, which a barrier follows.
fn exclusive(emit: &mut Emitter<'_>, number: &str, sums: &str) -> String {
    let sum = emit.define("unsigned", "s", number);
    for offset in [1, 2, 4, 8, 16] {
        let before = emit.define("unsigned", "o", format!("mg_shfl_up({sum}, {offset})"));
        emit.line(format!("{sum} += t % 32 >= {offset} ? {before} : 0u;"));
    }
    emit.line(format!("if (t % 32 == 31) {sums}[w] = {sum};"));
    emit.define("unsigned", "s", format!("{sum} - {number}"))
}

pub(in crate::codegen) fn generate(request: &Request<'_>) -> Emit<Code> {
    let Places { value, operand, ends, pass } = Places::of(request)?;
    let (tile, items) = (pass.tile, pass.items());
    let mut emit = request.emitter();
    emit.line(format!("__shared__ long long s[{tile}];"));
    emit.line("__shared__ int first[256];");
    emit.line(format!("__shared__ unsigned sums[{WARPS}];"));
    emit.line(format!("__shared__ unsigned wholes[{WARPS}];"));
    let place = pass.place(&mut emit);
    let elements = pass.load(&mut emit, operand, &place)?;
    let [thread, row, number] = &place;

    // Of digit `t`: how many there are in the row, and how many in the tiles before this one.
    let last = Index::constant(pass.tiles as i64 - 1);
    let whole = emit.value(ends, &[row.clone(), thread.clone(), last])?;
    let whole = emit.define("unsigned", "n", format!("(unsigned){whole}"));
    let earlier = if pass.tiles == 1 {
        "0u".to_string()
    } else {
        let before = number.plus(-1).limit(pass.tiles);
        let before = emit.value(ends, &[row.clone(), thread.clone(), before])?;
        emit.define("unsigned", "n", format!("g > 0 ? (unsigned){before} : 0u"))
    };

    pass.clear(&mut emit);
    let ranks: Vec<String> = elements.iter().filter_map(|element| pass.count(&mut emit, element, true)).collect();
    emit.line("__syncthreads();");
    // The counters become how many elements of the digit the warps before have.
    emit.line("unsigned total = 0;");
    emit.open(format!("for (int v = 0; v < {WARPS}; ++v)"));
    let count = emit.define("unsigned", "n", "counts[v * 256 + t]");
    emit.line("counts[v * 256 + t] = total;");
    emit.line(format!("total += {count};"));
    emit.close();
    let base = exclusive(&mut emit, "total", "sums");
    let start = exclusive(&mut emit, &whole, "wholes");
    emit.line("__syncthreads();");
    emit.open(format!("for (int v = 0; v < {WARPS}; ++v)"));
    emit.line(format!("{base} += v < w ? sums[v] : 0u;"));
    emit.line(format!("{start} += v < w ? wholes[v] : 0u;"));
    emit.close();
    // What is added to a place in the sorted tile to get the column.
    emit.line(format!("first[t] = (int)({start} + {earlier} - {base});"));
    emit.open(format!("for (int v = 0; v < {WARPS}; ++v)"));
    emit.line(format!("counts[v * 256 + t] += {base};"));
    emit.close();
    emit.line("__syncthreads();");
    for ([element, exists], rank) in elements.iter().zip(&ranks) {
        let target = format!("s[counts[w * 256 + ({})] + {rank}]", pass.digit(element));
        emit.line(if exists == "true" {
            format!("{target} = {element};")
        } else {
            format!("if ({exists}) {target} = {element};")
        });
    }
    emit.line("__syncthreads();");

    emit.open(format!("for (int i = 0; i < {items}; ++i)"));
    let item = emit.variable("i", items);
    let local = item.times(THREADS as i64).add(thread);
    let exists = emit.within(&number.times(tile as i64).add(&local), pass.n);
    emit.open(if exists == "true" { String::new() } else { format!("if ({exists})") });
    let local = emit.index(&local);
    let element = emit.define("long long", "a", format!("s[{local}]"));
    let column = emit.define("int", "c", format!("first[{}] + (int){local}", pass.digit(&element)));
    emit.open(format!("if ((unsigned){column} < {}u)", pass.n));
    let column = emit.integer(&column, pass.n);
    let position = linear(&[row.clone(), column], &request.body.spec(value).shape);
    store(request, &mut emit, value, &position, &element)?;
    emit.close();
    emit.close();
    emit.close();
    Ok(Code {
        grid: pass.grid()?,
        domain: request.body.spec(value).shape.clone(),
        reads: vec![IndexMap::Any; request.body.params().len()],
        writes: vec![IndexMap::Any; request.body.outputs().len()],
        text: emit.finish(),
        block: [THREADS as u32, 1, 1],
    })
}
