// The softmax of each row.
graph @softmax(input %x: f32[2, 3]) {
  %max = reduce_max %x {axes = [1]}
  %column = reshape %max {shape = [2, 1]}
  %maxes = broadcast %column {shape = [2, 3]}
  %centred = sub %x, %maxes
  %exp = exp %centred
  %sum = reduce_sum %exp {axes = [1]}
  %sums = reshape %sum {shape = [2, 1]}
  %total = broadcast %sums {shape = [2, 3]}
  %y = div %exp, %total
  return "y" = %y
}
