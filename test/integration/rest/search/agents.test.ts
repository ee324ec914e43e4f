import { expect, test } from 'vitest';
import { registerAgentAsOperator } from '../../../../src/services/agents/operator-registration.ts';
import { createOrganization } from '../../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../../support/join-organization.ts';
import { connectSdkClient } from '../../../clients/mcp/client.ts';
import { outcomeOf, type RestResponse } from '../../../clients/rest.ts';
import { type TestAgent, useService } from '../../../support/service.ts';

const service = useService({ worker: false });

function agent(
  handle: string,
  display_name: string,
  visibility: 'public' | 'private' = 'public',
): Promise<TestAgent> {
  return service.register({ handle, display_name, visibility, inbound_policy: 'open', create_owner: true });
}

function get(path: string, query: Record<string, string | number>, token: string): Promise<RestResponse> {
  const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return service.get({ token }, `${path}?${text.join('&')}`);
}

async function found(q: string, token: string): Promise<string[]> {
  const { status, body } = await get('/search', { q }, token);
  expect(status, q).toBe(200);
  return body.agents.map((one: { canonical_handle: string }) => one.canonical_handle);
}

test('the exact handle is first, then prefixes of handles and names, then parts, then similar names', async () => {
  const me = await agent('rank-me.own', 'Somebody');
  await agent('zebra.tours-2', 'Elsewhere');
  await agent('zebra.tours', 'Elsewhere');
  await agent('alpha.walks', 'Zebra.Tours for all');
  await agent('beta.walks', 'The best zebra.tours');
  await agent('gamma.walks', 'Zebro.Turs');
  expect(await found('zebra.tours', me.token)).toEqual([
    'zebra.tours',
    'zebra.tours-2',
    'alpha.walks',
    'beta.walks',
    'gamma.walks',
  ]);
  expect((await found('@ZEBRA.Tours-2', me.token))[0]).toBe('zebra.tours-2');
  expect(await found('walks', me.token)).toEqual(['alpha.walks', 'beta.walks', 'gamma.walks']);
});

test('a search tolerates typos, accents and case, and supports other scripts', async () => {
  const me = await agent('fold-me.own', 'Somebody');
  await agent('cuisine.chef', 'Crème Brûlée Łódź');
  await agent('climate.one', 'Meteorologist');
  await agent('japan.bot', '天気予報ボット');
  await agent('russia.bot', 'Прогноз Погоды');
  for (const q of ['creme', 'CRÈME', 'brulee', 'cre\u0301me', 'lodz']) {
    expect(await found(q, me.token), q).toEqual(['cuisine.chef']);
  }
  for (const q of ['metorologist', 'meteroologist', 'Meteorolgist']) {
    expect(await found(q, me.token), q).toEqual(['climate.one']);
  }
  expect(await found('天気', me.token)).toEqual(['japan.bot']);
  expect(await found('予報', me.token)).toEqual(['japan.bot']);
  expect(await found('прогноз', me.token)).toEqual(['russia.bot']);
  expect(await found('погоды', me.token)).toEqual(['russia.bot']);
  expect(await found('xylophone-orchestra', me.token)).toEqual([]);
});

test('special characters of the database are literal', async () => {
  const me = await agent('hostile-me.own', 'Somebody');
  await agent('percent.sign', '100% pure_water \\ back');
  expect(await found('100%', me.token)).toEqual(['percent.sign']);
  expect(await found('% pure_w', me.token)).toEqual(['percent.sign']);
  expect(await found('water \\ b', me.token)).toEqual(['percent.sign']);
  for (const q of [
    '%%%',
    '___',
    "'; drop table agents; --",
    '\u{10ffff}\u{10ffff}',
    '(((',
    '.*.*',
    '🙂🙂🙂',
    '"',
  ]) {
    expect(await found(q, me.token), q).toEqual([]);
  }
  for (const q of ['', ' ', '@', ' @ ', 'x'.repeat(101), 'a\u0000b', '\u0301'.repeat(101)]) {
    expect(outcomeOf(await get('/search', { q }, me.token)), JSON.stringify(q)).toBe('400 VALIDATION_ERROR');
  }
});

