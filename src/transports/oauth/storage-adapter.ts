import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { InvalidGrant, SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { CallHooks } from './call-hooks.ts';
import { clientMetadata } from './clients/clients.ts';
import type { OAuthStorage } from './storage.ts';

export interface AdapterParts {
  storage: OAuthStorage;
  hooks: CallHooks;
  /** The resources that a grant is for. */
  resources: readonly string[];
}

/** The provider's models, each on the part of the storage that holds it. */
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

function clientAdapter({ storage, hooks }: AdapterParts): Adapter {
  return {
    ...unsupportedAdapter('Client'),
    async find(clientId) {
      await hooks.onClientIdentified(clientId);
      const metadata = await clientMetadata(storage, clientId);
      return hooks.mayContinue(metadata?.token_endpoint_auth_method) ? metadata : undefined;
    },
    async upsert(client_id, { client_id: _id, ...metadata }) {
      await storage.saveClient({ client_id, metadata });
    },
  };
}

function tokenAdapter({ storage, hooks }: AdapterParts, kind: string): Adapter {
  return {
    ...unsupportedAdapter(kind),
    upsert: (token, payload) => storage.saveToken(token, payload),
    find: async (token) => toPayload(await storage.findToken(kind, token)),
    destroy: (token) => storage.endToken(token),
    async revokeByGrantId(grantId) {
      if (!hooks.isSingleTokenRevocation()) await storage.endGrant(grantId);
    },
  };
}

/** A grant of the provider is what a person granted: who signs in is the agent, and what it may do is the same everywhere. */
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
    // It ends together with its access tokens.
    destroy: async () => {},
  };
}

/**
 * Codes and refresh tokens: each is used once, and a second use ends all that came of the same grant. Which use is a second one is
 * for the storage to say, when all else about it is found right; so who comes to use one is not told what became of it.
 */
function singleUseAdapter({ storage, hooks }: AdapterParts, model: string): Adapter {
  return {
    ...recordAdapter(storage, model),
    upsert: (id, payload, life_s) =>
      storage.saveRecord(model, id, payload, life_s, hooks.rotatedRefreshToken()),
    async find(id) {
      const used = hooks.isGrantUse();
      const record = toPayload(await storage.findRecord(model, id));
      return record && used ? { ...record, consumed: undefined } : record;
    },
    async consume(id) {
      if (!(await storage.consumeRecord(model, id))) throw new InvalidGrant('used before');
    },
    // They end together with the access tokens of the grant.
    revokeByGrantId: async () => {},
  };
}

/**
 * A request under way. Its id lets the browser go on, and the provider writes it into `returnTo` too, from which it is left out; an
 * address by the caller's idea of our host besides.
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
    // The provider ends a request right before it gives out its code: who comes second gets none.
    async destroy(id) {
      if (!(await storage.removeRecord('Interaction', id)))
        throw new SessionNotFound('decided at the same time');
    },
  };
}

/** Browsers are known by our own sessions; the provider has none, so that nobody stays signed in as an agent. */
function sessionAdapter(): Adapter {
  const nothing = async () => undefined;
  return {
    ...unsupportedAdapter('Session'),
    upsert: nothing,
    find: nothing,
    findByUid: nothing,
    destroy: nothing,
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

/** The provider gets back what it wrote itself, or what looks the same. */
function toPayload(payload: object | undefined): AdapterPayload | undefined {
  return payload as AdapterPayload | undefined;
}

/** What the flows that are served never ask of a model. */
function unsupportedAdapter(model: string): Adapter {
  const refuse = (method: string) => async () => {
    throw new Error(`${model}.${method} is not in use`);
  };
  return {
    upsert: refuse('upsert'),
    find: refuse('find'),
    findByUid: refuse('findByUid'),
    findByUserCode: refuse('findByUserCode'),
    consume: refuse('consume'),
    destroy: refuse('destroy'),
    revokeByGrantId: refuse('revokeByGrantId'),
  };
}
