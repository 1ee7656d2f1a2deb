graph @f(%x: f32[2]) { %y = reverse %x return %y }
// ==== expected
// error 1:29: `reverse` needs `{axes = [0, 1]}`
