import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { readIfExists } from '../../../src/embedded/private-file.ts';
import { runCliJson } from '../../clients/cli.ts';
import { requestRest } from '../../clients/rest.ts';
import { isNightly } from '../../support/extent.ts';
import { buildAgent } from '../../support/service.ts';
import { isGone, createTemporaryFolder, readPostgresPid, runLauncher, waitUntil } from './setup.ts';

/** Two agents of the launched service with a thread. */
async function createThread(env: Record<string, string | undefined>) {
  const core = compose({ ...loadConfig(env), LOG_LEVEL: 'silent' }, 'test');
  const [ada, bob] = [await buildAgent(core), await buildAgent(core)];
  await core.close();
  const api = `${env['PUBLIC_URL']?.replace('localhost', '127.0.0.1')}/v1`;
  const { body } = await requestRest('POST', `${api}/threads`, {
    token: ada.token,
    body: { with_handle: bob.handle, initial_message: 'Hello' },
  });
  return { api, token: ada.token, thread_id: body.id as string };
}

type Thread = Awaited<ReturnType<typeof createThread>>;

const sendTo = ({ api, token, thread_id }: Thread, content: string) =>
  requestRest('POST', `${api}/threads/${thread_id}/messages`, {
    token,
    body: { content },
  });

/** Every message of the thread. */
async function readContents({ api, token, thread_id }: Thread): Promise<string[]> {
  const contents: string[] = [];
  for (;;) {
    const query = `order=asc&after_sequence=${contents.length}&limit=100`;
    const { body } = await requestRest('GET', `${api}/threads/${thread_id}/messages?${query}`, { token });
    if (body.messages.length === 0) return contents;
    contents.push(...body.messages.map(({ content }: { content: string }) => content));
  }
}

test('starts every part, serves, stops in order on Ctrl-C, and keeps every message that it acknowledged', async () => {
  const dataDir = createTemporaryFolder();
  const launcher = runLauncher(dataDir, { WEBHOOK_NETWORKS: '127.0.0.0/8' });
  await launcher.ready();
  const lines = launcher.out().trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual(
    'postgres queue blobs schema worker api ready'.split(' '),
  );
  const serviceFile = join(dataDir, 'service.env');
  const service = parseEnv(readFileSync(serviceFile, 'utf8'));
  expect(lines.at(-1)).toBe(`ready ${service['PUBLIC_URL']}`);
  expect(service['REDIS_URL']).toBeUndefined();
  expect(statSync(serviceFile).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600);

  // A command has the settings of the service.
  const command = { DATA_DIR: dataDir };
  await runCliJson(command, ['agent', 'create', 'ada.writer', '--create-owner']);
  const url = 'http://127.0.0.1:9/hook';
  expect(await runCliJson(command, ['webhook', 'create', 'ada.writer', '--url', url])).toMatchObject({ url });

  const thread = await createThread(service);
  const acknowledged: string[] = [];
  const stopped = new AbortController();
  const sending = [1, 2, 3, 4].map(async (lane) => {
    for (let number = 0; !stopped.signal.aborted; number += 1) {
      const content = `${lane}-${number}`;
      const status = await sendTo(thread, content).then(
        (answer) => answer.status,
        () => null,
      );
      if (status === 201) acknowledged.push(content);
    }
  });
  await waitUntil('some were sent', () => acknowledged.length >= 8);
  const server = readPostgresPid(dataDir);
  launcher.child.kill('SIGINT');
  launcher.child.kill('SIGINT'); // npm hands the same Ctrl-C on once more
  expect(await launcher.exited).toEqual({ code: 0, signal: null });
  stopped.abort();
  await Promise.all(sending);
  expect(isGone(server)).toBe(true);
  expect(readIfExists(serviceFile)).toBeNull();
  expect(readIfExists(join(dataDir, 'launcher.lock'))).toBeNull();
  expect(launcher.err()).toBe('');
  expect(launcher.out().trimEnd().split('\n').slice(lines.length)).toEqual(['stopped']);

  const again = runLauncher(dataDir, { PORT: service['PORT'] ?? '' });
  await again.ready();
  expect(await readContents(thread)).toEqual(expect.arrayContaining(acknowledged));
});

if (isNightly) {
  test('after kill -9 the next start takes over the server, its port and what was acknowledged', async () => {
    const dataDir = createTemporaryFolder();
    const first = runLauncher(dataDir);
    await first.ready();
    const service = parseEnv(readFileSync(join(dataDir, 'service.env'), 'utf8'));
    const thread = await createThread(service);
    expect((await sendTo(thread, 'kept')).status).toBe(201);
    const server = readPostgresPid(dataDir);
    const port = /postgres .*:(\d+),/.exec(first.out())?.[1];
    first.child.kill('SIGKILL');
    await first.exited;
    expect(isGone(server)).toBe(false);

    const second = runLauncher(dataDir, { PORT: service['PORT'] ?? '' });
    await second.ready();
    expect(isGone(server)).toBe(true);
    expect(readPostgresPid(dataDir)).not.toBe(server);
    expect(/postgres .*:(\d+),/.exec(second.out())?.[1]).toBe(port);
    expect(await readContents(thread)).toContain('kept');
  });
}
