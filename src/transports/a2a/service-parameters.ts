import type { Context } from 'koa';
import { mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import { A2aRefusal } from './errors.ts';

/** The version of A2A that an address serves. Patch versions do not count (A2A 1.0, section 3.6). */
const servedVersion = /^1\.0(?:\.\d+)?$/;

/** The value of a service parameter: a header, or else a query parameter (section 3.2.6). */
function readParameter(ctx: Context, name: string): string {
  const inQuery = ctx.query[name];
  return ctx.get(name) || (typeof inQuery === 'string' ? inQuery : '');
}

/** @throws {A2aRefusal} VERSION_NOT_SUPPORTED: also without a version, which means 0.3 (section 3.6.2) */
export function requireVersion(ctx: Context): void {
  const version = readParameter(ctx, 'A2A-Version').trim();
  if (servedVersion.test(version)) return;
  const requested = version
    ? `version ${version.slice(0, 20)}`
    : 'version 0.3, which is meant without the header';
  throw new A2aRefusal(
    'VERSION_NOT_SUPPORTED',
    `This address does not serve ${requested}. Send the header A2A-Version: 1.0.`,
  );
}

/** Whether the client names the mailbox extension. Unknown extensions are ignored. */
export function hasMailbox(ctx: Context): boolean {
  return readParameter(ctx, 'A2A-Extensions')
    .split(',')
    .some((uri) => uri.trim() === mailboxExtension);
}

/** The service parameters, which are no fields of a request in the query. */
export const serviceParameters: ReadonlySet<string> = new Set(['A2A-Version', 'A2A-Extensions']);
