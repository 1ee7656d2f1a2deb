graph @f() {
  %a = constant 1
  return %a
}
// ==== expected
// error 2:8: `constant` needs its type: `constant … : f32[]`
