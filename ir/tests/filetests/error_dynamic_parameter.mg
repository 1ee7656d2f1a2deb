graph @f(%x: f32[?]) { return %x }
// ==== expected
// error 1:14: a parameter has a static shape
