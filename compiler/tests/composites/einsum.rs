//! `einsum`: by hand, against a loop over all indices, and its messages.

use super::{array, counting, is, of, of1, wrong, wrong_of};
use monograph_compiler::trace::{Tensor, einsum, trace};
use monograph_ir::testing::Random;
use monograph_ir::{Element, Op, Spec};

#[test]
fn by_hand() {
    let (a, b) = (counting(&[2, 3]), counting(&[3, 2]));
    let both = [a.clone(), b];
    is(of(&both, |x| einsum("ij,jk->ik", x)), &[2, 2], &[10.0, 13.0, 28.0, 40.0]);
    is(of(&both, |x| einsum("ij,jk", x)), &[2, 2], &[10.0, 13.0, 28.0, 40.0]);
    is(of(&both, |x| einsum("ij,jk->ki", x)), &[2, 2], &[10.0, 28.0, 13.0, 40.0]);
    is(of(&both, |x| einsum("ij,ji", x)), &[], &[50.0]);
    is(of(&both, |x| einsum("ij,kl->", x)), &[], &[225.0]);
    is(of1(a.clone(), |x| einsum("ij->ji", &[x])), &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    is(of1(a.clone(), |x| einsum("ba", &[x])), &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    is(of1(a.clone(), |x| einsum("ij->j", &[x])), &[3], &[3.0, 5.0, 7.0]);
    is(of1(a, |x| einsum("...->...", &[x])), &[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let square = counting(&[3, 3]);
    is(of1(square.clone(), |x| einsum("ii->i", &[x])), &[3], &[0.0, 4.0, 8.0]);
    is(of1(square.clone(), |x| einsum("ii", &[x])), &[], &[12.0]);
    is(of(&[square, counting(&[3])], |x| einsum("ii,i->i", x)), &[3], &[0.0, 4.0, 16.0]);
    let cube = counting(&[2, 2, 2]);
    is(of1(cube, |x| einsum("iii->i", &[x])), &[2], &[0.0, 7.0]);
    let vectors = [counting(&[2]), counting(&[3])];
    is(of(&vectors, |x| einsum("i,j->ij", x)), &[2, 3], &[0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
    let scalars = [array(&[], &[3.0f32]), array(&[], &[4.0f32])];
    is(of(&scalars, |x| einsum(",->", x)), &[], &[12.0]);
    // Extents of 1 repeat.
    let stretched = [array(&[1], &[2.0f32]), counting(&[3])];
    is(of(&stretched, |x| einsum("i,i", x)), &[], &[6.0]);
    is(of(&stretched, |x| einsum("i,i->i", x)), &[3], &[0.0, 2.0, 4.0]);
    // Sums over nothing.
    is(of(&[counting(&[2, 0]), counting(&[0, 1])], |x| einsum("ij,jk", x)), &[2, 1], &[0.0, 0.0]);
    // A chain: (x A) B, whichever pair comes first.
    let chain = [array(&[2], &[1.0f32, 2.0]), counting(&[2, 3]), counting(&[3, 2])];
    is(of(&chain, |x| einsum("i,ij,jk->k", x)), &[2], &[66.0, 93.0]);
}

/// How many nodes of each kind a trace has.
fn ops(specs: &[Spec], subscripts: &str) -> Vec<&'static str> {
    let program = trace(|x: Vec<Tensor>| einsum(subscripts, &x), &specs.to_vec()).unwrap();
    let parameter = |op: &Op| matches!(op, Op::Parameter(_));
    program.graph().nodes().iter().map(|node| &node.op).filter(|op| !parameter(op)).map(Op::name).collect()
}

#[test]
fn a_contraction_is_one_product() {
    let f = |shape: &[usize]| f32::spec(shape);
    assert_eq!(ops(&[f(&[2, 3]), f(&[3, 4])], "ij,jk->ik"), ["matmul"]);
    assert_eq!(ops(&[f(&[2, 3]), f(&[4, 3])], "ij,kj->ik"), ["matmul"]);
    assert_eq!(ops(&[f(&[3, 2]), f(&[4, 3])], "ji,kj->ik"), ["matmul"]);
    assert_eq!(ops(&[f(&[2, 3]), f(&[3, 4])], "ij,jk->ki"), ["matmul"]);
    assert_eq!(ops(&[f(&[5, 2, 3]), f(&[5, 3, 4])], "bij,bjk->bik"), ["matmul"]);
    assert_eq!(ops(&[f(&[2, 8, 5, 6]), f(&[2, 8, 7, 6])], "bhqd,bhkd->bhqk"), ["matmul"]);
    assert_eq!(ops(&[f(&[2, 5, 8, 6]), f(&[8, 6, 7])], "bqhd,hdm->bqm"), ["reshape", "reshape", "matmul", "reshape"]);
    assert_eq!(ops(&[f(&[4, 3]), f(&[4, 3])], "ij,ij->ij"), ["mul"]);
    assert_eq!(ops(&[f(&[4, 3])], "ij->i"), ["reduce_sum"]);
    assert_eq!(ops(&[f(&[4, 3])], "ij->ij"), [""; 0]);
}

/// An operand of a random contraction: a label for each dimension, and its extents.
struct Operand {
    labels: Vec<String>,
    shape: Vec<usize>,
    elements: Vec<i64>,
}

/// Extents of the letters `a` to `d` and of the dimensions under `...`, from the right.
const EXTENTS: [usize; 4] = [2, 3, 2, 4];
const DOTS: [usize; 2] = [3, 2];

/// Part of the text, and the operand.
fn operand(random: &mut Random) -> (String, Operand) {
    let count = random.below(4);
    let letters: Vec<usize> = (0..count).map(|_| random.below(4)).collect();
    let dots = random.one_in(3).then(|| (random.below(count + 1), random.below(3)));
    let (mut text, mut labels, mut shape) = (String::new(), Vec::new(), Vec::new());
    // One letter in eight has extent 1 throughout the operand, and repeats.
    let thin = if random.one_in(2) { random.below(4) } else { 9 };
    for at in 0..=count {
        if let Some((place, dimensions)) = dots
            && place == at
        {
            text.push_str("...");
            for i in (0..dimensions).rev() {
                labels.push(format!("dots {i}"));
                shape.push(if random.one_in(4) { 1 } else { DOTS[i] });
            }
        }
        if let Some(&letter) = letters.get(at) {
            let name = char::from(b'a' + letter as u8);
            text.push(name);
            labels.push(name.to_string());
            shape.push(if letter == thin { 1 } else { EXTENTS[letter] });
        }
    }
    let elements = (0..shape.iter().product::<usize>()).map(|_| random.below(7) as i64 - 3).collect();
    (text, Operand { labels, shape, elements })
}

/// The sum over all values of all labels of the products of the elements there.
fn by_loops(operands: &[Operand], result: &[String]) -> (Vec<usize>, Vec<f64>) {
    let mut labels: Vec<&String> = result.iter().collect();
    for label in operands.iter().flat_map(|o| &o.labels) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let extent = |label: &String| {
        let dimensions = operands.iter().flat_map(|o| o.labels.iter().zip(&o.shape));
        dimensions.filter(|(l, _)| *l == label).map(|(_, &extent)| extent).max().unwrap_or(1)
    };
    let extents: Vec<usize> = labels.iter().map(|l| extent(l)).collect();
    let shape = extents[..result.len()].to_vec();
    let mut sums = vec![0i64; shape.iter().product()];
    for place in 0..extents.iter().product::<usize>() {
        // The last label runs fastest.
        let (mut rest, mut index) = (place, vec![0; labels.len()]);
        for (at, &extent) in extents.iter().enumerate().rev() {
            index[at] = rest % extent;
            rest /= extent;
        }
        let of_label = |label: &String| index[labels.iter().position(|l| *l == label).unwrap()];
        let product: i64 = operands
            .iter()
            .map(|o| {
                let dimensions = o.labels.iter().zip(&o.shape);
                let at = dimensions.fold(0, |at, (l, &d)| at * d + if d == 1 { 0 } else { of_label(l) });
                o.elements[at]
            })
            .product();
        let target = shape.iter().zip(&index).fold(0, |at, (&d, &i)| at * d + i);
        sums[target] += product;
    }
    (shape, sums.into_iter().map(|v| v as f64).collect())
}

#[test]
fn random_contractions_agree_with_loops() {
    let mut random = Random::new(17);
    let mut explicit = 0;
    for _ in 0..400 {
        let count = 1 + random.below(4);
        let (texts, operands): (Vec<String>, Vec<Operand>) = (0..count).map(|_| operand(&mut random)).unzip();
        let mut text = texts.join(",");
        let all: Vec<&String> = operands.iter().flat_map(|o| &o.labels).collect();
        let mut dots: Vec<String> = all.iter().filter(|l| l.len() > 1).map(|l| l.to_string()).collect();
        dots.sort();
        dots.dedup();
        dots.reverse();
        let mut letters: Vec<String> = all.iter().filter(|l| l.len() == 1).map(|l| l.to_string()).collect();
        letters.sort();
        let result = if random.one_in(3) {
            let once = letters.iter().filter(|l| letters.iter().filter(|m| m == l).count() == 1);
            dots.iter().chain(once).cloned().collect::<Vec<_>>()
        } else {
            explicit += 1;
            letters.dedup();
            let order = random.permutation(letters.len());
            let kept = &order[..random.below(letters.len() + 1)];
            let place = random.below(kept.len() + 1);
            let (before, after) = kept.split_at(place);
            let name = |&i: &usize| letters[i].clone();
            text += "->";
            text += &before.iter().map(name).collect::<String>();
            text += if dots.is_empty() { "" } else { "..." };
            text += &after.iter().map(name).collect::<String>();
            before.iter().map(name).chain(dots.clone()).chain(after.iter().map(name)).collect()
        };
        let arrays: Vec<_> = operands.iter().map(|o| array(&o.shape, &o.elements)).collect();
        let (shape, elements) = by_loops(&operands, &result);
        let found = of(&arrays, |x| einsum(&text, x));
        assert_eq!(found, (shape, elements), "{text} of {:?}", operands.iter().map(|o| &o.shape).collect::<Vec<_>>());
    }
    assert!(explicit > 200, "{explicit}");
}

#[test]
fn mistakes_are_told() {
    let two: &[&[usize]] = &[&[2, 3], &[4, 5]];
    assert_eq!(
        wrong(two, |x| einsum("ij,jk->ik", x)),
        ["`einsum`: `j` is 3 in operand 0, f32[2, 3], and 4 in operand 1, f32[4, 5]"]
    );
    assert_eq!(wrong(&[&[2, 3]], |x| einsum("ii", x)), ["`einsum`: `i` is 2 and 3 in operand 0, f32[2, 3]"]);
    assert_eq!(wrong(&[&[1, 3]], |x| einsum("ii", x)), ["`einsum`: `i` is 1 and 3 in operand 0, f32[1, 3]"]);
    assert_eq!(
        wrong(two, |x| einsum("...,...", x)),
        ["`einsum`: dimension -2 of `...` is 2 in operand 0, f32[2, 3], and 4 in operand 1, f32[4, 5]"]
    );
    assert_eq!(wrong(two, |x| einsum("ij->", x)), ["`einsum`: the number of operands of `ij->` is 1, but 2 are given"]);
    assert_eq!(wrong(two, |x| einsum("ij,jkl", x)), ["`einsum`: the rank of operand 1 is 2, but `jkl` is for rank 3"]);
    assert_eq!(wrong(&[&[2]], |x| einsum("i->j", x)), ["`einsum`: `j` of the result is in no operand"]);
    assert_eq!(wrong(&[&[2]], |_| einsum("", &[])), ["`einsum`: the number of operands of `` is 1, but 0 are given"]);
    assert_eq!(
        wrong_of(&[f32::spec([2]), i32::spec([2])], |x| einsum("i,i", x)),
        ["`einsum`: f32[2] with i32[2]: the dtypes differ"]
    );
    assert_eq!(wrong_of(&[bool::spec([2])], |x| einsum("i", x)), ["`einsum` takes numbers, not bool"]);
}
