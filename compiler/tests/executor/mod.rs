//! Runs a plan on bytes: every kernel by interpreting its body, launch by launch, in any order that the edges allow.

use monograph_ir::interp::{Tensor, evaluate};
use monograph_ir::plan::{Plan, Region, Slot, Work};
use monograph_ir::testing::Random;
use monograph_ir::{DType, Graph, OutputKind, ParamKind, Spec};
use std::collections::BTreeMap;

/// The memory of a plan. Each bound input has a region of its own, keyed by its buffer.
pub(crate) struct Machine<'a> {
    plan: &'a Plan,
    memory: BTreeMap<(Region, u32), Vec<u8>>,
}

/// What is read after a replay: outputs, probes, states.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    pub(crate) outputs: Vec<Tensor>,
    pub(crate) probes: Vec<Tensor>,
    pub(crate) states: Vec<Tensor>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(plan: &'a Plan, constants: &[Tensor], states: &[Tensor]) -> Machine<'a> {
        let mut machine = Machine { plan, memory: BTreeMap::new() };
        for (constant, value) in plan.constants.iter().zip(constants) {
            machine.store(Slot { buffer: constant.buffer, offset: 0 }, value.bytes());
        }
        for (state, value) in plan.states.iter().zip(states) {
            machine.store(Slot { buffer: state.buffer, offset: 0 }, value.bytes());
        }
        machine
    }

    fn bytes(&mut self, slot: Slot, size: usize) -> &mut [u8] {
        let buffer = &self.plan.buffers[slot.buffer.index()];
        assert!(slot.offset + size as u64 <= buffer.size, "{slot:?} of {size} bytes leaves its buffer");
        let key = (buffer.region, if buffer.region == Region::Bound { slot.buffer.0 } else { 0 });
        let start = (buffer.offset + slot.offset) as usize;
        let memory = self.memory.entry(key).or_default();
        if memory.len() < start + size {
            // 0xFF is a NaN in every float dtype.
            memory.resize(start + size, 0xFF);
        }
        &mut memory[start..start + size]
    }

    fn store(&mut self, slot: Slot, bytes: &[u8]) {
        self.bytes(slot, bytes.len()).copy_from_slice(bytes);
    }

    fn load(&mut self, slot: Slot, spec: &Spec) -> Tensor {
        let size = spec.bytes().unwrap() as usize;
        Tensor::from_bytes(spec.clone(), self.bytes(slot, size)).unwrap()
    }

    /// One replay over an arena full of NaNs, with the launches in that order.
    pub(crate) fn replay(&mut self, inputs: &[Tensor], order: &[usize]) -> Results {
        let plan = self.plan;
        if let Some(arena) = self.memory.get_mut(&(Region::Arena, 0)) {
            arena.fill(0xFF);
        }
        for (input, value) in plan.inputs.iter().zip(inputs) {
            assert_eq!(input.spec, *value.spec());
            self.store(Slot { buffer: input.buffer, offset: 0 }, value.bytes());
        }
        for &i in order {
            match &plan.launches[i].work {
                Work::Kernel { kernel, reads, writes } => {
                    let kernel = &plan.kernels[kernel.index()];
                    assert_eq!((reads.len(), writes.len()), (kernel.reads.len(), kernel.writes.len()));
                    let given: Vec<Tensor> =
                        reads.iter().zip(&kernel.reads).map(|(&slot, access)| self.load(slot, &access.spec)).collect();
                    let results = evaluate(&kernel.body, &given).unwrap();
                    for ((&slot, access), result) in writes.iter().zip(&kernel.writes).zip(&results) {
                        assert_eq!(*result.spec(), access.spec);
                        self.store(slot, result.bytes());
                    }
                }
                Work::Copy { source, target, bytes } => {
                    let copied = self.bytes(*source, *bytes as usize).to_vec();
                    self.store(*target, &copied);
                }
                other => panic!("{other:?} is reserved"),
            }
        }
        Results {
            outputs: plan.outputs.iter().map(|v| self.load(v.slot, &v.spec)).collect(),
            probes: plan.probes.iter().map(|v| self.load(v.slot, &v.spec)).collect(),
            states: plan.states.iter().map(|s| self.load(Slot { buffer: s.buffer, offset: 0 }, &s.spec)).collect(),
        }
    }
}

