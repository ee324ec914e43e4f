import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { maskResponse } from '../../../support/mask-response.ts';
import { connectSdkClient } from '../../../clients/mcp/client.ts';
import { outcomeOf, requestRest, type RestResponse } from '../../../clients/rest.ts';
import {
  type AgentOptions,
  startService,
  type TestAgent,
  useSharedService,
} from '../../../support/service.ts';

const service = useSharedService();

interface Profile {
  display_name?: string;
  description?: string;
  card_body?: string;
  skills?: { name: string; description: string }[];
}

async function agentWith(profile: Profile, options: AgentOptions = {}): Promise<TestAgent> {
  const agent = await service.agent({ scopes, ...options });
  expect((await service.patch(agent, '/agents/me', profile)).status).toBe(200);
  return agent;
}

const addressOf = (handle: string) => `${service.api}/agents/${handle.replace('.', '/')}/card`;

function card(handle: string, accept = '*/*', token?: string): Promise<RestResponse> {
  return requestRest('GET', addressOf(handle), { token, headers: { Accept: accept } });
}

/** The two parts of a card document. */
function partsOf(text: string): { front: unknown; body: string } {
  const [, yaml = '', body = ''] = /^---\n([^]*?\n)---\n\n([^]*)$/.exec(text) ?? [];
  return { front: parse(yaml), body };
}

test('a public card is Markdown with front matter for every caller', async () => {
  const profile = {
    display_name: 'The Planner',
    description: 'Plans.',
    card_body: '# Hello\n\nI *plan*.',
    skills: [{ name: 'plan', description: 'Makes plans.' }],
  };
  const { handle, token } = await agentWith(profile);
  const { card_body, ...front } = profile;
  for (const accept of ['*/*', 'text/markdown', 'text/*', 'text/html;q=0.5, text/markdown']) {
    const answer = await card(handle, accept);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(answer.headers.get('vary')).toBe('Accept');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=60');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(partsOf(answer.text)).toEqual({ front: { handle, ...front }, body: `${card_body}\n` });
  }
  const poor = await service.token(handle, { scopes: [] });
  for (const known of [token, poor, (await service.agent()).token]) {
    expect((await card(`@${handle.toUpperCase()}`, '*/*', known)).status).toBe(200);
  }
});

test('a browser gets a page that loads and runs nothing', async () => {
  const { handle } = await agentWith({
    display_name: 'A <b>',
    card_body: '# Title\n\n[link](https://example.com)',
  });
  const page = await card(handle, 'text/html,application/xhtml+xml,*/*;q=0.8');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('vary')).toBe('Accept');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; /,
  );
  expect(policy).not.toContain('unsafe');
  expect(page.text).toContain('<h1>A &lt;b&gt;</h1>');
  expect(page.text).toContain(
    '<a href="https://example.com" rel="nofollow noopener noreferrer" target="_blank">link</a>',
  );
  // The sign-in leads back to the form, with the handle filled in.
  expect(page.text).toContain(`<a class="write" href="/console/conversations/new?handle=${handle}">`);
  const body = await card(handle, 'text/html');
  expect(body.text).toBe(page.text);
});

test('nothing hostile in a card survives', async () => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg/onload=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](java&#10;script:alert(1)) [d](&#x6A;avascript:alert(1))',
    '[e](data:text/html;base64,PHNjcmlwdD4=) [f](vbscript:x) [g](//evil.example) [h](/console/agents) [i](?x)',
    '![j](https://evil.example/pixel.png) ![<script>](x "onerror=\'x\'") ![k](data:image/svg+xml;base64,PHN2Zz4=)',
    '<https://fine.example/"onclick="x> <javascript:alert(1)>',
    '[l](https://fine.example/"onmouseover="alert(1)) [m](<https://fine.example/a b" onclick="x>)',
    '<style>body{display:none}</style><iframe src=//evil.example></iframe><base href=//evil.example>',
    '```"><script>alert(1)</script>\n</code></pre><script>alert(2)</script>\n```',
    '<!-- --><meta http-equiv=refresh content=0><form action=//evil.example><input></form>',
  ].join('\n\n');
  const { handle } = await agentWith({
    display_name: '</title><script>alert(1)</script>',
    description: '"><img src=x onerror=alert(1)>',
    skills: [{ name: 'a', description: '</li><script>alert(1)</script>' }],
    card_body: hostile,
  });
  const { text } = await card(handle, 'text/html');
  const own = `<a class="write" href="/console/conversations/new?handle=${handle}">`;
  const tags = [...text.replace(own, '').matchAll(/<\/?([a-z0-9!]+)([^>]*)>/gi)];
  const harmless =
    /^(?:!doctype|html|head|meta|title|style|body|header|main|h1|p|ul|li|strong|a|pre|code|em)$/;
  expect(tags.map(([, name = '']) => name.toLowerCase()).filter((name) => !harmless.test(name))).toEqual([]);
  const attributes = new Set(tags.filter(([, name]) => name === 'a').map(([, , rest_ = '']) => rest_.trim()));
  for (const attribute of attributes) {
    expect(attribute).toMatch(
      /^(?:|\/|href="https:\/\/fine\.example\/[^"<>]*" rel="nofollow noopener noreferrer" target="_blank")$/,
    );
  }
  expect([...text.matchAll(/<(?:meta|style|title)/g)]).toHaveLength(5);
  // No value ends the front matter early or adds YAML.
  const injected = {
    display_name: 'x\n---\n# Not a card\nadmin: true',
    description: '"\nskills: [!!js/function "x"]\n...\n---\n&a [*a, *a]',
    skills: [{ name: 'a', description: '- b\n---\n' }],
    card_body: '---\nhandle: somebody.else\n---\n',
  };
  const other = await agentWith(injected);
  const { card_body, ...front } = injected;
  const document = partsOf((await card(other.handle)).text);
  const display_name = 'x --- # Not a card admin: true';
  expect(document).toEqual({ front: { handle: other.handle, ...front, display_name }, body: card_body });
});

