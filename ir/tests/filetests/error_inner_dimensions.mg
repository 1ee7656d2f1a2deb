graph @f(%x: f32[2, 3]) {
  %y = neg %x
  %z =
    matmul %x, %y
  return %z
}
// ==== expected
// error 4:5: `matmul`: f32[2, 3] with f32[2, 3]: the inner dimensions 3 and 2 differ
