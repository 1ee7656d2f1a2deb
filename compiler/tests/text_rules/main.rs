//! Rules that the text of every kernel and of the prelude keeps: it runs under any emulation of the device, computes the
//! same twice, and asks of a barrier nothing that it does not promise.

#[path = "../codegen/build.rs"]
#[expect(dead_code, reason = "makes data too, which text has no use for")]
mod build;
mod kernels;
mod prelude;
mod rules;
mod text;

use rules::violations;

#[test]
fn kernels_keep_the_rules() {
    let all = kernels::all();
    assert!(all.len() > 500, "{} kernels", all.len());
    for (name, source) in &all {
        let found = violations(source);
        assert!(found.is_empty(), "{name}: {}\n{source}", found.join("; "));
    }
    // What the rules are about occurs.
    for word in ["__shared__", "__syncthreads", "_sync(", "mg_shfl_", "mg_ldmatrix", "mg_async_copy<", "return;", "e-"]
    {
        assert!(all.iter().any(|(_, source)| source.contains(word)), "no kernel has `{word}`");
    }
}

#[test]
fn each_rule_is_checked() {
    let kernel =
        |body: &str| format!("extern \"C\" __global__ void k(float* y0) {{\nint t = threadIdx.x;\n{body}\n}}\n");
    assert_eq!(violations(&kernel("y0[t] = 0.5f;")), Vec::<String>::new());
    for (body, expected) in [
        ("asm(\"nop;\");", "`asm`"),
        ("volatile int x = 0;", "`volatile`"),
        ("y0[0] = INFINITY;", "`INFINITY`"),
        ("#include <math.h>", "`#include`"),
        ("#line 1", "`#line`"),
        ("while (y0[0] == 0.0f) {}", "a loop that waits without mg_spin"),
        ("for (;;) {}", "a loop that waits without mg_spin"),
        ("atomicAdd(y0, 1.0f);", "`atomicAdd`"),
        ("int x = __shfl_sync(m, t, 0);", "`__shfl_sync` without a literal mask"),
        ("__syncwarp();", "`__syncwarp` without a literal mask"),
        ("if (t < 3) {\n__syncthreads();\n}", "`__syncthreads` where only some threads come"),
        (
            "int u = t + 1;\nfor (int i = u; i < 9; ++i) {\n__syncthreads();\n}",
            "`__syncthreads` where only some threads come",
        ),
        ("if (t == 0) { y0[0] = mg_shfl_xor(1.0f, 1); }", "`mg_shfl_xor` where only some threads come"),
        ("if (t > 4) return;\n__syncthreads();", "`__syncthreads` after some threads have returned"),
        ("__shared__ float s[4];\nmg_store<4>(s + 0, v);", "`s` is read or written in vectors and not aligned"),
        (
            "__shared__ unsigned short s[64];\nconst unsigned short* p = s + t;\nmg_ldmatrix(a, p + 4);",
            "`s` is read or written in vectors and not aligned",
        ),
        ("__shared__ float s[12289];", "49156 bytes of static shared memory"),
        ("y0[t] = 0.10000000001f;", "`0.10000000001f` is not the float it becomes"),
    ] {
        assert_eq!(violations(&kernel(body)), [expected], "{body}");
    }
    let uniform =
        "if (__syncthreads_or(t)) {\n__syncthreads();\n}\n__shared__ __align__(16) float s[4];\nmg_store<4>(s, v);";
    assert_eq!(violations(&kernel(uniform)), Vec::<String>::new());
}
