//! Losses.

use super::{array, is, is_near, of, of1, wrong, wrong_of};
use half::f16;
use monograph_compiler::trace::{
    ClassLoss, LossReduction, Tensor, bce_loss, bce_with_logits, cross_entropy, cross_entropy_soft, cross_entropy_with,
    huber_loss, kl_div, l1_loss, nll_loss, smooth_l1_loss,
};
use monograph_ir::{Array, Element};
use std::f64::consts::LN_2;

const EACH: LossReduction = LossReduction::None;

#[test]
fn differences() {
    let pair = || [array(&[4], &[1.0f32, 2.0, 5.0, -1.0]), array(&[4], &[1.0f32, 2.5, 2.0, 1.0])];
    is(of(&pair(), |x| l1_loss(&x[0], x[1], EACH)), &[4], &[0.0, 0.5, 3.0, 2.0]);
    is(of(&pair(), |x| l1_loss(&x[0], x[1], LossReduction::Sum)), &[], &[5.5]);
    is(of(&pair(), |x| l1_loss(&x[0], x[1], LossReduction::Mean)), &[], &[1.375]);
    is(of(&pair(), |x| huber_loss(&x[0], x[1], 2.0, EACH)), &[4], &[0.0, 0.125, 4.0, 2.0]);
    is(of(&pair(), |x| smooth_l1_loss(&x[0], x[1], 2.0, EACH)), &[4], &[0.0, 0.0625, 2.0, 1.0]);
    is(of(&pair(), |x| huber_loss(&x[0], 1.0, 1.0, LossReduction::Sum)), &[], &[0.0 + 0.5 + 3.5 + 1.5]);
    // The difference does not fit in f16; its mean share does.
    let far = [array(&[2], &[60000.0, 1.0].map(f16::from_f64)), array(&[2], &[-60000.0, 1.0].map(f16::from_f64))];
    is(of(&far, |x| l1_loss(&x[0], x[1], LossReduction::Mean)), &[], &[60000.0]);
    assert_eq!(
        wrong(&[&[2], &[2]], |x| huber_loss(&x[0], x[1], 0.0, EACH)),
        ["`huber_loss`: the threshold 0 is not a finite number above 0"]
    );
    assert_eq!(wrong(&[&[2], &[2]], |x| smooth_l1_loss(&x[0], x[1], f64::NAN, EACH)).len(), 1);
    assert_eq!(
        wrong(&[&[2], &[3]], |x| l1_loss(&x[0], x[1], EACH)),
        ["`l1_loss`: f32[2] with f32[3]: the shapes do not broadcast"]
    );
    assert_eq!(
        wrong_of(&[f32::spec([2]), f64::spec([2])], |x| l1_loss(&x[0], x[1], EACH)),
        ["`l1_loss`: f32[2] with f64[2]: the dtypes differ"]
    );
    assert_eq!(wrong_of(&[i32::spec([2]), i32::spec([2])], |x| l1_loss(&x[0], x[1], EACH)).len(), 1);
}

#[test]
fn binary_cross_entropies() {
    let pair = || [array(&[4], &[0.0f32, 3f32.ln(), 1000.0, -1000.0]), array(&[4], &[0.5f32, 1.0, 1.0, 0.25])];
    let expected = [LN_2, 0.287_682_072_451_780_9, 0.0, 250.0];
    is_near(of(&pair(), |x| bce_with_logits(&x[0], x[1], EACH)), &[4], &expected);
    let pair = || [array(&[4], &[0.5f32, 0.75, 0.0, 1.0]), array(&[4], &[0.5f32, 1.0, 1.0, 1.0])];
    is_near(of(&pair(), |x| bce_loss(&x[0], x[1], EACH)), &[4], &[LN_2, 0.287_682_072_451_780_9, 100.0, 0.0]);
}

#[test]
fn divergences() {
    let pair = [array(&[3], &[0.25f32.ln(), 0.75f32.ln(), 0.0]), array(&[3], &[0.5f32, 0.5, 0.0])];
    let expected = [0.5 * LN_2, 0.5 * (2.0f64 / 3.0).ln(), 0.0];
    is_near(of(&pair, |x| kl_div(&x[0], x[1], EACH)), &[3], &expected);
}

fn rows() -> Array {
    let ln = |v: f32| v.ln();
    array(&[3, 2], &[0.0, ln(3.0), ln(3.0), 0.0, 0.0, 0.0])
}

