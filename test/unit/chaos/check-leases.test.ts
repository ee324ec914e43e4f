import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../../chaos/check/check.ts';
import type { History, Lease, LeaseWrite } from '../../../chaos/history.ts';
import { createLease, createLeaseHistory, createRenewal, createWrite } from './lease-history.ts';
import { at, expectViolations, findStored, type Mutation, removeEvents } from './violations.ts';

const [ann, bob, cid] = ['agt_ann', 'agt_bob', 'agt_cid'] as const;

const lost = { answers: [{ lost: true as const }] };
const unknown = { answers: [], acknowledged_at: null };

const lease = ({ leases }: History, index: number): Lease => at(leases, index);
const firstWrite = (history: History, index: number): LeaseWrite => at(lease(history, index).writes, 0);

/** Moves a claim to another time, with its token and the end of its lease. */
function claimAt(moved: Lease, sent_at: number): void {
  const times = { sent_at, received_at: sent_at + 10, expires_at: sent_at + 5_005 };
  Object.assign(moved, { ...times, fencing_token: sent_at });
}

function writeAt(write: LeaseWrite, begun_at: number): void {
  Object.assign(write, { begun_at, acknowledged_at: begun_at + 10 });
}

/** Violations of leases. */
const leaseMutations: Mutation[] = [
  [
    'an item that is given out again 2.5 s before its lease expires',
    (history) => {
      claimAt(lease(history, 1), 12_500);
      writeAt(firstWrite(history, 1), 15_000);
    },
    [['lease ended early', /lease 10000 of cid-1 \(message msg_1.*: 2395 ms too early/]],
  ],
  [
    'an item that is given out again before a renewed lease expires',
    (history) => void lease(history, 1).writes.pop(),
    [['lease ended early', /lease 15010 of cid-2 .*: 875 ms too early/]],
  ],
  [
    'a lease that is refused before it ends',
    (history) => void lease(history, 0).writes.push(createWrite('acknowledge', 12_000, lost)),
    [['lease ended early', /lease 10000 .*: its acknowledge was refused/]],
  ],
  [
    'two leases with one fencing token',
    (history) => void (lease(history, 0).fencing_token = 15_010),
    [['two holders', /fencing token 15010 of agt_cid/]],
  ],
  [
    'fencing tokens that do not grow with time',
    (history) => void (lease(history, 5).fencing_token = 26_025),
    [['out of order', /lease 26025 .* was given out before lease 26020/]],
  ],
  [
    'two items of an ordered thread that are leased at the same time',
    (history) => claimAt(lease(history, 3), 25_500),
    [['two holders', /of thd_old: lease 25020 .* and lease 25500/]],
  ],
  [
    'an older item of an ordered thread that is leased after a newer one',
    (history) => {
      claimAt(lease(history, 2), 28_000);
      writeAt(firstWrite(history, 2), 28_500);
    },
    [['out of order', /lease 28000 .*msg_1.* came after lease 26020/]],
  ],
  [
    'an acknowledged item that is given out again',
    (history) => {
      const writes = [createWrite('release', 26_015)];
      history.leases.push(createLease('msg_1', 26_012, { received_at: 26_014, writes }));
    },
    [['handled again', /lease 26012 .*: lease 25020 .* was acknowledged/]],
  ],
  [
    'an item that is given out after its last attempt',
    (history) => void (lease(history, 2).attempt = 4),
    [['handled again', /lease 25020 .*: attempt 4 of 3/]],
  ],
  [
    'a lost lease that is renewed while another instance has the item',
    (history) => void lease(history, 0).writes.push(createRenewal(15_050)),
    [['lost lease wrote', /renew .* of lease 10000 .*: lease 15010 .* followed/]],
  ],
  [
    'a lost lease that writes while another instance has the next item of the thread',
    (history) => {
      history.leases.splice(1, 1);
      lease(history, 0).writes.push(createWrite('release', 15_060));
      claimAt(lease(history, 2), 15_020);
      writeAt(firstWrite(history, 2), 15_100);
      history.redrives.push({ ...at(history.redrives, 0), event_id: 'evt_msg_1', begun_at: 20_000 });
    },
    [['lost lease wrote', /release .* of lease 10000 .*: lease 15020 .* of its thread followed/]],
  ],
  [
    'an expired lease that writes',
    (history) => {
      writeAt(firstWrite(history, 2), 30_200);
      claimAt(lease(history, 3), 30_300);
      writeAt(firstWrite(history, 3), 30_400);
    },
    [['lost lease wrote', /acknowledge .* of lease 25020 .*: it expired 75 ms before/]],
  ],
  [
    'a lease that writes after its release',
    (history) => void lease(history, 1).writes.push(createRenewal(25_005)),
    [['lost lease wrote', /renew .* of lease 15010 .*: after its release/]],
  ],
  [
    'the reply of a lost lease',
    (history) => {
      writeAt(firstWrite(history, 3), 31_300);
      Object.assign(firstWrite(history, 3), lost);
      history.leases.push(createLease('msg_2', 31_200, { writes: [createWrite('acknowledge', 31_250)] }));
    },
    [['lost lease wrote', /message msg_4 of thd_old/]],
  ],
];

/** Violations of items, replies and handled marks. */
const itemMutations: Mutation[] = [
  [
    'an acknowledgement that was answered with two replies',
    (history) => {
      const [, answer] = firstWrite(history, 3).answers;
      if (answer?.lost === false && answer.message) answer.message.message_id = 'msg_other';
    },
    [['doubled', /lease write key-msg_4 has 2 answers/]],
  ],
  [
    'an item that two instances answered',
    (history) => {
      const { draft } = firstWrite(history, 3);
      if (!draft) return;
      const write = createWrite('acknowledge', 27_000, {
        ...unknown,
        draft: { ...draft, content: 'driftwood 5' },
      });
      history.leases.push(createLease('msg_2', 26_020, { writes: [write] }));
      claimAt(lease(history, 3), 31_100);
      writeAt(firstWrite(history, 3), 31_200);
    },
    [['doubled', /the reply to msg_2 by agt_cid/]],
  ],
  [
    'an item that is released and not given out again',
    (history) => void (lease(history, 2).writes = [createWrite('release', 26_000)]),
    [
      ['not handled', /message msg_1 of thd_old in the inbox of agt_cid/],
      ['wrong receipt', /handled mark of agt_cid in thd_old: 2; 1 was not acknowledged/],
    ],
  ],
  [
    'an item that no instance got',
    (history) => void (history.leases = history.leases.slice(3)),
    [
      ['not handled', /message msg_1 of thd_old in the inbox of agt_cid/],
      ['wrong receipt', /handled mark of agt_cid in thd_old: 2; 1 was not acknowledged/],
    ],
  ],
  [
    'an item that is dead before its last attempt',
    (history) => void at(history.stored_inboxes, 0).dead.push({ event_id: 'evt_msg_5', attempts: 2 }),
    [['not handled', /evt_msg_5 in the inbox of agt_cid is dead after 2 attempts/]],
  ],
  [
    'items that are left in the inbox',
    (history) => void Object.assign(at(history.stored_inboxes, 0), { ready: 1, leased: 2 }),
    [['owed', /1 ready and 2 leased items in the inbox of agt_cid/]],
  ],
  ['an inbox that is off', (history) => void history.stored_inboxes.pop(), [['lost', /inbox of agt_cid/]]],
  [
    'an item that is not in the feed',
    (history) => void history.leases.push({ ...createLease('msg_5', 990), event_id: 'evt_msg_3' }),
    [['foreign', /evt_msg_3 in the inbox of agt_cid/]],
  ],
  [
    'a handled mark that did not move',
    (history) => {
      removeEvents(history, [ann, bob, cid], ['evt_cid_message.handled']);
      history.marks.push({ ...at(history.marks, 0), agent_id: cid });
      for (const { receipts } of history.stored) for (const receipt of receipts) receipt.handled = 0;
    },
    [['wrong receipt', /handled mark of agt_cid in thd_old: 0; all was acknowledged up to 2/]],
  ],
  [
    'a handled mark that one member reads otherwise',
    (history) => void (at(findStored(history, bob, 'thd_old').receipts, 2).handled = 1),
    [['wrong receipt', /handled mark of agt_cid in thd_old: 1 as agt_bob reads it; its events say 2/]],
  ],
];

/** What the protocol allows, or what no client can know after a kill. */
const allowed: [what: string, mutate: Mutation[1]][] = [
  [
    'an item that is given out again after a release without an answer',
    (history) => void Object.assign(at(lease(history, 1).writes, 2), unknown),
  ],
  [
    'an item that is given out again after an acknowledgement without an answer, once its lease has expired',
    (history) => void lease(history, 0).writes.push(createWrite('acknowledge', 12_000, unknown)),
  ],
  [
    'an item that no instance sees again after an acknowledgement without an answer',
    (history) => void Object.assign(firstWrite(history, 2), unknown),
  ],
  [
    'an item that is given out again when the renewal without an answer is over',
    ({ leases }) => {
      const renewed = at(leases, 1);
      renewed.writes = [createRenewal(18_000), createRenewal(19_000, unknown), createRenewal(21_000)];
    },
  ],
  [
    'a reply without an answer, which was written',
    (history) => void Object.assign(firstWrite(history, 3), unknown),
  ],
  [
    'a lease that is refused after its agent left the thread',
    (history) => void lease(history, 5).writes.push(createWrite('acknowledge', 1_500, lost)),
  ],
  [
    'a lease that is refused after it expired',
    (history) => void lease(history, 0).writes.push(createWrite('send', 15_050, lost)),
  ],
  [
    'an older item after a newer one, as it was redriven',
    (history) => {
      claimAt(lease(history, 2), 28_000);
      writeAt(firstWrite(history, 2), 28_500);
      history.redrives.push({ ...at(history.redrives, 0), event_id: 'evt_msg_1', begun_at: 27_500 });
    },
  ],
  [
    'two items of a thread at the same time, without an order',
    (history) => {
      at(history.inboxes, 0).ordered_by_thread = false;
      claimAt(lease(history, 3), 25_500);
    },
  ],
  [
    'an item that is dead after its last attempt',
    (history) => void at(history.stored_inboxes, 0).dead.push({ event_id: 'evt_msg_5', attempts: 3 }),
  ],
];

test('a history with leases as the protocol has them has no violations', () => {
  expect(checkHistory(createLeaseHistory())).toEqual([]);
});

describe('the checker finds', () => {
  test.each([...leaseMutations, ...itemMutations])('%s', (_what, mutate, violations) => {
    expectViolations(mutate, violations, createLeaseHistory());
  });
});

describe('the checker allows', () => {
  test.each(allowed)('%s', (_what, mutate) => expectViolations(mutate, [], createLeaseHistory()));
});
