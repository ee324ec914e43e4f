import { expect, onTestFinished, test, vi } from 'vitest';
import { type LightSocket, openLightSocket } from '../../../bench/load/light-socket.ts';
import { requestRest } from '../../clients/rest.ts';
import { parseMetrics } from '../../integration/ops/scrape.ts';
import { startConversation, startTestCluster } from '../../support/cluster/cluster.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { limitFiles, missingLimitsReason } from './process-limits.ts';

const files = 300;

describeUnless(missingLimitsReason, 'an API process with few open files', () => {
  test('refuses WebSockets with 503, serves all other calls, and keeps files for lost database connections', async () => {
    const cluster = await startTestCluster('redis');
    const api = await cluster.startApi(limitFiles(files));
    const talk = await startConversation(cluster.core, api.url);
    const { token } = talk.members[0];
    const open: LightSocket[] = [];
    const refusals: string[] = [];
    const lost: Error[] = [];
    onTestFinished(() => open.forEach((socket) => socket.close()));
    const connect = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          openLightSocket({
            base: api.url,
            path: '/ws',
            token,
            awaitReady: true,
            onFrame: () => undefined,
            onLost: (error) => void lost.push(error),
          }).then(
            (socket) => open.push(socket),
            (error: Error) => refusals.push(error.message),
          ),
        ),
      );
    const send = async () => {
      const path = `${api.url}/v1/threads/${talk.thread_id}/messages`;
      return (await requestRest('POST', path, { token, body: { content: 'Hello' } })).status;
    };

    for (let waves = 0; waves < 5; waves += 1) await connect(files / 5);
    expect(open.length).toBeGreaterThan(files / 2);
    expect(open.length).toBeLessThan(files);
    expect(refusals.length).toBeGreaterThan(0);
    for (const refusal of refusals) expect(refusal).toMatch(/ 503 [^]*Retry-After: 1/);
    expect(api.log()).toMatch(/"level":40.*refuses WebSockets: \d+ connections.*ulimit -n/);
    expect(await send()).toBe(201);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    const { value } = parseMetrics(await (await fetch(`${api.url}/metrics`)).text());
    // The alert FilesExhausted.
    expect((value('process_open_fds') ?? 0) / (value('process_max_fds') ?? 0)).toBeGreaterThan(0.7);

    const endSessions = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await cluster.core.database.query({ text: endSessions }, []).catch(() => undefined);
    await connect(files / 3);
    await vi.waitFor(async () => expect(await send()).toBe(201), { timeout: 20_000, interval: 100 });
    expect(lost).toEqual([]);

    open.splice(0, files / 3).forEach((socket) => socket.close());
    const before = open.length;
    await vi.waitFor(() => connect(1).then(() => expect(open.length).toBeGreaterThan(before)), 20_000);
  });
});
