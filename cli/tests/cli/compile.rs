//! `compile`: what is emitted, and where it goes.

use crate::tool::{Folder, tool, tool_with};

#[test]
fn the_summary_is_the_default() {
    let summary = tool(&["compile", "softmax.mg"]).fine();
    assert_eq!(summary, tool(&["compile", "softmax.mg", "--emit", "summary", "--target", "sm_90a"]).fine());
    assert!(summary.starts_with("softmax: ") && summary.contains("sm_90a"), "{summary}");
}

#[test]
fn the_ir_is_a_program_again() {
    for program in ["mlp.mg", "softmax.mg", "embedding.mg", "counter.mg", "dtypes.mg", "empty.mg"] {
        let ir = tool(&["compile", program, "--emit", "ir"]).fine();
        let again = tool_with(&["compile", "-", "--emit", "ir"], ir.as_bytes()).fine();
        assert_eq!(ir, again, "{program}");
    }
    let ir = tool(&["compile", "softmax.mg", "--emit", "ir", "--no-optimize"]).fine();
    assert!(ir.contains("= div %"), "{ir}");
}

#[test]
fn plan_dot_and_cuda_are_what_they_say() {
    let plan = tool(&["compile", "mlp.mg", "--emit", "plan", "--target", "sm_80"]).json();
    assert_eq!(plan["target"]["arch"], "sm_80");
    assert_eq!(plan["inputs"][0]["name"], "x");
    assert_eq!(plan["constants"].as_array().unwrap().len(), 4);
    let dot = tool(&["compile", "mlp.mg", "--emit", "dot"]).fine();
    assert!(dot.starts_with("digraph") && dot.contains(" -> ") && dot.ends_with("}\n"), "{dot}");
    let cuda = tool(&["compile", "mlp.mg", "--emit", "cuda", "--target", "sm_80"]).fine();
    assert!(cuda.contains("--gpu-architecture=sm_80"), "{cuda}");
    for kernel in plan["kernels"].as_array().unwrap() {
        let symbol = kernel["variants"][0]["symbol"].as_str().unwrap();
        assert!(cuda.contains(symbol), "{symbol} is not in\n{cuda}");
    }
}

#[test]
fn unfused_programs_launch_more() {
    let launches = |arguments: &[&str]| {
        let json = tool(&[&["compile", "softmax.mg", "--json"], arguments].concat()).json();
        json["launches"].as_u64().unwrap()
    };
    assert!(launches(&["--no-fuse", "--no-optimize"]) > launches(&[]));
}

#[test]
fn the_same_program_compiles_to_the_same_plan() {
    let plan = || tool(&["compile", "mlp.mg", "--emit", "plan"]).fine();
    assert_eq!(plan(), plan());
}

#[test]
fn files_are_written_whole() {
    let folder = Folder::new();
    let one = folder.path("mlp.txt");
    assert_eq!(tool(&["compile", "mlp.mg", "--output", &one]).fine(), "");
    assert_eq!(std::fs::read_to_string(&one).unwrap(), tool(&["compile", "mlp.mg"]).fine());
    let several = folder.path("mlp");
    assert_eq!(tool(&["compile", "mlp.mg", "-e", "ir,plan", "-e", "cuda", "-o", &several]).fine(), "");
    assert_eq!(folder.names(), ["mlp.cu", "mlp.json", "mlp.mg", "mlp.txt"]);
    tool(&["compile", "mlp.mg", "-o", &folder.path("no/such/mlp.txt")])
        .fails(2, &["no/such/mlp.txt cannot be written"]);
}

#[test]
fn several_kinds_have_headings_and_times_are_said() {
    let text = tool(&["compile", "mlp.mg", "-e", "dot,ir,dot"]).fine();
    let headings: Vec<&str> = text.lines().filter(|l| l.starts_with("==>")).collect();
    assert_eq!(headings, ["==> dot <==", "==> ir <=="]);
    let outcome = tool(&["compile", "mlp.mg", "--timings"]);
    assert!(
        outcome.code == 0 && outcome.err.contains("verify plan") && outcome.err.contains("total"),
        "{}",
        outcome.err
    );
    let json = tool(&["compile", "mlp.mg", "--json", "-e", "ir"]).json();
    assert!(json["milliseconds"]["verify"].is_number());
    assert!(json["emit"]["ir"].as_str().unwrap().starts_with("graph @mlp("));
}

#[test]
fn unknown_kinds_and_targets_are_wrong_usage() {
    tool(&["compile", "mlp.mg", "--emit", "cudda"]).fails(2, &["cudda", "ir, plan, cuda, dot, summary", "'cuda'"]);
    tool(&["compile", "mlp.mg", "--target", "sm90a"]).fails(2, &["did you mean `sm_90a`?", "sm_80"]);
    tool(&["compile", "mlp.mg", "--target", "h100"]).fails(2, &["The targets are"]);
}
