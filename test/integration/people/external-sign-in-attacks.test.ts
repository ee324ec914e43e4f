import { beforeEach, describe, expect, test } from 'vitest';
import { openFormBrowser, type PageResponse } from '../../clients/form-browser.ts';
import { type Forgery, startForgedIssuer } from '../../support/servers/forged-issuer.ts';
import { newUsername, password } from './setup.ts';
import {
  signInAtIssuer,
  beginSignIn,
  returnToService,
  followRedirect,
  publicUrl,
  startServiceWithIssuer,
} from './issuer-sign-in.ts';
import { use } from '../../support/use.ts';

const issuer = use(() => startForgedIssuer('ams'));
const service = use(() => startServiceWithIssuer(issuer));
beforeEach(() => issuer.forge({}));

/** A whole sign-in of a new browser, with a misbehaving issuer. */
async function signInWith(forgery: Forgery): Promise<PageResponse> {
  const browser = openFormBrowser(service.url);
  const address = await beginSignIn(browser);
  issuer.forge(forgery);
  return returnToService(browser, await signInAtIssuer(issuer, address));
}

const outcome = ({ status, title }: PageResponse) => [status, title.replace(/ · .*/, '')];
const notAccepted = [400, 'Invalid response'];
const over = [400, 'This sign-in has expired'];
const arrived = [200, 'Choose a username'];
const away = [503, 'Example ID does not answer'];

/** The callback URL with another value for one parameter. */
function changed(back: string, name: string, value: string | null): string {
  const url = new URL(back);
  if (value === null) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url.href;
}

test('a correct issuer is accepted, so that the refusals have their own reasons', async () => {
  expect(outcome(await signInWith({}))).toEqual(arrived);
});

describe('the callback', () => {
  test('with a wrong or missing state is refused before the issuer is called', async () => {
    for (const state of ['guessed', '', null]) {
      const browser = openFormBrowser(service.url);
      const back = await signInAtIssuer(issuer, await beginSignIn(browser));
      const calls = issuer.tokenCalls.length;
      expect(outcome(await returnToService(browser, changed(back, 'state', state)))).toEqual(notAccepted);
      expect(issuer.tokenCalls).toHaveLength(calls);
      // A retry with the right state fails too.
      expect(outcome(await returnToService(browser, back))).toEqual(over);
    }
  });

  test('is valid once', async () => {
    const browser = openFormBrowser(service.url);
    const back = await signInAtIssuer(issuer, await beginSignIn(browser));
    const cookies = new Map(browser.cookies);
    expect(outcome(await returnToService(browser, back))).toEqual(arrived);
    const calls = issuer.tokenCalls.length;
    expect(outcome(await returnToService(browser, back))).toEqual(over);
    // Not even with the cookie of the first time.
    for (const [name, cookie] of cookies) browser.cookies.set(name, cookie);
    expect(outcome(await returnToService(browser, back))).toEqual(over);
    expect(issuer.tokenCalls).toHaveLength(calls);
  });

  test('is valid in the browser that started only: a link cannot sign in a victim as another person', async () => {
    const [attacker, victim] = [openFormBrowser(service.url), openFormBrowser(service.url)];
    const back = await signInAtIssuer(issuer, await beginSignIn(attacker));
    expect(outcome(await returnToService(victim, back))).toEqual(over);
    // Also when the victim has started a sign-in: state separates the two.
    await beginSignIn(victim);
    expect(outcome(await returnToService(victim, back))).toEqual(notAccepted);
    // And when the attacker knows the state: PKCE protects. The issuer is called, and refuses the code.
    const again = openFormBrowser(service.url);
    const state = new URL(await beginSignIn(again)).searchParams.get('state');
    expect(outcome(await returnToService(again, changed(back, 'state', state)))).toEqual(notAccepted);
    expect(issuer.tokenCalls.at(-1)?.get('code')).toBe(new URL(back).searchParams.get('code'));
  });

  test('from another issuer, or without its name, is refused (mix-up)', async () => {
    const before = issuer.tokenCalls.length;
    expect(outcome(await signInWith({ answer: { iss: 'https://evil.example' } }))).toEqual(notAccepted);
    expect(outcome(await signInWith({ answer: { iss: undefined } }))).toEqual(notAccepted);
    expect(issuer.tokenCalls).toHaveLength(before);
  });

  test('is refused after the issuer of the service has changed', async () => {
    // Both issuers lack the `iss` parameter on the callback.
    const other = await startForgedIssuer('ams');
    for (const each of [issuer, other]) each.forge({ omitKeyId: true });
    const { DATABASE_URL, SECRET_KEY } = service.core.config;
    const moved = await startServiceWithIssuer(other, { DATABASE_URL, SECRET_KEY });
    try {
      const browser = openFormBrowser(service.url);
      const back = await signInAtIssuer(issuer, await beginSignIn(browser));
      const elsewhere = openFormBrowser(moved.url);
      for (const [name, cookie] of browser.cookies) elsewhere.cookies.set(name, cookie);
      expect(outcome(await returnToService(elsewhere, back))).toEqual(notAccepted);
      expect(other.tokenCalls).toEqual([]);
    } finally {
      await moved.stop();
      await other.stop();
    }
  });

  test('with hostile parameters is an error page, never a 500', async () => {
    for (const query of [
      '',
      'error=access_denied',
      'code=a&code=b&state=c',
      `state=${'x'.repeat(4_000)}`,
      'code=%00&state=%ff%fe',
      'response=eyJhbGciOiJub25lIn0.e30.',
    ]) {
      const browser = openFormBrowser(service.url);
      await beginSignIn(browser);
      const answer = await browser.go(`/sign-in/external/callback?${query}`);
      expect(outcome(answer), query).toEqual(notAccepted);
      expect(answer.visibleText).toContain('Go to sign-in');
    }
    const stranger = openFormBrowser(service.url);
    expect(outcome(await stranger.go('/sign-in/external/callback?code=a&state=b'))).toEqual(over);
    stranger.cookies.set('ams_external', { value: 'x'.repeat(3_000), path: '/' });
    expect(outcome(await stranger.go('/sign-in/external/callback?code=a&state=b'))).toEqual(over);
  });
});

