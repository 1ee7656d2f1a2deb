//! Slices of the operands in shared memory, as tensor cores read them.
//!
//! An operand that is a plain read of a parameter, in aligned runs of 16 bytes, is copied there asynchronously, some
//! slices ahead of the one in use. Every other operand is computed in registers while the slice before is in use, and
//! stored.

use super::tiled::{Load, Loaded, THREADS};
use super::{Probe, Product};
use crate::codegen::emit::{Emit, Emitter, refuse};
use crate::codegen::{Request, SHARED_BYTES};
use crate::index::Index;

/// Extent of a slice along the inner dimension: two steps of the tensor cores.
pub(super) const SLICE: usize = 32;
/// Elements of one row of the 8 × 8 matrices that tensor cores load: 16 bytes, which stay together.
const CHUNK: usize = 8;
/// Most slices of a copied operand in shared memory.
const DEEPEST: usize = 4;
/// Slices of a loaded operand in shared memory: the one in use and the next.
const LOADED: usize = 2;
/// Statements of the loads of one thread for one run.
const PROLOGUE_STATEMENTS: usize = 500;

/// How a slice lies in shared memory: lines of elements that are neighbours in the parameter. The chunks of a line are
/// permuted, in each of eight lines differently, so that equal chunks of eight lines lie in different banks.
struct Layout {
    /// Elements of a line.
    line: usize,
    lines: usize,
}

impl Layout {
    /// What the place in line `line` is combined with by exclusive or.
    fn permutation(&self, line: &str) -> String {
        // Lines of 64 bytes lie in all banks in pairs.
        if self.line < 64 { format!("({line} >> 1 & 3) * {CHUNK}") } else { format!("({line} & 7) * {CHUNK}") }
    }

    fn place(&self, line: &str, along: &str) -> String {
        format!("{line} * {} + ({along} ^ {})", self.line, self.permutation(line))
    }

    fn size(&self) -> usize {
        self.line * self.lines
    }
}

/// A chunk to copy: the parameter, the position there, the condition under which it exists, its place in the slice.
struct Chunk {
    parameter: u32,
    position: Index,
    exists: String,
    line: Index,
    along: Index,
}

/// Where a block's tile lies, as indices: its batch, its place along the operand's outer dimension.
pub(super) struct Place<'i> {
    pub(super) batch: &'i Index,
    pub(super) block: &'i Index,
}

/// One operand's slices.
pub(super) struct Stage<'a> {
    load: Load<'a>,
    layout: Layout,
    /// Whether slices are copied, not loaded.
    pub(super) copied: bool,
    /// Slices in shared memory.
    buffers: usize,
    /// The shared array.
    array: &'static str,
}

/// The stages of both operands, for a tile of these extents.
pub(super) fn stages<'a>(
    request: &Request<'_>,
    product: &'a Product,
    probe: &Probe,
    tile: [usize; 2],
) -> Emit<[Stage<'a>; 2]> {
    let mut stages = [0, 1].map(|side| {
        let inner_contiguous = probe.inner_contiguous[side];
        let (extent, layout) = match inner_contiguous {
            true => (product.k, Layout { line: SLICE, lines: tile[side] }),
            false => (product.extent(side), Layout { line: tile[side], lines: SLICE }),
        };
        let mut lanes = (tile[side] * SLICE / THREADS).min(CHUNK);
        while extent % lanes != 0 || (lanes > 1 && lanes * probe.prologue > PROLOGUE_STATEMENTS) {
            lanes /= 2;
        }
        let load = Load { product, side, tile: tile[side], slice: SLICE, inner_contiguous, lanes };
        Stage { load, layout, copied: false, buffers: LOADED, array: ["sa", "sb"][side] }
    });
    for (side, stage) in stages.iter_mut().enumerate() {
        let mut emit = request.emitter();
        let batch = emit.variable("b", product.batches);
        let block = emit.variable("g", product.extent(side).div_ceil(tile[side]));
        let slice = emit.variable("s", product.k.div_ceil(SLICE));
        stage.copied = stage.chunks(&mut emit, &Place { batch: &batch, block: &block }, &slice)?.is_some();
    }
    let fits = |buffers: &usize| {
        let elements = |s: &Stage<'_>| s.layout.size() * if s.copied { *buffers } else { LOADED };
        stages.iter().map(elements).sum::<usize>() * product.dtype.size() <= SHARED_BYTES
    };
    // A short inner dimension fills no deep ring.
    let deepest = DEEPEST.min(product.k.div_ceil(SLICE)).max(LOADED);
    let buffers = (LOADED..=deepest).rev().find(fits).unwrap_or(LOADED);
    for stage in stages.iter_mut().filter(|s| s.copied) {
        stage.buffers = buffers;
    }
    Ok(stages)
}