test('a search finds public agents and related private ones', async () => {
  const me = await agent('seeker.own', 'Seeker');
  const names = ['stranger', 'contact', 'member', 'asking', 'gone'] as const;
  const hidden = new Map<string, TestAgent>();
  for (const name of names) hidden.set(name, await agent(`quokka-${name}.x`, `Quokka ${name}`, 'private'));
  const sister = await agent('seeker.quokka', 'Sister', 'private');
  const shown = await agent('quokka-public.x', 'Public');
  const of = (name: (typeof names)[number]) => hidden.get(name) ?? me;
  const post = (path: string, token: string, body: object) => service.post({ token }, path, body);
  // The hidden agent starts.
  await post('/contacts/requests', of('contact').token, { handle: me.handle });
  await post('/contacts/requests/quokka-contact.x/approve', me.token, {});
  await post('/threads', of('member').token, { with_handle: me.handle });
  await post('/contacts/requests', of('asking').token, { handle: me.handle });
  await post('/contacts/requests', of('gone').token, { handle: me.handle });
  await service.sql('update agents set retired_at = 1 where id = $1', [of('gone').id]);

  const { body } = await get('/search', { q: 'quokka' }, me.token);
  expect(body.agents.map((one: { canonical_handle: string }) => one.canonical_handle)).toEqual([
    'quokka-asking.x',
    'quokka-contact.x',
    'quokka-member.x',
    'quokka-public.x',
    'seeker.quokka',
  ]);
  expect(body.contacts).toEqual([
    {
      agent_id: of('contact').id,
      canonical_handle: 'quokka-contact.x',
      display_name: 'Quokka contact',
      favorite: false,
      is_online: false,
      same_owner: false,
      since: expect.any(Number),
    },
    {
      agent_id: sister.id,
      canonical_handle: 'seeker.quokka',
      display_name: 'Sister',
      favorite: false,
      is_online: false,
      same_owner: true,
      since: expect.any(Number),
    },
  ]);
  for (const one of body.agents) expect(one).not.toHaveProperty('card_body');
  expect(await found('quokka', of('stranger').token)).toEqual(['quokka-public.x', 'quokka-stranger.x']);
  expect(await found('quokka', shown.token)).toEqual(['quokka-public.x']);
  const single = await get('/search/agents', { q: 'quokka' }, me.token);
  expect(single.body).toEqual({ agents: body.agents });
});

test('pages of both lists neither skip nor repeat while agents are added', async () => {
  const me = await agent('pager.own', 'Pager');
  const contacts: string[] = [];
  for (let index = 0; index < 7; index += 1) {
    const one = await agent(`okapi-${index}.x`, index % 2 ? `Okapi ${index}` : 'Other');
    if (index > 2) continue;
    await service.post(me, '/contacts/requests', { handle: one.handle });
    await service.post(one, '/contacts/requests/pager.own/approve', {});
    contacts.push(one.handle);
  }
  await agent('late.okapi', 'A part');
  await agent('later.x', 'Okappi');
  const whole = await get('/search', { q: 'okapi', limit: 50 }, me.token);
  expect(whole.body.agents).toHaveLength(9);
  expect(whole.body.contacts).toHaveLength(3);
  let late = 0;
  for (const limit of [1, 2, 4]) {
    const pages: { agents: unknown[]; contacts: unknown[] } = { agents: [], contacts: [] };
    let cursor: string | undefined;
    do {
      const query = { q: 'okapi', limit, ...(cursor !== undefined && { cursor }) };
      const { body } = await get('/search', query, me.token);
      expect(body.agents.length).toBeLessThanOrEqual(limit);
      pages.agents.push(...body.agents);
      pages.contacts.push(...body.contacts);
      await agent(`okapi-late-${(late += 1)}.x`, 'New');
      cursor = body.next_cursor;
    } while (cursor !== undefined);
    const old = (one: unknown) =>
      whole.body.agents.some((known: { id: string }) => known.id === Object(one).id);
    expect(pages.agents.filter(old)).toEqual(whole.body.agents);
    expect(pages.contacts).toEqual(whole.body.contacts);
  }
  const { next_cursor } = (await get('/search', { q: 'okapi', limit: 1 }, me.token)).body;
  for (const [path, query] of [
    ['/search', { q: 'other', cursor: next_cursor }],
    ['/search/agents', { q: 'okapi', cursor: next_cursor }],
    ['/search', { q: 'okapi', cursor: 'nonsense' }],
  ] as const) {
    expect(outcomeOf(await get(path, query, me.token))).toBe('400 INVALID_CURSOR');
  }
});

