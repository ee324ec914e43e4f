import type { JWK } from 'oidc-provider';
import type { Context, Middleware } from 'koa';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { addressKey } from '../http/address-key.ts';
import type { AuthorizationRequests } from '../http/authorization-requests.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import type { Budget } from '../../../packages/core/src/domain/limits.ts';
import type { TokenAudience } from '../../services/auth/tokens.ts';
import { normalizeQuery } from './authorize-query.ts';
import { answerPublicDocument, answerPreflight, allowAllOrigins } from './cors.ts';
import { answerDomainError, confirmRedirect, showDomainError } from './errors.ts';
import { resourceMetadata, serverMetadata } from './metadata.ts';
import { createProvider, type ProviderParts } from './provider.ts';
import { acceptEmptySecret } from './clients/empty-secret.ts';
import { presentRegistration } from './clients/registration.ts';
import { createAuthorizationRequests } from './authorization-requests.ts';
import { createResourceIndicators } from './resource-indicators.ts';

const serverDocument = '/.well-known/oauth-authorization-server';

/** Methods by path of the provider's endpoints. */
const endpointMethods: Record<string, 'GET' | 'POST'> = {
  '/authorize': 'GET',
  '/token': 'POST',
  '/register': 'POST',
  '/revoke': 'POST',
  '/introspect': 'POST',
  '/.well-known/jwks.json': 'GET',
  [serverDocument]: 'GET',
};

/** Where a browser continues after the decision. */
const resumePath = /^\/authorize\/[^/]+$/;

/** Paths at which clients look for the document if they know only a resource (RFC 8414, section 3.1). */
const serverDocumentAliases = new Set(['/v1', '/mcp', '/ws'].map((path) => serverDocument + path));

/** Paths of protected resource metadata. MCP clients probe the one without a resource path. */
const resourceDocuments: Record<string, TokenAudience> = {
  '/.well-known/oauth-protected-resource': 'mcp',
  '/.well-known/oauth-protected-resource/mcp': 'mcp',
  '/.well-known/oauth-protected-resource/v1': 'api',
  '/v1/.well-known/oauth-protected-resource': 'api',
  '/.well-known/oauth-protected-resource/ws': 'ws',
};

const openidDocument = '/.well-known/openid-configuration';

export interface OAuthTransport {
  /**
   * Token, authorization, registration, revocation and introspection endpoints, keys and metadata. Calls `next` for other paths.
   * Mount it before body parsers, because it reads request bodies itself.
   */
  middleware: Middleware;
  /** The requests for the consent page. */
  requests: AuthorizationRequests;
  /** Replaces the signing keys. Running requests keep the previous ones. */
  replaceKeys(signing_keys: JWK[]): void;
}

/** The OAuth transport over a provider, which is replaced when the signing keys change. */
export function createOAuthTransport(parts: ProviderParts): OAuthTransport {
  const { issuer, resources, storage, limits } = parts;
  const targets = createResourceIndicators(resources);
  let provider = createProvider(parts);

  async function serve(ctx: Context, method: string): Promise<void> {
    const [handle] = provider.middleware;
    if (!handle) throw new Error('the authorization server has no middleware');
    // Needed behind TLS proxies that do not set X-Forwarded-Proto.
    if (issuer.startsWith('https:')) ctx.cookies.secure = true;
    await handle(ctx, async () => {
      ctx.set('Allow', `${method}, OPTIONS`);
      throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} allows ${method}.`);
    });
  }

  /** Counts a request by client address. @returns true if it was rejected and answered. */
  async function isRateLimited(
    ctx: Context,
    budget: Budget,
    answerError: (ctx: Context, error: DomainError) => void,
  ): Promise<boolean> {
    try {
      await limits.consume(budget, addressKey(ctx), createRateLimitReporter(ctx));
      return false;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      answerError(ctx, error);
      return true;
    }
  }

  /** @returns true if the request is answered. */
  const preHandlers: Record<string, (ctx: Context) => Promise<boolean>> = {
    async '/authorize'(ctx) {
      const showError = (context: Context, error: DomainError) =>
        showDomainError(context, error, parts.errorPage);
      if (await isRateLimited(ctx, 'public', showError)) return true;
      ctx.query = normalizeQuery(ctx.query, targets);
      return false;
    },
    '/token': acceptEmptySecret,
    '/revoke': acceptEmptySecret,
    async '/register'(ctx) {
      allowAllOrigins(ctx);
      if (ctx.method === 'OPTIONS') return answerPreflight(ctx, 'POST');
      return ctx.method === 'POST' && isRateLimited(ctx, 'register', answerDomainError);
    },
  };

  const presenters: Record<string, (body: Record<string, unknown>) => object> = {
    '/register': presentRegistration,
    [serverDocument]: (discovered) => serverMetadata(discovered, issuer, resources),
  };

  async function answer(ctx: Context, method: string): Promise<void> {
    if (await preHandlers[ctx.path]?.(ctx)) return;
    await serve(ctx, method);
    if (method === 'GET') confirmRedirect(ctx, parts.errorPage);
    const present = presenters[ctx.path];
    if (present && ctx.status < 300 && isRecord(ctx.body)) ctx.body = present(ctx.body);
  }

  return {
    requests: createAuthorizationRequests({ provider: () => provider, storage, resources }),
    replaceKeys(signing_keys) {
      provider = createProvider({ ...parts, signing_keys });
    },
    async middleware(ctx, next) {
      const audience = resourceDocuments[ctx.path];
      if (serverDocumentAliases.has(ctx.path)) ctx.path = serverDocument;
      const method = resumePath.test(ctx.path) ? 'GET' : endpointMethods[ctx.path];
      if (audience) answerPublicDocument(ctx, () => resourceMetadata(audience, issuer, resources));
      else if (ctx.path.startsWith(openidDocument)) answerPublicDocument(ctx, rejectOpenId);
      else if (method) await answer(ctx, method);
      else await next();
    },
  };
}

function rejectOpenId(): never {
  throw new DomainError(
    'NOT_FOUND',
    `OpenID Connect is not supported. See ${serverDocument} for the OAuth 2.1 metadata.`,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
