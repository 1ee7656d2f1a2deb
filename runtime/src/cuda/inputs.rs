//! How the bytes of copied inputs reach the device: through a ring of pinned blocks, one host-to-device copy for each
//! run of neighbours.

use crate::driver::{Context, DeviceMemory, DriverError, Event, PinnedMemory, Stream};
use monograph_ir::plan::{ALIGNMENT, Plan, Region};
use std::sync::Arc;

/// How many replays may be under way before the host waits for the oldest one's copy.
const BLOCKS: usize = 4;

/// The most pinned memory that several blocks may take together; above it there are two.
const PINNED: usize = 64 << 20;

/// Neighbours with a smaller gap are copied together, gap and all, where buffers are aligned to it: then nothing of
/// another input lies in the gap.
const GAP: usize = ALIGNMENT as usize;

/// One pinned block, as large as the region of inputs, and the event that its last copies are done.
struct Block {
    memory: PinnedMemory,
    copied: Event,
    used: bool,
}

/// The staging memory of one executable. Blocks are allocated when they are first needed, so inputs that are always
/// arrays on the device take no pinned memory.
pub(super) struct Staging {
    context: Arc<Context>,
    /// Bytes of a block.
    bytes: usize,
    /// How many blocks there may be.
    most: usize,
    blocks: Vec<Block>,
    /// The block that is being filled.
    current: usize,
    /// The greatest gap that is copied along.
    gap: usize,
    /// Ranges filled since the last flush.
    filled: Vec<(usize, usize)>,
}

/// What a flush did.
pub(super) struct Flushed {
    /// Copies enqueued.
    pub(super) copies: u32,
    /// Bytes of them.
    pub(super) bytes: u64,
}

impl Staging {
    /// Staging for the plan's region of inputs.
    pub(super) fn new(context: &Arc<Context>, plan: &Plan) -> Staging {
        let bytes = plan.region_bytes(Region::Inputs) as usize;
        let mut inputs = plan.buffers.iter().filter(|b| b.region == Region::Inputs);
        let gap = if inputs.all(|b| b.offset.is_multiple_of(ALIGNMENT)) { GAP - 1 } else { 0 };
        let most = if bytes <= PINNED / BLOCKS { BLOCKS } else { 2 };
        Staging { context: context.clone(), bytes, most, blocks: Vec::new(), current: 0, gap, filled: Vec::new() }
    }

    /// Puts bytes at an offset of the region. Returns whether the host had to wait for an earlier replay's copy.
    pub(super) fn put(&mut self, offset: usize, bytes: &[u8]) -> Result<bool, DriverError> {
        if bytes.is_empty() {
            return Ok(false);
        }
        if self.current == self.blocks.len() {
            let memory = PinnedMemory::new(&self.context, self.bytes)?;
            self.blocks.push(Block { memory, copied: Event::new(&self.context)?, used: false });
        }
        let block = &mut self.blocks[self.current];
        let mut waited = false;
        if self.filled.is_empty() && block.used {
            if !block.copied.is_done()? {
                block.copied.synchronize()?;
                waited = true;
            }
            block.used = false;
        }
        block.memory.as_mut_slice()[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.filled.push((offset, bytes.len()));
        Ok(waited)
    }

    /// Forgets what was put since the last flush: the replay it was for does not take place.
    pub(super) fn discard(&mut self) {
        self.filled.clear();
    }

    /// Enqueues the copies of what was put, and turns to the next block.
    pub(super) fn flush(&mut self, region: &DeviceMemory, stream: &Stream) -> Result<Flushed, DriverError> {
        if self.filled.is_empty() {
            return Ok(Flushed { copies: 0, bytes: 0 });
        }
        let result = self.enqueue(region, stream);
        self.filled.clear();
        match result {
            Ok(flushed) => {
                self.blocks[self.current].used = true;
                self.current = (self.current + 1) % self.most;
                Ok(flushed)
            }
            Err(error) => {
                // Copies that were enqueued still read the block, and no event says when they are done.
                stream.synchronize()?;
                Err(error)
            }
        }
    }

    fn enqueue(&mut self, region: &DeviceMemory, stream: &Stream) -> Result<Flushed, DriverError> {
        let mut flushed = Flushed { copies: 0, bytes: 0 };
        self.filled.sort_unstable();
        let block = &self.blocks[self.current];
        let mut runs = self.filled.iter().copied().peekable();
        while let Some((start, length)) = runs.next() {
            let mut end = start + length;
            while let Some((next, more)) = runs.next_if(|&(next, _)| next <= end + self.gap) {
                end = end.max(next + more);
            }
            region.write_async(start, &block.memory, start, end - start, stream)?;
            flushed.copies += 1;
            flushed.bytes += (end - start) as u64;
        }
        block.copied.record(stream)?;
        Ok(flushed)
    }
}
