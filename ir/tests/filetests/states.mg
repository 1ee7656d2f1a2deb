graph @states(state %a: f32[2], state %b "layers.0.b": f32[2]) {
  return state "a" = %b, state "layers.0.b" = %a as "new b", probe "b" = %b, "b" = %b
}
// ==== expected
// graph @states(state %0 "a": f32[2], state %1 "layers.0.b": f32[2]) {
//   return state "a" = %1, state "layers.0.b" = %0 as "new b", probe "b" = %1, "b" = %1
// }
