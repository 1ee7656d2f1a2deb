//! Groups, counts, searches and points.

use super::{array, counting, is, of, of1, wrong, wrong_of};
use half::f16;
use monograph_compiler::trace::{Put, Side, segment_max, segment_mean, segment_min, segment_sum};
use monograph_ir::testing::Random;
use monograph_ir::{Array, Element};

#[test]
fn segments() {
    let values = || counting(&[4, 2]);
    let ids = || array(&[4], &[2i64, 0, 2, 9]);
    let both = || [values(), ids()];
    is(of(&both(), |x| segment_sum(&x[0], &x[1], 3)), &[3, 2], &[2.0, 3.0, 0.0, 0.0, 4.0, 6.0]);
    let mean = of(&both(), |x| segment_mean(&x[0], &x[1], 3));
    is(mean, &[3, 2], &[2.0, 3.0, f64::NAN, f64::NAN, 2.0, 3.0]);
    is(of(&[array(&[3], &[1, 2, 3]), array(&[3], &[-1, 1, 1])], |x| segment_sum(&x[0], &x[1], 2)), &[2], &[0.0, 5.0]);
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    is(of(&both(), |x| segment_max(&x[0], &x[1], 3)), &[3, 2], &[2.0, 3.0, low, low, 4.0, 5.0]);
    is(of(&both(), |x| segment_min(&x[0], &x[1], 3)), &[3, 2], &[2.0, 3.0, high, high, 0.0, 1.0]);
    assert_eq!(wrong(&[&[4], &[4]], |x| segment_max(&x[0], &x[1], 3)).len(), 1);
    // Summed in f32: 2049 does not fit in f16, and neither does any step from 2048.
    let ones = [array(&[4], &[2048.0, 1.0, 1.0, 2.0].map(f16::from_f64)), array(&[4], &[0i64; 4])];
    is(of(&ones, |x| segment_sum(&x[0], &x[1], 1)), &[1], &[2052.0]);
    assert_eq!(
        wrong_of(&[f32::spec([4, 2]), i64::spec([3])], |x| segment_sum(&x[0], &x[1], 3)),
        ["`segment_sum`: f32[4, 2] with ids i64[3]: each slice along axis 0 needs an id"]
    );
    assert_eq!(wrong_of(&[i32::spec([4]), i64::spec([4])], |x| segment_mean(&x[0], &x[1], 3)).len(), 1);
    assert_eq!(wrong(&[&[4], &[4]], |x| segment_sum(&x[0], &x[1], 3)).len(), 1);
}

#[test]
fn counts() {
    let x = || array(&[2, 3], &[1, 3, 1, 0, 7, -2]);
    is(of1(x(), |x| x.bincount(4)), &[4], &[1.0, 2.0, 0.0, 1.0]);
    is(of1(x(), |x| x.bincount(0)), &[0], &[]);
    // 200 is not -56.
    assert_eq!(of1(array(&[3], &[200u8, 255, 200]), |x| x.bincount(300)).1[199..202], [0.0, 2.0, 0.0]);
    let weighted = [x(), array(&[2, 3], &[0.5f32, 1.0, 2.0, 4.0, 8.0, 16.0])];
    is(of(&weighted, |x| x[0].bincount_weighted(x[1], 4)), &[4], &[4.0, 2.5, 0.0, 1.0]);
    assert_eq!(wrong(&[&[2]], |x| x[0].bincount(3)), ["`bincount` counts integers, not f32"]);
    assert_eq!(
        wrong_of(&[i32::spec([2]), f32::spec([3])], |x| x[0].bincount_weighted(x[1], 3)),
        ["`bincount_weighted`: i32[2] with weights f32[3]: the shapes differ"]
    );
    let floats = array(&[8], &[-0.5f32, 0.0, 0.99, 1.0, 2.0, 3.0, 3.1, f32::NAN]);
    is(of1(floats, |x| x.histogram(3, 0.0, 3.0)), &[3], &[2.0, 1.0, 2.0]);
    is(of1(array(&[5], &[1, 2, 3, 4, 5]), |x| x.histogram(2, 1.0, 5.0)), &[2], &[2.0, 3.0]);
    assert_eq!(
        wrong(&[&[2]], |x| x[0].histogram(3, 1.0, 1.0)),
        ["`histogram`: there are no 3 intervals between 1 and 1"]
    );
    assert_eq!(wrong(&[&[2]], |x| x[0].histogram(3, f64::NAN, 1.0)).len(), 1);
    assert_eq!(wrong(&[&[2]], |x| x[0].histogram(0, 0.0, 1.0)).len(), 1);
}

