import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../../chaos/check/check.ts';
import type { History } from '../../../chaos/history.ts';
import { createValidHistory } from './valid-history.ts';
import { at, changeData, expectViolations, findStored, type Mutation, removeEvents } from './violations.ts';

const [ann, bob, cid] = ['agt_ann', 'agt_bob', 'agt_cid'] as const;
const all = [ann, bob, cid];

/** Sets a stored mark of a member of a thread, as all members read it. */
function setMark(
  history: History,
  thread: string,
  agent: string,
  change: { read?: number; delivered?: number },
) {
  for (const { thread_id, receipts } of history.stored) {
    if (thread_id !== thread) continue;
    for (const receipt of receipts) if (receipt.agent_id === agent) Object.assign(receipt, change);
  }
}

/** Mutations of read marks, delivered marks and unread counts. */
const mutations: Mutation[] = [
  [
    'a mark_read that marks everything, with an event that says so',
    (history) => {
      changeData(history, all, 'evt_read', (data) => (data.up_to_sequence = 3));
      history.webhooks = [];
      setMark(history, 'thd_old', bob, { read: 3 });
      findStored(history, bob, 'thd_old').unread_count = 0;
    },
    [['wrong receipt', /message.read of agt_bob in thd_old up to 3, without a request/]],
  ],
  [
    'a mark_read that marks everything, with an event as requested',
    (history) => {
      setMark(history, 'thd_old', bob, { read: 3 });
      findStored(history, bob, 'thd_old').unread_count = 0;
    },
    [
      ['wrong receipt', /read mark of agt_bob in thd_old .*: 3; its events say 2/, 3],
      ['wrong unread count', /thd_old as agt_bob lists it: 0; 1 messages/],
    ],
  ],
  [
    'no message.read events',
    (history) => removeEvents(history, all, ['evt_read']),
    [
      ['wrong receipt', /agt_bob marked thd_old as read up to 2; its events say 0/],
      ['wrong receipt', /read mark of agt_bob in thd_old .*: 2; its events say 0/, 3],
      ['wrong unread count', /thd_old as agt_bob lists it: 1; 2 messages/],
    ],
  ],
  [
    'a message.read that one member did not get',
    (history) => removeEvents(history, [cid], ['evt_read']),
    [['lost', /evt_read .* in the feed of agt_cid/]],
  ],
  [
    'a message.read without a request',
    (history) => void (history.marks = []),
    [['wrong receipt', /message.read of agt_bob in thd_old up to 2, without a request/]],
  ],
  [
    'a message.read that does not move the mark',
    (history) => {
      changeData(history, all, 'evt_read', (data) => (data.agent.id = ann));
      changeData(history, all, 'evt_read', (data) => (data.up_to_sequence = 1));
      history.webhooks = [];
      Object.assign(at(history.marks, 0), { agent_id: ann, up_to_sequence: 1 });
      setMark(history, 'thd_old', bob, { read: 0 });
      findStored(history, bob, 'thd_old').unread_count = 2;
    },
    [['wrong receipt', /message.read of agt_ann in thd_old up to 1, which was read before/]],
  ],
  [
    'an acknowledged read mark that is lost',
    (history) => {
      removeEvents(history, all, ['evt_read']);
      setMark(history, 'thd_old', bob, { read: 0 });
      findStored(history, bob, 'thd_old').unread_count = 2;
    },
    [['wrong receipt', /agt_bob marked thd_old as read up to 2; its events say 0/]],
  ],
  [
    'a send that moves the mark over messages of others',
    (history) => {
      setMark(history, 'thd_new', bob, { read: 2, delivered: 2 });
      findStored(history, bob, 'thd_new').unread_count = 0;
    },
    [
      ['wrong receipt', /read mark of agt_bob in thd_new .*: 2; its events say 0/, 2],
      ['wrong receipt', /delivered mark of agt_bob in thd_new .*: 2; it received 1/, 2],
      ['wrong unread count', /thd_new as agt_bob lists it: 0; 1 messages/],
    ],
  ],
  [
    'a send that does not move the mark over its own message',
    (history) => setMark(history, 'thd_new', ann, { read: 0 }),
    [['wrong receipt', /read mark of agt_ann in thd_new .*: 0; its events say 1/, 2]],
  ],
  [
    'own messages that count as unread',
    (history) => void (findStored(history, cid, 'thd_old').unread_count = 3),
    [['wrong unread count', /thd_old as agt_cid lists it: 3; 2 messages of others are after the mark 0/]],
  ],
  [
    'an unread count that is too low',
    (history) => void (findStored(history, ann, 'thd_old').unread_count = 1),
    [['wrong unread count', /thd_old as agt_ann lists it: 1; 2 messages/]],
  ],
  [
    'no delivered marks',
    (history) => {
      removeEvents(history, all, ['evt_got_old', 'evt_got_new']);
      for (const { receipts } of history.stored)
        for (const receipt of receipts) receipt.delivered = receipt.read;
    },
    [
      ['wrong receipt', /delivered mark of agt_ann in thd_old .*: 1; it received 3/, 3],
      ['wrong receipt', /delivered mark of agt_bob in thd_old .*: 2; it received 3/, 3],
      ['wrong receipt', /delivered mark of agt_cid in thd_old .*: 0; it received 2/, 3],
      ['wrong receipt', /delivered mark of agt_ann in thd_new .*: 1; it received 2/, 2],
      ['wrong receipt', /delivered mark of agt_bob in thd_new .*: 0; it received 1/, 2],
      ['wrong receipt', /agt_\w+ received thd_\w+ up to \d; agt_\w+, the sender of \d, was told \d/, 7],
    ],
  ],
  [
    'a sender that was not told of a delivery',
    (history) => removeEvents(history, [ann], ['evt_got_new']),
    [['wrong receipt', /agt_bob received thd_new up to 1; agt_ann, the sender of 1, was told 0/]],
  ],
  [
    'a delivery beyond what the member received',
    (history) => {
      changeData(history, all, 'evt_got_new', (data) => (data.members[1].up_to_sequence = 2));
      history.webhooks = [];
    },
    [['wrong receipt', /agt_bob received thd_new up to 1; agt_ann was told 2/]],
  ],
  [
    'a delivery that does not move the mark',
    (history) => {
      changeData(history, all, 'evt_got_new', (data) => data.members.push({ ...data.members[0] }));
      history.webhooks = [];
    },
    [['wrong receipt', /message.delivered of agt_ann up to 2 in thd_new again/, 2]],
  ],
  [
    'receipts of a removed member',
    (history) =>
      void findStored(history, ann, 'thd_new').receipts.push({
        agent_id: cid,
        read: 1,
        delivered: 2,
        handled: 0,
      }),
    [['wrong members', /receipts in thd_new as agt_ann lists it/]],
  ],
];

describe('the checker', () => {
  test('accepts both outcomes of a read mark that was not acknowledged', () => {
    const attempt = { acknowledged_at: null, answers: [] };
    const applied = createValidHistory();
    Object.assign(at(applied.marks, 0), attempt);
    const lost = createValidHistory();
    Object.assign(at(lost.marks, 0), attempt);
    removeEvents(lost, all, ['evt_read']);
    setMark(lost, 'thd_old', bob, { read: 0 });
    findStored(lost, bob, 'thd_old').unread_count = 2;
    for (const history of [applied, lost])
      expect(checkHistory(history).map(({ kind }) => kind)).toEqual(['unacknowledged']);
  });

  test.each(mutations)('finds %s', (_, mutate, expected) => expectViolations(mutate, expected));
});
