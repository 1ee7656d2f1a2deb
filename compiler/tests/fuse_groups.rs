//! What is fused with what.

use monograph_compiler::Options;
use monograph_compiler::fuse::{Group, fuse};
use monograph_ir::{
    Axes, DType, Elementwise, Graph, Literal, Op, Origin, OutputKind, ParamKind, Reduction, ScatterKind, Shape, Spec,
    ValueId,
};

/// A graph under construction, with the few helpers that these tests need.
struct Build(Graph);

impl Build {
    fn new() -> Build {
        Build(Graph::new("test"))
    }

    fn input(&mut self, name: &str, shape: impl Into<Shape>) -> ValueId {
        self.0.parameter(name, Spec::new(DType::F32, shape), ParamKind::Input(Default::default()), Origin::Unknown)
    }

    fn indices(&mut self, name: &str, shape: impl Into<Shape>) -> ValueId {
        self.0.parameter(name, Spec::new(DType::I64, shape), ParamKind::Input(Default::default()), Origin::Unknown)
    }

    fn op(&mut self, op: impl Into<Op>, operands: &[ValueId]) -> ValueId {
        self.0.apply(op, operands, Origin::Unknown).unwrap()
    }

    fn shape(&self, x: ValueId) -> Shape {
        self.0.spec(x).shape.clone()
    }

    /// An element-wise op over operands that are broadcast to the first one's shape.
    fn with(&mut self, op: Elementwise, x: ValueId, y: ValueId) -> ValueId {
        let shape = self.shape(x);
        let y = if self.shape(y) == shape { y } else { self.op(Op::Broadcast(shape), &[y]) };
        self.op(op, &[x, y])
    }

    fn number(&mut self, value: f64) -> ValueId {
        self.op(Op::Constant(Literal::from_f64(DType::F32, value)), &[])
    }

    /// A reduction of the last axis that keeps it with extent 1.
    fn last(&mut self, kind: Reduction, x: ValueId) -> ValueId {
        let mut dims = self.shape(x).to_vec();
        let axis = dims.len() - 1;
        let reduced = self.op(Op::Reduce { kind, axes: Axes::from_slice(&[axis]) }, &[x]);
        dims[axis] = 1;
        self.op(Op::Reshape(dims.into()), &[reduced])
    }

    fn softmax(&mut self, x: ValueId) -> ValueId {
        let m = self.last(Reduction::Max, x);
        let d = self.with(Elementwise::Sub, x, m);
        let e = self.op(Elementwise::Exp, &[d]);
        let s = self.last(Reduction::Sum, e);
        self.with(Elementwise::Div, e, s)
    }

    fn layer_norm(&mut self, x: ValueId, w: ValueId, b: ValueId) -> ValueId {
        let n = *self.shape(x).last().unwrap() as f64;
        let sum = self.last(Reduction::Sum, x);
        let n = self.number(n);
        let mean = self.with(Elementwise::Div, sum, n);
        let d = self.with(Elementwise::Sub, x, mean);
        let square = self.op(Elementwise::Mul, &[d, d]);
        let sum = self.last(Reduction::Sum, square);
        let variance = self.with(Elementwise::Div, sum, n);
        let eps = self.number(1e-5);
        let shifted = self.with(Elementwise::Add, variance, eps);
        let scale = self.op(Elementwise::Rsqrt, &[shifted]);
        let y = self.with(Elementwise::Mul, d, scale);
        let y = self.with(Elementwise::Mul, y, w);
        self.with(Elementwise::Add, y, b)
    }

    fn matmul(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.op(Op::Matmul { transpose_a: false, transpose_b: false }, &[a, b])
    }

    fn result(&mut self, name: &str, value: ValueId) {
        self.0.output(name, value, OutputKind::Result);
    }

    fn groups(self) -> Vec<Group> {
        self.groups_and_graph().0
    }

    fn groups_and_graph(self) -> (Vec<Group>, Graph) {
        let groups = fuse(&self.0, &Options::default());
        (groups, self.0)
    }
}

#[test]
fn softmax_is_one_group() {
    let mut b = Build::new();
    let x = b.input("x", [64, 1000]);
    let y = b.softmax(x);
    b.result("y", y);
    let groups = b.groups();
    assert_eq!(groups.len(), 1);
    assert_eq!((groups[0].inputs.len(), groups[0].outputs.len()), (1, 1));
}

#[test]
fn log_softmax_of_three_dimensions_is_one_group() {
    let mut b = Build::new();
    let x = b.input("x", [2, 64, 1000]);
    let m = b.last(Reduction::Max, x);
    let d = b.with(Elementwise::Sub, x, m);
    let e = b.op(Elementwise::Exp, &[d]);
    let s = b.last(Reduction::Sum, e);
    let l = b.op(Elementwise::Log, &[s]);
    let y = b.with(Elementwise::Sub, d, l);
    b.result("y", y);
    assert_eq!(b.groups().len(), 1);
}

#[test]
fn layer_norm_with_weights_is_one_group() {
    let mut b = Build::new();
    let (x, w, c) = (b.input("x", [8, 16, 768]), b.input("w", [768]), b.input("b", [768]));
    let y = b.layer_norm(x, w, c);
    b.result("y", y);
    let groups = b.groups();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].inputs.len(), 3);
}

