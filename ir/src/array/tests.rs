//! Arrays against constants written by hand.

use super::*;
use std::sync::Mutex;

/// Stands for a device: its bytes are seen through `download` only.
#[derive(Debug)]
struct Remote {
    bytes: Vec<u8>,
    downloads: Mutex<usize>,
}

impl Storage for Remote {
    fn host_bytes(&self) -> Option<&[u8]> {
        None
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn download(&self) -> Result<Vec<u8>, ArrayError> {
        *self.downloads.lock().unwrap() += 1;
        Ok(self.bytes.clone())
    }

    fn place(&self) -> String {
        "cuda:3".to_string()
    }
}

#[derive(Debug)]
struct Broken;

impl Storage for Broken {
    fn host_bytes(&self) -> Option<&[u8]> {
        None
    }

    fn len(&self) -> usize {
        8
    }

    fn download(&self) -> Result<Vec<u8>, ArrayError> {
        let source = Arc::new(std::io::Error::other("the device is gone"));
        Err(ArrayError::Device { place: self.place(), source })
    }

    fn place(&self) -> String {
        "cuda:1".to_string()
    }
}

fn remote(spec: Spec, bytes: &[u8]) -> Array {
    Array::from_storage(spec, Arc::new(Remote { bytes: bytes.to_vec(), downloads: Mutex::new(0) })).unwrap()
}

#[track_caller]
fn fails<T>(result: Result<T, ArrayError>, message: &str) {
    assert_eq!(result.err().expect("an error").to_string(), message);
}

#[test]
fn elements_come_back() {
    let x = Array::new([2, 3], vec![1i32, -2, 3, -4, 5, i32::MIN]).unwrap();
    assert_eq!(x.spec(), &i32::spec([2, 3]));
    assert_eq!((x.dtype(), x.shape().dims(), x.elements()), (DType::I32, &[2, 3][..], 6));
    assert_eq!(x.to_vec::<i32>().unwrap(), [1, -2, 3, -4, 5, i32::MIN]);
    assert_eq!(x.as_slice::<i32>().unwrap()[5], i32::MIN);
    assert_eq!(Array::from_slice([2], &[true, false]).unwrap().bytes().unwrap()[..], [1, 0]);
    assert_eq!(Array::scalar(2.5f64).item::<f64>().unwrap(), 2.5);
    assert_eq!(Array::scalar(f16::from_f32(1.0)).bytes().unwrap()[..], 0x3c00u16.to_ne_bytes());
    assert_eq!(Array::zeros::<f32>([3]).unwrap().to_vec::<f32>().unwrap(), [0.0; 3]);
    assert_eq!(Array::full([2, 2], bf16::from_f32(-1.0)).unwrap().bytes().unwrap()[..2], 0xbf80u16.to_ne_bytes());
    assert_eq!(Array::from_fn([2, 2], |i| 10 * i as i64).unwrap().to_vec::<i64>().unwrap(), [0, 10, 20, 30]);
}

#[test]
fn host_bytes_are_aligned() {
    for len in [0, 1, 15, 16, 17, 1000] {
        let x = Array::zeros::<u8>([len]).unwrap();
        let bytes = x.host_bytes().unwrap();
        assert_eq!((bytes.len(), bytes.as_ptr().addr() % 16), (len, 0));
    }
}

#[test]
fn lengths_are_checked() {
    fails(Array::new([2, 2], vec![1f32; 3]), "f32[2, 2] has 4 elements, but 3 were given");
    fails(Array::new([], vec![0u8; 0]), "u8[] has 1 elements, but 0 were given");
    fails(Array::from_bytes(f32::spec([2]), vec![0; 7]), "f32[2] has 8 bytes, but 7 were given");
    let short = Remote { bytes: vec![0; 4], downloads: Mutex::new(0) };
    fails(Array::from_storage(f32::spec([2]), Arc::new(short)), "f32[2] has 8 bytes, but 4 were given");
}

#[test]
fn sizes_that_cannot_exist_are_errors() {
    let too_large = |spec: &str| format!("{spec} is too large: its size in bytes does not fit in an i64");
    fails(Array::zeros::<u8>([1 << 32, 1 << 31]), &too_large("u8[4294967296, 2147483648]"));
    fails(Array::full([usize::MAX], 1f32), &too_large("f32[18446744073709551615]"));
    // 2^62 elements fit, their 2^64 bytes do not.
    fails(Array::new([1 << 62], vec![0f32]), &too_large("f32[4611686018427387904]"));
    fails(Array::from_fn([usize::MAX, 2, 0], |_| true), &too_large("bool[18446744073709551615, 2, 0]"));
    fails(Array::from_bytes(f64::spec([1 << 60]), []), &too_large("f64[1152921504606846976]"));
    let storage = Arc::new(Broken);
    fails(Array::from_storage(f64::spec([1 << 60]), storage), &too_large("f64[1152921504606846976]"));
    // A size that exists, and that no host has.
    fails(Array::zeros::<u8>([1 << 62]), "the host could not allocate 4611686018427387904 bytes");
}

#[test]
fn dtypes_are_checked() {
    let message = "the array is f32[1], but its elements were asked for as f64; ask for f32";
    let x = Array::new([1], vec![1f32]).unwrap();
    fails(x.to_vec::<f64>(), message);
    fails(x.item::<f64>(), message);
    fails(x.as_slice::<f64>(), message);
    // The same size is not the same type.
    fails(x.to_vec::<i32>(), "the array is f32[1], but its elements were asked for as i32; ask for f32");
}

#[test]
fn items_are_single() {
    assert_eq!(Array::new([1, 1], vec![7u32]).unwrap().item::<u32>().unwrap(), 7);
    let message = "which has not exactly one element; read it with `to_vec`";
    fails(Array::new([2], vec![7u32, 8]).unwrap().item::<u32>(), &format!("the array is u32[2], {message}"));
    fails(Array::zeros::<u32>([0]).unwrap().item::<u32>(), &format!("the array is u32[0], {message}"));
}

#[test]
fn bools_are_zero_or_one() {
    assert_eq!(Array::from_bytes(bool::spec([2]), [0, 1]).unwrap().to_vec::<bool>().unwrap(), [false, true]);
    let message = "element 1 is no bool: its byte is 2, and a bool is 0 or 1";
    fails(Array::from_bytes(bool::spec([2]), [0, 2]), message);
    fails(remote(bool::spec([2]), &[0, 2]).to_vec::<bool>(), message);
    fails(remote(bool::spec([2]), &[0, 2]).host(), message);
    // Any byte is a u8.
    assert_eq!(Array::from_bytes(u8::spec([1]), [2]).unwrap().item::<u8>().unwrap(), 2);
}

#[test]
fn empty_arrays() {
    let x = Array::zeros::<f32>([3, 0, 5]).unwrap();
    assert_eq!((x.elements(), x.to_vec::<f32>().unwrap().len(), x.bytes().unwrap().len()), (0, 0, 0));
    assert!(x.bitwise_eq(&Array::new([3, 0, 5], Vec::<f32>::new()).unwrap()).unwrap());
    assert!(!x.bitwise_eq(&Array::new([0], Vec::<f32>::new()).unwrap()).unwrap());
    assert_eq!(format!("{x:?}"), "Array(f32[3, 0, 5] on host: [])");
}

#[test]
fn devices_are_downloaded_from() {
    let x = remote(i32::spec([2]), i32::as_bytes(&[7, -1]));
    assert_eq!((x.place().as_str(), x.host_bytes()), ("cuda:3", None));
    assert_eq!(x.to_vec::<i32>().unwrap(), [7, -1]);
    let host = x.host().unwrap();
    assert_eq!((host.place().as_str(), host.to_vec::<i32>().unwrap()), ("host", vec![7, -1]));
    assert!(host.bitwise_eq(&x).unwrap());
    assert_eq!(*x.storage_as::<Remote>().expect("its own storage").downloads.lock().unwrap(), 3);
    assert!(host.storage_as::<Remote>().is_none());
    fails(
        x.as_slice::<i32>(),
        "the array lies on cuda:3, so its elements cannot be borrowed; copy it with `host` or `to_vec`",
    );
    let error = Array::from_storage(i32::spec([2]), Arc::new(Broken)).unwrap().to_vec::<i32>().unwrap_err();
    assert_eq!(error.to_string(), "the array could not be read from cuda:1");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the device is gone");
}

#[test]
fn clones_share_their_storage() {
    let x = Array::scalar(1f32);
    let y = Array::scalar(1f32);
    assert!(x.same_storage(&x.clone()) && x.storage_id() == x.clone().storage_id());
    assert!(x.same_storage(&x.host().unwrap()));
    assert!(!x.same_storage(&y) && x.storage_id() != y.storage_id());
}

#[test]
fn equality_is_of_bits() {
    let nan = Array::scalar(f32::NAN);
    assert!(nan.bitwise_eq(&Array::scalar(f32::NAN)).unwrap());
    assert!(!Array::scalar(0.0f32).bitwise_eq(&Array::scalar(-0.0f32)).unwrap());
    assert!(!Array::scalar(0f32).bitwise_eq(&Array::scalar(0i32)).unwrap());
}

#[test]
fn debug_shows_the_first_elements() {
    let x = Array::from_fn([3, 3], |i| i as f32 / 2.0).unwrap();
    assert_eq!(format!("{x:?}"), "Array(f32[3, 3] on host: [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, …])");
    assert_eq!(format!("{:?}", Array::scalar(true)), "Array(bool[] on host: [true])");
    let x = remote(i32::spec([2]), i32::as_bytes(&[7, -1]));
    assert_eq!(format!("{x:?}"), "Array(i32[2] on cuda:3)");
    assert_eq!(*x.storage_as::<Remote>().unwrap().downloads.lock().unwrap(), 0);
}

#[test]
fn arrays_cross_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Array>();
    shared::<ArrayError>();
}
