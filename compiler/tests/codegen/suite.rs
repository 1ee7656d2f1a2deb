//! Checks of generated kernels: their text, their code from NVRTC, and what they compute, run on the CPU.

use crate::build::Random;
use monograph_compiler::Options;
use monograph_compiler::codegen::{Generated, NVRTC_OPTIONS, generate, prelude, supported};
use monograph_ir::interp::{Tensor, evaluate};
use monograph_ir::plan::Access;
use monograph_ir::{DType, Graph, Spec, Target};
use monograph_runtime::nvrtc::{CompileRequest, Nvrtc};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// Some kernels that are compiled and run together.
pub(crate) struct Suite {
    name: &'static str,
    cases: Vec<Case>,
    /// What the kernels are for.
    pub(crate) target: Target,
    /// Makes the data of cases that bring none.
    pub(crate) random: Random,
}

struct Case {
    name: String,
    body: Graph,
    inputs: Vec<Tensor>,
    generated: Generated,
    /// Greatest difference relative to the greatest magnitude of the output, beside one unit in the last
    /// place of a dtype that rounds.
    tolerance: f64,
}

impl Suite {
    pub(crate) fn new(name: &'static str) -> Suite {
        Suite { name, cases: Vec::new(), target: Target::default(), random: Random::new(name.len() as u64 + 17) }
    }

    /// A kernel for small random numbers.
    pub(crate) fn case(&mut self, name: impl Into<String>, body: Graph, tolerance: f64) -> &Generated {
        let inputs = body.params().iter().map(|p| self.random.tensor(&p.spec)).collect();
        self.with(name, body, inputs, tolerance)
    }

    /// A kernel for these inputs.
    pub(crate) fn with(
        &mut self,
        name: impl Into<String>,
        body: Graph,
        inputs: Vec<Tensor>,
        tolerance: f64,
    ) -> &Generated {
        let name = name.into();
        supported(&body).unwrap_or_else(|why| panic!("{name}: {why}"));
        let generated = generate(&body, &self.target, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        check_text(&name, &generated);
        self.cases.push(Case { name, body, inputs, generated, tolerance });
        &self.cases[self.cases.len() - 1].generated
    }

    /// Compiles everything with NVRTC where there is one, runs it on the CPU where there is a C++ compiler, and
    /// compares with the interpreter.
    pub(crate) fn run(&self) {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(self.name);
        std::fs::create_dir_all(&folder).expect("the target folder can be written");
        let mut program = prelude().to_string();
        let mut seen = std::collections::BTreeSet::new();
        for case in self.cases.iter().filter(|c| seen.insert(c.generated.name.clone())) {
            program += &case.generated.source;
        }
        std::fs::write(folder.join("kernels.cu"), &program).expect("the target folder can be written");
        self.compile(&program);
        if Command::new("g++").arg("--version").output().is_err() {
            eprintln!("skipped: there is no g++ to run kernels on the CPU");
            return;
        }
        let main = self.cpp(&folder, &program);
        std::fs::write(folder.join("main.cpp"), main).expect("the target folder can be written");
        let binary = folder.join("main");
        let built = Command::new("g++")
            .args(["-std=c++17", "-O1", "-ffp-contract=off", "-w", "-x", "c++", "-o"])
            .args([&binary, &folder.join("main.cpp")])
            .output()
            .expect("g++ was found above");
        assert!(built.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&built.stderr));
        for (i, case) in self.cases.iter().enumerate() {
            let input: Vec<u8> = case.inputs.iter().flat_map(|t| t.bytes().to_vec()).collect();
            std::fs::write(folder.join(format!("{i}.in")), input).expect("the target folder can be written");
        }
        let list: Vec<String> = self.cases.iter().map(Case::describe).collect();
        std::fs::write(folder.join("cases.txt"), list.join("")).expect("the target folder can be written");
        for (i, case) in self.cases.iter().enumerate() {
            let ran = Command::new(&binary).arg(i.to_string()).current_dir(&folder).output().expect("it was built");
            assert!(
                ran.status.success(),
                "{}: {:?} {}\n{}",
                case.name,
                ran.status,
                String::from_utf8_lossy(&ran.stderr),
                case.generated.source
            );
            let bytes = std::fs::read(folder.join(format!("{i}.out"))).expect("the program wrote it");
            case.compare(&bytes);
        }
    }

    /// Compiles the kernels for two architectures and looks at what they take.
    fn compile(&self, program: &str) {
        let nvrtc = match Nvrtc::find() {
            Ok(nvrtc) => nvrtc,
            Err(why) => return eprintln!("skipped: {why}"),
        };
        for arch in ["sm_80", "sm_90a"] {
            let mut request = CompileRequest::new(self.name, program, arch);
            request.options = NVRTC_OPTIONS.iter().map(ToString::to_string).collect();
            let compiled = nvrtc.compile(&request).unwrap_or_else(|e| panic!("{} for {arch}: {e}", self.name));
            for case in &self.cases {
                let used = &compiled.kernels[&case.generated.name];
                // CUDA's own sine, cosine and tangent keep the digits of pi for great arguments in a table on the stack.
                if ["mg_sin(", "mg_cos(", "mg_tan("].iter().any(|name| case.generated.source.contains(name)) {
                    continue;
                }
                let local = used.stack_bytes + used.spill_store_bytes + used.spill_load_bytes;
                assert_eq!(local, 0, "{} for {arch} uses local memory: {used:?}\n{}", case.name, case.generated.source);
            }
        }
    }

