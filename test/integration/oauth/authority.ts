import { createServer } from 'node:http';
import { z } from 'zod';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Scope } from '../../../src/domain/scopes.ts';
import { createApp } from '../../../src/http/app.ts';
import { createOAuthFace } from '../../../src/oauth/face.ts';
import type { OAuthStorage } from '../../../src/oauth/storage.ts';
import { createLimits } from '../../../src/operations/limits.ts';
import { createAccount } from '../../../src/services/accounts.ts';
import { registerAgent } from '../../../src/services/agents-admin.ts';
import { createCredential, revokeCredential } from '../../../src/services/credentials.ts';
import { issueToken } from '../../../src/services/issue-token.ts';
import { createOAuthStorage } from '../../../src/services/oauth-storage.ts';
import { parseRevocation, revocationMessages, revocationTopic } from '../../../src/services/revocations.ts';
import { signingKeys } from '../../../src/services/signing-keys.ts';
import { createTokens, resourceAddresses, type Revocation } from '../../../src/services/tokens.ts';
import { testDatabase } from '../../support/postgres.ts';
import { decidingFace } from './deciding-face.ts';

export const secret = 'a secret key that is for tests and nothing else';

export interface AuthorityOptions {
  /** Takes the place of parts of its storage. */
  faulty?: Partial<OAuthStorage>;
  /** As the setting RATE_LIMITS; off unless told otherwise. */
  limits?: string;
  /** Documents in which clients describe themselves, by address. */
  documents?: Record<string, () => Response | Promise<Response>>;
}

/** The authorization server and a token check on a database of their own, wired as an API process wires them. */
export async function startAuthority({ faulty, limits = 'off', documents = {} }: AuthorityOptions = {}) {
  const database = await testDatabase();
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no address');
  const url = `http://127.0.0.1:${address.port}`;
  const env = {
    DATABASE_URL: database.url,
    SECRET_KEY: secret,
    PUBLIC_URL: url,
    LOG_LEVEL: 'silent',
    RATE_LIMITS: limits,
  };
  const core = compose(loadConfig(env), 'test');
  const { unitOfWork, bus, logger } = core;
  const resources = resourceAddresses(url);

  const announce = (ended: readonly Revocation[]) => bus.publish(revocationMessages(ended));
  const tokens = createTokens({ find: (hash) => unitOfWork.consult((r) => r.tokens.find(hash)), resources });
  await bus.subscribe(revocationTopic, (body) => tokens.forget(parseRevocation(body)));
  const faults: unknown[] = [];
  const storage: OAuthStorage = { ...createOAuthStorage({ unitOfWork, announce }), ...faulty };
  const cookie_keys = ['a key for cookies'];
  const face = createOAuthFace({
    issuer: url,
    resources,
    storage,
    limits: createLimits(core.limiter),
    cookie_keys,
    signing_keys: await signingKeys(unitOfWork, secret),
    trust_proxy: false,
    async readDocument(asked) {
      const { url: place } = new Request(asked);
      const document = documents[place];
      if (!document) throw new Error(`nothing is at ${place}`);
      return document();
    },
    errorPage(ctx, { title, message, request_id }) {
      ctx.type = 'html';
      ctx.body = `<title>${title}</title><body>${message} ${request_id}</body>`;
    },
    report: (error) => void faults.push(error),
  });
  const faces = [face.middleware, decidingFace(face.requests)];
  const answer = createApp({ logger, trust_proxy: false, keys: cookie_keys, faces }).callback();
  server.on('request', (request, response) => void answer(request, response));

  let count = 0;
  const freshName = () => `owner-${(count += 1)}`;
  return {
    url,
    face,
    env,
    core,
    resources,
    storage,
    tokens,
    /** Faults of the server that nobody caused on purpose. */
    faults,
    /** A fresh agent of a fresh owner, or of one that is there. */
    agent: (owner = freshName(), name = 'agent') =>
      unitOfWork.administer((work) =>
        registerAgent(work, { handle: `${owner}.${name}`, create_owner: true }),
      ),
    /** A person of a fresh account, with an agent. */
    async person() {
      const username = freshName();
      const { id: account_id } = await unitOfWork.administer((work) =>
        createAccount(work, { username, password_hash: null }),
      );
      const agent = await unitOfWork.administer((work) =>
        registerAgent(work, { handle: `${username}.agent` }),
      );
      return { account_id, username, agent };
    },
    announce,
    credential: (handle: string, scopes: Scope[] = ['threads:read', 'threads:write']) =>
      unitOfWork.administer((work) => createCredential(work, { handle, scopes })),
    async revoke(client_id: string) {
      await announce(await unitOfWork.administer((work) => revokeCredential(work, client_id)));
    },
    operatorToken: (handle: string, expires_in = 900) =>
      unitOfWork.administer((work) =>
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

export type Authority = Awaited<ReturnType<typeof startAuthority>>;

/** A client's id and secret in the body. */
export function inBody({ client_id, client_secret }: { client_id: string; client_secret: string }) {
  return { client_id, client_secret };
}

/** A client's id and secret as HTTP Basic (RFC 6749, section 2.3.1). */
export function basic({ client_id, client_secret }: { client_id: string; client_secret: string }) {
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
export async function post(
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
export async function tokenOf(
  { url }: { url: string },
  credential: { client_id: string; client_secret: string },
  fields: Record<string, string> = {},
): Promise<string> {
  const { json } = await post(
    `${url}/token`,
    { grant_type: 'client_credentials', ...fields },
    basic(credential),
  );
  return z.string().parse(json.access_token);
}
