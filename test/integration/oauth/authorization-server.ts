import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { afterAll, expect } from 'vitest';
import { use } from '../../support/use.ts';
import { z } from 'zod';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { retireAgent } from '../../../src/services/agents/retire.ts';
import { createCredential, revokeCredential } from '../../../src/services/auth/credentials.ts';
import { issueToken } from '../../../src/services/auth/issue-token.ts';
import { toResourceUrls } from '../../../src/services/auth/tokens.ts';
import { createAccount } from '../../../src/services/people/accounts.ts';
import { hashPassword } from '../../../src/services/people/passwords.ts';
import type { ApiOverrides } from '../../../src/start/overrides.ts';
import { findFreePort } from '../../support/free-port.ts';
import { createLogRecorder } from '../../support/log-recorder.ts';
import { buildTestEnv, createTestSettings, startService } from '../../support/service.ts';
import { exposeAuthorizationRequest } from './request-window.ts';

export const password = 'seven odd horses';

let passwordHash: Promise<string> | undefined;

export const secret = 'a secret key that is for tests and nothing else';

/** The error message for a revoked token. */
export const revokedTokenMessage = /unknown or was revoked/;

export interface AuthorizationServerOptions {
  /** Replaces parts of the storage. */
  storageOverrides?: ApiOverrides['oauthStorage'];
  /** The setting RATE_LIMITS; off by default. */
  limits?: string;
  /** The setting REFRESH_GRACE_SECONDS. */
  refresh_grace_s?: number;
  /** Other settings. */
  settings?: Record<string, string>;
  /** Client ID metadata documents, by URL. */
  documents?: Record<string, () => Response | Promise<Response>>;
  /** Uses the database and the public URL of another one, like a process that was restarted. */
  restartOf?: { url: string; env: { DATABASE_URL: string } };
}

/** An API process with its own database, and what tests of its authorization server need. */
export async function startAuthorizationServer(options: AuthorizationServerOptions = {}) {
  const { storageOverrides, limits = 'off', refresh_grace_s = 0, documents = {}, restartOf } = options;
  const settings = restartOf
    ? { env: buildTestEnv(restartOf.env.DATABASE_URL), release: async () => {} }
    : await createTestSettings('postgres');
  const port = await findFreePort();
  const address = `http://127.0.0.1:${port}`;
  const url = restartOf?.url ?? address;
  const { logger, entries } = createLogRecorder();
  const service = await startService({
    worker: false,
    settings,
    env: {
      SECRET_KEY: secret,
      PORT: String(port),
      PUBLIC_URL: url,
      RATE_LIMITS: limits,
      REFRESH_GRACE_SECONDS: String(refresh_grace_s),
      ...options.settings,
    },
    overrides: {
      logger,
      oauthStorage: storageOverrides ?? {},
      async readDocument(request) {
        const { url: wanted } = new Request(request);
        const document = documents[wanted];
        if (!document) throw new Error(`nothing is at ${wanted}`);
        return document();
      },
      inspectRequests: exposeAuthorizationRequest,
    },
  });
  const { core, parts } = service;
  const { unitOfWork } = core;
  const { tokens, publishRevocations: publish } = parts.live;
  const resources = toResourceUrls(url);
  const env = {
    DATABASE_URL: core.config.DATABASE_URL,
    SECRET_KEY: secret,
    DATA_DIR: core.config.DATA_DIR,
    PUBLIC_URL: url,
    LOG_LEVEL: 'silent',
    // Tests do not depend on a way out of this machine.
    CLIENT_ID_METADATA_DOCUMENTS: 'false',
    RATE_LIMITS: limits,
  };

  let count = 0;
  const freshName = () => `owner-${(count += 1)}`;
  return {
    /** Where it listens; also its public URL, unless it is a restart of another one. */
    url: address,
    env,
    core,
    resources,
    storage: parts.storage,
    tokens,
    /** `good`, or the message of the error that the verification of a token throws. */
    verifyToken: (token: string, audience: 'api' | 'mcp' | 'ws' = 'api') =>
      tokens.verify(token, audience).then(
        () => 'good',
        (error: Error) => error.message,
      ),
    /** What the process logged as a warning or an error. */
    faults: entries,
    /** A fresh agent of a fresh owner, or of one that is there. */
    agent: (owner = freshName(), name = 'agent') =>
      unitOfWork.write(system, (work) =>
        registerAgentAsOperator(work, { handle: `${owner}.${name}`, create_owner: true }),
      ),
    /** A person of a fresh account with the password above, and an agent. */
    async person() {
      const username = freshName();
      const password_hash = await (passwordHash ??= hashPassword(password));
      const { id: account_id } = await unitOfWork.write(system, (work) =>
        createAccount(work, { username, password_hash }),
      );
      const agent = await unitOfWork.write(system, (work) =>
        registerAgentAsOperator(work, { handle: `${username}.agent` }),
      );
      return { account_id, username, agent };
    },
    publishRevocation: publish,
    credential: (handle: string, scopes: Scope[] = ['threads:read', 'threads:write']) =>
      unitOfWork.write(system, (work) => createCredential(work, { handle, scopes })),
    async revoke(client_id: string) {
      await publish(await unitOfWork.write(system, (work) => revokeCredential(work, client_id)));
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
      await unitOfWork.write(actor, async (work) => {
        await retireAgent(work, id);
        return { body: '' };
      });
    },
    operatorToken: (handle: string, expires_in = 900) =>
      unitOfWork.write(system, (work) =>
        issueToken(work, { handle, resource: resources.api, scopes: ['threads:read'], expires_in }),
      ),
    write: service.write,
    read: service.read,
    sql: service.sql,
    async close() {
      await service.stop();
    },
  };
}

/** An authorization server for the tests of one file, which must log no warning or error unless `mayFail`. */
export function useAuthorizationServer(options?: AuthorizationServerOptions & { mayFail?: true }) {
  const authority = use(() => startAuthorizationServer(options));
  afterAll(() => {
    if (!options?.mayFail) expect(authority.faults).toEqual([]);
  });
  return authority;
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
  const answer = await fetch(address, { method: 'POST', body: new URLSearchParams(pairs), headers });
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
