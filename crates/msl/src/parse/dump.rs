//! The tree as text: one line, parentheses around everything that has parts.
//!
//! For tests and for debugging the parser: `x = a + 1` is `(= x (+ a 1))`. Spans are left out.

use super::ast::*;
use crate::lex::token::Pragma;

/// A whole program, a line for each declaration.
pub fn unit(unit: &TranslationUnit) -> String {
    let lines: Vec<String> = unit.all().map(decl).collect();
    lines.join("\n")
}

/// `(head a b)`, without what is empty.
fn list(head: &str, parts: impl IntoIterator<Item = String>) -> String {
    let mut text = format!("({head}");
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        text.push(' ');
        text.push_str(&part);
    }
    text.push(')');
    text
}

fn many<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    let shown: Vec<String> = items.iter().map(show).filter(|text| !text.is_empty()).collect();
    shown.join(" ")
}

/// A name as written.
pub fn path(path: &Path) -> String {
    let segment = |segment: &PathSegment| match &segment.args {
        None => segment.name.to_string(),
        Some(args) => format!("{}<{}>", segment.name, args.iter().map(template_arg).collect::<Vec<_>>().join(", ")),
    };
    let segments: Vec<String> = path.segments.iter().map(segment).collect();
    format!("{}{}", if path.global { "::" } else { "" }, segments.join("::"))
}

fn template_arg(arg: &TemplateArg) -> String {
    match arg {
        TemplateArg::Type(inner) => format!("type:{}", ty(inner)),
        TemplateArg::Expr(inner) => expr(inner),
    }
}

fn builtin(ty: BuiltinType) -> &'static str {
    match ty {
        BuiltinType::Void => "void",
        BuiltinType::Bool => "bool",
        BuiltinType::Char => "char",
        BuiltinType::UChar => "uchar",
        BuiltinType::Short => "short",
        BuiltinType::UShort => "ushort",
        BuiltinType::Int => "int",
        BuiltinType::UInt => "uint",
        BuiltinType::Long => "long",
        BuiltinType::ULong => "ulong",
        BuiltinType::Half => "half",
        BuiltinType::BFloat => "bfloat",
        BuiltinType::Float => "float",
        BuiltinType::Double => "double",
    }
}

