// One input of each dtype, returned as it came.
graph @dtypes(
  %bool: bool[3], %i8: i8[3], %u8: u8[3], %i32: i32[3], %u32: u32[3], %i64: i64[3],
  %f16: f16[3], %bf16: bf16[3], %f32: f32[3], %f64: f64[3],
) {
  return "out_bool" = %bool, "out_i8" = %i8, "out_u8" = %u8, "out_i32" = %i32, "out_u32" = %u32, "out_i64" = %i64,
    "out_f16" = %f16, "out_bf16" = %bf16, "out_f32" = %f32, "out_f64" = %f64
}
