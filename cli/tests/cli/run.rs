//! `run`: parameters in, tensors out.

use crate::tool::{Folder, Outcome, dict, npy, tool, tool_in, tool_with};
use serde_json::{Value, json};

fn host(arguments: &[&str]) -> Outcome {
    tool(&[&["run", "--device", "host"], arguments].concat())
}

/// The values of a result.
fn values(outcome: &Outcome, name: &str) -> Value {
    let json = outcome.json();
    let results = json["results"].as_array().unwrap();
    results.iter().find(|r| r["name"] == name).unwrap_or_else(|| panic!("no {name} in {json}"))["values"].clone()
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn numbers_fill_parameters() {
    let text = host(&["counter.mg", "-i", "x=2.5", "--state", "calls=41", "--state", "total=0"]).fine();
    assert!(text.starts_with("device   host"), "{text}");
    assert!(text.contains("output   sum    f32[]  2.5") && text.contains("state    calls  i64[]  42"), "{text}");
    let outcome = host(&["softmax.mg", "-i", "x=-inf", "--json"]);
    assert_eq!(values(&outcome, "y"), json!(["NaN", "NaN", "NaN", "NaN", "NaN", "NaN"]));
}

#[test]
fn states_start_as_zeros_and_are_carried_from_replay_to_replay() {
    let outcome = host(&["counter.mg", "-i", "x=2", "--replays", "5", "--json"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.err.contains("note: no value is given for the state `calls`, `total`"), "{}", outcome.err);
    assert_eq!((values(&outcome, "calls"), values(&outcome, "total")), (json!([5]), json!([10.0])));
    assert_eq!(outcome.json()["replays"], 5);
}

#[test]
fn softmax_of_a_file_is_right() {
    let folder = Folder::new();
    let x = folder.file("x.npy", &npy(&dict("<f4", "(2, 3)"), &f32s(&[0.0, 0.0, 0.0, 1.0, 2.0, 3.0])));
    let outcome = host(&["softmax.mg", "--input", &format!("x={x}"), "--json"]);
    let found: Vec<f64> = values(&outcome, "y").as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    // exp(k) / (e + e^2 + e^3), from a table.
    let expected = [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.090_030_57, 0.244_728_47, 0.665_240_96];
    assert_eq!(found.len(), 6);
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 1e-6, "{found:?}");
    }
}

#[test]
fn an_embedding_adds_up_rows_of_equal_ids() {
    let folder = Folder::new();
    let ids: Vec<u8> = [0i64, 0, 2].iter().flat_map(|v| v.to_le_bytes()).collect();
    let ids = folder.file("ids.npy", &npy(&dict("<i8", "(3,)"), &ids));
    let outcome = host(&["embedding.mg", "-i", &format!("ids={ids}"), "-i", "grad=1", "--json"]);
    assert_eq!(values(&outcome, "sum"), json!([2.0, 0.0, 1.0]));
}

