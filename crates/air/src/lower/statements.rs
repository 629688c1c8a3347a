//! Statements.

use super::places::Place;
use super::{Lowering, Result};
use crate::ir::mark_loop;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicMetadataValueEnum, InstructionValue};
use msl::program::{Case, Expr, Pragma, Stmt, StmtKind};
use msl::types::{AddressSpace, QualTy, Ty};
use msl::walk;

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    pub(super) fn block(&mut self, stmts: &'p [Stmt]) -> Result<()> {
        let outer = self.frame().fp_pragmas.len();
        for stmt in stmts {
            if !self.is_open() {
                // Code after a jump never runs.
                let dead = self.new_block("dead");
                self.builder.position_at_end(dead);
            }
            self.at(stmt.span, |this| this.stmt(stmt))?;
        }
        self.frame_mut().fp_pragmas.truncate(outer);
        Ok(())
    }

    /// Statements inside an expression, which goes on behind them.
    pub(super) fn statements(&mut self, stmts: &'p [Stmt]) -> Result<()> {
        self.block(stmts)?;
        if !self.is_open() {
            let dead = self.new_block("dead");
            self.builder.position_at_end(dead);
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &'p Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::FpPragma(words) => {
                self.frame_mut().fp_pragmas.push(words);
                Ok(())
            }
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::Local(id, init) => {
                let place = self.local(*id)?;
                let local = &self.frame().source.locals[id.0 as usize];
                let qualified = local.ty;
                // `zero_threadgroup_variables` has set it.
                let is_set = local.space == AddressSpace::Threadgroup;
                match init {
                    Some(_) if is_set => Ok(()),
                    Some(init) => self.initialize(place, init, qualified),
                    None => Ok(()),
                }
            }
            StmtKind::Init { place, value } => {
                let qualified = place.ty;
                match self.place(place)? {
                    Place::Memory(place) => self.initialize(place, value, qualified),
                    place => {
                        let ty = qualified.with_ty(value.ty.ty);
                        let value = self.value(value)?;
                        self.store_place(&place, ty, value)
                    }
                }
            }
            StmtKind::Block(stmts) => self.block(stmts),
            StmtKind::If { condition, then, otherwise } => self.if_statement(condition, then, otherwise),
            StmtKind::Loop { condition, test_first, step, body, pragmas } => {
                self.loop_statement(condition.as_ref(), *test_first, step.as_ref(), body, pragmas)
            }
            StmtKind::Switch { value, cases } => self.switch(value, cases),
            StmtKind::Break => {
                let target = self.frame().targets.last().expect("inside a loop or switch").0;
                self.builder.build_unconditional_branch(target)?;
                Ok(())
            }
            StmtKind::Continue => {
                let target =
                    self.frame().targets.iter().rev().find_map(|(_, target)| *target).expect("inside a loop");
                self.builder.build_unconditional_branch(target)?;
                Ok(())
            }
            StmtKind::Return(value) => self.return_statement(value.as_ref()),
        }
    }

    fn return_statement(&mut self, value: Option<&'p Expr>) -> Result<()> {
        match value {
            Some(value) if value.ty.ty == Ty::VOID => {
                self.effect(value)?;
                self.builder.build_return(None)?;
            }
            Some(value) => match self.frame().result {
                Some(result) => {
                    self.initialize(result, value, QualTy::plain(value.ty.ty))?;
                    self.builder.build_return(None)?;
                }
                None => {
                    let value = self.value(value)?;
                    self.builder.build_return(Some(&value))?;
                }
            },
            None => {
                self.builder.build_return(None)?;
            }
        }
        Ok(())
    }

    fn if_statement(&mut self, condition: &'p Expr, then: &'p [Stmt], otherwise: &'p [Stmt]) -> Result<()> {
        if let Some(is_true) = walk::decided(condition) {
            return self.block(if is_true { then } else { otherwise });
        }
        let condition = self.value(condition)?.into_int_value();
        // Apple's compiler leaves out code that a constant excludes, and functions that only such code calls.
        if let Some(condition) = condition.get_zero_extended_constant().filter(|_| self.is_for_library) {
            return self.block(if condition != 0 { then } else { otherwise });
        }
        let (then_block, end) = (self.new_block("then"), self.new_block("endif"));
        let else_block = if otherwise.is_empty() { end } else { self.new_block("else") };
        self.builder.build_conditional_branch(condition, then_block, else_block)?;
        self.builder.position_at_end(then_block);
        self.block(then)?;
        self.jump(end)?;
        if !otherwise.is_empty() {
            self.builder.position_at_end(else_block);
            self.block(otherwise)?;
            self.jump(end)?;
        }
        self.builder.position_at_end(end);
        Ok(())
    }

    /// Goes on at `target`, unless control has gone elsewhere.
    fn jump(&mut self, target: BasicBlock<'ctx>) -> Result<()> {
        if self.is_open() {
            self.builder.build_unconditional_branch(target)?;
        }
        Ok(())
    }

    fn loop_statement(
        &mut self,
        condition: Option<&'p Expr>,
        test_first: bool,
        step: Option<&'p Expr>,
        body: &'p [Stmt],
        pragmas: &[Pragma],
    ) -> Result<()> {
        let (head, start) = (self.new_block("loop"), self.new_block("body"));
        let (next, end) = (self.new_block("next"), self.new_block("endloop"));
        if test_first {
            self.builder.build_unconditional_branch(head)?;
            self.builder.position_at_end(head);
            self.test(condition, start, end)?;
        } else {
            self.builder.build_unconditional_branch(start)?;
        }
        self.builder.position_at_end(start);
        self.frame_mut().targets.push((end, Some(next)));
        self.block(body)?;
        self.frame_mut().targets.pop();
        self.jump(next)?;
        self.builder.position_at_end(next);
        if let Some(step) = step {
            self.effect(step)?;
        }
        let latch = if test_first {
            self.builder.build_unconditional_branch(head)?
        } else {
            // The head of a loop that tests at its end is where it tests.
            self.builder.build_unconditional_branch(head)?;
            self.builder.position_at_end(head);
            self.test(condition, start, end)?
        };
        self.annotate_loop(latch, pragmas);
        self.builder.position_at_end(end);
        Ok(())
    }

    fn test(
        &mut self,
        condition: Option<&'p Expr>,
        yes: BasicBlock<'ctx>,
        no: BasicBlock<'ctx>,
    ) -> Result<InstructionValue<'ctx>> {
        Ok(match condition {
            Some(condition) => {
                let condition = self.value(condition)?.into_int_value();
                self.builder.build_conditional_branch(condition, yes, no)?
            }
            None => self.builder.build_unconditional_branch(yes)?,
        })
    }

    /// Writes the pragmas about unrolling to `!llvm.loop`.
    fn annotate_loop(&self, latch: InstructionValue<'ctx>, pragmas: &[Pragma]) {
        let mut nodes: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        // The first operand of a loop's node is the node itself; this one is replaced below.
        nodes.push(self.context.metadata_node(&[]).into());
        let text = |text: &str| self.context.metadata_string(text).into();
        let progress = [text("llvm.loop.mustprogress")];
        nodes.push(self.context.metadata_node(&progress).into());
        for pragma in pragmas {
            let words: Vec<BasicMetadataValueEnum<'ctx>> = match pragma {
                Pragma::Unroll => vec![text("llvm.loop.unroll.enable")],
                Pragma::UnrollFull => vec![text("llvm.loop.unroll.full")],
                Pragma::UnrollDisable => vec![text("llvm.loop.unroll.disable")],
                Pragma::UnrollCount(count) => {
                    let count = self.context.i32_type().const_int(u64::from(*count), false);
                    vec![text("llvm.loop.unroll.count"), count.into()]
                }
                Pragma::Fp(_) | Pragma::Pack(_) | Pragma::Diagnostic(_) => continue,
            };
            nodes.push(self.context.metadata_node(&words).into());
        }
        let node = self.context.metadata_node(&nodes);
        mark_loop(node);
        let kind = self.context.get_kind_id("llvm.loop");
        let _ = latch.set_metadata(node, kind);
    }

    fn switch(&mut self, value: &'p Expr, cases: &'p [Case]) -> Result<()> {
        let value = self.value(value)?.into_int_value();
        let end = self.new_block("endswitch");
        let blocks: Vec<BasicBlock<'ctx>> = cases.iter().map(|_| self.new_block("case")).collect();
        let mut default = end;
        let mut targets = Vec::new();
        for (case, block) in cases.iter().zip(&blocks) {
            for label in &case.labels {
                match label {
                    Some(label) => targets.push((value.get_type().const_int(*label as u64, true), *block)),
                    None => default = *block,
                }
            }
        }
        self.builder.build_switch(value, default, &targets)?;
        self.frame_mut().targets.push((end, None));
        for (index, case) in cases.iter().enumerate() {
            self.builder.position_at_end(blocks[index]);
            self.block(&case.body)?;
            self.jump(blocks.get(index + 1).copied().unwrap_or(end))?;
        }
        self.frame_mut().targets.pop();
        self.builder.position_at_end(end);
        Ok(())
    }
}
