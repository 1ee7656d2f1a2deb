graph @f(%x "na\me": f32[2]) { return %x }
// ==== expected
// error 1:16: unknown escape; there are `\"`, `\\`, `\n`, `\t` and `\u{…}`
