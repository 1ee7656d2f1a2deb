//! The textual form: hand-written expectations, and every op there and back.

use monograph_ir::text::{self, MAX_DEPTH, op_names, parse, print};
use monograph_ir::{
    Binding, DType, Elementwise, Graph, Literal, NodeId, Op, Origin, OutputKind, ParamKind, Region, Spec, Type, verify,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn input() -> ParamKind {
    ParamKind::Input(Binding::Copied)
}

/// Message and place of the error of a text.
fn error(text: &str) -> (u32, u32, String) {
    let e = parse(text, "t.mg").expect_err(text);
    assert_eq!(e.file, "t.mg");
    (e.line, e.column, e.message)
}

#[test]
fn a_graph_prints_as_expected() {
    let mut g = Graph::new("mlp");
    let o = || Origin::Unknown;
    let x = g.parameter("x", Spec::new(DType::F32, [64, 784]), input(), o());
    let w = g.parameter("w", Spec::new(DType::F32, [784, 10]), ParamKind::State, o());
    g.parameter("y", Spec::new(DType::F32, [10]), ParamKind::Input(Binding::Bound), o());
    g.parameter("c \"1\"", Spec::new(DType::F32, []), ParamKind::Constant, o());
    let product = g.apply(Op::Matmul { transpose_a: false, transpose_b: false }, &[x, w], o()).unwrap();
    let zero = g.apply(Op::Constant(Literal::zero(DType::F32)), &[], o()).unwrap();
    let zeros = g.apply(Op::Broadcast([64, 10].into()), &[zero], o()).unwrap();
    let relu = g.apply(Elementwise::Maximum, &[product, zeros], o()).unwrap();
    g.parameter("late", Spec::new(DType::I64, [0, 1]), input(), o());
    g.output("out", relu, OutputKind::Result);
    g.output("w", w, OutputKind::State(1));
    g.output("p", product, OutputKind::Probe);
    let expected = r#"graph @mlp(
  input %0 "x": f32[64, 784],
  state %1 "w": f32[784, 10],
  bound %2 "y": f32[10],
  constant %3 "c \"1\"": f32[],
) {
  %4 = matmul %0, %1 : f32[64, 10]
  %5 = constant 0.0 : f32[]
  %6 = broadcast %5 {shape = [64, 10]} : f32[64, 10]
  %7 = maximum %4, %6 : f32[64, 10]
  %8 = parameter input "late" : i64[0, 1]
  return "out" = %7, state "w" = %1, probe "p" = %4
}
"#;
    assert_eq!(print(&g), expected);
    assert_eq!(g.to_string(), expected);
    assert_eq!(parse(expected, "").unwrap(), g);
}

#[test]
fn a_text_parses_as_expected() {
    let g =
        parse("graph @f(%x: f32[2], state %s: i32[],) {\n  %y = neg %x\n return %y, state \"s\" %s as \"t\" }", "f.mg");
    let g = g.unwrap();
    assert_eq!((g.name.as_str(), g.len()), ("f", 3));
    assert_eq!((g.params()[0].name.as_str(), g.params()[0].kind), ("x", input()));
    assert_eq!((g.params()[1].name.as_str(), g.params()[1].kind), ("s", ParamKind::State));
    let neg = g.node(NodeId(2));
    assert_eq!(neg.op, Op::Elementwise(Elementwise::Neg));
    assert_eq!(neg.operands[..], [NodeId(0).value()]);
    assert_eq!(neg.results[..], [Type::Tensor(Spec::new(DType::F32, [2]))]);
    assert_eq!(*g.origin(NodeId(2)), Origin::Text { file: "f.mg".into(), line: 2, column: 8 });
    let outputs: Vec<_> = g.outputs().iter().map(|o| (o.name.as_str(), o.value, o.kind)).collect();
    let expected = [("out0", NodeId(2).value(), OutputKind::Result), ("t", NodeId(1).value(), OutputKind::State(1))];
    assert_eq!(outputs, expected);
}

