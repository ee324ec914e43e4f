import type { JWK } from 'oidc-provider';
import type { Context, Middleware } from 'koa';
import { DomainError } from '../../domain/errors.ts';
import { addressKey } from '../http/address-key.ts';
import type { AuthorizationRequests } from '../http/authorization-requests.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import type { Budget } from '../../domain/limits.ts';
import type { TokenAudience } from '../../services/auth/tokens.ts';
import { normalizeQuery } from './authorize-query.ts';
import { answerPublicDocument, answerPreflight, allowAllOrigins } from './cors.ts';
import { answerDomainError, confirmRedirect, showDomainError } from './errors.ts';
import { resourceMetadata, serverMetadata } from './metadata.ts';
import { createProvider, type ProviderParts } from './provider.ts';
import { presentRegistration } from './clients/registration.ts';
import { createAuthorizationRequests } from './authorization-requests.ts';
import { createResourceIndicators } from './resource-indicators.ts';

const serverDocument = '/.well-known/oauth-authorization-server';

/** What the provider serves, with the method that goes there. */
const endpointMethods: Record<string, 'GET' | 'POST'> = {
  '/authorize': 'GET',
  '/token': 'POST',
  '/register': 'POST',
  '/revoke': 'POST',
  '/introspect': 'POST',
  '/.well-known/jwks.json': 'GET',
  [serverDocument]: 'GET',
};

/** Where a browser goes on after the person has decided. */
const resumePath = /^\/authorize\/[^/]+$/;

/** Where clients look for the same document when they know only a resource (RFC 8414, section 3.1). */
const serverDocumentAliases = new Set(['/v1', '/mcp', '/ws'].map((path) => serverDocument + path));

/** Where a resource describes itself; the address without a path is for clients of the tool server that probe it. */
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
   * Token, authorization, registration, revocation and introspection endpoints, keys and metadata (contract, section 6). Passes on
   * what is not its own. It reads its bodies itself: mount it before anything that parses them.
   */
  middleware: Middleware;
  /** For the page on which a person decides. */
  requests: AuthorizationRequests;
  /** Goes on with these signing keys. Calls under way end as they began. */
  replaceKeys(signing_keys: JWK[]): void;
}

/** The OAuth face over one provider, which is made anew when the signing keys change. */
export function createOAuthTransport(parts: ProviderParts): OAuthTransport {
  const { issuer, resources, storage, limits } = parts;
  const targets = createResourceIndicators(resources);
  let provider = createProvider(parts);

  async function serve(ctx: Context, method: string): Promise<void> {
    const [handle] = provider.middleware;
    if (!handle) throw new Error('the authorization server has no middleware');
    // Also where a proxy takes care of TLS without telling so.
    if (issuer.startsWith('https:')) ctx.cookies.secure = true;
    await handle(ctx, async () => {
      ctx.set('Allow', `${method}, OPTIONS`);
      throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} takes ${method}.`);
    });
  }

  /** Counts a call by its address. @returns whether it was refused, and answered so. */
  async function refused(
    ctx: Context,
    budget: Budget,
    tell: (ctx: Context, error: DomainError) => void,
  ): Promise<boolean> {
    try {
      await limits.consume(budget, addressKey(ctx), createRateLimitReporter(ctx));
      return false;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      tell(ctx, error);
      return true;
    }
  }

  const before: Record<string, (ctx: Context) => Promise<boolean>> = {
    async '/authorize'(ctx) {
      if (await refused(ctx, 'public', (at, error) => showDomainError(at, error, parts.errorPage)))
        return true;
      ctx.query = normalizeQuery(ctx.query, targets);
      return false;
    },
    async '/register'(ctx) {
      allowAllOrigins(ctx);
      if (ctx.method === 'OPTIONS') return answerPreflight(ctx, 'POST');
      return ctx.method === 'POST' && refused(ctx, 'register', answerDomainError);
    },
  };

  const shown: Record<string, (answer: Record<string, unknown>) => object> = {
    '/register': presentRegistration,
    [serverDocument]: (discovered) => serverMetadata(discovered, issuer, resources),
  };

  async function answer(ctx: Context, method: string): Promise<void> {
    if (await before[ctx.path]?.(ctx)) return;
    await serve(ctx, method);
    if (ctx.path === '/authorize') confirmRedirect(ctx, parts.errorPage);
    const show = shown[ctx.path];
    if (show && ctx.status < 300 && isRecord(ctx.body)) ctx.body = show(ctx.body);
  }

  return {
    requests: createAuthorizationRequests({ provider: () => provider, storage, resources }),
    replaceKeys(signing_keys) {
      provider = createProvider({ ...parts, signing_keys });
    },
    async middleware(ctx, next) {
      const door = resourceDocuments[ctx.path];
      if (serverDocumentAliases.has(ctx.path)) ctx.path = serverDocument;
      const method = resumePath.test(ctx.path) ? 'GET' : endpointMethods[ctx.path];
      if (door) answerPublicDocument(ctx, () => resourceMetadata(door, issuer, resources));
      else if (ctx.path.startsWith(openidDocument)) answerPublicDocument(ctx, noOpenId);
      else if (method) await answer(ctx, method);
      else await next();
    },
  };
}

function noOpenId(): never {
  throw new DomainError('NOT_FOUND', `This is OAuth 2.1 without OpenID Connect; see ${serverDocument}.`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
