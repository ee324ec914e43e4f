import { describe, expect, test } from 'vitest';
import type { PageResponse } from '../../../clients/form-browser.ts';
import { createAgentFor, useConsole } from '../setup.ts';

const setup = useConsole();

const elsewhere = ['/console/nothing', '/assets/no.css', '/authorize/requests/nothing'];

function expectGuarded({ headers, text, elements, url }: PageResponse): void {
  const { pathname } = new URL(url);
  const hasKeys = elements('nav').some(({ attribs }) => attribs['aria-label'] === 'Console');
  const hasPassword = elements('input').some(({ attribs }) => attribs['type'] === 'password');
  const hasScript = hasKeys || pathname === '/' || hasPassword;
  const policy = headers.get('Content-Security-Policy') ?? '';
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    ...(hasScript ? ["script-src 'self'"] : []),
    ...(hasKeys ? ["connect-src 'self'"] : []),
    expect.stringMatching(hasKeys ? /^style-src 'self' 'sha256-[\w+/=]{44}'$/ : /^style-src 'self'$/),
    "img-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]);
  expect(headers.get('X-Frame-Options')).toBe('DENY');
  expect(headers.get('Referrer-Policy')).toBe('same-origin');
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(headers.get('Content-Type')).toBe('text/html; charset=utf-8');
  expect(elements('script')).toHaveLength(Number(hasScript));
  expect(text).not.toMatch(/\s(?:style|on\w+)=/);
  const loaded = [...elements('link'), ...elements('img'), ...elements('script')].map(
    ({ attribs }) => attribs['href'] ?? attribs['src'],
  );
  expect(loaded.filter((address) => !/^\/assets\/[\w-]+\.[\w-]{12}\.\w+$/.test(address ?? ''))).toEqual([]);
}

function expectReadable({ text, title, elements, forms }: PageResponse): void {
  expect(text).toMatch(/^<!doctype html><html lang="en">/);
  expect(title).toMatch(/. · Agent Messaging$/);
  expect(elements('h1')).toHaveLength(1);
  expect(elements('main')).toHaveLength(1);
  const labelled = new Set(elements('label').map(({ attribs }) => attribs['for']));
  const fields = elements('input').filter(
    ({ attribs }) => !('hidden' in attribs) && attribs['type'] !== 'hidden' && attribs['type'] !== 'radio',
  );
  expect(fields.filter(({ attribs }) => !labelled.has(attribs['id']))).toEqual([]);
  for (const form of forms) expect(form.fields.filter(([name]) => name === 'csrf')).toHaveLength(1);
  const ids = elements('input').flatMap(({ attribs }) => attribs['id'] ?? []);
  expect(new Set(ids).size).toBe(ids.length);
}

/** Every page, with a value for each parameter. Streams and files are no pages. */
function pageAddresses(id: string): string[] {
  const paths = setup
    .listPaths('GET')
    // Watch links have a policy of their own; test/integration/watch checks it.
    .filter((path) => !/^\/console\/live\/|^\/watch\/|\.csv$/.test(path))
    .map((path) => path.replaceAll(/:\w+/g, id));
  return [...paths, ...elsewhere];
}

describe('every page has a policy and passes the HTML checks', () => {
  test('for anonymous visitors', async () => {
    for (const address of pageAddresses('nothing')) {
      const page = await setup.browser().go(address);
      expect(page.status, address).toBeLessThan(500);
      expectGuarded(page);
      expectReadable(page);
    }
  });

  test('for signed-in people', async () => {
    const { username, browser } = await setup.signUpPerson();
    const { id } = await createAgentFor(setup.service, username, 'agent');
    for (const address of pageAddresses(id)) {
      const page = await browser.go(address);
      expect(page.status, address).toBeLessThan(500);
      expectGuarded(page);
      expectReadable(page);
    }
  });

  test('and console pages redirect anonymous visitors to sign-in', async () => {
    const pages = pageAddresses('nothing').filter(
      (path) => path.startsWith('/console') && !elsewhere.includes(path),
    );
    expect(pages.length).toBeGreaterThan(5);
    for (const address of pages) {
      const answer = await setup.browser().go(`${address}?a=b`, { follow: false });
      expect([address, answer.status]).toEqual([address, 303]);
      const to = new URLSearchParams({ to: `${address}?a=b` }).toString();
      expect(answer.headers.get('Location')).toBe(`/sign-in?${to}`);
    }
  });
});

describe('not found', () => {
  test('is a page with the request id', async () => {
    const answer = await setup
      .browser()
      .go('/console/nothing', { headers: { 'X-Request-Id': 'known-to-me' } });
    expect(answer.status).toBe(404);
    expect(answer.visibleText).toContain('Page not found');
    expect(answer.visibleText).toContain('Request id: known-to-me');
  });

  test('for a method lists the allowed methods', async () => {
    const answer = await setup.browser().go('/console/sessions/end', { method: 'GET' });
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST']);
    const deleted = await setup.browser().go('/console', { method: 'DELETE' });
    expect([deleted.status, deleted.headers.get('Allow')]).toEqual([405, 'HEAD, GET']);
  });

  test.each(['/nothing', '/nothing/at/all', '/favicon.ico', '/%00'])(
    'is a page for browsers at %s',
    async (path) => {
      const answer = await setup.browser().go(path);
      expect([answer.status, answer.visibleText.includes('Page not found')]).toEqual([404, true]);
      expect(answer.headers.get('Vary')).toContain('Accept');
      expectGuarded(answer);
    },
  );

  test.each(['/v1/nothing', '/mcp/nothing'])('is JSON in the API, also for browsers: %s', async (path) => {
    const answer = await setup.browser().go(path);
    expect(answer.headers.get('Content-Type')).toContain('application/json');
  });

  test.each(['*/*', 'application/json'])('is JSON for programs: Accept %s', async (accept) => {
    const response = await fetch(`${setup.service.url}/nothing`, { headers: { Accept: accept } });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
  });
});

describe('/', () => {
  test.each(['*/*', 'application/json', ''])('returns JSON to programs: Accept %j', async (accept) => {
    const response = await fetch(setup.service.url, { headers: { Accept: accept } });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ links: { console: expect.stringMatching(/\/console$/) } });
    expect(response.headers.get('Vary')).toContain('Accept');
  });

  test('shows people a page with links to sign in', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await setup.browser().go('/', { headers: { Accept: accept } });
    const links = page.links;
    expect(links).toEqual(expect.arrayContaining(['/sign-in', '/sign-up', '/docs/guide']));
    expect(page.visibleText).toContain('http://localhost:3000/mcp');
    expect(page.visibleText).toContain('curl http://localhost:3000/v1/agents/me');
  });
});

describe('assets', () => {
  test('exist, are immutable, and load nothing else', async () => {
    const page = await setup.browser().go('/');
    const addresses = [...page.elements('link'), ...page.elements('img')].map(
      ({ attribs }) => attribs['href'] ?? attribs['src'] ?? '',
    );
    expect(addresses.length).toBeGreaterThan(2);
    for (const address of addresses) {
      const response = await fetch(setup.service.url + address);
      const text = await response.text();
      expect([address, response.status]).toEqual([address, 200]);
      expect(response.headers.get('Content-Type')).toMatch(/^(?:text\/css; charset=utf-8|image\/svg\+xml)$/);
      expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
      expect(text).not.toMatch(/url\(|@import|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
    }
  });
});
