//! Moving elements: layouts, pieces, copies, grids, pads, diagonals.

use super::{array, counting, is, of, of1, wrong, wrong_of};
use monograph_compiler::trace::{GridOrder, PadMode, Tensor, concat, eye, meshgrid, stack};
use monograph_ir::testing::Random;
use monograph_ir::{DType, Element};

#[test]
fn layouts() {
    let x = || counting(&[2, 3, 4]);
    let elements: Vec<f64> = (0..24).map(f64::from).collect();
    is(of1(x(), |x| x.flatten_axes(0, 1)), &[6, 4], &elements);
    is(of1(x(), |x| x.flatten_axes(-2, -1)), &[2, 12], &elements);
    is(of1(x(), |x| x.flatten_axes(1, 1)), &[2, 3, 4], &elements);
    is(of1(x(), |x| x.unflatten(-1, &[2, 1, 2])), &[2, 3, 2, 1, 2], &elements);
    is(of1(x(), |x| x.expand_dims(1)), &[2, 1, 3, 4], &elements);
    let m = || counting(&[2, 3]);
    is(of1(m(), |x| x.swapaxes(0, 1)), &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    is(of1(m(), |x| x.movedim(0, -1)), &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    for (times, expected) in [
        (0, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        (1, [2.0, 5.0, 1.0, 4.0, 0.0, 3.0]),
        (-2, [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]),
        (3, [3.0, 0.0, 4.0, 1.0, 5.0, 2.0]),
        (i64::MIN, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
    ] {
        let shape: &[usize] = if times % 2 == 0 { &[2, 3] } else { &[3, 2] };
        is(of1(m(), |x| x.rot90(times, 0, 1)), shape, &expected);
        is(of1(m(), |x| x.rot90(times, 1, 0).rot90(times, 0, 1)), &[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }
    assert_eq!(wrong(&[&[2, 3]], |x| x[0].rot90(1, 0, -2)), ["`rot90`: axis 0 of f32[2, 3] is given twice"]);
    let shape = |from: &[i32], to: &[i32]| of1(counting(&[2, 3, 4, 5]), |x| x.movedim(from, to)).0;
    assert_eq!(shape(&[1], &[3]), [2, 4, 5, 3]);
    assert_eq!(shape(&[3], &[0]), [5, 2, 3, 4]);
    assert_eq!(shape(&[0, 1], &[-1, -2]), [4, 5, 3, 2]);
    assert_eq!(shape(&[], &[]), [2, 3, 4, 5]);
    assert_eq!(
        wrong(&[&[2, 3]], |x| x[0].flatten_axes(1, 0)),
        ["`flatten_axes`: axis 1 of f32[2, 3] lies behind axis 0"]
    );
    assert_eq!(wrong(&[&[2, 3]], |x| x[0].flatten_axes(0, 2)), ["`flatten_axes`: f32[2, 3] has no axis 2"]);
    assert_eq!(
        wrong(&[&[2, 6]], |x| x[0].unflatten(1, &[4, 2])),
        ["`unflatten`: the product of [4, 2] is not 6, axis 1 of f32[2, 6]"]
    );
    assert_eq!(
        wrong(&[&[2, 6]], |x| x[0].unflatten(1, &[usize::MAX, 2])),
        [format!("`unflatten`: the product of [{}, 2] is not 6, axis 1 of f32[2, 6]", usize::MAX)]
    );
    assert_eq!(
        wrong(&[&[2, 6]], |x| x[0].movedim([0, 0], [0, 1])),
        ["`movedim`: axes [0, 0] of f32[2, 6] cannot move to [0, 1]"]
    );
}

/// The extents of pieces along axis 0, after checking that together they are the tensor.
fn pieces(extent: usize, cut: impl Fn(Tensor) -> Vec<Tensor>) -> Vec<usize> {
    let mut extents = Vec::new();
    let whole = of1(counting(&[extent, 2]), |x| {
        let pieces = cut(x);
        extents = pieces.iter().map(|p| p.dim(0)).collect();
        concat(&pieces, 0)
    });
    let elements: Vec<f64> = (0..2 * extent).map(|i| i as f64).collect();
    is(whole, &[extent, 2], &elements);
    extents
}

#[test]
fn pieces_have_the_extents_of_pytorch_and_numpy() {
    assert_eq!(pieces(8, |x| x.split(3, 0)), [3, 3, 2]);
    assert_eq!(pieces(6, |x| x.split(3, 0)), [3, 3]);
    assert_eq!(pieces(2, |x| x.split(5, 0)), [2]);
    assert_eq!(pieces(0, |x| x.split(5, 0)), [0]);
    assert_eq!(pieces(5, |x| x.chunk(4, 0)), [2, 2, 1]);
    assert_eq!(pieces(6, |x| x.chunk(3, 0)), [2, 2, 2]);
    assert_eq!(pieces(2, |x| x.chunk(7, 0)), [1, 1]);
    assert_eq!(pieces(0, |x| x.chunk(7, 0)), [0]);
    assert_eq!(pieces(5, |x| x.array_split(4, 0)), [2, 1, 1, 1]);
    assert_eq!(pieces(2, |x| x.array_split(3, 0)), [1, 1, 0]);
    assert_eq!(pieces(5, |x| x.split_sizes(&[1, 0, 4], -2)), [1, 0, 4]);
    is(of1(counting(&[3, 2]), |x| x.unbind(0).remove(1)), &[2], &[2.0, 3.0]);
    is(of1(counting(&[3, 2]), |x| stack(&x.unbind(1), 1)), &[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(wrong(&[&[3]], |x| x[0].split(0, 0)), ["`split`: f32[3] cannot be cut by 0"]);
    assert_eq!(wrong(&[&[3]], |x| x[0].chunk(0, 0)), ["`chunk`: f32[3] cannot be cut by 0"]);
    assert_eq!(wrong(&[&[3]], |x| x[0].array_split(0, 0)), ["`array_split`: f32[3] cannot be cut by 0"]);
    assert_eq!(wrong(&[&[3]], |x| x[0].unbind(1)), ["`unbind`: f32[3] has no axis 1"]);
    let sizes = [2, usize::MAX];
    assert_eq!(
        wrong(&[&[3]], |x| x[0].split_sizes(&sizes, 0)),
        [format!("`split_sizes`: the sum of {sizes:?} is not 3, axis 0 of f32[3]")]
    );
}

#[test]
fn copies() {
    let x = || array(&[2, 2], &[1, 2, 3, 4]);
    is(of1(x(), |x| x.tile(&[1, 2])), &[2, 4], &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
    is(of1(x(), |x| x.tile(&[2])), &[2, 4], &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
    is(of1(x(), |x| x.tile(&[2, 1, 1])), &[2, 2, 2], &[1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    is(of1(x(), |x| x.tile(&[0, 3])), &[0, 6], &[]);
    is(of1(array(&[], &[7]), |x| x.tile(&[3])), &[3], &[7.0, 7.0, 7.0]);
    is(of1(x(), |x| x.repeat(2, 0)), &[4, 2], &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
    is(of1(x(), |x| x.repeat(2, -1)), &[2, 4], &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
    is(of1(x(), |x| x.repeat(0, 0)), &[0, 2], &[]);
    let message = "so many copies of f32[2] are more than can be addressed";
    assert_eq!(wrong(&[&[2]], |x| x[0].tile(&[usize::MAX])), [format!("`tile`: {message}")]);
    assert_eq!(wrong(&[&[2]], |x| x[0].repeat(usize::MAX, 0)), [format!("`repeat`: {message}")]);
    assert_eq!(wrong(&[&[2]], |x| x[0].repeat(2, 1)), ["`repeat`: f32[2] has no axis 1"]);
}

#[test]
fn rolls() {
    let x = || array(&[5], &[0, 1, 2, 3, 4]);
    is(of1(x(), |x| x.roll(2, 0)), &[5], &[3.0, 4.0, 0.0, 1.0, 2.0]);
    is(of1(x(), |x| x.roll(-1, 0)), &[5], &[1.0, 2.0, 3.0, 4.0, 0.0]);
    is(of1(x(), |x| x.roll(12, 0)), &[5], &[3.0, 4.0, 0.0, 1.0, 2.0]);
    is(of1(x(), |x| x.roll(i64::MIN, 0)), &[5], &[3.0, 4.0, 0.0, 1.0, 2.0]);
    is(of1(counting(&[2, 2]), |x| x.roll(1, -1)), &[2, 2], &[1.0, 0.0, 3.0, 2.0]);
    is(of1(counting(&[0]), |x| x.roll(3, 0)), &[0], &[]);
}

#[test]
fn inverses_give_every_tensor_back() {
    let mut random = Random::new(3);
    for _ in 0..100 {
        let shape: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(6)).collect();
        let elements: Vec<i64> = (0..shape.iter().product::<usize>()).map(|_| random.bits() as i64).collect();
        let (axis, number) = (random.below(shape.len()), 1 + random.below(6));
        let shift = random.below(40) as i64 - 20;
        let x = || array(&shape, &elements);
        let same = of1(x(), |x| x);
        assert_eq!(of1(x(), |x| x.roll(shift, axis).roll(-shift, axis)), same);
        assert_eq!(of1(x(), |x| x.flip(axis).roll(shift, axis).flip(axis).roll(shift, axis)), same);
        assert_eq!(of1(x(), |x| concat(&x.split(number, axis), axis)), same);
        assert_eq!(of1(x(), |x| concat(&x.chunk(number, axis), axis)), same);
        assert_eq!(of1(x(), |x| concat(&x.array_split(number, axis), axis)), same);
        assert_eq!(of1(x(), |x| x.repeat(number, axis).slice_step(axis, .., number)), same);
        let counts: Vec<usize> = shape.iter().map(|_| number).collect();
        let corner: Vec<i64> = shape.iter().map(|&d| -((d * (number - 1)) as i64)).collect();
        assert_eq!(of1(x(), |x| x.tile(&counts).pad(&corner, &vec![0; shape.len()], 0)), same);
        let last = shape.len() - 1;
        assert_eq!(of1(x(), |x| x.movedim(axis, last).movedim(last, axis)), same);
        assert_eq!(of1(x(), |x| x.flatten_axes(axis, -1).unflatten(axis, &shape[axis..])), same);
        if shape[axis] > 0 {
            assert_eq!(of1(x(), |x| stack(&x.unbind(axis), axis)), same);
            // Sums of differences are the distance from the first element.
            let ones = |x: Tensor| x.diff(1, axis).cumsum(axis) + x.slice(axis, ..1);
            assert_eq!(of1(x(), |x| concat(&[x.slice(axis, ..1), ones(x)], axis)), same);
        }
    }
}

#[test]
fn grids() {
    let vectors = || [array(&[2], &[1, 2]), array(&[3], &[3, 4, 5])];
    let grid = |order, number: usize| of(&vectors(), |x| meshgrid(x, order).remove(number));
    is(grid(GridOrder::Matrix, 0), &[2, 3], &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    is(grid(GridOrder::Matrix, 1), &[2, 3], &[3.0, 4.0, 5.0, 3.0, 4.0, 5.0]);
    is(grid(GridOrder::Cartesian, 0), &[3, 2], &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    is(grid(GridOrder::Cartesian, 1), &[3, 2], &[3.0, 3.0, 4.0, 4.0, 5.0, 5.0]);
    let three = [counting(&[2]), counting(&[3]), counting(&[4])];
    assert_eq!(of(&three, |x| meshgrid(x, GridOrder::Cartesian).remove(2)).0, [3, 2, 4]);
    is(of1(counting(&[3]), |x| meshgrid(&[x], GridOrder::Cartesian).remove(0)), &[3], &[0.0, 1.0, 2.0]);
    assert_eq!(wrong(&[&[2, 2]], |x| meshgrid(x, GridOrder::Matrix)), ["`meshgrid` takes vectors, not f32[2, 2]"]);
}

#[test]
fn pads() {
    let abc = || array(&[3], &[1, 2, 3]);
    let padded = |low, high, mode| of1(abc(), |x| x.pad_with(&[low], &[high], mode));
    is(padded(4, 4, PadMode::Reflect), &[11], &[1.0, 2.0, 3.0, 2.0, 1.0, 2.0, 3.0, 2.0, 1.0, 2.0, 3.0]);
    is(padded(4, 4, PadMode::Symmetric), &[11], &[3.0, 3.0, 2.0, 1.0, 1.0, 2.0, 3.0, 3.0, 2.0, 1.0, 1.0]);
    is(padded(2, 1, PadMode::Replicate), &[6], &[1.0, 1.0, 1.0, 2.0, 3.0, 3.0]);
    is(padded(4, 5, PadMode::Circular), &[12], &[3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0]);
    for mode in [PadMode::Reflect, PadMode::Symmetric, PadMode::Replicate, PadMode::Circular] {
        is(of1(array(&[1], &[7]), |x| x.pad_with(&[2], &[1], mode)), &[4], &[7.0; 4]);
    }
    let square = of1(counting(&[2, 2]), |x| x.pad_with(&[1, 0], &[0, 1], PadMode::Replicate));
    is(square, &[3, 3], &[0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 2.0, 3.0, 3.0]);
    assert_eq!(
        wrong(&[&[2, 2]], |x| x[0].pad_with(&[1], &[1], PadMode::Reflect)),
        ["`pad_with`: f32[2, 2] with low [1] and high [1]: not one number a dimension"]
    );
    assert_eq!(
        wrong(&[&[0]], |x| x[0].pad_with(&[1], &[1], PadMode::Circular)),
        ["`pad_with`: axis 0 of f32[0] has no element to pad with"]
    );
    assert_eq!(
        wrong(&[&[1]], |x| x[0].pad_with(&[usize::MAX], &[1], PadMode::Circular)),
        [format!("`pad_with`: {} and 1 elements beside axis 0 of f32[1]", usize::MAX)]
    );
}

#[test]
fn diagonals() {
    let x = || counting(&[3, 4]);
    is(of1(x(), |x| x.diag(0)), &[3], &[0.0, 5.0, 10.0]);
    is(of1(x(), |x| x.diag(1)), &[3], &[1.0, 6.0, 11.0]);
    is(of1(x(), |x| x.diag(3)), &[1], &[3.0]);
    is(of1(x(), |x| x.diag(-1)), &[2], &[4.0, 9.0]);
    is(of1(x(), |x| x.diag(4)), &[0], &[]);
    is(of1(x(), |x| x.diag(i64::MIN)), &[0], &[]);
    is(of1(x(), |x| x.diagonal(1, 1, 0)), &[2], &[4.0, 9.0]);
    is(of1(counting(&[2, 2, 2]), |x| x.diagonal(0, 0, 2)), &[2, 2], &[0.0, 5.0, 2.0, 7.0]);
    is(of1(counting(&[2, 2, 2]), |x| x.diagonal_sum(0)), &[2], &[3.0, 11.0]);
    is(of1(counting(&[2, 2]), |x| x.diagonal_sum(-1)), &[], &[2.0]);
    let v = || array(&[2], &[5, 6]);
    is(of1(v(), |x| x.diag(0)), &[2, 2], &[5.0, 0.0, 0.0, 6.0]);
    is(of1(v(), |x| x.diag(1)), &[3, 3], &[0.0, 5.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0]);
    is(of1(v(), |x| x.diag(-1)), &[3, 3], &[0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 6.0, 0.0]);
    is(of1(array(&[2, 1], &[5, 6]), |x| x.diag_embed(0)), &[2, 1, 1], &[5.0, 6.0]);
    // What is beside the diagonal is zero even where the diagonal is not finite.
    is(of1(array(&[2], &[f32::INFINITY, f32::NAN]), |x| x.diag(0)), &[2, 2], &[f64::INFINITY, 0.0, 0.0, f64::NAN]);
    is(of(&[], |_| eye(DType::I32, 2, 3, 0)), &[2, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    is(of(&[], |_| eye(DType::Bool, 2, 2, -1)), &[2, 2], &[0.0, 0.0, 1.0, 0.0]);
    assert_eq!(wrong(&[&[2, 2, 2]], |x| x[0].diag(0)), ["`diag` takes a vector or a matrix, not f32[2, 2, 2]"]);
    assert_eq!(
        wrong(&[&[2, 2]], |x| x[0].diagonal(0, 1, -1)),
        ["`diagonal`: axis 1 of f32[2, 2] is given as rows and as columns"]
    );
    assert_eq!(wrong(&[&[2]], |x| x[0].diagonal_sum(0)), ["`diagonal_sum`: f32[2] has no axis -2"]);
    assert_eq!(wrong(&[&[]], |x| x[0].diag_embed(0)), ["`diag_embed`: f32[] has no axis -1"]);
    // Too large a matrix is refused, not computed.
    assert_eq!(
        wrong(&[&[2]], |x| x[0].diag(i64::MAX)),
        [format!("`diag`: a matrix with f32[2] on diagonal {} is more than can be addressed", i64::MAX)]
    );
}

#[test]
fn poison_stays_poison() {
    let one = |f: fn(Tensor) -> Tensor| wrong_of(&[f32::spec([2]), i32::spec([2])], |x| f(x[0] + x[1]));
    for messages in [
        one(|x| x.tile(&[2])),
        one(|x| x.roll(1, 0)),
        one(|x| x.pad_with(&[1], &[1], PadMode::Reflect)),
        one(|x| x.diag(1)),
        one(|x| x.split(1, 0)[0]),
        one(|x| x.movedim(0, 0)),
        one(|x| meshgrid(&[x, x], GridOrder::Matrix)[1]),
    ] {
        assert_eq!(messages, ["`add`: f32[2] with i32[2]: the dtypes differ"]);
    }
}
