//! Shrinks a failing program: removes statements, and replaces blocks by their contents, as long as it fails in the
//! same way.

use super::program::*;

#[derive(Clone, Copy)]
enum Edit {
    Remove,
    Unwrap,
}

/// The smallest failing program found in at most `attempts` attempts.
pub(super) fn shrink(mut program: Program, mut attempts: usize, fails: impl Fn(&Program) -> bool) -> Program {
    loop {
        let mut progress = false;
        for edit in [Edit::Remove, Edit::Unwrap] {
            let mut place = 0;
            while let Some(smaller) = edited(&program, place, edit) {
                if attempts == 0 {
                    return program;
                }
                attempts -= 1;
                if fails(&smaller) {
                    program = smaller;
                    progress = true;
                } else {
                    place += 1;
                }
            }
        }
        if !progress {
            return program;
        }
    }
}

/// The program with an edit at the given position, if there is one.
fn edited(program: &Program, place: usize, edit: Edit) -> Option<Program> {
    let mut program = program.clone();
    let mut editor = Editor { left: place, edit, done: false };
    editor.items(&mut program.items);
    for function in &mut program.functions {
        editor.body(&mut function.body);
    }
    editor.done.then_some(program)
}

struct Editor {
    left: usize,
    edit: Edit,
    done: bool,
}

impl Editor {
    /// True at the position to change.
    fn is_here(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        true
    }

    fn items(&mut self, items: &mut Vec<GroupStatement>) {
        for index in 0..items.len() {
            if self.done {
                return;
            }
            if self.is_here() {
                self.done = true;
                let item = items.remove(index);
                if let Edit::Unwrap = self.edit {
                    let inner = match item {
                        GroupStatement::If(_, then, other) => [then, other].concat(),
                        GroupStatement::Repeat(_, body) | GroupStatement::Loop(_, _, body) => body,
                        _ => Vec::new(),
                    };
                    items.splice(index..index, inner);
                }
                return;
            }
            match &mut items[index] {
                GroupStatement::Alone(body) => self.body(body),
                GroupStatement::If(_, then, other) => {
                    self.items(then);
                    self.items(other);
                }
                GroupStatement::Repeat(_, body) | GroupStatement::Loop(_, _, body) => self.items(body),
                GroupStatement::Simd(..)
                | GroupStatement::Exchange(..)
                | GroupStatement::BreakIf(_)
                | GroupStatement::ContinueIf(_) => {}
            }
        }
    }

    fn body(&mut self, body: &mut Vec<Statement>) {
        for index in 0..body.len() {
            if self.done {
                return;
            }
            if self.is_here() {
                self.done = true;
                let statement = body.remove(index);
                if let Edit::Unwrap = self.edit {
                    let inner = match statement {
                        Statement::If(_, then, other) => [then, other].concat(),
                        Statement::Loop(a_loop) => a_loop.body,
                        Statement::Switch(_, cases) => cases.into_iter().flat_map(|case| case.body).collect(),
                        _ => Vec::new(),
                    };
                    body.splice(index..index, inner);
                }
                return;
            }
            match &mut body[index] {
                Statement::If(_, then, other) => {
                    self.body(then);
                    self.body(other);
                }
                Statement::Loop(a_loop) => self.body(&mut a_loop.body),
                Statement::Switch(_, cases) => cases.iter_mut().for_each(|case| self.body(&mut case.body)),
                _ => {}
            }
        }
    }
}
