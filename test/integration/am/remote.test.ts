import { expect, onTestFinished, test } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { runAm, tokenEnv } from '../../clients/am.ts';
import { startRemoteServer } from '../../support/a2a/remote-server.ts';
import { useService } from '../../support/service.ts';

const service = useService({ env: { REMOTE_NETWORKS: '127.0.0.0/8' } });

/** An agent with its command line. */
async function meet() {
  const ann = await service.agent({ scopes });
  const env = await tokenEnv(service.url, ann.token);
  const owner = ann.handle.split('.')[0] ?? '';
  const am = (args: string[], input?: string) => runAm(args, { env, ...(input !== undefined && { input }) });
  return { owner, am };
}

test('an agent of another system is added, listed, shown, read again and removed', async () => {
  const server = await startRemoteServer();
  onTestFinished(() => server.close());
  const { owner, am } = await meet();
  const handle = `${owner}.freight`;
  const added = await am(['remote', 'add', server.cardUrl, '--name', 'freight', '--bearer'], 'top-secret\n');
  expect(added).toEqual({ code: 0, err: '', out: `added ${handle}; its card is being read\n` });
  const line = `${handle} Remote Agent, waiting for a person to confirm it in the console\n`;
  await expect.poll(async () => (await am(['remote'])).out).toBe(line);
  const { out } = await am(['remote', 'show', handle]);
  const [record] = (await am(['remote', 'show', handle, '--json'])).out.split('\n');
  const { fingerprint, credential } = JSON.parse(record ?? '');
  expect(credential).toBe('bearer');
  for (const text of [
    line,
    `card: ${server.cardUrl}`,
    'provider: Example',
    'skills: answer',
    `messages go to: ${server.url}/a2a (JSONRPC 1.0)`,
    'signed by: nothing',
    `fingerprint: ${fingerprint}`,
  ])
    expect(out).toContain(text);
  server.changeCard({ name: 'Another Agent' });
  expect((await am(['remote', 'refresh', handle])).code).toBe(0);
  await expect.poll(async () => (await am(['remote'])).out).toContain('Another Agent');
  expect((await am(['remote', 'remove', handle])).out).toBe(`removed ${handle}\n`);
  expect((await am(['remote'])).out).toBe('');
});

test('wrong usage and refusals have their exit codes', async () => {
  const { am } = await meet();
  expect((await am(['remote', 'add', 'https://agent.example', '--bearer', '--client-id', 'x'])).code).toBe(2);
  expect((await am(['remote', 'show', 'acme.absent'])).code).toBe(5);
  const refused = await am(['remote', 'add', 'https://10.0.0.1/']);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain('card_url');
});
