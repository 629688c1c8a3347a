//! Prints a program as Metal source. Conversions are explicit: undefined behaviour of C++ (signed overflow) does not
//! occur, and the interpreter needs no rules for conversions.

use super::program::*;
use std::fmt::Write;

/// The kernel `name`, and the functions and the table that it uses.
pub(super) fn print(program: &Program, name: &str) -> String {
    let mut text = String::new();
    let table: Vec<String> = program.table.iter().map(|value| literal(Type::Int, i64::from(*value))).collect();
    let _ = writeln!(text, "constant int {name}_table[{TABLE}] = {{{}}};", table.join(", "));
    for (index, function) in program.functions.iter().enumerate() {
        let (element, length) = PARAMETER;
        let _ = writeln!(
            text,
            "static uint {name}_function{index}(uint v0, uint v1, thread {} (&a0)[{length}], device const uint *input, device atomic_uint *counters, device uint *out, uint thread_number, uint lane, uint uniform_number) {{",
            element.name()
        );
        let printer = Printer { name, variables: &function.variables, arrays: &function.arrays };
        printer.declarations(&mut text, 2, 1);
        printer.body(&mut text, &function.body, 1);
        text.push_str("  return 0u;\n}\n");
    }
    let threads: usize = program.group.iter().product();
    let _ = writeln!(
        text,
        "kernel void {name}(device const uint *input, device uint *out, device atomic_uint *counters, constant uint &uniform_number, uint3 position [[thread_position_in_grid]], uint3 grid [[threads_per_grid]], uint local [[thread_index_in_threadgroup]], uint3 group [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {{"
    );
    let _ = writeln!(text, "  threadgroup uint shared[{threads}];");
    text.push_str("  uint thread_number = (position.z * grid.y + position.y) * grid.x + position.x;\n");
    text.push_str("  out += thread_number * ");
    let _ = writeln!(text, "{OUTPUTS};");
    text.push_str(
        "  uint threads = group.x * group.y * group.z;\n  (void)threads; (void)shared; (void)local; (void)lane;\n",
    );
    let printer = Printer { name, variables: &program.variables, arrays: &program.arrays };
    printer.declarations(&mut text, 0, 0);
    printer.items(&mut text, &program.items, 1);
    for variable in 0..program.variables.len() {
        let _ = writeln!(text, "  out[{}] += uint(v{variable});", variable % OUTPUTS);
    }
    text.push_str("}\n");
    text
}

struct Printer<'a> {
    name: &'a str,
    variables: &'a [Type],
    arrays: &'a [ArrayType],
}

