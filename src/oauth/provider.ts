import type { Client, Configuration, JWK } from 'oidc-provider';
import { Provider } from 'oidc-provider/lib/provider.js';
import type { Limits } from '../operations/limits.ts';
import type { Door } from '../services/tokens.ts';
import { accounts, tokenClaims } from './accounts.ts';
import { createAdapters } from './adapter.ts';
import { callHooks } from './call-hooks.ts';
import { isSecretOf, ownClientFields } from './clients.ts';
import { acceptDocument, clientDocuments, documentReader } from './documents.ts';
import { answeredAsRefusal, type ErrorPage, errorRenderer } from './errors.ts';
import { interactions, lives, mayIntrospect, mayRevoke, requirePlainState } from './policy.ts';
import { registration } from './registration.ts';
import type { OAuthStorage } from './storage.ts';
import { createTargets } from './targets.ts';

export interface ProviderParts {
  /** PUBLIC_URL, without a trailing slash. */
  issuer: string;
  resources: Record<Door, string>;
  storage: OAuthStorage;
  limits: Limits;
  /** Sign the cookies of requests under way; the first one signs. The application has the same. */
  cookie_keys: readonly string[];
  /** Private keys, the one in use first. */
  signing_keys: JWK[];
  trust_proxy: boolean;
  /** Reads documents in which clients describe themselves, at addresses of their choice. */
  readDocument: NonNullable<Configuration['fetch']>;
  errorPage: ErrorPage;
  /** Told of faults that nobody caused on purpose. */
  report(error: unknown): void;
}

/** The authorization server: oidc-provider with our storage, our resources, our pages and the flows that are served. */
export function createProvider(parts: ProviderParts): Provider {
  const provider = new Provider(parts.issuer, configuration(parts));
  provider.proxy = parts.trust_proxy;
  provider.Client.prototype.compareClientSecret = function compareClientSecret(this: Client, secret) {
    return isSecretOf(this, secret);
  };
  provider.on('server_error', (ctx, error) => {
    if (!answeredAsRefusal(ctx, error)) parts.report(error);
  });
  provider.on('grant.error', answeredAsRefusal);
  provider.on('revocation.error', answeredAsRefusal);
  provider.on('introspection.error', answeredAsRefusal);
  // It would set a cookie for a session that is not kept.
  provider.on('interaction.ended', ({ oidc }) => {
    if (oidc.session) Object.assign(oidc.session, { destroyed: true });
  });
  return provider;
}

function configuration(parts: ProviderParts): Configuration {
  const { storage, resources, limits } = parts;
  const off = { enabled: false };
  const on = { enabled: true };
  const targets = createTargets(resources);
  const hooks = callHooks(limits, targets);
  return {
    adapter: createAdapters({ storage, hooks, resources: Object.values(resources) }),
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
      properties: ownClientFields,
      validator: (_ctx, _key, _value, metadata) => acceptDocument(metadata),
    },
    clientBasedCORS: () => true,
    responseTypes: ['code'],
    scopes: [],
    claims: {},
    extraParams: { state: requirePlainState },
    pkce: { required: () => true },
    ...accounts(storage),
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
      clientIdMetadataDocument: clientDocuments({ limits, hooks, storage }),
      registration: registration(),
      resourceIndicators: targets.feature,
      introspection: { enabled: true, allowedPolicy: mayIntrospect },
      revocation: { enabled: true, allowedPolicy: mayRevoke },
    },
    fetch: documentReader(parts.readDocument),
    routes: {
      authorization: '/authorize',
      token: '/token',
      registration: '/register',
      revocation: '/revoke',
      introspection: '/introspect',
      jwks: '/.well-known/jwks.json',
    },
    ttl: lives,
    extraTokenClaims: tokenClaims,
    renderError: errorRenderer(parts.errorPage),
  };
}
