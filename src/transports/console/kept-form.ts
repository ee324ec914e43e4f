import type { Context } from 'koa';
import { z } from 'zod';
import { isKeptField } from './components/kept-fields.ts';
import { safeReturnPath } from './route.ts';

/** A form that was sent without a session. It is shown again after the sign-in, and not sent by itself. */
export interface KeptForm {
  /** Path of the page with the form. */
  page: string;
  /** Path that the form posts to. */
  action: string;
  fields: URLSearchParams;
}

/** The path that shows a kept form again. */
export const keptFormPath = '/console/kept-form';

/** The largest form that can be kept (256 KiB) takes a third more as base64url. */
export const maxKeptFormBytes = 384 * 1024;

/** Keeps the fields of a form that are not secret. @param page path of the page with the form. */
export function keepForm(ctx: Context, form: URLSearchParams, page: string): KeptForm {
  const fields = new URLSearchParams([...form].filter(([name]) => isKeptField(name)));
  return { page: safeReturnPath(page), action: ctx.path, fields };
}

const stored = z.object({ page: z.string(), action: z.string(), fields: z.string() });

/** A kept form as the value of a hidden field. */
export function packKeptForm({ page, action, fields }: KeptForm): string {
  return Buffer.from(JSON.stringify({ page, action, fields: fields.toString() })).toString('base64url');
}

/** Reads a value of `packKeptForm`; undefined if it is none. */
export function readKeptForm(packed: string | null): KeptForm | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(packed ?? '', 'base64url').toString());
    const { page, action, fields } = stored.parse(json);
    return { page: safeReturnPath(page), action, fields: new URLSearchParams(fields) };
  } catch {
    return undefined;
  }
}

/** Makes the page that this request renders fill in a kept form. */
export function showWithKeptForm(ctx: Context, kept: KeptForm): void {
  ctx.state['kept_form'] = kept;
}

/** The form that the rendered page fills in. */
export function keptFormOf(ctx: Context): KeptForm | undefined {
  return (ctx.state as { kept_form?: KeptForm }).kept_form;
}
