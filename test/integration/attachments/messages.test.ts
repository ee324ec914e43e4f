import { outcomeOf } from '../../clients/rest.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TestAgent } from '../../support/service.ts';
import { openThread, sendMessage, startAttachmentService, uploadId } from './setup.ts';
import { use } from '../../support/use.ts';

const service = use(startAttachmentService);
let ada: TestAgent;
let bob: TestAgent;
let thread: string;

beforeAll(async () => {
  [ada, bob] = [await service.agent(), await service.agent()];
  thread = await openThread(service, ada, bob);
});

const upload = (agent: TestAgent, count = 1): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => uploadId(service, agent)));

describe('a message with files', () => {
  test('shows them in order in every response', async () => {
    const ids = (await upload(ada, 5)).toReversed();
    const sent = await sendMessage(service, ada, thread, ids);
    const shown = (message: { attachments: { id: string }[] }) => message.attachments.map(({ id }) => id);
    expect(shown(sent.body)).toEqual(ids);
    expect(sent.body.attachments[0]).toMatchObject({ scan_status: expect.any(String), expires_at: null });
    const plain = await service.post(ada, `/threads/${thread}/messages`, { content: 'no file' });
    expect(plain.body.attachments).toEqual([]);
    const listed = await service.get(bob, `/threads/${thread}/messages`);
    const pick = (messages: { id: string; attachments: { id: string }[] }[]) =>
      messages.filter(({ id }) => id === sent.body.id).map(shown);
    expect(pick(listed.body.messages)).toEqual([ids]);
    const cursor = service.core.settings.cursors.encodeFeed(bob.id, 0);
    const { body } = await service.get(bob, `/events?limit=100&cursor=${cursor}`);
    const created = body.events.filter(({ type }: { type: string }) => type === 'message.created');
    expect(pick(created.map(({ data }: { data: never }) => data))).toEqual([ids]);
  });

  test('may have no content', async () => {
    const [id = ''] = await upload(ada);
    const body = { content: '', attachment_ids: [id] };
    const answer = await service.post(ada, `/threads/${thread}/messages`, body);
    expect(answer.status).toBe(201);
  });

  test('opens a thread', async () => {
    const [id = ''] = await upload(ada);
    const created = await service.post(ada, '/threads', {
      with_handle: bob.handle,
      initial_message: { content: 'see', attachment_ids: [id] },
    });
    expect(created.status).toBe(201);
    const { body } = await service.get(bob, `/threads/${created.body.id}/messages`);
    expect(body.messages[0].attachments).toMatchObject([{ id }]);
  });

  test('is refused as a whole: nothing is sent, and no file is used', async () => {
    const [mine = ''] = await upload(ada);
    const [theirs = ''] = await upload(bob);
    const [used = ''] = await upload(ada);
    expect((await sendMessage(service, ada, thread, [used])).status).toBe(201);
    const latest = async () =>
      (await service.get(ada, `/threads/${thread}/messages?limit=1`)).body.messages[0].sequence;
    const before = await latest();
    expect(outcomeOf(await sendMessage(service, ada, thread, [mine, theirs]))).toBe(
      '404 ATTACHMENT_NOT_FOUND',
    );
    expect(outcomeOf(await sendMessage(service, ada, thread, [mine, used]))).toBe(
      '409 ATTACHMENT_ALREADY_SENT',
    );
    expect(outcomeOf(await sendMessage(service, ada, thread, [mine, mine]))).toBe('400 VALIDATION_ERROR');
    expect(outcomeOf(await sendMessage(service, ada, thread, await upload(ada, 6)))).toBe(
      '400 VALIDATION_ERROR',
    );
    expect(await latest()).toBe(before);
    expect((await sendMessage(service, ada, thread, [mine])).status).toBe(201);
  });

  test('sent many times in parallel succeeds once', async () => {
    const ids = await upload(ada, 2);
    const other = await openThread(service, ada, bob);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        sendMessage(service, ada, index % 2 ? thread : other, index % 3 ? ids : ids.toReversed()),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
  });

  test('is hidden from a former member, and so are its files', async () => {
    const eve = await service.agent();
    const group = await openThread(service, ada, bob, eve);
    const [id = ''] = await upload(ada);
    expect((await sendMessage(service, ada, group, [id])).status).toBe(201);
    const read = async (agent: TestAgent) => (await service.get(agent, `/attachments/${id}`)).status;
    expect([await read(ada), await read(bob), await read(eve)]).toEqual([200, 200, 200]);
    await service.delete(ada, `/threads/${group}/members/${eve.id}`);
    expect([await read(ada), await read(bob), await read(eve)]).toEqual([200, 200, 404]);
  });
});
