//! Bodies and data for the tests, written shortly.

use monograph_ir::interp::Tensor;
use monograph_ir::{
    Axes, DType, Elementwise, Graph, Literal, Op, Origin, OutputKind, ParamKind, Reduction, Spec, ValueId,
};

/// A body under construction.
pub(crate) struct Body(pub(crate) Graph);

impl Body {
    pub(crate) fn new() -> Body {
        Body(Graph::new("body"))
    }

    pub(crate) fn input(&mut self, dtype: DType, shape: &[usize]) -> ValueId {
        let name = format!("x{}", self.0.params().len());
        self.0.parameter(name, Spec::new(dtype, shape), ParamKind::Constant, Origin::Unknown)
    }

    pub(crate) fn op(&mut self, op: impl Into<Op>, operands: &[ValueId]) -> ValueId {
        self.0.apply(op, operands, Origin::Unknown).expect("a body of a test is well typed")
    }

    pub(crate) fn unary(&mut self, op: Elementwise, x: ValueId) -> ValueId {
        self.op(op, &[x])
    }

    pub(crate) fn binary(&mut self, op: Elementwise, a: ValueId, b: ValueId) -> ValueId {
        self.op(op, &[a, b])
    }

    pub(crate) fn full(&mut self, dtype: DType, value: f64, shape: &[usize]) -> ValueId {
        let scalar = self.op(Op::Constant(Literal::from_f64(dtype, value)), &[]);
        self.broadcast(scalar, shape)
    }

    pub(crate) fn broadcast(&mut self, x: ValueId, shape: &[usize]) -> ValueId {
        self.op(Op::Broadcast(shape.into()), &[x])
    }

    pub(crate) fn reshape(&mut self, x: ValueId, shape: &[usize]) -> ValueId {
        self.op(Op::Reshape(shape.into()), &[x])
    }

    pub(crate) fn reduce(&mut self, kind: Reduction, x: ValueId, axes: &[usize]) -> ValueId {
        self.op(Op::Reduce { kind, axes: Axes::from_slice(axes) }, &[x])
    }

    /// A reduction's result over all of `shape` again.
    pub(crate) fn spread(&mut self, row: ValueId, shape: &[usize], axes: &[usize]) -> ValueId {
        let kept: Vec<usize> = shape.iter().enumerate().map(|(i, &d)| if axes.contains(&i) { 1 } else { d }).collect();
        let row = self.reshape(row, &kept);
        self.broadcast(row, shape)
    }

    pub(crate) fn done(mut self, outputs: &[ValueId]) -> Graph {
        for (i, &value) in outputs.iter().enumerate() {
            self.0.output(format!("y{i}"), value, OutputKind::Result);
        }
        self.0
    }
}

/// Numbers that repeat from run to run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// In -2..2.
    pub(crate) fn float(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 51) as f64 - 2.0
    }

    /// A tensor of small numbers.
    pub(crate) fn tensor(&mut self, spec: &Spec) -> Tensor {
        self.with(spec, |r| match spec.dtype {
            d if d.is_float() => Literal::from_f64(d, r.float()),
            d => Literal::from_i64(d, (r.next() % 7) as i64),
        })
    }

    /// A tensor of elements with many NaN, infinities, zeros and limits among them.
    pub(crate) fn wild(&mut self, spec: &Spec) -> Tensor {
        self.with(spec, |r| match (r.next() % 4, spec.dtype) {
            (0, d) if d.is_float() => {
                let edges =
                    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-40, 65504.0, 3e9];
                Literal::from_f64(d, edges[r.next() as usize % edges.len()])
            }
            (1, d) if d.is_float() => Literal::from_f64(d, r.float() * 100.0),
            (_, d) if d.is_float() => Literal::from_f64(d, r.float()),
            (0, d) => Literal::from_i64(d, [0, -1, i64::MIN, i64::MAX, i64::from(i32::MIN)][r.next() as usize % 5]),
            (1, d) => Literal::from_bits(d, r.next()),
            (_, d) => Literal::from_i64(d, (r.next() % 9) as i64 - 4),
        })
    }

    pub(crate) fn with(&mut self, spec: &Spec, mut element: impl FnMut(&mut Random) -> Literal) -> Tensor {
        let size = spec.dtype.size();
        let bytes: Vec<u8> =
            (0..spec.shape.size()).flat_map(|_| element(self).to_le_bytes()[..size].to_vec()).collect();
        Tensor::from_bytes(spec.clone(), &bytes).expect("as many bytes as the spec has")
    }
}
