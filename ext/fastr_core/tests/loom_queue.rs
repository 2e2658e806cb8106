//! The hand-overs between threads under the model checker: every interleaving of producers and one consumer.
//!
//! The sources of the queue, the stage and the outbox are compiled here a second time, with loom's locks as their
//! `crate::sync` and a model of tokio's `Notify`. Loom has no clock, so nothing waits with a limit here; limits are
//! tested in `queue.rs`. A wake-up that is lost shows as a deadlock, which loom reports.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc as StdArc;
use std::task::{Context, Poll, Wake, Waker};

use loom::sync::Arc;
use loom::thread;

use crate::event::Event;
use crate::http::responder::Delivery;
use crate::outbox::Outbox;
use crate::queue::{Drained, EventQueue};
use crate::stage::Stage;

#[allow(dead_code, reason = "a test uses only a part of each")]
#[path = "../src/outbox.rs"]
mod outbox;
#[allow(dead_code, reason = "a test uses only a part of each")]
#[path = "../src/queue.rs"]
mod queue;
#[path = "../src/stage.rs"]
mod stage;

mod event {
    #[derive(Debug)]
    pub(crate) enum Event {
        Tick,
        Other(u32),
    }
}

mod http {
    pub(crate) mod responder {
        /// An answer that is performed by being counted.
        #[derive(Debug)]
        pub struct Delivery(
            pub(crate) std::sync::Arc<std::sync::Mutex<Vec<u32>>>,
            pub(crate) u32,
        );

        impl Delivery {
            pub(crate) fn perform(self) {
                self.0.lock().expect("not poisoned").push(self.1);
            }
        }
    }
}

mod sync {
    use std::future::poll_fn;
    use std::task::{Poll, Waker};
    use std::time::{Duration, Instant};

    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().expect("not poisoned")
    }

    pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        condvar.wait(guard).expect("not poisoned")
    }

    pub(crate) fn wait_timeout<'a, T>(
        _: &Condvar,
        _: MutexGuard<'a, T>,
        _: Duration,
    ) -> MutexGuard<'a, T> {
        unreachable!("a model waits without a limit")
    }

    pub(crate) fn deadline(_: Duration) -> Option<Instant> {
        unreachable!("a model waits without a limit")
    }

    pub(crate) fn remaining(_: Instant) -> Option<Duration> {
        unreachable!("a model waits without a limit")
    }

    /// What tokio's `Notify` promises to `notify_one` and one waiter: a permit that waits for whoever comes next.
    #[derive(Debug)]
    pub(crate) struct Notify(Mutex<(bool, Option<Waker>)>);

    impl Notify {
        pub(crate) fn new() -> Self {
            Self(Mutex::new((false, None)))
        }

        pub(crate) fn notify_one(&self) {
            let mut state = lock(&self.0);
            state.0 = true;
            let waker = state.1.take();
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        }

        pub(crate) async fn notified(&self) {
            poll_fn(|context| {
                let mut state = lock(&self.0);
                if std::mem::take(&mut state.0) {
                    return Poll::Ready(());
                }
                state.1 = Some(context.waker().clone());
                Poll::Pending
            })
            .await;
        }
    }
}

/// The reactor thread of a model: wakes set a flag, and it sleeps while the flag is down.
struct Reactor {
    woken: loom::sync::Mutex<bool>,
    changed: loom::sync::Condvar,
}

impl Wake for Reactor {
    fn wake(self: StdArc<Self>) {
        *sync::lock(&self.woken) = true;
        self.changed.notify_one();
    }
}

/// Polls an endless task until `done`, sleeping whenever it has nothing to do.
fn run_until(task: impl Future<Output = ()>, done: impl Fn() -> bool) {
    let reactor = StdArc::new(Reactor {
        woken: loom::sync::Mutex::new(false),
        changed: loom::sync::Condvar::new(),
    });
    let waker = Waker::from(StdArc::clone(&reactor));
    let mut task = pin!(task);
    loop {
        assert_eq!(
            task.as_mut().poll(&mut Context::from_waker(&waker)),
            Poll::Pending
        );
        if done() {
            return;
        }
        let mut woken = sync::lock(&reactor.woken);
        while !std::mem::take(&mut *woken) {
            woken = sync::wait(&reactor.changed, woken);
        }
    }
}

