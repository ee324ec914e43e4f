import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../../chaos/check/check.ts';
import type { SeenEvent } from '../../../chaos/history.ts';
import { createPost, createValidHistory } from './valid-history.ts';
import {
  at,
  changeData,
  expectViolations,
  listEvents,
  type Mutation,
  removeEvents,
  renumber,
} from './violations.ts';

const [ann, bob, cid] = ['agt_ann', 'agt_bob', 'agt_cid'] as const;
const all = [ann, bob, cid];

function swap(list: SeenEvent[], index: number): void {
  list.splice(index, 2, at(list, index + 1), at(list, index));
}

/** Mutations of feeds, of what readers saw and of requests to webhooks. */
const mutations: Mutation[] = [
  [
    'a message that is missing in one feed, whose numbers hide it',
    (history) => removeEvents(history, [cid], ['evt_msg_1']),
    [['lost', /evt_msg_1 .* of thd_old in the feed of agt_cid/]],
  ],
  [
    'a message that is missing in all feeds',
    (history) => removeEvents(history, all, ['evt_msg_1']),
    [
      ['lost', /message.created of msg_1 in thd_old/],
      ['hole', /message msg_2 of thd_old: 2 follows 0/],
      ['wrong receipt', /message.read of agt_bob in thd_old up to 2, which was read before/],
      ['wrong receipt', /read mark of agt_ann in thd_old .*: 1; its events say 0/, 3],
      ['wrong unread count', /thd_old as agt_cid lists it: 2; 1 messages/],
      ['wrong task', /tsk_1: the cause of change 1 is no message of agt_ann: msg_1/],
    ],
  ],
  [
    'a thread of which the members were not told',
    (history) => removeEvents(history, all, ['evt_thread']),
    [['lost', /thread.created of thd_new/]],
  ],
  [
    'an addition of which one member was not told',
    (history) => removeEvents(history, [bob], ['evt_added']),
    [['lost', /evt_added .* in the feed of agt_bob/]],
  ],
  [
    'an event for an agent that is not a member any longer',
    ({ feeds, readers }) => {
      const added = at(at(feeds, 2).events, 7);
      const data = { ...added.data, id: 'msg_6', sequence: 3 };
      const late = { ...added, event_id: 'evt_late', number: 21, data };
      at(feeds, 2).events.push(late);
      at(readers, 2).seen.push({ ...late, at: 1_030 });
    },
    [['foreign', /evt_late .* of thd_new in the feed of agt_cid/]],
  ],
  [
    'a hole in the numbers of a feed',
    ({ feeds, readers }) => {
      at(at(feeds, 2).events, 9).number = 21;
      at(at(readers, 2).seen, 9).number = 21;
    },
    [
      ['hole', /in the feed of agt_cid: 21 follows 19/],
      ['hole', /at long poll of agt_cid: 21 follows 19/],
    ],
  ],
  [
    'another order of two messages for one member',
    (history) => {
      for (const events of listEvents(history, [cid])) {
        swap(events, 0);
        renumber(events);
      }
    },
    [['out of order', /evt_msg_2 .* of thd_old in the feed of agt_cid/]],
  ],
  [
    'one message twice in a feed, under two events',
    ({ feeds, readers }) => {
      const twin = { ...at(at(feeds, 2).events, 0), event_id: 'evt_twin', number: 21 };
      at(feeds, 2).events.push(twin);
      at(readers, 2).seen.push({ ...twin, at: 1_030 });
    },
    [['foreign', /evt_twin .* in the feed of agt_cid/]],
  ],
  [
    'an event with other data in one feed',
    ({ feeds, readers }) => {
      for (const events of [at(feeds, 1).events, at(readers, 1).seen]) {
        const event = at(events, 10);
        event.data = { ...event.data, delivered_at: 5 };
      }
    },
    [
      ['changed', /evt_got_new .* in the feed of agt_bob differs from other feeds/],
      ['changed', /evt_got_new .* at the webhook/],
    ],
  ],
  [
    'an event whose data is not as documented',
    (history) => changeData(history, [cid], 'evt_ask', (data) => delete data.request_id),
    [
      ['changed', /evt_ask .* has other fields/],
      ['lost', /contact.request of creq_1 in the feed of agt_cid/],
    ],
  ],
  [
    'an event that a reader never saw',
    ({ readers }) => void at(readers, 1).seen.splice(2, 1),
    [
      ['hole', /at MCP stream of agt_bob: 14 follows 12/],
      ['not seen', /evt_thread \(13, thread.created of thd_new\) at MCP stream of agt_bob/],
    ],
  ],
  [
    'the last event, which a reader never saw',
    ({ readers }) => void at(readers, 0).seen.pop(),
    [['not seen', /evt_removed .* at WebSocket of agt_ann/]],
  ],
  [
    'an event that came again after a resume',
    ({ readers }) => {
      const { seen } = at(readers, 0);
      seen.splice(2, 0, { ...at(seen, 1) });
    },
    [
      ['repeated after resume', /evt_msg_2 at WebSocket of agt_ann/],
      ['out of order', /evt_msg_2 at WebSocket of agt_ann: 12 follows 12/],
    ],
  ],
  [
    'two events that a reader saw in another order',
    ({ readers }) => swap(at(readers, 2).seen, 1),
    [
      ['hole', /evt_msg_4 at long poll of agt_cid: 13 follows 11/],
      ['out of order', /evt_msg_2 at long poll of agt_cid: 12 follows 13/],
      ['hole', /evt_scan at long poll of agt_cid: 14 follows 12/],
    ],
  ],
  [
    'content that a reader saw in one frame',
    ({ readers }) => {
      const event = at(at(readers, 0).seen, 0);
      event.data = { ...event.data, content: 'other' };
    },
    [['changed', /evt_msg_1 \(11, message.created of msg_1\) at WebSocket of agt_ann differs/]],
  ],
  [
    'a sender that a reader saw in one frame',
    ({ readers }) => {
      const event = at(at(readers, 0).seen, 0);
      event.data = { ...event.data, sender: { id: cid } };
    },
    [['changed', /evt_msg_1 .* at WebSocket of agt_ann differs/]],
  ],
  [
    'another time of an event at a reader',
    ({ readers }) => void (at(at(readers, 0).seen, 0).created_at = 5),
    [['changed', /evt_msg_1 .* at WebSocket of agt_ann differs/]],
  ],
  [
    'a contact request of which the other agent was not told',
    (history) => removeEvents(history, [cid], ['evt_ask']),
    [['lost', /contact.request of creq_1 in the feed of agt_cid/]],
  ],
  [
    'a file whose sender was not told of the scan',
    (history) => removeEvents(history, [cid], ['evt_scan']),
    [['lost', /attachment.scanned of att_1 in the feed of agt_cid/]],
  ],
  [
    'a frame that no reader should get',
    ({ readers }) => void at(readers, 1).complaints.push('a gap'),
    [['complaint', /agt_bob: a gap/]],
  ],
  [
    'a webhook that did not get an event',
    ({ webhooks }) => void at(webhooks, 0).posts.pop(),
    [['not seen', /evt_removed .* at the webhook whk_1 of agt_bob/]],
  ],
  [
    'a request to a webhook with the signature of another secret',
    ({ webhooks, feeds }) =>
      void at(webhooks, 0).posts.push(createPost(at(at(feeds, 1).events, 3), 'whsec_b3RoZXI=')),
    [['wrong signature', /evt_msg_3 at the webhook whk_1/]],
  ],
  [
    'a request to a webhook with other content',
    ({ webhooks, feeds }) => {
      const event = at(at(feeds, 1).events, 3);
      const { secret } = at(at(webhooks, 0).answers, 0);
      const data = { ...event.data, content: 'other' };
      at(webhooks, 0).posts.push(createPost({ ...event, data }, secret));
    },
    [['changed', /evt_msg_3 .* at the webhook whk_1 of agt_bob differs/]],
  ],
  [
    'a request to a webhook with an event of another agent',
    ({ webhooks, feeds }) => {
      const { secret } = at(at(webhooks, 0).answers, 0);
      const event = at(feeds, 2).events.find(({ event_id }) => event_id === 'evt_ask');
      if (event) at(webhooks, 0).posts.push(createPost(event, secret));
    },
    [['foreign', /evt_ask at the webhook/]],
  ],
];

describe('the checker', () => {
  test('accepts a reader that is ahead of the feed that was read earlier', () => {
    const history = createValidHistory();
    const late = { event_id: 'evt_late', type: 'message.read', created_at: 3_000, data: {} };
    at(history.readers, 2).seen.push({ ...late, number: 21, at: 2_000 });
    expect(checkHistory(history)).toEqual([]);
  });

  test('accepts that a webhook receives an event twice', () => {
    const history = createValidHistory();
    const { posts } = at(history.webhooks, 0);
    posts.push(at(posts, 0));
    expect(checkHistory(history)).toEqual([]);
  });

  test.each(mutations)('finds %s', (_, mutate, expected) => expectViolations(mutate, expected));
});
