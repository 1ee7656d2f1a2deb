//! Convolutions, their transposes and gradients.

use super::{Call, calls};
use monograph::Conv;

pub(super) const CALLS: &[Call] = calls! {
    |x, k| x.conv1d(k, &Conv::new());
    |x, k| x.conv(k, &Conv::new());
    |x, k| x.conv_transpose1d(k, &Conv::new());
    |x, k| x.conv_transpose(k, &Conv::new());
    |y, k| y.conv_input_gradient(k, &[8], &Conv::new());
    |x, y| x.conv_weight_gradient(y, &[3], &Conv::new());
    |x, k| x.conv1d(k, &Conv::new().stride(2).padding(1).groups(2));
    |x, k| x.conv(k, &Conv::new().stride(2).padding(1).groups(2));
    |x, k| x.conv_transpose1d(k, &Conv::new().stride(2).padding(1).groups(2));
    |x, k| x.conv_transpose(k, &Conv::new().stride(2).padding(1).groups(2));
    |y, k| y.conv_input_gradient(k, &[9], &Conv::new().stride(2).padding(1).groups(2));
    |x, y| x.conv_weight_gradient(y, &[3], &Conv::new().stride(2).padding(1).groups(2));
    |x, k| x.conv2d(k, &Conv::new().padding(1));
    |x, k| x.conv(k, &Conv::new().padding(1));
    |x, k| x.conv_transpose2d(k, &Conv::new().padding(1));
    |x, k| x.conv_transpose(k, &Conv::new().padding(1));
    |y, k| y.conv_input_gradient(k, &[6, 7], &Conv::new().padding(1));
    |x, y| x.conv_weight_gradient(y, &[3, 3], &Conv::new().padding(1));
    |x, k| x.conv2d(k, &Conv::new().stride([2, 3]).padding([0, 2]).dilation([2, 1]));
    |x, k| x.conv(k, &Conv::new().stride([2, 3]).padding([0, 2]).dilation([2, 1]));
    |x, k| x.conv_transpose2d(k, &Conv::new().stride([2, 3]).padding([0, 2]).dilation([2, 1]));
    |x, k| x.conv_transpose(k, &Conv::new().stride([2, 3]).padding([0, 2]).dilation([2, 1]));
    |y, k| y.conv_input_gradient(k, &[7, 8], &Conv::new().stride([2, 3]).padding([0, 2]).dilation([2, 1]));
    |x, y| x.conv_weight_gradient(y, &[2, 3], &Conv::new().stride([2, 3]).padding([0, 2]).dilation([2, 1]));
    |x, k| x.conv2d(k, &Conv::new().stride(2).padding(1).groups(4));
    |x, k| x.conv(k, &Conv::new().stride(2).padding(1).groups(4));
    |x, k| x.conv_transpose2d(k, &Conv::new().stride(2).padding(1).output_padding(1).groups(4));
    |x, k| x.conv_transpose(k, &Conv::new().stride(2).padding(1).output_padding(1).groups(4));
    |y, k| y.conv_input_gradient(k, &[5, 5], &Conv::new().stride(2).padding(1).groups(4));
    |x, y| x.conv_weight_gradient(y, &[3, 3], &Conv::new().stride(2).padding(1).groups(4));
    |x, k| x.conv3d(k, &Conv::new().padding(1));
    |x, k| x.conv_transpose3d(k, &Conv::new().padding(1));
    |y, k| y.conv_input_gradient(k, &[4, 4, 5], &Conv::new().padding(1));
    |x, y| x.conv_weight_gradient(y, &[2, 3, 2], &Conv::new().padding(1));
};
