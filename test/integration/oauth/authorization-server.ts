import { disabledIntake } from '../../support/stubs.ts';
import { createServer } from 'node:http';
import { z } from 'zod';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Scope } from '../../../src/domain/auth/scopes.ts';
import { createConsoleTransport } from '../../../src/transports/console/transport.ts';
import { createPageRenderer } from '../../../src/transports/console/renderer.tsx';
import { createApp } from '../../../src/transports/http/app.ts';
import { createOAuthTransport } from '../../../src/transports/oauth/transport.ts';
import type { OAuthStorage } from '../../../src/transports/oauth/storage.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { createExecute } from '../../../src/operations/execute/execute.ts';
import { createRateLimits } from '../../../src/operations/rate-limits.ts';
import { createAccount } from '../../../src/services/people/accounts.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { createCredential, revokeCredential } from '../../../src/services/auth/credentials.ts';
import { issueToken } from '../../../src/services/auth/issue-token.ts';
import { createOAuthStorage } from '../../../src/services/auth/oauth-storage.ts';
import { retireAgent } from '../../../src/services/agents/retire.ts';
import {
  parseRevocation,
  revocationMessages,
  revocationTopic,
} from '../../../src/services/auth/revocations.ts';
import { hashPassword } from '../../../src/services/people/passwords.ts';
import { loadSigningKeys } from '../../../src/services/auth/signing-keys.ts';
import { createTokens, toResourceUrls, type Revocation } from '../../../src/services/auth/tokens.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { exposeAuthorizationRequest } from './request-window.ts';

export const password = 'seven odd horses';

let passwordHash: Promise<string> | undefined;

export const secret = 'a secret key that is for tests and nothing else';

/** What a door says to a token that stands no more. */
export const revokedTokenMessage = /unknown or was revoked/;

export interface AuthorizationServerOptions {
  /** Takes the place of parts of its storage. */
  storageOverrides?: Partial<OAuthStorage>;
  /** As the setting RATE_LIMITS; off unless told otherwise. */
  limits?: string;
  /** As the setting REFRESH_GRACE_SECONDS. */
  refresh_grace_s?: number;
  /** Documents in which clients describe themselves, by address. */
  documents?: Record<string, () => Response | Promise<Response>>;
  /** Goes on with the database and under the address of another one, as a process does that was restarted. */
  restartOf?: { url: string; env: { DATABASE_URL: string } };
}

