import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { Context } from 'koa';

/** Style sheets, in the order in which they apply. */
const styles = [
  'tokens.css',
  'base.css',
  'layout.css',
  'controls.css',
  'content.css',
  'agents.css',
  'consent.css',
  'start.css',
];
const images = ['mark.svg'];

const types: Record<string, string> = { '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };
const year_s = 31_536_000;

export interface Assets {
  styles: readonly string[];
  mark: string;
  /** Answers the file of an address under /assets/; false when there is none. */
  serve(ctx: Context): boolean;
}

/** Reads what pages load: all of it from here, under addresses that change with the content. */
export async function loadAssets(): Promise<Assets> {
  const { resolve } = createRequire(import.meta.url);
  const files = new Map<string, { type: string; bytes: Buffer }>();
  const addresses = new Map<string, string>();
  for (const name of [...styles, ...images]) {
    const bytes = await readFile(resolve(`#assets/${name}`));
    const ending = extname(name);
    const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 12);
    const address = `/assets/${name.slice(0, -ending.length)}.${digest}${ending}`;
    files.set(address, { type: types[ending] ?? 'application/octet-stream', bytes });
    addresses.set(name, address);
  }
  return {
    styles: styles.map((name) => addresses.get(name) ?? ''),
    mark: addresses.get('mark.svg') ?? '',
    serve(ctx) {
      const file = files.get(ctx.path);
      if (!file || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return false;
      ctx.set('Cache-Control', `public, max-age=${year_s}, immutable`);
      ctx.type = file.type;
      ctx.body = file.bytes;
      return true;
    },
  };
}
