graph @inner(%i: i64[], %x: f32[2]) { return %x }
graph @f(%x: f32[2]) {
  %y = fori_loop %x {count = 2, body = @iner}
  return %y
}
// ==== expected
// error 3:40: graph `@iner` is not defined above; did you mean `@inner`?
