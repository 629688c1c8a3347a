//! Contraction: a product and a sum in the same expression become one `llvm.fmuladd`.
//!
//! The mode and the pragmas of a function say what may be fused:
//!
//! ```text
//! fast math   contract(fast)   any product and sum, across statements too: LLVM decides, by a flag of the operations
//! safe math   contract(on)     within an expression: `a * b + c`, `c - a * b`, `c += a * b`
//!             contract(off)    nothing
//! ```

use super::{Lowering, MathMode, Result};
use inkwell::intrinsics::Intrinsic;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, ValueKind};
use msl::program::{BinaryOp, Expr, ExprKind, UnaryOp};

/// Extent of contraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Contraction {
    /// No operations are fused.
    Off,
    /// Operations of the same expression are fused.
    On,
    /// LLVM may fuse operations of different statements, too.
    Fast,
}

/// The rules for floating-point operators in a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FloatRules {
    /// LLVM may reorder and approximate.
    pub(super) is_fast: bool,
    /// `(a + b) + c` may become `a + (b + c)`.
    pub(super) reassociates: bool,
    /// `a / b` may become `a * (1 / b)`.
    pub(super) uses_reciprocals: bool,
    pub(super) contraction: Contraction,
}

impl FloatRules {
    fn of_mode(math: MathMode) -> FloatRules {
        match math {
            MathMode::Fast | MathMode::Relaxed => FloatRules {
                is_fast: true,
                reassociates: true,
                uses_reciprocals: true,
                contraction: Contraction::Fast,
            },
            MathMode::Safe => FloatRules {
                is_fast: false,
                reassociates: false,
                uses_reciprocals: false,
                contraction: Contraction::On,
            },
        }
    }

    /// The rules under pragmas of a function, of which a later one replaces an earlier one.
    fn new(math: MathMode, pragmas: impl Iterator<Item = impl AsRef<str>>) -> FloatRules {
        let mut mode = FloatRules::of_mode(math);
        let mut contraction = None;
        for pragma in pragmas {
            for option in pragma.as_ref().split(' ') {
                match option {
                    "math_mode(safe)" => mode = FloatRules::of_mode(MathMode::Safe),
                    "math_mode(fast)" | "math_mode(relaxed)" => mode = FloatRules::of_mode(MathMode::Fast),
                    "contract(off)" => contraction = Some(Contraction::Off),
                    "contract(on)" => contraction = Some(Contraction::On),
                    "contract(fast)" => contraction = Some(Contraction::Fast),
                    "contract(default)" => contraction = None,
                    "reassociate(on)" => mode.reassociates = true,
                    "reassociate(off)" => mode.reassociates = false,
                    "reciprocal(on)" => mode.uses_reciprocals = true,
                    "reciprocal(off)" => mode.uses_reciprocals = false,
                    _ => {}
                }
            }
        }
        FloatRules { contraction: contraction.unwrap_or(mode.contraction), ..mode }
    }
}