#[test]
fn equal_nodes_merge_and_names_stay() {
    let g = parse("graph @f(%x: f32[2]) { %a = neg %x %b = neg %x %c = add %a, %b return %c }", "").unwrap();
    assert_eq!(g.len(), 3);
    assert_eq!(g.node(NodeId(2)).operands[..], [NodeId(1).value(), NodeId(1).value()]);
}

#[test]
fn regions_are_printed_once_and_keep_apart_from_the_entry() {
    let body = |name: &str, op: Elementwise| {
        let mut g = Graph::new(name);
        g.parameter("i", Spec::new(DType::I64, []), input(), Origin::Unknown);
        let x = g.parameter("x", Spec::new(DType::F32, []), input(), Origin::Unknown);
        let y = g.apply(op, &[x], Origin::Unknown).unwrap();
        g.output("y", y, OutputKind::Result);
        Region(Arc::new(g))
    };
    let mut g = Graph::new("body");
    let mut x = g.parameter("x", Spec::new(DType::F32, []), input(), Origin::Unknown);
    for (count, region) in [
        (2, body("body", Elementwise::Neg)),
        (3, body("other name", Elementwise::Neg)),
        (4, body("body", Elementwise::Exp)),
    ] {
        x = g.apply(Op::For { count, body: region }, &[x], Origin::Unknown).unwrap();
    }
    g.output("x", x, OutputKind::Result);
    let expected = r#"graph @body.1(input %0 "i": i64[], input %1 "x": f32[]) {
  %2 = neg %1 : f32[]
  return "y" = %2
}

graph @body.2(input %0 "i": i64[], input %1 "x": f32[]) {
  %2 = exp %1 : f32[]
  return "y" = %2
}

graph @body(input %0 "x": f32[]) {
  %1 = fori_loop %0 {count = 2, body = @body.1} : f32[]
  %2 = fori_loop %1 {count = 3, body = @body.1} : f32[]
  %3 = fori_loop %2 {count = 4, body = @body.2} : f32[]
  return "x" = %3
}
"#;
    assert_eq!(print(&g), expected);
    assert_eq!(parse(expected, "").unwrap(), g);
}

