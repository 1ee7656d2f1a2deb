graph @f(%x "a": f32[2], %y "a": f32[2]) { return %x }
// ==== expected
// error 1:29: parameter name "a" is empty or taken
