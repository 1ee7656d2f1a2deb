graph @f(%x: float[2]) { return %x }
// ==== expected
// error 1:14: expected a dtype (bool, i8, u8, i32, u32, i64, f16, bf16, f32, f64), found `float`
