graph @f(%x: f32[2, 2]) { %y = reshape %x {shape = 4} return %y }
// ==== expected
// error 1:44: `shape` is a list: `shape = [0, 1]`
