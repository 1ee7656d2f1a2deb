graph @f(state %s: f32[2], %x: f32[3]) {
  return state "s" = %x
}
// ==== expected
// error 2:22: state "s" is f32[2], not f32[3]
