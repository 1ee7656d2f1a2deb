graph @f(state %weight: f32[2], %x: f32[2]) {
  return state "wieght" = %x
}
// ==== expected
// error 2:16: there is no state `"wieght"`; did you mean "weight"?
