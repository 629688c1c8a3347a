//! Alphabet of byte-level BPE: vocabularies write every byte as a visible character.

/// Character of each byte: itself if it is visible in Latin-1, otherwise the next one from U+0100 on.
pub(super) fn alphabet() -> [char; 256] {
    let is_visible = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut others = '\u{100}'..;
    std::array::from_fn(|byte| {
        let byte = byte as u8;
        if is_visible(byte) { char::from(byte) } else { others.next().unwrap_or(char::REPLACEMENT_CHARACTER) }
    })
}

/// Inverse map, from characters to bytes.
pub(super) struct ByteAlphabet {
    /// Indexed by code point; all are below 0x144.
    bytes: Vec<Option<u8>>,
}

impl ByteAlphabet {
    pub(super) fn new() -> Self {
        let mut bytes = vec![None; 0x144];
        for (character, byte) in alphabet().into_iter().zip(0..=u8::MAX) {
            bytes[character as usize] = Some(byte);
        }
        Self { bytes }
    }

    /// Appends the bytes of a token. A token with a character outside of the alphabet is literal UTF-8.
    pub(super) fn decode(&self, token: &str, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        for character in token.chars() {
            match self.bytes.get(character as usize).copied().flatten() {
                Some(byte) => bytes.push(byte),
                None => {
                    bytes.truncate(start);
                    bytes.extend_from_slice(token.as_bytes());
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alphabet_has_the_characters_of_gpt2() {
        let alphabet = alphabet();
        assert_eq!(alphabet[b' ' as usize], 'Ġ');
        assert_eq!(alphabet[b'\n' as usize], 'Ċ');
        assert_eq!(alphabet[0xad], 'Ń');
        assert_eq!(alphabet[0], 'Ā');
    }

    #[test]
    fn decodes_every_byte() {
        let token: String = alphabet().into_iter().collect();
        let mut bytes = Vec::new();
        ByteAlphabet::new().decode(&token, &mut bytes);
        assert_eq!(bytes, (0..=u8::MAX).collect::<Vec<_>>());
    }

    #[test]
    fn token_with_a_foreign_character_is_literal() {
        let mut bytes = b"before".to_vec();
        ByteAlphabet::new().decode("Ġa中", &mut bytes);
        assert_eq!(bytes, "beforeĠa中".as_bytes());
    }
}
