import { expect, test } from 'vitest';
import { parseHandle } from '../../../packages/core/src/domain/agents/handles.ts';
import { readNextPart } from '../../../src/services/agents/export-records.ts';
import { expireByAge } from '../../../workers/maintenance/retention.ts';
import { type MaintenanceTask } from '../../../src/jobs/maintenance.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { startRemoteServer } from '../../support/a2a/remote-server.ts';
import { runCliJson } from '../../clients/cli.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { storyOf, useInstallation } from './setup.ts';
import { stopAfterTest } from '../../support/use.ts';

const service = useInstallation({ env: { REMOTE_CONFIRM: 'person', MESSAGE_RETENTION_DAYS: '40' } });
const dayMs = 24 * 3_600_000;

/** Runs the maintenance at a later time. */
const maintainAfter = (ms: number, task: MaintenanceTask = 'expire-remote-agents') =>
  maintenanceHandler(service.core, undefined, () => Date.now() + ms).handle({ task });

async function meet() {
  const server = stopAfterTest(await startRemoteServer());
  const ann = await service.agent();
  const remote = await service.addRemote(ann, { card_url: server.cardUrl }, { isReady: false });
  await waitUntil(async () => (await service.readRemote(ann, remote.id)).waiting_for).toBe('person');
  const confirm = async () => {
    await service.write((work) => work.db.remoteAgents.confirm(remote.id));
    await service.write((work) => work.db.remoteThreads.setDue(remote.id, Date.now()));
  };
  return { server, ann, remote, confirm };
}

test('an agent that no person has confirmed is removed after 7 days, and a confirmed one is not', async () => {
  const [first, second] = [await meet(), await meet()];
  await second.confirm();
  const stateOf = async ({ ann, remote }: typeof first) =>
    (await service.get(ann, `/remote-agents/${remote.id}`)).status;
  await maintainAfter(6.9 * dayMs);
  expect([await stateOf(first), await stateOf(second)]).toEqual([200, 200]);
  await maintainAfter(7.1 * dayMs);
  expect([await stateOf(first), await stateOf(second)]).toEqual([404, 200]);
  await maintainAfter(700 * dayMs);
  expect(await stateOf(second)).toBe(200);
});

test('the card is read again after a day', async () => {
  const { server, remote, confirm } = await meet();
  await confirm();
  expect(server.cardRequests()).toBe(1);
  const [row] = await service.sql<{ next_at: number }>(
    'select next_at from remote_agents where agent_id = $1',
    [remote.id],
  );
  expect(Number(row?.next_at)).toBeGreaterThan(Date.now() + 0.99 * dayMs);
  expect(Number(row?.next_at)).toBeLessThanOrEqual(Date.now() + dayMs);
});

test('after a failure the card is read again, and the record says why it was not read', async () => {
  const server = stopAfterTest(await startRemoteServer());
  server.failCard(2);
  const ann = await service.agent();
  const { id } = await service.addRemote(ann, { card_url: server.cardUrl }, { isReady: false });
  await waitUntil(() => server.cardRequests()).toBeGreaterThan(2);
  await waitUntil(async () => (await service.readRemote(ann, id)).waiting_for).toBe('person');
  expect((await service.readRemote(ann, id)).card_error).toBe(null);
});

test('an export has what is known of messages to other systems, and an erasure removes it', async () => {
  const { ann, remote, confirm } = await meet();
  await confirm();
  const { thread_id, message_id } = await service.ask(ann, remote, 'direct one');
  await waitUntil(async () => (await service.messages(ann, thread_id)).length).toBe(2);
  const start = {
    agent_id: ann.id,
    stage: 'belongings',
    belonging: '["agent"]',
    thread_id: '',
    sequence: 0,
  } as const;
  const { text, counts } = await readNextPart(service.core, start);
  expect(counts).toMatchObject({ remote_message: 1 });
  expect(text).toContain(`"message_id":"${message_id}"`);

  const { DATABASE_URL = '', SECRET_KEY = '' } = service.env;
  const { canonical } = parseHandle(ann.handle);
  const env = { DATABASE_URL, SECRET_KEY };
  const erased = await runCliJson(env, ['agent', 'erase', canonical, '--confirm', canonical]);
  expect(erased).toMatchObject({ state: 'done', erased: { remote_threads: 1, remote_agents: 0 } });
  expect(await service.sql('select from remote_messages where thread_id = $1', [thread_id])).toEqual([]);
  const own = await runCliJson(env, ['agent', 'erase', remote.handle, '--confirm', remote.handle]);
  expect(own).toMatchObject({ state: 'done', erased: { remote_agents: 1 } });
});

test('what is known of removed messages is removed with them, and the conversation continues', async () => {
  const { server, ann, remote, confirm } = await meet();
  await confirm();
  const { thread_id } = await service.ask(ann, remote, 'direct one');
  const story = async () => storyOf(await service.messages(ann, thread_id), ann);
  const says = (...texts: string[]) => waitUntil(story).toEqual(texts);
  await waitUntil(story).toHaveLength(2);
  await service.send(ann, thread_id, 'two');
  await waitUntil(story).toHaveLength(4);
  await service.send(ann, thread_id, 'direct three');
  await waitUntil(story).toHaveLength(6);
  const keys = async () =>
    (
      await service.sql<{ key: string }>(
        'select key from remote_updates where thread_id = $1 order by message_id',
        [thread_id],
      )
    ).map(({ key }) => key);
  const left = async () =>
    (
      await service.sql(
        `select (select count(*)::int from remote_messages where thread_id = $1) as messages,
           (select count(*)::int from remote_tasks where thread_id = $1) as tasks`,
        [thread_id],
      )
    )[0];
  const last = (await keys()).at(-1) ?? '';
  expect([await left(), await keys()]).toEqual([
    { messages: 3, tasks: 1 },
    [expect.any(String), expect.any(String), last],
  ]);
  const expire = () => expireByAge(service.core, Date.now() + 50 * dayMs);
  await expire();
  // The first one belongs to a task.
  expect([await left(), await keys(), await story()]).toEqual([{ messages: 1, tasks: 0 }, [last], []]);
  await maintainAfter(50 * dayMs, 'sweep-tasks');
  await expire();
  expect(await left()).toEqual({ messages: 0, tasks: 0 });

  server.answer('SendMessage', () => ({
    message: { messageId: last, role: 'ROLE_AGENT', parts: [{ text: 'It is repeated.' }] },
  }));
  await service.send(ann, thread_id, 'direct four');
  await waitUntil(left).toEqual({ messages: 1, tasks: 0 });
  server.answer('SendMessage', undefined);
  await service.send(ann, thread_id, 'direct five');
  await says('here: direct four', 'here: direct five', 'there: Done: direct five');
});
