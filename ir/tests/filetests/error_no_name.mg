graph @f(%x: f32[2]) { neg %x return %x }
// ==== expected
// error 1:24: 0 names for `neg`, which has 1 result
