import { afterAll, describe, expect, test } from 'vitest';
import { type OAuthApp, createApp, registerApp, type Tokens, readTokens } from '../../clients/oauth/app.ts';
import {
  clientSecretBasic,
  revokedTokenMessage,
  postForm,
  startAuthorizationServer,
} from './authorization-server.ts';
import { use } from '../../support/use.ts';

/** Longer than any of these tests takes. */
const refresh_grace_s = 60;

const here = use(() => startAuthorizationServer({ refresh_grace_s }));
// Another process on the same database, behind the same address.
const there = use(() => startAuthorizationServer({ refresh_grace_s, restartOf: here }));
afterAll(async () => {
  expect([...here.faults, ...there.faults]).toEqual([]);
});

async function connected() {
  const app = await registerApp(here.url);
  const tokens = await app.connect(await here.person());
  return { app, elsewhere: createApp(there.url, app.client_id, app.redirect_uri, app.pair), tokens };
}

/** That the grant has ended: tokens of its client are worth nothing, nor is what they could be had for. */
async function expectEnded(app: OAuthApp, ...each: Tokens[]) {
  for (const { access_token, refresh_token } of each) {
    await expect.poll(() => here.verifyToken(access_token)).toMatch(revokedTokenMessage);
    expect((await app.refresh(refresh_token)).json.error).toBe('invalid_grant');
  }
  expect(await grantsOf(app)).toBe(0);
}

async function grantsOf({ client_id }: OAuthApp): Promise<number> {
  return (await here.sql('select 1 from client_grants where client_id = $1', [client_id])).length;
}

/** Lets time pass since the uses of a client's refresh tokens. */
async function later({ client_id }: OAuthApp, seconds: number) {
  await here.sql(
    `update oauth_records set consumed_at = consumed_at - $1::bigint where payload->>'clientId' = $2`,
    [seconds * 1_000, client_id],
  );
}