test('a card that is expensive to render is rendered', async () => {
  const { handle, token } = await service.agent();
  for (const part of [
    '>',
    '> ',
    '[',
    '![',
    '- ',
    '*a **a ',
    '`',
    '[a](b)',
    '~~a',
    '|',
    '<',
    '&amp;',
    '[a]: b\n',
    '*_',
  ]) {
    const card_body = part.repeat(Math.floor(32_768 / part.length));
    await service.patch({ token }, '/agents/me', { card_body });
    expect((await card(handle, 'text/html')).status, part).toBe(200);
  }
});

test('an Accept header without a supported form is 406', async () => {
  const { handle } = await service.agent();
  for (const accept of ['application/json', 'image/*', 'text/markdown;q=0, text/html;q=0']) {
    expect(outcomeOf(await card(handle, accept))).toBe('406 NOT_ACCEPTABLE');
  }
});

test('an unchanged card is 304, and each form has its own ETag', async () => {
  const { handle, token } = await agentWith({ card_body: 'one' });
  const fetched = (accept: string, etag: string) =>
    fetch(addressOf(handle), { headers: { Accept: accept, 'If-None-Match': etag } });
  const [plain, page] = [await card(handle), await card(handle, 'text/html')];
  const etag = plain.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(page.headers.get('etag')).not.toBe(etag);
  const same = await fetched('*/*', etag);
  expect([same.status, await same.text(), same.headers.get('etag')]).toEqual([304, '', etag]);
  expect(same.headers.get('cache-control')).toBe('public, max-age=60');
  expect((await fetched('text/html', etag)).status).toBe(200);
  await service.patch({ token }, '/agents/me', { card_body: 'two' });
  expect((await fetched('*/*', etag)).status).toBe(200);
});

test('a private card follows the visibility of the agent, and is not found otherwise', async () => {
  const ann = await agentWith({ card_body: 'secret' }, { visibility: 'private' });
  const eve = await service.agent({ scopes });
  const gone = await service.agent({ scopes });
  await service.delete(gone, `/agents/${gone.id}`);
  const texts = new Set<string>();
  for (const handle of [ann.handle, gone.handle, 'absent.at-all']) {
    for (const accept of ['*/*', 'text/html']) texts.add(maskResponse(await card(handle, accept)));
  }
  expect(texts.size).toBe(1);
  expect([...texts][0]).toMatch(/^404\n[^]*"AGENT_NOT_FOUND"/);
  const hidden = await card(ann.handle, '*/*', eve.token);
  const absent = await card('absent.at-all', '*/*', eve.token);
  expect(outcomeOf(hidden)).toBe('404 AGENT_NOT_FOUND');
  expect(maskResponse(hidden)).toBe(maskResponse(absent));

  const own = await card(ann.handle, '*/*', ann.token);
  expect(partsOf(own.text).body).toBe('secret\n');
  expect(own.headers.get('cache-control')).toBe('no-store');
  const poor = await service.token(ann.handle, { scopes: ['realtime:read'] });
  expect(outcomeOf(await card(ann.handle, '*/*', poor))).toBe('403 INSUFFICIENT_SCOPE');
  await service.post(ann, '/threads', { with_handle: eve.handle });
  expect((await card(ann.handle, '*/*', eve.token)).status).toBe(200);
});

test('a bad token and a malformed handle are refused', async () => {
  const { handle } = await service.agent();
  for (const token of ['nonsense', await service.token(handle, { audience: 'mcp' })]) {
    const answer = await card(handle, '*/*', token);
    expect(outcomeOf(answer)).toBe('401 UNAUTHORIZED');
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
  }
  for (const wrong of ['-.b', 'a%00.b', 'a b.c']) expect((await card(wrong)).status).toBe(400);
});

test('callers without a token have a rate limit per address', async () => {
  const limited = await startService({ worker: false, env: { RATE_LIMITS: 'public=3/60' } });
  const { handle } = await limited.agent();
  const statuses = [];
  for (let call = 0; call < 4; call += 1)
    statuses.push((await limited.get(null, `/agents/${handle.replace('.', '/')}/card`)).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  await limited.stop();
});

test('MCP tools read a card and update their own', async () => {
  const ann = await service.agent({ scopes });
  const eve = await service.agent({ scopes, visibility: 'private' });
  const { client, close } = await connectSdkClient(
    service.url,
    await service.token(ann.handle, { audience: 'mcp', scopes }),
  );
  await client.listTools();
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  const skills = [{ name: 'talk', description: 'Talks.' }];
  const updated = await call('update_my_card', { card_body: '# Me', skills });
  expect(updated.structuredContent).toMatchObject({ id: ann.id, card_body: '# Me', skills });
  const read = await call('get_agent_card', { handle: `@${ann.handle}` });
  expect(read.structuredContent).toEqual({
    agent_id: ann.id,
    handle: ann.handle,
    display_name: 'agent',
    description: '',
    skills,
    card: '# Me',
    relationship: 'self',
  });
  const refusals = await Promise.all([
    call('get_agent_card', { handle: eve.handle }),
    call('get_agent_card', { handle: 'absent.at-all' }),
    call('update_my_card', { visibility: 'private' }),
  ]);
  const errors = refusals.map(({ content }) => JSON.parse(Object(content)[0].text).error);
  expect(errors.map(({ code }) => code)).toEqual(['AGENT_NOT_FOUND', 'AGENT_NOT_FOUND', 'FORBIDDEN']);
  expect(errors[0].message).toBe(errors[1].message);
  await close();
});
