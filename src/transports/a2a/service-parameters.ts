import type { Context } from 'koa';
import { mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import type { Edition } from './editions.ts';
import { A2aRefusal } from './errors.ts';

/** The value of a service parameter: a header, or else a query parameter (section 3.2.6). */
function readParameter(ctx: Context, name: string): string {
  const inQuery = ctx.query[name];
  return ctx.get(name) || (typeof inQuery === 'string' ? inQuery : '');
}

/** @throws {A2aRefusal} VERSION_NOT_SUPPORTED */
export function requireVersion(ctx: Context, { version: served, isServed }: Edition): void {
  const version = readParameter(ctx, 'A2A-Version').trim();
  if (isServed(version)) return;
  const requested = version ? version.slice(0, 20) : '0.3, the version without the header';
  const advice =
    served === '1.0'
      ? 'Send the header A2A-Version: 1.0, or use the address of 0.3 in the card.'
      : 'Leave out the header A2A-Version, or use the address of 1.0 in the card.';
  const message = `This address serves A2A ${served}, not ${requested}. ${advice}`;
  throw new A2aRefusal('VERSION_NOT_SUPPORTED', message);
}

/** Whether the client names the mailbox extension. Unknown extensions are ignored. In 0.3 the header begins with `X-`. */
export function hasMailbox(ctx: Context): boolean {
  return `${readParameter(ctx, 'A2A-Extensions')},${ctx.get('X-A2A-Extensions')}`
    .split(',')
    .some((uri) => uri.trim() === mailboxExtension);
}

/** Says in the response that the extension is active, as the topic *Extensions* of A2A asks. */
export function confirmMailbox(ctx: Context, { version }: Edition): void {
  ctx.set(version === '1.0' ? 'A2A-Extensions' : 'X-A2A-Extensions', mailboxExtension);
}

/** The service parameters. In a query they are not fields of the request. */
export const serviceParameters: ReadonlySet<string> = new Set(['A2A-Version', 'A2A-Extensions']);
