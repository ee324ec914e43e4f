import { describe, expect, test } from 'vitest';
import { createHousehold } from '../../../clients/contacts.ts';
import { outcomeOf, readPages } from '../../../clients/rest.ts';
import { allTestScopes, type TestAgent, useSharedService } from '../../../support/service.ts';
import { createRoles, sendTo, startThread } from '../../console/conversations/conversation-fixtures.ts';

const service = useSharedService();

const scopes = [...allTestScopes, 'conversations:read'] as const;

const get = ({ token }: { token: string }, path: string) => service.get({ token }, path);

test('an agent with the scope lists and reads the threads of the other agents of its person', async () => {
  const [one, two] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const stranger = await service.agent();
  const id = await startThread(service, stranger, [two], {
    subject: 'Prices',
    content: 'What is the price?',
  });
  const { status, body } = await get(one, '/conversations?waiting=me');
  expect([status, body]).toEqual([
    200,
    {
      conversations: [
        {
          thread_id: id,
          subject: 'Prices',
          status: 'active',
          members: expect.arrayContaining([
            { id: two.id, canonical_handle: two.handle },
            { id: stranger.id, canonical_handle: stranger.handle },
          ]),
          agents: [{ id: two.id, canonical_handle: two.handle, unread_count: 1 }],
          last_message: {
            id: expect.stringMatching(/^msg_/),
            sequence: 1,
            sender: { id: stranger.id, canonical_handle: stranger.handle },
            preview: 'What is the price?',
            created_at: expect.any(Number),
          },
          waiting: 'me',
          created_at: expect.any(Number),
          updated_at: expect.any(Number),
        },
      ],
    },
  ]);
  const read = await get(one, `/conversations/${id}`);
  expect([read.status, read.body]).toMatchObject([
    200,
    {
      conversation: body.conversations[0],
      messages: [{ content: 'What is the price?', relationship: 'none' }],
      receipts: expect.arrayContaining([
        expect.objectContaining({
          agent: { id: two.id, canonical_handle: two.handle },
          read_up_to_sequence: 0,
        }),
        expect.objectContaining({ read_up_to_sequence: 1 }),
      ]),
      earlier: false,
    },
  ]);
});

test('later pages continue the first, and belong to the agent that got the cursor', async () => {
  const [one, two] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const stranger = await service.agent();
  const made: string[] = [];
  for (let number = 0; number < 5; number += 1)
    made.unshift(await startThread(service, stranger, [number % 2 === 0 ? one : two]));
  const read = async (query: string) => {
    const page = await get(one, `/conversations${query}`);
    const cursor = encodeURIComponent(page.body.next_cursor ?? '');
    const other = await get(two, `/conversations?limit=2&cursor=${cursor}`);
    if (cursor !== '') expect(outcomeOf(other)).toBe('400 INVALID_CURSOR');
    return page;
  };
  const seen = await readPages(read, { list: 'conversations', limit: 2 });
  expect(seen.map(({ thread_id }) => thread_id)).toEqual(made);
});

test('messages come in pages from the end', async () => {
  const [one, two] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const id = await startThread(service, one, [two], { content: 'Number 1' });
  for (let number = 2; number <= 5; number += 1) await sendTo(service, two, id, `Number ${number}`);
  const page = async (query: string) => {
    const { body } = await get(one, `/conversations/${id}?message_limit=2${query}`);
    return [body.messages.map(({ sequence }: { sequence: number }) => sequence), body.earlier];
  };
  expect(await page('')).toEqual([[4, 5], true]);
  expect(await page('&before_sequence=4')).toEqual([[2, 3], true]);
  expect(await page('&before_sequence=2')).toEqual([[1], false]);
});

describe('an agent reads the threads of', () => {
  test.each([
    ['personal', ['personal']],
    ['shared', ['shared']],
    ['linked with a member', ['linked with a member']],
  ] as const)('%s agents: %j', async (kind, kinds) => {
    const { agents, threads } = await createRoles(service);
    const token = await service.token(agents[kind].handle, { scopes });
    const { body } = await get({ token }, '/conversations');
    expect(body.conversations.map(({ thread_id }: { thread_id: string }) => thread_id)).toEqual(
      kinds.map((each) => threads[each]),
    );
    for (const [name, id] of Object.entries(threads)) {
      const expected = (kinds as readonly string[]).includes(name) ? 200 : 404;
      expect([name, (await get({ token }, `/conversations/${id}`)).status]).toEqual([name, expected]);
    }
  });
});
