graph @late(%x: f32[2]) {
  %y = neg %x
  %z = parameter bound : f32[2]
  %s = add %y, %z
  return %s
}
// ==== expected
// graph @late(input %0 "x": f32[2]) {
//   %1 = neg %0 : f32[2]
//   %2 = parameter bound "z" : f32[2]
//   %3 = add %1, %2 : f32[2]
//   return "out0" = %3
// }
