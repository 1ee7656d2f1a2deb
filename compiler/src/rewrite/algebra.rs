//! The rules of arithmetic.
//!
//! Without `fast_math` a rule holds to the bit for every value, NaN, infinities and signed zeros included (payloads
//! of NaN aside). So `x * 0`, `x - x` and `x + 0` stay for floats: they are NaN for an infinity, and `-0 + 0` is `+0`.
//! `x * 2` and `x + x` cost the same and are left as they are.

use super::rule::{Bound, Match, Row, When, always, make, row, spec, splat};
use super::term::{Terms, add};
use egg::Id;
use monograph_ir::{DType, Elementwise, Literal, Op};

fn fast(row: Row) -> Row {
    Row { fast_math: true, ..row }
}

/// The rows, in the order in which they are tried.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    rows.extend(identities());
    rows.extend(signs());
    rows.extend(selections());
    rows.extend(comparisons());
    rows.extend(integers());
    rows.extend(fast_math());
    rows
}

/// Neutral and absorbing elements that hold for floats too, and idempotence.
fn identities() -> Vec<Row> {
    let mut rows = vec![
        row("mul_one", "(mul ?x ?c)", "?x", |m| m.all_are("?c", 1.0)),
        row("one_mul", "(mul ?c ?x)", "?x", |m| m.all_are("?c", 1.0)),
        row("div_one", "(div ?x ?c)", "?x", |m| m.all_are("?c", 1.0)),
        row("sub_zero", "(sub ?x ?c)", "?x", |m| m.all_are("?c", 0.0)),
        row("add_negative_zero", "(add ?x ?c)", "?x", |m| is_negative_zero(m, "?c")),
        row("negative_zero_add", "(add ?c ?x)", "?x", |m| is_negative_zero(m, "?c")),
        row("pow_one", "(pow ?x ?c)", "?x", |m| m.all_are("?c", 1.0)),
        make("pow_zero", "(pow ?x ?c)", |t, b| constant(t, b, 1), |m| m.all_are("?c", 0.0)),
        make("div_power_of_two", "(div ?x ?c)", mul_by_reciprocal, always),
        // In f16 and bf16 the root is rounded before it is divided by.
        row("reciprocal_of_root", "(div ?c (sqrt ?x))", "(rsqrt ?x)", |m| {
            m.all_are("?c", 1.0) && matches!(m.dtype("?x"), Some(DType::F32 | DType::F64))
        }),
        row("max_max_left", "(maximum (maximum ?x ?y) ?x)", "(maximum ?x ?y)", always),
        row("max_max_right", "(maximum (maximum ?x ?y) ?y)", "(maximum ?x ?y)", always),
        row("min_min_left", "(minimum (minimum ?x ?y) ?x)", "(minimum ?x ?y)", always),
        row("min_min_right", "(minimum (minimum ?x ?y) ?y)", "(minimum ?x ?y)", always),
    ];
    for name in ["maximum", "minimum", "and", "or"] {
        rows.push(row(format!("{name}_same"), format!("({name} ?x ?x)"), "?x", always));
    }
    for name in ["abs", "floor", "ceil", "round", "trunc", "sign"] {
        let (from, to) = (format!("({name} ({name} ?x))"), format!("({name} ?x)"));
        rows.push(row(format!("{name}_twice"), from, to, always));
    }
    rows
}

fn signs() -> Vec<Row> {
    vec![
        row("neg_neg", "(neg (neg ?x))", "?x", always),
        row("not_not", "(not (not ?x))", "?x", always),
        row("mul_minus_one", "(mul ?x ?c)", "(neg ?x)", |m| m.all_are("?c", -1.0)),
        row("div_minus_one", "(div ?x ?c)", "(neg ?x)", |m| m.all_are("?c", -1.0)),
        row("negative_zero_sub", "(sub ?c ?x)", "(neg ?x)", |m| is_negative_zero(m, "?c")),
        row("add_neg", "(add ?a (neg ?b))", "(sub ?a ?b)", always),
        row("neg_add", "(add (neg ?a) ?b)", "(sub ?b ?a)", always),
        row("sub_neg", "(sub ?a (neg ?b))", "(add ?a ?b)", always),
        row("mul_neg_neg", "(mul (neg ?a) (neg ?b))", "(mul ?a ?b)", always),
        row("div_neg_neg", "(div (neg ?a) (neg ?b))", "(div ?a ?b)", |m| m.is_float("?a")),
        row("abs_neg", "(abs (neg ?x))", "(abs ?x)", |m| !matches!(m.dtype("?x"), Some(DType::U8 | DType::U32))),
    ]
}