    /// A program that runs the case of the number it is given.
    fn cpp(&self, folder: &std::path::Path, program: &str) -> String {
        let mut text =
            format!("#include \"{}\"\n{program}\n", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/codegen/shim.h"));
        text += "int main(int, char** argv) {\n    switch (atoi(argv[1])) {\n";
        for (i, case) in self.cases.iter().enumerate() {
            let g = &case.generated;
            let reads: Vec<&Spec> = g.reads.iter().map(|a| &a.spec).collect();
            let writes: Vec<&Spec> = g.writes.iter().map(|a| &a.spec).collect();
            let bytes = |specs: &[&Spec]| specs.iter().map(|s| s.bytes().expect("small")).sum::<u64>();
            let _ = writeln!(text, "    case {i}: {{");
            let _ = writeln!(text, "        std::vector<char> in({}), out({});", bytes(&reads) + 1, bytes(&writes));
            let _ = writeln!(
                text,
                "        transfer(\"{}/{i}.in\", in.data(), {}, false);",
                folder.display(),
                bytes(&reads)
            );
            let mut arguments = Vec::new();
            let mut offset = 0;
            for (r, spec) in reads.iter().enumerate() {
                let size = spec.bytes().expect("small");
                let _ =
                    writeln!(text, "        char* r{r} = buffer({size}); memcpy(r{r}, in.data() + {offset}, {size});");
                arguments.push(format!("({}*)r{r}", c_type(spec.dtype)));
                offset += size;
            }
            for (w, spec) in writes.iter().enumerate() {
                let _ = writeln!(text, "        char* w{w} = buffer({});", spec.bytes().expect("small"));
                arguments.push(format!("({}*)w{w}", c_type(spec.dtype)));
            }
            let cooperative =
                g.source.contains("__sync") || g.source.contains("mg_shfl") || g.source.contains("_sync(");
            let [gx, gy, gz] = g.grid;
            let [bx, by, bz] = g.block;
            let _ = writeln!(
                text,
                "        launch({{{gx}, {gy}, {gz}}}, {{{bx}, {by}, {bz}}}, {cooperative}, [=] {{ {}({}); }});",
                g.name,
                arguments.join(", ")
            );
            offset = 0;
            for (w, spec) in writes.iter().enumerate() {
                let size = spec.bytes().expect("small");
                let _ = writeln!(text, "        memcpy(out.data() + {offset}, w{w}, {size});");
                offset += size;
            }
            let _ = writeln!(
                text,
                "        transfer(\"{}/{i}.out\", out.data(), out.size(), true);\n        break;\n    }}",
                folder.display()
            );
        }
        text + "    }\n}\n"
    }
}

fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::U8 => "unsigned char",
        DType::I8 => "signed char",
        DType::I32 => "int",
        DType::U32 => "unsigned",
        DType::I64 => "long long",
        DType::F16 | DType::BF16 => "unsigned short",
        DType::F32 => "float",
        DType::F64 => "double",
    }
}

impl Case {
    /// Symbol, grid, block, and dtype and bytes of what is read and written: what it takes to run the case elsewhere.
    fn describe(&self) -> String {
        let g = &self.generated;
        let list = |accesses: &[Access]| {
            let one = |a: &Access| format!("{}:{}", a.spec.dtype, a.spec.bytes().unwrap_or(0));
            accesses.iter().map(one).collect::<Vec<_>>().join(",")
        };
        let [x, y, z] = g.block;
        format!("{} {} {x} {y} {z} r{} w{}\n", g.name, g.grid[0], list(&g.reads), list(&g.writes))
    }

    fn compare(&self, bytes: &[u8]) {
        let expected = evaluate(&self.body, &self.inputs).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let mut offset = 0;
        for (number, expected) in expected.iter().enumerate() {
            let size = expected.bytes().len();
            let found = Tensor::from_bytes(expected.spec().clone(), &bytes[offset..offset + size]).expect("its size");
            offset += size;
            let (a, b) = (found.to_f64_vec(), expected.to_f64_vec());
            let scale = b.iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
            let step = match expected.dtype() {
                DType::F16 => 2.0f64.powi(-10),
                DType::BF16 => 2.0f64.powi(-7),
                _ => 0.0,
            };
            // Where nothing is tolerated, every bit counts but those of a NaN.
            for (at, (&a, &b)) in a.iter().zip(&b).enumerate() {
                let close = match self.tolerance {
                    0.0 => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
                    t => {
                        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= t * scale + (step * b.abs()).min(1e30)
                    }
                };
                assert!(
                    close,
                    "{}: output {number} ({}) at {at} is {a}, not {b} (scale {scale})\n{}",
                    self.name,
                    expected.spec(),
                    self.generated.source
                );
            }
        }
    }
}

/// The rules that make the text run anywhere, and twice alike.
fn check_text(name: &str, generated: &Generated) {
    let source = &generated.source;
    for word in ["asm", "INFINITY", "NAN", "atomic", "#include"] {
        assert!(!source.contains(word), "{name}: `{word}` in\n{source}");
    }
    assert!(source.contains("extern \"C\" __global__ void __launch_bounds__("), "{name}");
    assert!(source.contains(&format!("\n{}(", generated.name)), "{name}");
    let [x, y, z] = generated.grid;
    assert!(x >= 1 && x <= i32::MAX as u32 && (1..=65535).contains(&y) && (1..=65535).contains(&z), "{name}");
    let threads: u32 = generated.block.iter().product();
    assert!((1..=1024).contains(&threads), "{name}: {threads} threads");
}
