graph @f(%x: f32[2, -1]) { return %x }
// ==== expected
// error 1:21: `-1` is below what can stand here
