//! `check`, `explain`, `doctor`, and what holds for every command.

use crate::tool::{Folder, tool, tool_into_closed_pipe, tool_with};

#[test]
fn help_shows_every_command_and_examples() {
    let help = tool(&["--help"]).fine();
    for word in ["check", "compile", "run", "explain", "doctor", "Examples:", "monograph run scale.mg", "Exit codes"] {
        assert!(help.contains(word), "{word}");
    }
    assert!(tool(&["run", "--help"]).fine().contains("random:SEED"));
    assert_eq!(tool(&["--version"]).fine(), format!("monograph {}\n", env!("CARGO_PKG_VERSION")));
    tool(&[]).fails(2, &["Usage: monograph"]);
    tool(&["chekc"]).fails(2, &["unrecognized subcommand 'chekc'", "'check'"]);
}

#[test]
fn a_program_that_is_fine_is_described() {
    let expected = "counter.mg: fine; @counter has 6 nodes\n  input   x      f32[]\n  state   calls  i64[]\n  \
                    state   total  f32[]\n  output  sum    f32[]\n";
    assert_eq!(tool(&["check", "counter.mg"]).fine(), expected);
    let text = std::fs::read(crate::tool::programs().join("counter.mg")).unwrap();
    assert_eq!(tool_with(&["check", "-"], &text).fine(), expected.replace("counter.mg", "<stdin>"));
    let json = tool(&["check", "counter.mg", "--json"]).json();
    assert_eq!(json["ok"], true);
    assert_eq!(json["states"][1]["name"], "total");
    assert_eq!(json["inputs"][0]["type"], "f32[]");
}

#[test]
fn a_program_that_cannot_be_a_graph_is_rejected_with_places_and_remedies() {
    tool(&["check", "rejected.mg"]).fails(
        1,
        &[
            "error[MG0301]",
            "rejected.mg:3:12",
            "%where = nonzero %x",
            "nonzero_padded",
            "error[MG0501]",
            "rejected.mg:4:3",
            "rejected for 2 errors",
        ],
    );
    let outcome = tool(&["check", "rejected.mg", "--json"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    let json = outcome.json();
    assert_eq!(json["ok"], false);
    assert_eq!(json["errors"][0]["code"], "MG0301");
    assert_eq!(json["errors"][0]["place"]["line"], 3);
    assert_eq!(json["errors"][1]["place"]["column"], 3);
    for command in ["compile", "run"] {
        tool(&[command, "rejected.mg"]).fails(1, &["error[MG0301]", "error[MG0501]"]);
    }
}

#[test]
fn text_that_does_not_parse_is_marked() {
    let wrong: [(&str, &[&str]); 6] = [
        ("", &["error[MG0006]", "<stdin>"]),
        ("graph @a(%x: f32[2]) {\n  %y = ad %x, %x\n  return %y\n}", &["<stdin>:2:8", "no op `ad`", "did you mean"]),
        ("graph @a(%x: f32[2]) { return %y }", &["<stdin>:1:31", "%y"]),
        ("graph @a(%x: f32[9223372036854775807, 4]) { return %x }", &["more bytes than 2^63"]),
        ("graph @a(%x: f23[2]) { return %x }", &["f23"]),
        ("graph @a(%x: f32[2], %y: f32[3]) { %z = add %x, %y return %z }", &["<stdin>:1:"]),
    ];
    for (text, words) in wrong {
        tool_with(&["check", "-"], text.as_bytes()).fails(1, words);
    }
    let deep = format!("graph @a(%x: f32{}", "[".repeat(100_000));
    tool_with(&["check", "-"], deep.as_bytes()).fails(1, &["error[MG0006]"]);
}

#[test]
fn files_that_are_no_programs_are_wrong_usage() {
    let folder = Folder::new();
    tool(&["check", "missing.mg"]).fails(2, &["there is no file missing.mg"]);
    tool(&["check", "."]).fails(2, &[". is a directory"]);
    tool(&["check", &folder.file("x.mg", b"graph \xff")]).fails(2, &["is not text: byte 6 is not UTF-8"]);
    tool(&["check", &folder.file("x.npy", b"\x93NUMPY\x01\x00")]).fails(2, &["is a .npy file, not a program"]);
    let json = tool(&["check", "missing.mg", "--json"]).json();
    assert_eq!((&json["ok"], &json["kind"]), (&false.into(), &"usage".into()));
}

#[test]
fn codes_are_explained() {
    for code in ["MG0301", "mg0301", "301"] {
        let text = tool(&["explain", code]).fine();
        assert!(text.starts_with("MG0301: The shape of `nonzero` depends on data.\n"), "{text}");
        assert!(text.contains("Wrong:\n    trace(|x: Tensor| x.nonzero()") && text.contains("Right:\n"), "{text}");
    }
    let list = tool(&["explain"]).fine();
    assert!(list.lines().count() > 10 && list.lines().all(|l| l.starts_with("MG0")), "{list}");
    assert_eq!(tool(&["explain", "MG0301", "--json"]).json()["code"], "MG0301");
    tool(&["explain", "MG0310"]).fails(2, &["there is no code `MG0310`", "did you mean `MG03"]);
    for code in ["", "MG", "MG99999999", "-1", "nonzero"] {
        assert_eq!(tool(&["explain", "--", code]).code, 2, "{code}");
    }
}

#[test]
fn the_doctor_reports_every_part_and_the_exit_code_agrees() {
    let text = tool(&["doctor"]);
    for part in ["driver", "NVRTC", "cache", "emulate", "host"] {
        assert!(text.out.contains(part), "{}", text.out);
    }
    let outcome = tool(&["doctor", "--json"]);
    let json = outcome.json();
    assert_eq!(json["ok"].as_bool().unwrap(), outcome.code == 0);
    assert_eq!(text.code, outcome.code);
    assert!(outcome.code == 0 || outcome.code == 2);
    assert!(json["emulator"]["compiler"].is_string() || json["emulator"]["problem"].is_string(), "{json}");
    let problem = |value: &serde_json::Value| value["problem"].is_string();
    let missing = problem(&json["driver"]) || problem(&json["nvrtc"]);
    assert!(outcome.code == 2 || !missing, "{json}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    for arguments in [&["compile", "mlp.mg", "--emit", "plan"][..], &["explain"], &["--help"]] {
        let (code, err) = tool_into_closed_pipe(arguments);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}
