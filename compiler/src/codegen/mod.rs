//! The kernels' CUDA C++ source.

use crate::Options;
use crate::index::{Index, through, variables};
use monograph_ir::plan::{Access, IndexMap};
use monograph_ir::{Error, Graph, Op, Shape, Target, ValueId};
use rustc_hash::FxHashMap;

/// A kernel's text and how it touches memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// Ops and a structural hash; the symbol.
    pub name: String,
    /// The iteration space.
    pub domain: Shape,
    /// One a parameter of the body.
    pub reads: Vec<Access>,
    /// One an output of the body.
    pub writes: Vec<Access>,
    /// CUDA C++.
    pub source: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
}

/// Options for NVRTC.
pub const NVRTC_OPTIONS: &[&str] = &["--fmad=false"];

/// What every program starts with.
pub fn prelude() -> &'static str {
    ""
}

/// Source of a body.
///
/// # Errors
/// A body that no family takes.
pub fn generate(body: &Graph, _target: &Target, _options: &Options) -> Result<Generated, Error> {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    body.hash(&mut hasher);
    let last = body.outputs()[0].value;
    let name = format!("{}_{:08x}", body.node(last.node).op.name(), hasher.finish() as u32);
    let domain = body.spec(last).shape.clone();
    let mut maps: FxHashMap<ValueId, Option<IndexMap>> = FxHashMap::default();
    let mut pointwise = true;
    for o in body.outputs() {
        let mut stack = vec![(o.value, variables(body.spec(o.value).shape.dims(), 0))];
        pointwise &= body.spec(o.value).shape == domain;
        while let Some((v, index)) = stack.pop() {
            let node = body.node(v.node);
            if let Op::Parameter(_) = node.op {
                let shape = body.spec(v).shape.clone();
                let linear = crate::index::linear(&index, &shape);
                let map = match linear.affine(domain.rank() as u32) {
                    Some((offset, strides)) => IndexMap::Affine { offset, strides },
                    None => IndexMap::Any,
                };
                maps.entry(v).and_modify(|m| { if m.as_ref() != Some(&map) { *m = None } }).or_insert(Some(map));
            }
            for &operand in &node.operands {
                match through(&node.op, &body.spec(operand).shape, &index) {
                    Some(inner) => stack.push((operand, inner)),
                    None => { pointwise = false; break; }
                }
            }
            if stack.len() > 4000 { pointwise = false; break; }
        }
    }
    let identity = IndexMap::Affine { offset: 0, strides: variables(domain.dims(), 0).iter().zip(domain.strides()).map(|(i, s)| if *i == Index::default() { 0 } else { s as i64 }).collect() };
    let reads = (0..body.params().len()).map(|i| {
        let v = body.param_value(i);
        let map = maps.get(&v).cloned().flatten().filter(|_| pointwise).unwrap_or(IndexMap::Any);
        Access { spec: body.spec(v).clone(), map }
    }).collect();
    let writes = body.outputs().iter().map(|o| Access { spec: body.spec(o.value).clone(), map: if pointwise { identity.clone() } else { IndexMap::Any } }).collect();
    Ok(Generated { source: format!("// {name}\n"), name, domain, reads, writes, grid: [1; 3], block: [32, 1, 1], shared: 0 })
}
