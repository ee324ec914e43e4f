import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from '../../../support/free-port.ts';
import { type ProxyAction, startHttpProxy } from '../../../support/servers/http-proxy.ts';
import { fetchContent, uploadId, waitForScan } from '../../attachments/setup.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { type Installation, startInstallation, storyOf, useInstallation } from '../setup.ts';
import { connect, threadOf } from './setup.ts';

const here = useInstallation({
  env: { RATE_LIMITS: 'off' },
  pacing: { remoteScheduleMs: Array(200).fill(20) },
});
let there: Installation;
let line: ProxyAction = 'pass';
let proxy: Awaited<ReturnType<typeof startHttpProxy>>;

beforeAll(async () => {
  const port = await findFreePort();
  proxy = await startHttpProxy(`http://127.0.0.1:${port}`, () => line);
  there = await startInstallation({ port, env: { PUBLIC_URL: proxy.url } });
});
afterAll(async () => {
  await there.stop();
  await proxy.close();
});

/** Ann and Bob, and the threads of their conversation. */
async function meet() {
  line = 'pass';
  const connected = await connect(here, there);
  const { thread_id, task_id } = await here.ask(connected.ann, connected.remoteBob, 'Hello?');
  const undeliverable = await here.follow(connected.ann, 'message.undeliverable');
  return { ...connected, thread_id, task_id, thread: await threadOf(there, connected.bob), undeliverable };
}

type Met = Awaited<ReturnType<typeof meet>>;

/** No answer comes back until `restore`, which calls `between` while nothing is sent. */
async function loseAnswers({ thread_id }: Met) {
  line = 'unanswered';
  return async function restore(between: () => Promise<unknown>): Promise<void> {
    await here.holdThread(thread_id);
    await between();
    line = 'pass';
    await here.pass(thread_id);
  };
}

/** Waits until each message of Ann needs no attempt any more, and compares what both sides have. */
async function expectEqual({ ann, bob, thread_id, thread, remoteAnn, undeliverable }: Met, texts: string[]) {
  const outcomes = async () => {
    await here.pass(thread_id);
    const sql = 'select outcome from remote_messages where thread_id = $1';
    return (await here.sql<{ outcome: string }>(sql, [thread_id])).map(({ outcome }) => outcome);
  };
  const sent = texts.filter((text) => text.startsWith('here'));
  await waitUntil(async () => (await outcomes()).length).toBe(sent.length);
  expect(await undeliverable()).toEqual([]);
  expect(new Set(await outcomes())).toEqual(new Set(['accepted']));
  const [mine, theirs] = [
    storyOf(await here.messages(ann, thread_id), ann),
    storyOf(await there.messages(bob, thread), remoteAnn),
  ];
  expect(mine).toEqual(texts);
  // A file can be a link below the text.
  expect(theirs.map((text) => text.split('\n')[0])).toEqual(texts);
}

test.each([
  { before: 'pending', after: 'clean' },
  { before: 'clean', after: 'failed' },
  { before: 'pending', after: 'infected' },
])('a file that is $before at the first attempt and $after at the next one', async ({ before, after }) => {
  const both = await meet();
  const { ann, bob, thread_id, thread } = both;
  const bytes = Buffer.from('order,day\n1042,Friday\n');
  const id = await uploadId(here, ann, { name: 'orders.csv', type: 'text/csv', bytes });
  await waitForScan(here, ann, id);
  const setScan = (status: string) =>
    here.sql(
      `update attachments set scan_status = $2::text, scanned_by = case when $2 in ('clean', 'infected') then 'test' end where id = $1`,
      [id, status],
    );
  await setScan(before);
  const restore = await loseAnswers(both);
  await here.send(ann, thread_id, 'The orders.', { attachment_ids: [id] });
  await waitUntil(async () => (await there.messages(bob, thread)).length).toBe(2);
  await restore(() => setScan(after));
  const [, arrived] = await there.messages(bob, thread);
  const [file] = arrived?.attachments ?? [];
  if (before === 'pending') {
    const [, url = ''] = /orders\.csv: (\S+)/.exec(arrived?.content ?? '') ?? [];
    expect(url).toContain(`${here.url}/a2a/-/files/`);
    expect((await fetch(url)).status).toBe(after === 'clean' ? 200 : 403);
  } else {
    await waitForScan(there, bob, file?.id ?? '');
    expect(Buffer.from(await (await fetchContent(there, bob, file?.id ?? '')).arrayBuffer())).toEqual(bytes);
  }
  await expectEqual(both, ['here: Hello?', 'here: The orders.']);
});

test('a message of a task that ends before the next attempt', async () => {
  const both = await meet();
  const { ann, bob, thread_id, thread, task_id } = both;
  await there.post(bob, `/tasks/${await taskThere(both)}/update`, {
    state: 'input_required',
    message: 'Which order?',
  });
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('input_required');
  const restore = await loseAnswers(both);
  await here.send(ann, thread_id, '1042.');
  await waitUntil(async () => (await there.messages(bob, thread)).length).toBe(3);
  const [, , order] = await there.messages(bob, thread);
  await restore(() => there.send(bob, thread, 'Friday.', { reply_to: order?.id }));
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('completed');
  await expectEqual(both, ['here: Hello?', 'there: Which order?', 'here: 1042.', 'there: Friday.']);
});

async function taskThere({ bob }: Met): Promise<string> {
  const { tasks } = (await there.get(bob, '/tasks?role=asked')).body;
  return tasks[0].id;
}
