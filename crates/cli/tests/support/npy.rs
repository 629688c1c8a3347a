//! Arrays in NumPy's files, as tests write and read them.

/// A file of version 1 with this dtype and shape, as they stand in the header.
pub(crate) fn file(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    file_with(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n"), data)
}

/// A file of version 1 with this header.
pub(crate) fn file_with(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// A file of floats in one dimension.
pub(crate) fn floats(numbers: &[f32]) -> Vec<u8> {
    file("<f4", &format!("({},)", numbers.len()), &bytes(numbers))
}

pub(crate) fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect()
}

/// The dtype, the shape and the bytes of a file that the program wrote.
#[track_caller]
pub(crate) fn read(path: &str) -> (String, String, Vec<u8>) {
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(file[..8], *b"\x93NUMPY\x01\x00");
    let end = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    assert_eq!(end % 64, 0, "data begin where they can be mapped");
    let header = std::str::from_utf8(&file[10..end]).expect("the header is text");
    let between = |start: &str, end: &str| {
        let rest = header.split_once(start).unwrap_or_else(|| panic!("no {start} in {header}")).1;
        rest.split_once(end).expect("it ends").0.to_owned()
    };
    assert_eq!(between("'fortran_order': ", ","), "False");
    (between("'descr': '", "'"), between("'shape': ", ", }"), file[end..].to_vec())
}

/// The floats of a file that the program wrote.
#[track_caller]
pub(crate) fn read_floats(path: &str) -> Vec<f32> {
    let (descr, _, data) = read(path);
    assert_eq!(descr, "<f4");
    from_bytes(&data)
}