/// A product that is an operand of a sum.
struct Product<'ctx> {
    multiplication: InstructionValue<'ctx>,
    /// The negation of the product, if it is negated.
    negation: Option<InstructionValue<'ctx>>,
}

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    /// The rules for floating-point operators in the current function.
    pub(super) fn float_rules(&self) -> FloatRules {
        let pragmas = self.frame.iter().flat_map(|frame| &frame.fp_pragmas);
        let rules = FloatRules::new(self.math, pragmas);
        match self.may_contract {
            true => rules,
            false => FloatRules { contraction: Contraction::Off, ..rules },
        }
    }

    /// `a + b` or `a - b` as `llvm.fmuladd`, if one of the operands was written as a product in the same expression and
    /// the rules allow it. With two products, the left one is fused.
    pub(super) fn fused(
        &mut self,
        op: BinaryOp,
        (lhs, a): (Option<&Expr>, BasicValueEnum<'ctx>),
        (rhs, b): (Option<&Expr>, BasicValueEnum<'ctx>),
    ) -> Result<Option<BasicValueEnum<'ctx>>> {
        if !matches!(op, BinaryOp::Add | BinaryOp::Sub) || self.float_rules().contraction != Contraction::On {
            return Ok(None);
        }
        let is_difference = op == BinaryOp::Sub;
        if let Some(product) = lhs.and_then(|lhs| product(lhs, a)) {
            let addend = if is_difference { self.negated(b)? } else { b };
            return self.fmuladd(product, false, addend).map(Some);
        }
        match rhs.and_then(|rhs| product(rhs, b)) {
            Some(product) => self.fmuladd(product, is_difference, a).map(Some),
            None => Ok(None),
        }
    }

    /// product + addend, or addend - product.
    fn fmuladd(
        &mut self,
        product: Product<'ctx>,
        is_subtracted: bool,
        addend: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let operand = |index| {
            let operand = product.multiplication.get_operand(index).and_then(|operand| operand.value());
            operand.ok_or_else(|| super::Error::Internal("a product without operands".into()))
        };
        let (mut x, y) = (operand(0)?, operand(1)?);
        if is_subtracted != product.negation.is_some() {
            x = self.negated(x)?;
        }
        let sum = self.multiply_add(x, y, addend)?;
        if let Some(negation) = product.negation {
            negation.erase_from_basic_block();
        }
        product.multiplication.erase_from_basic_block();
        Ok(sum)
    }

    /// x · y + addend, rounded once.
    pub(super) fn multiply_add(
        &mut self,
        x: BasicValueEnum<'ctx>,
        y: BasicValueEnum<'ctx>,
        addend: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let intrinsic = Intrinsic::find("llvm.fmuladd");
        let function = intrinsic.and_then(|found| found.get_declaration(&self.module, &[x.get_type()]));
        let function = function.ok_or_else(|| super::Error::Internal("LLVM has no llvm.fmuladd".into()))?;
        let call = self.builder.build_call(function, &[x.into(), y.into(), addend.into()], "")?;
        match call.try_as_basic_value() {
            ValueKind::Basic(value) => Ok(self.relaxed(value)),
            ValueKind::Instruction(_) => Err(super::Error::Internal("llvm.fmuladd has no result".into())),
        }
    }

    fn negated(&mut self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let negated = match value {
            BasicValueEnum::FloatValue(value) => self.builder.build_float_neg(value, "")?.into(),
            BasicValueEnum::VectorValue(value) => self.builder.build_float_neg(value, "")?.into(),
            _ => return Err(super::Error::Internal("the negation of no number".into())),
        };
        Ok(self.relaxed(negated))
    }
}

