import type { Client, Configuration, JWK } from 'oidc-provider';
import { Provider } from 'oidc-provider/lib/provider.js';
import type { RateLimits } from '../../operations/rate-limits.ts';
import type { TokenResource } from '../../services/auth/tokens.ts';
import { accountConfiguration, tokenClaims } from './accounts.ts';
import { createAdapters } from './storage-adapter.ts';
import { createCallHooks } from './call-hooks.ts';
import { isClientSecret, customClientFields } from './clients/clients.ts';
import { normalizeDocument, clientDocuments, createDocumentReader } from './clients/metadata-documents.ts';
import { answerGrantError, answerIfDomainError, type ErrorPage, createErrorRenderer } from './errors.ts';
import { interactions, lifetimes, mayIntrospect, mayRevoke, requirePlainState } from './policy.ts';
import { createRegistrationFeature } from './clients/registration.ts';
import type { OAuthStorage } from '../../services/auth/oauth-storage.ts';
import { createResourceIndicators } from './resource-indicators.ts';

export interface ProviderParts {
  /** PUBLIC_URL, without a trailing slash. */
  issuer: string;
  resources: Record<TokenResource, string>;
  storage: OAuthStorage;
  limits: RateLimits;
  /** Keys for the cookies of pending requests; the first one signs. The application uses the same keys. */
  cookie_keys: readonly string[];
  /** Private keys, the current one first. */
  signing_keys: JWK[];
  trust_proxy: boolean;
  /** Whether a client_id can be the address of a client metadata document. */
  documents: boolean;
  /** Fetches client metadata documents. */
  readDocument: NonNullable<Configuration['fetch']>;
  errorPage: ErrorPage;
  /** Reports unexpected errors. */
  report(error: unknown): void;
}

/** Creates the authorization server: oidc-provider with this service's storage, resources, pages and flows. */
export function createProvider(parts: ProviderParts): Provider {
  const provider = new Provider(parts.issuer, configuration(parts));
  provider.proxy = parts.trust_proxy;
  provider.Client.prototype.compareClientSecret = function compareClientSecret(this: Client, secret) {
    return isClientSecret(this, secret);
  };
  provider.on('server_error', (ctx, error) => {
    if (!answerIfDomainError(ctx, error)) parts.report(error);
  });
  provider.on('grant.error', answerGrantError);
  provider.on('revocation.error', answerIfDomainError);
  provider.on('introspection.error', answerIfDomainError);
  // Prevents a cookie for the provider's session, which is not stored.
  provider.on('interaction.ended', ({ oidc }) => {
    if (oidc.session) Object.assign(oidc.session, { destroyed: true });
  });
  return provider;
}

function configuration(parts: ProviderParts): Configuration {
  const { storage, resources, limits } = parts;
  const off = { enabled: false };
  const on = { enabled: true };
  const targets = createResourceIndicators(resources);
  const hooks = createCallHooks(limits, targets);
  return {
    adapter: createAdapters({ storage, hooks, issuer: parts.issuer, resources: Object.values(resources) }),
    jwks: { keys: parts.signing_keys },
    cookies: {
      keys: [...parts.cookie_keys],
      names: { session: 'ams_oauth', interaction: 'ams_request', resume: 'ams_resume' },
    },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
    },
    extraClientMetadata: {
      properties: customClientFields,
      validator: (_ctx, _key, _value, metadata) => normalizeDocument(metadata),
    },
    clientBasedCORS: () => true,
    responseTypes: ['code'],
    scopes: [],
    claims: {},
    extraParams: { state: requirePlainState },
    pkce: { required: () => true },
    ...accountConfiguration(storage),
    expiresWithSession: async () => false,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    interactions,
    features: {
      devInteractions: off,
      dPoP: off,
      pushedAuthorizationRequests: off,
      rpInitiatedLogout: off,
      userinfo: off,
      clientCredentials: on,
      clientIdMetadataDocument: parts.documents ? clientDocuments({ limits, hooks, storage }) : off,
      registration: createRegistrationFeature(),
      resourceIndicators: targets.feature,
      introspection: { enabled: true, allowedPolicy: mayIntrospect },
      revocation: { enabled: true, allowedPolicy: mayRevoke },
    },
    fetch: createDocumentReader(parts.readDocument),
    routes: {
      authorization: '/authorize',
      token: '/token',
      registration: '/register',
      revocation: '/revoke',
      introspection: '/introspect',
      jwks: '/.well-known/jwks.json',
    },
    ttl: lifetimes,
    extraTokenClaims: tokenClaims,
    renderError: createErrorRenderer(parts.errorPage),
  };
}