/// Checks a model that is too large for every interleaving: those with up to three preemptions, which is where lost
/// wake-ups lie.
fn bounded(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// Drains until `count` events came, as the dispatcher does.
fn take(queue: &EventQueue<u32>, count: usize) -> Vec<u32> {
    let mut taken = Vec::new();
    let mut buffer = Vec::new();
    while taken.len() < count {
        assert_eq!(queue.drain(&mut buffer, None), Drained::Events);
        taken.append(&mut buffer);
    }
    taken
}

#[test]
fn no_event_of_two_producers_is_lost_and_each_keeps_its_order() {
    loom::model(|| {
        let queue = Arc::new(EventQueue::<u32>::default());
        let (first, second) = (Arc::clone(&queue), Arc::clone(&queue));
        let pushing = thread::spawn(move || {
            first.push(1);
            first.push(2);
        });
        let appending = thread::spawn(move || second.append(&mut vec![10, 20]));
        let taken = take(&queue, 4);
        pushing.join().expect("no producer panics");
        appending.join().expect("no producer panics");
        let of = |limit: std::ops::Range<u32>| -> Vec<u32> {
            taken
                .iter()
                .copied()
                .filter(|event| limit.contains(event))
                .collect()
        };
        assert_eq!((of(0..10), of(10..30)), (vec![1, 2], vec![10, 20]));
        assert!(queue.is_empty());
    });
}

#[test]
fn a_tick_that_comes_while_the_consumer_drains_is_seen() {
    loom::model(|| {
        let queue = Arc::new(EventQueue::<Event>::default());
        let inbox = Arc::new(loom::sync::Mutex::new(0));
        let producers: Vec<_> = (0..2)
            .map(|_| {
                let (queue, inbox) = (Arc::clone(&queue), Arc::clone(&inbox));
                thread::spawn(move || {
                    *inbox.lock().expect("not poisoned") += 1;
                    queue.tick();
                })
            })
            .collect();
        // Ruby looks at its inbox once per tick: each element must lie there before some tick is taken.
        let (mut seen, mut ticks, mut buffer) = (0, 0, Vec::new());
        while seen < 2 {
            assert_eq!(queue.drain(&mut buffer, None), Drained::Events);
            ticks += buffer.drain(..).count();
            seen += std::mem::take(&mut *inbox.lock().expect("not poisoned"));
        }
        assert!(ticks <= 2);
        for producer in producers {
            producer.join().expect("no producer panics");
        }
    });
}

#[test]
fn an_interrupt_ends_a_wait_and_loses_no_event() {
    loom::model(|| {
        let queue = Arc::new(EventQueue::<u32>::default());
        let (pushed, interrupted) = (Arc::clone(&queue), Arc::clone(&queue));
        let producer = thread::spawn(move || pushed.push(1));
        let interrupter = thread::spawn(move || interrupted.interrupt());
        let (mut interrupts, mut taken, mut buffer) = (0, Vec::new(), Vec::new());
        while interrupts == 0 || taken.is_empty() {
            match queue.drain(&mut buffer, None) {
                Drained::Interrupted => interrupts += 1,
                Drained::Events => taken.append(&mut buffer),
                Drained::TimedOut => panic!("there is no limit"),
            }
        }
        assert_eq!((interrupts, taken), (1, vec![1]));
        producer.join().expect("no producer panics");
        interrupter.join().expect("no interrupter panics");
    });
}

#[test]
fn two_producers_a_tick_and_an_interrupt_at_once_lose_nothing() {
    bounded(|| {
        let queue = Arc::new(EventQueue::<Event>::default());
        let act = |act: fn(&EventQueue<Event>)| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || act(&queue))
        };
        let threads = [
            act(|queue| queue.push(Event::Other(1))),
            act(|queue| {
                queue.append(&mut vec![Event::Other(2)]);
                queue.tick();
            }),
            act(EventQueue::interrupt),
        ];
        let (mut interrupts, mut ticks, mut others, mut buffer) = (0, 0, 0, Vec::new());
        while interrupts < 1 || ticks < 1 || others < 2 {
            match queue.drain(&mut buffer, None) {
                Drained::Interrupted => interrupts += 1,
                Drained::Events => {
                    for event in buffer.drain(..) {
                        match event {
                            Event::Tick => ticks += 1,
                            Event::Other(_) => others += 1,
                        }
                    }
                }
                Drained::TimedOut => panic!("there is no limit"),
            }
        }
        assert_eq!((interrupts, ticks, others), (1, 1, 2));
        for thread in threads {
            thread.join().expect("no thread panics");
        }
    });
}

