graph @literals() {
  %a = constant 0x7f800001 : f32[]
  %b = constant 0x7fc00000 : f32[]
  %c = constant -0.0 : f64[]
  %d = constant 1e-3 : f16[]
  %e = constant -128 : i8[]
  %f = constant -9223372036854775808 : i64[]
  %g = constant true : bool[]
  %h = constant -inf : bf16[]
  return %a, %b, %c, %d, %e, %f, %g, %h
}
// ==== expected
// graph @literals() {
//   %0 = constant 0x7f800001 : f32[]
//   %1 = constant NaN : f32[]
//   %2 = constant -0.0 : f64[]
//   %3 = constant 0.0010004043579101563 : f16[]
//   %4 = constant -128 : i8[]
//   %5 = constant -9223372036854775808 : i64[]
//   %6 = constant true : bool[]
//   %7 = constant -inf : bf16[]
//   return
//     "out0" = %0,
//     "out1" = %1,
//     "out2" = %2,
//     "out3" = %3,
//     "out4" = %4,
//     "out5" = %5,
//     "out6" = %6,
//     "out7" = %7
// }
