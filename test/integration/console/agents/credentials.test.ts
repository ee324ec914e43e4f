import { textContent } from 'domutils';
import { describe, expect, test } from 'vitest';
import { scopePresets, scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { maxCredentials } from '../../../../src/services/auth/credentials.ts';
import { findForm, foreignScripts, type PageResponse } from '../../../clients/form-browser.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';
import {
  findFieldError,
  readFormFields,
  fillForm,
  type Owner,
  signInWithAgent,
} from '../signed-in-person.ts';

const service = useSharedService();

const listOf = ({ id }: Pick<TestAgent, 'id'>) => `/console/agents/${id}/credentials`;

interface Secret {
  page: PageResponse;
  client_id: string;
  client_secret: string;
  curl: string;
}

async function make(who: Owner, name = 'Night job'): Promise<Secret> {
  const page = await who.fill(`${listOf(who.mine)}/new`, { fields: { name } });
  const [client_id = '', client_secret = ''] = page.elements('output').map((each) => textContent(each));
  return { page, client_id, client_secret, curl: textContent(page.elements('pre')) };
}

/** Runs the command that the page shows in a shell, against the service of this test. */
async function runCurl(curl: string): Promise<{ status: number; json: Record<string, string> }> {
  const words = curl.replaceAll('\\\n', ' ').match(/'[^']*'|\S+/g) ?? [];
  const plain = words.map((word) => word.replaceAll("'", ''));
  const after = (flag: string) =>
    plain.flatMap((word, index) => (word === flag ? [plain[index + 1] ?? ''] : []));
  expect(plain[0]).toBe('curl');
  const answer = await fetch(`${service.url}${new URL(plain[1] ?? '').pathname}`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(after('-u')[0] ?? '').toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: after('-d').join('&'),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, string> };
}

describe('a new credential', () => {
  test('is shown once, with a command that gets a token with the selected scopes', async () => {
    const ada = await signInWithAgent(service);
    const form = findForm(await ada.go(`${listOf(ada.mine)}/new`), `${listOf(ada.mine)}/new`);
    const chosen = form.fields.filter(([name, value]) => name !== 'scopes' || value === 'contacts:read');
    const page = await ada.send({ ...form, fields: chosen }, { fields: { name: ' Night job ' } });
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const [client_id = '', secret = ''] = page.elements('output').map((each) => textContent(each));
    expect([client_id, secret]).toEqual([
      expect.stringMatching(/^ams_[0-9a-f]{24}$/),
      expect.stringMatching(/^[\w-]{43}$/),
    ]);
    const { status, json } = await runCurl(textContent(page.elements('pre')));
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({ scope: 'contacts:read', token_type: 'Bearer' }),
    ]);
    const me = await service.get({ token: json['access_token'] }, '/agents/me');
    expect(me.body.id).toBe(ada.mine.id);

    const list = await ada.go(listOf(ada.mine));
    expect(list.visibleText).toMatch(
      new RegExp(`Night job${client_id}Read its contactsCreated just now · used just now`),
    );
    expect([...ada.cookies.values()].some(({ value }) => value.includes(secret))).toBe(false);
    expect(list.text).not.toContain(secret);
    const stored = await service.sql<{ row: string }>(
      'select c::text as row from credentials c where client_id = $1',
      [client_id],
    );
    expect(stored[0]?.row).toContain('Night job');
    expect(stored[0]?.row).not.toContain(secret);
  });

  test.each([
    ['', scopePresets.agent],
    ['?preset=read-only', ['contacts:read', 'threads:read']],
    ['?preset=everything', scopes],
    ['?preset=toString', scopePresets.agent],
  ])('has the scopes of a preset selected: %s', async (preset, selected) => {
    const ada = await signInWithAgent(service);
    const page = await ada.go(`${listOf(ada.mine)}/new${preset}`);
    const form = findForm(page, `${listOf(ada.mine)}/new`);
    expect(form.fields.flatMap(([name, value]) => (name === 'scopes' ? [value] : []))).toEqual([...selected]);
    // Before the form: a link in it would lose what was entered.
    expect(page.text).toMatch(
      /Start with the permissions:.*Read only.*Agent.*Everything.*<form .*name="name"/s,
    );
  });

  test('is created once, however often its form is sent, and the secret is shown once', async () => {
    const ada = await signInWithAgent(service);
    const form = findForm(await ada.go(`${listOf(ada.mine)}/new`), `${listOf(ada.mine)}/new`);
    const answers = await Promise.all([1, 2, 3].map(() => ada.send(form, { fields: { name: 'Job' } })));
    answers.push(await ada.send(form, { fields: { name: 'Job' } }));
    const shown = answers.flatMap((page) => page.elements('output').map((each) => textContent(each)));
    expect(shown).toHaveLength(2);
    const others = answers.filter((page) => page.elements('output').length === 0);
    for (const page of others) expect(page.visibleText).toContain('has already created the credential');
    const list = await ada.go(listOf(ada.mine));
    expect(list.text.match(/ams_[0-9a-f]{24}\/revoke/g)).toHaveLength(1);
  });

  test.each([
    ['no name', { name: ' ' }, 'name', 'Name must have at least 1 character.'],
    ['a name that is too long', { name: 'x'.repeat(61) }, 'name', 'Name must have at most 60 characters.'],
    ['a name with NUL', { name: 'x\0' }, 'name', 'Name must be well-formed Unicode without NUL characters.'],
    ['no scope', { scopes: null }, 'scopes', 'Choose at least one.'],
  ])('is not made with %s', async (_what, fields, field, message) => {
    const ada = await signInWithAgent(service);
    const address = `${listOf(ada.mine)}/new`;
    const page = await ada.fill(address, { fields: { name: 'Kept', ...fields } });
    expect([page.status, findFieldError(page, field)]).toEqual([400, message]);
    if (field === 'scopes') expect(readFormFields(page, address)['name']).toBe('Kept');
    expect((await ada.go(listOf(ada.mine))).visibleText).toContain('No credentials');
  });

  test('refuses an unknown scope', async () => {
    const ada = await signInWithAgent(service);
    const address = `${listOf(ada.mine)}/new`;
    const page = await ada.fill(address, { fields: { name: 'x', scopes: 'everything' } });
    expect(page.status).toBe(400);
    expect((await ada.go(listOf(ada.mine))).visibleText).toContain('No credentials');
  });

  test('is refused beyond a hundred', async () => {
    const ada = await signInWithAgent(service);
    await service.sql(
      `insert into credentials (client_id, agent_id, secret_hash, scopes, created_at)
               select 'ams_' || lpad(to_hex(n), 24, '0'), $1, '', '{}', n from generate_series(1, $2::int) n`,
      [ada.mine.id, maxCredentials],
    );
    const { page } = await make(ada);
    expect(page.visibleText).toContain('at most 100 credentials');
    const seen = new Set<string>();
    for (let address = listOf(ada.mine); address !== '';) {
      const list = await ada.go(address);
      const ids = [...list.text.matchAll(/(ams_[0-9a-f]{24})\/revoke/g)].map(([, id = '']) => id);
      expect(ids).toHaveLength(25);
      for (const id of ids) seen.add(id);
      address = list.next ?? '';
    }
    expect(seen.size).toBe(maxCredentials);
    await service.sql('delete from credentials where agent_id = $1', [ada.mine.id]);
  });
});