/// A random order that the edges allow.
pub(crate) fn topological_order(plan: &Plan, random: &mut Random) -> Vec<usize> {
    let mut waits = vec![0usize; plan.launches.len()];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); plan.launches.len()];
    for edge in &plan.edges {
        waits[edge.to.index()] += 1;
        next[edge.from.index()].push(edge.to.index());
    }
    let mut ready: Vec<usize> = (0..waits.len()).filter(|&i| waits[i] == 0).collect();
    let mut order = Vec::new();
    while !ready.is_empty() {
        let i = ready.swap_remove(random.below(ready.len()));
        order.push(i);
        for &j in &next[i] {
            waits[j] -= 1;
            if waits[j] == 0 {
                ready.push(j);
            }
        }
    }
    assert_eq!(order.len(), plan.launches.len(), "the edges have a cycle");
    order
}

/// A tensor of small numbers, some negative; indices are in or a little outside small extents.
pub(crate) fn random_tensor(spec: &Spec, random: &mut Random) -> Tensor {
    let mut bytes = Vec::new();
    for _ in 0..spec.shape.size() {
        let small = random.below(9) as f64 - 3.0;
        let value = if spec.dtype.is_float() { small * 0.75 + 0.125 } else { small };
        let value = if spec.dtype == DType::Bool { f64::from(random.one_in(2)) } else { value };
        let literal = monograph_ir::Literal::from_f64(spec.dtype, value);
        bytes.extend_from_slice(&literal.to_le_bytes()[..spec.dtype.size()]);
    }
    Tensor::from_bytes(spec.clone(), &bytes).unwrap()
}

/// Equal to the bit, but that any NaN is any other.
pub(crate) fn assert_same(what: &str, found: &Tensor, expected: &Tensor) {
    assert_eq!(found.spec(), expected.spec(), "{what}");
    if found.bytes() == expected.bytes() {
        return;
    }
    let (found, expected) = (found.to_f64_vec(), expected.to_f64_vec());
    for (i, (f, e)) in found.iter().zip(&expected).enumerate() {
        assert!(f.to_bits() == e.to_bits() || f.is_nan() && e.is_nan(), "{what}: element {i} is {f}, not {e}");
    }
}

/// Replays the plan three times, in index order and in random orders, and compares with the interpreter.
pub(crate) fn check(graph: &Graph, plan: &Plan, seed: u64) {
    let mut random = Random::new(seed ^ 0x5eed);
    let of_kind = |kind: fn(&ParamKind) -> bool| {
        let params = graph.params().iter().filter(move |p| kind(&p.kind));
        params.map(|p| p.spec.clone()).collect::<Vec<_>>()
    };
    let inputs = of_kind(|k| matches!(k, ParamKind::Input(_)));
    let some = |specs: &[Spec], random: &mut Random| -> Vec<Tensor> {
        specs.iter().map(|s| random_tensor(s, random)).collect()
    };
    let constants = some(&of_kind(|k| *k == ParamKind::Constant), &mut random);
    let first_states = some(&of_kind(|k| *k == ParamKind::State), &mut random);
    for shuffled in 0..3 {
        let mut machine = Machine::new(plan, &constants, &first_states);
        let mut states = first_states.clone();
        for replay in 0..3 {
            let given = some(&inputs, &mut random);
            let order = match shuffled {
                0 => (0..plan.launches.len()).collect(),
                _ => topological_order(plan, &mut random),
            };
            let (mut i, mut c, mut s) = (given.iter(), constants.iter(), states.iter());
            let params: Vec<Tensor> = (graph.params().iter())
                .map(|p| match p.kind {
                    ParamKind::Input(_) => i.next().unwrap().clone(),
                    ParamKind::Constant => c.next().unwrap().clone(),
                    ParamKind::State => s.next().unwrap().clone(),
                })
                .collect();
            let expected = evaluate(graph, &params).unwrap();
            let found = machine.replay(&given, &order);
            let (mut outputs, mut probes) = (found.outputs.iter(), found.probes.iter());
            let state_params: Vec<usize> =
                (0..params.len()).filter(|&p| graph.params()[p].kind == ParamKind::State).collect();
            for (output, value) in graph.outputs().iter().zip(&expected) {
                let what = format!("seed {seed}, order {shuffled}, replay {replay}, {}", output.name);
                match output.kind {
                    OutputKind::Result => assert_same(&what, outputs.next().unwrap(), value),
                    OutputKind::Probe => assert_same(&what, probes.next().unwrap(), value),
                    OutputKind::State(p) => {
                        let number = state_params.iter().position(|&q| q == p as usize).unwrap();
                        assert_same(&what, &found.states[number], value);
                        states[number] = value.clone();
                    }
                }
            }
            for (number, state) in found.states.iter().enumerate() {
                assert_same(&format!("seed {seed}, state {number}"), state, &states[number]);
            }
        }
    }
}
