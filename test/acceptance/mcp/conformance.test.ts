import { expect, test, vi } from 'vitest';
import { type ConformanceRun, runConformance, listScoredScenarios } from '../../support/conformance/run.ts';
import { type McpCluster, startMcpCluster } from './cluster.ts';
import { stopAfterTest, use } from '../../support/use.ts';

// Four processes start and make some hundred requests: seconds on an idle machine, minutes on a busy one.
vi.setConfig({ testTimeout: 240_000 });

/** With the fixtures of the suite. */
const cluster = use(() => startMcpCluster('conformance-api'));

/** The scored scenarios that need no fixtures in the server. */
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

/** Runs the suite against two processes through a balancer. The suite sends no token, so the balancer adds it. */
async function runScenarios(processes: McpCluster, revision = '2025-11-25') {
  const { token } = await processes.agent({ audience: 'mcp' });
  const way = await processes.by({ authorization: `Bearer ${token}` });
  const run = await runConformance(['server', '--url', `${way.url}/mcp`, '--requirements', revision]);
  const [one = 0, other = 0] = way.served();
  expect(Math.abs(one - other)).toBeLessThanOrEqual(1);
  return { ...run, passed: listPassed(run) };
}

/** The scenarios with at least one check and only successes. Skipped checks and warnings do not pass. */
function listPassed({ scenarios }: ConformanceRun): string[] {
  const good = new Set(['SUCCESS', 'INFO']);
  return [...scenarios]
    .filter(([, checks]) => checks.length > 0 && checks.every(({ status }) => good.has(status)))
    .map(([name]) => name)
    .sort();
}

/** The unscored scenarios that this service passes as well. */
const unscoredScenarios = ['json-schema-2020-12', 'server-session-lifecycle'];

/** The same for revision 2026-07-28. The suite skips the tenth one of the tasks at every server: it waits for its authors. */
const unscoredStateless = [
  'http-header-validation',
  'json-schema-2020-12',
  'tasks-capability-negotiation',
  'tasks-dispatch-and-envelope',
  'tasks-lifecycle',
  'tasks-mrtr-composition',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-request-state-removal',
  'tasks-required-task-error',
  'tasks-wire-fields',
];

/** The lists of tools and prompts never change, so the service does not say that it reports changes. */
const listChanges = [
  'sep-2575-server-sends-prompts-list-changed-on-subscription',
  'sep-2575-server-sends-tools-list-changed-on-subscription',
];

test('all 30 scored scenarios pass with their fixtures, whichever process a request reaches', async () => {
  const { code, passed: good, output } = await runScenarios(cluster);
  const scored = await listScoredScenarios('2025-11-25');
  expect(scored).toHaveLength(30);
  expect(good, output).toEqual(expect.arrayContaining([...scored, ...unscoredScenarios]));
  expect(code, output).toBe(0);
});

test('all 37 scored scenarios of 2026-07-28 pass with their fixtures, whichever process a request reaches', async () => {
  const revision = '2026-07-28';
  const run = await runScenarios(cluster, revision);
  const scored = await listScoredScenarios(revision);
  expect(scored).toHaveLength(37);
  const skipped = run.checks.filter(({ id, status }) => status === 'SKIPPED' && listChanges.includes(id));
  expect(skipped.map(({ id }) => id).sort()).toEqual(listChanges);
  const withoutChanges = scored.filter((name) => name !== 'server-stateless');
  expect(run.passed, run.output).toEqual(expect.arrayContaining([...withoutChanges, ...unscoredStateless]));
  const stateless = run.scenarios.get('server-stateless') ?? [];
  const others = stateless.filter(({ id }) => !listChanges.includes(id));
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set(['SUCCESS']));
  expect(run.scenarios.get('tasks-status-notifications')).toMatchObject([{ status: 'SKIPPED' }]);
  expect(run.code, run.output).toBe(0);
});

test('the eight scenarios without fixtures pass on the unmodified service', async () => {
  const unmodified = stopAfterTest(await startMcpCluster());
  const { passed: good, output } = await runScenarios(unmodified);
  expect(good, output).toEqual(expect.arrayContaining(withoutFixtures));
});