describe('a refresh token that is used again at once', () => {
  test('is valid at two processes, and the tokens of each use can be refreshed independently', async () => {
    const { app, elsewhere, tokens } = await connected();
    const answers = await Promise.all([app, elsewhere].map((each) => each.refresh(tokens.refresh_token)));
    const [one, two] = answers.map(readTokens) as [Tokens, Tokens];
    expect(new Set([tokens, one, two].map(({ refresh_token }) => refresh_token)).size).toBe(3);
    let both = [one, two];
    for (let turn = 0; turn < 2; turn += 1) {
      for (const { access_token } of both) expect(await here.verifyToken(access_token)).toBe('good');
      await later(app, refresh_grace_s + 1);
      both = [
        readTokens(await elsewhere.refresh(both[0]?.refresh_token ?? '')),
        readTokens(await app.refresh(both[1]?.refresh_token ?? '')),
      ];
    }
    expect(await grantsOf(app)).toBe(1);
  });

  test('is valid for a client that did not receive the first response', async () => {
    const { app, tokens } = await connected();
    await app.refresh(tokens.refresh_token);
    await later(app, refresh_grace_s / 2);
    const second = readTokens(await app.refresh(tokens.refresh_token));
    expect(await here.verifyToken(second.access_token)).toBe('good');
    expect((await app.refresh(second.refresh_token)).status).toBe(200);
  });

  test('is valid after the grace period if a crash left it without a successor, and ends the grant when it is used again', async () => {
    const { app, elsewhere, tokens } = await connected();
    await app.refresh(tokens.refresh_token);
    await here.sql(`delete from oauth_records where payload ? 'successor_of' and payload->>'clientId' = $1`, [
      app.client_id,
    ]);
    await later(app, refresh_grace_s + 1);
    const next = readTokens(await elsewhere.refresh(tokens.refresh_token));
    expect(await here.verifyToken(next.access_token)).toBe('good');
    await later(app, refresh_grace_s + 1);
    expect((await app.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    await expectEnded(app, next);
  });

  test('can name another resource and fewer scopes, but no additional scope', async () => {
    const { app, tokens } = await connected();
    await app.refresh(tokens.refresh_token);
    const { resources } = here;
    const tools = readTokens(await app.refresh(tokens.refresh_token, { resource: resources.mcp }));
    expect(await here.verifyToken(tools.access_token, 'mcp')).toBe('good');
    const narrow = await app.refresh(tokens.refresh_token, { scope: 'threads:read' });
    expect(readTokens(narrow).scope).toBe('threads:read');
    const more = await app.refresh(tokens.refresh_token, { scope: 'threads:read agents:write' });
    expect(readTokens(more).scope).toBe('threads:read');
    const over = { resource: 'https://elsewhere.example/v1' };
    expect((await app.refresh(tokens.refresh_token, over)).json.error).toBe('invalid_target');
    expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
  });

  test('is refused for another client, whose attempt revokes nothing', async () => {
    const { app, tokens } = await connected();
    const next = readTokens(await app.refresh(tokens.refresh_token));
    const thief = await registerApp(here.url);
    expect((await thief.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    const { canonical_handle } = await here.agent();
    const fields = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const confidential = clientSecretBasic(await here.credential(canonical_handle));
    expect((await postForm(`${here.url}/token`, fields, confidential)).status).toBe(400);
    expect(await here.verifyToken(next.access_token)).toBe('good');
    expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
  });

  test('is invalid after its revocation, which ends its grant', async () => {
    const { app, elsewhere, tokens } = await connected();
    const next = readTokens(await app.refresh(tokens.refresh_token));
    expect((await app.revoke(tokens.refresh_token)).status).toBe(200);
    expect((await elsewhere.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    await expectEnded(app, next);
  });
});

describe('a second use ends the grant', () => {
  test('after the grace period, with all tokens of earlier uses', async () => {
    const { app, elsewhere, tokens } = await connected();
    const first = readTokens(await app.refresh(tokens.refresh_token));
    const second = readTokens(await elsewhere.refresh(tokens.refresh_token));
    // The moment begins with the first use; the others do not make it longer.
    await later(app, refresh_grace_s + 1);
    expect((await elsewhere.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    await expectEnded(app, tokens, first, second);
  });

  test('after the successor was used, however soon', async () => {
    const { app, elsewhere, tokens } = await connected();
    const first = readTokens(await app.refresh(tokens.refresh_token));
    const second = readTokens(await elsewhere.refresh(tokens.refresh_token));
    const third = readTokens(await app.refresh(second.refresh_token));
    expect((await app.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    await expectEnded(app, first, second, third);
  });

  test('after sixteen uses, so that the number of valid tokens is limited', async () => {
    const { app, elsewhere, tokens } = await connected();
    const uses = Array.from({ length: 16 }, (_, n) =>
      (n % 2 ? elsewhere : app).refresh(tokens.refresh_token),
    );
    const each = (await Promise.all(uses)).map(readTokens);
    expect(await grantsOf(app)).toBe(1);
    expect((await app.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    await expectEnded(app, ...each.slice(0, 2));
  });

  test('but not in a branch of the grant that was refreshed less often', async () => {
    const { app, elsewhere, tokens } = await connected();
    const ahead = readTokens(await app.refresh(tokens.refresh_token));
    const behind = readTokens(await elsewhere.refresh(tokens.refresh_token));
    const { refresh_token } = readTokens(await app.refresh(ahead.refresh_token));
    await app.refresh(refresh_token);
    const twice = await Promise.all([app, elsewhere].map((each) => each.refresh(behind.refresh_token)));
    expect(twice.map(({ status }) => status)).toEqual([200, 200]);
  });
});

test('codes have no grace period', async () => {
  const { app } = await connected();
  const answer = await app.approved(await here.person());
  const tokens = readTokens(await app.exchange(answer.get('code') ?? ''));
  expect((await app.exchange(answer.get('code') ?? '')).json.error).toBe('invalid_grant');
  await expect.poll(() => here.verifyToken(tokens.access_token)).toMatch(revokedTokenMessage);
});
