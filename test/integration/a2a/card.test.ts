import { textContent } from 'domutils';
import { expect, test } from 'vitest';
import { a2aCardSchema } from '../../../src/presenters/a2a/card-schema.ts';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { expectValidA2a } from '../../support/a2a/expect-valid.ts';
import { maskResponse } from '../../support/mask-response.ts';
import { outcomeOf, requestRest } from '../../clients/rest.ts';
import { signInPerson } from '../console/signed-in-person.ts';
import { startService, useSharedService } from '../../support/service.ts';

const service = useSharedService();

const cardUrl = (handle: string, url = service.url) =>
  `${url}/a2a/${handle.replace('.', '/')}/.well-known/agent-card.json`;
const readCard = (handle: string, token?: string) => requestRest('GET', cardUrl(handle), { token });

test('the card of a public agent says how to reach it', async () => {
  const agent = await service.agent();
  const { handle } = agent;
  const [owner = ''] = handle.split('.');
  const skills = [{ name: 'plan', description: 'Makes plans.' }];
  await service.patch(agent, '/agents/me', { display_name: 'The Planner', description: 'Plans.', skills });
  const { status, body } = await readCard(handle);
  expect(status).toBe(200);
  expectValidA2a('AgentCard', body);
  const card = a2aCardSchema.parse(body);
  const url = `http://localhost:3000/a2a/${handle.replace('.', '/')}`;
  expect(card).toMatchObject({
    name: 'The Planner',
    description: 'Plans.',
    provider: { url: 'http://localhost:3000', organization: owner },
    documentationUrl: `http://localhost:3000/v1/agents/${handle.replace('.', '/')}/card`,
    skills: [{ id: 'plan', name: 'plan', description: 'Makes plans.', tags: ['plan'] }],
  });
  expect(card.supportedInterfaces).toEqual([
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: url.replace('/a2a/', '/a2a/v0.3/'), protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ]);
  expect((await readCard(`@${handle.toUpperCase()}`)).body).toEqual(body);
});

test('an agent without a description and skills has a valid card', async () => {
  const { handle } = await service.agent();
  const { body } = await readCard(handle);
  expectValidA2a('AgentCard', body);
  expect(a2aCardSchema.parse(body).skills.map(({ id }) => id)).toEqual(['conversation']);
  expect(body.description).toBe(`An agent of ${handle.split('.')[0]}.`);
});

test('absent, private, blocked and retired agents, and invalid handles have the same answer', async () => {
  const [secret, ann, eve] = await Promise.all([
    service.agent({ visibility: 'private' }),
    service.agent({ visibility: 'private', scopes }),
    service.agent({ scopes }),
  ]);
  const gone = await service.agent({ scopes });
  await service.delete(gone, `/agents/${gone.id}`);
  expect((await service.post(ann, '/blocks', { handle: eve.handle })).status).toBe(201);
  const hidden = [secret.handle, ann.handle, gone.handle, 'absent.agent', '-.-'];
  for (const token of [undefined, eve.token]) {
    const answers = await Promise.all(hidden.map((handle) => readCard(handle, token)));
    expect(answers.map(outcomeOf)).toEqual(hidden.map(() => '404 AGENT_NOT_FOUND'));
    expect(new Set(answers.map((answer) => maskResponse(answer))).size).toBe(1);
    expect(answers[0]?.headers.get('cache-control')).toBe('no-store');
  }
});

test('without a token, every address below an agent is the same 401, except the card', async () => {
  const hidden = await service.agent({ visibility: 'private' });
  const handles = [(await service.agent()).handle, hidden.handle, 'absent.agent'];
  const both = ['', '/', '/tasks', '/nothing', '/.well-known', '/.well-known/other'];
  const addresses = [
    ...[...both, '/.well-known/agent.json', '/.well-known/agent-card.json/more'].map((path) => [
      '/a2a',
      path,
    ]),
    ...both.map((path) => ['/a2a/v0.3', path]),
  ];
  for (const [prefix, below] of addresses) {
    const answers = await Promise.all(
      handles.map((handle) =>
        requestRest('GET', `${service.url}${prefix}/${handle.replace('.', '/')}${below}`),
      ),
    );
    expect(
      answers.map(({ status }) => status),
      `${prefix} ${below}`,
    ).toEqual([401, 401, 401]);
    expect(new Set(answers.map((answer) => maskResponse(answer))).size).toBe(1);
  }
});

