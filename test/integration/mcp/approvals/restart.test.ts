import { system } from '../../../../packages/core/src/domain/auth/audit.ts';
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { startApi } from '../../../../src/api.ts';
import { compose } from '../../../../src/compose.ts';
import { loadConfig } from '../../../../src/config.ts';
import { createLifecycle } from '../../../../src/start/lifecycle.ts';
import { requestRest } from '../../../clients/rest.ts';
import { buildAgent, allTestScopes, createTestSettings, issueTokenFor } from '../../../support/service.ts';
import { registerAgentAsOperator } from '../../../../src/services/agents/operator-registration.ts';
import { type ElicitingClient, connectElicitingClient } from '../../../clients/mcp/eliciting-client.ts';
import { stopAfterTest, use } from '../../../support/use.ts';

type Api = Awaited<ReturnType<typeof startOne>>;
const settings = use(() => createTestSettings('postgres'));

async function startOne() {
  const core = compose(loadConfig(settings.env), 'test');
  const lifecycle = createLifecycle(core.logger);
  const { port } = await startApi(core, lifecycle);
  return { core, url: `http://127.0.0.1:${port}`, stop: () => lifecycle.stop('the test is over') };
}

/** The addresses are changed in place, as a balancer learns of new processes. */
async function restart(apis: Api[], urls: string[]): Promise<void> {
  const old = apis.splice(0);
  apis.push(await startOne(), await startOne());
  urls.splice(0, urls.length, ...apis.map(({ url }) => url));
  await Promise.all(old.map((api) => api.stop()));
}

test('a connected client outlives a restart of every process, with a question open', async () => {
  const apis = [await startOne(), await startOne()];
  onTestFinished(async () => {
    await Promise.all(apis.map((api) => api.stop()));
  });
  const urls = apis.map(({ url }) => url);
  const { core } = apis[0] ?? (await startOne());
  const owner = `o${randomUUID().slice(0, 8)}`;
  const add = (handle: string) =>
    core.unitOfWork.write(system, (work) => registerAgentAsOperator(work, { handle, create_owner: true }));
  await add(`${owner}.asker`);
  await add(`${owner}.decider`);
  const stranger = await buildAgent(core);
  const decider = await issueTokenFor(core, `${owner}.decider`, {
    scopes: [...allTestScopes, 'approvals:write'],
  });
  const token = await issueTokenFor(core, `${owner}.asker`, { audience: 'mcp' });
  const client: ElicitingClient = stopAfterTest(
    await connectElicitingClient(urls, token, {
      ways: {},
      answer: (_params, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ action: 'cancel' }));
        }),
    }),
  );

  const call = client.call('request_contact', { handle: stranger.handle });
  await expect.poll(() => client.questions.length).toBe(1);
  await restart(apis, urls);
  const { error } = await call;
  expect(error).toMatchObject({
    code: 'APPROVAL_REQUIRED',
    approval_url: expect.stringContaining('/console/approvals/apr_'),
  });

  // The owner decides over REST, through another agent; the client continues in its session.
  const decided = await requestRest(
    'POST',
    `${urls[0]}/v1/approvals/${String(error['approval_id'])}/approve`,
    {
      token: decider,
    },
  );
  expect([decided.status, decided.body]).toMatchObject([200, { state: 'approved' }]);
  const done = await client.call('request_contact', { handle: stranger.handle });
  expect(done).toMatchObject({ isError: false, value: { to: { canonical_handle: stranger.handle } } });
  expect(client.questions).toHaveLength(1);
});