impl Printer<'_> {
    fn declarations(&self, text: &mut String, first_variable: usize, first_array: usize) {
        for (index, ty) in self.variables.iter().enumerate().skip(first_variable) {
            let _ = writeln!(text, "  {} v{index} = 0;", ty.name());
        }
        for (index, array) in self.arrays.iter().enumerate().skip(first_array) {
            let (element, length) = (array.element.name(), array.length);
            match array.kind {
                ArrayKind::Plain => {
                    let _ = writeln!(text, "  {element} a{index}[{length}] = {{}};");
                }
                ArrayKind::Vector => {
                    let _ = writeln!(text, "  {element}{length} a{index} = 0;");
                }
            }
        }
    }

    fn items(&self, text: &mut String, items: &[GroupStatement], depth: usize) {
        let indent = "  ".repeat(depth);
        for item in items {
            match item {
                GroupStatement::Alone(body) => self.body(text, body, depth),
                GroupStatement::Simd(variable, collective, value) => {
                    let value = self.cast(Type::Uint, value);
                    let call = match collective {
                        Collective::Sum => format!("simd_sum({value})"),
                        Collective::Min => format!("simd_min({value})"),
                        Collective::Max => format!("simd_max({value})"),
                        Collective::And => format!("simd_and({value})"),
                        Collective::Or => format!("simd_or({value})"),
                        Collective::Xor => format!("simd_xor({value})"),
                        Collective::PrefixInclusive => format!("simd_prefix_inclusive_sum({value})"),
                        Collective::PrefixExclusive => format!("simd_prefix_exclusive_sum({value})"),
                        Collective::Ballot => format!("uint(ulong(simd_ballot(({value} & 1u) != 0u)))"),
                        Collective::Any => format!("uint(simd_any(({value} & 7u) == 1u))"),
                        Collective::All => format!("uint(simd_all(({value} & 7u) != 1u))"),
                        Collective::First => format!("simd_broadcast_first({value})"),
                        Collective::IsFirst => format!("({value} + uint(simd_is_first()))"),
                        Collective::Shuffle => {
                            format!("simd_shuffle({value}, ushort({value} >> 3 & 31u))")
                        }
                        Collective::ShuffleXor => format!("simd_shuffle_xor({value}, 5)"),
                        Collective::RotateDown => format!("simd_shuffle_rotate_down({value}, 3)"),
                    };
                    let ty = self.variables[*variable].name();
                    let _ = writeln!(text, "{indent}v{variable} = {ty}({call});");
                }
                GroupStatement::Exchange(variable, value, index) => {
                    let ty = self.variables[*variable].name();
                    let value = self.cast(Type::Uint, value);
                    let index = self.cast(Type::Uint, index);
                    let _ = writeln!(text, "{indent}shared[local] = {value};");
                    let _ = writeln!(text, "{indent}threadgroup_barrier(mem_flags::mem_threadgroup);");
                    let _ = writeln!(text, "{indent}v{variable} = {ty}(shared[{index} % threads]);");
                    let _ = writeln!(text, "{indent}threadgroup_barrier(mem_flags::mem_threadgroup);");
                }
                GroupStatement::If(condition, then, other) => {
                    let _ = writeln!(text, "{indent}if ({}) {{", self.condition(condition));
                    self.items(text, then, depth + 1);
                    let _ = writeln!(text, "{indent}}} else {{");
                    self.items(text, other, depth + 1);
                    let _ = writeln!(text, "{indent}}}");
                }
                GroupStatement::BreakIf(condition) => {
                    let _ = writeln!(text, "{indent}if ({}) break;", self.condition(condition));
                }
                GroupStatement::ContinueIf(condition) => {
                    let _ = writeln!(text, "{indent}if ({}) continue;", self.condition(condition));
                }
                GroupStatement::Loop(counter, bound, body) => {
                    let bound = self.index(bound, 8);
                    let _ = writeln!(text, "{indent}for (v{counter} = 0; v{counter} < {bound}; v{counter}++) {{");
                    self.items(text, body, depth + 1);
                    let _ = writeln!(text, "{indent}}}");
                }
                GroupStatement::Repeat(counter, body) => {
                    let bound = "(uniform_number & 3u) + 1u";
                    let _ = writeln!(text, "{indent}for (v{counter} = 0; v{counter} < {bound}; v{counter}++) {{");
                    self.items(text, body, depth + 1);
                    let _ = writeln!(text, "{indent}}}");
                }
            }
        }
    }

    fn body(&self, text: &mut String, body: &[Statement], depth: usize) {
        for statement in body {
            self.statement(text, statement, depth);
        }
    }

    fn statement(&self, text: &mut String, statement: &Statement, depth: usize) {
        let indent = "  ".repeat(depth);
        let line = match statement {
            Statement::Set(variable, value) => {
                format!("v{variable} = {};", self.cast(self.variables[*variable], value))
            }
            Statement::SetElement(array, index, value) => {
                let value = self.cast(self.arrays[*array].element, value);
                format!("{} = {value};", self.element(*array, index))
            }
            Statement::UpdateVector(array, operator, value) => {
                let ty = self.arrays[*array].element;
                let operator = match operator {
                    Operator::Add => "+",
                    Operator::Multiply => "*",
                    _ => "^",
                };
                format!("a{array} = a{array}.yzwx {operator} {}4({});", ty.name(), self.cast(ty, value))
            }
            Statement::Output(index, value) => {
                format!("out[{}] += {};", self.index(index, OUTPUTS), self.cast(Type::Uint, value))
            }
            Statement::Count(index, value) => format!(
                "atomic_fetch_add_explicit(&counters[{}], {}, memory_order_relaxed);",
                self.index(index, COUNTERS),
                self.cast(Type::Uint, value)
            ),
            Statement::ThroughPointer(condition, first, second, value) => {
                let ty = self.arrays[first.0].element;
                let (condition, value) = (self.condition(condition), self.cast(ty, value));
                let (first, second) = (self.element(first.0, &first.1), self.element(second.0, &second.1));
                let name = ty.name();
                format!("{{ thread {name} *p = {condition} ? &{first} : &{second}; *p = {name}(*p ^ {value}); }}")
            }
            Statement::If(condition, then, other) => {
                let _ = writeln!(text, "{indent}if ({}) {{", self.condition(condition));
                self.body(text, then, depth + 1);
                if !other.is_empty() {
                    let _ = writeln!(text, "{indent}}} else {{");
                    self.body(text, other, depth + 1);
                }
                "}".into()
            }
            Statement::Loop(a_loop) => return self.a_loop(text, a_loop, depth),
            Statement::Switch(value, cases) => {
                let _ = writeln!(text, "{indent}switch ({}) {{", self.index(value, 8));
                for case in cases {
                    for label in &case.labels {
                        let _ = writeln!(text, "{indent}case {label}:");
                    }
                    if case.labels.is_empty() {
                        let _ = writeln!(text, "{indent}default:");
                    }
                    self.body(text, &case.body, depth + 1);
                    let _ = writeln!(text, "{indent}  {}", if case.breaks { "break;" } else { ";" });
                }
                "}".into()
            }
            Statement::Break => "break;".into(),
            Statement::Continue => "continue;".into(),
            Statement::Return(None) => "return;".into(),
            Statement::Return(Some(value)) => format!("return {};", self.cast(Type::Uint, value)),
            Statement::Call(variable, function, a, b, array) => {
                let ty = self.variables[*variable].name();
                let (a, b) = (self.cast(Type::Uint, a), self.cast(Type::Uint, b));
                let name = self.name;
                format!(
                    "v{variable} = {ty}({name}_function{function}({a}, {b}, a{array}, input, counters, out, thread_number, lane, uniform_number));"
                )
            }
        };
        let _ = writeln!(text, "{indent}{line}");
    }

    fn a_loop(&self, text: &mut String, a_loop: &Loop, depth: usize) {
        let indent = "  ".repeat(depth);
        let (counter, bound) = (a_loop.counter, self.index(&a_loop.bound, 8));
        let more = a_loop.condition.as_ref().map(|condition| format!(" && {}", self.condition(condition)));
        let more = more.unwrap_or_default();
        let end = match a_loop.kind {
            LoopKind::For => {
                let _ = writeln!(text, "{indent}for (v{counter} = 0; v{counter} < {bound}{more}; v{counter}++) {{");
                "}".into()
            }
            LoopKind::While => {
                let _ = writeln!(text, "{indent}v{counter} = 0;\n{indent}while (v{counter}++ < {bound}{more}) {{");
                "}".into()
            }
            LoopKind::DoWhile => {
                let _ = writeln!(text, "{indent}v{counter} = 0;\n{indent}do {{");
                format!("}} while (++v{counter} < {bound}{more});")
            }
        };
        self.body(text, &a_loop.body, depth + 1);
        let _ = writeln!(text, "{indent}{end}");
    }

    fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Compare(comparison, ty, a, b) => {
                let operator = match comparison {
                    Comparison::Less => "<",
                    Comparison::LessEqual => "<=",
                    Comparison::Greater => ">",
                    Comparison::GreaterEqual => ">=",
                    Comparison::Equal => "==",
                    Comparison::NotEqual => "!=",
                };
                format!("({} {operator} {})", self.cast(*ty, a), self.cast(*ty, b))
            }
            Condition::Not(inner) => format!("!{}", self.condition(inner)),
            Condition::And(a, b) => format!("({} && {})", self.condition(a), self.condition(b)),
            Condition::Or(a, b) => format!("({} || {})", self.condition(a), self.condition(b)),
            Condition::Bump(variable, limit) => format!("(v{variable}++ < {limit}u)"),
        }
    }

    /// The expression converted to a type.
    fn cast(&self, ty: Type, value: &Expression) -> String {
        format!("{}({})", ty.name(), self.expression(value))
    }

    /// The expression as a number below a power of two.
    fn index(&self, value: &Expression, length: usize) -> String {
        match value {
            Expression::Literal(_, value) => format!("{}", value & (length as i64 - 1)),
            value => format!("({} & {}u)", self.cast(Type::Uint, value), length - 1),
        }
    }

    fn element(&self, array: Array, index: &Expression) -> String {
        let ArrayType { kind, length, .. } = &self.arrays[array];
        match (kind, index) {
            (ArrayKind::Vector, Expression::Literal(_, value)) => {
                format!("a{array}.{}", ["x", "y", "z", "w"][(value & 3) as usize])
            }
            _ => format!("a{array}[{}]", self.index(index, *length)),
        }
    }

    fn expression(&self, expression: &Expression) -> String {
        match expression {
            Expression::Literal(ty, value) => literal(*ty, *value),
            Expression::Variable(variable) => format!("v{variable}"),
            Expression::Thread => "thread_number".into(),
            Expression::Lane => "lane".into(),
            Expression::Uniform => "uniform_number".into(),
            Expression::Element(array, index) => self.element(*array, index),
            Expression::Input(index) => format!("input[{}]", self.index(index, INPUTS)),
            Expression::Table(index) => format!("{}_table[{}]", self.name, self.index(index, TABLE)),
            Expression::Cast(ty, value) => self.cast(*ty, value),
            Expression::Binary(operator, ty, a, b) => {
                let (a, b) = (self.cast(*ty, a), self.cast(*ty, b));
                let name = ty.name();
                match operator {
                    Operator::Add => format!("({a} + {b})"),
                    Operator::Subtract => format!("({a} - {b})"),
                    Operator::Multiply => format!("({a} * {b})"),
                    Operator::And => format!("({a} & {b})"),
                    Operator::Or => format!("({a} | {b})"),
                    Operator::Xor => format!("({a} ^ {b})"),
                    Operator::ShiftLeft => format!("({a} << {b})"),
                    Operator::ShiftRight => format!("({a} >> {b})"),
                    Operator::Divide => format!("({a} / ({b} & {name}(255) | {name}(1)))"),
                    Operator::Remainder => format!("({a} % ({b} & {name}(255) | {name}(1)))"),
                    Operator::Min => format!("min({a}, {b})"),
                    Operator::Max => format!("max({a}, {b})"),
                    Operator::Rotate => format!("rotate({a}, {b})"),
                }
            }
            Expression::Negate(ty, value) => format!("(-{})", self.cast(*ty, value)),
            Expression::Complement(ty, value) => format!("(~{})", self.cast(*ty, value)),
            Expression::CountOnes(value) => format!("popcount({})", self.cast(Type::Uint, value)),
            Expression::LeadingZeros(value) => format!("clz({})", self.cast(Type::Uint, value)),
            Expression::Float(a, b, c) => {
                let small = |value: &Expression| format!("float({} & 1023)", self.cast(Type::Int, value));
                format!("int({} * {} + {})", small(a), small(b), small(c))
            }
            Expression::Choice(condition, a, b) => {
                format!(
                    "({} ? {} : {})",
                    self.condition(condition),
                    self.cast(Type::Uint, a),
                    self.cast(Type::Uint, b)
                )
            }
            Expression::Truth(condition) => format!("int({})", self.condition(condition)),
        }
    }
}

fn literal(ty: Type, value: i64) -> String {
    match ty {
        Type::Int if value == i64::from(i32::MIN) => "(-2147483647 - 1)".into(),
        Type::Long if value == i64::MIN => "(-9223372036854775807L - 1L)".into(),
        Type::Int => format!("({value})"),
        Type::Uint => format!("{}u", value as u32),
        Type::Long => format!("({value}L)"),
        Type::Ulong => format!("{}UL", value as u64),
        Type::Char | Type::Uchar | Type::Short | Type::Ushort => format!("{}({value})", ty.name()),
    }
}
