import { expect, test } from 'vitest';
import { requestRest } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();

const ask = ({ token }: TestAgent, method: string, path: string, body?: object) =>
  requestRest(method, `${service.api}${path}`, { token, ...(body && { body }) });

test('the allowlist of me is the allowlist, by its entries', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const path = '/agents/me/allowlist';
  expect((await ask(ann, 'GET', path)).body.entries).toEqual([]);
  const added = await ask(ann, 'POST', path, { entries: [`@${bob.handle}`, 'globex.*', bob.handle] });
  const entries = [bob.handle, 'globex.*'].toSorted();
  expect([added.status, added.body]).toEqual([200, { entries }]);
  const listed = await ask(ann, 'GET', path);
  expect([listed.status, listed.body]).toEqual([200, { entries }]);
  const { allowlist } = (await ask(ann, 'GET', '/allowlist')).body;
  expect(allowlist.map(({ entry }: { entry: string }) => entry)).toEqual(entries);
  const removed = await ask(ann, 'DELETE', `${path}/${encodeURIComponent('globex.*')}`);
  expect([removed.status, removed.body]).toEqual([200, { entries: [bob.handle] }]);
  expect((await ask(ann, 'DELETE', `${path}/globex.desk`)).body.error.code).toBe('NOT_FOUND');
  const last = await ask(ann, 'DELETE', `/allowlist/${bob.handle}`);
  expect([last.status, last.text]).toEqual([204, '']);
});

test('entries are added together or not at all', async () => {
  const ann = await service.agent();
  for (const entries of [
    ['globex.*', 'no handle'],
    [],
    Array.from({ length: 101 }, (_, index) => `o${index}.*`),
  ]) {
    expect((await ask(ann, 'POST', '/agents/me/allowlist', { entries })).status).toBe(400);
  }
  expect((await ask(ann, 'GET', '/agents/me/allowlist')).body.entries).toEqual([]);
  expect((await ask(ann, 'PUT', '/agents/me/allowlist', {})).status).toBe(405);
});

test('the blocks of me are the blocks', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const path = '/agents/me/blocks';
  const blocked = await ask(ann, 'POST', path, { handle: bob.handle });
  expect([blocked.status, blocked.body.blocked_handle]).toEqual([201, bob.handle]);
  const listed = await ask(ann, 'GET', `${path}?limit=50`);
  expect(listed.body).toEqual({ blocks: [blocked.body] });
  expect((await ask(ann, 'GET', `${path}?foo=1`)).status).toBe(400);
  expect((await ask(ann, 'DELETE', `${path}/${bob.handle}`)).status).toBe(204);
  expect((await ask(ann, 'DELETE', `${path}/${bob.handle}`)).body.error.code).toBe('NOT_FOUND');
  expect((await ask(ann, 'GET', '/blocks')).body).toEqual({ blocks: [] });
});

test('a search also has people and organizations, on its first page', async () => {
  const ann = await service.agent({ scopes: ['agents:read'], visibility: 'public' });
  const owner = ann.handle.split('.')[0] ?? '';
  const [search, directory] = [
    await ask(ann, 'GET', `/search?q=${owner}&limit=1`),
    await ask(ann, 'GET', `/search/directory?q=${owner}&limit=1`),
  ];
  expect(search.status).toBe(200);
  expect(search.body.people).toEqual([{ username: owner, display_name: owner }]);
  const { people, organizations } = directory.body;
  expect(search.body).toMatchObject({ people, organizations, contacts: [] });
});

test('the start address and that of the API name every other address to programs', async () => {
  const answers = await Promise.all(
    ['/v1', '/'].map((path) => requestRest('GET', `${service.url}${path}`, { headers: { Accept: '*/*' } })),
  );
  const base = service.core.config.PUBLIC_URL;
  const path = (await service.agent()).handle.replace('.', '/');
  for (const { status, headers, body } of answers) {
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toMatchObject({
      name: 'agent-messaging-service',
      version: service.core.config.VERSION,
      links: {
        mcp: `${base}/mcp`,
        a2a_card: `${base}/a2a/{owner}/{agent_name}/.well-known/agent-card.json`,
        openapi: `${base}/v1/openapi.json`,
        guide: `${base}/docs/guide`,
        reference: `${base}/docs`,
        console: `${base}/console`,
      },
    });
    const served = Object.values(body.links as Record<string, string>).filter((link) =>
      /json$|docs|server$/.test(link),
    );
    for (const link of served) {
      const address = link.replace(base, service.url).replace('{owner}/{agent_name}', path);
      expect([link, (await fetch(address)).status]).toEqual([link, 200]);
    }
  }
  const page = await fetch(service.url, { headers: { Accept: 'text/html' }, redirect: 'manual' });
  expect(page.headers.get('content-type')).not.toContain('json');
  expect((await service.get(null, '?x=1')).status).toBe(400);
});
