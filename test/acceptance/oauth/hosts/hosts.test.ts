import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { openFormBrowser } from '../../../clients/form-browser.ts';
import { createApp, register } from '../../../clients/oauth/app.ts';
import {
  type AuthorizationServer,
  useAuthorizationServer,
} from '../../../integration/oauth/authorization-server.ts';
import { hostDocuments } from './documents.ts';
import { type RefusedDocument, refusedDocuments } from './refusals.ts';
import { signInAs } from './sign-in.ts';

const published = hostDocuments.flatMap(({ document, metadata }) =>
  document === undefined
    ? []
    : [[document, () => Response.json({ client_id: document, ...metadata })] as const],
);

const authority = useAuthorizationServer({ documents: Object.fromEntries(published) });
let person: Awaited<ReturnType<AuthorizationServer['person']>>;
beforeAll(async () => {
  person = await authority.person();
});

const named = hostDocuments.map((host) => [[host.host, host.variant ?? []].flat().join(', '), host] as const);

test.each(named)('%s signs in and lists the tools, also after a refresh', async (_name, host) => {
  const { toolsAtFirst, toolsAfterRefresh } = await signInAs(authority.url, host, person);
  expect(toolsAtFirst).toContain('whoami');
  expect(toolsAfterRefresh).toEqual(toolsAtFirst);
});

describe('a sign-in is refused with the reason', () => {
  async function refusalOf({ redirect_uris, metadata, request, exchange, at }: RefusedDocument) {
    const { json } = await register(authority.url, { redirect_uris, ...metadata });
    if (at === 'register') return [json['error'], json['error_description']];
    const app = createApp(authority.url, String(json['client_id']), redirect_uris[0] ?? '');
    if (at === 'token') {
      const code = (await app.approved(person, request)).get('code') ?? '';
      const answer = await app.exchange(code, exchange);
      return [answer.json.error, answer.json.error_description];
    }
    const answer = await openFormBrowser(authority.url).go(app.address(request), { follow: false });
    const location = answer.headers.get('Location');
    if (at === 'page') return [location === null ? 'invalid_redirect_uri' : location, answer.visibleText];
    const params = new URL(location ?? '').searchParams;
    expect([params.get('state'), params.get('iss')]).toEqual([app.state, authority.url]);
    return [params.get('error'), params.get('error_description')];
  }

  test.each(refusedDocuments.map((refused) => [refused.what, refused] as const))(
    '%s',
    async (_what, refused) => {
      const [error, description] = await refusalOf(refused);
      expect([error, description]).toEqual([refused.error, expect.stringMatching(refused.says)]);
    },
  );
});

test('docs/mcp.md names every host', () => {
  const page = readFileSync('docs/mcp.md', 'utf8');
  const hosts = [...new Set(hostDocuments.map(({ host }) => host))];
  expect(hosts.filter((host) => !page.includes(`| ${host} |`))).toEqual([]);
});
