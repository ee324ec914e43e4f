import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import type { Context } from 'koa';

/** Style sheets in cascade order. */
const styles = [
  'tokens.css',
  'base.css',
  'layout.css',
  'controls.css',
  'content.css',
  'agents.css',
  'messages.css',
  'conversations.css',
  'usage.css',
  'consent.css',
  'start.css',
];
const images = ['mark.svg', 'mark-news.svg'];

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const yearSeconds = 31_536_000;

/** A browser runs a script only if it is the one that the page was made with. */
export interface Script {
  src: string;
  integrity: string;
}

export interface Assets {
  /** The address of all style sheets in one. */
  styles: string;
  mark: string;
  /** The mark with a dot. */
  markWithNews: string;
  /** The script of pages with the navigation. */
  script: Script;
  /** The script of the page of a watch link. */
  watchScript: Script;
  /** The script of the start page: buttons that copy. */
  copyScript: Script;
  /** The script of the pages that ask for a password. */
  passwordScript: Script;
  /** Serves a file under /assets/. Returns false if the path matches none. */
  serve(ctx: Context): boolean;
}

const inAssets = (name: string) => `#assets/${name}`;

/** Loads style sheets, images and scripts. Their addresses contain a hash of the content. */
export async function loadAssets(): Promise<Assets> {
  const { resolve } = createRequire(import.meta.url);
  const files = new Map<string, { type: string; bytes: Buffer }>();
  const addresses = new Map<string, string>();
  const contents = await Promise.all(
    [
      ...styles.map(inAssets),
      ...images.map(inAssets),
      inAssets('copy.js'),
      inAssets('password.js'),
      '#script/console.js',
      '#script/watch.js',
    ].map(async (path) => [basename(path), await readFile(resolve(path))] as const),
  );
  const sheets = contents.filter(([name]) => extname(name) === '.css').map(([, bytes]) => bytes);
  const others = contents.filter(([name]) => extname(name) !== '.css');
  for (const [name, bytes] of [['console.css', Buffer.concat(sheets)] as const, ...others]) {
    const extension = extname(name);
    const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 12);
    const address = `/assets/${name.slice(0, -extension.length)}.${digest}${extension}`;
    files.set(address, { type: types[extension] ?? 'application/octet-stream', bytes });
    addresses.set(name, address);
  }
  const addressOf = (name: string) => addresses.get(name) ?? '';
  const script = (name: string) => {
    const src = addressOf(name);
    const digest = createHash('sha384')
      .update(files.get(src)?.bytes ?? '')
      .digest('base64');
    return { src, integrity: `sha384-${digest}` };
  };
  return {
    styles: addressOf('console.css'),
    mark: addressOf('mark.svg'),
    markWithNews: addressOf('mark-news.svg'),
    script: script('console.js'),
    watchScript: script('watch.js'),
    copyScript: script('copy.js'),
    passwordScript: script('password.js'),
    serve(ctx) {
      const file = files.get(ctx.path);
      if (!file || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return false;
      ctx.set('Cache-Control', `public, max-age=${yearSeconds}, immutable`);
      ctx.type = file.type;
      ctx.body = file.bytes;
      return true;
    },
  };
}
