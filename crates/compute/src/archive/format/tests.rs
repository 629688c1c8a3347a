use super::*;
use msl::reflect::Kernel;

fn entry(number: u8) -> ArchiveEntry {
    let [backend, machine, details] = ["cpu", "x86_64 haswell", "+avx2"].map(str::to_owned);
    ArchiveEntry {
        key: Key([number; 32]),
        constants: "0=bool:true".into(),
        reflection: Kernel {
            name: format!("kernel{number}"),
            arguments: Vec::new(),
            builtins: Vec::new(),
            function_constants: vec![0],
            threadgroup_memory: Vec::new(),
            static_threadgroup_memory: 0,
            max_total_threads_per_threadgroup: Some(64),
            file: "a.metal".into(),
            line: 3,
        },
        artifact: Artifact {
            target: ArtifactTarget { backend, machine, details },
            variant: if number == 1 { "row".into() } else { "any".into() },
            bytes: vec![number; 5],
        },
    }
}

fn read(bytes: &[u8]) -> Result<Vec<ArchiveEntry>> {
    let len = bytes.len() as u64;
    let header = Header::parse(&bytes[..HEADER_SIZE.min(bytes.len())], len)?;
    let items = header.index(&bytes[HEADER_SIZE..HEADER_SIZE + header.index_len], len)?;
    items.iter().map(|item| item.entry(&bytes[item.offset as usize..(item.offset + item.len) as usize])).collect()
}

fn archive() -> (Vec<ArchiveEntry>, Vec<u8>) {
    let entries = vec![entry(1), entry(2)];
    let bytes = write(&entries).expect("it is small");
    (entries, bytes)
}

#[test]
fn entries_round_trip() {
    let (entries, bytes) = archive();
    assert_eq!(read(&bytes), Ok(entries));
    assert_eq!(read(&write([]).expect("it is small")), Ok(Vec::new()));
}

#[test]
fn every_damaged_byte_is_detected() {
    let (entries, bytes) = archive();
    let mut damaged = bytes.clone();
    for at in 0..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            damaged[at] ^= change;
            assert!(read(&damaged).is_err(), "byte {at} ^ {change}");
            damaged[at] ^= change;
        }
    }
    assert_eq!(read(&damaged), Ok(entries));
}

#[test]
fn every_wrong_length_is_detected() {
    let (_, bytes) = archive();
    for len in 0..bytes.len() {
        assert!(read(&bytes[..len]).is_err(), "{len} bytes");
    }
    for more in [1, 100] {
        let longer = [&bytes[..], &vec![0; more]].concat();
        assert_eq!(read(&longer), Err(Problem::Length));
    }
}

#[test]
fn other_versions_are_reported() {
    let (_, mut bytes) = archive();
    bytes[8] = 7;
    assert_eq!(read(&bytes), Err(Problem::Version(7)));
    assert_eq!(read(b"\x7fELF and so on"), Err(Problem::NoArchive));
    assert_eq!(read(b""), Err(Problem::NoArchive));
}

/// Wrong lengths under valid hashes: such a file cannot make the reader allocate more than the file's size.
#[test]
fn lengths_are_not_trusted() {
    let with_index = |index: &[u8]| {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((index.len() as u32).to_le_bytes());
        bytes.extend(sha256(index));
        bytes.extend(index);
        bytes
    };
    let count = u32::MAX.to_le_bytes();
    assert!(read(&with_index(&count)).is_err());
    let text_length = [&count[..], &[0; 72], &count].concat();
    assert!(read(&with_index(&text_length)).is_err());
    assert!(read(&with_index(&[])).is_err());
    let mut long_index = with_index(&[0; 4]);
    long_index[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(read(&long_index), Err(Problem::Length));
    // An entry longer than the file, and entries whose lengths overflow 64 bits.
    let (_, bytes) = archive();
    let index_len = u32::from_le_bytes(bytes[12..16].try_into().expect("4 bytes")) as usize;
    let mut index = bytes[HEADER_SIZE..HEADER_SIZE + index_len].to_vec();
    index[68..76].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(read(&with_index(&index)), Err(Problem::Length));
}

/// Arbitrary contents under valid hashes are read or rejected, without a panic.
#[test]
fn arbitrary_contents_with_valid_hashes_do_not_panic() {
    let (_, bytes) = archive();
    let mut state = 1u64;
    let mut random = |bound: usize| {
        // Knuth's linear congruential generator; the high bits are the good ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let index_len = u32::from_le_bytes(bytes[12..16].try_into().expect("4 bytes")) as usize;
    let header = Header::parse(&bytes, bytes.len() as u64).expect("it is whole");
    let items = header.index(&bytes[HEADER_SIZE..][..index_len], bytes.len() as u64).expect("it is whole");
    let (mut read_ones, mut refused) = (0, 0);
    for round in 0..20_000 {
        let item = &items[round % items.len()];
        let mut part = match round % 4 < 2 {
            true => bytes[HEADER_SIZE..][..index_len].to_vec(),
            false => bytes[item.offset as usize..][..item.len as usize].to_vec(),
        };
        for _ in 0..1 + random(3) {
            let at = random(part.len());
            match random(3) {
                0 => part[at] ^= 1 << random(8),
                1 => part[at] = [0, 1, 0x7f, 0xff][random(4)],
                _ => part.truncate(at.max(1)),
            }
        }
        let is_read = match round % 4 < 2 {
            true => Header { index_len: part.len(), sha: sha256(&part) }.index(&part, bytes.len() as u64).is_ok(),
            false => IndexItem { sha: sha256(&part), ..item.clone() }.entry(&part).is_ok(),
        };
        *(if is_read { &mut read_ones } else { &mut refused }) += 1;
    }
    assert!(read_ones > 0 && refused > 0, "{read_ones} {refused}");
}
