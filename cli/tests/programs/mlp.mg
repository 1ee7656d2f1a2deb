// Two layers of a network. The weights are constants: they are given once and stay on the device.
graph @mlp(
  input %x: f32[4, 8],
  constant %w1: f32[8, 16],
  constant %b1: f32[16],
  constant %w2: f32[16, 3],
  constant %b2: f32[3],
) {
  %zero = constant 0.0 : f32[]
  %zeros = broadcast %zero {shape = [4, 16]}
  %p1 = matmul %x, %w1
  %r1 = broadcast %b1 {shape = [4, 16]}
  %s1 = add %p1, %r1
  %hidden = maximum %s1, %zeros
  %p2 = matmul %hidden, %w2
  %r2 = broadcast %b2 {shape = [4, 3]}
  %logits = add %p2, %r2
  return "logits" = %logits, probe "hidden" = %hidden
}
