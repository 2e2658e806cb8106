//! The reactor: every operation completes exactly once, whatever happens to it, and nothing outlives `stop`.

use std::collections::HashMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastr_core::queue::Drained;
use fastr_core::reactor::Reactor;
use fastr_core::waiter::{Waited, Waiter};
use fastr_core::{Completer, CompletionId, Error, Event, Outcome};

const LONG: Duration = Duration::from_secs(3600);

fn reactor() -> Arc<Reactor> {
    Reactor::start().expect("the reactor starts")
}

fn sink(reactor: &Reactor, id: u64) -> Completer {
    Completer::queue(Arc::clone(reactor.queue()), CompletionId(id))
}

/// The next `count` completions, in order.
fn completions(reactor: &Reactor, count: usize) -> Vec<(u64, Result<Outcome, Error>)> {
    let (mut taken, mut buffer) = (Vec::new(), Vec::new());
    while taken.len() < count {
        let drained = reactor
            .queue()
            .drain(&mut buffer, Some(Duration::from_secs(20)));
        assert_eq!(drained, Drained::Events, "{} of {count} came", taken.len());
        for event in buffer.drain(..) {
            match event {
                Event::Completion(CompletionId(id), result) => taken.push((id, result)),
                other => panic!("no {other:?} was asked for"),
            }
        }
    }
    taken
}

fn only(reactor: &Reactor) -> Result<Outcome, Error> {
    completions(reactor, 1).remove(0).1
}

fn nothing_is_pending(reactor: &Reactor) {
    assert!(reactor.operations().is_empty());
    assert!(reactor.queue().is_empty());
}

#[test]
fn timers_fire_in_the_order_of_their_time_and_never_early() {
    let reactor = reactor();
    let started = Instant::now();
    for (id, delay) in [(1, 60), (2, 20), (3, 0), (4, 40)] {
        reactor.timer(sink(&reactor, id), Duration::from_millis(delay));
    }
    let order: Vec<u64> = completions(&reactor, 4).iter().map(|each| each.0).collect();
    assert_eq!(order, [3, 2, 4, 1]);
    assert!(started.elapsed() >= Duration::from_millis(60));
    nothing_is_pending(&reactor);
}

#[test]
fn fifty_thousand_timers_all_fire_once() {
    let reactor = reactor();
    for id in 0..50_000 {
        reactor.timer(sink(&reactor, id), Duration::from_millis(id % 10));
    }
    let mut ids: Vec<u64> = completions(&reactor, 50_000)
        .iter()
        .map(|each| each.0)
        .collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(0..50_000));
    nothing_is_pending(&reactor);
}

#[test]
fn a_cancelled_timer_completes_as_cancelled_and_cannot_be_cancelled_again() {
    let reactor = reactor();
    reactor.timer(sink(&reactor, 1), LONG);
    assert!(reactor.operations().cancel(CompletionId(1)));
    assert!(matches!(only(&reactor), Err(Error::Cancelled)));
    assert!(!reactor.operations().cancel(CompletionId(1)));
    nothing_is_pending(&reactor);
}

#[test]
fn a_cancel_that_races_with_the_result_leaves_exactly_one_completion() {
    let reactor = reactor();
    for id in 0..2_000 {
        reactor.timer(sink(&reactor, id), Duration::from_micros(id % 5 * 300));
        if id % 3 == 0 {
            thread::yield_now();
        }
        reactor.operations().cancel(CompletionId(id));
    }
    let mut counts = HashMap::<u64, usize>::new();
    for (id, result) in completions(&reactor, 2_000) {
        assert!(matches!(result, Ok(Outcome::Done) | Err(Error::Cancelled)));
        *counts.entry(id).or_default() += 1;
    }
    assert_eq!(counts.len(), 2_000);
    nothing_is_pending(&reactor);
}

#[test]
fn a_pipe_is_readable_when_bytes_come_and_writable_at_once() {
    let reactor = reactor();
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let duplicate: OwnedFd = reader.try_clone().expect("a duplicate").into();
    reactor.wait_fd(sink(&reactor, 1), duplicate, 1, None);
    let duplicate: OwnedFd = writer.try_clone().expect("a duplicate").into();
    reactor.wait_fd(sink(&reactor, 2), duplicate, 4, None);
    let first = completions(&reactor, 1).remove(0);
    assert!(matches!(first, (2, Ok(Outcome::Ready(4)))));
    writer.write_all(b"x").expect("the reader is open");
    assert!(matches!(only(&reactor), Ok(Outcome::Ready(1))));
    nothing_is_pending(&reactor);
}

#[test]
fn a_pipe_whose_other_end_closes_is_ready_for_what_was_asked() {
    let reactor = reactor();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    reactor.wait_fd(sink(&reactor, 1), reader.into(), 1, None);
    drop(writer);
    assert!(matches!(only(&reactor), Ok(Outcome::Ready(1))));
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    reactor.wait_fd(sink(&reactor, 2), writer.into(), 4, None);
    assert!(matches!(only(&reactor), Ok(Outcome::Ready(4))));
}

#[test]
fn a_wait_for_a_descriptor_ends_at_its_limit_with_no_bit() {
    let reactor = reactor();
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let limit = Some(Duration::from_millis(10));
    reactor.wait_fd(sink(&reactor, 1), reader.into(), 1, limit);
    assert!(matches!(only(&reactor), Ok(Outcome::Ready(0))));
    nothing_is_pending(&reactor);
}

