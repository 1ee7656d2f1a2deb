//! Every pass on graphs written by hand: what comes out is written by hand too.

use monograph_compiler::Options;
use monograph_compiler::passes::{NODE_LIMIT, canonicalize, cse, dce, empty, fold, optimize, regions};
use monograph_ir::{Error, Graph, text, verify};

#[track_caller]
fn parse(text: &str) -> Graph {
    text::parse(text, "test").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[track_caller]
fn graph(params: &str, body: &str) -> Graph {
    parse(&format!("graph @g({params}) {{\n{body}\n return \"r\" = %r\n}}\n"))
}

#[track_caller]
fn same(result: &Graph, expected: &Graph) {
    verify(result).unwrap();
    assert!(result == expected, "got\n{}\nexpected\n{}", text::print(result), text::print(expected));
}

/// Runs a pass and the removal of dead code, and compares by content. The result of a body is `%r`.
#[track_caller]
fn check(pass: impl Fn(&Graph) -> Result<Graph, Error>, params: &str, before: &str, after: &str) {
    let result = pass(&graph(params, before)).and_then(|g| dce(&g)).unwrap();
    same(&result, &graph(params, after));
}

/// [`check`] for a body that becomes the first parameter.
#[track_caller]
fn vanishes(pass: impl Fn(&Graph) -> Result<Graph, Error>, params: &str, before: &str) {
    let result = pass(&graph(params, before)).and_then(|g| dce(&g)).unwrap();
    verify(&result).unwrap();
    assert_eq!(result.outputs()[0].value, result.param_value(0), "{}", text::print(&result));
}

fn everything(graph: &Graph) -> Result<Graph, Error> {
    optimize(graph, &Options::default())
}

const X: &str = r#"input %x "x": f32[2, 3]"#;
const XY: &str = r#"input %x "x": f32[2, 3], input %y "y": f32[2, 3]"#;

#[test]
fn equal_nodes_become_one_and_keep_the_earliest_origin() {
    let result = cse(&graph(X, " %a = exp %x\n %b = neg %x\n %c = exp %x\n %r = add %a, %c")).unwrap();
    assert_eq!(result.len(), 4);
    let exp = result.nodes()[3].operands[0];
    assert_eq!(result.nodes()[3].operands[1], exp);
    assert_eq!(result.origin(exp.node).to_string(), "test:2:7");
}

#[test]
fn dead_code_goes_and_parameters_stay() {
    check(dce, XY, "%a = exp %y\n %r = neg %x", "%r = neg %x");
    assert_eq!(dce(&graph(XY, "%r = neg %x")).unwrap().params().len(), 2);
}

#[test]
fn constants_stand_at_the_right() {
    let constant = "%k = constant 2 : f32[]\n %c = broadcast %k {shape = [2, 3]}\n";
    check(canonicalize, X, &format!("{constant} %r = mul %c, %x"), &format!("{constant} %r = mul %x, %c"));
    check(canonicalize, XY, "%r = add %y, %x", "%r = add %x, %y");
    check(canonicalize, XY, "%r = sub %y, %x", "%r = sub %y, %x");
}

#[test]
fn views_that_change_nothing_go() {
    for body in [
        "%r = reshape %x {shape = [2, 3]}",
        "%a = reshape %x {shape = [6]}\n %r = reshape %a {shape = [2, 3]}",
        "%r = permute %x {axes = [0, 1]}",
        "%a = permute %x {axes = [1, 0]}\n %r = permute %a {axes = [1, 0]}",
        "%r = slice %x {starts = [0, 0], limits = [2, 3]}",
        "%r = broadcast %x {shape = [2, 3]}",
        "%k = constant 0 : f32[]\n %r = pad %x, %k {low = [0, 0], high = [0, 0]}",
        "%r = concat %x {axis = 0}",
        "%a = reverse %x {axes = [0, 1]}\n %b = reverse %a {axes = [1]}\n %r = reverse %b {axes = [0]}",
        "%r = reduce_max %x {axes = []}",
        "%r = cast %x {dtype = f32}",
        "%a = cast %x {dtype = f64}\n %r = cast %a {dtype = f32}",
        "%r = bitcast %x {dtype = f32}",
        "%a = bitcast %x {dtype = i32}\n %r = bitcast %a {dtype = f32}",
        "%a = neg %x\n %r = neg %a",
        "%a = concat %x, %x {axis = 0}\n %r = slice %a {starts = [2, 0], limits = [4, 3]}",
    ] {
        vanishes(canonicalize, X, body);
    }
}

#[test]
fn views_compose() {
    let rank3 = r#"input %x "x": f32[2, 3, 4]"#;
    check(
        canonicalize,
        rank3,
        "%a = permute %x {axes = [2, 0, 1]}\n %r = permute %a {axes = [1, 0, 2]}",
        "%r = permute %x {axes = [0, 2, 1]}",
    );
    check(
        canonicalize,
        r#"input %x "x": f32[10]"#,
        "%a = slice %x {starts = [1], limits = [10], strides = [2]}\n \
         %r = slice %a {starts = [1], limits = [5], strides = [3]}",
        "%r = slice %x {starts = [3], limits = [10], strides = [6]}",
    );
    check(
        canonicalize,
        r#"input %x "x": f32[3]"#,
        "%a = reshape %x {shape = [1, 3]}\n %b = broadcast %a {shape = [2, 3]}\n %r = broadcast %b {shape = [4, 2, 3]}",
        "%r = broadcast %x {shape = [4, 2, 3]}",
    );
    // Moving an extent of 1 is no transposition.
    let column = r#"input %x "x": f32[3, 1]"#;
    check(canonicalize, column, "%r = permute %x {axes = [1, 0]}", "%r = reshape %x {shape = [1, 3]}");
    check(canonicalize, X, "%r = reverse %x {axes = [1]}", "%r = reverse %x {axes = [1]}");
    check(
        canonicalize,
        X,
        "%k = constant 0 : f32[]\n %r = pad %x, %k {low = [-1, 0], high = [0, -2]}",
        "%r = slice %x {starts = [1, 0], limits = [2, 1]}",
    );
}

#[test]
fn work_comes_before_a_broadcast() {
    let params = r#"input %x "x": f32[3], input %y "y": f32[3], input %z "z": f32[2, 1]"#;
    let constant = "%k = constant 2 : f32[]\n";
    check(
        canonicalize,
        params,
        &format!(
            "{constant} %c = broadcast %k {{shape = [2, 3]}}\n %a = broadcast %x {{shape = [2, 3]}}\n \
             %b = broadcast %y {{shape = [2, 3]}}\n %d = mul %a, %c\n %r = sub %d, %b"
        ),
        &format!(
            "{constant} %c = broadcast %k {{shape = [3]}}\n %d = mul %x, %c\n %e = sub %d, %y\n \
             %r = broadcast %e {{shape = [2, 3]}}"
        ),
    );
    let apart = "%a = broadcast %x {shape = [2, 3]}\n %b = broadcast %z {shape = [2, 3]}\n %r = add %a, %b";
    check(canonicalize, params, apart, apart);
}

#[test]
fn only_exact_casts_are_skipped() {
    let int = r#"input %x "x": i32[4]"#;
    check(canonicalize, int, "%a = cast %x {dtype = i64}\n %r = cast %a {dtype = i8}", "%r = cast %x {dtype = i8}");
    // Through f64 it saturates, directly it wraps.
    let saturating = "%a = cast %x {dtype = f64}\n %r = cast %a {dtype = i8}";
    check(canonicalize, int, saturating, saturating);
    let rounding = "%a = cast %x {dtype = bf16}\n %r = cast %a {dtype = f32}";
    check(canonicalize, X, rounding, rounding);
}

#[test]
fn a_float_sum_of_one_element_stays() {
    let one = r#"input %x "x": f32[2, 1]"#;
    // It turns -0 into +0.
    check(canonicalize, one, "%r = reduce_sum %x {axes = [1]}", "%r = reduce_sum %x {axes = [1]}");
    check(canonicalize, one, "%r = reduce_max %x {axes = [1]}", "%r = reshape %x {shape = [2]}");
}

#[test]
fn transposes_become_flags() {
    let params = r#"input %a "a": f32[5, 3, 2], input %b "b": f32[5, 4, 3]"#;
    check(
        canonicalize,
        params,
        "%t = permute %a {axes = [0, 2, 1]}\n %u = permute %b {axes = [0, 2, 1]}\n %r = matmul %t, %u",
        "%r = matmul %a, %b {transpose_a = true, transpose_b = true}",
    );
}

#[test]
fn constants_fold() {
    check(fold, X, "%a = constant 2 : f32[]\n %b = constant 3 : f32[]\n %r = mul %a, %b", "%r = constant 6 : f32[]");
    check(
        fold,
        X,
        "%k = constant -1 : i32[]\n %a = broadcast %k {shape = [1000, 1000]}\n %b = abs %a\n \
         %c = permute %b {axes = [1, 0]}\n %r = reduce_max %c {axes = [0]}",
        "%k = constant 1 : i32[]\n %r = broadcast %k {shape = [1000]}",
    );
    // The elements of an iota are known one by one.
    check(
        fold,
        X,
        "%i = iota {axis = 0} : i32[5]\n %j = mul %i, %i\n %k = slice %j {starts = [3], limits = [4]}\n \
         %r = reshape %k {shape = []}",
        "%r = constant 9 : i32[]",
    );
    check(fold, X, "%i = iota {axis = 0} : i32[5]\n %r = reduce_sum %i {axes = [0]}", "%r = constant 10 : i32[]");
}

#[test]
fn a_constant_mask_selects() {
    for (mask, side) in [("true", 0), ("false", 1)] {
        let body =
            format!("%k = constant {mask} : bool[]\n %m = broadcast %k {{shape = [2, 3]}}\n %r = select %m, %x, %y");
        let result = fold(&graph(XY, &body)).unwrap();
        assert_eq!(result.outputs()[0].value, result.param_value(side));
    }
}

#[test]
fn large_work_is_not_folded() {
    let body = "%k = constant 0.1 : f32[]\n %a = broadcast %k {shape = [1000]}\n %r = reduce_sum %a {axes = [0]}";
    check(fold, X, body, body);
    let iota = "%i = iota {axis = 0} : i32[1000]\n %r = reduce_sum %i {axes = [0]}";
    check(fold, X, iota, iota);
}

#[test]
fn empty_operands_give_what_they_contribute() {
    let params = r#"input %x "x": f32[0, 3], input %y "y": f32[2, 3], input %i "i": i32[0], input %j "j": i32[2]"#;
    let zeros = |shape: &str| format!("%k = constant 0 : f32[]\n %r = broadcast %k {{shape = {shape}}}");
    check(empty, params, "%r = exp %x", &zeros("[0, 3]"));
    check(empty, params, "%r = reduce_sum %x {axes = [0]}", &zeros("[3]"));
    check(empty, params, "%r = reduce_prod %x {axes = [0, 1]}", "%r = constant 1 : f32[]");
    check(empty, params, "%r = matmul %x, %x {transpose_a = true}", &zeros("[3, 3]"));
    check(empty, params, "%r = take %x, %j {axis = 0}", &zeros("[2, 3]"));
    check(
        empty,
        params,
        "%k = constant 7 : f32[]\n %r = pad %x, %k {low = [1, 0], high = [1, 0]}",
        "%k = constant 7 : f32[]\n %r = broadcast %k {shape = [2, 3]}",
    );
    check(empty, params, "%r = concat %x, %y, %x, %y {axis = 0}", "%r = concat %y, %y {axis = 0}");
    let base = r#"input %y "y": f32[2, 3], input %x "x": f32[0, 3], input %i "i": i32[0], input %z "z": i32[]"#;
    vanishes(empty, base, "%r = concat %x, %y {axis = 0}");
    vanishes(empty, base, "%r = scatter_add %y, %i, %x {axis = 0}");
    vanishes(empty, base, "%r = dynamic_update_slice %y, %x, %z, %z");
    check(empty, base, "%r = scan_sum %x {axis = 0}", &zeros("[0, 3]"));
}

#[test]
fn pure_branches_become_a_select() {
    let text = "
graph @double(input %x \"x\": f32[2, 3]) {
  %r = add %x, %x
  return \"r\" = %r
}

graph @same(input %x \"x\": f32[2, 3]) {
  return \"r\" = %x
}

graph @g(input %p \"p\": bool[], input %x \"x\": f32[2, 3]) {
  %r = cond %p, %x {then = @double, otherwise = @same}
  return \"r\" = %r
}
";
    let expected = graph(
        r#"input %p "p": bool[], input %x "x": f32[2, 3]"#,
        "%a = add %x, %x\n %m = broadcast %p {shape = [2, 3]}\n %r = select %m, %a, %x",
    );
    same(&regions(&parse(text)).unwrap(), &expected);
}

/// A loop of `count` rounds around a loop of three.
fn nested(count: &str) -> Graph {
    parse(&format!(
        "
graph @inner(input %i \"i\": i64[], input %s \"s\": i64[]) {{
  %r = add %s, %i
  return \"r\" = %r
}}

graph @outer(input %i \"i\": i64[], input %s \"s\": i64[]) {{
  %r = fori_loop %s {{count = 3, body = @inner}}
  return \"r\" = %r
}}

graph @g(input %s \"s\": i64[]) {{
  %r = fori_loop %s {{count = {count}, body = @outer}}
  return \"r\" = %r
}}
"
    ))
}

