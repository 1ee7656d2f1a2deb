//! The rules of kernels.

use crate::text::{code, is_inexact, is_name, words};
use std::collections::BTreeSet;

/// What comes from headers of the host.
pub(crate) const OF_HOST: &[&str] = &[
    "INFINITY",
    "NAN",
    "HUGE_VAL",
    "HUGE_VALF",
    "INT_MAX",
    "INT_MIN",
    "UINT_MAX",
    "LLONG_MAX",
    "LLONG_MIN",
    "FLT_MAX",
    "FLT_MIN",
    "FLT_EPSILON",
    "DBL_MAX",
    "DBL_MIN",
    "DBL_EPSILON",
    "NULL",
    "M_PI",
    "M_E",
    "SIZE_MAX",
    "uint32_t",
    "uint64_t",
    "int32_t",
    "int64_t",
    "size_t",
    "std",
    "__half",
    "__nv_bfloat16",
];

/// Calls that all threads of a block make together.
const OF_BLOCK: &[&str] = &["__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count"];

/// Calls that all lanes of a warp make together.
const OF_WARP: &[&str] = &[
    "mg_shfl_xor",
    "mg_shfl_up",
    "mg_same_digit",
    "mg_ldmatrix",
    "mg_ldmatrix_trans",
    "mg_mma_f16",
    "mg_mma_bf16",
    "__ballot_sync",
];

/// The rules that the text of some kernels breaks.
pub(crate) fn violations(source: &str) -> Vec<String> {
    let code = code(source);
    let words = words(&code);
    let mut found = Vec::new();
    for directive in ["#include", "#line", "#define"] {
        if code.contains(directive) {
            found.push(format!("`{directive}`"));
        }
    }
    for (i, &word) in words.iter().enumerate() {
        let call = words.get(i + 1) == Some(&"(");
        let argument = words.get(i + 2).copied().unwrap_or_default();
        // PTX is for the prelude; built-in additions take floats too, in any order.
        let reserved = matches!(word, "asm" | "__asm__" | "volatile") || (word.starts_with("atomic") && call);
        if OF_HOST.contains(&word) || reserved {
            found.push(format!("`{word}`"));
        }
        let masked = word.starts_with("__") && (word.ends_with("_sync") || word == "__syncwarp");
        if masked && call && argument != "MG_ALL_LANES" && !argument.starts_with("0x") {
            found.push(format!("`{word}` without a literal mask"));
        }
        if is_inexact(word) {
            found.push(format!("`{word}` is not the float it becomes"));
        }
        let endless = word == "for" && words[i..].starts_with(&["for", "(", ";", ";", ")"]);
        if word == "while" || endless {
            // The loop: its condition, and its body where there is one.
            let condition = i + 1 + closing(&words[i + 1..], "(", ")");
            let body = match words.get(condition + 1) {
                Some(&"{") => condition + 1 + closing(&words[condition + 1..], "{", "}"),
                _ => condition,
            };
            let waits = |w: &&str| matches!(*w, "mg_spin" | "mg_mbarrier_try_wait");
            if !words[i..=body.min(words.len() - 1)].iter().any(waits) {
                found.push("a loop that waits without mg_spin".into());
            }
        }
    }
    found.extend(unaligned(&words));
    // Kernels have variables of their own.
    for kernel in words.split(|&word| word == "__global__") {
        found.extend(divergent(kernel));
        let bytes = shared_bytes(kernel);
        if bytes > 48 << 10 {
            found.push(format!("{bytes} bytes of static shared memory"));
        }
    }
    found
}

/// Where the bracket closes with which the words begin.
fn closing(words: &[&str], open: &str, close: &str) -> usize {
    let mut depth = 0;
    for (i, &word) in words.iter().enumerate() {
        depth += usize::from(word == open);
        if word == close {
            depth -= 1;
            if depth == 0 {
                return i;
            }
        }
    }
    words.len() - 1
}

