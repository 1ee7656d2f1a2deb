//! Kernels that sort rows of packed elements, `i64[rows, n]`: short rows in the shared memory of a block, long ones
//! by a radix sort, of which each pass is two kernels around a scan.

pub(super) mod block;
pub(super) mod counts;
pub(super) mod places;

use super::Request;
use super::emit::{Emit, Emitter, refuse};
use crate::index::{Index, delinear};
use monograph_ir::{Node, Op, ValueId};

/// The longest row that is sorted in the shared memory of a block.
pub(crate) const LONGEST_ROW: usize = 4096;
/// Elements that a block takes in a pass of a radix sort: they and its counters fit in static shared memory.
pub(crate) const TILE: usize = 4096;

/// Threads of a block in a pass of a radix sort: one for each digit.
const THREADS: usize = 256;
const WARPS: usize = THREADS / 32;

/// The one op of the body that decides its family.
fn anchor<'a>(request: &Request<'a>, is_anchor: impl Fn(&Op) -> bool) -> Emit<(ValueId, &'a Node)> {
    let mut found = request.body.iter().filter(|(_, n)| is_anchor(&n.op));
    let (Some((id, node)), None) = (found.next(), found.next()) else {
        return refuse("not exactly one op that sorts");
    };
    let spec = request.body.spec(id.value());
    if spec.shape.is_empty() {
        return refuse("a sort of no elements");
    }
    if request.outputs().any(|(_, s)| s.shape.size() != spec.shape.size()) {
        return refuse("an output that has not as many elements as what is sorted");
    }
    Ok((id.value(), node))
}

/// Announces the element of `value` at a position, and computes and stores the outputs there.
fn store(request: &Request<'_>, emit: &mut Emitter<'_>, value: ValueId, position: &Index, name: &str) -> Emit<()> {
    emit.hold(value, position.clone(), name);
    let mut stores = Vec::new();
    for (output, spec) in request.outputs() {
        stores.push((spec.dtype, emit.value(output, &delinear(position, &spec.shape))?));
    }
    for (number, (dtype, element)) in stores.into_iter().enumerate() {
        emit.store(number, dtype, position, &[element]);
    }
    Ok(())
}

/// A pass of a radix sort: how its rows are cut into tiles, one a block, and tiles into what a thread has.
struct Pass {
    rows: usize,
    n: usize,
    tile: usize,
    tiles: usize,
    shift: u32,
}

impl Pass {
    fn of(request: &Request<'_>, node: &Node, shift: u32, tile: usize) -> Emit<Pass> {
        if !tile.is_multiple_of(THREADS) || tile > TILE {
            return refuse(format!("tiles of {tile} elements, not of a multiple of {THREADS} up to {TILE}"));
        }
        let shape = &request.body.spec(node.operands[0]).shape;
        Ok(Pass { rows: shape[0], n: shape[1], tile, tiles: shape[1].div_ceil(tile), shift })
    }

    /// Elements of a thread.
    fn items(&self) -> usize {
        self.tile / THREADS
    }

    fn grid(&self) -> Emit<u32> {
        match u32::try_from(self.rows * self.tiles).ok().filter(|&g| g <= i32::MAX as u32) {
            Some(grid) => Ok(grid),
            None => refuse("more tiles than a grid has blocks"),
        }
    }

    /// Declares the thread, the row and the tile, and returns them as indices.
    fn place(&self, emit: &mut Emitter<'_>) -> [Index; 3] {
        let index = emit.index_type();
        emit.line("int t = threadIdx.x;");
        emit.line("int w = t / 32;");
        emit.line("unsigned z = blockIdx.x;");
        emit.line(format!("{index} r = z / {}u;", self.tiles));
        emit.line(format!("{index} g = z % {}u;", self.tiles));
        [emit.variable("t", THREADS), emit.variable("r", self.rows), emit.variable("g", self.tiles)]
    }

    /// Loads the thread's elements, so that all loads are on their way together. Each warp has adjacent elements of
    /// the tile, in rounds of one a lane. Returns the name of each element and the condition that it exists.
    fn load(&self, emit: &mut Emitter<'_>, value: ValueId, [thread, row, tile]: &[Index; 3]) -> Emit<Vec<[String; 2]>> {
        let lane_and_warp = delinear(thread, &[WARPS, 32]);
        let first = (tile.times(self.tile as i64))
            .add(&lane_and_warp[0].times((self.tile / WARPS) as i64))
            .add(&lane_and_warp[1]);
        let mut elements = Vec::new();
        for item in 0..self.items() {
            let column = first.plus(32 * item as i64);
            let exists = emit.within(&column, self.n);
            elements.push([emit.value(value, &[row.clone(), column.limit(self.n)])?, exists]);
        }
        Ok(elements)
    }

    /// Sets the counters of the thread's warp to 0.
    fn clear(&self, emit: &mut Emitter<'_>) {
        emit.line(format!("__shared__ unsigned counts[{}];", WARPS * 256));
        emit.open("for (int d = t % 32; d < 256; d += 32)");
        emit.line("counts[w * 256 + d] = 0;");
        emit.close();
    }

    /// Counts the elements of one round in the counters of the warp, which hold those of the rounds before. With `rank`, returns the name of how many
    /// elements of the warp before this one have its digit.
    fn count(&self, emit: &mut Emitter<'_>, [element, exists]: &[String; 2], rank: bool) -> Option<String> {
        let digit = emit.define("unsigned", "d", self.digit(element));
        let same = emit.define("unsigned", "h", format!("mg_same_digit({digit}, {exists})"));
        let slot = format!("counts[w * 256 + {digit}]");
        let below = emit.define("unsigned", "b", format!("{same} & ((1u << t % 32) - 1)"));
        emit.line("__syncwarp(MG_ALL_LANES);");
        let first = format!("if ({exists} && {below} == 0)");
        if !rank {
            emit.line(format!("{first} {slot} += __popc({same});"));
            return None;
        }
        let before = emit.define("unsigned", "n", &slot);
        // All lanes have read the counter before the first of equal ones changes it.
        emit.line("__syncwarp(MG_ALL_LANES);");
        emit.line(format!("{first} {slot} = {before} + __popc({same});"));
        Some(emit.define("unsigned", "k", format!("{before} + __popc({below})")))
    }

    /// The digit of an element.
    fn digit(&self, element: &str) -> String {
        format!("(unsigned)((mg_u64){element} >> {}) & 255u", self.shift)
    }
}
