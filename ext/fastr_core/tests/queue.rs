//! The event queue with the real clock: limits, interrupts, order. Its interleavings are in `loom_queue.rs`.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use fastr_core::queue::{Drained, EventQueue};
use fastr_core::{Event, RequestId};

#[test]
fn a_wait_without_events_ends_at_its_limit_and_not_before() {
    let (queue, mut buffer) = (EventQueue::<u32>::default(), Vec::new());
    let started = Instant::now();
    assert_eq!(
        queue.drain(&mut buffer, Some(Duration::from_millis(20))),
        Drained::TimedOut
    );
    assert!(started.elapsed() >= Duration::from_millis(20));
}

#[test]
fn a_wait_of_no_time_looks_and_returns() {
    let (queue, mut buffer) = (EventQueue::<u32>::default(), Vec::new());
    assert_eq!(
        queue.drain(&mut buffer, Some(Duration::ZERO)),
        Drained::TimedOut
    );
    queue.push(1);
    assert_eq!(
        queue.drain(&mut buffer, Some(Duration::ZERO)),
        Drained::Events
    );
    assert_eq!(buffer, [1]);
}

#[test]
fn a_limit_beyond_the_clock_is_no_limit() {
    let queue = Arc::new(EventQueue::<u32>::default());
    let pushed = Arc::clone(&queue);
    let producer = thread::spawn(move || pushed.push(1));
    let mut buffer = Vec::new();
    assert_eq!(
        queue.drain(&mut buffer, Some(Duration::MAX)),
        Drained::Events
    );
    producer.join().expect("the producer does not panic");
}

#[test]
fn an_interrupt_before_the_wait_ends_it_once_and_leaves_the_events() {
    let (queue, mut buffer) = (EventQueue::<u32>::default(), Vec::new());
    queue.push(1);
    queue.interrupt();
    queue.interrupt();
    assert_eq!(queue.drain(&mut buffer, None), Drained::Interrupted);
    assert!(buffer.is_empty());
    assert_eq!(queue.drain(&mut buffer, None), Drained::Events);
    assert_eq!(buffer, [1]);
}

#[test]
fn ticks_are_one_event_until_the_consumer_looks_and_keep_their_place() {
    let (queue, mut buffer) = (EventQueue::default(), Vec::new());
    queue.tick();
    queue.push(Event::Closed(RequestId(1)));
    queue.tick();
    assert_eq!(queue.len(), 2);
    assert_eq!(queue.drain(&mut buffer, None), Drained::Events);
    assert!(matches!(
        buffer[..],
        [Event::Tick, Event::Closed(RequestId(1))]
    ));
    buffer.clear();
    queue.tick();
    assert_eq!(queue.drain(&mut buffer, None), Drained::Events);
    assert!(matches!(buffer[..], [Event::Tick]));
}

#[test]
fn an_appended_stage_follows_what_is_there_and_comes_back_empty() {
    let (queue, mut buffer) = (EventQueue::default(), Vec::new());
    queue.append(&mut Vec::<u32>::new());
    assert!(queue.is_empty());
    let mut stage = vec![1, 2];
    queue.append(&mut stage);
    assert!(stage.is_empty());
    queue.append(&mut vec![3]);
    assert_eq!(queue.drain(&mut buffer, None), Drained::Events);
    assert_eq!(buffer, [1, 2, 3]);
}

#[test]
fn eight_producers_and_a_consumer_that_parks_pass_every_event_in_order() {
    const EACH: u32 = 20_000;
    let queue = Arc::new(EventQueue::<(u32, u32)>::default());
    let producers: Vec<_> = (0..8)
        .map(|producer| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || (0..EACH).for_each(|number| queue.push((producer, number))))
        })
        .collect();
    let (mut next, mut buffer) = ([0; 8], Vec::new());
    while next.iter().sum::<u32>() < 8 * EACH {
        assert_eq!(
            queue.drain(&mut buffer, Some(Duration::from_secs(30))),
            Drained::Events
        );
        for (producer, number) in buffer.drain(..) {
            assert_eq!(number, next[producer as usize]);
            next[producer as usize] += 1;
        }
    }
    for producer in producers {
        producer.join().expect("no producer panics");
    }
}

#[test]
fn events_that_are_given_back_come_before_those_that_came_meanwhile() {
    let (queue, mut buffer) = (EventQueue::<u32>::default(), Vec::new());
    queue.push(1);
    queue.push(2);
    assert_eq!(queue.drain(&mut buffer, None), Drained::Events);
    queue.push(3);
    queue.give_back(std::mem::take(&mut buffer));
    assert_eq!(queue.drain(&mut buffer, None), Drained::Events);
    assert_eq!(buffer, [1, 2, 3]);
}
