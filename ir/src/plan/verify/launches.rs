//! Rules 9 to 12: what each launch touches.

use super::kernels::is_injective;
use super::{Bytes, PlanError, Touched, called, fail_at};
use crate::plan::{Access, DeviceId, IndexMap, Kernel, Plan, Region, Slot, Work};

/// What every launch reads and writes, in order.
pub(super) fn check(plan: &Plan) -> Result<Vec<Touched>, PlanError> {
    (0..plan.launches.len())
        .map(|i| launch(plan, i).or_else(|message| fail_at(&[i], format!("{}: {message}", called(plan, i)))))
        .collect()
}

fn launch(plan: &Plan, index: usize) -> Result<Touched, String> {
    let launch = &plan.launches[index];
    if launch.device != DeviceId(0) {
        return Err(format!("it runs on device {}, and there is only device 0", launch.device.0));
    }
    match &launch.work {
        Work::Kernel { kernel, reads, writes } => {
            let Some(kernel) = plan.kernels.get(kernel.index()) else {
                return Err(format!("it calls kernel {}, and there are {}", kernel.0, plan.kernels.len()));
            };
            call(plan, kernel, reads, writes)
        }
        Work::Copy { source, target, bytes } => {
            let read = touch(plan, *source, *bytes, 1).map_err(|e| format!("the source {e}"))?;
            let write = touch(plan, *target, *bytes, 1).map_err(|e| format!("the target {e}"))?;
            writable(write.as_ref()).map_err(|e| format!("the target {e}"))?;
            if let (Some(read), Some(write)) = (read, write)
                && read.overlaps(&write)
            {
                return Err("the copy's source and target overlap".into());
            }
            Ok(Touched { reads: read.into_iter().collect(), writes: write.into_iter().collect() })
        }
        Work::Conditional { .. } => Err("conditional launches are not supported yet".into()),
        Work::Collective { name, .. } => Err(format!("collective launches (`{name}`) are not supported yet")),
    }
}

fn call(plan: &Plan, kernel: &Kernel, reads: &[Slot], writes: &[Slot]) -> Result<Touched, String> {
    let sides = [("read", reads, &kernel.reads), ("write", writes, &kernel.writes)];
    let [reads, writes] = sides.map(|(what, slots, accesses)| {
        if slots.len() != accesses.len() {
            return Err(format!("{} slots for the {} {what}s of `{}`", slots.len(), accesses.len(), kernel.name));
        }
        let mut touched: Vec<(Bytes, &Access)> = Vec::with_capacity(slots.len());
        for (i, (&slot, access)) in slots.iter().zip(accesses).enumerate() {
            let size = access.spec.bytes().ok_or_else(|| format!("{what} {i} has more bytes than 2^63"))?;
            let bytes = touch(plan, slot, size, access.spec.dtype.size() as u64);
            let bytes = bytes.map_err(|e| format!("{what} {i}, {}, {e}", access.spec))?;
            if what == "write" {
                writable(bytes.as_ref()).map_err(|e| format!("write {i} {e}"))?;
            }
            touched.extend(bytes.map(|b| (b, access)));
        }
        Ok(touched)
    });
    let (reads, mut writes) = (reads?, writes?);
    writes.sort_by_key(|(b, _)| (b.region, b.start));
    if let Some(pair) = writes.windows(2).find(|w| w[0].0.overlaps(&w[1].0)) {
        let (a, b) = (pair[0].0, pair[1].0);
        return Err(format!("two writes overlap, in buffers {} and {}", a.buffer.0, b.buffer.0));
    }
    for (read, access) in &reads {
        // The writes are disjoint and in order, so those that the read overlaps stand next to each other.
        let first = writes.partition_point(|(w, _)| (w.region, w.end) <= (read.region, read.start));
        for (write, written) in writes[first..].iter().take_while(|(w, _)| w.overlaps(read)) {
            if !in_place((read, access), (write, written), kernel) {
                return Err(format!(
                    "it reads buffer {} and writes buffer {} over it, and not each element in its place",
                    read.buffer.0, write.buffer.0
                ));
            }
        }
    }
    let bytes = |side: Vec<(Bytes, &Access)>| side.into_iter().map(|(b, _)| b).collect();
    Ok(Touched { reads: bytes(reads), writes: bytes(writes) })
}

/// Whether a write over a read is the write of each element by the thread that has read it, and by no other.
fn in_place((read, a): (&Bytes, &Access), (write, b): (&Bytes, &Access), kernel: &Kernel) -> bool {
    let same_bytes = (read.start, read.end) == (write.start, write.end);
    let injective = match &a.map {
        IndexMap::Affine { strides, .. } => is_injective(strides, &kernel.domain),
        IndexMap::Any => false,
    };
    same_bytes && injective && a.map == b.map && a.spec.dtype.size() == b.spec.dtype.size()
}

/// The bytes of a slot, if there are any.
fn touch(plan: &Plan, slot: Slot, size: u64, element: u64) -> Result<Option<Bytes>, String> {
    let Some(buffer) = plan.buffers.get(slot.buffer.index()) else {
        return Err(format!("lies in buffer {}, and there are {}", slot.buffer.0, plan.buffers.len()));
    };
    let end = slot.offset.checked_add(size).filter(|&end| end <= buffer.size);
    let Some(end) = end else {
        return Err(format!(
            "takes {size} bytes at {} of buffer {}, which has {}",
            slot.offset, slot.buffer.0, buffer.size
        ));
    };
    if size == 0 {
        return Ok(None);
    }
    if buffer.alignment < element || !slot.offset.is_multiple_of(element) {
        return Err(format!(
            "is not aligned to its elements of {element} bytes at {} of buffer {}",
            slot.offset, slot.buffer.0
        ));
    }
    let (start, end) = (buffer.offset + slot.offset, buffer.offset + end);
    Ok(Some(Bytes { buffer: slot.buffer, region: buffer.region, start, end }))
}

fn writable(bytes: Option<&Bytes>) -> Result<(), String> {
    match bytes {
        Some(Bytes { region: region @ (Region::Inputs | Region::Bound | Region::Constants), buffer, .. }) => {
            Err(format!("goes to buffer {} of the region {region:?}, which is only read", buffer.0))
        }
        _ => Ok(()),
    }
}
