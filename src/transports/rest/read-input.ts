import { DomainError, wrongField } from '../../domain/errors.ts';

/** The part of a JSON Schema that tells how to read a query parameter. */
export interface FieldSchema {
  type?: string | string[];
}

const integer = /^-?\d{1,15}$/;

/**
 * Reads query parameters as the operation's schema wants them; parameters that it does not know are left out. What does not
 * read as the wanted type stays text, and the schema refuses it.
 */
export function readQuery(
  query: Record<string, unknown>,
  fields: Record<string, FieldSchema>,
): Record<string, unknown> {
  const known = Object.entries(query).filter(([name]) => Object.hasOwn(fields, name));
  return Object.fromEntries(known.map(([name, value]) => [name, readValue(value, fields[name])]));
}

function readValue(value: unknown, field: FieldSchema | undefined): unknown {
  if (typeof value !== 'string') return value;
  if (field?.type === 'integer' && integer.test(value)) return Number(value);
  if (field?.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/**
 * Path parameters and body as one input.
 * @throws {DomainError} VALIDATION_ERROR when the body is not an object or names what the path already names.
 */
export function joinInput(params: Record<string, string>, body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new DomainError('VALIDATION_ERROR', 'The body must be a JSON object.');
  }
  const twice = Object.keys(params).find((name) => Object.hasOwn(body, name));
  if (twice !== undefined) throw wrongField(twice, 'is not a field of this request');
  return { ...body, ...params };
}
