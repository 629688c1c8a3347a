//! The contract: mistakes that LLVM does not find are panics.

use super::*;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

const CODE: &str = "
define i32 @f(i32 %a, i32 %b, ptr %p) {
entry:
  %sum = add i32 %a, %b
  %less = icmp slt i32 %sum, 7
  br i1 %less, label %then, label %end
then:
  store i32 %sum, ptr %p, align 4
  br label %end
end:
  ret i32 %sum
}
define void @g(ptr %p) {
  store i32 1, ptr %p, align 4
  ret void
}
@table = global [2 x ptr] [ptr @table, ptr null]
";

fn parse(context: &Context) -> Module<'_> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(CODE.as_bytes(), "test");
    context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `work` on a function of a module.
fn with_function(work: impl for<'m> FnOnce(&'m Rewrite<'m>, Value<'m>)) {
    let context = Context::create();
    let mut module = parse(&context);
    let rewrite = Rewrite::new(&mut module);
    let function = rewrite.module().function("f").expect("it is there");
    work(&rewrite, function);
}

fn instruction<'m>(function: Value<'m>, name: &str) -> Value<'m> {
    let instructions = function.blocks().into_iter().flat_map(Block::instructions);
    instructions.into_iter().find(|instruction| instruction.name() == name).expect("it is there")
}

#[test]
#[should_panic(expected = "expected LLVMICmp, found   %sum = add i32 %a, %b")]
fn only_a_comparison_has_a_predicate() {
    with_function(|_, function| {
        assert_eq!(instruction(function, "less").int_predicate(), IntPredicate::LLVMIntSLT);
        instruction(function, "sum").int_predicate();
    });
}

#[test]
#[should_panic(expected = "operand 2 of 2")]
fn operands_are_counted() {
    with_function(|_, function| {
        let sum = instruction(function, "sum");
        assert_eq!(sum.operands(), [sum.operand(0), sum.operand(1)]);
        sum.operand(2);
    });
}

#[test]
fn terminators_without_a_condition_have_none() {
    with_function(|_, function| {
        let ends: Vec<Value> = function.blocks().into_iter().filter_map(Block::terminator).collect();
        let conditions: Vec<bool> = ends.iter().map(|end| end.condition().is_some()).collect();
        assert_eq!(conditions, [true, false, false]);
    });
}

#[test]
#[should_panic(expected = "still used")]
fn a_value_in_use_is_not_erased() {
    with_function(|rewrite, function| rewrite.erase(instruction(function, "sum")));
}

#[test]
fn an_erased_instruction_can_be_looked_at() {
    with_function(|rewrite, function| {
        let store = function.blocks()[1].instructions()[0];
        let (stored, pointer) = (store.operand(0), store.operand(1));
        let uses = stored.users().len();
        rewrite.erase(store);
        assert!(store.is(Opcode::LLVMStore) && store.module().is_none());
        assert_eq!(function.blocks()[1].instructions().len(), 1);
        // It is no user any more.
        assert_eq!((stored.users().len(), pointer.has_use()), (uses - 1, false));
    });
}

#[test]
#[should_panic(expected = "an instruction of another module, or erased before")]
fn nothing_is_erased_twice() {
    with_function(|rewrite, function| {
        let store = function.blocks()[1].instructions()[0];
        rewrite.erase(store);
        rewrite.erase(store);
    });
}

#[test]
#[should_panic(expected = "an instruction that was erased")]
fn nothing_is_built_beside_an_erased_instruction() {
    with_function(|rewrite, function| {
        let store = function.blocks()[1].instructions()[0];
        let b = Builder::new(rewrite.module());
        b.before(store);
        rewrite.erase(store);
        b.fence();
    });
}

#[test]
#[should_panic(expected = "a value of another module, or erased")]
fn values_of_other_modules_are_refused() {
    let context = Context::create();
    let (module, other) = (parse(&context), parse(&context));
    let (module, other) = (ModuleRef::of(&module), ModuleRef::of(&other));
    let b = Builder::new(module);
    b.at_end(module.function("g").expect("it is there").blocks()[0]);
    let foreign = other.function("f").expect("it is there").parameters()[0];
    b.add(foreign, foreign);
}

#[test]
#[should_panic(expected = "operands of two types")]
fn contexts_are_not_mixed() {
    let (context, another) = (Context::create(), Context::create());
    let (module, other) = (parse(&context), parse(&another));
    let (module, other) = (ModuleRef::of(&module), ModuleRef::of(&other));
    let b = Builder::new(module);
    b.at_end(module.function("g").expect("it is there").blocks()[0]);
    let number = |module: ModuleRef<'_>| Type::int(module.context(), 32).constant(1).raw();
    assert_ne!(number(module), number(other));
    b.add(Type::int(module.context(), 32).constant(1), Type::int(other.context(), 32).constant(1));
}

#[test]
#[should_panic(expected = "operands of two types")]
fn operands_have_one_type() {
    with_function(|rewrite, function| {
        let b = Builder::new(rewrite.module());
        b.at_end(function.blocks()[0]);
        b.add(function.parameters()[0], function.parameters()[2]);
    });
}

#[test]
#[should_panic(expected = "LLVMTrunc")]
fn a_cast_to_a_wider_type_does_not_truncate() {
    with_function(|rewrite, function| {
        let b = Builder::new(rewrite.module());
        b.at_end(function.blocks()[0]);
        b.trunc(function.parameters()[0], Type::int(b.context(), 64));
    });
}

#[test]
fn constants_with_addresses_are_known() {
    with_function(|rewrite, _| {
        let table = rewrite.module().global(c"table").expect("it is there");
        assert!(table.initializer().expect("a value").mentions_global());
        assert!(!table.global_type().zero().mentions_global());
    });
}

#[test]
fn names_may_be_missing() {
    with_function(|_, function| assert_eq!(function.blocks()[0].instructions()[2].name(), ""));
}