#[test]
fn a_network_agrees_with_its_product_written_out() {
    let folder = Folder::new();
    // Row 0 of x is the unit vector 0, so the first hidden row is row 0 of w1 plus b1.
    let mut x = vec![0.0f32; 32];
    x[0] = 1.0;
    let x = folder.file("x.npy", &npy(&dict("<f4", "(4, 8)"), &f32s(&x)));
    let mut w1 = vec![9.0f32; 128];
    w1[..16].copy_from_slice(&[1.0, -5.0, 2.0, -7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let w1 = folder.file("w1.npy", &npy(&dict("<f4", "(8, 16)"), &f32s(&w1)));
    let arguments = [format!("x={x}"), format!("w1={w1}")];
    let outcome = host(&[
        "mlp.mg",
        "-i",
        &arguments[0],
        "--constant",
        &arguments[1],
        "--constant",
        "b1=0.5",
        "--constant",
        "w2=2",
        "--constant",
        "b2=-1",
        "--json",
    ]);
    // relu: 1.5, 0, 2.5, 0, then twelve times 0.5; times 2 and minus 1. The other rows have b1 alone: 16 halves.
    assert_eq!(
        values(&outcome, "logits"),
        json!([19.0, 19.0, 19.0, 15.0, 15.0, 15.0, 15.0, 15.0, 15.0, 15.0, 15.0, 15.0])
    );
    let hidden = values(&outcome, "hidden");
    assert_eq!(hidden.as_array().unwrap()[..4], [json!(1.5), json!(0.0), json!(2.5), json!(0.0)]);
}

#[test]
fn random_data_is_the_same_every_time_and_another_for_each_replay() {
    let y = |arguments: &[&str]| values(&host(&[&["dtypes.mg", "--json"], arguments].concat()), "out_f32");
    let first = y(&["--random", "1"]);
    assert_eq!(first, y(&["--random", "1"]));
    assert_ne!(first, y(&["--random", "2"]));
    assert_ne!(first, y(&["--random", "1", "--replays", "2"]));
    assert_eq!(first, y(&["--random", "9", "-i", "f32=random:1"]));
    // By another implementation of the documented generator.
    assert_eq!(first, json!([-0.61465657, 0.64312196, 0.09611297]));
    let integers = values(&host(&["dtypes.mg", "--random", "1", "--json"]), "out_i32");
    assert_eq!(integers, json!([5, 0, 0]));
}

#[test]
fn outputs_and_states_are_written_as_numpy_would() {
    let folder = Folder::new();
    let out = folder.path("results/deep");
    let text = host(&["counter.mg", "-i", "x=1.5", "-i", "calls=1", "-i", "total=2", "--out", &out]).fine();
    assert!(text.contains(&format!("-> {out}/sum.npy")), "{text}");
    let read = |name: &str| std::fs::read(format!("{out}/{name}.npy")).unwrap();
    // What numpy.save writes for numpy.float32(3.5) and numpy.int64(2).
    let header = |descr: &str| {
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (), }}").into_bytes());
        bytes.resize(127, b' ');
        bytes.push(b'\n');
        bytes
    };
    assert_eq!(read("sum"), [header("<f4"), 3.5f32.to_le_bytes().to_vec()].concat());
    assert_eq!(read("calls"), [header("<i8"), 2i64.to_le_bytes().to_vec()].concat());
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 3, "no temporary file is left");
    let again = host(&["counter.mg", "-i", "x=1", "-i", &format!("calls={out}/calls.npy"), "-i", "total=0", "--json"]);
    assert_eq!(values(&again, "calls"), json!([3]));
    tool(&["run", "--device", "host", "counter.mg", "--random", "1", "--out", "counter.mg"])
        .fails(2, &["the directory counter.mg cannot be made"]);
}

#[test]
fn names_of_outputs_cannot_leave_the_directory() {
    let folder = Folder::new();
    let out = folder.path("out");
    let text = "graph @a(%x: f32[]) { return \"../up\" = %x, \"a/b\" = %x, probe \"a b\" = %x }";
    let outcome = tool_with(&["run", "-", "-i", "x=1", "--device", "host", "--out", &out], text.as_bytes());
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert_eq!(folder.names(), ["out"]);
    let mut names: Vec<_> = std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["_._up.npy", "a_b.npy", "a_b.probe.npy"]);
}

#[test]
fn empty_tensors_run() {
    let folder = Folder::new();
    let x = folder.file("x.npy", &npy(&dict("<f4", "(0, 3)"), b""));
    let outcome = host(&["empty.mg", "-i", &format!("x={x}"), "--json"]);
    assert_eq!((values(&outcome, "y"), values(&outcome, "sum")), (json!([]), json!([0.0, 0.0, 0.0])));
}

#[test]
fn wrong_parameters_are_named() {
    host(&["mlp.mg"])
        .fails(2, &["input `x`: f32[4, 8], constant `w1`: f32[8, 16]", "--input x=FILE.npy", "--random 1"]);
    host(&["counter.mg", "-i", "totl=1"]).fails(2, &["no parameter `totl`", "did you mean `total`?"]);
    host(&["counter.mg", "-i", "learning_rate=1"]).fails(2, &["its parameters are `x`, `calls`, `total`"]);
    host(&["counter.mg", "-i", "x"]).fails(2, &["`x` is not of the form NAME=VALUE"]);
    host(&["counter.mg", "-i", "x="]).fails(2, &["nothing follows `x=`"]);
    host(&["counter.mg", "-i", "x=1", "-i", "x=2"]).fails(2, &["`x` is given twice"]);
    host(&["counter.mg", "-i", "x=random"]).fails(2, &["`x=random:1`"]);
    host(&["counter.mg", "-i", "x=random:z"]).fails(2, &["`z` is no seed"]);
    host(&["counter.mg", "-i", "x=1", "-i", "calls=0.5"]).fails(2, &["0.5 cannot be held by `calls`, which is i64[]"]);
    host(&["counter.mg", "-i", "x=1e39"]).fails(2, &["1e39 cannot be held by `x`"]);
    host(&["counter.mg", "-i", "x=true"]).fails(2, &["true cannot be held by `x`"]);
    host(&["counter.mg", "-i", "x=y.npy"]).fails(2, &["there is no file y.npy"]);
    host(&["counter.mg", "-i", "x=-", "-i", "total=-"]).fails(2, &["for one parameter only"]);
    host(&["counter.mg", "-i", "x=1", "--replays", "0"]).fails(2, &["0 is not in 1.."]);
}