#[test]
fn searches() {
    let both = || [array(&[4], &[1, 3, 3, 5]), array(&[2, 3], &[0, 1, 2, 3, 5, 6])];
    is(of(&both(), |x| x[0].searchsorted(x[1], Side::Left)), &[2, 3], &[0.0, 0.0, 1.0, 1.0, 3.0, 4.0]);
    is(of(&both(), |x| x[0].searchsorted(x[1], Side::Right)), &[2, 3], &[0.0, 1.0, 1.0, 3.0, 4.0, 4.0]);
    is(of(&both(), |x| x[1].bucketize(x[0], Side::Right)), &[2, 3], &[0.0, 1.0, 1.0, 3.0, 4.0, 4.0]);
    let nan = f32::NAN;
    let floats = || [array(&[3], &[0.0f32, 1.0, nan]), array(&[3], &[-0.0f32, f32::INFINITY, nan])];
    is(of(&floats(), |x| x[0].searchsorted(x[1], Side::Left)), &[3], &[0.0, 2.0, 2.0]);
    is(of(&floats(), |x| x[0].searchsorted(x[1], Side::Right)), &[3], &[1.0, 2.0, 3.0]);
    let rows = [array(&[2, 2], &[1, 2, 10, 20]), array(&[2, 1], &[2, 15])];
    is(of(&rows, |x| x[0].searchsorted(x[1], Side::Right)), &[2, 1], &[2.0, 1.0]);
    is(of(&[counting(&[0]), counting(&[2])], |x| x[0].searchsorted(x[1], Side::Right)), &[2], &[0.0, 0.0]);
    assert_eq!(
        wrong(&[&[2, 3], &[3, 3]], |x| x[0].searchsorted(x[1], Side::Left)),
        ["`searchsorted`: f32[2, 3] with values f32[3, 3]"]
    );
    assert_eq!(wrong(&[&[], &[3]], |x| x[0].searchsorted(x[1], Side::Left)).len(), 1);
    assert_eq!(
        wrong(&[&[2, 3], &[3]], |x| x[1].bucketize(x[0], Side::Left)),
        ["`bucketize`: the boundaries are f32[2, 3], no vector"]
    );
    assert_eq!(
        wrong_of(&[f32::spec([2]), i32::spec([2])], |x| x[0].searchsorted(x[1], Side::Left)),
        ["`searchsorted`: f32[2] with i32[2]: the dtypes differ"]
    );
}

