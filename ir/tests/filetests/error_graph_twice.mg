graph @f(%x: f32[2]) { return %x }
graph @f(%x: f32[2]) { return %x }
// ==== expected
// error 2:7: graph `@f` is defined above already
