import { expect, test, vi } from 'vitest';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { startTestAgent } from '../../support/a2a/test-agent.ts';
import { stopAfterTest, use } from '../../support/use.ts';
import { findActsFolder, readTests } from './acts/documents.ts';
import { startCallbackReceiver } from './acts/receiver.ts';
import { findUnused, report } from './acts/report.ts';
import { runAll } from './acts/run-all.ts';
import { readPath } from './acts/values.ts';
import { type Binding, connectWire } from './acts/wire.ts';
import { startA2aCluster } from './cluster.ts';

// Three processes start, and some tests wait for callbacks that are repeated.
vi.setConfig({ testTimeout: 240_000 });

const { folder, missing } = findActsFolder();

describeUnless(missing, 'the conformance tests of the A2A project', () => {
  const cluster = use(startA2aCluster);
  const receiver = use(startCallbackReceiver);

  /** Runs everything over one binding. */
  async function run(binding: Binding) {
    const errors: unknown[] = [];
    const subject = await cluster.agent();
    stopAfterTest(startTestAgent({ url: cluster.url, auth: subject.token }, (error) => errors.push(error)));
    const connect = async () => {
      const { token } = await cluster.agent();
      return connectWire(binding, cluster.addressOf(subject), { Authorization: `Bearer ${token}` });
    };
    const [wire, other] = await Promise.all([connect(), connect()]);
    const { body: card } = await wire.call('get_agent_card', {});
    const { body: sent } = await other.call('send_message', {
      message: { role: 'ROLE_USER', parts: [{ text: 'tck-complete-task for another client' }] },
    });
    // Every other read scope includes the one of the extended card.
    const stranger = await cluster.agent({ scopes: ['realtime:read'] });
    const variables = {
      insufficientAuthToken: stranger.token,
      otherUserTaskId: String(readPath(sent, 'task.id')[0]),
    };
    const results = await runAll(await readTests(folder), { wire, card, variables, receiver });
    return { results, errors };
  }

  test('every test passes, or is excluded and fails', async () => {
    const used = new Set<string>();
    const faults: unknown[] = [];
    for (const binding of ['jsonrpc', 'rest'] as const) {
      const { results, errors } = await run(binding);
      const one = report(binding, results, used);
      process.stdout.write(`\n${one.counts}\n`);
      faults.push(...one.faults, ...errors);
    }
    expect(faults).toEqual([]);
    expect(findUnused(used)).toEqual([]);
  });
});
