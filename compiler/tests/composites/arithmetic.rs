//! Products, ranges, norms.

use super::{array, counting, is, is_near, of, of1, wrong, wrong_of};
use half::f16;
use monograph_compiler::trace::{Norm, arange_step, linspace};
use monograph_ir::{DType, Element};

#[test]
fn products() {
    let vectors = || [array(&[2], &[1, 2]), array(&[3], &[3, 4, 5])];
    is(of(&vectors(), |x| x[0].outer(x[1])), &[2, 3], &[3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
    let matrices = || [counting(&[2, 2]), counting(&[2, 2])];
    assert_eq!(of(&matrices(), |x| x[0].outer(x[1])).0, [4, 4]);
    is(of(&matrices(), |x| x[0].dot(x[1])), &[2, 2], &[2.0, 3.0, 6.0, 11.0]);
    is(of(&matrices(), |x| x[0].inner(x[1])), &[2, 2], &[1.0, 3.0, 3.0, 13.0]);
    is(of(&matrices(), |x| x[0].vdot(x[1])), &[], &[14.0]);
    is(of1(counting(&[3]), |x| x.dot(x)), &[], &[5.0]);
    is(of1(counting(&[3]), |x| x.dot(2.0)), &[3], &[0.0, 2.0, 4.0]);
    is(of1(counting(&[3]), |x| x.inner(2.0)), &[3], &[0.0, 2.0, 4.0]);
    // [2, 3] with [2, 3, 2]: leading dimensions do not pair up.
    let stacked = [counting(&[2, 3]), counting(&[2, 3, 2])];
    let expected = [10.0, 13.0, 28.0, 31.0, 28.0, 40.0, 100.0, 112.0];
    is(of(&stacked, |x| x[0].dot(x[1])), &[2, 2, 2], &expected);
    let pair = [counting(&[2, 3]), counting(&[3, 2])];
    is(of(&pair, |x| x[0].tensordot(x[1], [0, 1], [1, 0])), &[], &[50.0]);
    is(of(&pair, |x| x[0].tensordot(x[1], -1, 0)), &[2, 2], &[10.0, 13.0, 28.0, 40.0]);
    let none: [i32; 0] = [];
    is(of(&vectors(), |x| x[0].tensordot(x[1], none, none)), &[2, 3], &[3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
    let left = array(&[1, 2], &[1, 2]);
    is(of(&[left, array(&[2, 1], &[3, 4])], |x| x[0].kron(x[1])), &[2, 2], &[3.0, 6.0, 4.0, 8.0]);
    is(of(&vectors(), |x| x[0].kron(x[1])), &[6], &[3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
    let rows = [array(&[2], &[1, 10]), array(&[2, 2], &[1, 2, 3, 4])];
    is(of(&rows, |x| x[0].kron(x[1])), &[2, 4], &[1.0, 2.0, 10.0, 20.0, 3.0, 4.0, 30.0, 40.0]);
}

#[test]
fn cross_products() {
    let pair = || [array(&[2, 3], &[1, 0, 0, 1, 2, 3]), array(&[3], &[0, 1, 0])];
    is(of(&pair(), |x| x[0].cross(x[1], -1)), &[2, 3], &[0.0, 0.0, 1.0, -3.0, 0.0, 1.0]);
    let columns = of(&pair(), |x| x[0].t().cross(x[1].unsqueeze(1), 0));
    is(columns, &[3, 2], &[0.0, -3.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(wrong(&[&[2, 3], &[3]], |x| x[0].cross(x[1], 0)), ["`cross`: axis 0 of f32[2, 3] has extent 2, not 3"]);
    assert_eq!(
        wrong_of(&[f32::spec([3]), i32::spec([3])], |x| x[0].cross(x[1], 0)),
        ["`cross`: f32[3] with i32[3]: the dtypes differ"]
    );
}

#[test]
fn products_that_do_not_fit() {
    let shapes: &[&[usize]] = &[&[2, 3], &[2, 3]];
    let extents = "axis 1 has extent 3, and axis 0 extent 2";
    let both = "f32[2, 3] with f32[2, 3]";
    assert_eq!(wrong(shapes, |x| x[0].dot(x[1])), [format!("`dot`: {both}: {extents}")]);
    assert_eq!(wrong(shapes, |x| x[0].tensordot(x[1], 1, 0)), [format!("`tensordot`: {both}: {extents}")]);
    assert_eq!(
        wrong(shapes, |x| x[0].tensordot(x[1], [0, 1], 0)),
        ["`tensordot`: axes [0, 1] of f32[2, 3] do not pair with axes [0] of f32[2, 3]"]
    );
    assert_eq!(
        wrong(&[&[2], &[3]], |x| x[0].vdot(x[1])),
        ["`vdot`: f32[2] with f32[3]: axis 0 has extent 2, and axis 0 extent 3"]
    );
    let mixed = [f32::spec([2]), i32::spec([2])];
    let message = "f32[2] with i32[2]: the dtypes differ";
    assert_eq!(wrong_of(&mixed, |x| x[0].dot(x[1])), [format!("`dot`: {message}")]);
    assert_eq!(wrong_of(&mixed, |x| x[0].kron(x[1])).len(), 1);
    assert_eq!(wrong_of(&mixed, |x| x[0].outer(x[1])).len(), 1);
}

#[test]
fn ranges() {
    is(of(&[], |_| linspace(DType::F64, 0.0, 1.0, 4)), &[4], &[0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]);
    is(of(&[], |_| linspace(DType::F64, 5.0, 1.0, 1)), &[1], &[5.0]);
    is(of(&[], |_| linspace(DType::F64, 5.0, 1.0, 0)), &[0], &[]);
    is(of(&[], |_| linspace(DType::I32, 0.0, -5.0, 3)), &[3], &[0.0, -3.0, -5.0]);
    // The last is the end itself, whatever the sum of steps would round to.
    let last = of(&[], |_| linspace(DType::F64, 0.1, 0.7, 8)).1[7];
    assert_eq!(last, 0.7);
    is(of(&[], |_| arange_step(DType::I64, 2.0, 11.0, 3.0)), &[3], &[2.0, 5.0, 8.0]);
    is(of(&[], |_| arange_step(DType::F32, 0.0, 1.0, 0.25)), &[4], &[0.0, 0.25, 0.5, 0.75]);
    is(of(&[], |_| arange_step(DType::F32, 0.0, -1.0, -0.5)), &[2], &[0.0, -0.5]);
    is(of(&[], |_| arange_step(DType::F32, 0.0, -1.0, 0.5)), &[0], &[]);
    let f = |f: fn() -> monograph_compiler::trace::Tensor| wrong(&[], |_| f());
    assert_eq!(f(|| arange_step(DType::F32, 0.0, 1.0, 0.0)), ["`arange_step`: steps of 0 do not lead from 0 to 1"]);
    assert_eq!(f(|| arange_step(DType::F32, 0.0, 1e300, 1e-300)).len(), 1);
    assert_eq!(f(|| linspace(DType::F32, f64::NAN, 1.0, 2)), ["`linspace`: NaN is no end of a range"]);
    assert_eq!(f(|| linspace(DType::Bool, 0.0, 1.0, 2)), ["`linspace` makes integers or floats, not bool"]);
}

#[test]
fn norms() {
    let x = || array(&[2, 2], &[3.0f32, -4.0, 0.0, 12.0]);
    is(of1(x(), |x| x.norm(Norm::L1, 1)), &[2], &[7.0, 12.0]);
    is(of1(x(), |x| x.norm(Norm::L2, 1)), &[2], &[5.0, 12.0]);
    is(of1(x(), |x| x.norm(Norm::L2, ..)), &[], &[13.0]);
    is(of1(x(), |x| x.norm(Norm::Max, 0)), &[2], &[3.0, 12.0]);
    is(of1(x(), |x| x.norm(Norm::Min, 1)), &[2], &[3.0, 0.0]);
    is_near(of1(x(), |x| x.norm(Norm::P(3.0), 1)), &[2], &[91f64.powf(1.0 / 3.0), 12.0]);
    is(of1(x(), |x| x.norm_keep(Norm::L1, 0)), &[1, 2], &[3.0, 16.0]);
    is(of1(counting(&[0]), |x| x.norm(Norm::L2, 0)), &[], &[0.0]);
    // The squares do not fit in f16.
    let wide = array(&[2], &[f16::from_f32(3000.0), f16::from_f32(4000.0)]);
    is(of1(wide, |x| x.norm(Norm::L2, 0)), &[], &[5000.0]);
    is_near(of1(x(), |x| x.normalize(Norm::L2, 1, 1e-12)), &[2, 2], &[0.6, -0.8, 0.0, 1.0]);
    is(of1(array(&[2], &[0.0f32, 0.0]), |x| x.normalize(Norm::L1, 0, 1e-12)), &[2], &[0.0, 0.0]);
    is(of1(array(&[2], &[0.25f32, 0.5]), |x| x.normalize(Norm::L1, 0, 2.0)), &[2], &[0.125, 0.25]);
    let pair = [x(), array(&[2], &[4.0f32, 3.0])];
    is_near(of(&pair, |x| x[0].cosine_similarity(x[1], -1, 1e-8)), &[2], &[0.0, 0.6]);
    let rows = [array(&[2, 2], &[0.0f32, 0.0, 3.0, 4.0]), array(&[1, 2], &[0.0f32, 4.0])];
    is(of(&rows, |x| x[0].cdist(x[1], Norm::L2)), &[2, 1], &[4.0, 3.0]);
    is(of(&rows, |x| x[1].cdist(x[0], Norm::L1)), &[1, 2], &[4.0, 3.0]);
    is(of(&rows, |x| x[0].cdist(x[1], Norm::Max)), &[2, 1], &[4.0, 3.0]);
    let message = "takes a float dtype (f16, bf16, f32, f64), not i32";
    assert_eq!(wrong_of(&[i32::spec([2])], |x| x[0].norm(Norm::L2, 0)), [format!("`norm` {message}")]);
    assert_eq!(wrong_of(&[i32::spec([2])], |x| x[0].normalize(Norm::L2, 0, 0.0)), [format!("`normalize` {message}")]);
    assert_eq!(
        wrong(&[&[2]], |x| x[0].norm(Norm::P(-1.0), 0)),
        ["`Norm::P(-1)` is no norm: the power must be finite and above 0"]
    );
    assert_eq!(wrong(&[&[2]], |x| x[0].norm(Norm::L2, 1)), ["`norm`: f32[2] has no axis 1"]);
    assert_eq!(
        wrong(&[&[2, 3], &[2, 4]], |x| x[0].cdist(x[1], Norm::L2)),
        ["`cdist`: f32[2, 3] with f32[2, 4]: needs rows of one length in both"]
    );
    assert_eq!(wrong_of(&[f32::spec([2]), f64::spec([2])], |x| x[0].cosine_similarity(x[1], 0, 0.0)).len(), 1);
}