#[test]
fn losses_over_classes() {
    let (quarter, most) = (1.386_294_361_119_890_6, 0.287_682_072_451_780_9);
    let with = |targets: &[i64], f: &dyn Fn(&Tensor, &Tensor) -> Tensor| {
        of(&[rows(), array(&[3], targets)], |x| f(&x[0], &x[1]))
    };
    let each = ClassLoss { reduction: EACH, ..ClassLoss::default() };
    is_near(with(&[1, 1, 0], &|x, t| cross_entropy_with(x, t, each)), &[3], &[most, quarter, LN_2]);
    is_near(with(&[1, 1, 0], &|x, t| nll_loss(&x.log_softmax(-1), t, each)), &[3], &[most, quarter, LN_2]);
    let mean = ClassLoss::default();
    let by_mean = with(&[1, 1, 0], &|x, t| cross_entropy_with(x, t, mean));
    assert_eq!(by_mean, with(&[1, 1, 0], &|x, t| cross_entropy(x, t)));
    // Of 0.2 each class gets 0.1; the mean loss over the classes is (quarter + most) / 2.
    let smooth = ClassLoss { label_smoothing: 0.2, ..each };
    let (right, wrong_class) = (0.9 * most + 0.1 * quarter, 0.9 * quarter + 0.1 * most);
    is_near(with(&[1, 1, 0], &|x, t| cross_entropy_with(x, t, smooth)), &[3], &[right, wrong_class, LN_2]);
    let ignoring = ClassLoss { ignore_index: Some(-100), ..ClassLoss::default() };
    is_near(with(&[1, -100, 0], &|x, t| cross_entropy_with(x, t, ignoring)), &[], &[(most + LN_2) / 2.0]);
    is_near(with(&[1, -100, 0], &|x, t| nll_loss(&x.log_softmax(-1), t, ignoring)), &[], &[(most + LN_2) / 2.0]);
    is(with(&[-100; 3], &|x, t| cross_entropy_with(x, t, ignoring)), &[], &[f64::NAN]);
    let sum = ClassLoss { ignore_index: Some(0), reduction: LossReduction::Sum, ..ClassLoss::default() };
    is_near(with(&[1, 1, 0], &|x, t| cross_entropy_with(x, t, sum)), &[], &[most + quarter]);
    // A number that i32 does not hold is no class.
    let none = ClassLoss { ignore_index: Some(1 << 32), ..each };
    let narrow = of(&[rows(), array(&[3], &[1, 1, 0])], |x| cross_entropy_with(&x[0], &x[1], none));
    is_near(narrow, &[3], &[most, quarter, LN_2]);
    let soft = [rows(), array(&[3, 2], &[0.0f32, 1.0, 0.5, 0.5, 1.0, 0.0])];
    let expected = [most, (most + quarter) / 2.0, LN_2];
    is_near(of(&soft, |x| cross_entropy_soft(&x[0], x[1], EACH)), &[3], &expected);
    is_near(of1(rows(), |x| x.softmin(1)), &[3, 2], &[0.75, 0.25, 0.25, 0.75, 0.5, 0.5]);
}

#[test]
fn losses_that_do_not_fit() {
    let specs = [f32::spec([3, 2]), i64::spec([2])];
    let how = ClassLoss::default();
    let message = "f32[3, 2] needs targets of its shape without the last axis, not i64[2]";
    assert_eq!(wrong_of(&specs, |x| nll_loss(&x[0], &x[1], how)), [format!("`nll_loss`: {message}")]);
    assert_eq!(
        wrong_of(&specs, |x| cross_entropy_with(&x[0], &x[1], how)),
        [format!("`cross_entropy_with`: {message}")]
    );
    assert_eq!(
        wrong(&[&[3, 2], &[3]], |x| cross_entropy_with(&x[0], &x[1], how)),
        ["`cross_entropy_with`: the targets are f32[3], not i32 or i64"]
    );
    let smooth = |label_smoothing| ClassLoss { label_smoothing, ..how };
    let specs = [f32::spec([3, 2]), i64::spec([3])];
    assert_eq!(
        wrong_of(&specs, |x| cross_entropy_with(&x[0], &x[1], smooth(1.5))),
        ["`cross_entropy_with`: a label smoothing of 1.5 is no share"]
    );
    assert_eq!(wrong_of(&specs, |x| nll_loss(&x[0], &x[1], smooth(0.5))), ["`nll_loss` does not smooth labels"]);
    assert_eq!(
        wrong_of(&[i32::spec([3])], |x| x[0].softmin(0)),
        ["`softmin` takes a float dtype (f16, bf16, f32, f64), not i32"]
    );
}
