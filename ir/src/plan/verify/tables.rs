//! Rules 1 to 5: version, buffers, the tables of values, edges.

use super::{PlanError, fail};
use crate::plan::{BufferId, DeviceId, EdgeKind, MAX_LAUNCHES, PLAN_VERSION, Plan, Region, Slot, Work};
use crate::{Binding, Spec};
use std::collections::BTreeSet;

/// For each buffer, how many bytes from its start hold something before the first launch.
pub(super) fn check(plan: &Plan) -> Result<Vec<u64>, PlanError> {
    if plan.version != PLAN_VERSION {
        return fail(format!(
            "the plan has version {}, and this Monograph reads version {PLAN_VERSION}; compile it again",
            plan.version
        ));
    }
    if plan.launches.len() > MAX_LAUNCHES {
        return fail(format!("the plan has {} launches, and at most {MAX_LAUNCHES} are allowed", plan.launches.len()));
    }
    buffers(plan)?;
    let given = given(plan)?;
    values(plan)?;
    edges(plan)?;
    Ok(given)
}

fn buffers(plan: &Plan) -> Result<(), PlanError> {
    let mut placed: Vec<(Region, u64, u64, usize)> = Vec::new();
    for (i, buffer) in plan.buffers.iter().enumerate() {
        if buffer.device != DeviceId(0) {
            return fail(format!("buffer {i} lies on device {}, and there is only device 0", buffer.device.0));
        }
        if !buffer.alignment.is_power_of_two() || buffer.offset % buffer.alignment != 0 {
            return fail(format!(
                "buffer {i} lies at {}, not at a multiple of its alignment {}, or that is no power of two",
                buffer.offset, buffer.alignment
            ));
        }
        let Some(end) = buffer.offset.checked_add(buffer.size).filter(|&end| i64::try_from(end).is_ok()) else {
            return fail(format!("buffer {i} of {} bytes at {} ends beyond 2^63", buffer.size, buffer.offset));
        };
        if buffer.region == Region::Bound && buffer.offset != 0 {
            return fail(format!("buffer {i} is bound and lies at {}, not at 0", buffer.offset));
        }
        if !matches!(buffer.region, Region::Arena | Region::Bound) && buffer.size > 0 {
            placed.push((buffer.region, buffer.offset, end, i));
        }
    }
    placed.sort_unstable();
    for pair in placed.windows(2) {
        let [(region, _, end, i), (other_region, start, _, j)] = [pair[0], pair[1]];
        if region == other_region && start < end {
            return fail(format!("buffers {i} and {j} of the region {region:?} overlap"));
        }
    }
    Ok(())
}

/// Rule 3, which also says what is there before the first launch.
fn given(plan: &Plan) -> Result<Vec<u64>, PlanError> {
    let inputs = plan.inputs.iter().map(|i| {
        let region = match i.binding {
            Binding::Copied => Region::Inputs,
            Binding::Bound => Region::Bound,
        };
        ("input", &i.name, &i.spec, i.buffer, region)
    });
    let states = plan.states.iter().map(|s| ("state", &s.name, &s.spec, s.buffer, Region::States));
    let constants = plan.constants.iter().map(|c| ("constant", &c.name, &c.spec, c.buffer, Region::Constants));
    let mut given = vec![0; plan.buffers.len()];
    let mut owned = vec![false; plan.buffers.len()];
    let mut names = BTreeSet::new();
    for (what, name, spec, id, region) in inputs.chain(states).chain(constants) {
        if name.is_empty() || !names.insert((what, name)) {
            return fail(format!("the name `{name}` of an {what} is empty or taken"));
        }
        let bytes = place(plan, what, name, spec, Slot { buffer: id, offset: 0 })?;
        let found = plan.buffers[id.index()].region;
        if found != region {
            return fail(format!("{what} `{name}` lies in the region {found:?}, not {region:?}"));
        }
        if std::mem::replace(&mut owned[id.index()], true) {
            return fail(format!("{what} `{name}` has buffer {}, which is that of another value", id.0));
        }
        given[id.index()] = bytes;
    }
    Ok(given)
}

/// Checks that a value lies inside its buffer, aligned, and returns its size.
fn place(plan: &Plan, what: &str, name: &str, spec: &Spec, slot: Slot) -> Result<u64, PlanError> {
    let BufferId(number) = slot.buffer;
    let Some(buffer) = plan.buffers.get(slot.buffer.index()) else {
        return fail(format!("{what} `{name}` has buffer {number}, and there are {}", plan.buffers.len()));
    };
    let Some(bytes) = spec.bytes() else {
        return fail(format!("{what} `{name}`: {spec} has more bytes than 2^63"));
    };
    if slot.offset.checked_add(bytes).is_none_or(|end| end > buffer.size) {
        return fail(format!(
            "{what} `{name}`, {spec}, takes {bytes} bytes at {} of buffer {number}, which has {}",
            slot.offset, buffer.size
        ));
    }
    let element = spec.dtype.size() as u64;
    if bytes > 0 && (buffer.alignment < element || !slot.offset.is_multiple_of(element)) {
        return fail(format!(
            "{what} `{name}`, {spec}, is not aligned to its elements at {} of buffer {number}",
            slot.offset
        ));
    }
    Ok(bytes)
}

fn values(plan: &Plan) -> Result<(), PlanError> {
    for (what, values) in [("output", &plan.outputs), ("probe", &plan.probes)] {
        let mut names = BTreeSet::new();
        for value in values {
            if value.name.is_empty() || !names.insert(&value.name) {
                return fail(format!("the name `{}` of an {what} is empty or taken", value.name));
            }
            let bytes = place(plan, what, &value.name, &value.spec, value.slot)?;
            if bytes > 0 && plan.buffers[value.slot.buffer.index()].region == Region::Bound {
                return fail(format!("{what} `{}` lies in a bound input, which moves with its caller", value.name));
            }
        }
    }
    Ok(())
}

fn edges(plan: &Plan) -> Result<(), PlanError> {
    let mut pairs = Vec::with_capacity(plan.edges.len());
    for edge in &plan.edges {
        let (from, to) = (edge.from.index(), edge.to.index());
        if from >= to || to >= plan.launches.len() {
            return fail(format!(
                "the edge from launch {from} to {to} does not go forward, or there is no such launch among {}",
                plan.launches.len()
            ));
        }
        let joins_kernels = [from, to].iter().all(|&l| matches!(plan.launches[l].work, Work::Kernel { .. }));
        if edge.kind == EdgeKind::Programmatic && !joins_kernels {
            return fail(format!("the programmatic edge from launch {from} to {to} does not join two kernels"));
        }
        pairs.push((from, to));
    }
    pairs.sort_unstable();
    match pairs.windows(2).find(|w| w[0] == w[1]) {
        Some(pair) => fail(format!("the edge from launch {} to {} is there twice", pair[0].0, pair[0].1)),
        None => Ok(()),
    }
}
