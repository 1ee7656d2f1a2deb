//! `monograph explain`: what a code means, and what to do.

use super::Output;
use crate::args::Explain;
use crate::failure::{Failure, pretty};
use crate::suggest::closest;
use monograph_compiler::diagnostics::{Explanation, codes, explain as explanation_of};
use monograph_ir::Code;
use serde_json::{Value, json};

/// Explains one code, or lists all.
pub(super) fn explain(args: &Explain) -> Result<Output, Failure> {
    let Some(text) = &args.code else {
        let all = || codes::codes().filter_map(explanation_of);
        return Ok(Output::from(match args.json {
            true => pretty(&Value::Array(all().map(to_json).collect())),
            false => all().map(|e| format!("{}  {}\n", e.code, e.title)).collect(),
        }));
    };
    let explanation = parse(text).and_then(explanation_of).ok_or_else(|| unknown(text))?;
    Ok(Output::from(if args.json { pretty(&to_json(explanation)) } else { to_text(explanation) }))
}

/// `MG0301`, `mg0301`, `0301` or `301`.
fn parse(text: &str) -> Option<Code> {
    let digits = text.strip_prefix("MG").or_else(|| text.strip_prefix("mg")).unwrap_or(text);
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok().map(Code)).flatten()
}

fn unknown(text: &str) -> Failure {
    let all: Vec<String> = codes::codes().map(|c| c.to_string()).collect();
    let failure = Failure::usage(format!("there is no code `{text}`"));
    let failure = match closest(text, all.iter().map(String::as_str)) {
        Some(guess) => failure.help(format!("did you mean `{guess}`?")),
        None => failure,
    };
    failure.help("`monograph explain` lists all codes")
}

fn to_text(e: &Explanation) -> String {
    let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    format!("{}: {}\n\n{}\n\nWrong:\n{}\nRight:\n{}", e.code, e.title, e.text, indented(e.wrong), indented(e.right))
}

fn to_json(e: &Explanation) -> Value {
    json!({ "code": e.code.to_string(), "title": e.title, "text": e.text, "wrong": e.wrong, "right": e.right })
}
