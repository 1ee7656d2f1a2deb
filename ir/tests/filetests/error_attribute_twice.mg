graph @f(%x: f32[2, 2]) { %y = concat %x {axis = 1, axis = 0} return %y }
// ==== expected
// error 1:53: attribute `axis` is given twice
