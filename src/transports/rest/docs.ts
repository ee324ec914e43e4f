import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Middleware } from 'koa';
import { DomainError } from '../../domain/errors.ts';

interface Asset {
  type: string;
  bytes: Buffer;
}

const packageAssets = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
} as const;

/** Starts Swagger UI. A file, because the Content-Security-Policy forbids inline scripts. */
const startScript = `SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: false,
  validatorUrl: null,
});
`;

/** Only resources of this origin. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const secondsPerYear = 31_536_000;

/**
 * `/docs`: the API reference, rendered in the browser from `/v1/openapi.json`. Assets are served from this origin, under a path
 * that contains a hash of their content.
 */
export async function serveDocs(): Promise<Middleware> {
  const assets = await readAssets();
  const digest = createHash('sha256');
  for (const { bytes } of assets.values()) digest.update(bytes);
  const folder = `/docs/${digest.digest('base64url').slice(0, 12)}/`;
  const page = renderPage(folder);

  return function docs(ctx, next) {
    if (ctx.path !== '/docs' && !ctx.path.startsWith('/docs/')) return next();
    const isPage = ctx.path === '/docs' || ctx.path === '/docs/';
    const asset = ctx.path.startsWith(folder) ? assets.get(ctx.path.slice(folder.length)) : undefined;
    if (!isPage && !asset) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} supports GET, HEAD.`);
    }
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Cache-Control', asset ? `public, max-age=${secondsPerYear}, immutable` : 'no-cache');
    ctx.type = asset?.type ?? 'text/html';
    ctx.body = asset?.bytes ?? page;
    return Promise.resolve();
  };
}

async function readAssets(): Promise<Map<string, Asset>> {
  const { resolve } = createRequire(import.meta.url);
  const files = await Promise.all(
    Object.entries(packageAssets).map(async ([name, type]) => {
      const bytes = await readFile(resolve(`swagger-ui-dist/${name}`));
      return [name, { type, bytes }] as const;
    }),
  );
  return new Map<string, Asset>([
    ...files,
    ['start.js', { type: 'text/javascript', bytes: Buffer.from(startScript) }],
  ]);
}

const renderPage = (folder: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Agent Messaging Service: API reference</title>
    <link rel="stylesheet" href="${folder}swagger-ui.css">
    <link rel="icon" type="image/png" href="${folder}favicon-32x32.png">
  </head>
  <body>
    <div id="reference"></div>
    <noscript>The API reference needs JavaScript. You can also read the <a href="/v1/openapi.json">OpenAPI</a>, <a href="/v1/openapi-long-paths.json">OpenAPI of the long paths</a> and <a href="/v1/asyncapi.json">AsyncAPI</a> documents.</noscript>
    <script src="${folder}swagger-ui-bundle.js"></script>
    <script src="${folder}start.js"></script>
  </body>
</html>
`;
