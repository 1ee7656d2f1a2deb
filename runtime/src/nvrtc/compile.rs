//! Compiles a program.

use std::collections::BTreeMap;
use std::ffi::CString;

use super::cache::{Cache, CacheKey};
use super::error::NvrtcError;
use super::locate::Nvrtc;
use super::report::{self, KernelResources};

/// The options of a [`CompileRequest`] unless others are given: C++17, and no contraction of `a * b + c` (where a
/// fused multiply-add is meant, the source says `fmaf`).
pub const DEFAULT_OPTIONS: [&str; 2] = ["--std=c++17", "--fmad=false"];

/// What to compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileRequest<'a> {
    /// The program's file name in the compiler's messages.
    pub name: &'a str,
    /// CUDA C++ text.
    pub source: &'a str,
    /// The architecture: `sm_80`, `sm_90a`.
    pub arch: &'a str,
    /// NVRTC's options, without the architecture.
    pub options: Vec<String>,
    /// Whether PTX for the newest older architecture will do where NVRTC does not know `arch`.
    pub ptx_fallback: bool,
}

impl<'a> CompileRequest<'a> {
    /// A request with the [default options](DEFAULT_OPTIONS), for machine code only.
    pub fn new(name: &'a str, source: &'a str, arch: &'a str) -> CompileRequest<'a> {
        CompileRequest { name, source, arch, options: DEFAULT_OPTIONS.map(String::from).into(), ptx_fallback: false }
    }
}

/// What an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ImageKind {
    /// Machine code for one architecture, an ELF file.
    Cubin,
    /// Assembler text, which the driver compiles when it is loaded.
    Ptx,
}

/// A compiled program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// What `image` is.
    pub kind: ImageKind,
    /// The bytes to load into a device.
    pub image: Vec<u8>,
    /// The compiler's warnings, empty if there are none.
    pub log: String,
    /// What each kernel takes, by its symbol. Empty for PTX, of which nothing is known yet.
    pub kernels: BTreeMap<String, KernelResources>,
}

impl Nvrtc {
    /// Compiles a program. Several threads may compile at the same time.
    ///
    /// # Errors
    /// [`NvrtcError::Compilation`] with the compiler's log if the source is at fault, [`NvrtcError::UnknownArch`] if
    /// this NVRTC is too old (or too new) for the architecture, else the failed call.
    pub fn compile(&self, request: &CompileRequest<'_>) -> Result<Compiled, NvrtcError> {
        let (kind, arch) = self.target(request)?;
        let mut options = vec![text("the architecture", &format!("--gpu-architecture={arch}"))?];
        if kind == ImageKind::Cubin {
            options.push(c"--ptxas-options=-v".to_owned());
        }
        for option in &request.options {
            options.push(text("an option", option)?);
        }
        let source = text("the source", request.source)?;
        let mut program = self.api.program(&source, &text("the program's name", request.name)?)?;
        let result = program.compile(&options);
        let log = program.log()?;
        if let Err(error) = result {
            let log = report::without_report(&log);
            return Err(if error.is_compilation() {
                NvrtcError::Compilation { name: request.name.into(), arch, log }
            } else {
                NvrtcError::Call { call: error.call, code: error.code, detail: error.detail, log }
            });
        }
        let image = match kind {
            ImageKind::Cubin => program.cubin()?,
            ImageKind::Ptx => program.ptx()?,
        };
        Ok(Compiled { kind, image, log: report::without_report(&log), kernels: report::parse(&log) })
    }

    /// Takes the program from the cache, or compiles it and puts it there.
    ///
    /// # Errors
    /// Those of [`compile`](Self::compile). A cache that cannot be read or written is no error.
    pub fn compile_cached(&self, request: &CompileRequest<'_>, cache: &Cache) -> Result<Compiled, NvrtcError> {
        let key = CacheKey::new(self, request);
        if let Some(compiled) = cache.get(&key) {
            return Ok(compiled);
        }
        let compiled = self.compile(request)?;
        cache.put(&key, &compiled);
        Ok(compiled)
    }

    /// The kind of image and NVRTC's name of the architecture to ask for.
    fn target(&self, request: &CompileRequest<'_>) -> Result<(ImageKind, String), NvrtcError> {
        let known = self.supported_archs();
        let digits = request.arch.strip_prefix("sm_").map(|a| a.trim_end_matches(|c: char| c.is_ascii_lowercase()));
        let number: Option<u32> = digits.and_then(|d| d.parse().ok());
        if number.is_some_and(|n| known.contains(&n)) {
            return Ok((ImageKind::Cubin, request.arch.into()));
        }
        let older = number.and_then(|n| known.iter().copied().filter(|k| *k < n).max());
        match older.filter(|_| request.ptx_fallback) {
            Some(older) => Ok((ImageKind::Ptx, format!("compute_{older}"))),
            None => {
                Err(NvrtcError::UnknownArch { arch: request.arch.into(), version: self.version(), known: known.into() })
            }
        }
    }
}

fn text(what: &'static str, text: &str) -> Result<CString, NvrtcError> {
    CString::new(text).map_err(|_| NvrtcError::Nul { what })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::time::Instant;

    /// NVRTC, or `None` where there is none and none is required.
    pub(crate) fn nvrtc() -> Option<&'static Nvrtc> {
        match Nvrtc::find() {
            Ok(nvrtc) => Some(nvrtc),
            Err(error) if std::env::var_os("MONOGRAPH_REQUIRE_NVRTC").is_some_and(|v| v == "1") => panic!("{error}"),
            Err(error) => {
                println!("skipped: {error}");
                None
            }
        }
    }

    const ADD: &str = r#"
