//! Recorded problems of an archive.

use std::sync::Mutex;

/// The first few problems, each once.
#[derive(Default)]
pub(super) struct Problems {
    texts: Mutex<Vec<String>>,
}

const MOST: usize = 16;

impl Problems {
    pub(super) fn add(&self, text: String) {
        let mut texts = self.texts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if texts.len() < MOST && !texts.contains(&text) {
            texts.push(text);
        }
    }

    pub(super) fn texts(&self) -> Vec<String> {
        self.texts.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }
}
