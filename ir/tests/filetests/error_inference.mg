graph @f(%x: f32[2], %y: f64[2]) {
  %z = add %x, %y
  return %z
}
// ==== expected
// error 2:8: `add`: f32[2] with f64[2]: the dtypes differ; there is no implicit promotion; convert one side: `.cast(DType::F32)`
