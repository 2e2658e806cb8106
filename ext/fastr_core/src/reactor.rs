//! The reactor: one thread with a tokio runtime, the event queue it fills, and the outbox it empties.
//!
//! It starts lazily and after `fork`; a forked child makes its own. It owns every task it spawns: `stop` ends them.
//! It never calls Ruby and holds no Ruby value.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Notify, oneshot};

use crate::error::Error;
use crate::event::{Completer, Event, Outcome};
use crate::here;
use crate::operations::Operations;
use crate::outbox::Outbox;
use crate::queue::EventQueue;
use crate::stage::Stage;

/// A running reactor. Dropping it stops it at once.
#[derive(Debug)]
pub struct Reactor {
    queue: Arc<EventQueue>,
    operations: Arc<Operations>,
    outbox: Arc<Outbox>,
    stage: Arc<Stage>,
    handle: Handle,
    stopping: Arc<Notify>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Reactor {
    /// Starts the reactor thread.
    ///
    /// # Errors
    /// When the system refuses another thread or an epoll descriptor.
    pub fn start() -> Result<Arc<Self>, Error> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let queue = Arc::new(EventQueue::default());
        let stage = Arc::new(Stage::new(Arc::clone(&queue)));
        let outbox = Arc::new(Outbox::default());
        let stopping = Arc::new(Notify::new());
        let handle = runtime.handle().clone();
        let (stop, stage_task, outbox_task) = (
            Arc::clone(&stopping),
            Arc::clone(&stage),
            Arc::clone(&outbox),
        );
        let operations = Arc::<Operations>::default();
        let (woken, pending) = (Arc::clone(&queue), Arc::clone(&operations));
        let thread = std::thread::Builder::new()
            .name("fastr-reactor".into())
            .spawn(move || {
                here::enter(Some(Arc::clone(&stage_task)));
                runtime.spawn(async move { stage_task.run().await });
                runtime.spawn(async move { outbox_task.run().await });
                runtime.block_on(stop.notified());
                pending.stop();
                // What ends with the tasks is told at once: nobody is left to do it at the end of a tick.
                here::enter(None);
                runtime.shutdown_background();
                woken.rouse();
            })?;
        let thread = Mutex::new(Some(thread));
        Ok(Arc::new(Self {
            queue,
            operations,
            outbox,
            stage,
            handle,
            stopping,
            thread,
        }))
    }

    /// What waits for the dispatcher.
    pub fn queue(&self) -> &Arc<EventQueue> {
        &self.queue
    }

    /// The operations that can be cancelled.
    pub fn operations(&self) -> &Arc<Operations> {
        &self.operations
    }

    /// Where the dispatcher leaves its answers.
    pub fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// The runtime, to spawn on.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs a future on the reactor and completes with its result, or as cancelled.
    pub fn operate<F>(&self, completer: Completer, future: F)
    where
        F: Future<Output = Result<Outcome, Error>> + Send + 'static,
    {
        let completer = completer.registered(Arc::clone(&self.operations));
        let (cancel, cancelled) = oneshot::channel::<()>();
        self.operations.attach(completer.id(), move || {
            let _ = cancel.send(());
        });
        self.handle.spawn(async move {
            // The register holds the sender until the operation completes, so an error cannot come first.
            let result = tokio::select! {
                biased;
                result = future => result,
                Ok(()) = cancelled => Err(Error::Cancelled),
            };
            completer.complete(result);
        });
    }

    /// Completes after `delay`; without a delay at once, behind what is queued already.
    pub fn timer(&self, completer: Completer, delay: Duration) {
        if delay.is_zero() {
            return completer.complete(Ok(Outcome::Done));
        }
        self.operate(completer, async move {
            tokio::time::sleep(delay).await;
            Ok(Outcome::Done)
        });
    }

    /// Completes when `descriptor` is ready in one of the ways of `bits` (readable 1, priority 2, writable 4), or with
    /// no bit at all once `limit` passed. The descriptor is a duplicate that the caller made for this one wait.
    pub fn wait_fd(
        &self,
        completer: Completer,
        descriptor: OwnedFd,
        bits: u8,
        limit: Option<Duration>,
    ) {
        self.operate(completer, async move {
            let wait = ready(descriptor, bits);
            let Some(limit) = limit else {
                return wait.await.map(Outcome::Ready);
            };
            match tokio::time::timeout(limit, wait).await {
                Ok(bits) => bits.map(Outcome::Ready),
                Err(_) => Ok(Outcome::Ready(0)),
            }
        });
    }

    /// Looks a host name up on the blocking pool.
    pub fn resolve(&self, completer: Completer, host: String) {
        self.operate(completer, async move {
            if let Ok(address) = host.parse::<IpAddr>() {
                return Ok(Outcome::Addresses(vec![address]));
            }
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let mut addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
            addresses.dedup();
            Ok(Outcome::Addresses(addresses))
        });
    }

    /// Puts an event on the queue from a reactor task, together with others of the same tick.
    pub(crate) fn emit(&self, event: Event) {
        self.stage.push(event);
    }

    /// Ends the thread and every task on it. Servers are stopped before, by their owner.
    pub fn stop(&self) {
        self.stopping.notify_one();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) =
            thread.filter(|thread| thread.thread().id() != std::thread::current().id())
        {
            let _ = thread.join();
        }
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        self.stopping.notify_one();
    }
}

/// Waits for readiness. Regular files are always ready: epoll refuses them with EPERM.
async fn ready(descriptor: OwnedFd, bits: u8) -> Result<u8, Error> {
    let mut interest = None::<Interest>;
    for (bit, kind) in [
        (1, Interest::READABLE),
        (2, Interest::PRIORITY),
        (4, Interest::WRITABLE),
    ] {
        if bits & bit != 0 {
            interest = Some(interest.map_or(kind, |sum| sum | kind));
        }
    }
    let interest = interest
        .ok_or_else(|| Error::Invalid("wait for a descriptor: no readiness asked for".into()))?;
    #[expect(
        deprecated,
        reason = "an OwnedFd is I/O safe, which the replacement asks for in unsafe code"
    )]
    let descriptor = match AsyncFd::with_interest(descriptor, interest) {
        Ok(descriptor) => descriptor,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(bits),
        Err(error) => return Err(error.into()),
    };
    let guard = descriptor.ready(interest).await?;
    let ready = guard.ready();
    let failed = ready.is_error() || ready.is_read_closed() || ready.is_write_closed();
    let readable = u8::from(ready.is_readable() || failed);
    let priority = u8::from(ready.is_priority()) << 1;
    let writable = u8::from(ready.is_writable() || failed) << 2;
    Ok((readable | priority | writable) & bits)
}
