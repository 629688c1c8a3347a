//! The module as LLVM 22 writes it.

use super::body::Body;
use super::codes::{block, cast, constant, module};
use super::intrinsics::is_lifetime;
use super::tree::{Block, Record};
use super::types::{Type, TypeId, Types};
use super::{Result, missing};

/// A module of LLVM 22, decoded as far as it must be rewritten.
pub(super) struct Input {
    pub(super) attribute_groups: Vec<Vec<u64>>,
    pub(super) attribute_lists: Vec<Vec<u64>>,
    /// Triple, data layout, names of sections: records that stay as they are.
    pub(super) texts: Vec<(u64, Vec<u64>)>,
    /// A name, and how it is selected.
    pub(super) comdats: Vec<(Vec<u8>, Vec<u64>)>,
    /// Variables and functions, numbered by their order.
    pub(super) globals: Vec<Global>,
    /// The number of each of them in LLVM 14; none for those that are left out.
    pub(super) numbers: Vec<Option<u32>>,
    /// The type of a pointer to each of them, in LLVM 22.
    pub(super) opaque_pointers: Vec<TypeId>,
    /// Constants, numbered after the globals.
    pub(super) constants: Vec<Constant>,
    pub(super) metadata_kinds: Vec<Vec<u64>>,
    pub(super) metadata: Vec<Record>,
    pub(super) bundle_tags: Vec<Vec<u64>>,
    pub(super) scope_names: Vec<Vec<u64>>,
    /// The bodies of those functions that have one, in the order of the functions.
    pub(super) bodies: Vec<Block>,
}

/// A variable or function.
pub(super) struct Global {
    pub(super) name: Vec<u8>,
    /// The record without its name.
    pub(super) record: Vec<u64>,
    /// The type of a variable's contents, or a function's type: of LLVM 22.
    pub(super) ty: TypeId,
    pub(super) space: u64,
    pub(super) is_function: bool,
    pub(super) is_defined: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) ty: TypeId,
    pub(super) value: ConstantValue,
}

#[derive(Clone, Debug)]
pub(super) enum ConstantValue {
    /// A record whose operands name no other value: numbers, lists of numbers, null, undef, poison.
    Plain(u64, Vec<u64>),
    Aggregate(Vec<u32>),
    Binary(u64, u32, u32, Option<u64>),
    Cast(u64, u32),
    ElementPointer {
        inbounds: bool,
        element: TypeId,
        operands: Vec<u32>,
    },
}

/// `[isconst | explicit type << 1 | address space << 2, …]`
const EXPLICIT_TYPE: u64 = 2;

impl Input {
    pub(super) fn read(blocks: Vec<Block>, types: &mut Types) -> Result<Input> {
        let mut module = None;
        let mut strings = Vec::new();
        for mut one in blocks {
            match one.id {
                block::MODULE => module = Some(one),
                block::STRTAB => strings = one.records.pop().map_or(Vec::new(), |record| record.blob),
                block::IDENTIFICATION | block::SYMTAB => {}
                id => return Err(format!("a block {id} beside the module")),
            }
        }
        let Block { records, blocks, .. } = module.ok_or_else(|| missing("module"))?;
        let mut input = Input {
            attribute_groups: Vec::new(),
            attribute_lists: Vec::new(),
            texts: Vec::new(),
            comdats: Vec::new(),
            globals: Vec::new(),
            numbers: Vec::new(),
            opaque_pointers: Vec::new(),
            constants: Vec::new(),
            metadata_kinds: Vec::new(),
            metadata: Vec::new(),
            bundle_tags: Vec::new(),
            scope_names: Vec::new(),
            bodies: Vec::new(),
        };
        // Types are needed to read the rest.
        for record in blocks.iter().filter(|one| one.id == block::TYPE_NEW).flat_map(|one| &one.records) {
            types.read(record.code, &record.operands)?;
        }
        for record in records {
            input.module_record(record, &strings, types)?;
        }
        for global in &input.globals {
            let pointer = Type::Pointer { pointee: None, space: global.space };
            input.opaque_pointers.push(types.intern(pointer));
        }
        input.number_globals(types);
        let operands = |one: Block| one.records.into_iter().map(|record| record.operands).collect::<Vec<_>>();
        for one in blocks {
            match one.id {
                block::TYPE_NEW | block::VALUE_SYMTAB | block::INFO => {}
                block::PARAMATTR_GROUP => input.attribute_groups = operands(one),
                block::PARAMATTR => input.attribute_lists = operands(one),
                block::CONSTANTS => input.constants = constants(&one, types)?,
                block::METADATA_KIND => input.metadata_kinds = operands(one),
                block::METADATA => input.metadata = one.records,
                block::OPERAND_BUNDLE_TAGS => input.bundle_tags = operands(one),
                block::SYNC_SCOPE_NAMES => input.scope_names = operands(one),
                block::FUNCTION => input.bodies.push(one),
                id => return Err(format!("a block {id} in the module")),
            }
        }
        if input.bodies.len() != input.globals.iter().filter(|one| one.is_function && one.is_defined).count() {
            return Err(missing("function body"));
        }
        Ok(input)
    }

