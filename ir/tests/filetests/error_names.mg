graph @f(%x: f32[2]) { %y, %z = neg %x return %y }
// ==== expected
// error 1:24: 2 names for `neg`, which has 1 result
