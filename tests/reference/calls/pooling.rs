//! Poolings.

use super::{Call, calls};
use monograph::Pool;

pub(super) const CALLS: &[Call] = calls! {
    |x| x.max_pool1d(&Pool::new(3));
    |x| x.max_pool1d_with_indices(&Pool::new(3));
    |y, at| y.max_unpool1d(at, [9], &Pool::new(3));
    |x| x.avg_pool1d(&Pool::new(3));
    |x| x.avg_pool1d(&Pool::new(3).count_include_pad(false));
    |x| x.max_pool1d(&Pool::new(3).stride(2).padding(1).ceil_mode(true));
    |x| x.max_pool1d_with_indices(&Pool::new(3).stride(2).padding(1).ceil_mode(true));
    |y, at| y.max_unpool1d(at, [8], &Pool::new(3).stride(2).padding(1).ceil_mode(true));
    |x| x.avg_pool1d(&Pool::new(3).stride(2).padding(1).ceil_mode(true));
    |x| x.avg_pool1d(&Pool::new(3).stride(2).padding(1).ceil_mode(true).count_include_pad(false));
    |x| x.max_pool1d(&Pool::new(3).stride(2).ceil_mode(true));
    |x| x.max_pool1d_with_indices(&Pool::new(3).stride(2).ceil_mode(true));
    |y, at| y.max_unpool1d(at, [2], &Pool::new(3).stride(2).ceil_mode(true));
    |x| x.avg_pool1d(&Pool::new(3).stride(2).ceil_mode(true));
    |x| x.avg_pool1d(&Pool::new(3).stride(2).ceil_mode(true).count_include_pad(false));
    |x| x.max_pool2d(&Pool::new(2));
    |x| x.max_pool2d_with_indices(&Pool::new(2));
    |y, at| y.max_unpool2d(at, [6, 7], &Pool::new(2));
    |x| x.avg_pool2d(&Pool::new(2));
    |x| x.avg_pool2d(&Pool::new(2).count_include_pad(false));
    |x| x.max_pool2d(&Pool::new(3).stride(2).padding(1));
    |x| x.max_pool2d_with_indices(&Pool::new(3).stride(2).padding(1));
    |y, at| y.max_unpool2d(at, [7, 7], &Pool::new(3).stride(2).padding(1));
    |x| x.avg_pool2d(&Pool::new(3).stride(2).padding(1));
    |x| x.avg_pool2d(&Pool::new(3).stride(2).padding(1).count_include_pad(false));
    |x| x.max_pool2d(&Pool::new([3, 2]).stride([2, 3]).padding([1, 0]).ceil_mode(true));
    |x| x.max_pool2d_with_indices(&Pool::new([3, 2]).stride([2, 3]).padding([1, 0]).ceil_mode(true));
    |y, at| y.max_unpool2d(at, [7, 8], &Pool::new([3, 2]).stride([2, 3]).padding([1, 0]).ceil_mode(true));
    |x| x.avg_pool2d(&Pool::new([3, 2]).stride([2, 3]).padding([1, 0]).ceil_mode(true));
    |x| x.avg_pool2d(&Pool::new([3, 2]).stride([2, 3]).padding([1, 0]).ceil_mode(true).count_include_pad(false));
    |x| x.max_pool2d(&Pool::new(3).stride(1).dilation([2, 1]));
    |x| x.max_pool2d_with_indices(&Pool::new(3).stride(1).dilation([2, 1]));
    |y, at| y.max_unpool2d(at, [8, 9], &Pool::new(3).stride(1).dilation([2, 1]));
    |x| x.avg_pool2d(&Pool::new(3).stride(1).dilation([2, 1]));
    |x| x.avg_pool2d(&Pool::new(3).stride(1).dilation([2, 1]).count_include_pad(false));
    |x| x.max_pool3d(&Pool::new(2).stride(1).padding(1));
    |x| x.max_pool3d_with_indices(&Pool::new(2).stride(1).padding(1));
    |y, at| y.max_unpool3d(at, [4, 5, 4], &Pool::new(2).stride(1).padding(1));
    |x| x.avg_pool3d(&Pool::new(2).stride(1).padding(1));
    |x| x.avg_pool3d(&Pool::new(2).stride(1).padding(1).count_include_pad(false));
};
