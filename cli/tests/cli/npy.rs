//! .npy files, good and bad, made byte by byte.

use crate::tool::{Folder, Outcome, dict, npy, tool, tool_with};
use half::{bf16, f16};
use serde_json::{Value, json};

/// A program that returns its input.
fn identity(spec: &str) -> String {
    format!("graph @same(%x: {spec}) {{ return \"y\" = %x }}")
}

/// Gives the program a file, and its text on standard input.
fn run(spec: &str, file: &[u8]) -> Outcome {
    let folder = Folder::new();
    let path = folder.file("x.npy", file);
    tool_with(&["run", "-", "--device", "host", "--json", "-i", &format!("x={path}")], identity(spec).as_bytes())
}

#[track_caller]
fn reads(spec: &str, file: &[u8], expected: Value) {
    let outcome = run(spec, file);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    assert_eq!(outcome.json()["results"][0]["values"], expected);
}

#[track_caller]
fn refuses(spec: &str, file: &[u8], words: &[&str]) {
    let outcome = run(spec, file);
    let json = outcome.json();
    assert_eq!((outcome.code, &json["ok"]), (2, &json!(false)), "{json}");
    let text = format!("{} {}", json["errors"][0]["message"].as_str().unwrap(), json["errors"][0]["help"]);
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text}");
    }
}

#[test]
fn every_dtype_is_read_in_both_byte_orders() {
    reads("bool[2]", &npy(&dict("|b1", "(2,)"), &[1, 0]), json!([true, false]));
    reads("i8[2]", &npy(&dict("|i1", "(2,)"), &[0xff, 7]), json!([-1, 7]));
    reads("u8[2]", &npy(&dict("|u1", "(2,)"), &[0xff, 7]), json!([255, 7]));
    macro_rules! both {
        ($spec:literal, $descr:literal, $value:expr, $json:expr) => {
            reads($spec, &npy(&dict(concat!("<", $descr), "(1,)"), &$value.to_le_bytes()), json!([$json]));
            reads($spec, &npy(&dict(concat!(">", $descr), "(1,)"), &$value.to_be_bytes()), json!([$json]));
        };
    }
    both!("i32[1]", "i4", -70000i32, -70000);
    both!("u32[1]", "u4", 4_000_000_000u32, 4_000_000_000u32);
    both!("i64[1]", "i8", i64::MIN, i64::MIN);
    both!("f16[1]", "f2", f16::from_f32(1.5), 1.5);
    both!("bf16[1]", "V2", bf16::from_f32(-3.0), -3.0);
    both!("f32[1]", "f4", 0.1f32, 0.1);
    both!("f64[1]", "f8", 0.1f64, 0.1);
}

#[test]
fn both_element_orders_and_every_version_are_read() {
    // [[1, 2, 3], [4, 5, 6]] column by column.
    let fortran = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }";
    reads("u8[2, 3]", &npy(fortran, &[1, 4, 2, 5, 3, 6]), json!([1, 2, 3, 4, 5, 6]));
    let fortran = "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 2), }";
    reads("i32[2, 2]", &npy(fortran, &[0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 4]), json!([1, 2, 3, 4]));
    for version in [2, 3] {
        let dict = dict("|u1", "()");
        let mut file = vec![0x93, b'N', b'U', b'M', b'P', b'Y', version, 0];
        file.extend((dict.len() as u32).to_le_bytes());
        file.extend(dict.as_bytes());
        file.push(9);
        reads("u8[]", &file, json!([9]));
    }
}

