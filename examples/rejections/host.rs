//! Reads on the host.

use super::Case;
use monograph::diagnostics::codes;
use monograph::prelude::*;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            heading: "Dividing by a total",
            codes: &[codes::ITEM],
            rejected: || {
                let program = trace(
                    |x: Tensor| {
                        let total: f32 = x.sum(..).item()?;
                        Ok(x / total)
                    },
                    f32::spec([2]).named("x"),
                );
                program.map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([2], &[1.0f32, 3.0])?;
                let program = trace(|x: Tensor| x / x.sum(..), &x)?;
                let shares = device.compile(&program)?.replay(&x)?.to_vec::<f32>()?;
                Ok(format!("{shares:?}"))
            },
            expected: "[0.25, 0.75]",
        },
        Case {
            heading: "Deciding by a value",
            codes: &[codes::ITEM],
            rejected: || {
                let program = trace(
                    |x: Tensor| {
                        let total = x.sum(..);
                        if total.item::<f32>()? > 0.0 { Ok(x) } else { Ok(-x) }
                    },
                    f32::spec([2]).named("x"),
                );
                program.map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([2], &[-1.0f32, -3.0])?;
                let program = trace(|x: Tensor| x.sum(..).gt(0.0).select(x, -x), &x)?;
                let chosen = device.compile(&program)?.replay(&x)?.to_vec::<f32>()?;
                Ok(format!("{chosen:?}"))
            },
            expected: "[1.0, 3.0]",
        },
        Case {
            heading: "Copying values out in the middle",
            codes: &[codes::TO_VEC],
            rejected: || {
                let program = trace(
                    |x: Tensor| {
                        let values = x.exp().to_vec::<f32>()?;
                        Ok(x * values[0])
                    },
                    f32::spec([2]).named("x"),
                );
                program.map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([2], &[0.0f32, 5.0])?;
                let program = trace(|x: Tensor| x * x.exp().slice(0, 0..1), &x)?;
                let scaled = device.compile(&program)?.replay(&x)?.to_vec::<f32>()?;
                Ok(format!("{scaled:?}"))
            },
            expected: "[0.0, 5.0]",
        },
        Case {
            heading: "Printing an activation, and asserting that it is finite",
            codes: &[codes::PRINT, codes::ASSERT],
            rejected: || {
                let program = trace(
                    |x: Tensor| {
                        let y = x.sqrt();
                        y.print();
                        y.is_finite().assert();
                        y + 1.0
                    },
                    f32::spec([2]).named("x"),
                );
                program.map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([2], &[4.0f32, 9.0])?;
                let program = trace(
                    |x: Tensor| {
                        let y = probe("root", &x.sqrt());
                        probe("finite", &y.is_finite().all(..));
                        y + 1.0
                    },
                    &x,
                )?;
                let mut exe = device.compile(&program)?;
                let y = exe.replay(&x)?.to_vec::<f32>()?;
                let (root, finite) = (exe.probe("root")?.to_vec::<f32>()?, exe.probe("finite")?.to_vec::<bool>()?);
                Ok(format!("{y:?}, of the root {root:?}, finite {finite:?}"))
            },
            expected: "[3.0, 4.0], of the root [2.0, 3.0], finite [true]",
        },
        Case {
            heading: "A probe inside a loop",
            codes: &[codes::PROBE_IN_BODY],
            rejected: || trace(|x: Tensor| fori_loop(3, x, |_, x| probe("x", &(x * 2.0))), f32::spec([2])).map(drop),
            corrected: |device| {
                let x = Array::from_slice([2], &[1.0f32, 2.0])?;
                let program = trace(|x: Tensor| probe("x", &fori_loop(3, x, |_, x| x * 2.0)), &x)?;
                let mut exe = device.compile(&program)?;
                exe.replay(&x)?;
                Ok(format!("{:?}", exe.probe("x")?.to_vec::<f32>()?))
            },
            expected: "[8.0, 16.0]",
        },
    ]
}
