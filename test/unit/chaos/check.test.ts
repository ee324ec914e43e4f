import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../../chaos/check/check.ts';
import type { Violation } from '../../../chaos/check/violation.ts';
import type { History } from '../../../chaos/history.ts';
import { createValidHistory } from './valid-history.ts';

/** One of a list that must be there. */
function at<T>(list: readonly T[] | undefined, index: number): T {
  const one = list?.[index];
  if (one === undefined) throw new Error(`nothing at ${index}`);
  return one;
}

function swap(list: unknown[], index: number): void {
  list.splice(index, 2, at(list, index + 1), at(list, index));
}

const stored = ({ stored: threads }: History, agent: string, thread: string) =>
  at(
    threads.filter(({ agent_id, thread_id }) => agent_id === agent && thread_id === thread),
    0,
  );

const ann = 0;
const bob = 1;
const cid = 2;

/** One flaw, or the same one so many times, for so many members. */
type Expected = [kind: Violation['kind'], what: RegExp, times?: number];

/** Changes to a valid history, each with exactly the violations that the checker must report. */
const corruptions: [what: string, doctor: (history: History) => void, flaws: Expected[]][] = [
  [
    'an acknowledged message that no member finds',
    ({ stored: threads }) => {
      for (const { messages, found } of threads.filter(({ thread_id }) => thread_id === 'thd_old')) {
        messages.pop();
        found?.pop();
      }
    },
    [
      ['lost', /msg_4 .*agt_ann/],
      ['not found', /msg_4 .*agt_ann/],
      ['lost', /msg_4 .*agt_bob/],
      ['lost', /msg_4 .*agt_cid/],
    ],
  ],
  [
    'an acknowledged message that one member does not find',
    (history) => void stored(history, 'agt_cid', 'thd_old').messages.pop(),
    [['lost', /msg_4 .*agt_cid/]],
  ],
  [
    'a key that made two messages',
    (history) => {
      for (const { messages, thread_id } of history.stored) {
        if (thread_id !== 'thd_new') continue;
        messages.push({
          id: 'msg_twin',
          sequence: 3,
          content: at(messages, 1).content,
          sender: { id: 'agt_bob' },
        });
      }
    },
    [
      ['doubled', /msg_twin .*agt_ann.*driftwood 5/],
      ['doubled', /msg_twin .*agt_bob/],
    ],
  ],
  [
    'a repeated try that was answered with another message',
    ({ sends }) => void (at(at(sends, 0).answers, 1).message_id = 'msg_other'),
    [['doubled', /key-msg_1 has 2 answers/]],
  ],
  [
    'one message as the answer to two keys',
    ({ sends }) => void (at(sends, 1).answers = structuredClone(at(sends, 0).answers)),
    [
      ['changed', /msg_1 was the answer to two keys/],
      ['changed', /msg_1 in thd_old/, 3],
      ['doubled', /msg_2 in thd_old .* no key made/, 3],
      ['foreign', /message.created of msg_2/, 3],
      ['hole', /msg_4 of thd_old in the feed of .*: 3 follows 1/, 3],
    ],
  ],
  [
    'a send that was never acknowledged',
    ({ sends, stored: threads, feeds, readers }) => {
      at(sends, 4).answers.length = 0;
      for (const { messages, found, thread_id } of threads) {
        if (thread_id !== 'thd_new') continue;
        messages.pop();
        found?.pop();
      }
      for (const agent of [ann, bob]) {
        at(feeds, agent).events.pop();
        at(readers, agent).seen.pop();
      }
    },
    [['unacknowledged', /key-msg_5 after 2 attempts/]],
  ],
  [
    'a hole in the sequence of a thread',
    (history) => {
      at(at(history.sends, 3).answers, 0).sequence = 4;
      at(at(history.sends, 3).answers, 1).sequence = 4;
      for (const { messages, thread_id } of history.stored)
        if (thread_id === 'thd_old') at(messages, 2).sequence = 4;
    },
    [
      ['hole', /msg_4 at place 3 has sequence 4/, 3],
      ['hole', /msg_4 of thd_old in the feed of .*: 4 follows 2/, 3],
    ],
  ],
  [
    'a message that a search does not find',
    (history) => void stored(history, 'agt_ann', 'thd_old').found?.shift(),
    [['not found', /msg_1 in a search/]],
  ],
  [
    'a message that a search finds twice',
    (history) => void stored(history, 'agt_ann', 'thd_old').found?.push('msg_1'),
    [['doubled', /msg_1 in a search/]],
  ],
  [
    'a thread that a member does not find',
    (history) => {
      const gone = stored(history, 'agt_bob', 'thd_new');
      history.stored = history.stored.filter((thread) => thread !== gone);
    },
    [['lost', /thread thd_new in the list of agt_bob/]],
  ],
  [
    'a second thread for one key',
    (history) =>
      void history.stored.push({ ...stored(history, 'agt_bob', 'thd_new'), thread_id: 'thd_twin' }),
    [['foreign', /thread thd_twin/]],
  ],
  [
    'a thread that somebody else finds',
    (history) => void history.stored.push({ ...stored(history, 'agt_bob', 'thd_new'), agent_id: 'agt_cid' }),
    [['foreign', /thread thd_new in the list of agt_cid/]],
  ],
  [
    'messages that are unread again',
    (history) => void (stored(history, 'agt_bob', 'thd_old').unread_count = 2),
    [['forgotten', /agt_bob marked thd_old as read up to 2/]],
  ],
  [
    'a message that is missing in one feed, whose numbers hide it',
    ({ feeds, readers }) => {
      for (const { events } of [at(feeds, cid), { events: at(readers, cid).seen }]) {
        events.splice(1, 1);
        for (const [index, event] of events.entries()) event.number = 11 + index;
      }
    },
    [
      ['lost', /message.created of msg_2 in the feed of agt_cid/],
      ['hole', /msg_4 of thd_old in the feed of agt_cid: 3 follows 1/],
    ],
  ],
  [
    'a hole in the numbers of a feed',
    ({ feeds, readers }) => {
      at(at(feeds, cid).events, 3).number = 15;
      at(at(readers, cid).seen, 3).number = 15;
    },
    [
      ['hole', /in the feed of agt_cid: 15 follows 13/],
      ['hole', /at WebSocket of agt_cid: 15 follows 13/],
    ],
  ],
  [
    'another order of two messages for one member',
    ({ feeds, readers }) => {
      for (const events of [at(feeds, cid).events, at(readers, cid).seen]) {
        swap(events, 0);
        for (const [index, event] of events.entries()) event.number = 11 + index;
      }
    },
    [
      ['hole', /msg_2 of thd_old in the feed of agt_cid: 2 follows 0/],
      ['out of order', /msg_1 of thd_old in the feed of agt_cid: 1 follows 2/],
      ['hole', /msg_4 of thd_old in the feed of agt_cid: 3 follows 1/],
    ],
  ],
  [
    'one message twice in a feed, under two events',
    ({ feeds, readers }) => {
      const twin = { event_id: 'evt_twin', type: 'message.created', subject: 'msg_4', number: 15 };
      at(feeds, cid).events.push({ ...twin });
      at(readers, cid).seen.push({ ...twin, at: 1_030 });
    },
    [
      ['doubled', /message.created of msg_4 in the feed of agt_cid/],
      ['out of order', /msg_4 .*: 3 follows 3/],
    ],
  ],
  [
    'an event that a reader never saw',
    ({ readers }) => void at(readers, bob).seen.splice(2, 1),
    [
      ['hole', /at WebSocket of agt_bob: 14 follows 12/],
      ['not seen', /evt_thread \(13, thread.created of thd_new\) at WebSocket of agt_bob/],
    ],
  ],
  [
    'the last events, that a reader never saw',
    ({ readers }) => void at(readers, ann).seen.pop(),
    [['not seen', /evt_msg_5 .* at WebSocket of agt_ann/]],
  ],
  [
    'an event that came again after a resume',
    ({ readers }) => {
      const { seen } = at(readers, ann);
      seen.splice(2, 0, { ...at(seen, 1) });
    },
    [
      ['repeated after resume', /evt_msg_2 at WebSocket of agt_ann/],
      ['out of order', /evt_msg_2 at WebSocket of agt_ann: 12 follows 12/],
    ],
  ],
  [
    'two events that a reader saw in another order',
    ({ readers }) => swap(at(readers, cid).seen, 1),
    [
      ['hole', /evt_msg_4 at WebSocket of agt_cid: 13 follows 11/],
      ['out of order', /evt_msg_2 at WebSocket of agt_cid: 12 follows 13/],
      ['hole', /evt_ask at WebSocket of agt_cid: 14 follows 12/],
    ],
  ],
  [
    'another event under the number that it has in the feed',
    ({ readers }) => void (at(at(readers, ann).seen, 0).subject = 'msg_9'),
    [['changed', /evt_msg_1 \(11, message.created of msg_9\) at WebSocket of agt_ann/]],
  ],
  [
    'a contact request that came twice',
    ({ requests }) => void at(requests, ann).request_ids.push('creq_2'),
    [['doubled', /creq_2 of agt_ann, which no key asked for/]],
  ],
  [
    'a contact request that is gone',
    ({ requests }) => void at(requests, ann).request_ids.pop(),
    [['lost', /creq_1 of agt_ann/]],
  ],
  [
    'a contact request of which the asked agent heard nothing',
    ({ feeds, readers }) => {
      at(feeds, cid).events.pop();
      at(readers, cid).seen.pop();
    },
    [['lost', /contact.request of creq_1 in the feed of agt_cid/]],
  ],
  ['a job that is owed', ({ outbox }) => void outbox.push('deliver-events of evt_1'), [['owed', /evt_1$/]]],
  [
    'a process that ended by itself',
    ({ complaints }) => void complaints.push('api-1 ended'),
    [['complaint', /api-1/]],
  ],
  [
    'a frame that no reader should get',
    ({ readers }) => void at(readers, bob).complaints.push('a gap'),
    [['complaint', /agt_bob: a gap/]],
  ],
];

function byKind<T extends { kind: string }>(flaws: readonly T[]): T[] {
  return flaws.toSorted((one, other) => one.kind.localeCompare(other.kind));
}

describe('the checker', () => {
  test('finds nothing in a sound history', () => {
    expect(checkHistory(createValidHistory())).toEqual([]);
  });

  test('lets a reader be ahead of the feed that was read before', () => {
    const history = createValidHistory();
    const late = { event_id: 'evt_late', type: 'message.read', subject: null, number: 15, at: 2_000 };
    at(history.readers, cid).seen.push(late);
    expect(checkHistory(history)).toEqual([]);
  });

  test.each(corruptions)('finds %s', (_, doctor, expected) => {
    const history = createValidHistory();
    doctor(history);
    const wanted = expected.flatMap(([kind, what, times = 1]) =>
      Array.from({ length: times }, () => ({ kind, detail: expect.stringMatching(what) as string })),
    );
    expect(byKind(checkHistory(history))).toEqual(byKind(wanted));
  });
});