#[test]
fn wrong_devices_are_named() {
    tool(&["run", "counter.mg", "-i", "x=1", "--device", "gpu"]).fails(2, &["'gpu'", "`cuda:NUMBER`"]);
    let outcome = tool(&["run", "counter.mg", "--random", "1", "--device", "cuda:4000000"]);
    outcome.fails(2, &["error: ", "`monograph doctor`", "`--device host`"]);
}

/// Runs in the emulator; `None`, and a message, only where there is no C++ compiler. Where
/// `MONOGRAPH_REQUIRE_EMULATOR` is 1, that is a failure.
fn emulated(arguments: &[&str]) -> Option<Outcome> {
    let outcome = tool(&[&["run", "--device", "emulate"], arguments].concat());
    let missing = outcome.err.contains("there is none; looked for");
    let required = std::env::var("MONOGRAPH_REQUIRE_EMULATOR").as_deref() == Ok("1");
    assert!(!(missing && required), "the emulator is required: {}", outcome.err);
    if missing {
        println!("skipped, without the emulator: {}", outcome.err);
    }
    (!missing).then_some(outcome)
}

#[test]
fn the_emulator_gives_what_the_interpreter_gives() {
    let arguments = ["counter.mg", "-i", "x=2", "--replays", "3", "--json"];
    let expected = host(&arguments);
    for options in [&["--schedule", "reverse"][..], &["--schedule", "7", "--unchecked"]] {
        let Some(outcome) = emulated(&[&arguments, options].concat()) else { return };
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        for name in ["sum", "calls", "total"] {
            assert_eq!(values(&outcome, name), values(&expected, name));
        }
        let device = outcome.json()["device"].as_str().unwrap().to_string();
        assert!(device.starts_with("emulated (") && device.contains("checked"), "{device}");
    }
}

#[test]
fn choices_of_the_emulator_are_checked() {
    host(&["counter.mg", "--random", "1", "--schedule", "reverse"])
        .fails(2, &["`--schedule` is for the emulator", "add `--device emulate`"]);
    host(&["counter.mg", "--random", "1", "--unchecked"]).fails(2, &["`--unchecked` is for the emulator"]);
    host(&["counter.mg", "--random", "1", "--debugger"]).fails(2, &["`--debugger` is for the emulator"]);
    tool(&["run", "counter.mg", "--device", "emulate", "--schedule", "sideways"])
        .fails(2, &["'sideways'", "`in-order`, `reverse`, and a number"]);
}

#[test]
fn without_a_compiler_the_emulator_says_how_to_get_one() {
    let arguments = ["run", "--device", "emulate", "counter.mg", "--random", "1"];
    tool_in(&arguments, &[("CXX", "/nonsense/c++")]).fails(2, &["/nonsense/c++", "apt install g++", "`--device host`"]);
}

#[test]
fn programs_that_do_not_fit_are_refused_before_anything_is_allocated() {
    let text = "graph @a(%x: f32[1000000000000000]) { return %x }";
    tool_with(&["run", "-", "--random", "1"], text.as_bytes()).fails(2, &["needs 3.6 PiB of memory"]);
}

#[test]
fn standard_input_holds_the_program_or_a_parameter() {
    let text = std::fs::read(crate::tool::programs().join("softmax.mg")).unwrap();
    let outcome = tool_with(&["run", "-", "--device", "host", "--input", "x=-"], &text);
    outcome.fails(2, &["standard input (`-`) holds the program"]);
}
