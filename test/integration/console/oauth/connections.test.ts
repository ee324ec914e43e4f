import { describe, expect, test } from 'vitest';
import { recordConnection } from '../../../../src/services/auth/connections.ts';
import { findForm, foreignScripts } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';
import { registerApp, readTokens } from '../../../clients/oauth/app.ts';
import { fillForm, type Owner, signInWithAgent } from '../signed-in-person.ts';

const service = useSharedService();

const list = '/console/connections';

/** Connects an app to a person's agent by the whole flow; returns its tokens. */
async function connectApp(who: Owner, client_name = 'Quill') {
  const app = await registerApp(service.url, { client_name, redirect_uris: ['http://127.0.0.1/callback'] });
  const answer = await who.approve(await who.go(app.address()), who.mine.id);
  const code = new URL(answer.headers.get('Location') ?? '').searchParams.get('code') ?? '';
  return { app, ...readTokens(await app.exchange(code)) };
}

/** Inserts many connections directly. */
async function record({ person, mine }: Owner, grant_id: string, now = Date.now()) {
  const grant = {
    grant_id,
    account_id: person.account_id,
    agent_id: mine.id,
    client_id: 'x',
    client_name: grant_id,
  };
  await service.write((work) =>
    recordConnection(
      { ...work, now },
      {
        ...grant,
        redirect_host: 'app.example',
        scopes: ['threads:read'],
      },
    ),
  );
}

describe('a connected app', () => {
  test('is listed with verified and claimed facts, and revoking it takes effect immediately', async () => {
    const ada = await signInWithAgent(service);
    expect((await ada.go(list)).visibleText).toContain('No apps yet');
    const { access_token, refresh_token, app } = await connectApp(ada);
    const page = await ada.go(list);
    expect(page.visibleText).toMatch(
      new RegExp(`Claims to be Quill Not verified.*As @${ada.mine.handle} · redirects to .*127.0.0.1`),
    );
    expect(page.visibleText).toMatch(
      /Read its messages · Send messages as it.*Change its profile.*Since just now · used just now/,
    );

    const socket = await connectWebSocket(service.url, { token: access_token });
    const form = findForm(page, `${list}/end`);
    const ended = await ada.send(form);
    expect(ended.visibleText).toMatch(/App disconnected\..*No apps yet/);
    expect(await socket.closed).toMatchObject({ code: 1008 });
    expect((await service.get({ token: access_token }, '/agents/me')).status).toBe(401);
    expect((await app.refresh(refresh_token)).status).toBe(400);
    const again = await ada.send(form);
    expect([again.status, again.visibleText]).toEqual([200, expect.stringContaining('No such connection')]);
  });

  test('of another person gets the same response as a missing one, and stays connected', async () => {
    const [ada, eve] = [await signInWithAgent(service), await signInWithAgent(service)];
    const { access_token } = await connectApp(ada);
    const grant_id = new Map(findForm(await ada.go(list), `${list}/end`).fields).get('grant_id') ?? '';
    const home = await eve.go('/console');
    for (const grantId of [grant_id, 'x'.repeat(43), '', '\0', 'x'.repeat(9_999)]) {
      const answer = await eve.send(fillForm(home, `${list}/end`, { grant_id: grantId }));
      expect([answer.status, answer.visibleText]).toEqual([
        200,
        expect.stringContaining('No such connection; it may have ended already.'),
      ]);
    }
    expect((await service.get({ token: access_token }, '/agents/me')).status).toBe(200);
  });

  test('is shown by its verified address if it has one, and otherwise by nothing that it claims', async () => {
    const ada = await signInWithAgent(service);
    const hostile = `<script>alert(1)</script>\u202e"`;
    await record(ada, 'a'.repeat(43));
    await service.sql(
      `update client_grants set client_id = 'https://quill.example/client.json', client_name = $2 where agent_id = $1`,
      [ada.mine.id, hostile],
    );
    const page = await ada.go(list);
    expect(page.visibleText).toContain(`quill.example Address verified claims to be ${hostile}`);
    expect(foreignScripts(page)).toEqual([]);
    expect(page.text).toContain(`<bdi>${hostile.replaceAll('<', '&lt;').replaceAll('"', '&quot;')}</bdi>`);
  });
});

test('many apps are paged, also while some of them are removed', async () => {
  const ada = await signInWithAgent(service);
  const time = Date.now();
  for (let number = 10; number < 70; number += 1) await record(ada, `grant-${number}`, time - (number % 7));
  const seen: string[] = [];
  for (let address = list; address !== '';) {
    const page = await ada.go(address);
    const ids = page.forms.flatMap(({ action, fields }) =>
      action === `${list}/end` ? (fields.find(([name]) => name === 'grant_id') ?? []).slice(1) : [],
    );
    seen.push(...ids);
    address = page.next ?? '';
    await ada.send(fillForm(page, `${list}/end`, { grant_id: ids.at(-1) ?? '' }));
  }
  expect([seen.length, new Set(seen).size]).toEqual([60, 60]);
  for (const before of ['x', '1.', `${'9'.repeat(30)}.x`, '%00', "1.'"])
    expect((await ada.go(`${list}?before=${before}`)).status).toBe(200);
});
