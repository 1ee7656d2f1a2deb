graph @f(%x: f32[2]) { %y = convolve_with_stride %x return %y }
// ==== expected
// error 1:29: there is no op `convolve_with_stride`
