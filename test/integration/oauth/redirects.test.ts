import { describe, expect, test } from 'vitest';
import { openFormBrowser } from '../../clients/form-browser.ts';
import {
  programRequest,
  openConsentPage,
  submitConsent,
  registerApp,
  readRedirectParams,
} from '../../clients/oauth/app.ts';
import { startAuthorizationServer, useAuthorizationServer } from './authorization-server.ts';

const authority = useAuthorizationServer();

const visit = (address: string) => openFormBrowser(authority.url).go(address, { follow: false });

describe('redirects', () => {
  const registered = 'https://app.example/callback';

  test('to an unregistered address do not happen, not even with an error; the person sees a page', async () => {
    const app = await registerApp(authority.url, {
      redirect_uris: [registered, 'http://127.0.0.1/callback', 'com.example.app:/callback'],
    });
    for (const redirect_uri of [
      'https://evil.example/callback',
      'https://app.example.evil.example/callback',
      'https://app.example@evil.example/callback',
      'https://app.example/callback/',
      'https://app.example/callback?x=1',
      'https://app.example/callback#',
      'https://app.example/CALLBACK',
      'https://app.example:444/callback',
      'http://app.example/callback',
      'http://127.0.0.1:80/other',
      'http://127.0.0.1.evil.example/callback',
      'http://127.0.0.1:80@evil.example/callback',
      'http://127.1/callback',
      'http://localhost/callback',
      'https://127.0.0.1/callback',
      'com.example.app:/other',
      'javascript:alert(1)',
      '//evil.example/callback',
      'callback',
    ]) {
      // Right requests and wrong ones: an error must not lead there either.
      for (const over of [{}, { prompt: 'none' }, { code_challenge: null }]) {
        const answer = await visit(app.address({ redirect_uri, ...over }));
        expect([redirect_uri, answer.status]).toEqual([redirect_uri, 400]);
        expect(answer.headers.get('Location')).toBeNull();
        expect(answer.headers.get('Content-Type')).toMatch(/^text\/html/);
        expect(answer.text).not.toContain('evil.example');
        expect(answer.title).toContain('This request was rejected');
      }
    }
  });

  test('return a state that cannot be stored with the error', async () => {
    const app = await registerApp(authority.url);
    const answer = await openFormBrowser(authority.url).go(app.address({ state: 'a\0b' }), programRequest);
    expect(answer.status).toBe(303);
    const params = new URL(answer.headers.get('Location') ?? '').searchParams;
    expect([params.get('error'), params.get('state')]).toEqual(['invalid_request', 'a\0b']);
  });

  const invalid = [
    [{ prompt: 'none' }, 'login_required'],
    [{ code_challenge: null }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ resource: 'https://elsewhere.example/' }, 'invalid_target'],
    [{ response_type: '<script>' }, 'unsupported_response_type'],
  ] as const;

  test('tell the app of an invalid request, also in a browser', async () => {
    for (const redirect_uri of [registered, 'http://127.0.0.1:4110/callback', 'com.example.app:/callback']) {
      const app = await registerApp(authority.url, { redirect_uris: [redirect_uri] });
      for (const [over, error] of invalid) {
        const answer = await visit(app.address(over));
        expect([answer.status, answer.headers.get('Location')]).toEqual([
          303,
          expect.stringContaining(redirect_uri),
        ]);
        const params = readRedirectParams(answer);
        const told = [params.get('error'), params.get('state'), params.get('iss')];
        expect(told).toEqual([error, app.state, authority.url]);
      }
    }
  });

  test('do not open an app scheme that the person has not allowed: a page shows where its link leads', async () => {
    const redirect_uri = 'quill:/callback';
    const app = await registerApp(authority.url, { redirect_uris: [redirect_uri] });
    for (const [over, error] of invalid) {
      const answer = await visit(app.address(over));
      expect([error, answer.status, answer.headers.get('Location')]).toEqual([error, 400, null]);
      expect(answer.text).not.toContain('<script>');
      const link = answer.elements('a').find((each) => each.attribs['href']?.startsWith(redirect_uri));
      const params = new URL(link?.attribs['href'] ?? '').searchParams;
      expect([params.get('error'), params.get('state')]).toEqual([error, app.state]);
      expect(answer.visibleText).toContain('Return to quill:');
    }
    const who = await authority.person();
    const browser = openFormBrowser(authority.url);
    const page = await openConsentPage(browser, app.address(), who);
    expect(page.visibleText).toContain('The address scheme quill: is unknown to this service');
    const denied = await submitConsent(browser, page, 'cancel');
    expect([denied.status, denied.headers.get('Location')]).toEqual([400, null]);
    expect(denied.visibleText).toContain('You did not give the app access.');
    expect(denied.visibleText).not.toContain('invalid');
    expect((await app.connect(who)).token_type).toBe('Bearer');
  });

  test('do not happen without an address, or with two', async () => {
    const app = await registerApp(authority.url, {
      redirect_uris: [registered, 'https://app.example/other'],
    });
    for (const over of [
      { redirect_uri: null },
      { redirect_uri: [registered, 'https://evil.example'] },
      { redirect_uri: '' },
    ]) {
      const answer = await visit(app.address(over));
      expect([answer.status, answer.headers.get('Location')]).toEqual([400, null]);
    }
  });

  test('do not happen for an unknown client; the page does not repeat its name', async () => {
    const app = await registerApp(authority.url);
    for (const client_id of ['app_unknown', '<script>', 'operator', 'console', '\0', '']) {
      const answer = await visit(app.address({ client_id }));
      expect([answer.status, answer.headers.get('Location')]).toEqual([400, null]);
      expect(answer.text).not.toContain('<script>');
    }
  });

  test('are not possible for a confidential client', async () => {
    const agent = await authority.agent();
    const { client_id } = await authority.credential(agent.canonical_handle);
    const app = await registerApp(authority.url);
    const answer = await visit(app.address({ client_id }));
    expect([answer.status, answer.headers.get('Location')]).toEqual([400, null]);
  });

  test('back to the request need its cookie, so that they are not open', async () => {
    const app = await registerApp(authority.url, { redirect_uris: [registered] });
    const answer = await visit(
      `${authority.url}/authorize/x?client_id=${app.client_id}&redirect_uri=https://evil.example&state=x`,
    );
    expect([answer.status, answer.headers.get('Location')]).toEqual([400, null]);
  });

  test('do not depend on the Host header', async () => {
    const app = await registerApp(authority.url);
    const answer = await openFormBrowser(authority.url).go(app.address(), {
      follow: false,
      headers: { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' },
    });
    expect(answer.headers.get('Location')).toMatch(/^\/authorize\/requests\/[\w-]+$/);
  });
});

test('behind a proxy that ends TLS, redirects are the same, and cookies are for https only', async () => {
  const origin = 'https://ams.example';
  const proxied = await startAuthorizationServer({ restartOf: { url: origin, env: authority.env } });
  const who = await authority.person();
  const app = await registerApp(proxied.url);
  const browser = openFormBrowser(proxied.url);
  const sent = await browser.go(app.address(), { follow: false });
  const cookies = sent.headers.getSetCookie();
  expect(cookies).toHaveLength(4);
  for (const cookie of cookies) expect(cookie).toMatch(/; secure; httponly/i);

  const page = await openConsentPage(browser, app.address(), who, origin);
  const answer = readRedirectParams(await submitConsent(browser, page, 'approve', who.agent.id, origin));
  expect([answer.get('iss'), answer.get('code')]).toEqual([origin, expect.any(String)]);
  expect((await app.exchange(answer.get('code') ?? '')).status).toBe(200);
  await proxied.close();
});