describe('revoking', () => {
  test('asks for confirmation, then ends tokens and open connections', async () => {
    const ada = await signInWithAgent(service);
    const { client_id, curl } = await make(ada);
    const { json } = await runCurl(curl);
    const token = json['access_token'] ?? '';
    const socket = await connectWebSocket(service.url, { token });
    const address = `${listOf(ada.mine)}/${client_id}/revoke`;
    const confirm = await ada.go(address);
    expect(confirm.visibleText).toContain('Revoke Night job?');
    const done = await ada.send(findForm(confirm, address));
    expect(done.visibleText).toMatch(/Credential revoked.*No credentials/);
    expect(await socket.closed).toMatchObject({ code: 1008 });
    expect((await service.get({ token }, '/agents/me')).status).toBe(401);
    expect((await runCurl(curl)).status).toBe(401);
    const again = await ada.send(findForm(confirm, address));
    expect(again.visibleText).toContain('Credential revoked');
    const revoked = await ada.go(`${listOf(ada.mine)}?show=revoked`);
    expect(revoked.visibleText).toMatch(new RegExp(`Night job${client_id}.*Revoked just now`));
  });

  test('a credential of another agent, even of the same person, gets the same response as a missing one', async () => {
    const [ada, eve] = [await signInWithAgent(service), await signInWithAgent(service)];
    const { client_id, curl } = await make(ada);
    const hers = await ada.agent('second');
    const addresses = (agent: TestAgent) =>
      [client_id, 'ams_000000000000000000000000', 'operator', '%00'].map(
        (id) => `${listOf(agent)}/${id}/revoke`,
      );
    for (const [who, agent] of [
      [eve, eve.mine],
      [ada, hers],
    ] as const) {
      const home = await who.go('/console');
      for (const address of addresses(agent)) {
        for (const page of [await who.go(address), await who.send(fillForm(home, address))]) {
          expect([
            page.status,
            page.visibleText.match(/This agent has no such credential\./)?.length,
          ]).toEqual([404, 1]);
        }
      }
    }
    expect((await runCurl(curl)).status).toBe(200);
  });
});

test('names of credentials are escaped', async () => {
  const ada = await signInWithAgent(service);
  const name = `<script>alert('x')</script>"`;
  const { page } = await make(ada, name);
  for (const shown of [page, await ada.go(listOf(ada.mine))]) {
    expect(shown.visibleText).toContain(name);
    expect(foreignScripts(shown)).toEqual([]);
  }
});
