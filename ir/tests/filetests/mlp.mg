# A small network; types are left out.
graph @mlp(%x: f32[4, 8], constant %w "w1": f32[8, 2], constant %b: f32[2]) {
  %p = matmul %x, %w
  %r = broadcast %b {shape = [4, 2]}
  %s = add %p, %r
  return "logits" = %s
}
// ==== expected
// graph @mlp(input %0 "x": f32[4, 8], constant %1 "w1": f32[8, 2], constant %2 "b": f32[2]) {
//   %3 = matmul %0, %1 : f32[4, 2]
//   %4 = broadcast %2 {shape = [4, 2]} : f32[4, 2]
//   %5 = add %3, %4 : f32[4, 2]
//   return "logits" = %5
// }
