graph @inner(%x: f32[2]) { return %x }
graph @f(%x: f32[2]) {
  %y = fori_loop %x {count = 2, body = @inner}
  return %y
}
// ==== expected
// error 3:8: `fori_loop`: the body takes 1 values, not 2