#[test]
fn loops_are_unrolled() {
    let one = r#"input %s "s": i64[]"#;
    let round = "%a = constant 0 : i64[]\n %s0 = add %s, %a\n %b = constant 1 : i64[]\n %s1 = add %s0, %b\n \
                 %c = constant 2 : i64[]\n %r = add %s1, %c";
    let result = regions(&nested("1")).unwrap();
    same(&result, &graph(one, round));
    // 0 + 1 + 2, twice.
    same(&everything(&nested("2")).unwrap(), &graph(one, "%k = constant 6 : i64[]\n %r = add %s, %k"));
}

#[test]
fn loops_without_end_are_an_error_and_idle_ones_end() {
    match regions(&nested("1000000000000")) {
        Err(Error::TooManyNodes { limit, .. }) => assert_eq!(limit, NODE_LIMIT),
        other => panic!("{:?}", other.map(|g| g.len())),
    }
    let idle = "
graph @body(input %i \"i\": i64[], input %s \"s\": f32[]) {
  return \"s\" = %s
}

graph @g(input %s \"s\": f32[]) {
  %r = fori_loop %s {count = 1000000000000000, body = @body}
  return \"r\" = %r
}
";
    let result = regions(&parse(idle)).unwrap();
    assert_eq!(result.outputs()[0].value, result.param_value(0));
}