fn quals(quals: Qualifiers) -> String {
    let words = [
        quals.is_const.then_some("const"),
        quals.is_volatile.then_some("volatile"),
        quals.coherence.map(crate::types::Coherence::text),
        quals.space.map(crate::types::AddressSpace::text),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A type.
pub fn ty(written: &TypeExpr) -> String {
    match &written.kind {
        TypeExprKind::Builtin(kind) => builtin(*kind).into(),
        TypeExprKind::Named(name) => path(name),
        TypeExprKind::Auto => "auto".into(),
        TypeExprKind::DecltypeAuto => "decltype(auto)".into(),
        TypeExprKind::Decltype(inner) => list("decltype", [expr(inner)]),
        TypeExprKind::Typeof(inner) => list("typeof", [expr(inner)]),
        TypeExprKind::Class(inner) => class(inner),
        TypeExprKind::Enum(inner) => enumeration(inner),
        TypeExprKind::Pointer(inner) => list("ptr", [ty(inner)]),
        TypeExprKind::Reference { inner, rvalue } => list(if *rvalue { "rref" } else { "ref" }, [ty(inner)]),
        TypeExprKind::Array { element, length } => {
            list("array", [ty(element), length.as_ref().map_or("[]".into(), |length| expr(length))])
        }
        TypeExprKind::MemberPointer { class, inner } => list("member-ptr", [path(class), ty(inner)]),
        TypeExprKind::Function { result, params: taken, .. } => list("fn", [ty(result), params(taken)]),
        TypeExprKind::Qualified { quals: written, inner } => list(&quals(*written), [ty(inner)]),
        TypeExprKind::PackExpansion(inner) => format!("{}...", ty(inner)),
    }
}

fn params(params: &[Param]) -> String {
    format!("({})", many(params, param))
}

fn param(param: &Param) -> String {
    let name = param.name.as_ref().map_or(String::new(), |name| name.name.to_string());
    let default = param.default.as_ref().map_or(String::new(), |value| format!("= {}", expr(value)));
    let pack = if param.is_pack { "..." } else { "" };
    list(&format!("{}{pack}", ty(&param.ty)), [name, attributes(&param.attributes), default])
}

fn attributes(attributes: &[Attribute]) -> String {
    many(attributes, |attribute| {
        if attribute.args.is_empty() {
            return format!("[[{}]]", attribute.name);
        }
        format!("[[{} {}]]", attribute.name, many(&attribute.args, expr))
    })
}

fn specifiers(specifiers: &Specifiers) -> String {
    let stage = match specifiers.stage {
        Some(Stage::Kernel) => Some("kernel"),
        Some(Stage::Vertex) => Some("vertex"),
        Some(Stage::Fragment) => Some("fragment"),
        Some(Stage::Other) => Some("stage"),
        None => None,
    };
    let words = [
        specifiers.is_constexpr.then_some("constexpr"),
        specifiers.is_static.then_some("static"),
        specifiers.is_inline.then_some("inline"),
        specifiers.is_extern.then_some("extern"),
        specifiers.is_explicit.then_some("explicit"),
        specifiers.is_mutable.then_some("mutable"),
        specifiers.is_virtual.then_some("virtual"),
        specifiers.is_thread_local.then_some("thread_local"),
        stage,
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn template_params(params: &[TemplateParam]) -> String {
    format!("<{}>", params.iter().map(template_param).collect::<Vec<_>>().join(", "))
}

fn template_param(param: &TemplateParam) -> String {
    let name = param.name.as_ref().map_or("_", |name| &name.name);
    let pack = if param.is_pack { "..." } else { "" };
    let default = |text: Option<String>| text.map_or(String::new(), |text| format!(" = {text}"));
    match &param.kind {
        TemplateParamKind::Type { default: value } => {
            format!("typename{pack} {name}{}", default(value.as_ref().map(ty)))
        }
        TemplateParamKind::Value { ty: written, default: value } => {
            format!("{}{pack} {name}{}", ty(written), default(value.as_ref().map(expr)))
        }
        TemplateParamKind::Template { params, default: value } => {
            format!("template{} {pack}{name}{}", template_params(params), default(value.as_ref().map(path)))
        }
    }
}

fn header(header: Option<&TemplateHeader>) -> String {
    header.map_or(String::new(), |header| format!("template{}", template_params(&header.params)))
}

/// A declaration.
pub fn decl(decl_: &Decl) -> String {
    match &decl_.kind {
        DeclKind::Namespace { name, inline, decls } => {
            let head = if *inline { "inline-namespace" } else { "namespace" };
            let name = name.as_ref().map_or("_".into(), |name| name.name.to_string());
            list(head, [name, many(decls, decl)])
        }
        DeclKind::UsingNamespace(name) => list("using-namespace", [path(name)]),
        DeclKind::Using(name) => list("using", [path(name)]),
        DeclKind::NamespaceAlias(name, target) => list("namespace-alias", [name.name.to_string(), path(target)]),
        DeclKind::Alias(alias) => {
            list("alias", [header(alias.template.as_ref()), alias.name.name.to_string(), ty(&alias.ty)])
        }
        DeclKind::Var(inner) => variable(inner),
        DeclKind::Function(inner) => function(inner),
        DeclKind::Class(inner) => class(inner),
        DeclKind::Enum(inner) => enumeration(inner),
        DeclKind::StaticAssert { condition, message } => {
            let message = message.as_ref().map_or(String::new(), |message| format!("{message:?}"));
            list("static_assert", [expr(condition), message])
        }
        DeclKind::Instantiation(inner) => instantiation(inner),
        DeclKind::Access(Access::Public) => "public:".into(),
        DeclKind::Access(Access::Protected) => "protected:".into(),
        DeclKind::Access(Access::Private) => "private:".into(),
        DeclKind::Friend(inner) => list("friend", [decl(inner)]),
        DeclKind::Empty => ";".into(),
    }
}

fn instantiation(inner: &InstantiationDecl) -> String {
    let head = if inner.is_extern { "extern-instantiate" } else { "instantiate" };
    let written = inner.ty.as_ref().map_or(String::new(), ty);
    list(head, [attributes(&inner.attributes), specifiers(&inner.specifiers), path(&inner.name), written])
}

fn variable(variable: &VarDecl) -> String {
    let width = variable.bit_width.as_ref().map_or(String::new(), |width| format!(": {}", expr(width)));
    list(
        "var",
        [
            header(variable.template.as_ref()),
            attributes(&variable.attributes),
            specifiers(&variable.specifiers),
            variable.name.as_ref().map_or("_".into(), path),
            ty(&variable.ty),
            width,
            variable.init.as_ref().map_or(String::new(), init),
        ],
    )
}

fn init(init: &Init) -> String {
    match init {
        Init::Equal(value) => format!("= {}", expr(value)),
        Init::Paren(args, _) => list("init", [many(args, expr)]),
        Init::Brace(args, _) => list("init{}", [many(args, expr)]),
    }
}

fn function(function: &FunctionDecl) -> String {
    let head = match function.kind {
        FunctionKind::Plain => "function",
        FunctionKind::Operator(_) => "operator",
        FunctionKind::Conversion => "conversion",
        FunctionKind::Constructor => "constructor",
        FunctionKind::Destructor => "destructor",
    };
    let inits = many(&function.member_inits, |member| {
        let pack = if member.is_pack { "..." } else { "" };
        format!(": {} {}{pack}", path(&member.name), init(&member.init))
    });
    let ending = match (function.is_defaulted, function.is_deleted) {
        (true, _) => "default",
        (_, true) => "delete",
        _ => "",
    };
    let result = match function.kind {
        FunctionKind::Constructor | FunctionKind::Destructor => String::new(),
        _ => ty(&function.result),
    };
    list(
        head,
        [
            many(&function.templates, |template| header(Some(template))),
            attributes(&function.attributes),
            specifiers(&function.specifiers),
            path(&function.name),
            result,
            params(&function.params),
            quals(function.method_quals),
            inits,
            ending.into(),
            function.body.as_ref().map_or(String::new(), block),
        ],
    )
}

fn class(class: &ClassDecl) -> String {
    let head = match class.key {
        ClassKey::Struct => "struct",
        ClassKey::Class => "class",
        ClassKey::Union => "union",
    };
    let bases = if class.bases.is_empty() {
        String::new()
    } else {
        list("bases", [many(&class.bases, |base| ty(&base.ty))])
    };
    let members = class.members.as_ref().map(|members| format!("{{{}}}", many(members, decl)));
    list(
        head,
        [
            header(class.template.as_ref()),
            attributes(&class.attributes),
            class.name.as_ref().map_or("_".into(), path),
            bases,
            members.unwrap_or_default(),
        ],
    )
}

fn enumeration(enumeration: &EnumDecl) -> String {
    let enumerator = |enumerator: &Enumerator| match &enumerator.value {
        Some(value) => format!("{}={}", enumerator.name.name, expr(value)),
        None => enumerator.name.name.to_string(),
    };
    let enumerators = enumeration.enumerators.as_ref().map(|all| format!("{{{}}}", many(all, enumerator)));
    list(
        if enumeration.scoped { "enum-class" } else { "enum" },
        [
            enumeration.name.as_ref().map_or("_".into(), |name| name.name.to_string()),
            enumeration.underlying.as_ref().map_or(String::new(), ty),
            enumerators.unwrap_or_default(),
        ],
    )
}

fn block(block: &Block) -> String {
    format!("{{{}}}", many(&block.stmts, stmt))
}

fn pragmas(pragmas: &[Pragma]) -> String {
    many(pragmas, |pragma| match pragma {
        Pragma::Unroll => "#unroll".into(),
        Pragma::UnrollFull => "#unroll(full)".into(),
        Pragma::UnrollCount(count) => format!("#unroll({count})"),
        Pragma::UnrollDisable => "#nounroll".into(),
        Pragma::Fp(words) => format!("#fp({words})"),
        Pragma::Diagnostic(_) => "#diagnostic".into(),
        Pragma::Pack(value) => format!("#pack({})", value.unwrap_or(0)),
    })
}

/// A statement.
pub fn stmt(statement: &Stmt) -> String {
    match &statement.kind {
        StmtKind::Block(inner) => block(inner),
        StmtKind::Expr(inner) => format!("{};", expr(inner)),
        StmtKind::Decl(decls) => many(decls, decl),
        StmtKind::If { is_constexpr, init, condition: test, then, otherwise } => list(
            if *is_constexpr { "if-constexpr" } else { "if" },
            [
                init.as_deref().map_or(String::new(), stmt),
                condition(test),
                stmt(then),
                otherwise.as_deref().map_or(String::new(), stmt),
            ],
        ),
        StmtKind::While { condition: test, body, pragmas: hints } => {
            list("while", [pragmas(hints), condition(test), stmt(body)])
        }
        StmtKind::DoWhile { condition: test, body, pragmas: hints } => {
            list("do", [pragmas(hints), stmt(body), expr(test)])
        }
        StmtKind::For { init, condition: test, step, body, pragmas: hints } => list(
            "for",
            [
                pragmas(hints),
                init.as_deref().map_or("_".into(), stmt),
                test.as_ref().map_or("_".into(), condition),
                step.as_ref().map_or("_".into(), expr),
                stmt(body),
            ],
        ),
        StmtKind::RangeFor { variable: element, range, body, pragmas: hints } => {
            list("for-in", [pragmas(hints), variable(element), expr(range), stmt(body)])
        }
        StmtKind::Switch { condition: test, body } => list("switch", [condition(test), stmt(body)]),
        StmtKind::Case { labels, body } => labels.iter().rev().fold(stmt(body), |inner, label| match label {
            CaseLabel { value: None, .. } => list("default", [inner]),
            CaseLabel { value: Some(value), last: None, .. } => list("case", [expr(value), inner]),
            CaseLabel { value: Some(value), last: Some(last), .. } => {
                list("case", [expr(value), expr(last), inner])
            }
        }),
        StmtKind::FpPragma(words) => format!("#fp({words})"),
        StmtKind::Break => "break;".into(),
        StmtKind::Continue => "continue;".into(),
        StmtKind::Return(None) => "return;".into(),
        StmtKind::Return(Some(value)) => list("return", [expr(value)]),
        StmtKind::Empty => ";".into(),
    }
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Expr(inner) => expr(inner),
        Condition::Var(inner) => variable(inner),
    }
}

/// An expression.
pub fn expr(expression: &Expr) -> String {
    match &expression.kind {
        ExprKind::Int(literal) => {
            format!(
                "{}{}{}",
                literal.value,
                if literal.unsigned { "u" } else { "" },
                if literal.long { "l" } else { "" }
            )
        }
        ExprKind::Float(literal) => {
            use crate::lex::token::FloatSuffix;
            let suffix = match literal.suffix {
                FloatSuffix::None => "",
                FloatSuffix::Float => "f",
                FloatSuffix::Half => "h",
                FloatSuffix::BFloat => "bf",
            };
            format!("{:?}{suffix}", literal.value)
        }
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Char(value) => format!("'{value}'"),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Nullptr => "nullptr".into(),
        ExprKind::This => "this".into(),
        ExprKind::Path(name) => path(name),
        ExprKind::Paren(inner) => list("paren", [expr(inner)]),
        ExprKind::Unary { op, operand, .. } => match op {
            UnaryOp::PostIncrement | UnaryOp::PostDecrement => list(&format!("post{}", op.text()), [expr(operand)]),
            _ => list(op.text(), [expr(operand)]),
        },
        ExprKind::Binary { op, lhs, rhs, .. } => list(op.text(), [expr(lhs), expr(rhs)]),
        ExprKind::Assign { op, lhs, rhs, .. } => {
            list(&format!("{}=", op.map_or("", BinaryOp::text)), [expr(lhs), expr(rhs)])
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            list("?", [expr(condition), expr(then), expr(otherwise)])
        }
        ExprKind::Comma(lhs, rhs) => list(",", [expr(lhs), expr(rhs)]),
        ExprKind::Call { callee, args } => list("call", [expr(callee), many(args, expr)]),
        ExprKind::Construct { ty: made, args, braces } => {
            list(if *braces { "make{}" } else { "make" }, [ty(made), many(args, expr)])
        }
        ExprKind::InitList(items) => format!("{{{}}}", many(items, init_item)),
        ExprKind::Index { base, index } => list("index", [expr(base), expr(index)]),
        ExprKind::Member { base, arrow, member } => {
            list(if *arrow { "->" } else { "." }, [expr(base), path(member)])
        }
        ExprKind::MemberPointer { base, arrow, member, .. } => {
            list(if *arrow { "->*" } else { ".*" }, [expr(base), expr(member)])
        }
        ExprKind::Cast { kind, ty: to, operand } => {
            let head = match kind {
                CastKind::CStyle => "cast",
                CastKind::Static => "static_cast",
                CastKind::Reinterpret => "reinterpret_cast",
                CastKind::Const => "const_cast",
            };
            list(head, [ty(to), expr(operand)])
        }
        ExprKind::SizeOfType(of) => list("sizeof", [format!("type:{}", ty(of))]),
        ExprKind::SizeOfExpr(of) => list("sizeof", [expr(of)]),
        ExprKind::SizeOfPack(pack) => list("sizeof...", [pack.name.to_string()]),
        ExprKind::OffsetOf(of) => list("offsetof", [expr(of)]),
        ExprKind::Object(of) => list("object", [ty(of)]),
        ExprKind::AlignOf(of) => list("alignof", [format!("type:{}", ty(of))]),
        ExprKind::Lambda(inner) => lambda(inner),
        ExprKind::Statements(inner) => list("statements", [block(inner)]),
        ExprKind::PackExpansion(inner) => format!("{}...", expr(inner)),
        ExprKind::Fold { op, lhs, rhs } => {
            let side = |side: &Option<Box<Expr>>| side.as_ref().map_or("...".into(), |side| expr(side));
            list("fold", [op.map_or(",", BinaryOp::text).into(), side(lhs), side(rhs)])
        }
        ExprKind::Error => "<error>".into(),
    }
}

fn init_item(item: &InitItem) -> String {
    if let Some((first, last)) = &item.index {
        let last = last.as_ref().map_or(String::new(), |last| format!(" ... {}", expr(last)));
        return format!("[{}{last}]={}", expr(first), expr(&item.value));
    }
    match &item.designator {
        Some(name) => format!(".{}={}", name.name, expr(&item.value)),
        None => expr(&item.value),
    }
}

fn lambda(lambda: &Lambda) -> String {
    let default = match lambda.default_capture {
        Some(CaptureMode::ByCopy) => "=",
        Some(CaptureMode::ByReference) => "&",
        None => "",
    };
    let capture = |capture: &Capture| {
        let sign = if capture.mode == CaptureMode::ByReference { "&" } else { "" };
        let init = capture.init.as_ref().map_or(String::new(), |value| format!("={}", expr(value)));
        format!("{sign}{}{init}{}", capture.name.name, if capture.is_pack { "..." } else { "" })
    };
    let captures: Vec<String> = Some(default.to_string())
        .into_iter()
        .filter(|d| !d.is_empty())
        .chain(lambda.captures.iter().map(capture))
        .collect();
    list(
        "lambda",
        [
            format!("[{}]", captures.join(" ")),
            params(&lambda.params),
            if lambda.is_mutable { "mutable".into() } else { String::new() },
            lambda.result.as_ref().map_or(String::new(), |result| format!("-> {}", ty(result))),
            block(&lambda.body),
        ],
    )
}
