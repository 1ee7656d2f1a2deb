graph @f(%x "name: f32[2]) { return %x }
// ==== expected
// error 1:13: the string is not closed on its line
