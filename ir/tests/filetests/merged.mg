graph @merged(%x: f32[2]) {
  %a = neg %x
  %b = neg %x
  print %a
  print %b
  %c = add %a, %b
  return %c
}
// ==== expected
// graph @merged(input %0 "x": f32[2]) {
//   %1 = neg %0 : f32[2]
//   print %1
//   print %1
//   %4 = add %1, %1 : f32[2]
//   return "out0" = %4
// }
