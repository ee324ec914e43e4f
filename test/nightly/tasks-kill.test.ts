import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { isOpenTask, type TaskState } from '../../packages/core/src/domain/tasks.ts';
import { readAllEvents } from '../clients/feed.ts';
import { requestRest } from '../clients/rest.ts';
import { inboxOf } from '../integration/inbox/setup.ts';
import { changesIn } from '../integration/tasks/setup.ts';
import { startTestCluster } from '../support/cluster/cluster.ts';
import { buildAgent, type TestAgent } from '../support/service.ts';

/** `TASK_KILLS` repeats it more often, for as long as you want to wait. */
const kills = Number(process.env['TASK_KILLS'] ?? 20);

vi.setConfig({ testTimeout: Math.max(600_000, kills * 15_000) });

/** The process is killed when so many of the concurrent requests have been answered. */
const answeredBefore = (round: number) => round % 6;

interface TaskRow {
  state: TaskState;
  generation: number;
  lease_token: number | null;
}

interface Task {
  client: TestAgent;
  agent: TestAgent;
  id: string;
  thread_id: string;
}

/** A cluster with one process that stays, and calls about tasks through any of its processes. */
async function startCluster() {
  const cluster = await startTestCluster('postgres');
  const other = await cluster.startApi();
  const { database } = cluster.core;
  const post = (url: string, token: string, path: string, body: object) =>
    requestRest('POST', `${url}/v1${path}`, { token, body });

  /** A task for a new agent, whose instances share an inbox. */
  async function openTask() {
    const [client, agent] = await Promise.all([buildAgent(cluster.core), buildAgent(cluster.core)]);
    await inboxOf(`${other.url}/v1`, agent).turnOn({ lease_seconds: 600, max_attempts: 100 });
    const question = { with_handle: agent.handle, content: 'When?' };
    const { id, thread_id } = (await post(other.url, client.token, '/tasks', question)).body;
    return { client, agent, id: String(id), thread_id: String(thread_id) };
  }

  /** Its changes, its events and its leases must agree. @returns how many changes it has */
  async function checkTask({ id, client, agent }: Task): Promise<number> {
    const [row] = await database.query<TaskRow>(
      { text: 'select state, generation, lease_token from tasks where id = $1' },
      [id],
    );
    const updates = await database.query<TaskRow & { change: string }>(
      { text: 'select change, state, generation from task_updates where task_id = $1 order by generation' },
      [id],
    );
    const changes = updates.map(({ change, state, generation }) => [change, state, generation]);
    expect(updates.map(({ generation }) => generation)).toEqual(updates.map((_, at) => at + 1));
    expect(changes.at(-1)?.slice(1)).toEqual([row?.state, row?.generation]);
    expect(updates.slice(0, -1).every(({ state }) => isOpenTask(state))).toBe(true);
    for (const member of [client, agent]) {
      const events = await readAllEvents(cluster.core, member);
      expect(changesIn(events.filter(({ data }) => data?.task?.id === id))).toEqual(changes);
    }
    const leases = await database.query<{ fencing_token: number }>(
      { text: `select fencing_token from inbox_items where task_id = $1 and state = 'leased'` },
      [id],
    );
    const tokens = leases.map(({ fencing_token }) => fencing_token);
    if (row?.lease_token !== null) expect(tokens).toContain(row?.lease_token);
    if (tokens.length > 0) expect(row?.state).not.toBe('submitted');
    return changes.length;
  }

  return { cluster, database, post, openTask, checkTask };
}

type Cluster = Awaited<ReturnType<typeof startCluster>>;

test('a process that is killed at any point leaves no task in a state without its cause', async () => {
  const { cluster, post, openTask, checkTask } = await startCluster();
  for (let round = 0; round < kills; round += 1) {
    const doomed = await cluster.startApi();
    const task = await openTask();
    const { client, agent, id, thread_id } = task;
    const inbox = inboxOf(`${doomed.url}/v1`, agent);
    const claimAndRelease = async () => {
      const { body } = await inbox.claim({ max: 5 });
      for (const lease of body.leases) await inbox.release(lease.id);
    };
    const messages = `/threads/${thread_id}/messages`;
    const requests = [
      claimAndRelease(),
      post(doomed.url, agent.token, `/tasks/${id}/update`, { state: 'input_required', message: 'Which?' }),
      post(doomed.url, client.token, messages, { content: 'this one' }),
      post(doomed.url, agent.token, `/tasks/${id}/update`, { state: 'working', message: 'half' }),
      post(doomed.url, agent.token, messages, { content: 'the answer' }),
    ];
    let answered = 0;
    let reached = () => {};
    const isDue = new Promise<void>((resolve) => (reached = resolve));
    const count = () => {
      if ((answered += 1) >= answeredBefore(round)) reached();
    };
    const all = requests.map((request: Promise<unknown>) => request.then(count, count));
    if (answeredBefore(round) > 0) await isDue;
    await doomed.kill9();
    await Promise.all(all);
    expect(await checkTask(task)).toBeGreaterThan(0);
  }
});

/** What moves a task, through a process. */
const actions: Record<string, (post: Cluster['post'], url: string, task: Task) => Promise<unknown>> = {
  reply: (post, url, { agent, thread_id }) =>
    post(url, agent.token, `/threads/${thread_id}/messages`, { content: 'Tomorrow.' }),
  report: (post, url, { agent, id }) =>
    post(url, agent.token, `/tasks/${id}/update`, { state: 'completed', message: 'Tomorrow.' }),
  cancel: (post, url, { client, id }) => post(url, client.token, `/tasks/${id}/cancel`, {}),
  claim: (_post, url, { agent }) => inboxOf(`${url}/v1`, agent).claim(),
  question: (post, url, { client, agent, thread_id }) =>
    post(url, client.token, '/tasks', { thread_id, with_handle: agent.handle, content: 'Where?' }),
};

/** A process is killed while it waits to write one of these tables. */
const tables = ['tasks', 'task_updates', 'task_messages', 'messages', 'events', 'feed', 'inbox_items'];

test.each(Object.entries(actions))(
  'a process that is killed at any write of a change leaves all of it, or nothing: %s',
  async (_name, act) => {
    const { cluster, database, post, openTask, checkTask } = await startCluster();
    const count = async (text: string) => (await database.query({ text }, [])).length;
    let killed = 0;
    for (const table of tables) {
      const [doomed, task] = await Promise.all([cluster.startApi(), openTask()]);
      const holder = new pg.Client({ connectionString: cluster.env['DATABASE_URL'] });
      await holder.connect();
      await holder.query(`begin; lock table ${table} in exclusive mode`);
      let isAnswered = false;
      const setAnswered = () => void (isAnswered = true);
      const request = act(post, doomed.url, task).then(setAnswered, setAnswered);
      const blocked = async () => isAnswered || (await count('select from pg_locks where not granted')) > 0;
      await expect.poll(blocked).toBe(true);
      if (!isAnswered) killed += 1;
      await doomed.kill9();
      await request;
      await holder.end();
      const running = `select from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`;
      await expect.poll(() => count(running)).toBe(0);
      await checkTask(task);
    }
    expect(killed).toBeGreaterThan(2);
  },
);
