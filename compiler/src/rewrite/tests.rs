//! Each rule alone, on values that show where it is wrong; and what all of them prove together.

use super::RULES;
use super::rule::{Bound, Limits, Rule, saturate, spec, splat};
use super::term::{Attribute, Head, Term, Terms, Types, View};
use egg::{ENodeOrVar, Id, RecExpr, Subst};
use monograph_ir::interp::{Tensor, evaluate_op};
use monograph_ir::testing::Random;
use monograph_ir::{DType, Literal, Shape, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the rules that are always on make two terms equal.
fn proves(start: &str, goal: &str) -> bool {
    let rules: Vec<&Rule> = RULES.iter().filter(|r| !r.fast_math).collect();
    let mut terms = Terms::new(Types);
    let expr = |text: &str| text.parse::<RecExpr<Term>>().unwrap_or_else(|e| panic!("{text}: {e}"));
    let start = terms.add_expr(&expr(start));
    assert!(spec(&terms, start).is_some(), "the start has no type");
    saturate(&mut terms, &rules, Limits { rounds: 16, terms: 10_000 });
    terms.lookup_expr(&expr(goal)) == Some(terms.find(start))
}

#[track_caller]
fn check(start: &str, goal: &str) {
    assert!(proves(start, goal), "{start}\nis not found to be\n{goal}");
}

#[track_caller]
fn refuse(start: &str, goal: &str) {
    assert!(!proves(start, goal), "{start}\nis wrongly found to be\n{goal}");
}

#[test]
fn arithmetic() {
    check("(mul x:f32[2] (broadcast [2] 1:f32))", "x:f32[2]");
    check("(div x:f32[2] (broadcast [2] 1:f32))", "x:f32[2]");
    check("(sub x:f32[2] (broadcast [2] 0.0:f32))", "x:f32[2]");
    check("(add x:f32[2] (broadcast [2] -0.0:f32))", "x:f32[2]");
    check("(div x:f32[] 4:f32)", "(mul x:f32[] 0.25:f32)");
    check("(neg (neg (neg x:f32[2])))", "(neg x:f32[2])");
    check("(add x:f32[2] (neg y:f32[2]))", "(sub x:f32[2] y:f32[2])");
    check("(div 1:f32 (sqrt x:f32[]))", "(rsqrt x:f32[])");
    check("(maximum (maximum x:f32[] 0:f32) 0:f32)", "(maximum x:f32[] 0:f32)");
    check("(pow x:f32[] 0:f32)", "1:f32");
    check("(select m:bool[] x:f32[] x:f32[])", "x:f32[]");
    check("(select (not m:bool[]) x:f32[] y:f32[])", "(select m:bool[] y:f32[] x:f32[])");
}

#[test]
fn integers_may_do_more() {
    check("(sub x:i32[] x:i32[])", "0:i32");
    check("(mul x:i32[2] (broadcast [2] 0:i32))", "(broadcast [2] 0:i32)");
    check("(add (mul x:i32[] y:i32[]) (mul z:i32[] x:i32[]))", "(mul x:i32[] (add y:i32[] z:i32[]))");
    check("(add (add x:i32[] 3:i32) 4:i32)", "(add x:i32[] 7:i32)");
    check("(div x:u32[] 8:u32)", "(shr x:u32[] 3:u32)");
    check("(mod_floor x:i32[] 8:i32)", "(and x:i32[] 7:i32)");
    check("(div_floor x:i32[] 8:i32)", "(shr x:i32[] 3:i32)");
    // Truncation is not a shift for negative numbers.
    refuse("(div x:i32[] 8:i32)", "(shr x:i32[] 3:i32)");
    check("(not (lt x:i32[] y:i32[]))", "(le y:i32[] x:i32[])");
}

#[test]
fn floats_keep_their_edges() {
    refuse("(add x:f32[] 0.0:f32)", "x:f32[]");
    refuse("(sub x:f32[] -0.0:f32)", "x:f32[]");
    refuse("(mul x:f32[] 0:f32)", "0:f32");
    refuse("(sub x:f32[] x:f32[])", "0:f32");
    refuse("(div x:f32[] x:f32[])", "1:f32");
    refuse("(sub 0.0:f32 x:f32[])", "(neg x:f32[])");
    refuse("(div x:f32[] 3:f32)", "(mul x:f32[] 0.33333334:f32)");
    refuse("(div 1:f16 (sqrt x:f16[]))", "(rsqrt x:f16[])");
    refuse("(not (lt x:f32[] y:f32[]))", "(le y:f32[] x:f32[])");
    refuse("(eq x:f32[] x:f32[])", "true:bool");
    refuse("(add (mul x:f32[] y:f32[]) (mul x:f32[] z:f32[]))", "(mul x:f32[] (add y:f32[] z:f32[]))");
    // The reciprocal of the smallest subnormal is infinite.
    refuse("(div x:f16[] 0.000000059604645:f16)", "(mul x:f16[] inf:f16)");
}

#[test]
fn shapes() {
    check("(permute [1,0] (permute [1,0] x:f32[2,3]))", "x:f32[2,3]");
    check("(permute [1,0] (exp (permute [1,0] x:f32[2,3])))", "(exp x:f32[2,3])");
    check("(reshape [2,3] (neg (reshape [6] x:f32[2,3])))", "(neg x:f32[2,3])");
    check("(add (broadcast [4,3] x:f32[3]) (broadcast [4,3] y:f32[3]))", "(broadcast [4,3] (add x:f32[3] y:f32[3]))");
    check("(mul (broadcast [4] 2:f32) (broadcast [4] x:f32[]))", "(broadcast [4] (mul 2:f32 x:f32[]))");
    check("(reduce_max [0] (broadcast [4,3] x:f32[3]))", "x:f32[3]");
    check("(reduce_max [0,1] (broadcast [4,3] x:f32[3]))", "(reduce_max [0] x:f32[3])");
    check("(reduce_max [0] (reduce_max [1] x:f32[4,3]))", "(reduce_max [0,1] x:f32[4,3])");
    check("(reduce_sum [0] (reduce_sum [0] x:i32[4,3]))", "(reduce_sum [0,1] x:i32[4,3])");
    refuse("(reduce_sum [0] (reduce_sum [0] x:f32[4,3]))", "(reduce_sum [0,1] x:f32[4,3])");
    check("(permute [1,0] (matmul [0,0] a:f32[2,3] b:f32[3,4]))", "(matmul [1,1] b:f32[3,4] a:f32[2,3])");
    check(
        "(permute [0,2,1] (matmul [0,1] a:f32[5,2,3] (exp (permute [0,2,1] b:f32[5,3,4]))))",
        "(matmul [1,1] (exp b:f32[5,3,4]) a:f32[5,2,3])",
    );
}

#[test]
fn names_are_unique() {
    let mut names = BTreeSet::new();
    for rule in RULES.iter() {
        assert!(names.insert(rule.name.clone()), "two rules are named `{}`", rule.name);
    }
}

/// Values among which are all that arithmetic treats in a way of its own; or tame ones.
fn tensor(random: &mut Random, spec: &Spec, tame: bool) -> Tensor {
    let specials = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 3e38, 1e-40, 65504.0, -2.5, 3.0];
    let mut bytes = Vec::new();
    for _ in 0..spec.shape.size() {
        let literal = match random.below(3) {
            _ if tame => Literal::from_f64(spec.dtype, 1.0 + random.below(1000) as f64 / 1000.0),
            0 => Literal::from_f64(spec.dtype, specials[random.below(specials.len())]),
            1 => Literal::from_i64(spec.dtype, random.below(9) as i64 - 4),
            _ => Literal::from_bits(spec.dtype, random.bits()),
        };
        bytes.extend_from_slice(&literal.to_le_bytes()[..spec.dtype.size()]);
    }
    Tensor::from_bytes(spec.clone(), &bytes).unwrap()
}

