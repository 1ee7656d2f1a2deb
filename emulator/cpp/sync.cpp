#ifdef EMU_CHECKED
#include "sync.h"

#include "access.h"
#include "checker.h"

namespace emu::check {

Sync sync;

void Sync::publish(const void* key, const Stamp& stamp) {
    Ref<Clock>& clock = keys[current->block->slot][key];
    Join join(threads.stride, std::move(clock));
    join.add(stamp);
    clock = join.done();
}

const Clock* Sync::published(const void* key) {
    const Keys& of_block = keys[current->block->slot];
    auto at = of_block.find(key);
    return at == of_block.end() ? nullptr : at->second.get();
}

void Sync::forget(const void* key) { keys[current->block->slot].erase(key); }

void Sync::drop(unsigned slot) { keys[slot].clear(); }

void release(const void* key) {
    if (!current) return;
    if (current != running.fiber) switch_fiber();
    sync.publish(key, threads.me->stamp());
    threads.tick(*threads.me);
}

void acquire(const void* key) {
    if (!current) return;
    if (current != running.fiber) switch_fiber();
    threads.acquire(*threads.me, sync.published(key));
}

void forget(const void* key) {
    if (current) sync.forget(key);
}

void fence() {
    if (!current) return;
    if (current != running.fiber) switch_fiber();
    arrives();
    threads.fence(*threads.me);
}

Accesses* enter(const void* p, unsigned bytes, Op op, bool update, uintptr_t pc) {
    step(pc);
    Attempt attempt = {(const char*)p, bytes, op, pc};
    if (uintptr_t(p) % bytes) misaligned(attempt);
    if (on_stack(p, bytes)) return nullptr;
    const char* unwritten = update ? first_unwritten(attempt) : nullptr;
    access_anyhow(attempt);
    if (unwritten) read_unwritten(attempt, unwritten);
    const Region& region = *places.find_byte((const char*)p);
    if (!region.recorded) return nullptr;
    Cell* cell = &region.area->cell(region.place((const char*)p));
    if (cell->more & SPLIT) cell = &region.area->splits[cell->more & ~SPLIT].bytes[uintptr_t(p) & 3];
    return &region.area->accesses[cell->more];
}

namespace {

constexpr int RELEASE = 1, ACQUIRE = 2;

// The present value has been loaded.
void take(const Accesses& from, int order, uintptr_t pc) {
    Thread& me = *threads.me;
    me.see({from.stores, me.counter, uint32_t(pc)});
    if (!from.published) return;
    if (order & ACQUIRE) {
        threads.acquire(me, from.published.get());
    } else if (!me.loaded) {
        me.loaded = from.published;
    } else if (me.loaded.get() != from.published.get()) {
        Join join(threads.stride, std::move(me.loaded));
        join.add(from.published.get());
        me.loaded = join.done();
    }
}

// The thread has stored; the threads before it count only if the value comes of theirs.
void remember_store(Ref<Stores>& stores, const Stamp& now, bool goes_on) {
    Ref<Stores> next(new Stores);
    if (goes_on && stores) {
        for (const Stamp& stamp : stores->stamps) {
            if (stamp.block != now.block || stamp.thread != now.thread) next->stamps.push_back(stamp);
        }
        if (next->stamps.size() == Stores::MOST) next->stamps.erase(next->stamps.begin());
    }
    next->stamps.push_back(now);
    stores = next;
}

// A value is stored. A store by another thread than the publisher ends its release sequence, unless it `goes_on`
// (read-modify-write). A sequence that several threads made has no publisher: 0; else it is the thread's id plus 1.
void give(Accesses& to, int order, bool goes_on) {
    Thread& me = *threads.me;
    Stamp now = me.stamp();
    const Stamp& published = order & RELEASE ? now : me.fence;
    bool anothers = to.publisher != me.id + 1;
    if (!goes_on && anothers) to.published = {};
    bool joins = anothers && to.published;
    if (published.counter) {
        Join join(threads.stride, std::move(to.published));
        join.add(published);
        to.published = join.done();
    }
    to.publisher = joins ? 0 : me.id + 1;
    remember_store(to.stores, now, goes_on);
    threads.tick(me);  // what it does from now on is later than what a reader of the value may rely on
}

}  // namespace

void atomic_load(const void* p, unsigned bytes, int order, uintptr_t pc) {
    if (!current) return;
    if (Accesses* at = enter(p, bytes, Op::AtomicRead, false, pc)) take(*at, order, pc);
}

void atomic_store(void* p, unsigned bytes, int order, uintptr_t pc) {
    if (!current) return;
    if (Accesses* at = enter(p, bytes, Op::AtomicWrite, false, pc)) give(*at, order, false);
}

void atomic_update(void* p, unsigned bytes, int order, uintptr_t pc) {
    if (!current) return;
    Accesses* at = enter(p, bytes, Op::AtomicWrite, true, pc);
    if (!at) return;
    take(*at, order, pc);
    give(*at, order, true);
}

}  // namespace emu::check
#endif
