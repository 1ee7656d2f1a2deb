graph @step(%i: i64[], %x: f32[2]) {
  %f = cast %i {dtype = f32}
  %g = broadcast %f {shape = [2]}
  %y = add %x, %g
  return %y
}
graph @unused(%x: f32[2]) { return %x }
graph @main(%flag: bool[], %x: f32[2], %n: i32[]) {
  %y = fori_loop %x {count = 3, body = @step}
  return %y
}
// ==== expected
// graph @step(input %0 "i": i64[], input %1 "x": f32[2]) {
//   %2 = cast %0 {dtype = f32} : f32[]
//   %3 = broadcast %2 {shape = [2]} : f32[2]
//   %4 = add %1, %3 : f32[2]
//   return "out0" = %4
// }
//
// graph @main(input %0 "flag": bool[], input %1 "x": f32[2], input %2 "n": i32[]) {
//   %3 = fori_loop %1 {count = 3, body = @step} : f32[2]
//   return "out0" = %3
// }
