import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findForm, type PageResponse } from '../../../clients/form-browser.ts';
import { isNightly } from '../../../support/extent.ts';
import { createAgentFor, password, type SignedInBrowser, useConsole } from '../setup.ts';

// A provider that is never called; with it the pages have their provider forms.
const setup = useConsole({ OIDC_ISSUER: 'https://id.invalid', OIDC_CLIENT_ID: 'ams' });
const type = 'application/x-www-form-urlencoded';

const filesForms = /^\/console\/conversations\/(?:new|[^/]+\/(?:messages|draft))$/;

interface Target extends SignedInBrowser {
  csrf: string;
  /** The action of every form of the console, with an agent of the person for each parameter. */
  forms: string[];
}

let ada: Target;
let eve: Target;

const csrfOf = (page: PageResponse): string => new Map(findForm(page).fields).get('csrf') ?? '';

async function target(): Promise<Target> {
  const person = await setup.signUpPerson();
  const { id } = await createAgentFor(setup.service, person.username, 'agent');
  const csrf = csrfOf(await person.browser.go('/console'));
  return {
    ...person,
    csrf,
    forms: setup.listPaths('POST').map((path) => path.replaceAll(/:\w+/g, id)),
  };
}

/** The fields of all forms together; each form reads those that it needs. */
function post(
  { browser, username }: Target,
  address: string,
  { headers, csrf }: { headers: Record<string, string>; csrf: string | undefined },
): Promise<PageResponse> {
  const fields = { username, password, current: password, next: 'another long phrase' };
  const body = new URLSearchParams({ ...fields, ...(csrf !== undefined && { csrf }) }).toString();
  const sent = { 'Content-Type': type, ...headers };
  return browser.go(address, { method: 'POST', headers: sent, body, follow: false });
}

/** A checksum of all tables, to detect changes. */
async function fingerprint(): Promise<string> {
  const tables = await setup.service.sql<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  );
  const prints = tables.map(async ({ name }) => {
    const text = `select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as print from "${name}" t`;
    const [row] = await setup.service.sql<{ print: string }>(text);
    return `${name} ${row?.print}`;
  });
  return (await Promise.all(prints)).join('\n');
}

beforeAll(async () => {
  eve = await target();
});
beforeEach(async () => {
  ada = await target();
});

type Attack = [what: string, send: { headers: Record<string, string>; csrf: () => string | undefined }];

const attacks: Attack[] = [
  ['without the token', { headers: {}, csrf: () => undefined }],
  ['with an empty token', { headers: {}, csrf: () => '' }],
  ["with somebody else's token", { headers: {}, csrf: () => eve.csrf }],
  ['from another origin', { headers: { Origin: 'https://evil.example' }, csrf: () => ada.csrf }],
  ['from a null origin', { headers: { Origin: 'null' }, csrf: () => ada.csrf }],
  ['from the same site', { headers: { 'Sec-Fetch-Site': 'same-site' }, csrf: () => ada.csrf }],
  ['from another site', { headers: { 'Sec-Fetch-Site': 'cross-site' }, csrf: () => ada.csrf }],
];

/** Every change tries one of each kind: without the token, from another origin, from another site. */
describe.each(attacks.filter((_, index) => isNightly || index % 3 === 0))(
  'a form %s',
  (_what, { headers, csrf }) => {
    test('is refused at every address, and changes nothing', async () => {
      const before = await fingerprint();
      expect(ada.forms.length).toBeGreaterThan(5);
      for (const address of ada.forms) {
        const origin = { Origin: setup.service.url };
        const answer = await post(ada, address, { headers: { ...origin, ...headers }, csrf: csrf() });
        expect([address, answer.status]).toEqual([address, 403]);
        expect(answer.visibleText).toContain('This form was not accepted.');
      }
      expect(await fingerprint()).toBe(before);
      expect((await ada.browser.go('/console')).visibleText).toContain(ada.username);
    });
  },
);

test('a form without headers about its origin is refused', async () => {
  for (const address of ada.forms) {
    const answer = await post(ada, address, { headers: {}, csrf: ada.csrf });
    expect([address, answer.status]).toEqual([address, 403]);
  }
});

test('the same form from the service itself, with its token, is accepted', async () => {
  for (const [index, address] of ada.forms.entries()) {
    const person = index === 0 ? ada : await target();
    const own = person.forms[index] ?? address;
    const headers = { Origin: setup.service.url };
    expect((await post(person, own, { headers, csrf: person.csrf })).visibleText).not.toContain(
      'was not accepted',
    );
  }
});

test('before sign-in a token is bound to one browser', async () => {
  const [mine, other] = [setup.browser(), setup.browser()];
  const form = findForm(await mine.go('/sign-in'));
  await other.go('/sign-in');
  const fields = { username: ada.username, password };
  expect((await other.send(form, { fields })).status).toBe(403);
  expect((await setup.browser().send(form, { fields })).status).toBe(403);
  expect((await mine.send(form, { fields })).visibleText).toContain(`Hello, ${ada.username}`);
});

test('a form from before the sign-out is refused with an explanation, and without its secrets', async () => {
  const { browser } = await setup.signUpPerson();
  const form = findForm(await browser.go('/console/account'), '/console/account/password');
  await browser.signOut();
  const answer = await browser.send(form, { fields: { current: password, next: 'another long phrase' } });
  expect(answer.status).toBe(403);
  expect(answer.visibleText).toContain('You signed in or out after opening the page');
  const kept = new Map(findForm(answer, '/sign-in').fields).get('kept') ?? '';
  const content = `${answer.text} ${Buffer.from(kept, 'base64url').toString()}`;
  for (const secret of [password, encodeURIComponent(password), 'another', 'csrf=', 'current='])
    expect(content).not.toContain(secret);
});

describe('an invalid form', () => {
  test.each([
    ['JSON', { 'Content-Type': 'application/json' }, '{}', 415],
    [
      'several parts, if it has no files',
      { 'Content-Type': 'multipart/form-data; boundary=x' },
      '--x--',
      415,
    ],
    ['a compressed one', { 'Content-Type': type, 'Content-Encoding': 'gzip' }, 'x', 415],
    ['no body', {}, undefined, 415],
    ['more than any form holds', { 'Content-Type': type }, `a=${'x'.repeat(1024 * 1024)}`, 413],
  ])('is refused: %s', async (_what, headers, body, status) => {
    const sent: Record<string, string> = { Origin: setup.service.url, ...headers };
    for (const address of ada.forms) {
      const answer = await ada.browser.go(address, {
        method: 'POST',
        headers: sent,
        ...(body !== undefined && { body }),
        follow: false,
      });
      // A form with files is read in parts, and this one has no token.
      const takesFiles = /multipart/.test(sent['Content-Type'] ?? '') && filesForms.test(address);
      expect([address, answer.status]).toEqual([address, takesFiles ? 403 : status]);
      expect(answer.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    }
  });

  test.each([
    ['broken percent signs and bytes', 'csrf=%E0%A4%A&username=%FF%00&password=%'],
    ['names of other languages', 'csrf[]=a&__proto__=b&constructor[prototype]=c&username[$gt]='],
    ['a thousand fields', Array.from({ length: 1000 }, (_, index) => `f${index}=`).join('&')],
  ])('is refused: %s', async (_what, body) => {
    for (const address of ada.forms) {
      const headers = { 'Content-Type': type, Origin: setup.service.url };
      const answer = await ada.browser.go(address, { method: 'POST', headers, body, follow: false });
      expect([address, answer.status]).toEqual([address, 403]);
    }
  });
});