test('other methods are 405 with Allow, in the form of the binding', async () => {
  const { handle, token } = await service.agent();
  const cases: [method: string, path: string, allow: string][] = [
    ['GET', '', 'POST'],
    ['DELETE', '/', 'POST'],
    ['GET', '/message:send', 'POST'],
    ['PUT', '/tasks', 'GET'],
    ['OPTIONS', '/tasks/tsk_none', 'GET'],
    ['DELETE', '/tasks/tsk_none:subscribe', 'POST, GET'],
    ['PATCH', '/tasks/tsk_none/pushNotificationConfigs', 'POST, GET'],
    ['POST', '/.well-known/agent-card.json', 'GET, HEAD'],
  ];
  for (const [method, path, allow] of cases) {
    const answer = await requestRest(method, `${service.url}/a2a/${handle.replace('.', '/')}${path}`, {
      token,
      headers: { 'A2A-Version': '1.0' },
    });
    expect([answer.status, answer.headers.get('allow')], path).toEqual([405, allow]);
    const { error } = JSON.parse(answer.text);
    if (path.length < 2) expectValidA2a('JsonRpcError', error);
    else if (allow !== 'GET, HEAD') {
      expectValidA2a('HttpError', { error });
      expect([error.code, error.status]).toEqual([405, 'UNIMPLEMENTED']);
    }
  }
  const legacy = await requestRest('GET', `${service.url}/a2a/v0.3/${handle.replace('.', '/')}/tasks`, {
    token,
  });
  expect([legacy.status, JSON.parse(legacy.text).error.status]).toEqual([404, 'NOT_FOUND']);
});

test('a card may be cached, and is 304 if it is unchanged', async () => {
  const agent = await service.agent({ scopes });
  const first = await readCard(agent.handle);
  expect(first.headers.get('cache-control')).toBe('public, max-age=300');
  expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const etag = first.headers.get('etag') ?? '';
  const again = () => fetch(cardUrl(agent.handle), { headers: { 'If-None-Match': etag } });
  const same = await again();
  expect([same.status, await same.text(), same.headers.get('etag')]).toEqual([304, '', etag]);
  await service.patch(agent, '/agents/me', { description: 'Changed.' });
  expect((await again()).status).toBe(200);
  const head = await fetch(cardUrl(agent.handle), { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('with a token, an agent has the cards of the agents that it may see', async () => {
  const ann = await service.agent({ visibility: 'private', scopes });
  const own = await readCard(ann.handle, ann.token);
  expect(own.status, own.text).toBe(200);
  expectValidA2a('AgentCard', own.body);
  expect(own.headers.get('cache-control')).toBe('private, max-age=300');
  const poor = await service.token(ann.handle, { scopes: ['realtime:read'] });
  expect(outcomeOf(await readCard(ann.handle, poor))).toBe('403 INSUFFICIENT_SCOPE');
  const open = await service.agent();
  expect((await readCard(open.handle, poor)).status).toBe(200);
  const invalid = await readCard(open.handle, 'invalid');
  expect(outcomeOf(invalid)).toBe('401 UNAUTHORIZED');
  expect(invalid.headers.get('www-authenticate')).toContain('resource_metadata="http://localhost:3000/v1/');
});

test('calls without a token are limited by address, others by agent', async () => {
  const limited = await startService({ env: { RATE_LIMITS: 'public=2/60,default=1/60' }, worker: false });
  try {
    const agent = await limited.agent();
    const read = (token?: string) => requestRest('GET', cardUrl(agent.handle, limited.url), { token });
    const answers = [
      await read(),
      await read(agent.token),
      await read(),
      await read(agent.token),
      await read(),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expect(answers[0]?.headers.get('ratelimit')).toMatch(/^"public";r=1;/);
  } finally {
    await limited.stop();
  }
});

test('the media types of files are those that the service accepts', async () => {
  const { handle } = await service.agent();
  const texts = ['text/plain', 'text/markdown', 'application/json'];
  expect((await readCard(handle)).body.defaultInputModes).toEqual([...texts, '*/*']);
  const strict = await startService({ env: { ATTACHMENT_TYPES: 'image/png,text/plain' }, worker: false });
  try {
    const agent = await strict.agent();
    const { body } = await requestRest('GET', cardUrl(agent.handle, strict.url));
    expect(body.defaultInputModes).toEqual([...texts, 'image/png']);
    expect(body.defaultOutputModes).toEqual(texts);
  } finally {
    await strict.stop();
  }
});

test('the console shows the address of the card of an own agent', async () => {
  const ada = await signInPerson(service);
  const agent = await ada.agent();
  const [address] = (await ada.go(`/console/agents/${agent.id}/connect`)).elements('output');
  expect(textContent(address ?? [])).toBe(cardUrl(agent.handle, service.core.config.PUBLIC_URL));
});

test('A2A=false serves nothing under /a2a, and names no address', async () => {
  const off = await startService({ env: { A2A: 'false' }, worker: false });
  try {
    const { handle } = await off.agent();
    for (const path of ['', '/', '/message:send', '/.well-known/agent-card.json']) {
      const answer = await requestRest('GET', `${off.url}/a2a/${handle.replace('.', '/')}${path}`);
      expect(outcomeOf(answer)).toBe('404 NOT_FOUND');
    }
    expect((await requestRest('GET', `${off.url}/v1`)).text).not.toContain('a2a');
    const ada = await signInPerson(off);
    const page = await ada.go(`/console/agents/${(await ada.agent()).id}`);
    expect([page.status, page.text.includes('/a2a/')]).toEqual([200, false]);
  } finally {
    await off.stop();
  }
});
