//! A gallery of functions that cannot be one CUDA graph: what is said about each, and the version that works.
//!
//! `cargo run --example rejections` uses the first CUDA device, or the host where there is none; `-- --host` asks for
//! the host. Every message and every result is checked, so the gallery is also a test. Run it from the root of the
//! repository, where the messages find the source lines.
//!
//! Not shown here is what does not even compile, such as `if x > y`: see `tests/ui/`.

use monograph::diagnostics::{Sources, codes, render_all};
use monograph::prelude::*;
use monograph::{Code, arange, cond, dynamic_range, fori_loop, ones, while_loop, zeros};
use std::io::IsTerminal;

/// A function that is rejected, and the same, corrected.
struct Case {
    /// What the author wanted.
    heading: &'static str,
    /// The codes of all messages, in their order.
    codes: &'static [Code],
    rejected: fn() -> monograph::Result<()>,
    /// Compiles for the device, replays, and prints what came out.
    corrected: fn(&Device) -> monograph::Result<String>,
    /// What has to come out, worked out by hand.
    expected: &'static str,
}

fn main() -> monograph::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let device = if std::env::args().any(|a| a == "--host") { Device::host() } else { Device::best()? };
    println!("device: {}", device.describe());

    let gallery = [
        ("Shapes that depend on data", shapes_that_depend_on_data()),
        ("Control flow", control_flow()),
        ("Reads on the host", reads_on_the_host()),
        ("Shapes and dtypes that do not fit", operands()),
        ("Tensors in the wrong place", handles()),
        ("State", state()),
    ];
    let color = std::io::stdout().is_terminal();
    let mut shown = 0;
    for (section, cases) in gallery {
        println!("\n{}", bold(&section.to_uppercase(), color));
        for case in cases {
            show(&case, &device, color)?;
            shown += 1;
        }
    }
    println!("\n{shown} functions were rejected as expected, and their corrections compute what was meant.");
    Ok(())
}

fn show(case: &Case, device: &Device, color: bool) -> monograph::Result<()> {
    println!("\n{}\n", bold(case.heading, color));
    let diagnostics = match (case.rejected)() {
        Err(Error::Rejected(diagnostics)) => diagnostics,
        Err(error) => return Err(error),
        Ok(()) => panic!("{}: the function was accepted", case.heading),
    };
    println!("{}", render_all(&diagnostics, &Sources::disk(), color));
    let found: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(found, case.codes, "{}: rejected for another reason", case.heading);

    let result = (case.corrected)(device)?;
    println!("\ncorrected, it gives {result}");
    assert_eq!(result, case.expected, "{}: the correction computes something else", case.heading);
    Ok(())
}

fn bold(text: &str, color: bool) -> String {
    if color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { format!("=== {text} ===") }
}

fn shapes_that_depend_on_data() -> Vec<Case> {
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

fn control_flow() -> Vec<Case> {
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

fn reads_on_the_host() -> Vec<Case> {
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

fn operands() -> Vec<Case> {
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

fn handles() -> Vec<Case> {
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

fn state() -> Vec<Case> {
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
