import type { History, Lease, LeaseWrite } from '../../../chaos/history.ts';
import { attempted, createPost, toRef, createValidHistory, webhookSecret } from './valid-history.ts';
import { at, findStored } from './violations.ts';

const cid = 'agt_cid';

/** A write of a lease of Cid, answered ten milliseconds after it was sent. */
export function createWrite(
  kind: LeaseWrite['kind'],
  begun_at: number,
  changes: Partial<LeaseWrite> = {},
): LeaseWrite {
  return {
    ...attempted(`${kind}-${begun_at}`, cid),
    kind,
    begun_at,
    acknowledged_at: begun_at + 10,
    attempts: 1,
    lease_ms: 0,
    draft: null,
    answers: [{ lost: false, expires_at: null, message: null }],
    ...changes,
  };
}

/** A renewal for five seconds. */
export function createRenewal(begun_at: number, changes: Partial<LeaseWrite> = {}): LeaseWrite {
  const answers = [{ lost: false as const, expires_at: begun_at + 5_005, message: null }];
  return createWrite('renew', begun_at, { lease_ms: 5_000, answers, ...changes });
}

/** A lease of Cid for five seconds, whose claim took ten milliseconds. */
export function createLease(
  message: 'msg_1' | 'msg_2' | 'msg_5',
  sent_at: number,
  changes: Partial<Lease> = {},
): Lease {
  return {
    agent_id: cid,
    consumer: 'cid-1',
    kind: 'REST',
    course: 'test',
    lease_id: `lse_${sent_at}`,
    fencing_token: sent_at,
    attempt: 1,
    expires_at: sent_at + 5_005,
    sent_at,
    received_at: sent_at + 10,
    event_id: `evt_${message}`,
    message_id: message,
    thread_id: message === 'msg_5' ? 'thd_new' : 'thd_old',
    sequence: message === 'msg_1' ? 1 : 2,
    writes: [],
    ...changes,
  };
}

/**
 * The valid history, in which Cid has an ordered inbox with three items. Msg_1 was leased three times: the first lease expired, the second
 * was renewed and released, the third acknowledged. Then msg_2 was acknowledged with msg_4 as the reply. Msg_5 died and was redriven; it
 * left the inbox with Cid's membership of its thread.
 */
export function createLeaseHistory(): History {
  const history = createValidHistory();
  const [reply] = history.sends.splice(3, 1);
  if (!reply) throw new Error('no reply');
  const answers = reply.answers.map((message) => ({ lost: false as const, expires_at: null, message }));
  history.inboxes = [{ agent_id: cid, ordered_by_thread: true, max_attempts: 3 }];
  history.stored_inboxes = [{ agent_id: cid, ready: 0, leased: 0, dead: [] }];
  history.leases = [
    createLease('msg_1', 10_000),
    createLease('msg_1', 15_010, {
      attempt: 2,
      consumer: 'cid-2',
      writes: [createRenewal(18_000), createRenewal(21_000), createWrite('release', 25_000)],
    }),
    createLease('msg_1', 25_020, { attempt: 3, writes: [createWrite('acknowledge', 26_000)] }),
    createLease('msg_2', 26_020, {
      consumer: 'cid-2',
      writes: [
        createWrite('acknowledge', 27_000, { key: reply.key, draft: reply.draft, attempts: 2, answers }),
      ],
    }),
    createLease('msg_5', 900, { attempt: 3, fencing_token: 900, writes: [createWrite('release', 950)] }),
    createLease('msg_5', 980),
  ];
  history.redrives = [
    { ...attempted('redrive', cid), begun_at: 960, event_id: 'evt_msg_5', answers: [null] },
  ];
  addMarks(history);
  return history;
}

/** Adds the events of the handled mark of Cid, and sets the marks in all receipts. */
function addMarks(history: History): void {
  const agent = toRef(cid);
  const data = { thread_id: 'thd_old', agent, up_to_sequence: 2, read_at: 30_000, handled_at: 30_000 };
  for (const type of ['message.read', 'message.handled']) {
    const event = { event_id: `evt_cid_${type}`, type, created_at: 30_000, data };
    for (const { events } of history.feeds) events.push({ ...event, number: 11 + events.length });
    for (const { seen } of history.readers) seen.push({ ...event, number: 11 + seen.length, at: 30_010 });
    at(history.webhooks, 0).posts.push(createPost({ ...event, number: 0 }, webhookSecret));
  }
  for (const { thread_id, receipts } of history.stored)
    for (const receipt of receipts)
      if (thread_id === 'thd_old' && receipt.agent_id === cid)
        Object.assign(receipt, { read: 2, handled: 2 });
  findStored(history, cid, 'thd_old').unread_count = 0;
}