#[test]
fn points() {
    let x = || counting(&[3, 4]);
    let indices = |i: &[i64], j: &[i64]| [array(&[i.len()], i), array(&[j.len()], j)];
    let with = |i: &[i64], j: &[i64]| {
        let [i, j] = indices(i, j);
        [x(), i, j]
    };
    is(of(&with(&[0, 2, 3, -1], &[1, 3, 0, 0]), |x| x[0].take_at(&x[1..])), &[4], &[1.0, 11.0, 0.0, 0.0]);
    // One dimension outside does not wrap into another row.
    is(of(&with(&[0, 1], &[4, -1]), |x| x[0].take_at(&x[1..])), &[2], &[0.0, 0.0]);
    is(of(&with(&[1], &[0, 2]), |x| x[0].take_at(&x[1..])), &[2], &[4.0, 6.0]);
    is(of(&with(&[2, 0], &[0]), |x| x[0].take_at(&x[1..2])), &[2, 4], &[8.0, 9.0, 10.0, 11.0, 0.0, 1.0, 2.0, 3.0]);
    let put = |i: &[i64], j: &[i64], put| {
        of(&with(i, j), |x| x[0].zeros_like().index_put(&x[1..], x[2].cast(x[0].dtype()) + 1.0, put))
    };
    let mut expected = [0.0; 12];
    (expected[1], expected[11]) = (2.0, 4.0);
    is(put(&[0, 2, 5, 0], &[1, 3, 0, 9], Put::Set), &[3, 4], &expected);
    expected[1] = 4.0;
    is(put(&[0, 2, 0, -1], &[1, 3, 1, 0], Put::Add), &[3, 4], &expected);
    let rows = of(&with(&[1, 1], &[0]), |x| x[0].index_put(&x[1..2], 1.0, Put::Add));
    is(rows, &[3, 4], &[0.0, 1.0, 2.0, 3.0, 6.0, 7.0, 8.0, 9.0, 8.0, 9.0, 10.0, 11.0]);
    let added = [counting(&[3]), array(&[2], &[0i64, 0]), array(&[2], &[5.0f32, 6.0])];
    is(of(&added, |x| x[0].index_add(0, x[1], x[2])), &[3], &[11.0, 1.0, 2.0]);
    assert_eq!(wrong(&[&[2, 2]], |x| x[0].take_at(&[])), ["`take_at`: f32[2, 2] with 0 index tensors"]);
    assert_eq!(wrong(&[&[2], &[2]], |x| x[0].take_at(&[x[1]])), ["`take_at`: the indices are f32[2], not i32 or i64"]);
    let specs = [f32::spec([2, 2]), i64::spec([2]), i64::spec([3])];
    let message = "i64[2] with i64[3]: the indices do not broadcast";
    assert_eq!(wrong_of(&specs, |x| x[0].take_at(&x[1..])), [format!("`take_at`: {message}")]);
    assert_eq!(wrong_of(&specs, |x| x[0].index_put(&x[1..], 0.0, Put::Set)), [format!("`index_put`: {message}")]);
    assert_eq!(wrong_of(&specs, |x| x[0].index_put(&x[1..2], x[2].cast(x[0].dtype()), Put::Set)).len(), 1);
}

#[test]
fn distinct_elements() {
    let x = || array(&[2, 3], &[5, 2, 5, 9, 2, 5]);
    is(of1(x(), |x| x.unique_count()), &[], &[3.0]);
    is(of1(x(), |x| x.unique_counts_padded(4, -1).0), &[4], &[2.0, 5.0, 9.0, -1.0]);
    is(of1(x(), |x| x.unique_counts_padded(4, -1).1), &[4], &[2.0, 3.0, 1.0, 0.0]);
    is(of1(x(), |x| x.unique_counts_padded(2, -1).1), &[2], &[2.0, 3.0]);
    is(of1(x(), |x| x.unique_inverse()), &[2, 3], &[1.0, 0.0, 1.0, 2.0, 0.0, 1.0]);
    let again = |x: monograph_compiler::trace::Tensor| x.unique_padded(3, 0).take(x.unique_inverse(), 0);
    is(of1(x(), again), &[2, 3], &[5.0, 2.0, 5.0, 9.0, 2.0, 5.0]);
    let floats = || array(&[5], &[f32::NAN, 0.0, -0.0, f32::NAN, 1.0]);
    is(of1(floats(), |x| x.unique_count()), &[], &[3.0]);
    is(of1(floats(), |x| x.unique_counts_padded(3, 0).1), &[3], &[2.0, 1.0, 2.0]);
    is(of1(floats(), |x| x.unique_inverse()), &[5], &[2.0, 0.0, 0.0, 2.0, 1.0]);
    let empty = || counting(&[0, 2]);
    is(of1(empty(), |x| x.unique_count()), &[], &[0.0]);
    is(of1(empty(), |x| x.unique_counts_padded(1, 7).0), &[1], &[7.0]);
    is(of1(empty(), |x| x.unique_inverse()), &[0, 2], &[]);
    let sparse = || array(&[2, 3], &[0, 7, 0, 1, 0, -1]);
    is(of1(sparse(), |x| x.argwhere_padded(4, -9)), &[4, 2], &[0.0, 1.0, 1.0, 0.0, 1.0, 2.0, -9.0, -9.0]);
    is(of1(sparse(), |x| x.argwhere_padded(1, -9)), &[1, 2], &[0.0, 1.0]);
    is(of1(empty(), |x| x.argwhere_padded(1, -9)), &[1, 2], &[-9.0, -9.0]);
    is(of1(counting(&[]), |x| x.argwhere_padded(1, -9)), &[1, 0], &[]);
}