extern "C" __global__ void add(const float* a, float* b) {
    __shared__ float s[128];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = s[127 - threadIdx.x];
}"#;

    #[test]
    fn a_kernel_becomes_machine_code_with_a_report() {
        let Some(nvrtc) = nvrtc() else { return };
        for arch in ["sm_80", "sm_90a"] {
            let compiled = nvrtc.compile(&CompileRequest::new("add.cu", ADD, arch)).unwrap();
            assert_eq!(compiled.kind, ImageKind::Cubin);
            assert_eq!(compiled.image[..4], *b"\x7fELF");
            assert_eq!(compiled.log, "");
            let add = compiled.kernels["add"];
            assert_eq!((add.static_shared_bytes, add.spill_store_bytes, add.barriers), (512, 0, 1), "{arch}");
            assert!((1..=255).contains(&add.registers), "{add:?}");
        }
    }

    #[test]
    fn multiply_and_add_are_not_contracted() {
        let Some(nvrtc) = nvrtc() else { return };
        let source = r#"extern "C" __global__ void f(float* x) { x[0] = x[1] * x[2] + x[3]; }"#;
        let mut request = CompileRequest::new("f.cu", source, "sm_9999");
        request.ptx_fallback = true;
        let ptx = |request: &CompileRequest<'_>| String::from_utf8(nvrtc.compile(request).unwrap().image).unwrap();
        assert!(!ptx(&request).contains("fma.rn"), "{}", ptx(&request));
        request.options = vec!["--fmad=true".into()];
        assert!(ptx(&request).contains("fma.rn"), "{}", ptx(&request));
    }

    #[test]
    fn an_error_in_the_source_comes_with_the_compilers_log() {
        let Some(nvrtc) = nvrtc() else { return };
        let source = "extern \"C\" __global__ void f(float* x) {\n  x[0] = y;\n}";
        let error = nvrtc.compile(&CompileRequest::new("wrong.cu", source, "sm_80")).unwrap_err();
        let NvrtcError::Compilation { name, arch, log } = error else { panic!("{error}") };
        assert_eq!((name.as_str(), arch.as_str()), ("wrong.cu", "sm_80"));
        assert!(log.starts_with("wrong.cu(2): error: identifier \"y\" is undefined"), "{log}");
    }

    #[test]
    fn an_unknown_option_is_another_error_than_a_wrong_source() {
        let Some(nvrtc) = nvrtc() else { return };
        let mut request = CompileRequest::new("add.cu", ADD, "sm_80");
        request.options.push("--no-such-option".into());
        let error = nvrtc.compile(&request).unwrap_err();
        let NvrtcError::Call { call, log, .. } = error else { panic!("{error}") };
        assert_eq!(call, "nvrtcCompileProgram");
        assert!(log.contains("no-such-option"), "{log}");
    }

    #[test]
    fn an_unknown_architecture_is_named_and_ptx_is_the_fallback() {
        let Some(nvrtc) = nvrtc() else { return };
        for arch in ["sm_9999", "sm_1", "hopper"] {
            let error = nvrtc.compile(&CompileRequest::new("add.cu", ADD, arch)).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, NvrtcError::UnknownArch { .. }), "{text}");
            let (major, minor) = nvrtc.version();
            assert!(text.contains(arch) && text.contains(&format!("NVRTC {major}.{minor} ")), "{text}");
        }
        let mut request = CompileRequest::new("add.cu", ADD, "sm_9999");
        request.ptx_fallback = true;
        let compiled = nvrtc.compile(&request).unwrap();
        assert_eq!(compiled.kind, ImageKind::Ptx);
        assert!(String::from_utf8_lossy(&compiled.image).contains(".visible .entry add("));
    }

    #[test]
    fn a_nul_in_the_source_is_an_error() {
        let Some(nvrtc) = nvrtc() else { return };
        let error = nvrtc.compile(&CompileRequest::new("a.cu", "int\0x;", "sm_80")).unwrap_err();
        assert_eq!(error, NvrtcError::Nul { what: "the source" });
    }

    /// Kernels enough to keep one core busy for a while.
    fn many_kernels(seed: u32) -> String {
        let kernel = |i: u32| {
            format!(
                "extern \"C\" __global__ void k{seed}_{i}(float* a, int n) {{\n\
                 float s = 0; for (int j = 0; j < n; j++) s += a[j] * {i}.f; a[0] = s; }}\n"
            )
        };
        (0..40).map(kernel).collect()
    }

    #[test]
    fn threads_compile_different_programs_at_the_same_time() {
        let Some(nvrtc) = nvrtc() else { return };
        let compile = |seed| {
            let source = many_kernels(seed);
            let started = Instant::now();
            let compiled = nvrtc.compile(&CompileRequest::new("many.cu", &source, "sm_90a")).unwrap();
            assert_eq!(compiled.kernels.len(), 40);
            assert!(compiled.kernels.contains_key(&format!("k{seed}_39")));
            (started, Instant::now())
        };
        let spans: Vec<_> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..2).map(|seed| s.spawn(move || compile(seed))).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        // Whether NVRTC holds a lock shows in the times, which depend on the machine: they are printed, not judged.
        let sum: f64 = spans.iter().map(|(a, b)| (*b - *a).as_secs_f64()).sum();
        let (first, last) = (spans.iter().map(|s| s.0).min().unwrap(), spans.iter().map(|s| s.1).max().unwrap());
        println!("two programs: {sum:.3} s of compilation in {:.3} s", (last - first).as_secs_f64());
    }
}
