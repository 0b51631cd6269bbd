//! The same with several threads: they decode one batch while the next is read and the results of
//! the last are written.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::error::StreamError;
use super::source::{Item, Source};
use super::work::{Chunk, Output, Work};
use crate::error::DecodeError;

/// A batch takes no further object beyond this many bytes or objects.
const BATCH_BYTES: usize = 2 << 20;
const BATCH_ITEMS: usize = 16 << 10;

/// The most threads that are started, however many are asked for.
const MAX_THREADS: usize = 256;

/// Parts that a thread takes of a batch; some take longer than others.
const PARTS: usize = 8;

/// Objects that are decoded at a time.
#[derive(Default)]
struct Batch {
    buffer: Vec<u8>,
    items: Vec<Item>,
}

impl Batch {
    /// Reads the next batch; returns whether more may follow.
    fn fill(&mut self, source: &mut impl Source) -> Result<bool, StreamError> {
        self.buffer.clear();
        self.items.clear();
        while self.buffer.len() < BATCH_BYTES && self.items.len() < BATCH_ITEMS {
            match source.next(&mut self.buffer)? {
                Some(item) => self.items.push(item),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Decodes all objects into chunks, reusing the existing ones.
    fn decode(&self, work: &Work<'_>, end: &[u8], parts: usize, chunks: &mut Vec<Chunk>) {
        let decode = |(items, chunk): (&[Item], &mut Chunk)| {
            items.iter().for_each(|item| chunk.add(work, &self.buffer, item, end));
        };
        chunks.resize_with(parts, Chunk::default);
        let items = self.items.par_chunks(self.items.len().div_ceil(parts).max(1));
        items.zip(chunks).for_each(decode);
    }
}

impl Work<'_> {
    pub(super) fn run_parallel<S: Source>(
        &self,
        source: &mut S,
        output: &mut Output<impl Write, impl FnMut(u64, DecodeError)>,
        jobs: NonZeroUsize,
    ) -> Result<(), StreamError> {
        if jobs.get() == 1 {
            return self.run(source, output);
        }
        let threads = jobs.get().min(MAX_THREADS);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| StreamError::Threads(io::Error::other(error)))?;
        let parts = threads * PARTS;

        let (mut batch, mut next) = (Batch::default(), Batch::default());
        let (mut done, mut decoded) = (Vec::new(), Vec::new());
        let mut unwritten = false;
        // Objects that were read before an error are decoded and written first.
        let mut more = batch.fill(source);
        while unwritten || !batch.items.is_empty() {
            pool.in_place_scope(|scope| {
                let (batch, decoded) = (&batch, &mut decoded);
                scope.spawn(move |_| batch.decode(self, S::END, parts, decoded));
                done.iter_mut().try_for_each(|chunk| output.put(chunk))?;
                next.items.clear();
                if matches!(more, Ok(true)) {
                    more = next.fill(source);
                }
                Ok::<(), StreamError>(())
            })?;
            unwritten = !batch.items.is_empty();
            std::mem::swap(&mut done, &mut decoded);
            std::mem::swap(&mut batch, &mut next);
        }
        more.map(|_| ())
    }
}
