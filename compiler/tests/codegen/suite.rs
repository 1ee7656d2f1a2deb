//! Checks of generated kernels: their text, their code from NVRTC, and what they compute, run in the emulator.

use crate::build::Random;
use crate::emulate::emulator;
use crate::execute::execute;
use monograph_compiler::Options;
use monograph_compiler::codegen::{Family, Generated, NVRTC_OPTIONS, generate, prelude, supported};
use monograph_ir::interp::Tensor;
use monograph_ir::plan::Access;
use monograph_ir::{Graph, Target};
use monograph_runtime::nvrtc::{CompileRequest, Nvrtc};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Some kernels that are compiled and run together.
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    pub(crate) cases: Vec<Case>,
    /// What the kernels are for.
    pub(crate) target: Target,
    /// Makes the data of cases that bring none.
    pub(crate) random: Random,
}

/// A kernel, what it is made from, and what it is run on.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) body: Graph,
    pub(crate) family: Family,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) generated: Generated,
    /// Greatest difference relative to the greatest magnitude of the output, beside one unit in the last
    /// place of a dtype that rounds.
    pub(crate) tolerance: f64,
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
        let family = supported(&body).unwrap_or_else(|why| panic!("{name}: {why}"));
        let generated = generate(&body, &self.target, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        check_text(&name, &generated);
        self.cases.push(Case { name, body, family, inputs, generated, tolerance });
        &self.cases[self.cases.len() - 1].generated
    }

    /// Compiles everything with NVRTC where there is one, runs it in the emulator where there is a C++ compiler, and
    /// compares with the interpreter.
    pub(crate) fn run(&self) {
        let program = self.program();
        self.save(&program);
        self.compile(&program);
        if let Some(emulator) = emulator(self.name) {
            execute(&emulator, self, &program);
        }
    }

    /// The text of all kernels, each once.
    fn program(&self) -> String {
        let mut seen = BTreeSet::new();
        let kernels = self.cases.iter().map(|c| &c.generated).filter(|g| seen.insert(&g.name));
        kernels.fold(prelude().to_string(), |program, g| program + &g.source)
    }

    /// Leaves in the target folder what it takes to run the cases elsewhere, by hand.
    fn save(&self, program: &str) {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(self.name);
        std::fs::create_dir_all(&folder).expect("the target folder can be written");
        let list: String = self.cases.iter().map(Case::describe).collect();
        for (file, text) in [("kernels.cu", program), ("cases.txt", &list)] {
            std::fs::write(folder.join(file), text).expect("the target folder can be written");
        }
        for (i, case) in self.cases.iter().enumerate() {
            let input: Vec<u8> = case.inputs.iter().flat_map(|t| t.bytes().to_vec()).collect();
            std::fs::write(folder.join(format!("{i}.in")), input).expect("the target folder can be written");
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