fn selections() -> Vec<Row> {
    vec![
        row("select_same", "(select ?m ?x ?x)", "?x", always),
        row("select_true", "(select ?m ?a ?b)", "?a", |m| m.all_are("?m", 1.0)),
        row("select_false", "(select ?m ?a ?b)", "?b", |m| m.all_are("?m", 0.0)),
        row("select_not", "(select (not ?m) ?a ?b)", "(select ?m ?b ?a)", always),
        row("select_select_then", "(select ?m (select ?m ?a ?b) ?c)", "(select ?m ?a ?c)", always),
        row("select_select_else", "(select ?m ?a (select ?m ?b ?c))", "(select ?m ?a ?c)", always),
    ]
}

fn comparisons() -> Vec<Row> {
    vec![
        row("gt_is_lt", "(gt ?a ?b)", "(lt ?b ?a)", always),
        row("ge_is_le", "(ge ?a ?b)", "(le ?b ?a)", always),
        row("not_eq", "(not (eq ?a ?b))", "(ne ?a ?b)", always),
        row("not_ne", "(not (ne ?a ?b))", "(eq ?a ?b)", always),
        // A comparison with NaN is false, and so is its opposite.
        row("not_lt", "(not (lt ?a ?b))", "(le ?b ?a)", |m| !m.is_float("?a")),
        row("not_le", "(not (le ?a ?b))", "(lt ?b ?a)", |m| !m.is_float("?a")),
        row("not_gt", "(not (gt ?a ?b))", "(le ?a ?b)", |m| !m.is_float("?a")),
        row("not_ge", "(not (ge ?a ?b))", "(lt ?a ?b)", |m| !m.is_float("?a")),
        make("lt_same", "(lt ?x ?x)", |t, b| constant(t, b, 0), always),
        make("gt_same", "(gt ?x ?x)", |t, b| constant(t, b, 0), always),
        make("eq_same", "(eq ?x ?x)", |t, b| constant(t, b, 1), |m| !m.is_float("?x")),
        make("ne_same", "(ne ?x ?x)", |t, b| constant(t, b, 0), |m| !m.is_float("?x")),
        make("le_same", "(le ?x ?x)", |t, b| constant(t, b, 1), |m| !m.is_float("?x")),
        make("ge_same", "(ge ?x ?x)", |t, b| constant(t, b, 1), |m| !m.is_float("?x")),
        row("eq_true", "(eq ?x ?c)", "?x", |m| m.dtype("?x") == Some(DType::Bool) && m.all_are("?c", 1.0)),
        row("ne_false", "(ne ?x ?c)", "?x", |m| m.dtype("?x") == Some(DType::Bool) && m.all_are("?c", 0.0)),
        row("eq_false", "(eq ?x ?c)", "(not ?x)", |m| m.dtype("?x") == Some(DType::Bool) && m.all_are("?c", 0.0)),
        row("ne_true", "(ne ?x ?c)", "(not ?x)", |m| m.dtype("?x") == Some(DType::Bool) && m.all_are("?c", 1.0)),
    ]
}

