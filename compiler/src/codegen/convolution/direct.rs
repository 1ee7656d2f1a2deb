//! A thread computes the same window of some adjacent output channels of a group: it reads each element of the window
//! once, and neighbours read neighbouring windows.

use super::Convolution;
use crate::codegen::emit::Emit;
use crate::codegen::types::{literal, register};
use crate::codegen::windows::{code, open_loop, open_points};
use crate::codegen::{Code, Request};
use crate::index::{Index, delinear};
use monograph_ir::Literal;

/// Threads of a block.
const THREADS: usize = 128;
/// Most output channels of a thread.
const CHANNELS: usize = 8;

pub(super) fn generate(request: &Request<'_>, convolution: &Convolution) -> Emit<Code> {
    let mut rows = CHANNELS;
    while !convolution.outputs.is_multiple_of(rows) {
        rows /= 2;
    }
    let parts = convolution.groups * convolution.outputs / rows;
    let points = convolution.batch * parts * convolution.area();
    let mut emit = request.emitter();
    let point = open_points(&mut emit, points, THREADS);
    let [n, part, window] = <[Index; 3]>::try_from(delinear(&point, &[convolution.batch, parts, convolution.area()]))
        .expect("as many indices as extents");
    let group = part.div((convolution.outputs / rows) as i64);
    let at = delinear(&window, &convolution.windows);

    let zero = literal(Literal::zero(convolution.dtype));
    let sums: Vec<String> = (0..rows).map(|_| emit.define(register(convolution.dtype), "a", &zero)).collect();
    let channel = |row: usize| part.times(rows as i64).plus(row as i64);
    let c = open_loop(&mut emit, convolution.channels);
    let tap = convolution.place.open(&mut emit);
    let x = convolution.patch(&mut emit, [&n, &group, &c], &at, &tap, "true")?;
    for (row, sum) in sums.iter().enumerate() {
        let weight = convolution.weight(&mut emit, [&channel(row), &c], &tap, "true")?;
        emit.line(format!("{sum} = mg_fma({weight}, {x}, {sum});"));
    }
    convolution.place.close(&mut emit);
    emit.close();
    for (row, sum) in sums.into_iter().enumerate() {
        convolution.finish(request, &mut emit, [&n, &channel(row)], &[(window.clone(), sum)])?;
    }
    let domain = request.body.spec(convolution.value).shape.clone();
    code(request, domain, emit, points.div_ceil(THREADS), THREADS)
}
