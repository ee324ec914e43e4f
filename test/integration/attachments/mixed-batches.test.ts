import { beforeAll, expect, test } from 'vitest';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { type MessageDraft, sendMessages } from '../../../src/services/messages/send.ts';
import type { TestAgent } from '../../support/service.ts';
import { openThread, startAttachmentService, uploadId } from './setup.ts';
import { use } from '../../support/use.ts';

const service = use(() => startAttachmentService({ worker: false }));
let ada: TestAgent;
let bob: TestAgent;

beforeAll(async () => {
  [ada, bob] = [await service.agent(), await service.agent()];
});

type Draft = Partial<MessageDraft> & { by?: TestAgent; thread_id: string };

const toActor = ({ id, handle }: TestAgent): Actor => ({
  agent_id: id,
  handle,
  owner_id: '',
  scopes: new Set(),
  client_id: 'test',
  resource: '',
  expires_at: Date.now() + 60_000,
  token_id: 'test',
});

const plain: MessageDraft = {
  content: 'hello',
  content_type: 'text',
  attachment_ids: [],
  reply_to: null,
  metadata: {},
};

/** Sends all of them in one transaction. The result of each: its message, the code of its refusal, or null. */
async function sendBatch(drafts: readonly Draft[]) {
  const calls = drafts.map(({ by = ada, ...draft }) => {
    return { actor: toActor(by), claim: null, trace: undefined, message: { ...plain, ...draft } };
  });
  const results = await service.core.unitOfWork.writeBatch(calls, async (items) => {
    const sends = items.map(({ call, work }) => ({ work, message: call.message }));
    const sent = await sendMessages(sends, { wait: false });
    return sent.map((one) => (one === null || one instanceof DomainError ? one : { body: '', sent: one }));
  });
  return results.map((result) => (result instanceof DomainError ? result.code : result && result.sent));
}

const list = async (thread: string, by = bob) =>
  (await service.get(by, `/threads/${thread}/messages?order=asc`)).body.messages;

const post = (thread: string, body: object, by = ada) =>
  service.post(by, `/threads/${thread}/messages`, { content: 'x', ...body });

test('a batch takes plain messages, replies and files; a refused one leaves nothing and fails no other', async () => {
  const [first, second] = [await openThread(service, ada, bob), await openThread(service, ada, bob)];
  const [one, two, bobs] = [
    await uploadId(service, ada),
    await uploadId(service, ada),
    await uploadId(service, bob),
  ];
  const question = (await post(first, { content: 'question' }, bob)).body;
  const absent = newId('message');
  const results = await sendBatch([
    { thread_id: first },
    { thread_id: first, reply_to: question.id },
    { thread_id: second, reply_to: question.id },
    { thread_id: first, reply_to: absent, attachment_ids: [two] },
    { thread_id: second, attachment_ids: [two, one], reply_to: null },
    { thread_id: first, by: bob, attachment_ids: [bobs], reply_to: question.id },
    { thread_id: newId('thread') },
  ]);
  expect(results).toMatchObject([
    { sequence: 2, reply_to: null, attachments: [] },
    { sequence: 3, reply_to: question.id, attachments: [] },
    'MESSAGE_NOT_FOUND',
    'MESSAGE_NOT_FOUND',
    { sequence: 1, reply_to: null, attachments: [{ id: two }, { id: one }] },
    { sequence: 4, reply_to: question.id, attachments: [{ id: bobs }] },
    'THREAD_NOT_FOUND',
  ]);
  expect(await list(first)).toMatchObject([
    { id: question.id },
    { sequence: 2, reply_to: null, attachments: [] },
    { sequence: 3, reply_to: question.id, attachments: [] },
    {
      sequence: 4,
      sender: { id: bob.id },
      reply_to: question.id,
      attachments: [{ id: bobs, expires_at: null }],
    },
  ]);
  expect(await list(second)).toMatchObject([
    {
      sequence: 1,
      attachments: [
        { id: two, expires_at: null },
        { id: one, expires_at: null },
      ],
    },
  ]);
});

test('a file that two messages of a batch name goes with the first one that is not refused', async () => {
  const [first, second, closed] = [
    await openThread(service, ada, bob),
    await openThread(service, ada, bob),
    await openThread(service, ada, bob),
  ];
  await service.patch(ada, `/threads/${closed}`, { status: 'closed' });
  const [file, other] = [await uploadId(service, ada), await uploadId(service, ada)];
  const results = await sendBatch([
    { thread_id: closed, attachment_ids: [file] },
    { thread_id: first, attachment_ids: [file] },
    { thread_id: second, attachment_ids: [other, file] },
    { thread_id: second, attachment_ids: [other] },
    { thread_id: second },
  ]);
  expect(results).toMatchObject([
    'THREAD_CLOSED',
    { sequence: 1, attachments: [{ id: file }] },
    'ATTACHMENT_ALREADY_SENT',
    { sequence: 1, attachments: [{ id: other }] },
    { sequence: 2, attachments: [] },
  ]);
  expect((await list(second)).map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2]);
});

test('a file that is locked, absent or of another agent does not delay the batch', async () => {
  const [first, second] = [await openThread(service, ada, bob), await openThread(service, ada, bob)];
  const [locked, bobs] = [await uploadId(service, ada), await uploadId(service, bob)];
  const locking = await service.core.database.begin();
  await locking.query({ text: 'select from attachments where id = $1 for update' }, [locked]);
  const results = await sendBatch([
    { thread_id: first, attachment_ids: [locked] },
    { thread_id: first, attachment_ids: [bobs] },
    { thread_id: first, attachment_ids: [newId('attachment')] },
    { thread_id: second },
  ]);
  expect(results).toMatchObject([null, null, null, { sequence: 1 }]);
  expect(await list(first)).toEqual([]);
  let isAnswered = false;
  const waiting = post(first, { attachment_ids: [locked] }).finally(() => (isAnswered = true));
  const others = await Promise.all([post(second, {}), post(second, { attachment_ids: [bobs] })]);
  expect(others.map(({ status }) => status)).toEqual([201, 404]);
  expect(isAnswered).toBe(false);
  await locking.commit();
  expect((await waiting).status).toBe(201);
});

test('concurrent sends of all kinds share transactions', async () => {
  const thread = await openThread(service, ada, bob);
  const question = (await post(thread, { content: 'question' }, bob)).body;
  const files = await Promise.all(Array.from({ length: 8 }, () => uploadId(service, ada)));
  const bodies = files.flatMap((id) => [{}, { reply_to: question.id }, { attachment_ids: [id] }]);
  const answers = await Promise.all(bodies.map((body) => post(thread, body)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  const sent = answers.map(({ body }) => body).toSorted((one, other) => one.sequence - other.sequence);
  expect(await list(thread)).toMatchObject([{ id: question.id }, ...sent.map(({ id }) => ({ id }))]);
  const text = 'select distinct xmin::text from messages where thread_id = $1';
  const transactions = await service.sql(text, [thread]);
  expect(transactions.length).toBeLessThan(answers.length);
});
