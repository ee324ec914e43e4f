import { z } from 'zod';
import type { Context, Middleware } from 'koa';
import {
  attachmentTooLarge,
  maxAttachmentBytes,
} from '../../../packages/core/src/domain/attachments/attachments.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import type { IncomingFile } from '../../operations/execute/file-intake.ts';
import { describeUnknown } from '../../../packages/core/src/inputs/describe-issue.ts';
import { invalidInput } from '../../../packages/core/src/inputs/parse-input.ts';
import { cachePerObject } from '../../shared/cache-per-object.ts';
import { readFilePart } from '../http/multipart.ts';

/** Unknown parameters that one error names, at most. */
const maxNamed = 20;

const integer = /^-?\d{1,15}$/;

/** The part of a JSON Schema that says how to parse a query parameter. */
interface FieldSchema {
  type?: string | string[];
}

type Fields = Record<string, FieldSchema>;

/** How an endpoint reads its query. */
export interface QueryReader {
  /**
   * Refuses unknown parameters, before the body is read.
   * @throws {DomainError} VALIDATION_ERROR
   */
  check: Middleware;
  /** Converts parameters to the types of the schema. A value that does not parse stays a string, which the schema then rejects. */
  read(ctx: Context): Record<string, unknown>;
}

/** Reads the query of an endpoint: a GET takes the fields of its input that are not in its path, any other method takes none. */
export function createQueryReader(method: string, path: string, input: z.ZodType): QueryReader {
  const all = fieldsOf(input);
  const fields = Object.fromEntries(Object.entries(all).filter(([name]) => !path.includes(`{${name}}`)));
  const known = method === 'GET' ? fields : {};
  return {
    async check(ctx, next) {
      refuseUnknownParameters(ctx, known, method === 'GET' ? {} : fields);
      await next();
    },
    read: ({ query }) =>
      Object.fromEntries(Object.entries(query).map(([name, value]) => [name, readValue(value, known[name])])),
  };
}

/** The JSON Schema of each field. */
const fieldsOf = cachePerObject((input: z.ZodType): Fields => {
  const { properties = {} } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return properties as Fields;
});

/**
 * @param known the parameters of the query.
 * @param inBody the fields of the body, of which the error says so.
 * @throws {DomainError} VALIDATION_ERROR, with every unknown parameter
 */
export function refuseUnknownParameters({ query }: Context, known: Fields = {}, inBody: Fields = {}): void {
  const unknown = Object.keys(query).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length === 0) return;
  throw invalidInput(
    unknown.slice(0, maxNamed).map((name, index, named) => ({
      field: name,
      message: Object.hasOwn(inBody, name)
        ? 'is a field of the body; send it there'
        : describeUnknownParameter(name, Object.keys(known), index === named.length - 1),
    })),
  );
}

/** The last one gets the list of all. */
function describeUnknownParameter(name: string, known: readonly string[], isLast: boolean): string {
  if (known.length === 0) return 'is unknown. The address takes no query parameters.';
  return describeUnknown(name, known, isLast ? 'Query parameters' : undefined);
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
