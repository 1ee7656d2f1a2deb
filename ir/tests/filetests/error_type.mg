graph @f(%x: f32[64, 784], %w: f32[784, 10]) {
  %y = matmul %x, %w : f32[64, 11]
  return %y
}
// ==== expected
// error 2:24: the type is f32[64, 11], but `matmul` gives f32[64, 10]
