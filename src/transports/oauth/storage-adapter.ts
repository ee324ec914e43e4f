import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { InvalidClientAuth, InvalidGrant, SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { CallHooks } from './call-hooks.ts';
import { clientMetadata, hashSecret } from './clients/clients.ts';
import type { OAuthStorage } from '../../services/auth/oauth-storage.ts';

export interface AdapterParts {
  storage: OAuthStorage;
  hooks: CallHooks;
  /** PUBLIC_URL, without a trailing slash. */
  issuer: string;
  /** The resources of a grant. */
  resources: readonly string[];
}

/** Storage adapters for the provider's models. */
export function createAdapters(parts: AdapterParts): AdapterFactory {
  const adapters: Record<string, () => Adapter> = {
    Client: () => clientAdapter(parts),
    AccessToken: () => tokenAdapter(parts, 'AccessToken'),
    ClientCredentials: () => tokenAdapter(parts, 'ClientCredentials'),
    Grant: () => grantAdapter(parts),
    AuthorizationCode: () => singleUseAdapter(parts, 'AuthorizationCode'),
    RefreshToken: () => singleUseAdapter(parts, 'RefreshToken'),
    Interaction: () => interactionAdapter(parts),
    Session: sessionAdapter,
  };
  return (model) => adapters[model]?.() ?? unsupportedAdapter(model);
}

function clientAdapter({ storage, hooks, issuer }: AdapterParts): Adapter {
  return {
    ...unsupportedAdapter('Client'),
    async find(clientId) {
      await hooks.onClientIdentified(clientId);
      const metadata = await clientMetadata(storage, clientId, issuer);
      return hooks.mayContinue(metadata?.token_endpoint_auth_method) ? metadata : undefined;
    },
    async upsert(client_id, { client_id: _id, ...metadata }) {
      await storage.saveClient({ client_id, metadata: hashSecret(metadata) });
    },
  };
}

function tokenAdapter({ storage, hooks }: AdapterParts, kind: string): Adapter {
  return {
    ...unsupportedAdapter(kind),
    async upsert(token, payload) {
      if (!(await storage.saveToken(token, payload, hooks.credentialSecret())))
        throw new InvalidClientAuth('the secret has ended');
    },
    find: async (token) => toPayload(await storage.findToken(kind, token)),
    destroy: (token) => storage.endToken(token),
    async revokeByGrantId(grantId) {
      if (!hooks.isSingleTokenRevocation()) await storage.endGrant(grantId);
    },
  };
}

/** Grants. The account is the agent, and the scopes are the same for all resources. */
function grantAdapter({ storage, resources }: AdapterParts): Adapter {
  return {
    ...unsupportedAdapter('Grant'),
    async find(grantId) {
      const grant = await storage.findGrant(grantId);
      if (!grant) return undefined;
      const scope = grant.scopes.join(' ');
      return toPayload({
        jti: grantId,
        kind: 'Grant',
        accountId: grant.agent_id,
        clientId: grant.client_id,
        resources: Object.fromEntries(resources.map((resource) => [resource, scope])),
      });
    },
    // The grant ends together with its access tokens.
    destroy: async () => {},
  };
}

/**
 * Codes and refresh tokens. Each is used once; a second use ends the grant. The storage detects a second use in `consume`, after all
 * other checks, so `find` does not report the record as consumed.
 */
function singleUseAdapter({ storage, hooks }: AdapterParts, model: string): Adapter {
  return {
    ...recordAdapter(storage, model),
    upsert: (id, payload, life_s) =>
      storage.saveRecord(model, id, payload, life_s, hooks.rotatedRefreshToken()),
    async find(id) {
      const isUse = hooks.isGrantUse();
      const record = toPayload(await storage.findRecord(model, id));
      if (!record || !isUse) return record;
      hooks.onGrantUse(record);
      return { ...record, consumed: undefined };
    },
    async consume(id) {
      if (!(await storage.consumeRecord(model, id))) throw new InvalidGrant('already used');
    },
    // Codes and refresh tokens end together with the access tokens of the grant.
    revokeByGrantId: async () => {},
  };
}

/**
 * Pending authorization requests. `returnTo` contains the secret id and the Host header of the request, so it is not stored but
 * rebuilt.
 */
function interactionAdapter({ storage }: AdapterParts): Adapter {
  const records = recordAdapter(storage, 'Interaction');
  return {
    ...records,
    upsert: (id, { returnTo: _address, ...payload }, life_s) => records.upsert(id, payload, life_s),
    async find(id) {
      const found = await records.find(id);
      return found && { ...found, returnTo: `/authorize/${id}` };
    },
    // The provider ends a request right before it issues the code. A concurrent second request gets none.
    async destroy(id) {
      if (!(await storage.removeRecord('Interaction', id))) throw new SessionNotFound('decided concurrently');
    },
  };
}

/** The provider's sessions are not stored, so that no browser stays signed in as an agent. Browsers use the console's sessions. */
function sessionAdapter(): Adapter {
  const ignore = async () => undefined;
  return {
    ...unsupportedAdapter('Session'),
    upsert: ignore,
    find: ignore,
    findByUid: ignore,
    destroy: ignore,
  };
}

function recordAdapter(storage: OAuthStorage, model: string): Adapter {
  return {
    ...unsupportedAdapter(model),
    upsert: (id, payload, life_s) => storage.saveRecord(model, id, payload, life_s),
    find: async (id) => toPayload(await storage.findRecord(model, id)),
    destroy: async (id) => void (await storage.removeRecord(model, id)),
  };
}

/** Casts a stored payload, which the provider wrote itself or which has the same shape. */
function toPayload(payload: object | undefined): AdapterPayload | undefined {
  return payload as AdapterPayload | undefined;
}

/** An adapter whose methods fail. The supported flows do not call them. */
function unsupportedAdapter(model: string): Adapter {
  const rejectCall = (method: string) => async () => {
    throw new Error(`${model}.${method} is not supported`);
  };
  return {
    upsert: rejectCall('upsert'),
    find: rejectCall('find'),
    findByUid: rejectCall('findByUid'),
    findByUserCode: rejectCall('findByUserCode'),
    consume: rejectCall('consume'),
    destroy: rejectCall('destroy'),
    revokeByGrantId: rejectCall('revokeByGrantId'),
  };
}
