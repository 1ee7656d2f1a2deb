// A running count and sum: state that stays on the device from one replay to the next.
graph @counter(input %x: f32[], state %calls: i64[], state %total: f32[]) {
  %one = constant 1 : i64[]
  %next = add %calls, %one
  %sum = add %total, %x
  return "sum" = %sum, state "calls" = %next, state "total" = %sum
}