/// The size of a kernel's shared arrays.
fn shared_bytes(words: &[&str]) -> usize {
    let size = |declaration: &[&str], length: &str| {
        let element = match declaration[declaration.len() - 2] {
            "long" | "double" | "mg_u64" => 8,
            "int" | "unsigned" | "float" => 4,
            "short" => 2,
            "char" | "bool" => 1,
            other => panic!("the size of `{other}` is not known"),
        };
        element * length.parse::<usize>().expect("shared arrays have a length in numbers")
    };
    let declarations = words.iter().enumerate().filter(|(_, word)| **word == "__shared__");
    let sizes = declarations.map(|(i, _)| {
        let open = i + words[i..].iter().position(|w| *w == "[").expect("what is shared is an array");
        size(&words[i..open], words[open + 1])
    });
    sizes.sum()
}

/// Shared arrays that are accessed in vectors, or that tensor cores and copies of 16 bytes touch, but that are not aligned to 16
/// bytes.
fn unaligned(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (i, _) in words.iter().enumerate().filter(|(_, word)| **word == "__shared__") {
        let end = i + words[i..].iter().position(|w| *w == "[" || *w == ";").unwrap_or(1);
        let (declaration, name) = (&words[i..end], words[end - 1]);
        // The array, and the pointers into it.
        let mut names = BTreeSet::from([name]);
        for window in words[end..].windows(4) {
            if window[0] == "*" && window[2] == "=" && names.contains(window[3]) {
                names.insert(window[1]);
            }
        }
        let wide = |at: usize, word: &str| {
            let called = matches!(word, "mg_load" | "mg_store" | "mg_ldmatrix" | "mg_ldmatrix_trans" | "mg_async_copy")
                || word == "mg_bulk_copy";
            let open = at + words[at..].iter().position(|w| *w == "(").unwrap_or(0);
            // The address, which is the first argument, or the second of tensor cores.
            called && words[open..open + closing(&words[open..], "(", ")")].iter().take(6).any(|w| names.contains(w))
        };
        let vectors = words.iter().enumerate().any(|(at, word)| wide(at, word));
        if vectors && !declaration.windows(3).any(|w| w == ["__align__", "(", "16"]) {
            found.push(format!("`{name}` is read or written in vectors and not aligned"));
        }
    }
    found
}

/// Calls of all threads that only some reach: in a branch or a loop whose condition depends on the thread, or, for those
/// of a block, behind a return in such a branch. Approximate: a name depends on the thread if a value that it is ever
/// given is written with the thread's place, a shuffle, or a name that depends on it.
fn divergent(words: &[&str]) -> Vec<String> {
    let mut depends = BTreeSet::from(["threadIdx"]);
    loop {
        let before = depends.len();
        for (i, _) in words.iter().enumerate().filter(|(i, word)| **word == "=" && *i > 0) {
            let end = i + words[i..].iter().position(|w| *w == ";" || *w == ")").unwrap_or(0);
            let end =
                if words[end] == ")" { end + words[end..].iter().position(|w| *w == ";").unwrap_or(0) } else { end };
            let target = words[..i].iter().rev().find(|w| is_name(w));
            let comparison = matches!(words[i - 1], "=" | "<" | ">" | "!") || words.get(i + 1) == Some(&"=");
            if let Some(target) = target
                && !comparison
                && words[i..end].iter().any(|w| depends.contains(w))
            {
                depends.insert(target);
            }
        }
        if depends.len() == before {
            break;
        }
    }
    let mut found = Vec::new();
    // For each open brace, whether it stands behind a condition of the thread.
    let mut braces: Vec<bool> = Vec::new();
    let mut returned = false;
    let mut next = false;
    for (i, &word) in words.iter().enumerate() {
        let inside = braces.contains(&true);
        match word {
            "if" | "for" | "while" => {
                let end = i + 1 + closing(&words[i + 1..], "(", ")");
                let condition = &words[i + 1..end];
                let uniform = condition.iter().any(|w| w.starts_with("__syncthreads_"));
                next = !uniform && condition.iter().any(|w| depends.contains(w));
                returned |= next && words.get(end + 1) == Some(&"return");
                if words.get(end + 1) != Some(&"{") {
                    next = false;
                }
            }
            "{" => braces.push(std::mem::take(&mut next)),
            "}" => drop(braces.pop()),
            "return" => returned |= inside,
            _ if OF_BLOCK.contains(&word) && returned => {
                found.push(format!("`{word}` after some threads have returned"));
            }
            _ if (OF_BLOCK.contains(&word) || OF_WARP.contains(&word)) && inside => {
                found.push(format!("`{word}` where only some threads come"));
            }
            _ => {}
        }
    }
    found
}
