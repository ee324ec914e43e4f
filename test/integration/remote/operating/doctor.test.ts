import { expect, test } from 'vitest';
import { runCli } from '../../../clients/cli.ts';
import { startRemoteServer } from '../../../support/a2a/remote-server.ts';
import { useInstallation } from '../setup.ts';

const service = useInstallation();

async function checkRemote(env: Record<string, string> = {}) {
  const { REMOTE_AGENTS, REMOTE_NETWORKS, PUBLIC_URL } = service.core.config;
  expect([REMOTE_AGENTS, REMOTE_NETWORKS.length]).toEqual([true, 1]);
  const remote = { REMOTE_AGENTS: 'true', REMOTE_NETWORKS: '127.0.0.0/8', PUBLIC_URL };
  const { out } = await runCli({ ...service.env, ...remote, ...env }, ['doctor', '--json']);
  const { checks } = JSON.parse(out) as { checks: { part: string }[] };
  return checks.find(({ part }) => part === 'remote');
}

test('doctor connects to the hosts of the agents of other systems, and to its own address', async () => {
  const { PUBLIC_URL } = service.core.config;
  expect(await checkRemote({ REMOTE_AGENTS: 'false' })).toMatchObject({
    status: 'ok',
    detail: 'not allowed',
  });
  expect(await checkRemote()).toMatchObject({ status: 'ok', detail: 'none' });

  const [first, second] = [await startRemoteServer(), await startRemoteServer()];
  const ann = await service.agent();
  await service.addRemote(ann, { card_url: first.cardUrl, handle: 'first' });
  await service.addRemote(ann, { card_url: second.cardUrl, handle: 'second' });
  expect(await checkRemote()).toMatchObject({
    status: 'ok',
    detail: `2 of 2 hosts reached; they can call back at ${PUBLIC_URL}`,
  });
  expect(await checkRemote({ PUBLIC_URL: 'http://127.0.0.1:9' })).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/^2 of 2 hosts reached; http:\/\/127\.0\.0\.1:9 is not reached .* polled$/),
  });

  await first.close();
  expect(await checkRemote()).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/^1 of 2 hosts reached \(127\.0\.0\.1:\d+: the connection was refused/),
  });
  await second.close();
  expect(await checkRemote()).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/^no host can be reached/),
    advice: expect.stringMatching(/REMOTE_NETWORKS/),
  });
  // Without the setting, addresses of this machine are not allowed.
  expect(await checkRemote({ REMOTE_NETWORKS: '' })).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/REMOTE_NETWORKS/),
  });
});
