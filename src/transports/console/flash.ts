import type { Context } from 'koa';
import { z } from 'zod';
import { cookieOf, setCookie } from './cookies.ts';

/** A message at the top of the next page. */
const flash = z.object({
  tone: z.enum(['good', 'warning']),
  text: z.string(),
  /** The form that takes back what it says. */
  undo: z.object({ action: z.string(), hidden: z.record(z.string(), z.string()) }).optional(),
});

export type Flash = z.infer<typeof flash>;

const lifetimeMs = 60_000;
const maxTextLength = 300;

/** Stores a message for the next page in a cookie, signed so that others cannot forge one. */
export function keepFlash(ctx: Context, { text, ...rest }: Flash): void {
  const value = Buffer.from(JSON.stringify({ ...rest, text: text.slice(0, maxTextLength) })).toString(
    'base64url',
  );
  setCookie(ctx, 'flash', value, lifetimeMs);
}

/** Returns and deletes the stored message. */
export function takeFlash(ctx: Context): Flash | undefined {
  const value = cookieOf(ctx, 'flash');
  if (value === undefined) return undefined;
  setCookie(ctx, 'flash', null);
  const parsed = flash.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString()));
  return parsed.success ? parsed.data : undefined;
}
