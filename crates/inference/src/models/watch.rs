//! Ends answers that go on without data. All that follows the last chunk of an answer is read at once, however long it is: a
//! server could send trailers for as long as the file that it announced may take.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// Bytes that may arrive during a read that gives none of them: sizes of chunks and their extensions, trailers.
const MOST_BYTES: usize = 1 << 20;
const WITHOUT_DATA: &str = "the answer goes on without data";

/// The read that is going on in a connection of a client.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    longest: Duration,
    read: Arc<Mutex<Option<(Instant, usize)>>>,
}

impl Watch {
    /// `longest`: time until a read must give some data.
    pub(super) fn new(longest: Duration) -> Watch {
        Watch { longest, read: Arc::default() }
    }

    /// Watches what is read of an answer.
    pub(super) fn over<R: Read>(&self, answer: R) -> impl Read + use<R> {
        Watched { inner: answer, watch: self.clone() }
    }

    fn set(&self, read: Option<(Instant, usize)>) {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = read;
    }

    /// Notes that bytes have come, or are waited for.
    fn note(&self, bytes: usize) -> Result<(), Error> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((since, received)) = read.as_mut() else { return Ok(()) };
        *received = received.saturating_add(bytes);
        if *received > MOST_BYTES || since.elapsed() > self.longest {
            return Err(Error::Io(io::Error::new(io::ErrorKind::InvalidData, WITHOUT_DATA)));
        }
        Ok(())
    }

    /// True if a read ended with an error because of the watch. The server would do the same again.
    pub(super) fn stopped(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::InvalidData && error.to_string() == WITHOUT_DATA
    }
}

#[derive(Debug)]
struct Watched<T> {
    inner: T,
    watch: Watch,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.set(Some((Instant::now(), 0)));
        let read = self.inner.read(buffer);
        self.watch.set(None);
        read
    }
}

impl<In: Transport> Connector<In> for Watch {
    type Out = Box<dyn Transport>;

    fn connect(&self, _: &ConnectionDetails, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(|inner| Box::new(Watched { inner, watch: self.clone() }) as Box<dyn Transport>))
    }
}

impl<T: Transport> Transport for Watched<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let before = self.inner.buffers().input().len();
        let progress = self.inner.await_input(timeout)?;
        let received = self.inner.buffers().input().len().saturating_sub(before);
        self.watch.note(received)?;
        Ok(progress)
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}