impl Stage<'_> {
    /// The declaration of the shared array.
    pub(super) fn declare(&self, emit: &mut Emitter<'_>) {
        let elements = self.buffers * self.layout.size();
        emit.line(format!("__shared__ __align__(16) unsigned short {}[{elements}];", self.array));
    }

    /// Slices that are on their way while one is in use.
    pub(super) fn ahead(&self) -> usize {
        self.buffers - 1
    }

    /// Where the buffer of a slice begins, from the start of the array.
    pub(super) fn buffer(&self, emit: &mut Emitter<'_>, slice: &Index) -> String {
        emit.index(&slice.rem(self.buffers as i64).times(self.layout.size() as i64))
    }

    /// The place in the array of an element of a slice.
    fn at(&self, emit: &mut Emitter<'_>, slice: &Index, line: &Index, along: &Index) -> String {
        let buffer = self.buffer(emit, slice);
        let (line, along) = (emit.index(line), emit.index(along));
        format!("{buffer} + {}", self.layout.place(&line, &along))
    }

    /// The chunks of a slice that each thread copies; none where the operand cannot be copied in chunks.
    fn chunks(&self, emit: &mut Emitter<'_>, tile: &Place<'_>, slice: &Index) -> Emit<Option<Vec<Chunk>>> {
        let Load { product, side, inner_contiguous, .. } = self.load;
        let (outer_extent, inner_extent) = (product.extent(side), product.k);
        let extent = if inner_contiguous { inner_extent } else { outer_extent };
        if !extent.is_multiple_of(CHUNK) {
            return Ok(None);
        }
        let line_chunks = self.layout.line / CHUNK;
        let thread = emit.variable("t", THREADS.min(self.layout.lines * line_chunks));
        let block = tile.block.times((self.load.tile / if inner_contiguous { 1 } else { CHUNK }) as i64);
        let mut chunks = Vec::new();
        for round in 0..(self.layout.lines * line_chunks).div_ceil(THREADS) {
            let unit = thread.plus((round * THREADS) as i64);
            let (line, along) = (unit.div(line_chunks as i64), unit.rem(line_chunks as i64));
            let (outer, outer_extent, inner, inner_extent) = match inner_contiguous {
                true => {
                    let inner = slice.times((SLICE / CHUNK) as i64).add(&along);
                    (block.add(&line), outer_extent, inner, inner_extent / CHUNK)
                }
                false => {
                    let inner = slice.times(SLICE as i64).add(&line);
                    (block.add(&along), outer_extent / CHUNK, inner, inner_extent)
                }
            };
            // Behind the last row comes the last again, whose products are not stored.
            let exists = emit.within(&inner, inner_extent);
            let (outer, inner) = (outer.limit(outer_extent), inner.limit(inner_extent));
            let mut first = None;
            for lane in 0..CHUNK as i64 {
                let widen = |index: &Index| index.times(CHUNK as i64).plus(lane);
                let element = match inner_contiguous {
                    true => product.index(side, tile.batch, &outer, &widen(&inner)),
                    false => product.index(side, tile.batch, &widen(&outer), &inner),
                };
                let Some((parameter, position)) = emit.read(product.operands[side], element) else { return Ok(None) };
                let aligned = position.terms.values().all(|c| c % CHUNK as i64 == 0);
                if !aligned || position.constant.rem_euclid(CHUNK as i64) != lane {
                    return Ok(None);
                }
                let start = position.plus(-lane);
                match &first {
                    None => first = Some((parameter, start)),
                    Some(known) if *known == (parameter, start) => {}
                    Some(_) => return Ok(None),
                }
            }
            let Some((parameter, position)) = first else { return Ok(None) };
            chunks.push(Chunk { parameter, position, exists, line, along: along.times(CHUNK as i64) });
        }
        Ok(Some(chunks))
    }

    /// Begins to copy a slice. What lies behind the inner dimension becomes zero.
    pub(super) fn copy(&self, emit: &mut Emitter<'_>, tile: &Place<'_>, slice: &Index) -> Emit<()> {
        let bytes = CHUNK * self.load.product.dtype.size();
        let units = self.layout.size() / CHUNK;
        emit.open(if units < THREADS { format!("if (t < {units})") } else { String::new() });
        let Some(chunks) = self.chunks(emit, tile, slice)? else {
            return refuse("an operand that cannot be copied after all");
        };
        for chunk in &chunks {
            let from = emit.index(&chunk.position);
            let to = self.at(emit, slice, &chunk.line, &chunk.along);
            let valid = match chunk.exists.as_str() {
                "true" => format!("{bytes}u"),
                test => format!("{test} ? {bytes}u : 0u"),
            };
            let array = self.array;
            emit.line(format!("mg_async_copy<{bytes}>({array} + {to}, x{} + {from}, {valid});", chunk.parameter));
        }
        emit.close();
        Ok(())
    }

    /// Computes the elements of a slice in registers.
    pub(super) fn load(
        &self,
        emit: &mut Emitter<'_>,
        tile: &Place<'_>,
        slice: &Index,
        thread: &Index,
    ) -> Emit<Vec<Vec<Loaded>>> {
        self.load.emit(emit, tile.batch, tile.block, slice, thread)
    }

    /// Stores what was loaded of a slice.
    pub(super) fn keep(&self, emit: &mut Emitter<'_>, slice: &Index, runs: &[Vec<Loaded>]) {
        for run in runs {
            let Some(first) = run.first() else { continue };
            let (line, along) = match self.load.inner_contiguous {
                true => (&first.outer, &first.inner),
                false => (&first.inner, &first.outer),
            };
            let at = self.at(emit, slice, line, along);
            let elements: Vec<String> = run.iter().map(|l| emit.raw(self.load.product.dtype, &l.value)).collect();
            let array = self.array;
            match &elements[..] {
                [one] => emit.line(format!("{array}[{at}] = {one};")),
                many => {
                    let (lanes, list) = (many.len(), many.join(", "));
                    emit.line(format!(
                        "mg_store<{lanes}>({array} + {at}, mg_vec<unsigned short, {lanes}>{{{{{list}}}}});"
                    ));
                }
            }
        }
    }

    /// Declares where a lane's rows of the matrices begin that its warp loads: `p`, the line within the slice, and `q`,
    /// the permuted place in it. The warp's part of the tile begins at `warp`; each step loads 16 × 16 elements.
    pub(super) fn declare_fragments(&self, emit: &mut Emitter<'_>, warp: &str) {
        let letter = self.letter();
        // Of the second operand, two 16 x 8 matrices are loaded as one 16 x 16.
        let eight = "(t & 7)";
        let (rows, columns) = ("(t >> 3 & 1) * 8", "(t >> 4 & 1) * 8");
        let (with_row, alone) = match (self.load.side == 0, self.load.inner_contiguous) {
            (true, true) | (false, false) => (rows, columns),
            (false, true) | (true, false) => (columns, rows),
        };
        let (line, along) = match self.load.inner_contiguous {
            true => (format!("{warp} + {eight} + {with_row}"), alone.to_string()),
            false => (format!("{eight} + {with_row}"), format!("{warp} + {alone}")),
        };
        emit.line(format!("const unsigned short* p{letter} = {} + ({line}) * {};", self.array, self.layout.line));
        emit.line(format!("int q{letter} = ({along}) ^ {};", self.layout.permutation("t")));
    }

    /// Loads the matrices number `i` along the outer dimension, at `k` of the inner one, from the slice that begins at
    /// `buffer`.
    pub(super) fn fragment(&self, emit: &mut Emitter<'_>, i: usize, buffer: &str) {
        let letter = self.letter();
        let (function, line, along) = match self.load.inner_contiguous {
            true => ("mg_ldmatrix", (16 * i * self.layout.line).to_string(), "k".to_string()),
            false => ("mg_ldmatrix_trans", format!("k * {}", self.layout.line), (16 * i).to_string()),
        };
        emit.line(format!("unsigned {letter}{i}[4];"));
        // The step along a line is in other bits than the start: exclusive or adds it to the permuted place.
        emit.line(format!("{function}({letter}{i}, p{letter} + {buffer} + {line} + (q{letter} ^ {along}));"));
    }

    fn letter(&self) -> &'static str {
        ["a", "b"][self.load.side]
    }
}
