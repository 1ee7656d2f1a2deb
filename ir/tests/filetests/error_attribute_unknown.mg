graph @f(%x: f32[2, 2]) { %y = matmul %x, %x {axis = 1} return %y }
// ==== expected
// error 1:47: `matmul` has no attribute `axis`; it has `transpose_a` and `transpose_b`
