import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../../chaos/check/check.ts';
import { createValidHistory } from './valid-history.ts';
import { at, expectViolations, findStored, listEvents, type Mutation } from './violations.ts';

/** Mutations of answers, stored threads, files and members. */
const mutations: Mutation[] = [
  [
    'an acknowledged message that no member finds',
    ({ stored }) => {
      for (const { messages, found } of stored.filter(({ thread_id }) => thread_id === 'thd_new')) {
        messages.pop();
        found?.pop();
      }
    },
    [
      ['lost', /msg_5 .*thd_new as agt_ann/],
      ['lost', /msg_5 .*thd_new as agt_bob/],
      ['changed', /last_sequence in thd_new .*2, not 1/, 2],
      ['not found', /msg_5 .*agt_ann/],
    ],
  ],
  [
    'a key that made two messages',
    ({ stored }) => {
      for (const thread of stored.filter(({ thread_id }) => thread_id === 'thd_new')) {
        thread.messages.push({ ...at(thread.messages, 1), id: 'msg_twin', sequence: 3 });
        thread.last_sequence = 3;
      }
    },
    [['doubled', /msg_twin in thd_new .*driftwood 5/, 2]],
  ],
  [
    'a repeated attempt that was answered with another message',
    ({ sends }) => void (at(at(sends, 0).answers, 1).message_id = 'msg_other'),
    [['doubled', /key-msg_1 has 2 answers/]],
  ],
  [
    'a repeated attempt that was answered with other content',
    ({ sends }) => void (at(at(sends, 0).answers, 1).fields = { content: 'driftwood 9' }),
    [['doubled', /key-msg_1 has 2 answers/]],
  ],
  [
    'an answer with another reply_to than the stored message',
    ({ sends }) => {
      for (const answer of at(sends, 1).answers) answer.fields = { ...answer.fields, reply_to: null };
    },
    [['changed', /msg_2 of thd_old: the answer differ/]],
  ],
  [
    'one message as the answer to two keys',
    ({ sends }) => void (at(sends, 1).answers = structuredClone(at(sends, 0).answers)),
    [
      ['changed', /msg_1 was the answer to two keys/],
      ['changed', /msg_1 of thd_old: content, reply_to, metadata, sender/],
      ['doubled', /msg_2 of thd_old, which no key made/],
    ],
  ],
  [
    'a send that was never acknowledged, whatever became of it',
    ({ sends }) => {
      at(sends, 4).answers.length = 0;
      at(sends, 4).acknowledged_at = null;
    },
    [['unacknowledged', /key-msg_5 after 2 attempts/]],
  ],
  [
    'stored content that differs from the event',
    (history) => void (at(findStored(history, 'agt_bob', 'thd_old').messages, 0).content = 'other'),
    [['changed', /msg_1 in thd_old as agt_bob/]],
  ],
  [
    'a stored sender that differs from the event',
    (history) => {
      const { messages } = findStored(history, 'agt_bob', 'thd_old');
      messages[0] = { ...at(messages, 0), sender: { id: 'agt_cid' } };
    },
    [['changed', /msg_1 in thd_old as agt_bob/]],
  ],
  [
    'content that is different from the request everywhere',
    (history) => {
      for (const event of listEvents(history, history.agents).flat())
        if (event.event_id === 'evt_msg_5') event.data = { ...event.data, content: 'other' };
      for (const { messages } of history.stored)
        for (const message of messages) if (message.id === 'msg_5') message.content = 'other';
      for (const answer of at(history.sends, 4).answers) answer.fields = { content: 'other' };
    },
    [
      ['changed', /msg_5 of thd_new: content differ/],
      ['changed', /evt_msg_5 .* at the webhook/],
    ],
  ],
  [
    'a message that a search does not find',
    (history) => void findStored(history, 'agt_ann', 'thd_old').found?.shift(),
    [['not found', /msg_1 in a search/]],
  ],
  [
    'a message that a search finds twice',
    (history) => void findStored(history, 'agt_ann', 'thd_old').found?.push('msg_1'),
    [['doubled', /msg_1 in a search/]],
  ],
  [
    'a thread that a member does not find',
    (history) => {
      const gone = findStored(history, 'agt_bob', 'thd_new');
      history.stored = history.stored.filter((thread) => thread !== gone);
    },
    [['lost', /thread thd_new in the list of agt_bob/]],
  ],
  [
    'a second thread for one key',
    (history) =>
      void history.stored.push({ ...findStored(history, 'agt_bob', 'thd_new'), thread_id: 'thd_twin' }),
    [['foreign', /thread thd_twin/]],
  ],
  [
    'a thread that a removed member still finds',
    (history) =>
      void history.stored.push({ ...findStored(history, 'agt_bob', 'thd_new'), agent_id: 'agt_cid' }),
    [['foreign', /thread thd_new in the list of agt_cid/]],
  ],
  [
    'a removed member in the list of members',
    (history) => void findStored(history, 'agt_ann', 'thd_new').members.push('agt_cid'),
    [['wrong members', /thd_new as agt_ann lists it/]],
  ],
  [
    'a removal without a request',
    (history) => void history.member_changes.pop(),
    [['doubled', /agt_cid removed agt_cid in thd_new/]],
  ],
  [
    'an addition that has no event',
    (history) => {
      const change = at(history.member_changes, 0);
      history.member_changes.push({ ...change, member_id: 'agt_dot' });
    },
    [['lost', /agt_bob added agt_dot in thd_new/]],
  ],
  [
    'other bytes of a file',
    ({ downloads }) => void (at(downloads, 0).sha256 = 'cd'.repeat(32)),
    [['changed', /the file att_1 as agt_bob downloads it/]],
  ],
  ['a file that is gone', ({ downloads }) => void downloads.pop(), [['lost', /the file att_1/]]],
  [
    'a message without its file',
    ({ sends }) => void (at(sends, 3).draft.attachment_ids = ['att_1', 'att_2']),
    [
      ['changed', /msg_4 of thd_old: attachments/],
      ['lost', /the file att_2/],
    ],
  ],
  [
    'a contact request that came twice',
    ({ requests }) => void at(requests, 0).request_ids.push('creq_2'),
    [['doubled', /creq_2 of agt_ann, which no key asked for/]],
  ],
  [
    'a contact request that is gone',
    ({ requests }) => void at(requests, 0).request_ids.pop(),
    [['lost', /creq_1 of agt_ann/]],
  ],
  ['a job that is owed', ({ outbox }) => void outbox.push('deliver-events of evt_1'), [['owed', /evt_1$/]]],
  [
    'a process that ended by itself',
    ({ complaints }) => void complaints.push('api-1 ended'),
    [['complaint', /api-1/]],
  ],
];

describe('the checker', () => {
  test('finds nothing in a valid history', () => {
    expect(checkHistory(createValidHistory())).toEqual([]);
  });

  test('accepts that a scan changes the attachments of a message', () => {
    const history = createValidHistory();
    for (const { seen } of history.readers) {
      for (const event of seen) {
        const { attachments } = event.data;
        if (!Array.isArray(attachments) || attachments.length === 0) continue;
        event.data = { ...event.data, attachments: [{ ...attachments[0], scan_status: 'pending' }] };
      }
    }
    expect(checkHistory(history)).toEqual([]);
  });

  test.each(mutations)('finds %s', (_, mutate, expected) => expectViolations(mutate, expected));
});
