graph @f(%x: f32[4611686018427387904, 2]) { return %x }
// ==== expected
// error 1:14: f32[4611686018427387904, 2] has more bytes than 2^63
