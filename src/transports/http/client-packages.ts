import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Middleware } from 'koa';
import { getErrorCode } from '../../shared/narrow.ts';
import { version } from '../../shared/version.ts';

/** The paths of the client libraries that the service serves. pip reads the name and the version in the last part of a path. */
export const clientPaths = {
  npm: '/client.tgz',
  pip: `/agent_messaging_client-${version}-py3-none-any.whl`,
};

/** A short path to the wheel, for people. */
const wheelPath = '/client.whl';

const types: Record<string, string> = {
  [clientPaths.npm]: 'application/gzip',
  [clientPaths.pip]: 'application/zip',
};

/** Serves the client libraries of this version. They are read when they are first asked for, and the build makes them. */
export function serveClientPackages(): Middleware {
  const { resolve } = createRequire(import.meta.url);
  const files = new Map<string, Promise<Buffer | null>>();

  async function read(path: string): Promise<Buffer | null> {
    try {
      return await readFile(resolve(`#clients${path}`));
    } catch (error) {
      // A checkout that was compiled without the build has none.
      if (['ENOENT', 'MODULE_NOT_FOUND'].includes(getErrorCode(error) ?? '')) return null;
      throw error;
    }
  }

  return async function clientPackages(ctx, next) {
    if (ctx.path === wheelPath) {
      ctx.redirect(clientPaths.pip);
      return;
    }
    const type = types[ctx.path];
    if (type === undefined || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) {
      await next();
      return;
    }
    const file = files.get(ctx.path) ?? read(ctx.path);
    files.set(ctx.path, file);
    const bytes = await file;
    if (!bytes) {
      await next();
      return;
    }
    ctx.set('Cache-Control', 'no-cache');
    ctx.type = type;
    ctx.body = bytes;
  };
}