#[test]
fn a_socket_gives_each_of_two_waits_its_own_readiness() {
    let reactor = reactor();
    let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let mut client = TcpStream::connect(server.local_addr().expect("bound")).expect("connects");
    let (accepted, _) = server.accept().expect("accepts");
    for (id, bits) in [(1, 1), (2, 5)] {
        let duplicate = accepted.try_clone().expect("a duplicate").into();
        reactor.wait_fd(sink(&reactor, id), duplicate, bits, None);
    }
    let first = completions(&reactor, 1).remove(0);
    assert!(matches!(first, (2, Ok(Outcome::Ready(4)))));
    client.write_all(b"x").expect("the server is open");
    let second = completions(&reactor, 1).remove(0);
    assert!(matches!(second, (1, Ok(Outcome::Ready(1)))));
}

#[test]
fn a_regular_file_is_ready_for_everything_at_once() {
    let reactor = reactor();
    let file = tempfile::tempfile().expect("a file");
    reactor.wait_fd(sink(&reactor, 1), file.into(), 5, None);
    assert!(matches!(only(&reactor), Ok(Outcome::Ready(5))));
}

#[test]
fn a_wait_for_no_readiness_is_refused() {
    let reactor = reactor();
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    reactor.wait_fd(sink(&reactor, 1), reader.into(), 0, None);
    assert!(matches!(only(&reactor), Err(Error::Invalid(_))));
}

#[test]
fn names_and_addresses_are_resolved_and_unknown_ones_fail() {
    let reactor = reactor();
    reactor.resolve(sink(&reactor, 1), "192.0.2.7".into());
    let literal = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
    assert!(matches!(only(&reactor), Ok(Outcome::Addresses(found)) if found == [literal]));
    reactor.resolve(sink(&reactor, 2), "localhost".into());
    assert!(matches!(only(&reactor), Ok(Outcome::Addresses(found)) if found[0].is_loopback()));
    reactor.resolve(sink(&reactor, 3), "no such host.".into());
    assert!(matches!(only(&reactor), Err(Error::Io(_))));
}

#[test]
fn a_panic_inside_an_operation_completes_it_and_the_reactor_lives() {
    let reactor = reactor();
    reactor.operate(sink(&reactor, 1), async { panic!("on purpose") });
    assert!(matches!(only(&reactor), Err(Error::Panicked(_))));
    reactor.timer(sink(&reactor, 2), Duration::ZERO);
    assert!(matches!(only(&reactor), Ok(Outcome::Done)));
    nothing_is_pending(&reactor);
}

#[test]
fn completions_of_many_threads_all_arrive() {
    let reactor = reactor();
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let reactor = Arc::clone(&reactor);
            thread::spawn(move || {
                for number in 0..1_000 {
                    let completer = sink(&reactor, thread * 1_000 + number);
                    match number % 3 {
                        0 => completer.complete(Ok(Outcome::Done)),
                        1 => reactor.timer(completer, Duration::ZERO),
                        _ => drop(completer),
                    }
                }
            })
        })
        .collect();
    let mut ids: Vec<u64> = completions(&reactor, 8_000)
        .iter()
        .map(|each| each.0)
        .collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(0..8_000));
    for thread in threads {
        thread.join().expect("no thread panics");
    }
    nothing_is_pending(&reactor);
}

#[test]
fn stop_completes_everything_that_is_pending() {
    let reactor = reactor();
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    for id in 0..1_000 {
        reactor.timer(sink(&reactor, id), LONG);
    }
    reactor.wait_fd(sink(&reactor, 1_000), reader.into(), 1, None);
    let waiter = Arc::new(Waiter::default());
    reactor.timer(
        Completer::waiter(Arc::clone(&waiter), CompletionId(5_000)),
        LONG,
    );
    reactor.stop();
    let ended = completions(&reactor, 1_001);
    assert!(ended.iter().all(|(_, result)| result.is_err()));
    assert!(matches!(waiter.wait(Some(LONG)), Waited::Completed(Err(_))));
    nothing_is_pending(&reactor);
}

#[test]
fn an_operation_of_a_stopped_reactor_fails_at_once_and_a_second_stop_returns() {
    let reactor = reactor();
    reactor.stop();
    reactor.stop();
    reactor.timer(sink(&reactor, 1), Duration::from_millis(1));
    assert!(only(&reactor).is_err());
    nothing_is_pending(&reactor);
}

#[test]
fn tasks_are_owned_and_end_with_stop() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let (reactor, alive) = (reactor(), Arc::new(AtomicUsize::new(0)));
    for id in 0..50 {
        alive.fetch_add(1, Ordering::SeqCst);
        let counted = Counted(Arc::clone(&alive));
        reactor.operate(sink(&reactor, id), async move {
            std::future::pending::<()>().await;
            drop(counted);
            Ok(Outcome::Done)
        });
    }
    reactor.stop();
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

#[test]
fn a_hundred_reactors_start_work_and_stop() {
    for _ in 0..100 {
        let reactor = reactor();
        reactor.timer(sink(&reactor, 1), Duration::ZERO);
        assert!(only(&reactor).is_ok());
        reactor.timer(sink(&reactor, 2), LONG);
        reactor.stop();
        assert!(only(&reactor).is_err());
    }
}

#[test]
fn stop_does_not_wait_for_a_look_up_that_blocks() {
    let reactor = reactor();
    reactor.operate(sink(&reactor, 1), async {
        let slow = tokio::task::spawn_blocking(|| thread::sleep(Duration::from_secs(3)));
        let _ = slow.await;
        Ok(Outcome::Done)
    });
    let started = Instant::now();
    reactor.stop();
    assert!(started.elapsed() < Duration::from_secs(1));
    assert!(only(&reactor).is_err());
}
