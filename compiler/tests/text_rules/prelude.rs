//! The rules of the prelude.

use crate::rules::OF_HOST;
use crate::text::{code, is_inexact, is_name, words};
use monograph_compiler::codegen::{NVRTC_OPTIONS, prelude};
use monograph_runtime::nvrtc::{CompileRequest, Nvrtc};
use std::collections::BTreeSet;

/// A function: its head, whose branch it is in, and what it says.
struct Function {
    head: String,
    branch: Branch,
    body: String,
}

/// What begins a function that only the twins of others use.
const OPERATION: &str = "EMU_OPERATION";

#[derive(Clone, Copy, PartialEq, Debug)]
enum Branch {
    Both,
    Device,
    Portable,
}

fn functions() -> Vec<Function> {
    let code = code(prelude()).replace('\\', " ");
    let mut open: Vec<Branch> = Vec::new();
    let mut functions: Vec<Function> = Vec::new();
    let mut depth = 0i32;
    for line in code.lines() {
        match line.trim() {
            l if l.starts_with("#if") => {
                open.push(if l.contains("__CUDACC__") { Branch::Device } else { Branch::Both });
                continue;
            }
            "#else" => {
                let last = open.last_mut().expect("an #else has its #if");
                assert_eq!(*last, Branch::Device, "the twins are in the #else of __CUDACC__");
                *last = Branch::Portable;
                continue;
            }
            "#endif" => {
                open.pop().expect("an #endif has its #if");
                continue;
            }
            _ => {}
        }
        let begins = line.contains("MG_FN") && !line.contains("#define MG_FN");
        if depth == 0 && (begins || line.contains(OPERATION)) {
            let head = line.split('{').next().unwrap_or_default();
            let branch = open.iter().copied().find(|b| *b != Branch::Both).unwrap_or(Branch::Both);
            let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
            functions.push(Function { head, branch, body: String::new() });
        }
        depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
        if let Some(function) = functions.last_mut() {
            function.body += line;
        }
    }
    assert!(open.is_empty() && depth == 0, "brackets of the prelude");
    functions
}

#[test]
fn every_function_with_ptx_has_a_portable_twin() {
    let functions = functions();
    let heads = |branch: Branch| -> BTreeSet<&str> {
        let of_branch = functions.iter().filter(|f| f.branch == branch && !f.head.contains(OPERATION));
        of_branch.map(|f| f.head.as_str()).collect()
    };
    let (device, portable) = (heads(Branch::Device), heads(Branch::Portable));
    assert_eq!(device, portable, "both branches have the same functions");
    let mut with_ptx = 0;
    for function in &functions {
        let uses = |word: &str| words(&function.body).contains(&word);
        let emulated = words(&function.body).iter().any(|w| w.starts_with("emu_") || *w == OPERATION);
        assert!(!uses("asm") || function.branch == Branch::Device, "{}", function.head);
        assert!(!emulated || function.branch == Branch::Portable, "{}", function.head);
        with_ptx += usize::from(uses("asm"));
    }
    assert!(with_ptx > 20, "{with_ptx} functions with PTX");
}

#[test]
fn the_prelude_needs_no_header() {
    let code = code(prelude());
    let words = words(&code);
    for (i, &word) in words.iter().enumerate() {
        assert!(!OF_HOST.contains(&word), "`{word}`");
        assert!(word != "volatile" || words[i - 1] == "asm", "`volatile` without `asm`");
        assert!(!word.starts_with("atomic"), "`{word}` may add floats in any order");
        assert!(!is_inexact(word), "`{word}` is not the float it becomes");
        let masked = word.starts_with("__") && word.ends_with("_sync");
        assert!(!masked || words[i + 2] == "MG_ALL_LANES", "`{word}` without a literal mask");
        if word == "while" {
            assert!(words[i..i + 6].contains(&"mg_mbarrier_try_wait"), "a loop that waits without mg_spin");
        }
    }
    for line in code.lines().filter(|l| l.starts_with('#')) {
        let directive = ["#if", "#else", "#endif", "#define MG_", "#pragma nv_diag_suppress"];
        assert!(directive.iter().any(|d| line.starts_with(d)), "{line}");
    }
    for function in functions().iter().filter(|f| f.head.contains("mg_atomic")) {
        assert!(function.head.contains("(unsigned* p, unsigned x)"), "{}: not of integers", function.head);
    }
}

