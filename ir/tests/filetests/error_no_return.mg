graph @f(%x: f32[2]) {
  %y = neg %x
}
// ==== expected
// error 3:1: expected an op or `return`, found `}`
