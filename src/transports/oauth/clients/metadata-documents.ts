import type { ClientMetadata, Configuration } from 'oidc-provider';
import { InvalidClientMetadata } from 'oidc-provider/lib/helpers/errors.js';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { addressKey } from '../../http/address-key.ts';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import type { CallHooks } from '../call-hooks.ts';
import { toPublicClient } from './registration.ts';
import type { OAuthStorage } from '../../../services/auth/oauth-storage.ts';

type Features = NonNullable<Configuration['features']>;
type FetchDocument = NonNullable<Configuration['fetch']>;

export interface DocumentParts {
  limits: RateLimits;
  hooks: CallHooks;
  storage: Pick<OAuthStorage, 'isConnected'>;
}

/** Whether a client_id is the address of a client metadata document. */
export function isDocumentId(clientId: string): boolean {
  return /^https:/i.test(clientId);
}

/**
 * Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): the client_id is the address of the client metadata.
 * `ack` pins the draft version; a provider with another version does not start.
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
     * Fetching a document sends a request to a server that the caller chose. Before a client is connected, only browser routes may
     * do that, and it counts as a registration.
     */
    async allowFetch(ctx, clientId) {
      // There is no context outside of a provider request: the consent page, whose request was already counted.
      const context: typeof ctx | undefined = ctx;
      if (!context || (await storage.isConnected(clientId))) return true;
      if (!interactiveRoutes.has(context.oidc.route)) return false;
      await limits.consume('register', addressKey(context));
      return true;
    },
    allowClient: async () => hooks.mayContinue('none'),
    // In seconds.
    cacheDuration: { min: 300, max: 86_400 },
  };
}

/** Routes that browsers use. */
const interactiveRoutes = new Set(['authorization', 'resume']);

/**
 * Fetches documents. Every failure is the same temporary error: clients drop their registration on `invalid_client`, and the difference
 * between addresses would tell about the internal network.
 */
export function createDocumentReader(read: FetchDocument): FetchDocument {
  return async function readDocument(address, init) {
    const response = await read(address, init).catch((cause: unknown) => {
      throw documentUnavailable(cause);
    });
    if (response.status >= 500) throw documentUnavailable(new Error(`status ${response.status}`));
    return response;
  };
}

function documentUnavailable(cause: unknown): DomainError {
  const message =
    'The client metadata document cannot be fetched. Check that it has a public https address, then try again.';
  return new DomainError('UNAVAILABLE', message, { cause, retry_after: 60 });
}

/**
 * Applies the rules of registered clients to a metadata document and removes other fields. Metadata of other clients is unchanged.
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
