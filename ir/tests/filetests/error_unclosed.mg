graph @f(%x: f32[2]) {
  return %x
// ==== expected
// error 3:1: expected `,` or `}`, found the end of the text
