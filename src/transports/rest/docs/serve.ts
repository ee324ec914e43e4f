import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Middleware } from 'koa';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import type { Json } from '../openapi/schemas.ts';
import { eventsPage } from './events-page.tsx';
import { guidePages } from './guide-pages.tsx';
import { referencePage } from './reference-page.tsx';

interface Asset {
  type: string;
  bytes: Buffer;
}

const assetTypes = {
  '#assets/tokens.css': 'text/css',
  '#assets/base.css': 'text/css',
  '#assets/controls.css': 'text/css',
  '#assets/content.css': 'text/css',
  '#assets/docs.css': 'text/css',
  '#assets/docs.js': 'text/javascript',
  '#assets/mark.svg': 'image/svg+xml',
} as const;

/** Only resources of this origin. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const secondsPerYear = 31_536_000;

/**
 * `/docs`: the API reference, from the OpenAPI document; `/docs/events`: the events, from the AsyncAPI document; and the pages of the
 * guide. Assets are served from this origin, under a path that contains a hash of their content.
 */
export async function serveDocs(
  describeCalls: () => Promise<Json>,
  describeEvents: () => Promise<Json>,
): Promise<Middleware> {
  const assets = await readAssets();
  const digest = createHash('sha256');
  for (const { bytes } of assets.values()) digest.update(bytes);
  const folder = `/docs/${digest.digest('base64url').slice(0, 12)}/`;
  const pages = new Map([
    ...(await guidePages(folder)),
    ['/docs', async () => referencePage(folder, await describeCalls())],
    ['/docs/events', async () => eventsPage(folder, await describeEvents())],
  ]);
  const rendered = new Map<string, Promise<string>>();

  /** Renders a page at the first request for it. */
  function renderOnce(path: string): Promise<string> | undefined {
    const text = rendered.get(path) ?? pages.get(path)?.();
    if (text !== undefined) rendered.set(path, text);
    return text;
  }

  return async function docs(ctx, next) {
    if (ctx.path !== '/docs' && !ctx.path.startsWith('/docs/')) {
      await next();
      return;
    }
    const page = await renderOnce(ctx.path.replace(/\/$/, ''));
    const asset = ctx.path.startsWith(folder) ? assets.get(ctx.path.slice(folder.length)) : undefined;
    if (page === undefined && !asset) {
      await next();
      return;
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} supports GET, HEAD.`);
    }
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Cache-Control', asset ? `public, max-age=${secondsPerYear}, immutable` : 'no-cache');
    ctx.type = asset?.type ?? 'text/html';
    ctx.body = asset?.bytes ?? page;
  };
}

async function readAssets(): Promise<Map<string, Asset>> {
  const { resolve } = createRequire(import.meta.url);
  const files = await Promise.all(
    Object.entries(assetTypes).map(async ([name, type]) => {
      const bytes = await readFile(resolve(name));
      return [name.slice(name.indexOf('/') + 1), { type, bytes }] as const;
    }),
  );
  return new Map<string, Asset>(files);
}
