graph @f(%x: f32[2]) { %y = neg %x; return %y }
// ==== expected
// error 1:35: unexpected character `;`
