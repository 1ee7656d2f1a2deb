//! Rules 6 to 8: what kernels mean, how they index, and how they are launched.

use super::{PlanError, fail};
use crate::plan::{Access, IndexMap, Kernel, Plan, Variant};
use crate::{Graph, Op, Shape, Type, verify};

/// CUDA's limits of a grid and of a block, in each dimension, and of a block's threads.
const GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
const BLOCK: [u32; 3] = [1024, 1024, 64];
const THREADS: u64 = 1024;

pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    for (i, kernel) in plan.kernels.iter().enumerate() {
        let wrong = |message: String| fail(format!("kernel {i} `{}`: {message}", kernel.name));
        if let Err(e) = body(kernel) {
            return wrong(e);
        }
        for (what, accesses) in [("read", &kernel.reads), ("write", &kernel.writes)] {
            for (number, access) in accesses.iter().enumerate() {
                if let Err(e) = index(access, &kernel.domain, what == "write") {
                    return wrong(format!("{what} {number}: {e}"));
                }
            }
        }
        for variant in &kernel.variants {
            if let Err(e) = geometry(variant, plan) {
                return wrong(format!("variant `{}`: {e}", variant.symbol));
            }
        }
    }
    Ok(())
}

fn body(kernel: &Kernel) -> Result<(), String> {
    let body = &kernel.body;
    verify(body).map_err(|e| format!("the body is not valid: {e}"))?;
    if let Some(op) = not_runnable(body) {
        return Err(format!("the body holds `{op}`, which cannot run"));
    }
    let params: Vec<Option<&crate::Spec>> = body.params().iter().map(|p| Some(&p.spec)).collect();
    let outputs: Vec<Option<&crate::Spec>> = body.outputs().iter().map(|o| Type::spec(body.ty(o.value))).collect();
    for (what, accesses, specs) in [("read", &kernel.reads, params), ("write", &kernel.writes, outputs)] {
        if accesses.len() != specs.len() {
            return Err(format!("{} {what}s for {} values of the body", accesses.len(), specs.len()));
        }
        for (i, (access, spec)) in accesses.iter().zip(specs).enumerate() {
            if spec != Some(&access.spec) {
                let found = spec.map_or("dynamic".into(), ToString::to_string);
                return Err(format!("{what} {i} is {}, and {found} in the body", access.spec));
            }
        }
    }
    Ok(())
}

/// An op that has no static meaning, also inside regions.
fn not_runnable(graph: &Graph) -> Option<&'static str> {
    graph.nodes().iter().find_map(|node| match &node.op {
        op @ (Op::Dynamic(_) | Op::Host(_) | Op::While { .. }) => Some(op.name()),
        op => op.regions().into_iter().find_map(|region| not_runnable(&region.0)),
    })
}

fn index(access: &Access, domain: &Shape, writes: bool) -> Result<(), String> {
    let IndexMap::Affine { offset, strides } = &access.map else {
        return Ok(());
    };
    if strides.len() != domain.rank() {
        return Err(format!("{} strides for a domain of {} dimensions", strides.len(), domain.rank()));
    }
    let Some(points) = domain.elements() else {
        return Err(format!("the domain {domain} has more points than 2^63"));
    };
    let elements = access.spec.shape.elements().unwrap_or(0);
    if writes && points < elements {
        return Err(format!(
            "the {points} points of the domain cannot write the {elements} elements of {}",
            access.spec
        ));
    }
    if domain.is_empty() {
        return Ok(());
    }
    // Each dimension adds its last step at one end; 2^63 points of strides below 2^63 stay far inside an i128.
    let (mut low, mut high) = (i128::from(*offset), i128::from(*offset));
    for (&stride, &extent) in strides.iter().zip(domain.iter()) {
        let span = i128::from(stride) * (extent as i128 - 1);
        low += span.min(0);
        high += span.max(0);
    }
    if low < 0 || high >= elements as i128 {
        return Err(format!(
            "the index map reaches from {low} to {high} in {}, which has {elements} elements",
            access.spec
        ));
    }
    Ok(())
}

/// Whether two points of the domain never touch the same element: each stride must be longer than all shorter ones
/// reach together, as in any permuted row-major layout with or without gaps.
pub(super) fn is_injective(strides: &[i64], domain: &Shape) -> bool {
    let mut dims: Vec<(u64, usize)> = strides.iter().map(|s| s.unsigned_abs()).zip(domain.iter().copied()).collect();
    dims.retain(|&(_, extent)| extent != 1);
    dims.sort_unstable();
    let mut reach = 0u128;
    dims.iter().all(|&(stride, extent)| {
        let longer = u128::from(stride) > reach;
        reach = reach.saturating_add(u128::from(stride).saturating_mul((extent as u128).saturating_sub(1)));
        longer
    })
}

fn geometry(variant: &Variant, plan: &Plan) -> Result<(), String> {
    if variant.program.index() >= plan.programs.len() {
        return Err(format!("program {} of {}", variant.program.0, plan.programs.len()));
    }
    if variant.symbol.is_empty() {
        return Err("it has no symbol".into());
    }
    for (what, size, limit) in [("grid", variant.grid, GRID), ("block", variant.block, BLOCK)] {
        if size.iter().zip(limit).any(|(&s, l)| s == 0 || s > l) {
            return Err(format!("a {what} of {size:?}; it may be from [1, 1, 1] to {limit:?}"));
        }
    }
    let threads: u64 = variant.block.iter().map(|&b| u64::from(b)).product();
    if threads > THREADS {
        return Err(format!("a block of {threads} threads, and at most {THREADS} are possible"));
    }
    if variant.shared > plan.target.shared_per_block {
        return Err(format!(
            "{} bytes of shared memory, and the target has {}",
            variant.shared, plan.target.shared_per_block
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injective_maps() {
        let check = |strides: &[i64], domain: &[usize]| is_injective(strides, &Shape::from(domain));
        assert!(check(&[], &[]));
        assert!(check(&[12, 4, 1], &[2, 3, 4]));
        assert!(check(&[1, 2, 6], &[2, 3, 4]));
        assert!(check(&[-4, 0, 1], &[3, 1, 4]));
        assert!(check(&[8, 2], &[3, 4]), "gaps do no harm");
        assert!(!check(&[0, 1], &[2, 4]), "a broadcast");
        assert!(!check(&[1, 1], &[3, 3]), "a convolution's window");
        assert!(!check(&[3, 1], &[2, 4]), "rows that overlap");
        assert!(check(&[i64::MIN, 1], &[2, usize::MAX >> 1]));
    }
}
