import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../../src/config.ts';
import { runCli } from '../../../clients/cli.ts';
import { requestRest } from '../../../clients/rest.ts';
import { useSharedService } from '../../../support/service.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../package.json'), 'utf8'));

const service = useSharedService();

test('the service, its documents and its command line report the version of package.json', async () => {
  const meta = await service.get(null, '/meta');
  expect(meta).toMatchObject({ status: 200, body: { name: 'agent-messaging-service', version } });
  for (const name of ['openapi.json', 'openapi-long-paths.json', 'asyncapi.json'])
    expect((await service.get(null, `/${name}`)).body.info.version, name).toBe(version);
  expect(await runCli({}, ['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
  // Also of the User-Agent of webhooks, and of metrics and traces.
  expect(loadConfig(service.env).VERSION).toBe(version);
});

test('pages of other origins can read the version, and nothing else', async () => {
  const head = await requestRest('HEAD', `${service.api}/meta`);
  expect([head.status, head.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  expect((await service.post(null, '/meta')).status).toBe(404);
});
