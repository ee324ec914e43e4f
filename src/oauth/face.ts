import type { Context, Middleware } from 'koa';
import { DomainError } from '../domain/errors.ts';
import type { Door } from '../services/tokens.ts';
import { resourceMetadata, serverMetadata } from './metadata.ts';
import { createProvider, type ProviderParts } from './provider.ts';

/** What the provider serves, with the method that goes there. */
const served: Record<string, 'GET' | 'POST'> = {
  '/token': 'POST',
  '/revoke': 'POST',
  '/introspect': 'POST',
  '/.well-known/jwks.json': 'GET',
  '/.well-known/oauth-authorization-server': 'GET',
};

const serverDocument = '/.well-known/oauth-authorization-server';

/** Where clients look for the same document when they know only a resource (RFC 8414, section 3.1). */
const pathInserted = new Set(['/v1', '/mcp', '/ws'].map((path) => serverDocument + path));

/** Where a resource describes itself; the address without a path is for clients of the tool server that probe it. */
const resourceDocuments: Record<string, Door> = {
  '/.well-known/oauth-protected-resource': 'mcp',
  '/.well-known/oauth-protected-resource/mcp': 'mcp',
  '/.well-known/oauth-protected-resource/v1': 'api',
  '/v1/.well-known/oauth-protected-resource': 'api',
  '/.well-known/oauth-protected-resource/ws': 'ws',
};

const openidDocument = '/.well-known/openid-configuration';

/**
 * The OAuth face: token, revocation and introspection endpoints, keys and metadata (contract, section 6). Passes on what is
 * not its own. It reads its bodies itself: mount it before anything that parses them.
 */
export function createOAuthFace(parts: ProviderParts): Middleware {
  const { issuer, resources } = parts;
  const [serve] = createProvider(parts).middleware;
  if (!serve) throw new Error('the authorization server has no middleware');

  const answerAsServer = async (ctx: Context, method: string): Promise<void> => {
    await serve(ctx, async () => {
      ctx.set('Allow', `${method}, OPTIONS`);
      throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} takes ${method}.`);
    });
    if (ctx.path === serverDocument && isRecord(ctx.body)) {
      ctx.body = serverMetadata(ctx.body, issuer, resources);
    }
  };

  return async function oauth(ctx, next) {
    const door = resourceDocuments[ctx.path];
    if (pathInserted.has(ctx.path)) ctx.path = serverDocument;
    const method = served[ctx.path];
    if (door) answerOpenly(ctx, () => resourceMetadata(door, issuer, resources));
    else if (ctx.path.startsWith(openidDocument)) answerOpenly(ctx, noOpenId);
    else if (method) await answerAsServer(ctx, method);
    else await next();
  };
}

/** Answers a document that scripts of every origin may read, and the question whether they may. */
function answerOpenly(ctx: Context, document: () => object): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  if (ctx.method === 'OPTIONS') {
    ctx.set('Access-Control-Allow-Methods', 'GET');
    ctx.set('Access-Control-Allow-Headers', ctx.get('Access-Control-Request-Headers') || '*');
    ctx.set('Access-Control-Max-Age', '3600');
    ctx.status = 204;
  } else if (ctx.method === 'GET' || ctx.method === 'HEAD') {
    ctx.body = document();
    ctx.set('Cache-Control', 'public, max-age=300');
  } else {
    ctx.set('Allow', 'GET, HEAD, OPTIONS');
    throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} takes GET.`);
  }
}

function noOpenId(): never {
  throw new DomainError('NOT_FOUND', `This is OAuth 2.1 without OpenID Connect; see ${serverDocument}.`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