#[test]
fn one_staged_event_is_enough_to_be_handed_over() {
    loom::model(|| {
        let queue = StdArc::new(EventQueue::default());
        let stage = StdArc::new(Stage::new(StdArc::clone(&queue)));
        let (pushing, watched) = (StdArc::clone(&stage), StdArc::clone(&queue));
        let producer = thread::spawn(move || pushing.push(Event::Other(1)));
        run_until(stage.run(), || watched.len() == 1);
        producer.join().expect("no producer panics");
    });
}

#[test]
fn what_is_staged_in_one_tick_reaches_the_consumer() {
    loom::model(|| {
        let queue = StdArc::new(EventQueue::default());
        let stage = StdArc::new(Stage::new(StdArc::clone(&queue)));
        let (pushing, watched) = (StdArc::clone(&stage), StdArc::clone(&queue));
        let producer = thread::spawn(move || {
            pushing.push(Event::Other(1));
            pushing.push(Event::Other(2));
        });
        let reactor = thread::spawn(move || run_until(stage.run(), || watched.len() == 2));
        producer.join().expect("no producer panics");
        reactor.join().expect("the reactor does not panic");
        let mut taken = Vec::new();
        assert_eq!(queue.drain(&mut taken, None), Drained::Events);
        assert!(matches!(taken[..], [Event::Other(1), Event::Other(2)]));
    });
}

#[test]
fn what_goes_through_the_stage_is_there_at_once_and_wakes_a_parked_consumer() {
    loom::model(|| {
        let queue = StdArc::new(EventQueue::default());
        let stage = StdArc::new(Stage::new(StdArc::clone(&queue)));
        assert!(stage.fills(&queue) && !stage.fills(&StdArc::default()));
        let (pushing, watched) = (StdArc::clone(&stage), StdArc::clone(&queue));
        let consumer = thread::spawn(move || {
            let mut taken = Vec::new();
            assert_eq!(watched.drain(&mut taken, None), Drained::Events);
            assert!(matches!(taken[..], [Event::Other(1)]));
        });
        pushing.push_through(Event::Other(1));
        run_until(stage.run(), || true);
        consumer.join().expect("the consumer does not panic");
    });
}

#[test]
fn answers_of_two_threads_are_all_performed_each_in_order() {
    bounded(|| {
        let outbox = StdArc::new(Outbox::default());
        let performed = StdArc::<std::sync::Mutex<Vec<u32>>>::default();
        let answer = |numbers: &'static [u32]| {
            let (outbox, performed) = (StdArc::clone(&outbox), StdArc::clone(&performed));
            thread::spawn(move || {
                for &number in numbers {
                    outbox.send(&mut vec![Delivery(StdArc::clone(&performed), number)]);
                }
            })
        };
        let threads = [answer(&[1, 2]), answer(&[10])];
        let count = || performed.lock().expect("not poisoned").len();
        run_until(outbox.run(), || count() == 3);
        for thread in threads {
            thread.join().expect("no thread panics");
        }
        let performed = performed.lock().expect("not poisoned");
        let at = |number| performed.iter().position(|&each| each == number);
        assert!(at(1) < at(2) && at(10).is_some());
    });
}