    /// Reading a module of LLVM 14, LLVM 22 leaves declarations behind that nothing uses and LLVM 14 refuses:
    /// `llvm.lifetime.start.i64(i64)`.
    fn number_globals(&mut self, types: &Types) {
        let mut next = 0;
        for global in &self.globals {
            let takes_a_number = |ty: TypeId| match types.get(ty) {
                Type::Function { parameters, .. } => {
                    parameters.first().is_some_and(|ty| matches!(types.get(*ty), Type::Integer(_)))
                }
                _ => false,
            };
            let is_left_out = is_lifetime(&global.name) && takes_a_number(global.ty);
            self.numbers.push((!is_left_out).then_some(next));
            next += u32::from(!is_left_out);
        }
    }

    /// The number of globals in LLVM 14.
    pub(super) fn global_count(&self) -> u32 {
        self.numbers.iter().flatten().count() as u32
    }

    /// A constant of the module, or of this body.
    pub(super) fn constant<'a>(&'a self, value: u32, body: Option<&'a Body>) -> Option<&'a Constant> {
        let own = body.and_then(|body| body.constants.get(value.checked_sub(body.first_constant)? as usize));
        own.or_else(|| self.constants.get((value as usize).checked_sub(self.globals.len())?))
    }

    /// The types of globals and constants in LLVM 22, by their numbers.
    pub(super) fn value_types(&self) -> Vec<TypeId> {
        self.opaque_pointers.iter().copied().chain(self.constants.iter().map(|constant| constant.ty)).collect()
    }

    fn module_record(&mut self, record: Record, strings: &[u8], types: &Types) -> Result<()> {
        let Record { code, operands, .. } = record;
        let name = || -> Result<Vec<u8>> {
            let [offset, length, ..] = operands[..] else { return Err(missing("name")) };
            let end = offset.checked_add(length).ok_or_else(|| missing("name"))?;
            Ok(strings.get(offset as usize..end as usize).ok_or_else(|| missing("name"))?.to_vec())
        };
        match code {
            module::VERSION if operands == [2] => {}
            module::VSTOFFSET => {}
            module::TRIPLE | module::DATALAYOUT | module::ASM | module::SECTIONNAME | module::SOURCE_FILENAME => {
                self.texts.push((code, operands));
            }
            module::COMDAT => self.comdats.push((name()?, operands[2..].to_vec())),
            module::GLOBALVAR => {
                let [_, _, ty, flags, initializer, ..] = operands[..] else { return Err(missing("variable")) };
                if flags & EXPLICIT_TYPE == 0 {
                    return Err("a variable without its type".into());
                }
                self.globals.push(Global {
                    name: name()?,
                    ty: types.numbered(ty)?,
                    space: flags >> 2,
                    is_function: false,
                    is_defined: initializer != 0,
                    record: operands[2..].to_vec(),
                });
            }
            module::FUNCTION => {
                let [_, _, ty, _, is_declaration, ..] = operands[..] else { return Err(missing("function")) };
                self.globals.push(Global {
                    name: name()?,
                    ty: types.numbered(ty)?,
                    space: operands.get(18).copied().unwrap_or(0),
                    is_function: true,
                    is_defined: is_declaration == 0,
                    record: operands[2..].to_vec(),
                });
            }
            _ => return Err(format!("a record {code} of the module, such as an alias")),
        }
        Ok(())
    }
}