/// The product that an expression was written as and that its value comes from, if there is no other use of it.
fn product<'ctx>(expr: &Expr, value: BasicValueEnum<'ctx>) -> Option<Product<'ctx>> {
    let is_float = match value.get_type() {
        BasicTypeEnum::FloatType(_) => true,
        BasicTypeEnum::VectorType(vector) => vector.get_element_type().is_float_type(),
        _ => false,
    };
    let instruction = value.as_instruction_value().filter(|it| is_float && it.get_first_use().is_none())?;
    match (&expr.kind, instruction.get_opcode()) {
        (ExprKind::Binary { op: BinaryOp::Mul, .. }, InstructionOpcode::FMul) => {
            Some(Product { multiplication: instruction, negation: None })
        }
        (ExprKind::Unary { op: UnaryOp::Negate, operand }, InstructionOpcode::FNeg) => {
            let negated = instruction.get_operand(0)?.value()?.as_instruction_value()?;
            let is_product = matches!(operand.kind, ExprKind::Binary { op: BinaryOp::Mul, .. });
            let is_product = is_product && negated.get_opcode() == InstructionOpcode::FMul;
            is_product.then_some(Product { multiplication: negated, negation: Some(instruction) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Contraction, FloatRules, MathMode};
    use crate::lower::lower;
    use inkwell::context::Context;

    /// The floating-point instructions of the kernel `k` with this body, by name and with their flags.
    fn operations(math: MathMode, before: &str, body: &str) -> Vec<String> {
        let text = format!(
            "{before}
             inline float sum(float p, float q) {{ return p + q; }}
             kernel void k(device float *x, device half *h, device float4 *v) {{
                 float a = x[0], b = x[1], c = x[2];
                 {body}
             }}"
        );
        let compilation = msl::compile_source("k.metal", &text, &msl::Options::default());
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        let entry = compilation.program.kernels().next().expect("a kernel");
        let context = Context::create();
        let module = lower(&context, &compilation.program, entry, math).expect("it can be lowered");
        module.verify().expect("it is valid");
        let text = module.print_to_string().to_string();
        let of_kernel = text.split("define void @k").nth(1).and_then(|text| text.split("\n}").next());
        let instructions = of_kernel.unwrap_or_default().lines().filter_map(|line| line.split_once(" = "));
        let operation = |(_, instruction): (&str, &str)| {
            let words: Vec<&str> = instruction.split([' ', '(']).collect();
            let name = words.iter().find(|word| word.starts_with("@llvm.fmuladd"));
            let is_float = words[0].starts_with("fadd")
                || words[0].starts_with("fsub")
                || words[0].starts_with("fmul")
                || words[0].starts_with("fneg");
            match name {
                Some(name) => Some(name.trim_start_matches("@llvm.").to_owned()),
                None if is_float && words.contains(&"contract") => Some(format!("{} contract", words[0])),
                None => is_float.then(|| words[0].to_owned()),
            }
        };
        instructions.filter_map(operation).collect()
    }

    #[test]
    fn safe_math_fuses_within_an_expression() {
        let cases: &[(&str, &[&str])] = &[
            ("x[0] = a * b + c;", &["fmuladd.f32"]),
            ("x[0] = c + (a * b);", &["fmuladd.f32"]),
            ("x[0] = a * b - c;", &["fneg", "fmuladd.f32"]),
            ("x[0] = c - a * b;", &["fneg", "fmuladd.f32"]),
            ("x[0] = -(a * b) + c;", &["fneg", "fmuladd.f32"]),
            ("x[0] = c - -(a * b);", &["fmuladd.f32"]),
            ("x[0] += a * b;", &["fmuladd.f32"]),
            ("x[0] -= a * b;", &["fneg", "fmuladd.f32"]),
            ("x[0] = a * b + b * c;", &["fmul", "fmuladd.f32"]),
            ("x[0] = a * b + c + a;", &["fmuladd.f32", "fadd"]),
            ("h[0] = h[1] * h[2] + h[3];", &["fmuladd.f16"]),
            ("v[0] = v[1] * a + v[2];", &["fmuladd.v4f32"]),
            // Not across statements and calls, and no product that has another use.
            ("float p = a * b; x[0] = p + c;", &["fmul", "fadd"]),
            ("x[0] = sum(a * b, c);", &["fmul"]),
            ("x[0] = (x[1] = a * b) + c;", &["fmul", "fadd"]),
            ("x[0] = a + b; x[1] = a * b;", &["fadd", "fmul"]),
            ("x[0] = a * b / c + c;", &["fmul", "fadd"]),
        ];
        for (body, expected) in cases {
            assert_eq!(operations(MathMode::Safe, "", body), *expected, "{body}");
        }
    }

    #[test]
    fn pragmas_turn_it_off_and_on() {
        let body = "x[0] = a * b + c;";
        let (separate, fused): (&[&str], &[&str]) = (&["fmul", "fadd"], &["fmuladd.f32"]);
        for off in
            ["#pragma METAL fp contract(off)", "#pragma clang fp contract(off)", "#pragma STDC FP_CONTRACT OFF"]
        {
            assert_eq!(operations(MathMode::Safe, off, body), separate, "{off}");
            assert_eq!(operations(MathMode::Fast, off, body), separate, "{off}");
            assert_eq!(operations(MathMode::Safe, "", &format!("\n{off}\n{body}")), separate, "{off}, inside");
            let on = format!("{off}\n#pragma STDC FP_CONTRACT ON");
            assert_eq!(operations(MathMode::Safe, &on, body), fused, "{on}");
        }
        let flagged = ["fmul contract", "fadd contract"];
        assert_eq!(operations(MathMode::Fast, "", body), flagged);
        assert_eq!(operations(MathMode::Safe, "#pragma METAL fp contract(fast)", body), flagged);
        assert_eq!(operations(MathMode::Safe, "#pragma METAL fp math_mode(fast)", body), flagged);
        assert_eq!(operations(MathMode::Fast, "#pragma METAL fp math_mode(safe)", body), fused);
    }

    #[test]
    fn a_pragma_holds_to_the_end_of_its_block() {
        let (body, off) = ("x[0] = a * b + c;", "\n#pragma METAL fp contract(off)\n");
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(operations(MathMode::Safe, "", text), expected, "{text}");
        };
        check(&format!("{{{off}{body}}} {body}"), &["fmul", "fadd", "fmuladd.f32"]);
        check(&format!("{body}{off}{body}"), &["fmuladd.f32", "fmul", "fadd"]);
        check(&format!("if (a > 0) {{{off}{body}}} {body}"), &["fmul", "fadd", "fmuladd.f32"]);
        check(&format!("{off}{{ {body} }} {body}"), &["fmul", "fadd", "fmul", "fadd"]);
        check(
            &format!("{{{off}{{\n#pragma METAL fp contract(on)\n{body}}} {body}}}"),
            &["fmuladd.f32", "fmul", "fadd"],
        );
        // Not to the next function.
        let before = format!("void f(device float *x, float a, float b, float c) {{{off}{body}}}");
        assert_eq!(operations(MathMode::Safe, &before, body), ["fmuladd.f32"]);
    }

    /// All of the module: the lambda is a function of its own.
    #[test]
    fn a_lambda_is_under_the_pragmas_around_it() {
        for off in ["{\n#pragma METAL fp contract(off)\n", "{"] {
            let text = format!(
                "kernel void k(device float *x) {{ {off} \
                 auto f = [](float a, float b, float c) {{ return a * b + c; }}; x[0] = f(x[1], x[2], x[3]); }} }}"
            );
            let options = msl::Options { std: msl::LanguageVersion::new(4, 0), ..msl::Options::default() };
            let compilation = msl::compile_source("k.metal", &text, &options);
            assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
            let entry = compilation.program.kernels().next().expect("a kernel");
            let context = Context::create();
            let module = lower(&context, &compilation.program, entry, MathMode::Safe).expect("it can be lowered");
            assert_eq!(module.print_to_string().to_string().contains("@llvm.fmuladd"), off == "{", "{text}");
        }
    }

    /// Their operators are functions of the library, each one expression; a sum around them is another.
    #[test]
    fn matrix_products_are_contracted() {
        let body = "float2x2 m(a, b, c, a); v[0].xy = m * v[1].xy + v[2].xy;";
        let found = operations(MathMode::Safe, "", body);
        assert_eq!(found, ["fmul", "fmuladd.v2f32", "fadd"]);
        let off = format!("\n#pragma METAL fp contract(off)\n{body}");
        assert_eq!(operations(MathMode::Safe, "", &off), ["fmul", "fmul", "fadd", "fadd"]);
    }

    #[test]
    fn relaxed_math_keeps_nan_and_infinity() {
        let text =
            "#include <metal_stdlib>\nkernel void k(device float *x) { x[0] = metal::exp(x[1]) + x[2] / x[3]; }";
        let air = |math| {
            let options = msl::Options { math, ..msl::Options::default() };
            let compilation = msl::compile_source("k.metal", text, &options);
            assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
            let entry = compilation.program.kernels().next().expect("a kernel");
            let context = Context::create();
            let module = lower(&context, &compilation.program, entry, math).expect("it can be lowered");
            module.print_to_string().to_string()
        };
        let (fast, relaxed, safe) = (air(MathMode::Fast), air(MathMode::Relaxed), air(MathMode::Safe));
        assert!(fast.contains("@air.fast_exp.f32") && relaxed.contains("@air.fast_exp.f32"), "{fast}{relaxed}");
        assert!(safe.contains("@air.exp.f32") && !safe.contains("reassoc"), "{safe}");
        assert!(relaxed.contains("fdiv reassoc nsz arcp contract afn"), "{relaxed}");
        assert!(!relaxed.contains("nnan") && !relaxed.contains("ninf") && !relaxed.contains(" fast "), "{relaxed}");
    }

    #[test]
    fn the_last_pragma_counts() {
        let rules = |math, pragmas: &[&str]| {
            let rules = FloatRules::new(math, pragmas.iter());
            (rules.is_fast, rules.contraction)
        };
        assert_eq!(rules(MathMode::Fast, &[]), (true, Contraction::Fast));
        assert_eq!(rules(MathMode::Safe, &[]), (false, Contraction::On));
        assert_eq!(rules(MathMode::Fast, &["math_mode(safe)"]), (false, Contraction::On));
        assert_eq!(rules(MathMode::Safe, &["math_mode(relaxed)"]), (true, Contraction::Fast));
        assert_eq!(rules(MathMode::Fast, &["contract(off)"]), (true, Contraction::Off));
        assert_eq!(rules(MathMode::Safe, &["contract(off)", "math_mode(fast)"]), (true, Contraction::Off));
        assert_eq!(rules(MathMode::Safe, &["contract(off)", "contract(on)"]), (false, Contraction::On));
        assert_eq!(rules(MathMode::Safe, &["contract(off)", "contract(default)"]), (false, Contraction::On));
        assert_eq!(rules(MathMode::Safe, &["contract(fast)", "reassociate(on)"]), (false, Contraction::Fast));
        assert_eq!(rules(MathMode::Fast, &["math_mode(safe) contract(off)"]), (false, Contraction::Off));
        let rules = FloatRules::new(MathMode::Safe, ["reassociate(on)", "reciprocal(on)"].iter());
        assert!(rules.reassociates && rules.uses_reciprocals && !rules.is_fast);
        let rules = FloatRules::new(MathMode::Fast, ["reassociate(off)"].iter());
        assert!(!rules.reassociates && rules.uses_reciprocals && rules.is_fast);
    }
}
