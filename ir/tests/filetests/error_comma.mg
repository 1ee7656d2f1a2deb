graph @f(%x: f32[2] %y: f32[2]) { return %x }
// ==== expected
// error 1:21: expected `,` or `)`, found `%y`
