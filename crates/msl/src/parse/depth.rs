//! Bounds of the depth of the tree: all that comes after the parser walks it recursively, down to the destructors.
//!
//! ```text
//! brackets   (((a)))                 counted on the way down: `nested`
//! leftwards  a + b + c    f()()()    counted on the way up: the height of the operands, and one for each link
//! rightwards a ? b : c ? d : e       counted on the way down: links that are open around an operand
//! ```
//!
//! **Invariant:** height and open links together are at most [`MAX_CHAIN`], wherever chains are in each other's
//! operands.

use super::{Failed, MAX_CHAIN, MAX_NESTING, Parse, Parser};

/// Heights of the expressions that are being parsed, and links around them.
#[derive(Default)]
pub(super) struct Depth {
    nesting: u32,
    heights: Vec<u32>,
    open_links: u32,
}

impl Depth {
    pub(super) fn nesting(&self) -> u32 {
        self.nesting
    }
}

/// An expression that is being parsed.
#[derive(Clone, Copy)]
pub(super) struct Level(usize);

impl Parser {
    /// Begins an expression.
    pub(super) fn enter(&mut self) -> Level {
        self.depth.heights.push(0);
        Level(self.depth.heights.len() - 1)
    }

    /// Goes on with an expression of which a part was parsed.
    pub(super) fn enter_again(&mut self) -> Level {
        let height = self.depth.heights.last().copied().unwrap_or(0);
        self.depth.heights.push(height);
        Level(self.depth.heights.len() - 1)
    }

    /// The height of all that was parsed since [`enter`](Parser::enter). Productions that failed have left theirs.
    pub(super) fn height(&mut self, level: Level) -> u32 {
        let height = self.depth.heights.drain(level.0..).max().unwrap_or(0);
        self.depth.heights.push(height);
        height
    }

    /// Ends an expression, which is a part of the one around it; returns its height.
    pub(super) fn leave(&mut self, level: Level) -> u32 {
        let height = self.height(level);
        self.depth.heights.pop();
        if let Some(outer) = self.depth.heights.last_mut() {
            *outer = height.max(*outer);
        }
        height
    }

    /// Adds a link to a chain that leans to the left.
    pub(super) fn link(&mut self, level: Level) -> Parse<()> {
        let height = self.height(level) + 1;
        self.raise(height)
    }

    /// Sets the height of the innermost expression.
    pub(super) fn raise(&mut self, height: u32) -> Parse<()> {
        if let Some(last) = self.depth.heights.last_mut() {
            *last = height.max(*last);
        }
        self.check_chain(height + self.depth.open_links)
    }

    /// Parses a chain that leans to the right: `production` calls [`descend`](Parser::descend) for each link.
    pub(super) fn chain<T>(&mut self, production: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let before = self.depth.open_links;
        let result = production(self);
        self.depth.open_links = before;
        result
    }

    /// Adds a link to a chain that leans to the right.
    pub(super) fn descend(&mut self) -> Parse<()> {
        self.depth.open_links += 1;
        self.check_chain(self.depth.open_links)
    }

    fn check_chain(&mut self, links: u32) -> Parse<()> {
        match links > MAX_CHAIN {
            true => Err(self.give_up(format!("chain exceeded maximum of {MAX_CHAIN} links"))),
            false => Ok(()),
        }
    }

    /// Runs `production` one level deeper.
    pub(super) fn nested<T>(&mut self, production: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth.nesting >= MAX_NESTING {
            return Err(self.too_nested());
        }
        self.depth.nesting += 1;
        let level = self.enter();
        let result = production(self);
        let height = self.leave(level);
        if let Some(outer) = self.depth.heights.last_mut() {
            *outer = (height + 1).max(*outer);
        }
        self.depth.nesting -= 1;
        result
    }

    pub(super) fn too_nested(&mut self) -> Failed {
        self.give_up("bracket nesting level exceeded maximum of 256")
    }
}
