//! Shapes that depend on data.

use super::Case;
use monograph::diagnostics::codes;
use monograph::dynamic_range;
use monograph::prelude::*;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            heading: "Elements at the indices that are not zero",
            codes: &[codes::NONZERO],
            rejected: || {
                let scores = f32::spec([4]).named("scores");
                let program = trace(
                    |scores: Tensor| {
                        let indices = scores.relu().nonzero();
                        let chosen = scores.take(indices, 0);
                        chosen * 2.0
                    },
                    scores,
                );
                program.map(drop)
            },
            corrected: |device| {
                let scores = Array::from_slice([4], &[0.0f32, 3.0, -1.0, 4.0])?;
                let program = trace(
                    |scores: Tensor| {
                        // An index outside, such as the fill of -1, reads zero.
                        let indices = scores.relu().nonzero_padded(4, -1);
                        let chosen = scores.take(indices, 0);
                        chosen * 2.0
                    },
                    &scores,
                )?;
                let doubled = device.compile(&program)?.replay(&scores)?.to_vec::<f32>()?;
                Ok(format!("{doubled:?}"))
            },
            expected: "[6.0, 8.0, 0.0, 0.0]",
        },
        Case {
            heading: "The mean of the positive elements",
            codes: &[codes::MASKED_SELECT],
            rejected: || trace(|x: Tensor| x.masked_select(&x.gt(0.0)).mean(0), f32::spec([3]).named("x")).map(drop),
            corrected: |device| {
                let x = Array::from_slice([3], &[-1.0f32, 3.0, 4.0])?;
                let program = trace(
                    |x: Tensor| {
                        let positive = x.gt(0.0);
                        positive.select(x, 0.0).sum(..) / positive.count(..).cast(DType::F32)
                    },
                    &x,
                )?;
                let mean = device.compile(&program)?.replay(&x)?.to_vec::<f32>()?;
                Ok(format!("{mean:?}"))
            },
            expected: "[3.5]",
        },
        Case {
            heading: "The distinct elements",
            codes: &[codes::UNIQUE],
            rejected: || trace(|ids: Tensor| ids.unique(), i32::spec([4]).named("ids")).map(drop),
            corrected: |device| {
                let ids = Array::from_slice([4], &[5i32, 2, 5, 9])?;
                let program = trace(|ids: Tensor| ids.unique_padded(4, -1), &ids)?;
                let distinct = device.compile(&program)?.replay(&ids)?.to_vec::<i32>()?;
                Ok(format!("{distinct:?}"))
            },
            expected: "[2, 5, 9, -1]",
        },
        Case {
            heading: "Each element as often as another tensor says",
            codes: &[codes::REPEAT_INTERLEAVE],
            rejected: || {
                let inputs = (f32::spec([3]).named("x"), i64::spec([3]).named("counts"));
                trace(|(x, counts)| x.repeat_interleave(counts), inputs).map(drop)
            },
            corrected: |device| {
                let x = Array::from_slice([3], &[7.0f32, 8.0, 9.0])?;
                let counts = Array::from_slice([3], &[2i64, 0, 3])?;
                let program = trace(
                    |(x, counts)| {
                        // A place reads the element whose copies it lies among: so many end at it or before.
                        let ends = counts.cumsum(0);
                        let places = arange(DType::I64, 6).unsqueeze(1);
                        x.take(ends.le(places).count(1), 0)
                    },
                    (&x, &counts),
                )?;
                let repeated = device.compile(&program)?.replay((&x, &counts))?.to_vec::<f32>()?;
                Ok(format!("{repeated:?}"))
            },
            expected: "[7.0, 7.0, 9.0, 9.0, 9.0, 0.0]",
        },
        Case {
            heading: "A range up to a traced number",
            codes: &[codes::DYNAMIC_RANGE],
            rejected: || trace(|end: Tensor| dynamic_range(&end).sum(0), i64::spec([]).named("end")).map(drop),
            corrected: |device| {
                let end = Array::scalar(4i64);
                let program = trace(
                    |end: Tensor| {
                        let i = arange(DType::I64, 10);
                        i.lt(end).select(i, 0).sum(0)
                    },
                    &end,
                )?;
                let sum = device.compile(&program)?.replay(&end)?.to_vec::<i64>()?;
                Ok(format!("{sum:?}"))
            },
            expected: "[6]",
        },
    ]
}
