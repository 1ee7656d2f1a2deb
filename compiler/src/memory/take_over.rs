//! Which buffers take over the bytes of another.

use super::Request;

/// Requests that share their bytes one after the other; the planner places classes.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Bytes, a multiple of the alignment.
    pub(super) size: u64,
    /// The producer of the first.
    pub(super) producer: u32,
    /// The launches that must be complete before the bytes are used anew: users of the last, or its producer where
    /// nobody reads it; those that precede another one are left out.
    pub(super) last: Vec<u32>,
    /// The last launch that touches it.
    pub(super) end: u32,
    /// Whether it lasts to the end.
    pub(super) keep: bool,
}

/// The classes in the order of their producers, and the class of each request.
pub(super) fn classes(
    requests: &[Request],
    alignment: u64,
    precedes: &dyn Fn(u32, u32) -> bool,
) -> (Vec<Class>, Vec<u32>) {
    let mut by_producer: Vec<u32> = (0..requests.len() as u32).collect();
    by_producer.sort_by_key(|&r| requests[r as usize].producer);
    let mut class_of = vec![u32::MAX; requests.len()];
    let mut taken = vec![false; requests.len()];
    // The request that holds a class's bytes last.
    let mut holder: Vec<u32> = Vec::new();
    for &r in &by_producer {
        let request = &requests[r as usize];
        let from = request.may_take.iter().copied().find(|&c| {
            !taken[c as usize] && class_of[c as usize] != u32::MAX && can_take(request, &requests[c as usize], precedes)
        });
        match from {
            Some(c) => {
                taken[c as usize] = true;
                class_of[r as usize] = class_of[c as usize];
                holder[class_of[c as usize] as usize] = r;
            }
            None => {
                class_of[r as usize] = holder.len() as u32;
                holder.push(r);
            }
        }
    }
    let mut first = vec![u32::MAX; holder.len()];
    for &r in by_producer.iter().rev() {
        first[class_of[r as usize] as usize] = r;
    }
    let classes = holder.iter().zip(&first).map(|(&last, &first)| {
        let (first, last) = (&requests[first as usize], &requests[last as usize]);
        Class {
            size: first.size.next_multiple_of(alignment),
            producer: first.producer,
            last: latest(last, precedes),
            end: last.users.last().copied().unwrap_or(last.producer),
            keep: last.keep,
        }
    });
    (classes.collect(), class_of)
}

/// Whether the producer of `new` is the last user of `old` in every order that is allowed.
fn can_take(new: &Request, old: &Request, precedes: &dyn Fn(u32, u32) -> bool) -> bool {
    let others = || old.users.iter().filter(|&&u| u != new.producer);
    new.size == old.size
        && !old.keep
        && old.users.last() == Some(&new.producer)
        && others().all(|&u| precedes(u, new.producer))
}

/// The users that no other user follows. The last ones often follow all others, so each is compared with those.
fn latest(request: &Request, precedes: &dyn Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut kept: Vec<u32> = Vec::new();
    for &user in request.users.iter().rev() {
        if !kept.iter().any(|&later| precedes(user, later)) {
            kept.push(user);
        }
    }
    if kept.is_empty() {
        kept.push(request.producer);
    }
    kept
}
