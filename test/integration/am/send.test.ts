import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClient, type Message } from '../../../packages/client/src/main.ts';
import { runAm, tokenEnv } from '../../clients/am.ts';
import { useSharedService } from '../../support/service.ts';
import { createFolder } from '../../support/use.ts';

const service = useSharedService();

/** Ann's command line, and what Bob has. */
async function pair() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const env = await tokenEnv(service.url, ann.token);
  const client = createClient({ url: service.url, auth: bob.token });
  const am = (...args: string[]) => runAm(args, { env });
  async function send(...args: string[]): Promise<Message> {
    const { code, out, err } = await am('send', ...args, '--json');
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out) as Message;
  }
  /** The texts that Bob has, the oldest of each thread first. */
  async function received(): Promise<string[]> {
    const texts: string[] = [];
    for await (const { id: thread_id } of client.threads.list())
      for await (const { content } of client.messages.list({ thread_id, order: 'asc' })) texts.push(content);
    return texts.sort();
  }
  const path = join(await createFolder(), 'order.txt');
  await writeFile(path, 'Order 1042');
  return { bob, client, am, send, received, path };
}

test('a key sends once to an agent, with files, at the same time too, and after a later thread', async () => {
  const { bob, client, am, send, received, path } = await pair();
  const args = [bob.handle, 'once', '--key', 'order-1', '--attach', path, path];
  const [first, other] = await Promise.all([send(...args), send(...args)]);
  expect(other).toEqual(first);
  expect(first).toMatchObject({ sequence: 1, attachments: [{ size_bytes: 10 }, { size_bytes: 10 }] });
  await send(bob.handle, 'later', '--subject', 'Another');
  expect(await send(...args)).toEqual(first);
  await client.threads.update({ thread_id: first.thread_id, status: 'closed' });
  expect((await send(...args)).id).toBe(first.id);
  expect(await am('send', bob.handle, 'twice', '--key', 'order-1')).toMatchObject({
    code: 4,
    err: expect.stringContaining('IDEMPOTENCY_MISMATCH'),
  });
  expect(await received()).toEqual(['later', 'once']);
});

test('a key sends once in a thread, with a file, and the same key in another thread', async () => {
  const { bob, send, received, path } = await pair();
  const threads = [await send(bob.handle, 'a', '--new'), await send(bob.handle, 'b', '--new')];
  for (const { thread_id } of threads) {
    const again = () => send(thread_id, 'once', '--key', 'order-1', '--attach', path);
    const first = await again();
    expect(first).toMatchObject({ sequence: 2, attachments: [{ filename: 'order.txt', size_bytes: 10 }] });
    expect(await again()).toEqual(first);
  }
  expect(await received()).toEqual(['a', 'b', 'once', 'once']);
});

test('a message is no task: the first one, one in a new thread, and a reply', async () => {
  const { bob, client, am, send, received, path } = await pair();
  const first = await send(bob.handle, 'first');
  await send(bob.handle, 'new', '--new');
  await send(bob.handle, '**subject**', '--subject', 'Order', '--markdown');
  const reply = await send(bob.handle, 'reply', '--attach', path);
  expect(reply).toMatchObject({ content_type: 'text', sequence: 2 });
  expect(await send(first.thread_id, 'answer', '--reply-to', first.id)).toMatchObject({ reply_to: first.id });
  expect(await received()).toEqual(['**subject**', 'answer', 'first', 'new', 'reply']);
  expect((await client.tasks.list().page()).tasks).toEqual([]);
  await am('ask', bob.handle, 'A question?', '--wait', '1');
  expect((await client.tasks.list().page()).tasks).toMatchObject([{ state: 'submitted' }]);
});
