graph @swap(%i: i64[], %a: f32[2], %b: f32[2]) { return %b, %a }
graph @main(%a: f32[2], %b: f32[2]) {
  %x, %y = fori_loop %a, %b {count = 3, body = @swap} : f32[2], f32[2]
  %d = sub %x, %y
  return "difference" = %d, "x" = %x
}
// ==== expected
// graph @swap(input %0 "i": i64[], input %1 "a": f32[2], input %2 "b": f32[2]) {
//   return "out0" = %2, "out1" = %1
// }
//
// graph @main(input %0 "a": f32[2], input %1 "b": f32[2]) {
//   %2, %2.1 = fori_loop %0, %1 {count = 3, body = @swap} : f32[2], f32[2]
//   %3 = sub %2, %2.1 : f32[2]
//   return "difference" = %3, "x" = %2
// }