/** The authorization server, its pages and a token check on a database of their own, wired as an API process wires them. */
export async function startAuthorizationServer(options: AuthorizationServerOptions = {}) {
  const { storageOverrides, limits = 'off', refresh_grace_s = 0, documents = {}, restartOf } = options;
  const database = restartOf
    ? { url: restartOf.env.DATABASE_URL, drop: async () => {} }
    : await createTestDatabase();
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no address');
  const place = `http://127.0.0.1:${address.port}`;
  const url = restartOf?.url ?? place;
  const env = {
    DATABASE_URL: database.url,
    SECRET_KEY: secret,
    PUBLIC_URL: url,
    LOG_LEVEL: 'silent',
    RATE_LIMITS: limits,
  };
  const core = compose(loadConfig(env), 'test');
  const { unitOfWork, bus, logger } = core;
  const resources = toResourceUrls(url);

  const publish = (ending: readonly Revocation[]) => bus.publish(revocationMessages(ending));
  const tokens = createTokens({
    find: (hash) => unitOfWork.readAsSystem((r) => r.tokens.find(hash)),
    resources,
  });
  await bus.subscribe(revocationTopic, (body) => tokens.forget(parseRevocation(body)));
  const faults: unknown[] = [];
  const refresh_grace_ms = refresh_grace_s * 1_000;
  const kept = createOAuthStorage({ unitOfWork, publish, refresh_grace_ms });
  const storage: OAuthStorage = { ...kept, ...storageOverrides };
  const cookie_keys = ['a key for cookies'];
  const accounted = createRateLimits(core.limiter);
  const renderer = await createPageRenderer({
    public_url: url,
    csrf_key: Buffer.alloc(32, 'a key for forms'),
  });
  const transport = createOAuthTransport({
    issuer: url,
    resources,
    storage,
    limits: accounted,
    cookie_keys,
    signing_keys: await loadSigningKeys(unitOfWork, secret),
    trust_proxy: false,
    async readDocument(asked) {
      const { url: wanted } = new Request(asked);
      const document = documents[wanted];
      if (!document) throw new Error(`nothing is at ${wanted}`);
      return document();
    },
    errorPage: (ctx, words) => renderer.errorPage(ctx, words),
    report: (error) => void faults.push(error),
  });
  const pages = createConsoleTransport({
    renderer,
    requests: transport.requests,
    publishRevocations: publish,
    unitOfWork,
    execute: createExecute(unitOfWork, accounted, disabledIntake),
    catalogue,
    limits: accounted,
    addresses: core.addresses,
    settings: { public_url: url, signup: 'open', export_days: 7 },
    external: undefined,
    logger,
  });
  const handlers = [transport.middleware, exposeAuthorizationRequest(transport.requests), pages];
  const answer = createApp({ logger, trust_proxy: false, keys: cookie_keys, handlers }).callback();
  server.on('request', (request, response) => void answer(request, response));

  let count = 0;
  const freshName = () => `owner-${(count += 1)}`;
  return {
    /** Where it listens; its public address too, unless it goes on after another one. */
    url: place,
    face: transport,
    env,
    core,
    resources,
    storage,
    tokens,
    /** What a door says to a token: `good`, or why not. */
    verifyToken: (token: string, door: 'api' | 'mcp' | 'ws' = 'api') =>
      tokens.verify(token, door).then(
        () => 'good',
        (error: Error) => error.message,
      ),
    /** Faults of the server that nobody caused on purpose. */
    faults,
    /** A fresh agent of a fresh owner, or of one that is there. */
    agent: (owner = freshName(), name = 'agent') =>
      unitOfWork.writeAsSystem((work) =>
        registerAgentAsOperator(work, { handle: `${owner}.${name}`, create_owner: true }),
      ),
    /** A person of a fresh account with the password above, and an agent. */
    async person() {
      const username = freshName();
      const password_hash = await (passwordHash ??= hashPassword(password));
      const { id: account_id } = await unitOfWork.writeAsSystem((work) =>
        createAccount(work, { username, password_hash }),
      );
      const agent = await unitOfWork.writeAsSystem((work) =>
        registerAgentAsOperator(work, { handle: `${username}.agent` }),
      );
      return { account_id, username, agent };
    },
    publishRevocation: publish,
    credential: (handle: string, scopes: Scope[] = ['threads:read', 'threads:write']) =>
      unitOfWork.writeAsSystem((work) => createCredential(work, { handle, scopes })),
    async revoke(client_id: string) {
      await publish(await unitOfWork.writeAsSystem((work) => revokeCredential(work, client_id)));
    },
    /** Retires an agent, as it does so itself. */
    async retire({
      id,
      canonical_handle,
      owner_id,
    }: {
      id: string;
      canonical_handle: string;
      owner_id: string;
    }) {
      const token = {
        client_id: 'test',
        resource: resources.api,
        expires_at: Date.now() + 1_000,
        token_id: '',
      };
      const actor = { agent_id: id, handle: canonical_handle, owner_id, scopes: new Set<string>(), ...token };
      await unitOfWork.write(actor, null, async (work) => {
        await retireAgent(work, id);
        return { body: '' };
      });
    },
    operatorToken: (handle: string, expires_in = 900) =>
      unitOfWork.writeAsSystem((work) =>
        issueToken(work, { handle, resource: resources.api, scopes: ['threads:read'], expires_in }),
      ),
    sql: <Row extends object>(text: string, values: unknown[] = []) =>
      core.database.query<Row>({ text }, values),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
      await core.close();
      await database.drop();
    },
  };
}

export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>;

/** A client's id and secret in the body. */
export function clientSecretPost({ client_id, client_secret }: { client_id: string; client_secret: string }) {
  return { client_id, client_secret };
}

/** A client's id and secret as HTTP Basic (RFC 6749, section 2.3.1). */
export function clientSecretBasic({
  client_id,
  client_secret,
}: {
  client_id: string;
  client_secret: string;
}) {
  const pair = `${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`;
  return { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

const answerBody = z.looseObject({
  access_token: z.string().optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
  scope: z.string().optional(),
  active: z.boolean().optional(),
});

/** Posts a form; several values of one field are sent one after the other. */
export async function postForm(
  address: string,
  fields: Record<string, string | string[]>,
  headers: Record<string, string> = {},
) {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  const body = new URLSearchParams(pairs);
  const answer = await fetch(address, { method: 'POST', body, headers });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: answerBody.parse(JSON.parse(text || '{}')),
  };
}

/** A token of a credential, for `fields`. */
export async function requestToken(
  { url }: { url: string },
  credential: { client_id: string; client_secret: string },
  fields: Record<string, string> = {},
): Promise<string> {
  const { json } = await postForm(
    `${url}/token`,
    { grant_type: 'client_credentials', ...fields },
    clientSecretBasic(credential),
  );
  return z.string().parse(json.access_token);
}
