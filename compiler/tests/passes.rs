//! Every pass on graphs written by hand: what comes out is written by hand too.

use monograph_compiler::Options;
use monograph_compiler::passes::{canonicalize, cse, dce, empty, fold, optimize, regions};
use monograph_ir::{Error, Graph, text, verify};

fn graph(text: &str) -> Graph {
    text::parse(text, "test").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Runs a pass and the removal of dead code over a graph `@g`, and compares with another by content.
fn check(pass: impl Fn(&Graph) -> Result<Graph, Error>, before: &str, after: &str) {
    let result = pass(&graph(before)).and_then(|g| dce(&g)).unwrap();
    verify(&result).unwrap();
    let expected = dce(&cse(&graph(after)).unwrap()).unwrap();
    assert!(result == expected, "got\n{}\nexpected\n{}", text::print(&result), text::print(&expected));
}

fn everything(graph: &Graph) -> Result<Graph, Error> {
    optimize(graph, &Options::default())
}

#[test]
fn equal_nodes_become_one_and_keep_the_earliest_origin() {
    let before = "graph @g(input %x \"x\": f32[4]) {
  %a = exp %x : f32[4]
  %b = exp %x : f32[4]
  %c = add %a, %b : f32[4]
  return %c \"c\"
}
";
    let result = cse(&graph(before)).unwrap();
    assert_eq!(result.len(), 3);
    let exp = result.nodes()[2].operands[0];
    assert_eq!(result.nodes()[2].operands[1], exp);
    assert_eq!(result.origin(exp.node).to_string(), "test:2:8");
}

#[test]
fn dead_code_goes_and_parameters_stay() {
    check(
        dce,
        "graph @g(input %x \"x\": f32[4], input %y \"y\": f32[2]) {
  %a = exp %y : f32[2]
  %b = neg %x : f32[4]
  return %b \"b\"
}
",
        "graph @g(input %x \"x\": f32[4], input %y \"y\": f32[2]) {
  %b = neg %x : f32[4]
  return %b \"b\"
}
",
    );
}