/// A kernel that calls each function with PTX which no generated kernel calls.
const USE: &str = r#"
extern "C" __global__ void __launch_bounds__(128) use_copies(const float* x0, float* y0, unsigned valid) {
    __shared__ __align__(16) float s[128 * 4];
    int t = mg_opaque((int)threadIdx.x);
    mg_async_copy<16>(s + t * 4, x0 + t * 4, valid);
    mg_async_commit();
    mg_async_wait<1>();
    mg_barrier_sync(1, 128);
    mg_async_copy<8>(s + t * 4, x0 + t * 4, valid);
    mg_async_copy<4>(s + t * 4 + 2, x0 + t * 4, valid);
    mg_async_commit();
    mg_async_wait<0>();
    mg_barrier_arrive(2, 128);
    mg_barrier_sync(1, 128);
    y0[t] = mg_maximum(s[t], mg_minimum(s[t + 128], s[t ^ 1]));
}

extern "C" __global__ void __launch_bounds__(128) use_order(unsigned* y0, mg_u64* y1) {
    while (mg_load_acquire(y0) != 3u) mg_spin();
    mg_store_release(y0, 1u);
    while (mg_load_acquire(y1) != 3ull) mg_spin();
    mg_store_release(y1, (mg_u64)(mg_atomic_add_release(y0, 1u) + mg_atomic_add_acq_rel(y0, 2u)));
}

extern "C" __global__ void __launch_bounds__(32) use_tensor_cores(float* y0, unsigned short* y1) {
    __shared__ __align__(16) unsigned short s[16 * 16];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 32) s[i] = mg_to_bf16_bits(mg_from_f16(mg_to_f16_bits((float)i)));
    __syncthreads();
    unsigned a[4], b[4];
    float c[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    mg_ldmatrix(a, s + t % 16 * 16 + t / 16 * 8);
    mg_ldmatrix_trans(b, s + t % 16 * 16 + t / 16 * 8);
    mg_mma_f16(c, a, b[0], b[1]);
    mg_mma_bf16(c, a, b[2], b[3]);
    y0[t] = c[0] + c[1] + c[2] + c[3];
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __launch_bounds__(128) use_transactions(const float* x0, float* y0) {
    __shared__ __align__(16) float s[256];
    __shared__ mg_u64 bar;
    int t = threadIdx.x;
    if (t == 0) {
        mg_mbarrier_init(&bar, 128);
        mg_fence_async();
    }
    __syncthreads();
    if (t == 0) {
        mg_mbarrier_arrive_expect(&bar, 1024);
        mg_bulk_copy(s, x0, 1024, &bar);
    } else {
        mg_mbarrier_arrive(&bar);
    }
    mg_mbarrier_wait(&bar, 0);
    y0[t] = s[t] + s[t + 128];
}
#endif
"#;

#[test]
fn every_function_with_ptx_assembles() {
    let used: BTreeSet<&str> = words(USE).into_iter().filter(|w| is_name(w)).collect();
    for function in functions().iter().filter(|f| words(&f.body).contains(&"asm")) {
        let names: Vec<&str> = words(&function.head).into_iter().filter(|w| w.starts_with("mg_")).collect();
        // Of a function that a macro names, the beginning of its name.
        let name = names.iter().find(|n| **n != "mg_u64").expect("a function has a name");
        let called = used.iter().any(|u| u == name || (name.ends_with('_') && u.starts_with(name)));
        assert!(called || *name == "mg_mbarrier_try_wait", "{name} is not assembled");
    }
    let nvrtc = match Nvrtc::find() {
        Ok(nvrtc) => nvrtc,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let program = format!("{}{USE}", prelude());
    for (arch, kernels) in [("sm_80", 3), ("sm_90a", 4)] {
        let mut request = CompileRequest::new("prelude", &program, arch);
        request.options = NVRTC_OPTIONS.iter().map(ToString::to_string).collect();
        let compiled = nvrtc.compile(&request).unwrap_or_else(|e| panic!("{arch}: {e}"));
        assert_eq!(compiled.kernels.len(), kernels, "{arch}");
    }
}
