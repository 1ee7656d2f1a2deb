//! The memory of a plan on the host: one block of bytes a region.

use monograph_ir::Error;
use monograph_ir::array::AlignedBytes;
use monograph_ir::plan::{Plan, Region, Slot};

/// The regions of one loaded plan. Bound inputs are not among them.
pub(super) struct Memory {
    arena: AlignedBytes,
    inputs: AlignedBytes,
    constants: AlignedBytes,
    states: AlignedBytes,
}

impl Memory {
    /// Zeroed memory for a plan.
    pub(super) fn new(plan: &Plan) -> Result<Memory, Error> {
        let block = |region| AlignedBytes::zeroed(plan.region_bytes(region) as usize);
        Ok(Memory {
            arena: block(Region::Arena)?,
            inputs: block(Region::Inputs)?,
            constants: block(Region::Constants)?,
            states: block(Region::States)?,
        })
    }

    /// Fills the arena with bytes `0xff`.
    pub(super) fn poison_arena(&mut self) {
        self.arena.fill(0xff);
    }

    fn start(slot: Slot, plan: &Plan) -> (Region, usize) {
        let buffer = &plan.buffers[slot.buffer.index()];
        (buffer.region, (buffer.offset + slot.offset) as usize)
    }

    /// The bytes at a slot. The plan was verified, so they lie inside their region.
    pub(super) fn read(&self, slot: Slot, plan: &Plan, length: usize) -> &[u8] {
        let (region, start) = Memory::start(slot, plan);
        let block: &[u8] = match region {
            Region::Arena => &self.arena,
            Region::Inputs => &self.inputs,
            Region::Constants => &self.constants,
            Region::States => &self.states,
            Region::Bound => &[],
        };
        &block[start..start + length]
    }

    /// Replaces the bytes at a slot.
    pub(super) fn write(&mut self, slot: Slot, plan: &Plan, bytes: &[u8]) {
        let (region, start) = Memory::start(slot, plan);
        let block: &mut [u8] = match region {
            Region::Arena => &mut self.arena,
            Region::Inputs => &mut self.inputs,
            Region::Constants => &mut self.constants,
            Region::States => &mut self.states,
            Region::Bound => &mut [],
        };
        block[start..start + bytes.len()].copy_from_slice(bytes);
    }
}
