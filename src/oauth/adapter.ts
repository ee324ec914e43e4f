import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { clientMetadata } from './clients.ts';
import type { OAuthStorage } from './storage.ts';

/** The provider's models, each on the part of the storage that holds it. */
export function createAdapters(storage: OAuthStorage): AdapterFactory {
  return (model) => {
    if (model === 'Client') return clientAdapter(storage);
    if (model === 'AccessToken' || model === 'ClientCredentials') return tokenAdapter(storage, model);
    return recordAdapter(storage, model);
  };
}

function clientAdapter(storage: OAuthStorage): Adapter {
  return {
    ...unused('Client'),
    async find(clientId) {
      const client = await storage.findClient(clientId);
      return client && clientMetadata(client);
    },
  };
}

function tokenAdapter(storage: OAuthStorage, kind: string): Adapter {
  return {
    ...unused(kind),
    upsert: (token, payload) => storage.saveToken(token, payload),
    find: async (token) => asWritten(await storage.findToken(kind, token)),
    destroy: (token) => storage.endToken(token),
    revokeByGrantId: (grantId) => storage.endTokensOfGrant(grantId),
  };
}

function recordAdapter(storage: OAuthStorage, model: string): Adapter {
  return {
    ...unused(model),
    upsert: (id, payload, life_s) => storage.saveRecord(model, id, payload, life_s),
    find: async (id) => asWritten(await storage.findRecord(model, id)),
    consume: (id) => storage.consumeRecord(model, id),
    destroy: (id) => storage.removeRecord(model, id),
    revokeByGrantId: (grantId) => storage.removeRecordsOfGrant(model, grantId),
  };
}

/** The provider gets back what it wrote itself. */
function asWritten(payload: object | undefined): AdapterPayload | undefined {
  return payload as AdapterPayload | undefined;
}

/** What the flows that are served never ask of a model. */
function unused(model: string): Adapter {
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
