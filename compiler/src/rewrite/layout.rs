//! The rules of shapes: views meet and cancel, work moves below a broadcast, transposes go into matrix products.

use super::rule::{Bound, Row, When, always, list, make, row, spec, splat};
use super::term::{Terms, add};
use crate::passes::views;
use egg::Id;
use monograph_ir::{Axes, Elementwise, Op, Reduction, Shape};

/// The rows, in the order in which they are tried.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = vec![
        row("reshape_same", "(reshape ?s ?x)", "?x", |m| m.same_shape("?x", "?")),
        row("broadcast_same", "(broadcast ?s ?x)", "?x", |m| m.same_shape("?x", "?")),
        row("permute_same", "(permute ?p ?x)", "?x", |m| m.list("?p").is_some_and(|p| p.is_sorted())),
        row("cast_same", "(cast ?d ?x)", "?x", |m| m.dtype("?x") == m.dtype("?")),
        row("reshape_reshape", "(reshape ?s (reshape ?t ?x))", "(reshape ?s ?x)", always),
        row("broadcast_broadcast", "(broadcast ?s (broadcast ?t ?x))", "(broadcast ?s ?x)", always),
        make("permute_permute", "(permute ?p (permute ?q ?x))", permute_permute, always),
        make("permute_matmul", "(permute ?p (matmul ?f ?a ?b))", permute_matmul, always),
        make("matmul_permute_left", "(matmul ?f (permute ?p ?a) ?b)", |t, b| matmul_permute(t, b, 0), always),
        make("matmul_permute_right", "(matmul ?f ?a (permute ?p ?b))", |t, b| matmul_permute(t, b, 1), always),
    ];
    for &kind in Reduction::ALL {
        rows.extend(reductions(kind));
    }
    for view in ["broadcast", "permute", "reshape"] {
        // Below a broadcast there is less work; the other views only move, so that they may meet another of their kind.
        let when: When = if view == "broadcast" { |m| m.is_smaller("?a") } else { always };
        rows.extend(below(view, when));
    }
    rows
}

/// Reductions of reductions, and of broadcasts where repeating an element changes nothing.
fn reductions(kind: Reduction) -> Vec<Row> {
    let name = format!("reduce_{kind}");
    let idempotent = matches!(kind, Reduction::Max | Reduction::Min | Reduction::Any | Reduction::All);
    // Sums and products of floats depend on the order.
    let exact: When = if idempotent { always } else { |m| m.is_integer("?x") };
    let twice = format!("({name} ?p ({name} ?q ?x))");
    let mut rows = vec![make(format!("{name}_twice"), twice, move |t, b| reduce_reduce(t, b, kind), exact)];
    if idempotent {
        let from = format!("({name} ?p (broadcast ?s ?x))");
        rows.push(make(format!("{name}_broadcast"), from, move |t, b| reduce_broadcast(t, b, kind), always));
    }
    rows
}

/// Element-wise ops over operands that all come through one view become the view of the op.
fn below(view: &'static str, when: When) -> Vec<Row> {
    let rule =
        |op: &str, from: String, to: String| row(format!("{view}_below_{op}"), from, format!("({view} ?s {to})"), when);
    let through = |variable: &str| format!("({view} ?s {variable})");
    let [a, b, c] = ["?a", "?b", "?c"].map(through);
    let mut rows = vec![
        rule("cast", format!("(cast ?d {a})"), "(cast ?d ?a)".into()),
        rule("select", format!("(select {a} {b} {c})"), "(select ?a ?b ?c)".into()),
    ];
    for &op in Elementwise::ALL {
        let name = op.name();
        if op.arity() == 1 {
            rows.push(rule(name, format!("({name} {a})"), format!("({name} ?a)")));
            continue;
        }
        rows.push(rule(name, format!("({name} {a} {b})"), format!("({name} ?a ?b)")));
        // A tensor of one value comes through any view.
        for (side, title) in ["left", "right"].into_iter().enumerate() {
            let from = if side == 0 { format!("({name} {a} ?c)") } else { format!("({name} ?c {a})") };
            rows.push(make(
                format!("{view}_below_{name}_{title}"),
                from,
                move |t, b| with_splat(t, b, view, op, side),
                when,
            ));
        }
    }
    rows
}

