//! Shapes and dtypes that do not fit.

use super::Case;
use monograph::diagnostics::codes;
use monograph::prelude::*;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            heading: "A number for each row",
            codes: &[codes::BROADCAST],
            rejected: || {
                let inputs = (f32::spec([2, 3]).named("x"), f32::spec([2]).named("bias"));
                trace(|(x, bias)| x + bias, inputs).map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
                let bias = Array::from_slice([2], &[10.0f32, 20.0])?;
                let program = trace(|(x, bias)| x + bias.unsqueeze(-1), (&x, &bias))?;
                let sums = device.compile(&program)?.replay((&x, &bias))?.to_vec::<f32>()?;
                Ok(format!("{sums:?}"))
            },
            expected: "[11.0, 12.0, 13.0, 24.0, 25.0, 26.0]",
        },
        Case {
            heading: "Floats and integers together",
            codes: &[codes::DTYPES],
            rejected: || {
                let inputs = (f32::spec([2]).named("price"), i32::spec([2]).named("count"));
                trace(|(price, count)| price * count, inputs).map(drop)
            },
            corrected: |device| {
                let price = Array::from_slice([2], &[0.5f32, 2.0])?;
                let count = Array::from_slice([2], &[3i32, 4])?;
                let program = trace(|(price, count)| price * count.cast(DType::F32), (&price, &count))?;
                let costs = device.compile(&program)?.replay((&price, &count))?.to_vec::<f32>()?;
                Ok(format!("{costs:?}"))
            },
            expected: "[1.5, 8.0]",
        },
        Case {
            heading: "A fraction beside integers",
            codes: &[codes::NUMBER],
            rejected: || trace(|n: Tensor| n * 0.5, i32::spec([2]).named("n")).map(drop),
            corrected: |device| {
                let n = Array::from_slice([2], &[3i32, 4])?;
                let program = trace(|n: Tensor| n.cast(DType::F32) * 0.5, &n)?;
                let halves = device.compile(&program)?.replay(&n)?.to_vec::<f32>()?;
                Ok(format!("{halves:?}"))
            },
            expected: "[1.5, 2.0]",
        },
        Case {
            heading: "Weights that lie the other way round",
            codes: &[codes::MATMUL],
            rejected: || {
                let inputs = (f32::spec([1, 3]).named("x"), f32::spec([2, 3]).named("w"));
                trace(|(x, w)| x.matmul(w), inputs).map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([1, 3], &[1.0f32, 2.0, 3.0])?;
                let w = Array::from_slice([2, 3], &[1.0f32, 0.0, 1.0, 0.0, 10.0, 0.0])?;
                let program = trace(|(x, w)| x.matmul(w.t()), (&x, &w))?;
                let y = device.compile(&program)?.replay((&x, &w))?.to_vec::<f32>()?;
                Ok(format!("{y:?}"))
            },
            expected: "[4.0, 20.0]",
        },
        Case {
            heading: "An axis that does not exist",
            codes: &[codes::AXIS],
            rejected: || trace(|x: Tensor| x.max(2), f32::spec([2, 3]).named("x")).map(drop),
            corrected: |device| {
                let x = Array::from_slice([2, 3], &[1.0f32, 5.0, 3.0, -4.0, -6.0, -5.0])?;
                let program = trace(|x: Tensor| x.max(-1), &x)?;
                let greatest = device.compile(&program)?.replay(&x)?.to_vec::<f32>()?;
                Ok(format!("{greatest:?}"))
            },
            expected: "[5.0, -4.0]",
        },
        Case {
            heading: "Two mistakes are reported at once, and what only follows from them is not",
            codes: &[codes::BROADCAST, codes::OPERANDS],
            rejected: || {
                let program = trace(
                    |(x, y, n)| {
                        let sum = x + y;
                        let scaled = sum.exp() * 2.0;
                        let root = n.sqrt();
                        // This reads what was never computed: only the mistakes above are worth a message.
                        let total: f32 = (scaled.sum(..) + root.sum(..)).item()?;
                        Ok(x * total)
                    },
                    (f32::spec([3]).named("x"), f32::spec([2]).named("y"), i32::spec([2]).named("n")),
                );
                program.map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([3], &[1.0f32, 2.0, 3.0])?;
                let y = Array::from_slice([1], &[1.0f32])?;
                let n = Array::from_slice([2], &[4i32, 9])?;
                let program = trace(
                    |(x, y, n)| {
                        let root = n.cast(DType::F32).sqrt();
                        x * ((x + y).sum(..) + root.sum(..))
                    },
                    (&x, &y, &n),
                )?;
                let scaled = device.compile(&program)?.replay((&x, &y, &n))?.to_vec::<f32>()?;
                Ok(format!("{scaled:?}"))
            },
            expected: "[14.0, 28.0, 42.0]",
        },
    ]
}
