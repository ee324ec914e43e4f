import type { ClientMetadata, Configuration } from 'oidc-provider';
import { InvalidClientMetadata } from 'oidc-provider/lib/helpers/errors.js';
import { addressKey } from '../http/address-key.ts';
import type { Limits } from '../operations/limits.ts';
import type { CallHooks } from './call-hooks.ts';
import { acceptedClient } from './registration.ts';

type Features = NonNullable<Configuration['features']>;

/** Whether a client_id is the address of a document that describes the client. */
export function isDocumentId(clientId: string): boolean {
  return /^https:/i.test(clientId);
}

/**
 * Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): a client_id that is an address, where the client
 * describes itself. `ack` pins the draft: an update of the provider to another one does not start.
 */
export function clientDocuments(limits: Limits, hooks: CallHooks): Features['clientIdMetadataDocument'] {
  return {
    enabled: true,
    ack: 'draft-02',
    /** A look at a document counts as a registration: each makes us call a server of the caller's choice. */
    async allowFetch(ctx) {
      // Outside of a call to the provider there is no context: the consent page reads again what was counted.
      const known: typeof ctx | undefined = ctx;
      if (known) await limits.spend('register', addressKey(known));
      return true;
    },
    allowClient: async () => hooks.mayGoOn('none'),
    /**
     * Seconds. A document that cannot be had fails a refresh, so what was read is good for a while; for so long that reading it
     * again is no mass of registrations of a server that refreshes for many people.
     */
    cacheDuration: { min: 3_600, max: 86_400 },
  };
}

/**
 * Holds a document to the rules for clients that register themselves, and leaves out what those do not have. Other metadata stays
 * as it is.
 * @throws InvalidClientMetadata
 */
export function acceptDocument(metadata: ClientMetadata): void {
  if (!isDocumentId(metadata.client_id)) return;
  if (metadata.token_endpoint_auth_method !== 'none') {
    throw new InvalidClientMetadata('token_endpoint_auth_method must be none');
  }
  const { client_id } = metadata;
  const accepted = acceptedClient(metadata);
  for (const field of Object.keys(metadata)) delete metadata[field];
  Object.assign(metadata, accepted, { client_id });
}