/// The constants of a block.
pub(super) fn constants(block: &Block, types: &Types) -> Result<Vec<Constant>> {
    let mut current = None;
    let mut all = Vec::with_capacity(block.records.len());
    for Record { code, operands, .. } in &block.records {
        let id = |at: usize| -> Result<u32> {
            operands.get(at).and_then(|id| u32::try_from(*id).ok()).ok_or_else(|| missing("constant"))
        };
        let value = match *code {
            constant::SETTYPE => {
                current = Some(types.numbered(operands.first().copied().unwrap_or(u64::MAX))?);
                continue;
            }
            constant::NULL
            | constant::UNDEF
            | constant::POISON
            | constant::INTEGER
            | constant::WIDE_INTEGER
            | constant::FLOAT
            | constant::STRING
            | constant::CSTRING
            | constant::DATA => ConstantValue::Plain(*code, operands.clone()),
            constant::AGGREGATE => {
                ConstantValue::Aggregate((0..operands.len()).map(id).collect::<Result<Vec<u32>>>()?)
            }
            constant::CE_BINOP => ConstantValue::Binary(id(0)?.into(), id(1)?, id(2)?, operands.get(3).copied()),
            constant::CE_CAST if operands.first().is_some_and(|opcode| *opcode <= cast::ADDRSPACECAST) => {
                ConstantValue::Cast(operands[0], id(2)?)
            }
            constant::CE_GEP | constant::CE_GEP_WITH_INRANGE => element_pointer(*code, operands, types)?,
            code => return Err(format!("a constant of kind {code}")),
        };
        all.push(Constant { ty: current.ok_or_else(|| missing("type"))?, value });
    }
    Ok(all)
}

/// `[type, flags, range, (type, value)…]`, the range only in one of the two.
fn element_pointer(code: u64, operands: &[u64], types: &Types) -> Result<ConstantValue> {
    let [element, flags, rest @ ..] = operands else { return Err(missing("constant")) };
    let pairs = match (code, rest) {
        (constant::CE_GEP, rest) => rest,
        // The range, of numbers of at most 64 bits: their width and the two ends.
        (_, [64, _, _, rest @ ..]) => rest,
        _ => return Err("a constant address within a range".into()),
    };
    let operands = pairs.chunks_exact(2).map(|pair| pair[1] as u32).collect();
    Ok(ConstantValue::ElementPointer { inbounds: flags & 1 != 0, element: types.numbered(*element)?, operands })
}

/// The value of an integer constant's record.
pub(super) fn integer(constant: &Constant) -> Option<u64> {
    match &constant.value {
        ConstantValue::Plain(constant::NULL, _) => Some(0),
        // The sign is the lowest bit.
        ConstantValue::Plain(constant::INTEGER, operands) => match operands[..] {
            [encoded] if encoded & 1 == 0 => Some(encoded >> 1),
            _ => None,
        },
        _ => None,
    }
}

/// Result and parameters of a function type.
pub(super) fn signature(types: &Types, ty: TypeId) -> Result<(TypeId, Vec<TypeId>, bool)> {
    match types.get(ty) {
        Type::Function { result, parameters, variadic } => Ok((*result, parameters.clone(), *variadic)),
        _ => Err(missing("function type")),
    }
}
