use super::*;
use crate::scalar::Scalar;

/// A file with this version and header.
fn file(version: u8, text: &str, data: &[u8]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    file.extend([version, 0]);
    match version {
        1 => file.extend((text.len() as u16).to_le_bytes()),
        _ => file.extend((text.len() as u32).to_le_bytes()),
    }
    file.extend(text.as_bytes());
    file.extend(data);
    file
}

fn text(descr: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n")
}

fn header(scalar: Scalar, shape: &[usize]) -> Header {
    Header { dtype: Dtype::of(scalar), shape: shape.to_vec() }
}

fn error(file: &[u8]) -> String {
    read(file).expect_err("it is wrong")
}

#[test]
fn reads_all_versions() {
    let data = [1, 2, 3, 4, 5, 6, 7, 8];
    for version in 1..=3 {
        let file = file(version, &text("<f4", "(2, 1)"), &data);
        assert!(is_npy(&file));
        assert_eq!(read(&file), Ok((header(Scalar::Float, &[2, 1]), Cow::Borrowed(&data[..]))));
    }
}

#[test]
fn swaps_big_endian_numbers() {
    let file = file(1, &text(">u2", "(2,)"), &[1, 2, 3, 4]);
    assert_eq!(read(&file), Ok((header(Scalar::Ushort, &[2]), Cow::Borrowed(&[2, 1, 4, 3][..]))));
}

#[test]
fn rejects_fortran_order_if_it_matters() {
    let fortran = |shape, data: &[u8]| file(1, &text("|u1", shape).replace("False", "True"), data);
    assert!(error(&fortran("(2, 2)", &[0; 4])).contains("numpy.ascontiguousarray"));
    assert!(read(&fortran("(1, 2)", &[0; 2])).is_ok() && read(&fortran("(2,)", &[0; 2])).is_ok());
}

#[test]
fn arrays_round_trip() {
    for shape in [vec![], vec![3], vec![0], vec![2, 0, 4], vec![2, 3, 4], vec![1; 40_000]] {
        let header = header(Scalar::Half, &shape);
        let data: Vec<u8> = (0..header.byte_len().expect("it is small")).map(|i| i as u8).collect();
        let mut file = Vec::new();
        write(&mut file, &header, &data).expect("memory takes it");
        assert_eq!((file.len() - data.len()) % ALIGNMENT, 0);
        assert_eq!(read(&file), Ok((header, Cow::Borrowed(&data[..]))));
    }
}

/// The output of `numpy.save` for `numpy.arange(3, dtype='<f4')`.
#[test]
fn writes_the_same_bytes_as_numpy() {
    let mut file = Vec::new();
    let data: Vec<u8> = [0f32, 1.0, 2.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    write(&mut file, &header(Scalar::Float, &[3]), &data).expect("memory takes it");
    let mut expected = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }".to_vec();
    expected.resize(127, b' ');
    expected.push(b'\n');
    expected.extend(data);
    assert_eq!(file, expected);
}

#[test]
fn rejects_truncated_files() {
    let whole = file(2, &text("<i4", "(3,)"), &[0; 12]);
    assert!(read(&whole).is_ok());
    for length in 0..whole.len() {
        assert!(!error(&whole[..length]).is_empty());
    }
    assert_eq!(error(b"NUMPY"), "it is not a .npy file");
    assert!(error(&whole[..9]).contains("ends in its header"));
    assert!(error(&whole[..whole.len() - 1]).contains("int32 of shape (3,) takes 12 bytes, but there are 11"));
}

#[test]
fn rejects_wrong_lengths() {
    assert!(error(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}").contains("ends in its header"));
    assert!(error(b"\x93NUMPY\x01\x00\xff\xff{}").contains("ends in its header"));
    assert!(error(b"\x93NUMPY\x09\x00\x02\x00{}").contains("version 9"));
    let huge = |shape: &str| error(&file(1, &text("<f4", shape), &[]));
    assert!(huge("(18446744073709551615,)").contains("too many bytes"));
    assert!(huge("(4294967296, 4294967296)").contains("too many bytes"));
    assert!(huge("(18446744073709551616,)").contains("where a length should be"));
    assert!(huge("(1000000000000,)").contains("takes 4000000000000 bytes, but there are 0"));
    // Empty, however long its other dimensions are.
    assert!(read(&file(1, &text("<f4", "(18446744073709551615, 0)"), &[])).is_ok());
    assert!(error(&file(1, &text("|V18446744073709551615", "(2,)"), &[])).contains("too many bytes"));
}

#[test]
fn rejects_garbage_with_advice() {
    for text in ["", "{", "\0\0\0\0", "{'descr': }", "[]", "{'descr': '<f4', 'fortran_order': False}"] {
        assert!(error(&file(1, text, &[])).contains("save the array again with numpy.save"), "{text}");
    }
    let mut latin1 = file(1, &text("<f4", "(1,)"), &[0; 4]);
    latin1[20] = 0xe9;
    assert!(error(&latin1).contains("the header is not text"));
    assert!(error(&file(1, &text("|O", "(1,)"), &[0; 4])).contains(".astype("));
    let structured = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }";
    assert!(error(&file(1, structured, &[0; 4])).ends_with("bind @x.bin"));
}

/// Changes any byte of the header: the result is an array of the right length, or an error.
#[test]
fn damaged_headers_do_not_panic() {
    let whole = file(1, &text("<f4", "(2, 3)"), &[0; 24]);
    for at in 0..whole.len() - 24 {
        for byte in 0..=255 {
            let mut file = whole.clone();
            file[at] = byte;
            if let Ok((header, data)) = read(&file) {
                assert_eq!(header.byte_len(), Some(data.len()), "byte {at} is {byte}");
            }
        }
    }
}
