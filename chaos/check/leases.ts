import type { History, InboxSettings, Lease, LeaseWrite } from '../history.ts';
import { expiryOf, isDone, isRefused, mayHaveEnded, mayHaveWritten } from './lease-ends.ts';
import { findDuplicates, type Violation } from './violation.ts';

/**
 * Checks the leases that the instances of each agent got. Only answers count, so a lease whose claim was not answered is unknown; the
 * fencing tokens give the order. A lease holds until it is acknowledged, is released or expires: until then no other instance gets its item, or
 * another one of its thread if the inbox is ordered. Afterwards none of its writes has an effect.
 */
export function* checkLeases(history: History): Generator<Violation> {
  for (const inbox of history.inboxes) {
    const leases = history.leases
      .filter(({ agent_id }) => agent_id === inbox.agent_id)
      .toSorted((one, other) => one.fencing_token - other.fencing_token);
    yield* checkTokens(leases);
    for (const lease of leases) yield* checkWrites(lease, history);
    for (const sharing of groupLeases(leases, ({ event_id }) => event_id).values())
      yield* checkItem(sharing, inbox, history);
    if (!inbox.ordered_by_thread) continue;
    for (const sharing of groupLeases(leases, ({ thread_id }) => thread_id).values())
      yield* checkThread(sharing, history);
  }
}

/** `Map.groupBy`, which Node 20 lacks. */
export function groupLeases(leases: readonly Lease[], key: (lease: Lease) => string): Map<string, Lease[]> {
  const groups = new Map<string, Lease[]>();
  for (const lease of leases) {
    const group = groups.get(key(lease));
    if (group) group.push(lease);
    else groups.set(key(lease), [lease]);
  }
  return groups;
}

/** Checks that tokens are unique and grow with time. */
function* checkTokens(leases: readonly Lease[]): Generator<Violation> {
  for (const token of findDuplicates(leases.map(({ fencing_token }) => fencing_token)))
    yield { kind: 'two holders', detail: `the fencing token ${token} of ${leases[0]?.agent_id}` };
  let last: Lease | undefined;
  for (const lease of leases) {
    if (last && lease.received_at < last.sent_at)
      yield { kind: 'out of order', detail: `${describe(lease)} was given out before ${describe(last)}` };
    if (!last || lease.sent_at > last.sent_at) last = lease;
  }
}

/** Checks that a lease writes until it ends, and not afterwards. */
function* checkWrites(lease: Lease, history: History): Generator<Violation> {
  let end: LeaseWrite | undefined;
  for (const write of lease.writes) {
    const { kind, begun_at, acknowledged_at } = write;
    const { latest } = expiryOf(lease, begun_at);
    if (isDone(write) && end) yield lateWrite(lease, write, `after its ${end.kind}`);
    if (isDone(write) && begun_at > latest)
      yield lateWrite(lease, write, `it expired ${begun_at - latest} ms before`);
    const hasEnded =
      mayHaveEnded(lease, acknowledged_at ?? begun_at, history) ||
      mayHaveWritten(lease, 'acknowledge', begun_at);
    if (isRefused(write) && !hasEnded)
      yield { kind: 'lease ended early', detail: `${describe(lease)}: its ${kind} was refused` };
    if (isDone(write) && (kind === 'acknowledge' || kind === 'release')) end = write;
  }
}

/** Checks the leases of one item, in the order of their tokens. */
function* checkItem(leases: readonly Lease[], inbox: InboxSettings, history: History): Generator<Violation> {
  for (const [index, lease] of leases.entries()) {
    if (lease.attempt > inbox.max_attempts)
      yield {
        kind: 'handled again',
        detail: `${describe(lease)}: attempt ${lease.attempt} of ${inbox.max_attempts}`,
      };
    const before = leases[index - 1];
    if (!before) continue;
    const late = findLateWrite(before, lease);
    if (late) yield lateWrite(before, late, `${describe(lease)} followed`);
    else if (before.writes.some((write) => write.kind === 'acknowledge' && isDone(write))) {
      yield { kind: 'handled again', detail: `${describe(lease)}: ${describe(before)} was acknowledged` };
      continue;
    }
    if (mayHaveEnded(before, lease.received_at, history)) continue;
    const earlyMs = expiryOf(before, lease.received_at).earliest - lease.received_at;
    yield { kind: 'lease ended early', detail: `${describe(before)}: ${earlyMs} ms too early` };
  }
}

/** Checks the leases of one thread of an ordered inbox: one at a time, and the oldest item first. */
function* checkThread(leases: readonly Lease[], history: History): Generator<Violation> {
  let newest: Lease | undefined;
  for (const [index, lease] of leases.entries()) {
    const before = leases[index - 1];
    if (before && before.event_id !== lease.event_id) {
      const { received_at } = lease;
      const late = findLateWrite(before, lease);
      if (!mayHaveEnded(before, received_at, history) && !mayHaveWritten(before, 'acknowledge', received_at))
        yield {
          kind: 'two holders',
          detail: `of ${lease.thread_id}: ${describe(before)} and ${describe(lease)}`,
        };
      else if (late) yield lateWrite(before, late, `${describe(lease)} of its thread followed`);
    }
    const isRedriven = history.redrives.some(
      ({ event_id, begun_at }) => event_id === lease.event_id && begun_at <= lease.received_at,
    );
    if (newest && lease.sequence < newest.sequence && !isRedriven)
      yield { kind: 'out of order', detail: `${describe(lease)} came after ${describe(newest)}` };
    if (!newest || lease.sequence > newest.sequence) newest = lease;
  }
}

/** A write of a lease that was sent after another instance had the next lease, and was confirmed. */
function findLateWrite({ writes }: Lease, next: Lease): LeaseWrite | undefined {
  return writes.find((write) => isDone(write) && write.begun_at > next.received_at);
}

function lateWrite(lease: Lease, { kind, key }: LeaseWrite, why: string): Violation {
  return { kind: 'lost lease wrote', detail: `${kind} ${key} of ${describe(lease)}: ${why}` };
}

function describe({ fencing_token, consumer, message_id, sequence, thread_id }: Lease): string {
  return `lease ${fencing_token} of ${consumer} (message ${message_id}, ${sequence} of ${thread_id})`;
}