test('the directory lists only owners that are public or related to the caller', async () => {
  const [me, colleague] = [await agent('narwhal-me.own', 'Me', 'private'), 'narwhal-colleague'];
  await agent(`${colleague}.own`, 'Colleague', 'private');
  await agent('narwhal-hidden.own', 'Hidden', 'private');
  await agent('narwhal-public.one', 'One');
  await agent('narwhal-public.two', 'Two');
  await agent('narwhal-mixed.own', 'Private', 'private');
  await agent('narwhal-mixed.shop', 'Public');
  await service.write(async (work) => {
    for (const slug of ['narwhal-org', 'narwhal-secret-org', 'narwhal-open-org'])
      await createOrganization(work, slug);
    for (const username of ['narwhal-me', colleague]) {
      await joinOrganization(work, { slug: 'narwhal-org', username, role: 'member' });
    }
    await joinOrganization(work, { slug: 'narwhal-secret-org', username: 'narwhal-hidden', role: 'admin' });
    await registerAgentAsOperator(work, { handle: 'narwhal-open-org.desk', visibility: 'public' });
  });
  const names = async (q: string, token: string) => {
    const { body } = await get('/search/directory', { q }, token);
    return {
      people: body.people.map(({ username }: { username: string }) => username),
      organizations: body.organizations.map(({ slug }: { slug: string }) => slug),
    };
  };
  expect(await names('narwhal', me.token)).toEqual({
    people: [colleague, 'narwhal-me', 'narwhal-mixed', 'narwhal-public'],
    organizations: ['narwhal-open-org', 'narwhal-org'],
  });
  const stranger = await agent('narwhal-far.own', 'Far', 'private');
  expect(await names('Narwhal', stranger.token)).toEqual({
    people: ['narwhal-far', 'narwhal-mixed', 'narwhal-public'],
    organizations: ['narwhal-open-org'],
  });
  expect((await names('narwal-publc', stranger.token)).people).toContain('narwhal-public');
  expect((await names('narwhal-secret-org', stranger.token)).organizations).not.toContain(
    'narwhal-secret-org',
  );
  const own = await get('/search/directory', { q: 'narwhal-open-org' }, stranger.token);
  expect(own.body.organizations).toEqual([{ slug: 'narwhal-open-org', name: 'narwhal-open-org' }]);
  const { body } = await get('/search/directory', { q: 'narwhal-public' }, stranger.token);
  expect(body.people).toContainEqual({ username: 'narwhal-public', display_name: 'narwhal-public' });
  expect(body.agents.map((one: { display_name: string }) => one.display_name).slice(0, 2)).toEqual([
    'One',
    'Two',
  ]);
});

test('the MCP tool finds agents too', async () => {
  const me = await agent('tooling.own', 'Tool user');
  await agent('pangolin.keeper', 'Pangolin');
  const { client, close } = await connectSdkClient(
    service.url,
    await service.token(me.handle, { audience: 'mcp' }),
  );
  await client.listTools();
  const result = await client.callTool({ name: 'search_agents', arguments: { q: '@pangolin' } });
  expect(result.isError).toBeFalsy();
  expect(result.structuredContent).toMatchObject({ agents: [{ canonical_handle: 'pangolin.keeper' }] });
  await close();
});

test('only the latest thousand related agents are compared for typos', async () => {
  const me = await agent('crowd-me.own', 'Somebody');
  await agent('crowd-me.early', 'Xylophonist', 'private');
  expect(await found('xylofonist', me.token)).toEqual(['crowd-me.early']);
  const text = `insert into agents (id, owner_id, canonical_handle, display_name, description, scope, visibility, inbound_policy,
      card_body, skills, created_at, updated_at)
    select 'agt_7' || lpad(i::text, 25, '0'), owner_id, 'crowd-me.late-' || i, 'Late', '', 'personal', 'private', 'open', '', '[]', 1, 1
    from agents, generate_series(1, 1000) i where id = $1`;
  await service.sql(text, [me.id]);
  expect(await found('xylofonist', me.token)).toEqual([]);
  expect(await found('xylophon', me.token)).toEqual(['crowd-me.early']);
});
