//! Interpolation and pooling.

use super::{array, counting, is, is_near, of1, wrong, wrong_of};
use monograph_compiler::trace::Interpolation;
use monograph_ir::Element;

const CENTRES: Interpolation = Interpolation::Linear { align_corners: false };
const CORNERS: Interpolation = Interpolation::Linear { align_corners: true };

#[test]
fn interpolation() {
    let x = || array(&[3], &[0.0f32, 10.0, 30.0]);
    is(of1(x(), |x| x.interpolate(&[6], Interpolation::Nearest)), &[6], &[0.0, 0.0, 10.0, 10.0, 30.0, 30.0]);
    is(of1(x(), |x| x.interpolate(&[2], Interpolation::Nearest)), &[2], &[0.0, 10.0]);
    is(of1(x(), |x| x.interpolate(&[5], CORNERS)), &[5], &[0.0, 5.0, 10.0, 20.0, 30.0]);
    is(of1(x(), |x| x.interpolate(&[2], CORNERS)), &[2], &[0.0, 30.0]);
    is(of1(x(), |x| x.interpolate(&[1], CORNERS)), &[1], &[0.0]);
    is(of1(x(), |x| x.interpolate(&[6], CENTRES)), &[6], &[0.0, 2.5, 7.5, 15.0, 25.0, 30.0]);
    // Centres of two cells over three: at 1/4 and 7/4.
    is(of1(x(), |x| x.interpolate(&[2], CENTRES)), &[2], &[2.5, 25.0]);
    is(of1(x(), |x| x.interpolate(&[1], CENTRES)), &[1], &[10.0]);
    is(of1(x(), |x| x.interpolate(&[3], CENTRES)), &[3], &[0.0, 10.0, 30.0]);
    is(of1(array(&[1], &[7.0f32]), |x| x.interpolate(&[3], CENTRES)), &[3], &[7.0; 3]);
    is(of1(array(&[1], &[7.0f32]), |x| x.interpolate(&[3], CORNERS)), &[3], &[7.0; 3]);
    let square = || counting(&[1, 2, 2]);
    let expected = [0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0];
    is(of1(square(), |x| x.interpolate(&[3, 3], CORNERS)), &[1, 3, 3], &expected);
    is(of1(square(), |x| x.interpolate(&[1], CENTRES)), &[1, 2, 1], &[0.5, 2.5]);
    is(of1(array(&[2], &[1, 2]), |x| x.interpolate(&[3], Interpolation::Nearest)), &[3], &[1.0, 1.0, 2.0]);
    is(of1(square(), |x| x.interpolate(&[], CENTRES)), &[1, 2, 2], &[0.0, 1.0, 2.0, 3.0]);
    assert_eq!(wrong(&[&[2]], |x| x[0].interpolate(&[3, 3], CENTRES)), ["`interpolate`: f32[2] with 2 sizes"]);
    let empty = "an extent of 0 has no elements to place";
    assert_eq!(
        wrong(&[&[2]], |x| x[0].interpolate(&[0], CENTRES)),
        [format!("`interpolate`: f32[2] with sizes [0]: {empty}")]
    );
    assert_eq!(
        wrong(&[&[0]], |x| x[0].interpolate(&[2], Interpolation::Nearest)),
        [format!("`interpolate`: f32[0] with sizes [2]: {empty}")]
    );
    assert_eq!(wrong(&[&[2]], |x| x[0].interpolate(&[usize::MAX], CENTRES)).len(), 1);
    assert_eq!(
        wrong_of(&[i32::spec([2])], |x| x[0].interpolate(&[3], CENTRES)),
        ["`interpolate` takes a float dtype (f16, bf16, f32, f64), not i32"]
    );
}

#[test]
fn adaptive_pools() {
    let x = || array(&[5], &[1.0f32, 2.0, 4.0, 8.0, 16.0]);
    // Windows [0, 2), [1, 4), [3, 5).
    is_near(of1(x(), |x| x.adaptive_avg_pool(&[3])), &[3], &[1.5, 14.0 / 3.0, 12.0]);
    is(of1(x(), |x| x.adaptive_max_pool(&[3])), &[3], &[2.0, 8.0, 16.0]);
    is_near(of1(x(), |x| x.adaptive_avg_pool(&[1])), &[1], &[31.0 / 5.0]);
    is(of1(x(), |x| x.adaptive_avg_pool(&[5])), &[5], &[1.0, 2.0, 4.0, 8.0, 16.0]);
    // More windows than elements: [0, 1), [0, 2), [1, 2).
    is(of1(array(&[2], &[1.0f32, 2.0]), |x| x.adaptive_avg_pool(&[3])), &[3], &[1.0, 1.5, 2.0]);
    // What is outside of a window does not matter, not even an infinity.
    let far = array(&[5], &[f32::INFINITY, f32::NAN, 1.0, 2.0, 3.0]);
    is(of1(far, |x| x.adaptive_avg_pool(&[3])), &[3], &[f64::NAN, f64::NAN, 2.5]);
    let square = || counting(&[1, 3, 3]);
    is(of1(square(), |x| x.adaptive_avg_pool(&[2, 2])), &[1, 2, 2], &[2.0, 3.0, 5.0, 6.0]);
    is(of1(square(), |x| x.adaptive_max_pool(&[2, 2])), &[1, 2, 2], &[4.0, 5.0, 7.0, 8.0]);
    is(of1(square(), |x| x.adaptive_avg_pool(&[1])), &[1, 3, 1], &[1.0, 4.0, 7.0]);
    is(of1(array(&[4], &[4, 3, 2, 1]), |x| x.adaptive_max_pool(&[2])), &[2], &[4.0, 2.0]);
    assert_eq!(
        wrong(&[&[2]], |x| x[0].adaptive_avg_pool(&[0])),
        ["`adaptive_avg_pool`: f32[2] with sizes [0]: an extent of 0 has no elements to place"]
    );
    assert_eq!(wrong(&[&[2]], |x| x[0].adaptive_max_pool(&[2, 2])), ["`adaptive_max_pool`: f32[2] with 2 sizes"]);
    assert_eq!(wrong_of(&[i32::spec([4])], |x| x[0].adaptive_avg_pool(&[2])).len(), 1);
}

#[test]
fn blocks() {
    let x = || counting(&[2, 4]);
    is(of1(x(), |x| x.block_mean(&[2, 2])), &[1, 2], &[2.5, 4.5]);
    is(of1(x(), |x| x.block_mean(&[4])), &[2, 1], &[1.5, 5.5]);
    is(of1(x(), |x| x.block_mean(&[])), &[2, 4], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    for block in [&[3][..], &[0], &[1, 1, 1]] {
        let message = format!("`block_mean`: f32[2, 4] has no whole number of blocks of {block:?}");
        assert_eq!(wrong(&[&[2, 4]], |x| x[0].block_mean(block)), [message]);
    }
}