/// The value of a term of an e-graph in which nothing was made equal.
fn value(terms: &Terms, id: Id, leaves: &[Tensor], memo: &mut BTreeMap<Id, Tensor>) -> Tensor {
    if let Some(value) = memo.get(&id) {
        return value.clone();
    }
    let term = terms.id_to_node(id).clone();
    let result = match &term.head {
        Head::Leaf(number, _) => leaves[*number as usize].clone(),
        _ => {
            let operands: Vec<Tensor> = term.operands().iter().map(|&o| value(terms, o, leaves, memo)).collect();
            evaluate_op(&term.to_op(terms).unwrap(), &operands).unwrap().remove(0)
        }
    };
    memo.insert(id, result.clone());
    result
}

/// Equal to the bit, all NaNs being one; or within a tolerance.
fn agree(a: &Tensor, b: &Tensor, tolerance: Option<f64>) -> bool {
    let close = |x: f64, y: f64, t: f64| (x - y).abs() <= t * x.abs().max(y.abs()).max(1.0);
    let size = a.dtype().size();
    a.spec() == b.spec()
        && (0..a.shape().size()).all(|i| {
            let bits = i * size..(i + 1) * size;
            let (x, y) = (a.get_f64(i).unwrap(), b.get_f64(i).unwrap());
            a.bytes()[bits.clone()] == b.bytes()[bits]
                || (x.is_nan() && y.is_nan())
                || tolerance.is_some_and(|t| close(x, y, t))
        })
}

