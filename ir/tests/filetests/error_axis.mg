graph @f(%x: f32[2, 2]) { %y = argmax %x {axis = 2} return %y }
// ==== expected
// error 1:32: `argmax`: axis 2 of a tensor with 2 dimensions
