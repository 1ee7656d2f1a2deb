//! Host control flow.

use super::Case;
use monograph::diagnostics::codes;
use monograph::prelude::*;
use monograph::while_loop;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            heading: "Doubling until the sum is large enough",
            codes: &[codes::WHILE_LOOP],
            rejected: || {
                let start = f32::spec([2]).named("start");
                trace(|x: Tensor| while_loop(x, |x| x.sum(..).lt(100.0), |x| x * 2.0), start).map(drop)
            },
            corrected: |device| {
                let start = Array::from_slice([2], &[1.0f32, 2.0])?;
                let program =
                    trace(|x: Tensor| fori_loop(20, x, |_, x| x.sum(..).lt(100.0).select(x * 2.0, x)), &start)?;
                let doubled = device.compile(&program)?.replay(&start)?.to_vec::<f32>()?;
                Ok(format!("{doubled:?}"))
            },
            expected: "[64.0, 128.0]",
        },
        Case {
            heading: "A branch whose content cannot be in a graph",
            codes: &[codes::NONZERO],
            rejected: || {
                let program = trace(
                    |x: Tensor| {
                        let positive = x.sum(..).gt(0.0);
                        cond(&positive, || x.take(x.nonzero(), 0).prod(0), || x.sum(0))
                    },
                    f32::spec([3]).named("x"),
                );
                program.map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([3], &[2.0f32, 0.0, 5.0])?;
                let program = trace(
                    |x: Tensor| {
                        let positive = x.sum(..).gt(0.0);
                        cond(&positive, || x.ne(0.0).select(x, 1.0).prod(0), || x.sum(0))
                    },
                    &x,
                )?;
                let product = device.compile(&program)?.replay(&x)?.to_vec::<f32>()?;
                Ok(format!("{product:?}"))
            },
            expected: "[10.0]",
        },
        Case {
            heading: "Branches of different shapes",
            codes: &[codes::OPERANDS],
            rejected: || {
                trace(|x: Tensor| cond(&x.sum(..).gt(0.0), || x, || x.mean_keep(..)), f32::spec([3])).map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([3], &[-1.0f32, -2.0, -3.0])?;
                let program =
                    trace(|x: Tensor| cond(&x.sum(..).gt(0.0), || x, || x.mean_keep(..).broadcast_to([3])), &x)?;
                let chosen = device.compile(&program)?.replay(&x)?.to_vec::<f32>()?;
                Ok(format!("{chosen:?}"))
            },
            expected: "[-2.0, -2.0, -2.0]",
        },
        Case {
            heading: "Looking at each round of a loop",
            codes: &[codes::PRINT],
            rejected: || {
                let program = trace(
                    |x: Tensor| {
                        fori_loop(3, x, |_, x| {
                            x.print();
                            x * x
                        })
                    },
                    f32::spec([]).named("x"),
                );
                program.map(drop)
            },
            corrected: |device| {
                let x = Array::scalar(3.0f32);
                let program = trace(
                    |x: Tensor| {
                        let rounds = zeros(DType::F32, [3]);
                        let (x, rounds) = fori_loop(3, (x, rounds), |i, (x, rounds)| {
                            let here = arange(DType::I64, 3).eq(i);
                            (x * x, here.select(x, rounds))
                        });
                        probe("rounds", &rounds);
                        x
                    },
                    &x,
                )?;
                let mut exe = device.compile(&program)?;
                let last = exe.replay(&x)?.to_vec::<f32>()?;
                let rounds = exe.probe("rounds")?.to_vec::<f32>()?;
                Ok(format!("{last:?} after {rounds:?}"))
            },
            expected: "[6561.0] after [3.0, 9.0, 81.0]",
        },
    ]
}