/// `op(view(a), c)`, or with its sides exchanged, as `view(op(a, c))` for a `c` of one value.
fn with_splat(terms: &mut Terms, bound: &Bound<'_>, view: &str, op: Elementwise, side: usize) -> Option<Id> {
    let literal = terms[bound.id("?c")].data.splat?;
    let to = list(terms, bound.id("?s"))?;
    let a = bound.id("?a");
    let shape = spec(terms, a)?.shape.clone();
    let c = splat(terms, literal, &shape);
    let inner = add(terms, op.into(), &if side == 0 { [a, c] } else { [c, a] });
    let view = match view {
        "permute" => Op::Permute(to),
        "reshape" => Op::Reshape(to[..].into()),
        _ => Op::Broadcast(to[..].into()),
    };
    Some(add(terms, view, &[inner]))
}

fn permute_permute(terms: &mut Terms, bound: &Bound<'_>) -> Option<Id> {
    let (outer, inner) = (list(terms, bound.id("?p"))?, list(terms, bound.id("?q"))?);
    let both = views::permute_twice(&inner, &outer);
    Some(add(terms, Op::Permute(both), &[bound.id("?x")]))
}

fn flags(terms: &Terms, bound: &Bound<'_>) -> Option<[bool; 2]> {
    let flags = list(terms, bound.id("?f"))?;
    Some([*flags.first()? != 0, *flags.get(1)? != 0])
}

/// `(A B)ᵀ = Bᵀ Aᵀ`: the same products, added in the same order.
fn permute_matmul(terms: &mut Terms, bound: &Bound<'_>) -> Option<Id> {
    let [a, b] = flags(terms, bound)?;
    views::swaps_last_two(&list(terms, bound.id("?p"))?).then_some(())?;
    Some(add(terms, Op::Matmul { transpose_a: !b, transpose_b: !a }, &[bound.id("?b"), bound.id("?a")]))
}

fn matmul_permute(terms: &mut Terms, bound: &Bound<'_>, side: usize) -> Option<Id> {
    let mut flags = flags(terms, bound)?;
    views::swaps_last_two(&list(terms, bound.id("?p"))?).then_some(())?;
    flags[side] = !flags[side];
    Some(add(terms, Op::Matmul { transpose_a: flags[0], transpose_b: flags[1] }, &[bound.id("?a"), bound.id("?b")]))
}

fn reduce_reduce(terms: &mut Terms, bound: &Bound<'_>, kind: Reduction) -> Option<Id> {
    let (outer, inner) = (list(terms, bound.id("?p"))?, list(terms, bound.id("?q"))?);
    let x = bound.id("?x");
    let kept: Axes = (0..spec(terms, x)?.shape.rank()).filter(|i| !inner.contains(i)).collect();
    let mut axes: Axes = outer.iter().map(|&i| kept[i]).chain(inner).collect();
    axes.sort_unstable();
    Some(add(terms, Op::Reduce { kind, axes }, &[x]))
}

/// Reduces only the dimensions along which the elements differ, and repeats the rest again.
fn reduce_broadcast(terms: &mut Terms, bound: &Bound<'_>, kind: Reduction) -> Option<Id> {
    let axes = list(terms, bound.id("?p"))?;
    let to = list(terms, bound.id("?s"))?;
    let x = bound.id("?x");
    let from = spec(terms, x)?.shape.clone();
    let missing = to.len() - from.rank();
    let to = Shape::from(&to[..]);
    if !axes.iter().any(|&a| views::repeats(&from, &to)[a]) {
        return None;
    }
    let inner: Axes = axes.iter().filter(|&&a| a >= missing).map(|a| a - missing).collect();
    let reduced = if inner.is_empty() { x } else { add(terms, Op::Reduce { kind, axes: inner }, &[x]) };
    let shape = views::without(&to, &axes);
    Some(add(terms, Op::Broadcast(shape), &[reduced]))
}
