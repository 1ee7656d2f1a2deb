//! Kernels with a scatter of sorted indices: a block owns some places of the axis, finds for each the entries that
//! hit it by two searches, and combines their updates in the order of the entries. Places without an entry cost no
//! more than their element of the base.

use super::emit::{Emit, Emitter, refuse};
use super::scatter::{self, Scatter, combined};
use super::types::register;
use super::{Code, Request};
use crate::index::{Index, delinear};
use monograph_ir::plan::IndexMap;

const THREADS: usize = 256;
/// What a block computes, in vectors of adjacent elements: several for each thread, so that the searches, which only
/// some threads do, are a small part.
const UNITS: usize = 2048;
/// Entries of a place whose updates are loaded together, so that a place with many waits less often.
const TOGETHER: usize = 4;

impl Scatter {
    /// Combines the updates of so many entries from number `q` on into adjacent elements, in the order of the entries.
    fn combine(&self, emit: &mut Emitter<'_>, entries: usize, elements: &[Index], sums: &[String]) -> Emit<()> {
        let index = emit.index_type();
        let mut updates = Vec::new();
        for number in 0..entries {
            let at = emit.define("int", "q", format!("q + {number}"));
            let at = emit.integer(&at, self.count);
            let entry = emit.value(self.operands[1], &[at])?;
            let source = emit.define("unsigned", "s", format!("(unsigned){entry}"));
            let exists = emit.define("bool", "c", format!("{source} < {}u", self.count));
            let source = emit.define(index, "i", format!("{exists} ? ({index}){source} : 0"));
            let source = emit.integer(&source, self.count);
            for element in elements {
                updates.push((exists.clone(), emit.value(self.operands[2], &self.index(&source, element))?));
            }
        }
        for ((exists, update), sum) in updates.iter().zip(sums.iter().cycle()) {
            emit.line(format!("{sum} = {exists} ? {} : {sum};", combined(self.kind, sum, update)));
        }
        Ok(())
    }
}

/// Whether the body has code of this family.
pub(super) fn check(request: &Request<'_>) -> Emit<()> {
    counted(request)?;
    scatter::check(request)
}

/// The scatter of a body, if its entries and places can be counted in the halves of a sorted key.
fn counted(request: &Request<'_>) -> Emit<Scatter> {
    let scatter = Scatter::of(request)?;
    if i32::try_from(scatter.count).is_err() || u32::try_from(scatter.extent).is_err() {
        return refuse("a scatter of more entries or places than 32 bits count");
    }
    Ok(scatter)
}

pub(super) fn generate(request: &Request<'_>) -> Emit<Code> {
    let scatter = counted(request)?;
    let sizes = request.outputs().map(|(_, s)| s.dtype.size()).chain([scatter.dtype.accumulator().size()]);
    let mut lanes = 16 / sizes.max().unwrap_or(4).max(4);
    while scatter.inner % lanes != 0 {
        lanes /= 2;
    }
    // A block has whole places, or a part of one.
    let units = scatter.outer * scatter.inner / lanes;
    let places = (UNITS / units).clamp(1, scatter.extent);
    let chunk = units.min(UNITS);
    let chunks = units.div_ceil(chunk);
    let blocks = scatter.extent.div_ceil(places) * chunks;
    let Some(grid) = u32::try_from(blocks).ok().filter(|&g| g <= i32::MAX as u32) else {
        return refuse("more places than a grid has blocks");
    };
    let mut emit = request.emitter();
    emit.lanes = lanes as i64;
    let index = emit.index_type();
    emit.line(format!("__shared__ int bounds[{}];", places + 1));
    emit.line("int t = threadIdx.x;");
    emit.line("unsigned z = blockIdx.x;");
    emit.line(format!("{index} g = z % {chunks}u;"));
    emit.line(format!("{index} b = z / {chunks}u;"));
    let (part, block) = (emit.variable("g", chunks), emit.variable("b", scatter.extent.div_ceil(places)));
    let thread = emit.variable("t", THREADS);

    // The first entry of each place, and of the one behind the last.
    emit.open(format!("for (int m = t; m <= {places}; m += {THREADS})"));
    emit.line(format!("mg_u64 key = ((mg_u64)b * {places}ull + (mg_u64)m) << 32;"));
    emit.line("int low = 0;");
    emit.line(format!("int high = {};", scatter.count));
    // The bounds close in on each other: they meet after as many steps as the count has bits.
    emit.open(format!("for (int q = 0; q < {}; ++q)", usize::BITS - scatter.count.leading_zeros()));
    emit.line(format!("int middle = low < high ? low + (high - low) / 2 : {};", scatter.count - 1));
    let middle = emit.integer("middle", scatter.count);
    let entry = emit.value(scatter.operands[1], &[middle])?;
    emit.line(format!("bool before = (mg_u64){entry} < key;"));
    emit.line("bool open = low < high;");
    emit.line("low = open && before ? middle + 1 : low;");
    emit.line("high = open && !before ? middle : high;");
    emit.close();
    emit.line("bounds[m] = low;");
    emit.close();
    emit.line("__syncthreads();");

    let rounds = (places * chunk).div_ceil(THREADS);
    emit.open(format!("for (int u = 0; u < {rounds}; ++u)"));
    let round = emit.variable("u", rounds);
    let number = round.times(THREADS as i64).add(&thread);
    let within = delinear(&number, &[places, chunk]);
    // Behind the last place of the block the quotient goes on.
    let place = if places * chunk % THREADS == 0 { within[0].clone() } else { within[0].limit(places) };
    let at = block.times(places as i64).add(&place);
    let unit = part.times(chunk as i64).add(&within[1]);
    let mut exists =
        vec![emit.within(&number, places * chunk), emit.within(&at, scatter.extent), emit.within(&unit, units)];
    exists.retain(|c| c != "true");
    emit.open(if exists.is_empty() { String::new() } else { format!("if ({})", exists.join(" && ")) });
    let at = at.limit(scatter.extent);
    let unit = unit.limit(units);
    let elements: Vec<Index> = (0..lanes as i64).map(|j| unit.times(lanes as i64).plus(j)).collect();
    let mut sums = Vec::new();
    for element in &elements {
        let base = emit.value(scatter.operands[0], &scatter.index(&at, element))?;
        sums.push(emit.define(register(scatter.dtype), "a", base));
    }
    let place = emit.index(&place);
    let end = emit.define("int", "n", format!("bounds[{place} + 1]"));
    emit.line(format!("int q = bounds[{place}];"));
    emit.open(format!("for (; q + {TOGETHER} <= {end}; q += {TOGETHER})"));
    scatter.combine(&mut emit, TOGETHER, &elements, &sums)?;
    emit.close();
    emit.open(format!("for (; q < {end}; ++q)"));
    scatter.combine(&mut emit, 1, &elements, &sums)?;
    emit.close();
    let outputs = scatter.outputs(request, &mut emit, &at, &elements, &sums)?;
    for (number, (dtype, position, values)) in outputs.iter().enumerate() {
        emit.store(number, *dtype, position, values);
    }
    emit.close();
    emit.close();
    Ok(Code {
        domain: scatter.shape.clone(),
        reads: vec![IndexMap::Any; request.body.params().len()],
        writes: vec![IndexMap::Any; request.body.outputs().len()],
        text: emit.finish(),
        grid,
        block: [THREADS as u32, 1, 1],
    })
}
