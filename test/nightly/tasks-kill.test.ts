import { expect, onTestFinished, test, vi } from 'vitest';
import { isOpenTask, type TaskState } from '../../packages/core/src/domain/tasks.ts';
import { readAllEvents } from '../clients/feed.ts';
import { requestRest } from '../clients/rest.ts';
import { inboxOf } from '../integration/inbox/setup.ts';
import { changesIn } from '../integration/tasks/setup.ts';
import { startServiceCluster } from '../support/cluster/cluster.ts';
import { buildAgent } from '../support/service.ts';

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

test('a process that is killed at any point leaves no task in a state without its cause', async () => {
  const cluster = await startServiceCluster('postgres');
  onTestFinished(() => cluster.stop());
  const other = await cluster.startApi();
  const post = (url: string, token: string, path: string, body: object) =>
    requestRest('POST', `${url}/v1${path}`, { token, body });

  for (let round = 0; round < kills; round += 1) {
    const doomed = await cluster.startApi();
    const [client, agent] = await Promise.all([buildAgent(cluster.core), buildAgent(cluster.core)]);
    await inboxOf(`${other.url}/v1`, agent).turnOn({ lease_seconds: 600, max_attempts: 100 });
    const question = { with_handle: agent.handle, content: `question ${round}` };
    const { body: task } = await post(other.url, client.token, '/tasks', question);
    const { id, thread_id } = task;
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

    const [row] = await cluster.core.database.query<TaskRow>(
      { text: 'select state, generation, lease_token from tasks where id = $1' },
      [id],
    );
    const updates = await cluster.core.database.query<TaskRow & { change: string }>(
      { text: 'select change, state, generation from task_updates where task_id = $1 order by generation' },
      [id],
    );
    const changes = updates.map(({ change, state, generation }) => [change, state, generation]);
    expect(updates.map(({ generation }) => generation)).toEqual(updates.map((_, at) => at + 1));
    expect(changes.at(-1)?.slice(1)).toEqual([row?.state, row?.generation]);
    expect(updates.slice(0, -1).every(({ state }) => isOpenTask(state))).toBe(true);
    for (const member of [client, agent]) {
      const events = await readAllEvents(cluster.core, member);
      expect(changesIn(events)).toEqual(changes);
    }
    const leases = await cluster.core.database.query<{ fencing_token: number }>(
      { text: `select fencing_token from inbox_items where task_id = $1 and state = 'leased'` },
      [id],
    );
    const tokens = leases.map(({ fencing_token }) => fencing_token);
    if (row?.lease_token !== null) expect(tokens).toContain(row?.lease_token);
    if (tokens.length > 0) expect(row?.state).not.toBe('submitted');
  }
});
