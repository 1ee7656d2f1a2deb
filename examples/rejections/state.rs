//! State that changes its structure.

use super::Case;
use monograph::diagnostics::codes;
use monograph::prelude::*;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            heading: "A total that becomes a vector",
            codes: &[codes::STATE_TYPE],
            rejected: || {
                let total = Array::scalar(0.0f32);
                trace_step(&total, f32::spec([3]).named("x"), |total, x| (total + x, ())).map(drop)
            },
            corrected: |device| {
                let total = Array::scalar(0.0f32);
                let x = Array::from_slice([3], &[1.0f32, 2.0, 3.0])?;
                let program = trace_step(&total, &x, |total, x: Tensor| (total + x.sum(..), ()))?;
                let mut exe = device.compile(&program)?;
                exe.replay(&x)?;
                exe.replay(&x)?;
                Ok(format!("{:?} after two replays", exe.state()?.to_vec::<f32>()?))
            },
            expected: "[12.0] after two replays",
        },
        Case {
            heading: "A history that grows",
            codes: &[codes::STRUCTURE],
            rejected: || {
                let history = vec![Array::scalar(0.0f32)];
                let program = trace_step(&history, f32::spec([]).named("x"), |mut history, x| {
                    history.push(x);
                    (history, ())
                });
                program.map(drop)
            },
            corrected: |device| {
                // The last three values, the latest first.
                let history = vec![Array::scalar(0.0f32), Array::scalar(0.0f32), Array::scalar(0.0f32)];
                let program = trace_step(&history, f32::spec([]).named("x"), |mut history, x| {
                    history.pop();
                    history.insert(0, x);
                    (history, ())
                })?;
                let mut exe = device.compile(&program)?;
                for x in [1.0f32, 2.0, 3.0, 4.0] {
                    exe.replay(&Array::scalar(x))?;
                }
                let latest: Result<Vec<f32>, _> =
                    exe.state()?.iter().map(|a| a.to_vec::<f32>().map(|v| v[0])).collect();
                Ok(format!("{:?}", latest?))
            },
            expected: "[4.0, 3.0, 2.0]",
        },
    ]
}