#[test]
fn masked_scatters() {
    let x = || array(&[2, 2], &[1, 2, 3, 4]);
    let mask = || array(&[2, 2], &[true, false, true, true]);
    let with = |source: &[i32]| [x(), mask(), array(&[source.len()], source)];
    is(of(&with(&[7, 8, 9, 10]), |x| x[0].masked_scatter(&x[1], x[2])), &[2, 2], &[7.0, 2.0, 8.0, 9.0]);
    is(of(&with(&[7]), |x| x[0].masked_scatter(&x[1], x[2])), &[2, 2], &[7.0, 2.0, 0.0, 0.0]);
    let narrow = [x(), array(&[2], &[false, true]), array(&[2], &[7, 8])];
    is(of(&narrow, |x| x[0].masked_scatter(&x[1], x[2])), &[2, 2], &[1.0, 7.0, 3.0, 8.0]);
    assert_eq!(
        wrong(&[&[2], &[2]], |x| x[0].masked_scatter(&x[1], x[0])),
        ["`masked_scatter`: the mask is f32[2], not bool"]
    );
    assert_eq!(wrong_of(&[f32::spec([2]), bool::spec([3])], |x| x[0].masked_scatter(&x[1], x[0])).len(), 1);
}

#[test]
fn points_agree_with_loops() {
    let mut random = Random::new(8);
    for _ in 0..60 {
        let shape: Vec<usize> = (0..1 + random.below(3)).map(|_| 1 + random.below(4)).collect();
        let elements: Vec<i64> = (0..shape.iter().product::<usize>()).map(|i| 100 + i as i64).collect();
        let (used, count) = (1 + random.below(shape.len()), random.below(6));
        let indices: Vec<Vec<i64>> =
            (0..used).map(|_| (0..count).map(|_| random.below(6) as i64 - 1).collect()).collect();
        let inner: usize = shape[used..].iter().product();
        let (mut taken, mut added) = (Vec::new(), elements.clone());
        for point in 0..count {
            let place = indices.iter().zip(&shape).try_fold(0, |at, (index, &extent)| {
                let index = usize::try_from(index[point]).ok().filter(|&i| i < extent)?;
                Some(at * extent + index)
            });
            for i in 0..inner {
                taken.push(place.map_or(0, |p| elements[p * inner + i]) as f64);
                if let Some(p) = place {
                    added[p * inner + i] += point as i64;
                }
            }
        }
        let mut inputs: Vec<Array> = vec![array(&shape, &elements)];
        inputs.extend(indices.iter().map(|i| array(&[count], i)));
        let out_shape = [&[count], &shape[used..]].concat();
        is(of(&inputs, |x| x[0].take_at(&x[1..])), &out_shape, &taken);
        let updates: Vec<i64> = (0..count * inner).map(|i| (i / inner.max(1)) as i64).collect();
        inputs.push(array(&out_shape, &updates));
        let added: Vec<f64> = added.into_iter().map(|v| v as f64).collect();
        is(of(&inputs, |x| x[0].index_put(&x[1..=used], x[used + 1], Put::Add)), &shape, &added);
    }
}
