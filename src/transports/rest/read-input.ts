import type { Context } from 'koa';
import { attachmentTooLarge, maxAttachmentBytes } from '../../domain/attachments/attachments.ts';
import { DomainError, wrongField } from '../../domain/errors.ts';
import type { IncomingFile } from '../../operations/execute/file-intake.ts';
import { readFilePart } from '../http/multipart.ts';

/** The part of a JSON Schema that says how to parse a query parameter. */
export interface FieldSchema {
  type?: string | string[];
}

const integer = /^-?\d{1,15}$/;

/**
 * Converts query parameters to the types of the operation's schema and drops unknown ones. A value that does not parse stays a
 * string, which the schema then rejects.
 */
export function readQuery(
  query: Record<string, unknown>,
  fields: Record<string, FieldSchema>,
): Record<string, unknown> {
  const parameters = Object.entries(query).filter(([name]) => Object.hasOwn(fields, name));
  return Object.fromEntries(parameters.map(([name, value]) => [name, readValue(value, fields[name])]));
}

function readValue(value: unknown, field: FieldSchema | undefined): unknown {
  if (typeof value !== 'string') return value;
  if (field?.type === 'integer' && integer.test(value)) return Number(value);
  if (field?.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/**
 * Merges path parameters and body.
 * @throws {DomainError} VALIDATION_ERROR when the body is not an object or repeats a path parameter.
 */
export function joinInput(params: Record<string, string>, body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new DomainError('VALIDATION_ERROR', 'The body must be a JSON object.');
  }
  const repeated = Object.keys(params).find((name) => Object.hasOwn(body, name));
  if (repeated !== undefined) throw wrongField(repeated, 'is not a field of this request');
  return { ...body, ...params };
}

/** The input of an operation whose body is a file. The body is not read until the operation opens the file. */
export function uploadInput(ctx: Context, field: string, idle_ms: number): Record<string, IncomingFile> {
  const open = () =>
    readFilePart(ctx, field, { max_bytes: maxAttachmentBytes, tooLarge: attachmentTooLarge(), idle_ms });
  return { [field]: { open } };
}
