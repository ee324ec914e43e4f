import { z } from 'zod';
import { openFormBrowser } from '../../../clients/form-browser.ts';
import {
  createApp,
  openConsentPage,
  readRedirectParams,
  readTokens,
  register,
  submitConsent,
  type Consenting,
} from '../../../clients/oauth/app.ts';
import { clientSecretBasic, postForm } from '../../../integration/oauth/authorization-server.ts';
import type { HostDocument } from './host-document.ts';

interface Registered {
  client_id: string;
  client_secret?: string | undefined;
}

const registered = z.looseObject({ client_id: z.string(), client_secret: z.string().optional() });
const toolList = z.looseObject({
  result: z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) }),
});

/** Signs a person in as a host does, and returns the tools that it lists with its first token and after a refresh. */
export async function signInAs(url: string, host: HostDocument, person: Consenting) {
  const client = await findClient(url, host);
  const redirect_uri = host.redirect_uri ?? host.metadata.redirect_uris[0] ?? '';
  const app = createApp(url, client.client_id, redirect_uri);
  const resource = `${url}/mcp`;
  const named = (step: 'authorize' | 'token' | 'refresh') =>
    host.resource?.includes(step) ? { resource } : {};

  const browser = openFormBrowser(url);
  const address = app.address({ scope: host.scope ?? null, ...named('authorize') });
  const page = await openConsentPage(browser, address, person);
  const answer = readRedirectParams(await submitConsent(browser, page, 'approve', person.agent.id));
  const ask = (fields: Record<string, string>) => askToken(url, host.authentication, client, fields);
  const first = readTokens(
    await ask({
      grant_type: 'authorization_code',
      code: answer.get('code') ?? '',
      redirect_uri,
      code_verifier: app.verifier,
      ...named('token'),
    }),
  );
  const toolsAtFirst = await listTools(url, first.access_token);
  const { refresh_token } = first;
  const scope = host.refresh_scope === undefined ? {} : { scope: host.refresh_scope };
  const second = readTokens(
    await ask({ grant_type: 'refresh_token', refresh_token, ...scope, ...named('refresh') }),
  );
  return { toolsAtFirst, toolsAfterRefresh: await listTools(url, second.access_token), scope: first.scope };
}

async function findClient(url: string, { document, metadata }: HostDocument): Promise<Registered> {
  if (document !== undefined) return { client_id: document };
  const { status, json } = await register(url, metadata);
  if (status !== 201) throw new Error(`registration: ${status} ${JSON.stringify(json)}`);
  return registered.parse(json);
}

function askToken(
  url: string,
  authentication: HostDocument['authentication'],
  { client_id, client_secret = '' }: Registered,
  fields: Record<string, string>,
) {
  if (authentication === 'client_secret_basic' || authentication === 'empty_basic')
    return postForm(`${url}/token`, fields, clientSecretBasic({ client_id, client_secret }));
  const secret = authentication === 'client_secret_post' ? { client_secret } : {};
  return postForm(`${url}/token`, { ...fields, client_id, ...secret });
}

/** Opens a session of the tool server and lists its tools. */
async function listTools(url: string, token: string): Promise<string[]> {
  const post = async (body: object, session: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...session,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
    if (!answer.ok) throw new Error(`/mcp: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const protocolVersion = '2025-06-18';
  const clientInfo = { name: 'host', version: '1' };
  const started = await post({
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo },
  });
  await started.text();
  const session = {
    'Mcp-Session-Id': started.headers.get('Mcp-Session-Id') ?? '',
    'MCP-Protocol-Version': protocolVersion,
  };
  await post({ method: 'notifications/initialized' }, session);
  const listed = await post({ id: 2, method: 'tools/list' }, session);
  const text = await listed.text();
  const { result } = toolList.parse(JSON.parse(/^data: (\{.*\})$/m.exec(text)?.[1] ?? text));
  return result.tools.map(({ name }) => name);
}
