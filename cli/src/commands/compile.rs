//! `monograph compile`: what a program compiles to.

use super::{Output, say};
use crate::args::{Compile, Emit};
use crate::failure::{Failure, pretty};
use crate::file::write_atomically;
use crate::program::Loaded;
use monograph_compiler::schedule::plan_dot;
use monograph_compiler::{Stages, compile_timed, max_live, passes, summary};
use monograph_ir::plan::{Plan, Region};
use monograph_ir::{Target, text};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Compiles to source, and shows or writes what was asked for.
pub(super) fn compile(args: &Compile) -> Result<Output, Failure> {
    let program = Loaded::read(&args.file)?;
    let target = Target::of_arch(&args.target);
    let options = args.tuning.options();
    let (plan, stages) =
        compile_timed(&program.graph, &target, &options, None).map_err(|error| program.failure(error))?;
    if args.timings && !args.json {
        say(&stages.to_string());
    }
    let kinds = distinct(&args.emit);
    let mut texts = Vec::new();
    for &kind in &kinds {
        texts.push(match kind {
            Emit::Ir => {
                let graph = passes::optimize(&program.graph, &options).map_err(|error| program.failure(error))?;
                text::print(&graph)
            }
            Emit::Plan => pretty(&to_json(&plan)?),
            Emit::Cuda => cuda(&plan),
            Emit::Dot => plan_dot(&plan),
            Emit::Summary => summary(&plan),
        });
    }
    if args.json {
        return json_answer(&plan, &stages, &kinds, texts).map(Output::from);
    }
    let Some(output) = &args.output else { return Ok(to_stdout(&kinds, &texts).into()) };
    for (kind, text) in kinds.iter().zip(&texts) {
        let mut path = output.as_os_str().to_owned();
        if kinds.len() > 1 {
            path.push(".");
            path.push(kind.extension());
        }
        write_atomically(&PathBuf::from(path), |out| out.write_all(text.as_bytes()))?;
    }
    Ok(String::new().into())
}

fn distinct(kinds: &[Emit]) -> Vec<Emit> {
    let mut result: Vec<Emit> = Vec::new();
    for &kind in kinds {
        if !result.contains(&kind) {
            result.push(kind);
        }
    }
    result
}

/// One text as it is, so that it can be piped; several under headings.
fn to_stdout(kinds: &[Emit], texts: &[String]) -> String {
    match texts {
        [one] => one.clone(),
        _ => kinds.iter().zip(texts).map(|(kind, text)| format!("==> {} <==\n{text}\n", kind.name())).collect(),
    }
}

fn to_json(plan: &Plan) -> Result<Value, Failure> {
    serde_json::to_value(plan).map_err(|e| Failure::usage(format!("the plan cannot be written as JSON: {e}")))
}

/// The source of every program, under a line that names it.
fn cuda(plan: &Plan) -> String {
    let mut text = String::new();
    for program in &plan.programs {
        text += &format!(
            "// {}: nvrtc --gpu-architecture={} {}\n",
            program.name,
            plan.target.arch,
            program.options.join(" ")
        );
        text += program.source.trim_end();
        text += "\n\n";
    }
    if plan.programs.is_empty() {
        text += "// The program launches nothing.\n";
    }
    text
}

fn json_answer(plan: &Plan, stages: &Stages, kinds: &[Emit], texts: Vec<String>) -> Result<String, Failure> {
    let bytes = |region| plan.region_bytes(region);
    let times: Map<String, Value> =
        stages.0.iter().map(|s| (s.name.to_string(), json!(s.time.as_secs_f64() * 1e3))).collect();
    let mut emitted = Map::new();
    for (kind, text) in kinds.iter().zip(texts) {
        let value = if *kind == Emit::Plan { to_json(plan)? } else { Value::from(text) };
        emitted.insert(kind.name().to_string(), value);
    }
    Ok(pretty(&json!({
        "ok": true,
        "name": plan.name,
        "target": plan.target.arch,
        "launches": plan.launches.len(),
        "edges": plan.edges.len(),
        "kernels": plan.kernels.len(),
        "programs": plan.programs.len(),
        "bytes": {
            "arena": bytes(Region::Arena),
            "arena_max_live": max_live(plan),
            "inputs": bytes(Region::Inputs),
            "constants": bytes(Region::Constants),
            "states": bytes(Region::States),
        },
        "milliseconds": times,
        "emit": emitted,
    })))
}
