// Tensors without elements: nothing is launched, and a sum over nothing is zero.
graph @empty(%x: f32[0, 3]) {
  %y = exp %x
  %sum = reduce_sum %x {axes = [0]}
  return "y" = %y, "sum" = %sum
}