describe('an ID token', () => {
  const forgeries: [string, Forgery][] = [
    ['with another nonce', { claims: { nonce: 'another' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['for another client', { claims: { aud: 'another client' } }],
    ['for us and others, handed to one of the others', { claims: { aud: ['ams', 'b'], azp: 'b' } }],
    ['that has expired', { claims: { exp: 1 } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['without a name', { claims: { sub: '' } }],
    ['with a name that no issuer issues', { claims: { sub: 'x'.repeat(256) } }],
    ['with a name that cannot be stored', { claims: { sub: 'a\0b' } }],
    ['with half a character', { claims: { sub: 'a\ud800' } }],
    ['that another key has signed', { signWithOtherKey: true }],
    ['without a signature', { unsigned: true }],
  ];
  test.each(forgeries)('%s is refused', async (_what, forgery) => {
    expect(outcome(await signInWith(forgery))).toEqual(notAccepted);
  });

  test('suggests a valid username from the claims', async () => {
    const suggestions: [Record<string, unknown>, string][] = [
      [{ preferred_username: 'Ada.Lovelace@id.example' }, 'ada-lovelace'],
      [{ preferred_username: 'Jürgen_SS!' }, 'jurgen_ss'],
      [{ nickname: 'x'.repeat(300) }, 'x'.repeat(32)],
      [{ preferred_username: '<b>"&' }, 'b'],
      [{ preferred_username: 7, nickname: '---' }, ''],
    ];
    for (const [claims, expected] of suggestions) {
      const page = await signInWith({ claims });
      expect(page.forms.flatMap(({ fields }) => fields)).toContainEqual(['username', expected]);
    }
  });
});

describe('an issuer that', () => {
  const faults: [string, Forgery, unknown[]][] = [
    ['refuses the code', { token: { status: 400, body: '{"error":"invalid_grant"}' } }, notAccepted],
    ['says it is busy', { answer: { code: undefined, error: 'temporarily_unavailable' } }, away],
    ['fails at the code', { token: { status: 500, body: 'oops', type: 'text/plain' } }, away],
    [
      'returns a token response that is not JSON',
      { token: { status: 200, body: '<p>', type: 'text/html' } },
      notAccepted,
    ],
    ['answers the code with anything', { token: { status: 200, body: '[1,2' } }, notAccepted],
  ];
  test.each(faults)('%s leads to an error page', async (_what, forgery, expected) => {
    expect(outcome(await signInWith(forgery))).toEqual(expected);
  });

  test('is down leads to an error page, and the next sign-in calls it again', async () => {
    const fresh = await startForgedIssuer('ams');
    fresh.forge({ metadata: { status: 500, body: '' } });
    const other = await startServiceWithIssuer(fresh);
    try {
      const browser = openFormBrowser(other.url);
      await browser.signUp(newUsername(), password);
      const path = '/console/account/external';
      expect(outcome(await browser.fill(path))).toEqual(away);
      const visitor = openFormBrowser(other.url);
      const refused = await visitor.go('/sign-in/external');
      expect(outcome(refused)).toEqual(away);
      expect(refused.headers.get('Retry-After')).toBe('60');
      expect(refused.visibleText).toContain('Go to sign-in');
      fresh.forge({ metadata: { status: 200, body: '{"issuer":"https://evil.example"}' } });
      expect(outcome(await visitor.go('/sign-in/external'))).toEqual(away);
      fresh.forge({});
      expect(await beginSignIn(visitor)).toMatch(new RegExp(`^${fresh.url}/authorize\\?`));
      const back = await signInAtIssuer(fresh, await beginSignIn(visitor));
      await fresh.stop();
      expect(outcome(await returnToService(visitor, back))).toEqual(away);
    } finally {
      await other.stop();
    }
  });
});

test('the request to the issuer is bound to this browser by state, nonce and PKCE, new each time', async () => {
  const browser = openFormBrowser(service.url);
  const [one, other] = [new URL(await beginSignIn(browser)), new URL(await beginSignIn(browser))];
  expect(Object.fromEntries(one.searchParams)).toEqual({
    client_id: 'ams',
    response_type: 'code',
    redirect_uri: `${publicUrl}/sign-in/external/callback`,
    scope: 'openid profile',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(one.searchParams.get(name)).not.toBe(other.searchParams.get(name));
  }
});

test('another site can neither start a sign-in nor choose where it ends', async () => {
  const browser = openFormBrowser(service.url);
  for (const site of ['cross-site', 'same-site']) {
    const answer = await browser.go('/sign-in/external', {
      headers: { 'Sec-Fetch-Site': site },
      follow: false,
    });
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/sign-in?to=%2Fconsole']);
  }
  for (const to of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
    const visitor = openFormBrowser(service.url);
    issuer.forge({ claims: { sub: 'somebody with an account' } });
    const page = await returnToService(visitor, await signInAtIssuer(issuer, await beginSignIn(visitor, to)));
    const [form] = page.forms;
    const end = form?.action.endsWith('/username')
      ? await visitor.send(form, { fields: { username: newUsername() } })
      : page;
    expect(new URL(end.url).pathname).toBe('/console');
  }
});

test('a person who signs out during the sign-in connects nothing', async () => {
  const browser = openFormBrowser(service.url);
  await browser.signUp(newUsername(), password);
  const path = '/console/account/external';
  const back = await signInAtIssuer(issuer, followRedirect(await browser.fill(path)));
  await browser.signOut();
  expect(outcome(await returnToService(browser, back))).toEqual([403, 'A different person is signed in']);
});

test('the cookie of a pending sign-in is hidden from scripts and other sites', async () => {
  const answer = await openFormBrowser(service.url).go('/sign-in/external');
  const cookie = answer.headers.getSetCookie().find((line) => line.startsWith('ams_external='));
  expect(cookie).toMatch(/; path=\/; .*samesite=lax; httponly$/i);
  const rows = await service.sql<{ text: string }>(`select e::text as text from external_sign_ins e`);
  expect(JSON.stringify(rows)).not.toContain(/^ams_external=([\w-]+)/.exec(cookie ?? '')?.[1]);
});