/// Attributes for a view, some of which fit.
fn attribute(random: &mut Random, view: View) -> Attribute {
    let lists: &[&[usize]] = match view {
        View::Cast => return Attribute::DType(DType::ALL[random.below(DType::ALL.len())]),
        View::Reshape => &[&[2, 2], &[4], &[1, 2, 2], &[2], &[1, 2], &[2, 1], &[2, 2, 2], &[8], &[1]],
        View::Broadcast => &[&[2, 2], &[3, 2], &[2, 2, 2], &[2, 3], &[2], &[4]],
        View::Permute => &[&[0], &[0, 1], &[1, 0], &[0, 2, 1], &[2, 0, 1], &[1, 0, 2], &[0, 1, 2]],
        View::Reduce(_) => &[&[0], &[1], &[0, 1], &[1, 2], &[0, 2]],
        View::Matmul => &[&[0, 0], &[0, 1], &[1, 0], &[1, 1]],
    };
    Attribute::List(lists[random.below(lists.len())].iter().copied().collect())
}

/// A random instance of a rule's left-hand side: its class and variables, and the values of its leaves.
fn instance(rule: &Rule, random: &mut Random, terms: &mut Terms) -> Option<(Id, Subst, Vec<Tensor>)> {
    let numbers = [0.0, -0.0, 1.0, -1.0, 2.0, 4.0, 0.5, 8.0, 3.0, f64::INFINITY];
    let shapes: [&[usize]; 8] = [&[], &[2], &[1, 2], &[2, 1], &[2, 2], &[2, 2, 2], &[1], &[3, 2]];
    let tame = rule.fast_math;
    let dtype = if tame { DType::F64 } else { DType::ALL[random.below(DType::ALL.len())] };
    let shape = Shape::from(shapes[random.below(shapes.len())]);
    let whole: Shape = [2, 2].into();
    let (mut ids, mut leaves, mut subst): (Vec<Id>, Vec<Tensor>, Subst) = Default::default();
    let ast: Vec<&ENodeOrVar<Term>> = rule.from.ast.as_ref().iter().collect();
    for (i, node) in ast.iter().enumerate() {
        let id = match node {
            ENodeOrVar::ENode(term) => {
                let mut term = term.clone();
                term.children.iter_mut().for_each(|c| *c = ids[usize::from(*c)]);
                terms.add(term)
            }
            ENodeOrVar::Var(var) => {
                let view = ast.iter().find_map(|n| match n {
                    ENodeOrVar::ENode(Term { head: Head::View(view), children }) => {
                        (usize::from(children[0]) == i).then_some(*view)
                    }
                    _ => None,
                });
                let id = if let Some(view) = view {
                    terms.add(Term { head: Head::Attribute(attribute(random, view)), children: Default::default() })
                } else {
                    let dtype = if random.one_in(5) { DType::Bool } else { dtype };
                    let shape = if random.one_in(3) { whole.clone() } else { shape.clone() };
                    if random.one_in(2) {
                        let number = numbers[random.below(numbers.len())];
                        let ones = Literal::from_bits(dtype, u64::MAX);
                        let literal = if random.one_in(9) { ones } else { Literal::from_f64(dtype, number) };
                        splat(terms, literal, &shape)
                    } else {
                        let spec = Spec::new(dtype, shape);
                        leaves.push(tensor(random, &spec, tame));
                        terms.add(Term::outside(leaves.len() as u32 - 1, spec))
                    }
                };
                subst.insert(*var, id);
                id
            }
        };
        ids.push(id);
    }
    let class = *ids.last()?;
    spec(terms, class)?;
    Some((class, subst, leaves))
}

#[test]
fn every_rule_alone_keeps_every_value() {
    for (number, rule) in RULES.iter().enumerate() {
        let mut random = Random::new(number as u64);
        let (mut applied, mut tries) = (0, 0);
        while applied < 12 {
            tries += 1;
            assert!(tries < 60_000, "`{}` applied only {applied} times", rule.name);
            let mut terms = Terms::new(Types);
            let Some((class, subst, leaves)) = instance(rule, &mut random, &mut terms) else { continue };
            let Some(equal) = rule.equal(&mut terms, &Bound { class, subst: &subst }) else { continue };
            applied += 1;
            let mut memo = BTreeMap::new();
            let before = value(&terms, class, &leaves, &mut memo);
            let after = value(&terms, equal, &leaves, &mut memo);
            let tolerance = rule.fast_math.then_some(1e-9);
            // A constant 0 or infinity may make even tame values meet the edges that fast_math gives up.
            let edge = rule.fast_math && before.to_f64_vec().iter().any(|v| !v.is_finite() || v.abs() > 1e6);
            assert!(
                edge || agree(&before, &after, tolerance),
                "`{}`: {before:?} became {after:?} from {leaves:?}",
                rule.name
            );
        }
    }
}
