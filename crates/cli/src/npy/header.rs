//! The header of a file: a Python dictionary, such as `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.

/// Fields of a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fields<'a> {
    pub(super) descr: &'a str,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

impl<'a> Fields<'a> {
    /// Parses a header.
    pub(super) fn parse(text: &'a str) -> Result<Fields<'a>, String> {
        let mut cursor = Cursor { rest: text };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        cursor.expect('{')?;
        while !cursor.eat('}') {
            let key = cursor.string()?;
            cursor.expect(':')?;
            match key {
                "descr" => descr = Some(cursor.descr()?),
                "fortran_order" => fortran_order = Some(cursor.boolean()?),
                "shape" => shape = Some(cursor.tuple()?),
                _ => return Err(damaged(&format!("the header has an unknown field '{key}'"))),
            }
            if !cursor.eat(',') {
                cursor.expect('}')?;
                break;
            }
        }
        if !cursor.rest.trim().is_empty() {
            return Err(damaged("the header goes on after its end"));
        }
        let missing = |field: &str| damaged(&format!("the header has no '{field}'"));
        Ok(Fields {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// Adds advice to a problem.
pub(super) fn damaged(problem: &str) -> String {
    format!("{problem}: save the array again with numpy.save")
}

/// The unparsed rest.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn eat(&mut self, wanted: char) -> bool {
        let rest = self.rest.trim_start();
        let after = rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(rest);
        after.is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.eat(wanted) { Ok(()) } else { Err(self.error(&format!("'{wanted}'"))) }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        for quote in ['\'', '"'] {
            if self.eat(quote) {
                let (text, rest) = self.rest.split_once(quote).ok_or_else(|| self.error("the end of a string"))?;
                self.rest = rest;
                return Ok(text);
            }
        }
        Err(self.error("a string"))
    }

    fn descr(&mut self) -> Result<&'a str, String> {
        if self.rest.trim_start().starts_with('[') {
            return Err("it is a structured array: save its bytes with .tofile('x.bin') and bind @x.bin".into());
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool, String> {
        let word = self.word();
        match word {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => Err(damaged(&format!("the header has '{word}' where True or False should be"))),
        }
    }

    fn tuple(&mut self) -> Result<Vec<usize>, String> {
        let mut numbers = Vec::new();
        self.expect('(')?;
        while !self.eat(')') {
            let word = self.word();
            let problem = || damaged(&format!("the header has '{word}' where a length should be"));
            numbers.push(word.parse().map_err(|_| problem())?);
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(numbers)
    }

    /// Consumes letters and digits.
    fn word(&mut self) -> &'a str {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        word
    }

    fn error(&self, wanted: &str) -> String {
        let found: String = self.rest.trim_start().chars().take(12).collect();
        damaged(&format!("the header has '{}' where {wanted} should be", found.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_fields_in_any_order_and_quotes() {
        let fields = Fields { descr: "<f4", fortran_order: false, shape: vec![3, 4] };
        for text in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n",
            "{\"shape\":(3,4,),\"fortran_order\":False,\"descr\":\"<f4\"}",
        ] {
            assert_eq!(Fields::parse(text), Ok(fields.clone()));
        }
        let shape = |shape: &str| {
            let text = format!("{{'descr': '<f4', 'fortran_order': True, 'shape': {shape}}}");
            Fields::parse(&text).map(|fields| fields.shape)
        };
        assert_eq!(shape("()"), Ok(vec![]));
        assert_eq!(shape("(7,)"), Ok(vec![7]));
        assert_eq!(shape("(0, 5)"), Ok(vec![0, 5]));
    }

    #[test]
    fn names_mistakes() {
        let error = |text: &str| {
            let error = Fields::parse(text).expect_err(text);
            error.trim_end_matches(": save the array again with numpy.save").to_owned()
        };
        assert_eq!(error(""), "the header has '' where '{' should be");
        assert_eq!(error("{}"), "the header has no 'descr'");
        assert_eq!(error("{'descr': '<f4'}"), "the header has no 'fortran_order'");
        assert_eq!(error("{'descr': '<f4"), "the header has '<f4' where the end of a string should be");
        assert_eq!(error("{'kind': 'x'}"), "the header has an unknown field 'kind'");
        assert_eq!(error("{'shape': (3, -4)}"), "the header has '' where a length should be");
        assert_eq!(error("{'shape': (99999999999999999999,)}").matches("99999999999999999999").count(), 1);
        assert_eq!(error("{'shape': 3}"), "the header has '3}' where '(' should be");
        assert_eq!(error("{'fortran_order': 0}"), "the header has '0' where True or False should be");
        assert!(error("{'descr': [('a', '<f4')]}").contains("structured array"));
        let rest = "{'descr': '<f4', 'fortran_order': False, 'shape': ()} {";
        assert_eq!(error(rest), "the header goes on after its end");
        assert_eq!(error("{'descr'\u{0}"), "the header has '\\0' where ':' should be");
    }
}
