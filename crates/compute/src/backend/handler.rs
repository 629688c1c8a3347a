//! Completion handlers, called exactly once.

use crate::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

type HandlerCall<T> = Box<dyn FnOnce(Result<T>) + Send>;

/// A handler that a driver may call from its own thread. Panics are caught, since they must not unwind through the
/// driver. Dropping an uncalled handler calls it with an error, so that nothing waits forever.
pub struct Handler<T> {
    call: Mutex<Option<HandlerCall<T>>>,
}

impl<T> Handler<T> {
    /// A handler that calls `call`.
    pub fn new(call: impl FnOnce(Result<T>) + Send + 'static) -> Handler<T> {
        Handler { call: Mutex::new(Some(Box::new(call))) }
    }

    /// Calls the handler, unless it was called before.
    pub fn call(&self, result: Result<T>) {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(call) = call {
            // A panic payload may itself panic when it is dropped.
            let thrown = catch_unwind(AssertUnwindSafe(|| call(result)));
            let _ = catch_unwind(AssertUnwindSafe(move || drop(thrown)));
        }
    }
}

impl<T> Drop for Handler<T> {
    fn drop(&mut self) {
        self.call(Err(Error::Internal("the compiler ended without a result".into())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    #[test]
    fn a_handler_is_called_once() {
        let (sender, receiver) = channel();
        let handler = Handler::<()>::new(move |result| sender.send(result.err()).expect("it is awaited"));
        handler.call(Err(Error::Library("first".into())));
        handler.call(Err(Error::Library("second".into())));
        drop(handler);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [Some(Error::Library("first".into()))]);
    }

    #[test]
    fn dropping_an_uncalled_handler_reports_an_error() {
        let (sender, receiver) = channel();
        drop(Handler::<()>::new(move |result| sender.send(result.err()).expect("it is awaited")));
        assert!(matches!(receiver.iter().collect::<Vec<_>>()[..], [Some(Error::Internal(_))]));
    }

    #[test]
    fn a_panic_is_caught_and_nothing_leaks() {
        let kept = Arc::new(());
        let handler = Handler::<()>::new({
            let kept = kept.clone();
            move |_| {
                let _kept = kept;
                panic!("expected by this test");
            }
        });
        handler.call(Err(Error::Library("first".into())));
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
