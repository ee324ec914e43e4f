import type { ClientMetadata, Configuration } from 'oidc-provider';
import { InvalidClientMetadata } from 'oidc-provider/lib/helpers/errors.js';
import { DomainError } from '../../../domain/errors.ts';
import { addressKey } from '../../http/address-key.ts';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import type { CallHooks } from '../call-hooks.ts';
import { toPublicClient } from './registration.ts';
import type { OAuthStorage } from '../storage.ts';

type Features = NonNullable<Configuration['features']>;
type FetchDocument = NonNullable<Configuration['fetch']>;

export interface DocumentParts {
  limits: RateLimits;
  hooks: CallHooks;
  storage: Pick<OAuthStorage, 'isConnected'>;
}

/** Whether a client_id is the address of a document that describes the client. */
export function isDocumentId(clientId: string): boolean {
  return /^https:/i.test(clientId);
}

/**
 * Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): a client_id that is an address, where the client
 * describes itself. `ack` pins the draft: an update of the provider to another one does not start.
 */
export function clientDocuments({
  limits,
  hooks,
  storage,
}: DocumentParts): Features['clientIdMetadataDocument'] {
  return {
    enabled: true,
    ack: 'draft-02',
    /**
     * Reading a document makes us call a server of the caller's choice. Where people are asked, the first looks count as
     * registrations; elsewhere only clients that somebody has connected are looked at.
     */
    async allowFetch(ctx, clientId) {
      // Outside of a call to the provider there is no context: the consent page reads again what was counted.
      const calling: typeof ctx | undefined = ctx;
      if (!calling || (await storage.isConnected(clientId))) return true;
      if (!interactiveRoutes.has(calling.oidc.route)) return false;
      await limits.consume('register', addressKey(calling));
      return true;
    },
    allowClient: async () => hooks.mayContinue('none'),
    /** Seconds. */
    cacheDuration: { min: 300, max: 86_400 },
  };
}

/** Where a person is. */
const interactiveRoutes = new Set(['authorization', 'resume']);

/**
 * Reads documents so that a server that is away does not look like a client that is none: a client that hears `invalid_client`
 * forgets who it is.
 */
export function createDocumentReader(read: FetchDocument): FetchDocument {
  return async function readDocument(address, init) {
    const response = await read(address, init).catch((cause: unknown) => {
      throw documentUnavailable(cause);
    });
    if (response.status >= 500) throw documentUnavailable(new Error(`it answers ${response.status}`));
    return response;
  };
}

function documentUnavailable(cause: unknown): DomainError {
  const message = 'The document that describes this client cannot be read just now; try again.';
  return new DomainError('UNAVAILABLE', message, { cause, retry_after: 60 });
}

/**
 * Holds a document to the rules for clients that register themselves, and leaves out what those do not have. Other metadata stays
 * as it is.
 * @throws InvalidClientMetadata
 */
export function normalizeDocument(metadata: ClientMetadata): void {
  if (!isDocumentId(metadata.client_id)) return;
  if (metadata.token_endpoint_auth_method !== 'none') {
    throw new InvalidClientMetadata('token_endpoint_auth_method must be none');
  }
  const { client_id } = metadata;
  const accepted = toPublicClient(metadata);
  for (const field of Object.keys(metadata)) delete metadata[field];
  Object.assign(metadata, accepted, { client_id });
}