/// What holds for integers (and `bool`) only.
fn integers() -> Vec<Row> {
    let mut rows = vec![
        row("int_add_zero", "(add ?x ?c)", "?x", |m| m.is_integer("?x") && m.all_are("?c", 0.0)),
        row("int_zero_sub", "(sub ?c ?x)", "(neg ?x)", |m| m.is_integer("?x") && m.all_are("?c", 0.0)),
        make("int_mul_zero", "(mul ?x ?c)", |t, b| constant(t, b, 0), |m| m.is_integer("?x") && m.all_are("?c", 0.0)),
        make("int_sub_same", "(sub ?x ?x)", |t, b| constant(t, b, 0), |m| m.is_integer("?x")),
        row("int_neg_sub", "(neg (sub ?a ?b))", "(sub ?b ?a)", |m| m.is_integer("?a")),
        row("int_add_sub", "(sub (add ?a ?b) ?b)", "?a", |m| m.is_integer("?a")),
        row("int_add_sub_left", "(sub (add ?a ?b) ?a)", "?b", |m| m.is_integer("?a")),
        row("int_sub_add", "(add (sub ?a ?b) ?b)", "?a", |m| m.is_integer("?a")),
        row("int_sub_add_right", "(add ?b (sub ?a ?b))", "?a", |m| m.is_integer("?a")),
        make("int_add_add", "(add (add ?x ?c) ?d)", |t, b| combine(t, b, Elementwise::Add), |m| m.is_integer("?x")),
        make("int_mul_mul", "(mul (mul ?x ?c) ?d)", |t, b| combine(t, b, Elementwise::Mul), |m| m.is_integer("?x")),
        make("rem_one", "(rem ?x ?c)", |t, b| constant(t, b, 0), |m| m.is_integer("?x") && m.all_are("?c", 1.0)),
        make("mod_one", "(mod_floor ?x ?c)", |t, b| constant(t, b, 0), |m| m.is_integer("?x") && m.all_are("?c", 1.0)),
        row("div_floor_one", "(div_floor ?x ?c)", "?x", |m| m.is_integer("?x") && m.all_are("?c", 1.0)),
        make("unsigned_div", "(div ?x ?c)", shift_right, |m| matches!(m.dtype("?x"), Some(DType::U8 | DType::U32))),
        make("unsigned_rem", "(rem ?x ?c)", mask_low, |m| matches!(m.dtype("?x"), Some(DType::U8 | DType::U32))),
        // Rounding down is what an arithmetic shift does, for negative numbers too.
        make("div_floor_power_of_two", "(div_floor ?x ?c)", shift_right, |m| m.is_integer("?x")),
        make("mod_floor_power_of_two", "(mod_floor ?x ?c)", mask_low, |m| m.is_integer("?x")),
        make("and_zero", "(and ?x ?c)", |t, b| constant(t, b, 0), |m| m.all_are("?c", 0.0)),
        row("and_ones", "(and ?x ?c)", "?x", |m| all_ones(m, "?c")),
        row("or_zero", "(or ?x ?c)", "?x", |m| m.all_are("?c", 0.0)),
        row("or_ones", "(or ?x ?c)", "?c", |m| all_ones(m, "?c")),
        row("xor_zero", "(xor ?x ?c)", "?x", |m| m.all_are("?c", 0.0)),
        row("xor_ones", "(xor ?x ?c)", "(not ?x)", |m| all_ones(m, "?c")),
        make("xor_same", "(xor ?x ?x)", |t, b| constant(t, b, 0), always),
        row("shl_zero", "(shl ?x ?c)", "?x", |m| m.all_are("?c", 0.0)),
        row("shr_zero", "(shr ?x ?c)", "?x", |m| m.all_are("?c", 0.0)),
    ];
    rows.extend(factoring("int_factor", |m| m.is_integer("?a")));
    rows
}

/// `a·b + a·c = a·(b + c)`, whichever side the common factor is on.
fn factoring(name: &str, when: When) -> Vec<Row> {
    let products = |x: &str| [format!("(mul ?a {x})"), format!("(mul {x} ?a)")];
    let mut rows = Vec::new();
    for left in products("?b") {
        for right in products("?c") {
            let name = format!("{name}_{}", rows.len());
            rows.push(row(name, format!("(add {left} {right})"), "(mul ?a (add ?b ?c))", when));
        }
    }
    rows
}

/// What is wrong for NaN, infinities or signed zeros, or in the last bit.
fn fast_math() -> Vec<Row> {
    let mut rows = vec![
        fast(row("fast_add_zero", "(add ?x ?c)", "?x", |m| m.all_are("?c", 0.0))),
        fast(row("fast_zero_sub", "(sub ?c ?x)", "(neg ?x)", |m| m.all_are("?c", 0.0))),
        fast(make("fast_mul_zero", "(mul ?x ?c)", |t, b| constant(t, b, 0), |m| m.all_are("?c", 0.0))),
        fast(make("fast_sub_same", "(sub ?x ?x)", |t, b| constant(t, b, 0), always)),
        fast(make("fast_div_same", "(div ?x ?x)", |t, b| constant(t, b, 1), |m| m.is_float("?x"))),
        fast(make("fast_div_constant", "(div ?x ?c)", mul_by_rounded_reciprocal, |m| m.is_float("?x"))),
        fast(row("fast_square", "(pow ?x ?c)", "(mul ?x ?x)", |m| m.all_are("?c", 2.0))),
        fast(row("fast_root", "(pow ?x ?c)", "(sqrt ?x)", |m| m.all_are("?c", 0.5))),
        fast(row("fast_neg_sub", "(neg (sub ?a ?b))", "(sub ?b ?a)", always)),
        fast(row("fast_add_sub", "(sub (add ?a ?b) ?b)", "?a", always)),
        fast(row("fast_sub_add", "(add (sub ?a ?b) ?b)", "?a", always)),
        fast(make("fast_add_add", "(add (add ?x ?c) ?d)", |t, b| combine(t, b, Elementwise::Add), always)),
        fast(make("fast_mul_mul", "(mul (mul ?x ?c) ?d)", |t, b| combine(t, b, Elementwise::Mul), always)),
    ];
    rows.extend(factoring("fast_factor", always).into_iter().map(fast));
    rows
}