#[test]
fn the_reductions_of_cross_entropy_are_one_group() {
    let mut b = Build::new();
    let (x, target) = (b.input("x", [64, 1000]), b.indices("target", [64, 1]));
    let m = b.last(Reduction::Max, x);
    let d = b.with(Elementwise::Sub, x, m);
    let e = b.op(Elementwise::Exp, &[d]);
    let s = b.last(Reduction::Sum, e);
    let l = b.op(Elementwise::Log, &[s]);
    let lse = b.op(Elementwise::Add, &[l, m]);
    let picked = b.op(Op::TakeAlong { axis: 1 }, &[x, target]);
    let losses = b.op(Elementwise::Sub, &[lse, picked]);
    let sum = b.op(Op::Reduce { kind: Reduction::Sum, axes: Axes::from_slice(&[0, 1]) }, &[losses]);
    b.result("loss", sum);
    let groups = b.groups();
    assert_eq!(groups.len(), 2, "one over the classes, one over the batch");
    let over_classes = |g: &&Group| g.inputs.contains(&x) && g.outputs.len() == 2;
    assert_eq!(groups.iter().filter(over_classes).count(), 1);
}

#[test]
fn a_chain_of_a_thousand_is_one_group_and_of_four_thousand_a_few() {
    for (length, least, most) in [(1000, 1, 1), (4000, 3, 4)] {
        let mut b = Build::new();
        let x = b.input("x", [256]);
        let mut y = x;
        for i in 0..length {
            y = if i % 2 == 0 { b.op(Elementwise::Add, &[y, x]) } else { b.op(Elementwise::Neg, &[y]) };
        }
        b.result("y", y);
        let groups = b.groups();
        assert!((least..=most).contains(&groups.len()), "{length}: {}", groups.len());
    }
}

#[test]
fn many_operands_are_bounded() {
    let mut b = Build::new();
    let mut sum = b.input("x", [16]);
    for i in 0..200 {
        let x = b.input(&format!("x{i}"), [16]);
        sum = b.op(Elementwise::Add, &[sum, x]);
    }
    b.result("sum", sum);
    let groups = b.groups();
    assert!(groups.len() >= 4 && groups.len() <= 6, "{}", groups.len());
    assert!(groups.iter().all(|g| g.inputs.len() + g.outputs.len() <= 64));
}

#[test]
fn a_diamond_is_one_group() {
    let mut b = Build::new();
    let x = b.input("x", [4, 8]);
    let a = b.op(Elementwise::Exp, &[x]);
    let (left, right) = (b.op(Elementwise::Neg, &[a]), b.op(Elementwise::Abs, &[a]));
    let y = b.op(Elementwise::Add, &[left, right]);
    b.result("y", y);
    assert_eq!(b.groups().len(), 1);
}

#[test]
fn two_results_of_a_shared_value_are_one_group_with_two_outputs() {
    let mut b = Build::new();
    let x = b.input("x", [4, 8]);
    let a = b.op(Elementwise::Exp, &[x]);
    let (left, right) = (b.op(Elementwise::Neg, &[a]), b.op(Elementwise::Abs, &[a]));
    b.result("left", left);
    b.result("right", right);
    b.result("a", a);
    let groups = b.groups();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].outputs.len(), 3);
}

#[test]
fn bias_and_activation_are_the_epilogue_of_a_matmul() {
    let mut b = Build::new();
    let (x, w, c) = (b.input("x", [64, 784]), b.input("w", [784, 512]), b.input("b", [512]));
    let (w2, c2) = (b.input("w2", [512, 10]), b.input("b2", [10]));
    let h = b.matmul(x, w);
    let h = b.with(Elementwise::Add, h, c);
    let zero = b.number(0.0);
    let h = b.with(Elementwise::Maximum, h, zero);
    let y = b.matmul(h, w2);
    let y = b.with(Elementwise::Add, y, c2);
    b.result("y", y);
    let groups = b.groups();
    assert_eq!(groups.len(), 2);
    assert!(groups.iter().all(|g| g.inputs.len() == 3));
}

#[test]
fn two_matmuls_are_never_one_group() {
    let mut b = Build::new();
    let (x, w) = (b.input("x", [8, 8]), b.input("w", [8, 8]));
    let (p, q) = (b.matmul(x, w), b.matmul(w, x));
    let y = b.op(Elementwise::Add, &[p, q]);
    b.result("y", y);
    assert_eq!(b.groups().len(), 2);
}

#[test]
fn a_state_that_a_product_updates_is_updated_by_a_kernel_of_its_own() {
    let mut b = Build::new();
    let (x, g) = (b.input("x", [16, 64]), b.input("g", [16, 32]));
    let w = b.0.parameter("w", Spec::new(DType::F32, [64, 32]), ParamKind::State, Origin::Unknown);
    let grad = b.op(Op::Matmul { transpose_a: true, transpose_b: false }, &[x, g]);
    let rate = b.number(0.1);
    let step = b.with(Elementwise::Mul, grad, rate);
    let new = b.op(Elementwise::Sub, &[w, step]);
    b.0.output("w", new, OutputKind::State(2));
    let groups = b.groups();
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[1].inputs.len(), 2);
}