/// The examples of `TEXT.md`.
fn examples() -> Vec<String> {
    let page = include_str!("../TEXT.md");
    page.split("```mg\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_string()).collect()
}

#[test]
fn the_pages_examples_parse_and_round_trip() {
    let examples = examples();
    assert_eq!(examples.len(), 13);
    for example in examples {
        let graph = parse(&example, "TEXT.md").unwrap_or_else(|e| panic!("{e}\n{example}"));
        verify(&graph).unwrap();
        assert_eq!(parse(&print(&graph), "").unwrap(), graph, "{example}");
    }
}

#[test]
fn the_page_names_and_shows_every_op() {
    let page = include_str!("../TEXT.md");
    for name in op_names() {
        assert!(page.contains(&format!("`{name}`")), "TEXT.md says nothing of `{name}`");
    }
}

/// One line of text for each op, over parameters of fitting types.
#[test]
fn every_op_is_printed_and_parsed() {
    let mut seen = BTreeSet::from(["parameter"]);
    let mut check = |params: &str, statement: &str| {
        let regions = "graph @c(%x: f32[3]) { %t = constant true : bool[] return %t }
            graph @s(%x: f32[3]) { return %x } graph @l(%i: i64[], %x: f32[3]) { return %x }";
        let text = format!("{regions} graph @f({params}) {{ {statement} return }}");
        let graph = parse(&text, "").unwrap_or_else(|e| panic!("{e}\n{text}"));
        let printed = print(&graph);
        assert_eq!(parse(&printed, "").unwrap(), graph, "{printed}");
        assert!(printed.contains(&format!("{statement}\n")), "{statement}\nis not in\n{printed}");
        seen.insert(graph.nodes().last().unwrap().op.name());
    };
    for e in Elementwise::ALL {
        let dtype = DType::ALL.into_iter().rev().find(|d| e.domain().contains(*d)).unwrap();
        let operands = ["%0", "%0, %1"][e.arity() - 1];
        let params = format!("%0: {dtype}[3], %1: {dtype}[3]");
        check(&params, &format!("%2 = {e} {operands} : {}[3]", e.result(dtype)));
    }
    for (params, statement) in [
        ("", "%0 = constant -1.5 : bf16[]"),
        ("", "%0 = iota {axis = 1} : u8[2, 0]"),
        ("%0: i64[3]", "%1 = random_bits %0 {shape = [2, 0]} : u32[2, 0]"),
        ("%0: bool[3], %1: i8[3]", "%2 = select %0, %1, %1 : i8[3]"),
        ("%0: bool[3]", "%1 = cast %0 {dtype = f64} : f64[3]"),
        ("%0: i64[3]", "%1 = bitcast %0 {dtype = f64} : f64[3]"),
        ("%0: f32[6]", "%1 = reshape %0 {shape = [2, 3]} : f32[2, 3]"),
        ("%0: f32[1]", "%1 = reshape %0 {shape = []} : f32[]"),
        ("%0: f32[2, 3]", "%1 = permute %0 {axes = [1, 0]} : f32[3, 2]"),
        ("%0: f32[1]", "%1 = broadcast %0 {shape = [2, 3]} : f32[2, 3]"),
        ("%0: f32[9]", "%1 = slice %0 {starts = [1], limits = [8]} : f32[7]"),
        ("%0: f32[9]", "%1 = slice %0 {starts = [1], limits = [8], strides = [3]} : f32[3]"),
        ("%0: f32[]", "%1 = slice %0 {starts = [], limits = []} : f32[]"),
        ("%0: f32[3], %1: f32[]", "%2 = pad %0, %1 {low = [-1], high = [2]} : f32[4]"),
        ("%0: f32[3]", "%1 = concat %0, %0 {axis = 0} : f32[6]"),
        ("%0: f32[3]", "%1 = reverse %0 {axes = [0]} : f32[3]"),
        ("%0: f32[3]", "%1 = reduce_sum %0 {axes = [0]} : f32[]"),
        ("%0: f32[3]", "%1 = reduce_prod %0 {axes = []} : f32[3]"),
        ("%0: f32[3]", "%1 = reduce_max %0 {axes = [0]} : f32[]"),
        ("%0: f32[3]", "%1 = reduce_min %0 {axes = [0]} : f32[]"),
        ("%0: bool[3]", "%1 = reduce_any %0 {axes = [0]} : bool[]"),
        ("%0: bool[3]", "%1 = reduce_all %0 {axes = [0]} : bool[]"),
        ("%0: f32[3]", "%1 = argmax %0 {axis = 0} : i64[]"),
        ("%0: f32[3]", "%1 = argmin %0 {axis = 0} : i64[]"),
        ("%0: f32[3]", "%1 = scan_sum %0 {axis = 0} : f32[3]"),
        ("%0: f32[3]", "%1 = scan_prod %0 {axis = 0} : f32[3]"),
        ("%0: f32[3]", "%1 = scan_max %0 {axis = 0} : f32[3]"),
        ("%0: f32[3]", "%1 = scan_min %0 {axis = 0} : f32[3]"),
        ("%0: bool[3]", "%1 = scan_any %0 {axis = 0} : bool[3]"),
        ("%0: bool[3]", "%1 = scan_all %0 {axis = 0} : bool[3]"),
        ("%0: f32[3, 2]", "%1 = argsort %0 {axis = 1} : i64[3, 2]"),
        ("%0: f32[3, 2]", "%1 = argsort %0 {axis = 0, descending = true} : i64[3, 2]"),
        ("%0: i64[3, 2]", "%1 = sort_packed %0 : i64[3, 2]"),
        ("%0: i64[3, 9]", "%1 = digit_counts %0 {shift = 32, tile = 4} : i32[3, 256, 3]"),
        ("%0: i64[3, 9], %1: i32[3, 256, 3]", "%2 = place_by_digit %0, %1 {shift = 32, tile = 4} : i64[3, 9]"),
        ("%0: f32[3], %1: i64[4], %2: f32[4]", "%3 = scatter_sorted_set %0, %1, %2 {axis = 0} : f32[3]"),
        ("%0: f32[3], %1: i64[4], %2: f32[4]", "%3 = scatter_sorted_add %0, %1, %2 {axis = 0} : f32[3]"),
        ("%0: f32[3], %1: i64[4], %2: f32[4]", "%3 = scatter_sorted_max %0, %1, %2 {axis = 0} : f32[3]"),
        ("%0: f32[3], %1: i64[4], %2: f32[4]", "%3 = scatter_sorted_min %0, %1, %2 {axis = 0} : f32[3]"),
        ("%0: f32[3, 2]", "%1 = matmul %0, %0 {transpose_a = true} : f32[2, 2]"),
        ("%0: f32[3, 2]", "%1 = matmul %0, %0 {transpose_b = true} : f32[3, 3]"),
        ("%0: f32[3, 2], %1: f32[4, 3]", "%2 = matmul %0, %1 {transpose_a = true, transpose_b = true} : f32[2, 4]"),
        ("%0: f32[1, 2, 9], %1: f32[3, 2, 4]", "%2 = convolution %0, %1 {strides = [1]} : f32[1, 3, 6]"),
        (
            "%0: i8[1, 2, 3, 3], %1: i8[2, 1, 2, 1]",
            "%2 = convolution %0, %1 {strides = [2, 1], low = [1, 0], high = [0, -1], input_dilation = [2, 1], \
             dilation = [2, 3], groups = 2} : i8[1, 2, 2, 2]",
        ),
        ("%0: f32[3]", "%1 = window_sum %0 {sizes = [2], strides = [1]} : f32[2]"),
        ("%0: f32[3]", "%1 = window_prod %0 {sizes = [2], strides = [1], low = [1]} : f32[3]"),
        ("%0: f32[2, 3]", "%1 = window_max %0 {sizes = [2], strides = [1], high = [1]} : f32[2, 3]"),
        ("%0: f32[]", "%1 = window_min %0 {sizes = [], strides = []} : f32[]"),
        ("%0: bool[3]", "%1 = window_any %0 {sizes = [2], strides = [1], input_dilation = [2]} : bool[4]"),
        ("%0: bool[3]", "%1 = window_all %0 {sizes = [2], strides = [1], dilation = [2]} : bool[1]"),
        ("%0: f32[3]", "%1 = window_argmax %0 {sizes = [2], strides = [1]} : i64[2]"),
        ("%0: f32[3]", "%1 = window_argmin %0 {sizes = [2], strides = [2]} : i64[1]"),
        ("%0: f32[2], %1: i32[2]", "%2 = window_scatter %0, %1 {extents = [3], sizes = [2], strides = [1]} : f32[3]"),
        ("%0: f32[3, 2], %1: i32[4]", "%2 = take %0, %1 {axis = 1} : f32[3, 4]"),
        ("%0: f32[3], %1: i32[4]", "%2 = take_along %0, %1 {axis = 0} : f32[4]"),
        ("%0: f32[3], %1: i32[4], %2: f32[4]", "%3 = scatter_set %0, %1, %2 {axis = 0} : f32[3]"),
        ("%0: f32[3], %1: i32[4], %2: f32[4]", "%3 = scatter_add %0, %1, %2 {axis = 0} : f32[3]"),
        ("%0: f32[3], %1: i32[4], %2: f32[4]", "%3 = scatter_max %0, %1, %2 {axis = 0} : f32[3]"),
        ("%0: f32[3], %1: i32[4], %2: f32[4]", "%3 = scatter_min %0, %1, %2 {axis = 0} : f32[3]"),
        ("%0: f32[3], %1: i64[]", "%2 = dynamic_slice %0, %1 {sizes = [2]} : f32[2]"),
        ("%0: f32[3], %1: i64[], %2: f32[2]", "%3 = dynamic_update_slice %0, %2, %1 : f32[3]"),
        ("%0: f32[3], %1: bool[]", "%2 = cond %1, %0 {then = @s, otherwise = @s} : f32[3]"),
        ("%0: f32[3]", "%1 = while_loop %0 {condition = @c, body = @s} : f32[3]"),
        ("%0: f32[3]", "%1 = fori_loop %0 {count = 18446744073709551615, body = @l} : f32[3]"),
        ("%0: f32[3]", "%1 = nonzero %0 : i64[?]"),
        ("%0: f32[3], %1: bool[3]", "%2 = masked_select %0, %1 : f32[?]"),
        ("%0: f32[3]", "%1 = unique %0 : f32[?]"),
        ("%0: f32[3], %1: i64[3]", "%2 = repeat_interleave %0, %1 : f32[?]"),
        ("%0: i64[]", "%1 = dynamic_range %0 : i64[?]"),
        ("%0: f32[]", "item %0"),
        ("%0: f32[]", "to_vec %0"),
        ("%0: f32[]", "print %0"),
        ("%0: f32[]", "assert %0"),
    ] {
        check(params, statement);
    }
    assert_eq!(op_names().filter(|n| !seen.contains(n)).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn names_of_any_kind_survive() {
    for name in ["", "a b", "%x", "\"quoted\"\n", "ä\0", "\u{7f}", "@"] {
        let mut g = Graph::new(name);
        let param = format!("p{name}");
        let x = g.parameter(&param, Spec::new(DType::F32, []), input(), Origin::Unknown);
        g.output(format!("o{name}"), x, OutputKind::Probe);
        let back = parse(&print(&g), "").unwrap();
        assert_eq!(back, g);
        assert_eq!(back.name, name);
    }
}

#[test]
fn nesting_is_limited() {
    // Each graph holds the one before it twice: 2^n nodes from n lines.
    let mut doubling = "graph @g0(%i: i64[], %x: f32[]) { return %x }\n".to_string();
    let mut chain = doubling.clone();
    for i in 1..100 {
        let body = format!("body = @g{}", i - 1);
        chain +=
            &format!("graph @g{i}(%i: i64[], %x: f32[]) {{ %y = fori_loop %x {{count = 2, {body}}} return %y }}\n");
        doubling += &format!(
            "graph @g{i}(%i: i64[], %x: f32[]) {{ %y = fori_loop %x {{count = 2, {body}}} \
             %z = fori_loop %y {{count = 3, {body}}} return %z }}\n"
        );
    }
    let (line, _, message) = error(&chain);
    assert_eq!((line, message), (MAX_DEPTH + 1, "more than 64 graphs inside each other".into()));
    let (_, _, message) = error(&doubling);
    assert_eq!(message, "the graphs inside ops stand for more than 1048576 nodes");
    let legal: String = chain.lines().take(64).map(|l| format!("{l}\n")).collect();
    let graph = parse(&legal, "").unwrap();
    assert_eq!(parse(&text::print(&graph), "").unwrap(), graph);
}

#[test]
fn large_texts_take_linear_time() {
    let mut text = "graph @long(%x0: f32[2]) {\n".to_string();
    for i in 1..=50_000 {
        text += &format!("  %x{i} = add %x{}, %x{}\n", i - 1, i / 2);
    }
    text += "  return %x50000\n}\n";
    let graph = parse(&text, "").unwrap();
    assert_eq!(graph.len(), 50_001);
    assert_eq!(parse(&print(&graph), "").unwrap(), graph);
}
