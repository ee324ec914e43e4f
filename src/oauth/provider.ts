import type { Client, Configuration, JWK } from 'oidc-provider';
import { Provider } from 'oidc-provider/lib/provider.js';
import { DomainError } from '../domain/errors.ts';
import { type Door, operatorClient, tokenLife_s } from '../services/tokens.ts';
import { createAdapters } from './adapter.ts';
import { agentOf, isSecretOf, ownClientFields } from './clients.ts';
import type { OAuthStorage } from './storage.ts';
import { resourceIndicators } from './targets.ts';

export interface ProviderParts {
  /** PUBLIC_URL, without a trailing slash. */
  issuer: string;
  resources: Record<Door, string>;
  storage: OAuthStorage;
  /** Private keys, the one in use first. */
  signing_keys: JWK[];
  trust_proxy: boolean;
  /** Told of faults that nobody caused on purpose. */
  report(error: unknown): void;
}

/** The authorization server: oidc-provider with our storage, our resources and the flows that are served. */
export function createProvider(parts: ProviderParts): Provider {
  const provider = new Provider(parts.issuer, configuration(parts));
  provider.proxy = parts.trust_proxy;
  provider.Client.prototype.compareClientSecret = function compareClientSecret(this: Client, secret) {
    return isSecretOf(this, secret);
  };
  provider.on('server_error', (ctx, error) => {
    if (error instanceof DomainError && error.code === 'UNAVAILABLE') {
      ctx.status = error.status;
      ctx.set('Retry-After', String(error.retry_after ?? 1));
      ctx.body = { error: 'temporarily_unavailable', error_description: error.message };
    } else {
      parts.report(error);
    }
  });
  return provider;
}

function configuration({ storage, resources, signing_keys }: ProviderParts): Configuration {
  const off = { enabled: false };
  return {
    adapter: createAdapters(storage),
    jwks: { keys: signing_keys },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    extraClientMetadata: { properties: ownClientFields },
    clientBasedCORS: () => true,
    responseTypes: [],
    scopes: [],
    features: {
      devInteractions: off,
      dPoP: off,
      pushedAuthorizationRequests: off,
      rpInitiatedLogout: off,
      userinfo: off,
      clientCredentials: { enabled: true },
      resourceIndicators: resourceIndicators(resources),
      introspection: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) =>
          token.clientId === client.clientId || isForAgentOf(client, token),
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) =>
          token.clientId === client.clientId ||
          (token.clientId === operatorClient && isForAgentOf(client, token)),
      },
    },
    routes: {
      authorization: '/authorize',
      token: '/token',
      registration: '/register',
      revocation: '/revoke',
      introspection: '/introspect',
      jwks: '/.well-known/jwks.json',
    },
    ttl: { ClientCredentials: tokenLife_s },
    extraTokenClaims(ctx) {
      const { client } = ctx.oidc;
      if (!client) return undefined;
      const { agent_id, agent_handle } = agentOf(client);
      return { sub: agent_id, handle: agent_handle };
    },
    renderError(ctx, out) {
      ctx.body = out;
    },
  };
}

/** Whether a token acts as the same agent as the client. */
function isForAgentOf(client: Client, token: object): boolean {
  const extra = 'extra' in token ? token.extra : undefined;
  return (
    typeof extra === 'object' && extra !== null && 'sub' in extra && extra.sub === agentOf(client).agent_id
  );
}
