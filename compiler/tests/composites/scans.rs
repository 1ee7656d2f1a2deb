//! Forms of scans, and differences.

use super::{array, counting, is, is_near, of1, wrong, wrong_of};
use monograph_compiler::trace::ScanForm;
use monograph_ir::Element;

const EXCLUSIVE: ScanForm = ScanForm { exclusive: true, reverse: false };
const REVERSE: ScanForm = ScanForm { exclusive: false, reverse: true };
const BOTH: ScanForm = ScanForm { exclusive: true, reverse: true };

#[test]
fn forms() {
    let x = || array(&[4], &[3, 1, 4, 2]);
    is(of1(x(), |x| x.cumsum_with(0, ScanForm::default())), &[4], &[3.0, 4.0, 8.0, 10.0]);
    is(of1(x(), |x| x.cumsum_with(0, EXCLUSIVE)), &[4], &[0.0, 3.0, 4.0, 8.0]);
    is(of1(x(), |x| x.cumsum_with(0, REVERSE)), &[4], &[10.0, 7.0, 6.0, 2.0]);
    is(of1(x(), |x| x.cumsum_with(0, BOTH)), &[4], &[7.0, 6.0, 2.0, 0.0]);
    is(of1(x(), |x| x.cumprod_with(-1, EXCLUSIVE)), &[4], &[1.0, 3.0, 3.0, 12.0]);
    is(of1(x(), |x| x.cumprod_with(0, BOTH)), &[4], &[8.0, 8.0, 2.0, 1.0]);
    let (least, greatest) = (f64::from(i32::MIN), f64::from(i32::MAX));
    is(of1(x(), |x| x.cummax_with(0, EXCLUSIVE)), &[4], &[least, 3.0, 3.0, 4.0]);
    is(of1(x(), |x| x.cummax_with(0, REVERSE)), &[4], &[4.0, 4.0, 4.0, 2.0]);
    is(of1(x(), |x| x.cummin_with(0, BOTH)), &[4], &[1.0, 2.0, 2.0, greatest]);
    let floats = || array(&[2], &[1.0f32, f32::NAN]);
    is(of1(floats(), |x| x.cummax_with(0, EXCLUSIVE)), &[2], &[f64::NEG_INFINITY, 1.0]);
    is(of1(floats(), |x| x.cummin_with(0, BOTH)), &[2], &[f64::NAN, f64::INFINITY]);
    is(of1(array(&[2], &[true, false]), |x| x.cummax_with(0, EXCLUSIVE)), &[2], &[0.0, 1.0]);
    is(of1(array(&[2], &[false, true]), |x| x.cummin_with(0, EXCLUSIVE)), &[2], &[1.0, 0.0]);
    is(of1(counting(&[2, 2]), |x| x.cumsum_with(0, EXCLUSIVE)), &[2, 2], &[0.0, 0.0, 0.0, 1.0]);
    is(of1(counting(&[0]), |x| x.cumsum_with(0, BOTH)), &[0], &[]);
    assert_eq!(wrong(&[&[2]], |x| x[0].cumsum_with(1, BOTH)), ["`cumsum_with`: f32[2] has no axis 1"]);
    assert_eq!(wrong_of(&[bool::spec([2])], |x| x[0].cumsum_with(0, BOTH)).len(), 1);
}

#[test]
fn logarithms_of_sums() {
    let ln = f64::ln;
    let x = array(&[4], &[0.0f32, 2f32.ln(), 1000.0, -1000.0]);
    is_near(of1(x, |x| x.logcumsumexp(0)), &[4], &[0.0, ln(3.0), 1000.0, 1000.0]);
    // A sum that only the greatest so far scales right, and one that a greater element comes behind.
    let far = array(&[2, 2], &[-1000.0f32, 0.0, -1000.0, 0.0]);
    is_near(of1(far, |x| x.logcumsumexp(0)), &[2, 2], &[-1000.0, 0.0, -1000.0 + ln(2.0), ln(2.0)]);
    let edges = array(&[3], &[f32::NEG_INFINITY, 1.0, f32::NAN]);
    is(of1(edges, |x| x.logcumsumexp(-1)), &[3], &[f64::NEG_INFINITY, 1.0, f64::NAN]);
    is(of1(counting(&[0]), |x| x.logcumsumexp(0)), &[0], &[]);
    assert_eq!(wrong_of(&[i32::spec([2])], |x| x[0].logcumsumexp(0)).len(), 1);
}

#[test]
fn differences() {
    let x = || array(&[4], &[1, 4, 9, 16]);
    is(of1(x(), |x| x.diff(1, 0)), &[3], &[3.0, 5.0, 7.0]);
    is(of1(x(), |x| x.diff(2, 0)), &[2], &[2.0, 2.0]);
    is(of1(x(), |x| x.diff(0, 0)), &[4], &[1.0, 4.0, 9.0, 16.0]);
    is(of1(x(), |x| x.diff(4, 0)), &[0], &[]);
    is(of1(x(), |x| x.diff(usize::MAX, 0)), &[0], &[]);
    is(of1(counting(&[2, 3]), |x| x.diff(1, 0)), &[1, 3], &[3.0, 3.0, 3.0]);
    is(of1(counting(&[0]), |x| x.diff(0, 0)), &[0], &[]);
    assert_eq!(wrong_of(&[bool::spec([2])], |x| x[0].diff(1, 0)), ["`diff` takes numbers, not bool"]);
}