#[test]
fn a_file_that_numpy_wrote_is_read() {
    // numpy.save of numpy.array([[1, 2, 3], [4, 5, 6]], '<f4') by NumPy 2.4.6.
    let file = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\x00\x00\xa0@\x00\x00\xc0@";
    reads("f32[2, 3]", file, json!([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
}

#[test]
fn what_is_written_is_read_back_for_every_dtype() {
    let folder = Folder::new();
    let first = folder.path("first");
    tool(&["run", "dtypes.mg", "--device", "host", "--random", "5", "--out", &first]).fine();
    let mut arguments = vec!["run".to_string(), "dtypes.mg".into(), "--device".into(), "host".into()];
    for dtype in ["bool", "i8", "u8", "i32", "u32", "i64", "f16", "bf16", "f32", "f64"] {
        arguments.extend(["-i".into(), format!("{dtype}={first}/out_{dtype}.npy")]);
    }
    let second = folder.path("second");
    arguments.extend(["--out".into(), second.clone()]);
    tool(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).fine();
    for entry in std::fs::read_dir(&first).unwrap() {
        let name = entry.unwrap().file_name();
        let read = |folder: &str| std::fs::read(std::path::Path::new(folder).join(&name)).unwrap();
        assert_eq!(read(&first), read(&second), "{name:?}");
    }
    assert!(
        std::fs::read(format!("{first}/out_bf16.npy")).unwrap().starts_with(b"\x93NUMPY\x01\x00v\x00{'descr': '<V2'")
    );
}

#[test]
fn arrays_that_do_not_fit_say_what_does() {
    refuses("f32[3]", &npy(&dict("<f4", "(2,)"), &[0; 8]), &["input `x`", "holds f32[2]", "takes f32[3]"]);
    refuses("f32[2, 2]", &npy(&dict("<f4", "(4,)"), &[0; 16]), &["x.reshape([2, 2])"]);
    refuses("f32[2]", &npy(&dict("<f8", "(2,)"), &[0; 16]), &["holds f64[2]", "x.astype('float32')"]);
    refuses("bool[1]", &npy(&dict("|b1", "(1,)"), &[2]), &["element 0 is no bool: its byte is 2"]);
}

#[test]
fn dtypes_that_programs_have_not_are_named_with_a_remedy() {
    refuses("i32[1]", &npy(&dict("<i2", "(1,)"), &[0; 2]), &["int16", "x.astype('int32')"]);
    refuses("bf16[1]", &npy(&dict("<u2", "(1,)"), &[0; 2]), &["uint16", "x.view('V2')"]);
    refuses("i64[1]", &npy(&dict("<u8", "(1,)"), &[0; 8]), &["uint64"]);
    refuses("f32[1]", &npy(&dict("<c8", "(1,)"), &[0; 8]), &["complex"]);
    refuses("f32[1]", &npy(&dict("|O", "(1,)"), &[0; 8]), &["Python objects"]);
    refuses("f32[1]", &npy(&dict("<U3", "(1,)"), &[0; 12]), &["strings"]);
    refuses("f32[1]", &npy(&dict("<M8[s]", "(1,)"), &[0; 8]), &["times"]);
    let records = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }";
    refuses("f32[1]", &npy(records, &[0; 4]), &["records", "x['name']"]);
}

#[test]
fn damaged_files_are_errors_whatever_their_header_claims() {
    let whole = npy(&dict("<f4", "(4,)"), &[0; 16]);
    for length in 0..whole.len() {
        let outcome = run("f32[4]", &whole[..length]);
        assert_eq!(outcome.code, 2, "{length} bytes: {}", outcome.out);
        assert!(outcome.out.contains("is truncated") || outcome.out.contains("is empty"), "{}", outcome.out);
    }
    refuses("f32[4]", &npy(&dict("<f4", "(4,)"), &[0; 17]), &["is too long", "16 bytes, but 17"]);
    refuses("f32[4]", b"PK\x03\x04 and so on", &[".npz archive"]);
    refuses("f32[4]", b"hello, world", &["is no .npy file"]);
    refuses("f32[4]", b"\x93NUMPY\x09\x00\x10\x00", &["version 9.0"]);
    refuses("f32[4]", &npy("{'descr': '<f4'}", &[0; 16]), &["malformed header", "fortran_order"]);
    refuses("f32[4]", &npy(&"(".repeat(60_000), &[]), &["malformed header"]);
    refuses("f32[4]", &npy(&dict("<f4", "(1000000000000,)"), &[0; 16]), &["is truncated", "4000000000000 bytes"]);
    refuses("f32[4]", &npy(&dict("<f4", "(4294967296, 4294967296)"), &[0; 16]), &["more bytes than 2^63"]);
    refuses("f32[4]", &npy(&dict("<f4", "(0, 4294967296, 4294967296)"), &[]), &["more bytes than 2^63"]);
    // A header of 4 GiB in a file of 12 bytes.
    refuses("f32[4]", b"\x93NUMPY\x02\x00\xff\xff\xff\xff", &["is truncated in its header"]);
}

#[test]
fn a_stream_is_read_without_trusting_its_header() {
    let arguments = ["run", "softmax.mg", "--device", "host", "--json", "-i", "x=-"];
    let data: Vec<u8> = [0.0f32; 6].iter().flat_map(|v| v.to_le_bytes()).collect();
    let outcome = tool_with(&arguments, &npy(&dict("<f4", "(2, 3)"), &data));
    assert_eq!(outcome.code, 0, "{}", outcome.out);
    let outcome = tool_with(&arguments, &npy(&dict("<f4", "(2, 3)"), &data[..20]));
    assert!(outcome.code == 2 && outcome.out.contains("only 20 follow"), "{}", outcome.out);
    let outcome = tool_with(&arguments, &npy(&dict("<f4", "(2, 3)"), &[data, vec![0]].concat()));
    assert!(outcome.code == 2 && outcome.out.contains("is too long"), "{}", outcome.out);
    let outcome = tool_with(&arguments, b"\x93NUMPY\x02\x00\xff\xff\xff\xff");
    assert!(outcome.code == 2 && outcome.out.contains("refused"), "{}", outcome.out);
}