#[test]
fn an_expensive_value_read_through_a_broadcast_is_computed_once() {
    let mut b = Build::new();
    let (x, y) = (b.input("x", [64]), b.input("y", [1000, 64]));
    let e = b.op(Elementwise::Exp, &[x]);
    let z = b.with(Elementwise::Add, y, e);
    b.result("z", z);
    assert_eq!(b.groups().len(), 2);
}

#[test]
fn no_cycle_between_groups() {
    // a feeds both sides; one side goes through a reduction over everything and back.
    let mut b = Build::new();
    let x = b.input("x", [8, 8]);
    let a = b.op(Elementwise::Exp, &[x]);
    let total = b.op(Op::Reduce { kind: Reduction::Sum, axes: Axes::from_slice(&[0]) }, &[a]);
    let total = b.op(Op::Reduce { kind: Reduction::Sum, axes: Axes::from_slice(&[0]) }, &[total]);
    let y = b.with(Elementwise::Div, a, total);
    b.result("y", y);
    let (groups, graph) = b.groups_and_graph();
    assert_ordered(&graph, &groups);
}

/// Every group reads only parameters and what groups before it write.
fn assert_ordered(graph: &Graph, groups: &[Group]) {
    let mut written = std::collections::HashSet::new();
    for group in groups {
        for &input in &group.inputs {
            let root = monograph_compiler::fuse::storage(graph, input);
            assert!(matches!(graph.node(root.node).op, Op::Parameter(_)) || written.contains(&root), "{root}");
        }
        written.extend(group.outputs.iter().copied());
    }
}

#[test]
fn a_returned_reshape_is_no_kernel_and_a_returned_transpose_is_one() {
    let mut b = Build::new();
    let x = b.input("x", [4, 8]);
    let e = b.op(Elementwise::Exp, &[x]);
    let r = b.op(Op::Reshape([32].into()), &[e]);
    b.result("r", r);
    assert_eq!(b.groups().len(), 1);
    let mut b = Build::new();
    let x = b.input("x", [4, 8]);
    let r = b.op(Op::Reshape([32].into()), &[x]);
    b.result("r", r);
    assert_eq!(b.groups().len(), 0);
    let mut b = Build::new();
    let x = b.input("x", [4, 8]);
    let t = b.op(Op::Permute(Axes::from_slice(&[1, 0])), &[x]);
    b.result("t", t);
    let groups = b.groups();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].body.len(), 2);
}

#[test]
fn masks_over_constants_are_evaluated_where_they_are_needed() {
    let mut b = Build::new();
    let (x, y) = (b.input("x", [4, 8, 8]), b.input("y", [8, 8]));
    let iota = |b: &mut Build, axis| b.op(Op::Iota { dtype: DType::I32, shape: [8, 8].into(), axis }, &[]);
    let (rows, columns) = (iota(&mut b, 0), iota(&mut b, 1));
    let mask = b.op(Elementwise::Ge, &[rows, columns]);
    let low = b.number(f64::NEG_INFINITY);
    let low_y = b.op(Op::Broadcast([8, 8].into()), &[low]);
    let low_x = b.op(Op::Broadcast([4, 8, 8].into()), &[low]);
    let mask_x = b.op(Op::Broadcast([4, 8, 8].into()), &[mask]);
    let p = b.op(Op::Select, &[mask_x, x, low_x]);
    let q = b.op(Op::Select, &[mask, y, low_y]);
    b.result("p", p);
    b.result("q", q);
    let groups = b.groups();
    assert_eq!(groups.len(), 2);
    assert!(groups.iter().all(|g| g.inputs.len() == 1));
}

#[test]
fn scatter_takes_what_is_pointwise_after_it_and_a_constant_base() {
    let mut b = Build::new();
    let (i, u) = (b.indices("i", [5]), b.input("u", [5, 16]));
    let zero = b.number(0.0);
    let base = b.op(Op::Broadcast([100, 16].into()), &[zero]);
    let s = b.op(Op::Scatter { axis: 0, kind: ScatterKind::Add }, &[base, i, u]);
    let rate = b.number(0.1);
    let y = b.with(Elementwise::Mul, s, rate);
    b.result("y", y);
    let groups = b.groups();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].inputs.len(), 2);
}

#[test]
fn without_fusion_each_op_is_a_group_and_equal_ones_have_equal_bodies() {
    let mut b = Build::new();
    let x = b.input("x", [16]);
    let mut y = x;
    for _ in 0..1000 {
        y = b.op(Elementwise::Add, &[y, x]);
    }
    b.result("y", y);
    let mut options = Options::default();
    options.fuse = false;
    let groups = fuse(&b.0, &options);
    assert_eq!(groups.len(), 1000);
    let distinct: std::collections::HashSet<&Graph> = groups.iter().map(|g| &g.body).collect();
    assert_eq!(distinct.len(), 2, "x + x, and y + x");
}
