//! Tensors in the wrong place.

use super::Case;
use monograph::diagnostics::codes;
use monograph::prelude::*;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            heading: "A tensor of another trace",
            codes: &[codes::OTHER_TRACE],
            rejected: || {
                let mut kept = None;
                trace(|x: Tensor| *kept.insert(x * 2.0), f32::spec([2]))?;
                trace(|x: Tensor| kept.map_or(x, |doubled| x + doubled), f32::spec([2]).named("x")).map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([2], &[1.0f32, 2.0])?;
                let mut double = device.compile(&trace(|x: Tensor| x * 2.0, &x)?)?;
                let doubled = double.replay(&x)?;
                let mut add = device.compile(&trace(|(x, y)| x + y, (&x, &x))?)?;
                Ok(format!("{:?}", add.replay((&x, &doubled))?.to_vec::<f32>()?))
            },
            expected: "[3.0, 6.0]",
        },
        Case {
            heading: "A tensor that was made outside",
            codes: &[codes::NO_TRACE],
            rejected: || {
                let one = ones(DType::F32, [2]);
                trace(|x: Tensor| x + one, f32::spec([2]).named("x")).map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([2], &[1.0f32, 2.0])?;
                // Data that exists before is an array, and a traced function may use it.
                let one = Array::from_slice([2], &[1.0f32, 1.0])?;
                let program = trace(|x: Tensor| x + &one, &x)?;
                let sum = device.compile(&program)?.replay(&x)?.to_vec::<f32>()?;
                Ok(format!("{sum:?}"))
            },
            expected: "[2.0, 3.0]",
        },
        Case {
            heading: "A tensor of a loop's body, used after the loop",
            codes: &[codes::ENDED_BODY],
            rejected: || {
                let program = trace(
                    |x: Tensor| {
                        let mut last = x;
                        fori_loop(3, x, |_, x| {
                            last = x * 2.0;
                            last
                        });
                        last + 1.0
                    },
                    f32::spec([2]).named("x"),
                );
                program.map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([2], &[1.0f32, 2.0])?;
                let program = trace(|x: Tensor| fori_loop(3, x, |_, x| x * 2.0) + 1.0, &x)?;
                let y = device.compile(&program)?.replay(&x)?.to_vec::<f32>()?;
                Ok(format!("{y:?}"))
            },
            expected: "[9.0, 17.0]",
        },
        Case {
            heading: "Two probes of one name",
            codes: &[codes::NAME],
            rejected: || {
                let program = trace(
                    |x: Tensor| {
                        let first = probe("layer", &x.relu());
                        probe("layer", &(first * 2.0))
                    },
                    f32::spec([2]).named("x"),
                );
                program.map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([2], &[-1.0f32, 2.0])?;
                let program = trace(
                    |x: Tensor| {
                        let first = probe("layer.0", &x.relu());
                        probe("layer.1", &(first * 2.0))
                    },
                    &x,
                )?;
                let mut exe = device.compile(&program)?;
                exe.replay(&x)?;
                let read = |name| exe.probe(name)?.to_vec::<f32>();
                Ok(format!("{:?} and {:?}", read("layer.0")?, read("layer.1")?))
            },
            expected: "[0.0, 2.0] and [0.0, 4.0]",
        },
    ]
}
