graph @f(%x: f32[]) {
  %y = broadcast %x {shape = [4611686018427387904, 2]}
  return %y
}
// ==== expected
// error 2:8: `broadcast`: the result f32[4611686018427387904, 2] has more bytes than 2^63