fn is_negative_zero(m: &Match<'_>, variable: &str) -> bool {
    m.splat(variable).is_some_and(|l| l.dtype().is_float() && l.to_f64() == 0.0 && l.to_f64().is_sign_negative())
}

fn all_ones(m: &Match<'_>, variable: &str) -> bool {
    m.splat(variable).is_some_and(|l| l == Literal::from_bits(l.dtype(), u64::MAX))
}

/// A number in the type of the whole pattern.
fn constant(terms: &mut Terms, bound: &Bound<'_>, number: i64) -> Option<Id> {
    let spec = spec(terms, bound.id("?"))?.clone();
    Some(splat(terms, Literal::from_i64(spec.dtype, number), &spec.shape))
}

/// `op(op(x, c), d)` as `op(x, op(c, d))`.
fn combine(terms: &mut Terms, bound: &Bound<'_>, op: Elementwise) -> Option<Id> {
    let [x, c, d] = ["?x", "?c", "?d"].map(|v| bound.id(v));
    let (left, right) = (terms[c].data.splat?, terms[d].data.splat?);
    let shape = spec(terms, x)?.shape.clone();
    let dtype = left.dtype();
    let both = match (op, dtype.is_integer()) {
        (Elementwise::Add, true) => Literal::from_i64(dtype, left.to_i64().wrapping_add(right.to_i64())),
        (Elementwise::Mul, true) => Literal::from_i64(dtype, left.to_i64().wrapping_mul(right.to_i64())),
        (Elementwise::Add, false) => Literal::from_f64(dtype, left.to_f64() + right.to_f64()),
        (Elementwise::Mul, false) => Literal::from_f64(dtype, left.to_f64() * right.to_f64()),
        _ => return None,
    };
    let both = splat(terms, both, &shape);
    Some(add(terms, op.into(), &[x, both]))
}

/// `x / c` as `x * (1 / c)`, where `1 / c` is exact, so that both round the same number.
fn mul_by_reciprocal(terms: &mut Terms, bound: &Bound<'_>) -> Option<Id> {
    let divisor = terms[bound.id("?c")].data.splat?;
    let value = divisor.to_f64();
    let power_of_two = value.is_normal() && value.to_bits() << 12 == 0;
    let exact = Literal::from_f64(divisor.dtype(), 1.0 / value).to_f64() == 1.0 / value && (1.0 / value).is_normal();
    if power_of_two && exact { mul_by_rounded_reciprocal(terms, bound) } else { None }
}

fn mul_by_rounded_reciprocal(terms: &mut Terms, bound: &Bound<'_>) -> Option<Id> {
    let divisor = terms[bound.id("?c")].data.splat?;
    if !divisor.dtype().is_float() {
        return None;
    }
    let x = bound.id("?x");
    let shape = spec(terms, x)?.shape.clone();
    let reciprocal = splat(terms, Literal::from_f64(divisor.dtype(), 1.0 / divisor.to_f64()), &shape);
    Some(add(terms, Elementwise::Mul.into(), &[x, reciprocal]))
}

/// The exponent of a positive power of two.
fn exponent(literal: Literal) -> Option<i64> {
    let value = literal.to_i64();
    (value > 0 && value & (value - 1) == 0).then(|| i64::from(value.trailing_zeros()))
}

fn shift_right(terms: &mut Terms, bound: &Bound<'_>) -> Option<Id> {
    let divisor = terms[bound.id("?c")].data.splat?;
    with_constant(terms, bound, Elementwise::Shr, Literal::from_i64(divisor.dtype(), exponent(divisor)?))
}

fn mask_low(terms: &mut Terms, bound: &Bound<'_>) -> Option<Id> {
    let divisor = terms[bound.id("?c")].data.splat?;
    exponent(divisor)?;
    with_constant(terms, bound, Elementwise::And, Literal::from_i64(divisor.dtype(), divisor.to_i64() - 1))
}

/// `op(x, literal)`.
fn with_constant(terms: &mut Terms, bound: &Bound<'_>, op: Elementwise, literal: Literal) -> Option<Id> {
    let x = bound.id("?x");
    let shape = spec(terms, x)?.shape.clone();
    let literal = splat(terms, literal, &shape);
    Some(add(terms, Op::from(op), &[x, literal]))
}
