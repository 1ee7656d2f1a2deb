//! The textual form on random graphs and random texts.

use monograph_ir::testing::{Options, Random, random_graph};
use monograph_ir::text::{parse, print};
use monograph_ir::verify;
use proptest::prelude::*;

/// One random edit: a byte changed, a range deleted, repeated or moved, or a token of the grammar put in.
fn edit(text: &mut Vec<u8>, random: &mut Random) {
    const TOKENS: &[&str] = &[
        "%0",
        "%5.1",
        "@body",
        "graph ",
        "return ",
        "constant ",
        "99999999999999999999",
        "-1",
        "0x",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        ":",
        "=",
        ",",
        "\"",
        "\\u{d800}",
        "f32[?]",
        "f32[18446744073709551615, 2]",
        "NaN",
        "//",
        "ä",
        "\u{0}",
        "fori_loop",
        "body = @body",
        "axes = [0, 0]",
        "axis = 4294967296",
        "shape = [0, 9223372036854775807]",
    ];
    let len = text.len();
    let start = random.below(len + 1);
    let end = (start + random.below(12)).min(len);
    match random.below(6) {
        0 if start < len => text[start] = random.bits() as u8,
        1 => drop(text.drain(start..end)),
        2 => {
            let copy = text[start..end].to_vec();
            let at = random.below(len + 1);
            text.splice(at..at, copy);
        }
        3 => text.truncate(len - random.below(len + 1) / 4),
        _ => {
            let token = random.pick(TOKENS).unwrap().bytes();
            text.splice(start..start, token).for_each(drop);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_and_parsing_are_inverse(seed: u64, nodes in 1usize..80) {
        let graph = random_graph(seed, &Options { nodes, ..Options::default() });
        let text = print(&graph);
        let back = parse(&text, "random.mg").map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(print(&back), text);
        prop_assert!(back == graph);
    }

    #[test]
    fn edited_texts_never_panic(seed: u64, edits in 1usize..6) {
        let mut random = Random::new(seed);
        let mut text = print(&random_graph(seed % 64, &Options { nodes: 12, ..Options::default() })).into_bytes();
        for _ in 0..edits {
            edit(&mut text, &mut random);
        }
        let text = String::from_utf8_lossy(&text);
        match parse(&text, "edited.mg") {
            Ok(graph) => {
                prop_assert!(verify(&graph).is_ok());
                prop_assert_eq!(parse(&print(&graph), "").unwrap(), graph);
            }
            Err(e) => {
                let lines = text.lines().count() as u32;
                prop_assert!(e.line >= 1 && e.line <= lines.max(1) + 1 && e.column >= 1, "{}", e);
                prop_assert!(!e.message.is_empty());
            }
        }
    }

    #[test]
    fn noise_never_panics(text in "\\PC{0,200}") {
        prop_assert!(parse(&text, "").is_err());
    }
}