#[test]
fn what_must_be_rejected_before_is_a_defect() {
    let result = regions(&graph(X, "%r = nonzero %x"));
    assert!(matches!(result, Err(Error::Internal(_))));
}

#[test]
fn without_optimization_regions_and_empty_tensors_still_go() {
    let mut options = Options::default();
    options.optimize = false;
    let result = optimize(&nested("2"), &options).unwrap();
    assert!(result.nodes().iter().all(|n| n.op.regions().is_empty()));
    let kept = graph(X, "%a = neg %x\n %r = neg %a");
    same(&optimize(&kept, &options).unwrap(), &kept);
    let empty = optimize(&graph(r#"input %x "x": f32[0]"#, "%a = exp %x\n %r = reduce_sum %a {axes = [0]}"), &options);
    same(&empty.unwrap(), &graph(r#"input %x "x": f32[0]"#, "%r = constant 0 : f32[]"));
}

#[test]
fn the_passes_work_together() {
    check(
        everything,
        XY,
        "%one = constant 1 : f32[]\n %ones = broadcast %one {shape = [2, 3]}\n %a = mul %ones, %x\n \
         %t = permute %a {axes = [1, 0]}\n %e = exp %t\n %u = permute %e {axes = [1, 0]}\n \
         %f = exp %x\n %r = add %u, %f",
        "%e = exp %x\n %r = add %e, %e",
    );
}
