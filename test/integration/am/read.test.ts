import { expect, test } from 'vitest';
import { createClient } from '../../../packages/client/src/main.ts';
import { runAm, runShell, startAm, tokenEnv } from '../../clients/am.ts';
import { useSharedService } from '../../support/service.ts';

const service = useSharedService();

/** A thread in which Bob has this many unread messages of Ann. */
async function unreadThread(count: number, size = 10) {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const [asAnn, asBob] = [ann, bob].map(({ token }) => createClient({ url: service.url, auth: token }));
  if (!asAnn || !asBob) throw new Error('two clients were created');
  const { id } = await asAnn.threads.create({ with_handle: bob.handle });
  const send = (content: string, sender = asAnn) => sender.messages.send({ thread_id: id, content });
  for (let start = 0; start < count; start += 50) {
    const messages = Array.from({ length: Math.min(50, count - start) }, () => ({
      content: 'x'.repeat(size),
    }));
    await asAnn.messages.sendBatch({ thread_id: id, messages });
  }
  const env = await tokenEnv(service.url, bob.token);
  const unread = async () => (await asBob.threads.get({ thread_id: id })).unread_count;
  const read = (...args: string[]) => runAm(['read', ...args], { env });
  expect(await unread()).toBe(count);
  return { id, ann, asBob, env, unread, send, read };
}

/** The numbers of the messages that a command has printed as JSON. */
const sequences = (out: string): number[] =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => Number(Object(JSON.parse(line)).sequence));

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

test('read prints the oldest unread messages, marks those only, and says how many are left', async () => {
  const { id, unread, read } = await unreadThread(45);
  const first = await read(id, '--json');
  expect(sequences(first.out)).toEqual(range(1, 20));
  expect(first.err).toBe('25 more messages are unread; repeat the command\n');
  expect(await unread()).toBe(25);
  expect(sequences((await read(id, '--json')).out)).toEqual(range(21, 40));
  expect(await read(id)).toMatchObject({ code: 0, err: '', out: expect.stringContaining('#45 ') });
  expect(await unread()).toBe(0);
});

test('with nothing unread, the latest messages are printed and nothing else is said to be new', async () => {
  const { id, read, send, asBob } = await unreadThread(3);
  await read(id);
  await send('own', asBob);
  const again = await read(id, '--limit', '2', '--json');
  expect(sequences(again.out)).toEqual([3, 4]);
  expect(again.err).toBe('nothing is unread; the latest messages:\n');
});

test('an empty thread says so', async () => {
  const { id, read } = await unreadThread(0);
  expect(await read(id)).toEqual({ code: 0, out: '', err: 'no messages yet\n' });
});

test('--limit 1, a limit with --json, and a handle mark what they print', async () => {
  const { id, ann, unread, read } = await unreadThread(30);
  expect(await read(id, '--limit', '1')).toMatchObject({
    out: expect.stringContaining('#1 '),
    err: '29 more messages are unread; repeat the command\n',
  });
  expect(await unread()).toBe(29);
  expect(sequences((await read(id, '--limit', '5', '--json')).out)).toEqual(range(2, 6));
  expect(await unread()).toBe(24);
  expect(sequences((await read(ann.handle, '--limit', '22', '--json')).out)).toEqual(range(7, 28));
  expect(await unread()).toBe(2);
  expect((await read(ann.handle, '--limit', '1')).err).toBe('1 more message is unread; repeat the command\n');
});

test('own messages among the unread ones are printed and do not count', async () => {
  const { id, asBob, unread, read, send } = await unreadThread(2);
  await send('mine', asBob);
  await send('more');
  expect(sequences((await read(id, '--limit', '3', '--json')).out)).toEqual([1, 2, 3]);
  expect(await unread()).toBe(1);
});

test('--no-mark prints the same and marks nothing', async () => {
  const { id, unread, read } = await unreadThread(25);
  expect(sequences((await read(id, '--no-mark', '--json')).out)).toEqual(range(1, 20));
  expect(await unread()).toBe(25);
});

test('--follow prints every unread message, then new ones, and marks them', async () => {
  const { id, env, unread, send } = await unreadThread(120);
  const reading = startAm(['read', id, '--follow', '--json', '--limit', '5'], { env });
  await expect.poll(() => reading.lines().length).toBe(120);
  await send('new');
  await expect.poll(() => reading.lines().length).toBe(121);
  await expect.poll(unread).toBe(0);
  const { out } = await reading.stop();
  expect(sequences(out)).toEqual(range(1, 121));
});

test('what cannot be written stays unread: a full disk, a closed output, the null device', async () => {
  const { id, env, unread } = await unreadThread(25);
  expect(await runShell(`am read ${id} > /dev/full`, env)).toEqual({
    code: 1,
    out: '',
    err: 'error: standard output: ENOSPC: no space left on device, write\n',
  });
  expect(await unread()).toBe(25);
  for (const target of ['>&-', '> /dev/null', '--json >&-']) {
    expect(await runShell(`am read ${id} ${target}`, env)).toEqual({
      code: 0,
      out: '',
      err: 'standard output is closed or /dev/null: nothing is marked as read\n',
    });
    expect(await unread()).toBe(25);
  }
});

test('a reader that ends early leaves the rest unread', async () => {
  const { id, env, unread } = await unreadThread(30);
  const { out, err } = await runShell(`am read ${id} --json | head -1`, env);
  expect(sequences(out)).toEqual([1]);
  expect(err).toBe('');
  expect(await unread()).toBe(29);
});

test('a reader that never reads leaves everything unread', async () => {
  const { id, env, unread } = await unreadThread(10, 20_000);
  await runShell(`{ am read ${id}; } | exec true`, env);
  expect(await unread()).toBeGreaterThanOrEqual(9);
});

test('a pipe and a file get everything, and it is marked', async () => {
  const { id, env, unread } = await unreadThread(25);
  expect(sequences((await runShell(`am read ${id} --json | cat`, env)).out)).toEqual(range(1, 20));
  expect(await unread()).toBe(5);
  const file = `${env['XDG_CONFIG_HOME']}/messages`;
  expect(sequences((await runShell(`am read ${id} --json > ${file}; cat ${file}`, env)).out)).toEqual(
    range(21, 25),
  );
  expect(await unread()).toBe(0);
});

test('listen keeps its position where its output was not written', async () => {
  const { env, send } = await unreadThread(0);
  await send('one');
  expect((await runShell('am listen --json --types message.created > /dev/full', env)).code).toBe(1);
  const listening = startAm(['listen', '--json', '--types', 'message.created'], { env });
  await expect.poll(listening.out).toContain('"content":"one"');
  await listening.stop();
});
