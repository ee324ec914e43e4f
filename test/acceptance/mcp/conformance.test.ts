import { expect, onTestFinished, test, vi } from 'vitest';
import { type ConformanceRun, runConformance, listScoredScenarios } from '../../support/conformance/run.ts';
import { startMcpCluster, programWithFixtures } from './cluster.ts';

// Four processes start and some hundred requests are made: seconds alone, minutes on a machine that is busy.
vi.setConfig({ testTimeout: 240_000 });

const revision = '2025-11-25';

/** The scored scenarios for which a server need not bring anything. */
const withoutFixtures = [
  'dns-rebinding-protection',
  'logging-set-level',
  'ping',
  'prompts-list',
  'resources-list',
  'server-initialize',
  'server-sse-multiple-streams',
  'tools-list',
];

/** Has the suite judge two processes by a balancer; it sends no token, so the balancer does. */
async function runScenarios(cluster: Awaited<ReturnType<typeof startMcpCluster>>) {
  onTestFinished(async () => void (await cluster.stop()));
  const { token } = await cluster.agent({ audience: 'mcp' });
  const way = await cluster.by({ authorization: `Bearer ${token}` });
  const run = await runConformance(['server', '--url', `${way.url}/mcp`, '--requirements', revision]);
  const [one = 0, other = 0] = way.served();
  expect(Math.abs(one - other)).toBeLessThanOrEqual(1);
  return { ...run, passed: listPassed(run) };
}

/** The scenarios in which something was looked at and nothing was wrong. What was left out or warned of is not good enough. */
function listPassed({ scenarios }: ConformanceRun): string[] {
  const good = new Set(['SUCCESS', 'INFO']);
  return [...scenarios]
    .filter(([, checks]) => checks.length > 0 && checks.every(({ status }) => good.has(status)))
    .map(([name]) => name)
    .sort();
}

/** Of the suite's later additions, those that this service passes as well. */
const unscoredScenarios = ['json-schema-2020-12', 'server-session-lifecycle'];

test('all 30 scored scenarios pass with what they look for, whichever process a request reaches', async () => {
  const { code, passed: good, output } = await runScenarios(await startMcpCluster(programWithFixtures));
  const scored = await listScoredScenarios(revision);
  expect(scored).toHaveLength(30);
  expect(good, output).toEqual(expect.arrayContaining([...scored, ...unscoredScenarios]));
  expect(code, output).toBe(0);
});

test('the eight scenarios that need nothing brought pass on the service as it is', async () => {
  const { passed: good, output } = await runScenarios(await startMcpCluster());
  expect(good, output).toEqual(expect.arrayContaining(withoutFixtures));
});
