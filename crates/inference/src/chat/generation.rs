//! `{% generation %}` … `{% endgeneration %}`: mark the text to train on for `transformers`.

/// Replaces these tags by an `if true`, which keeps line numbers and whitespace trimming.
pub(super) fn without_tags(template: &str) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("{%") {
        let (before, tag) = rest.split_at(start);
        text.push_str(before);
        let Some(end) = tag.find("%}") else {
            rest = tag;
            break;
        };
        let inside = &tag[2..end];
        let name = inside.trim_start_matches(['-', '+']).trim_end_matches(['-', '+']).trim();
        let replacement = match name {
            "generation" => Some("if true"),
            "endgeneration" => Some("endif"),
            _ => None,
        };
        match replacement {
            Some(replacement) => {
                text.push_str("{%");
                text.push_str(&inside.replacen(name, replacement, 1));
                text.push_str("%}");
                rest = &tag[end + 2..];
            }
            None => {
                text.push_str("{%");
                rest = &tag[2..];
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::without_tags;

    #[test]
    fn replaces_generation_tags_and_keeps_others() {
        let cases = [
            ("a{%- generation %}b{% endgeneration -%}c", "a{%- if true %}b{% endif -%}c"),
            ("{% set generation = 1 %}{{ generation }}", "{% set generation = 1 %}{{ generation }}"),
            ("{% generation", "{% generation"),
            ("{%generation%}", "{%if true%}"),
            ("no tags", "no tags"),
            ("{%", "{%"),
        ];
        for (template, expected) in cases {
            assert_eq!(without_tags(template), expected);
        }
    }
}
