graph @f(%x: f32[18446744073709551616]) { return %x }
// ==== expected
// error 1:18: `18446744073709551616` is greater than what can stand here
