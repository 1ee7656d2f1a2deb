graph @f(%x: f32[2]) {
  %x = neg %x
  return %x
}
// ==== expected
// error 2:3: `%x` is defined above already
