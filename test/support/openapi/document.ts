/** The parts of an OpenAPI 3.1 document that tests read. */
export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, OperationObject>>;
  components: Record<string, Record<string, object>>;
}

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters: ParameterObject[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseObject | Reference>;
}

export interface ParameterObject {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface ResponseObject {
  description: string;
  headers: Record<string, HeaderObject | Reference>;
  content?: Record<string, MediaType>;
}

export interface HeaderObject {
  required?: boolean;
  schema: Schema;
}

export interface MediaType {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, Reference>;
}

export interface Reference {
  $ref: string;
}

export type Schema = Record<string, unknown>;

/** What `value` stands for: itself, or what it refers to within the document. */
export function resolveReference<T extends object>(document: object, value: T | Reference): T {
  return '$ref' in value && typeof value.$ref === 'string'
    ? (findByPointer(document, value.$ref) as T)
    : (value as T);
}

/**
 * The part of the document behind a reference of the form `#/a/b`.
 * @throws {Error} when there is none.
 */
export function findByPointer(document: object, ref: string): unknown {
  let at: unknown = document;
  for (const step of ref.replace(/^#\//, '').split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null ? new Map(Object.entries(at)).get(name) : undefined;
  }
  if (at === undefined || !ref.startsWith('#/')) throw new Error(`${ref} leads nowhere`);
  return at;
}

/** One step of a JSON pointer (RFC 6901). */
export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
