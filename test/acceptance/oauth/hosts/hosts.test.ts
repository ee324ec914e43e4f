import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import {
  type AuthorizationServer,
  useAuthorizationServer,
} from '../../../integration/oauth/authorization-server.ts';
import { hostDocuments } from './documents.ts';
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

test('docs/mcp.md names every host', () => {
  const page = readFileSync('docs/mcp.md', 'utf8');
  const hosts = [...new Set(hostDocuments.map(({ host }) => host))];
  expect(hosts.filter((host) => !page.includes(`| ${host} |`))).toEqual([]);
});
